"""Whatever a server and an authorization server say: a token, or an error of ours that is short and steers no terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from syncline.auth import challenge
from syncline.auth.clients import OAuthClient
from syncline.auth.flow import Authorized, authorize, renew, revoke
from syncline.auth.metadata import server_urls
from syncline.auth.settings import Device, Settings
from syncline.auth.steps import Fetch, Fetched
from syncline.errors import AuthError, SynclineError
from tests.fixtures.oauth import ISSUER, PRM, Authority, World, page, settings

T = TypeVar("T")

MEMBERS = {
    "resource": ["resource", "authorization_servers", "scopes_supported", "dpop_bound_access_tokens_required"],
    "server": [
        "issuer",
        "token_endpoint",
        "registration_endpoint",
        "device_authorization_endpoint",
        "revocation_endpoint",
        "scopes_supported",
        "response_types_supported",
        "grant_types_supported",
        "code_challenge_methods_supported",
        "token_endpoint_auth_methods_supported",
    ],
    "register": [
        "client_id",
        "client_secret",
        "client_secret_expires_at",
        "token_endpoint_auth_method",
        "redirect_uris",
        "error",
        "error_description",
    ],
    "token": [
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
        "error",
        "error_description",
    ],
    "device": [
        "device_code",
        "user_code",
        "verification_uri",
        "verification_uri_complete",
        "expires_in",
        "interval",
        "error",
    ],
    "challenge": ["resource_metadata", "scope", "error", "error_description"],
}
PLACES = st.sampled_from([(kind, name) for kind, names in MEMBERS.items() for name in names])
TEXTS = (
    st.sampled_from(["\ud800", "\x1b[2J\x07", "a\r\nb: c", "x" * 3000, "https://10.0.0.1/", "\u202e", ISSUER])
    | st.text(max_size=8)
    | st.text(st.characters(categories=["Cs", "Cc", "Cf"]), min_size=1, max_size=4)
)
SCALARS = TEXTS | st.none() | st.booleans() | st.integers(-2, 100) | st.sampled_from([1e308, -1.5, 10**400])
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.just(["\x1b[2J" + "x" * 3000])
BROWSER, DEVICE = settings(), settings(grant=Device())
CONFIGURED = settings(client=OAuthClient("app", issuer=ISSUER, secret="planted"))


class Hostile(World):
    """A world in which one member of one document is something else than it should be."""

    def __init__(self, kind: str, name: str, value: object) -> None:
        super().__init__()
        self._kind, self._changed = kind, {name: value}
        self.resource(PRM, **self._change("resource"))
        authority = Authority(
            self, device_authorization_endpoint=ISSUER + "/device", revocation_endpoint=ISSUER + "/revoke"
        )
        authority.clients["app"] = {"client_secret": "planted"}
        self.pages[f"GET {server_urls(ISSUER)[0]}"] = page({**authority.document, **self._change("server")})
        answers = {"register": authority.register, "token": authority.token, "device": authority.device}
        for place, answer in answers.items():
            self.pages[f"POST {ISSUER}/{place}"] = self._answering(place, answer)
        text = str(value).replace("\\", "\\\\").replace('"', '\\"')
        said = f'Bearer {name}="{text}"' if kind == "challenge" else "Bearer"
        self.challenge = challenge.pick(challenge.parse(said))
        self.authority = authority

    def _change(self, kind: str) -> dict[str, object]:
        return self._changed if kind == self._kind else {}

    def _answering(self, kind: str, usual: Callable[[Fetch], Fetched]) -> Callable[[Fetch], Fetched]:
        def answer(fetch: Fetch) -> Fetched:
            given = usual(fetch)
            document = {**json.loads(given.body), **self._change(kind)}
            if kind == "register" and isinstance(document["client_id"], str):
                self.authority.clients[document["client_id"]] = document
            return page(document, given.status)

        return answer


def everything(world: Hostile, ours: Settings) -> None:
    """Log in, refresh, and give back what that has brought."""
    got: Authorized = world.run(authorize(ours, entropy=world.entropy, challenge=world.challenge))
    token, client = got.token, got.client
    assert client is not None
    if token.refresh_token is not None:
        steps = renew(ours, issuer=got.issuer, resource=got.resource, client=client, refresh_token=token.refresh_token)
        world.run(steps)
    world.run(
        revoke(
            ours,
            issuer=got.issuer,
            resource=got.resource,
            client=client,
            access_token=token.access_token,
            refresh_token=token.refresh_token,
        )
    )


@hypothesis_settings(deadline=None)
@example(("register", "client_id"), "\ud800", BROWSER)
@example(("register", "error"), "x" * 3000, BROWSER)
@example(("token", "refresh_token"), "\ud800", BROWSER)
@example(("device", "device_code"), "\ud800", DEVICE)
@example(("server", "token_endpoint_auth_methods_supported"), ["\x1b[2J"], CONFIGURED)
@example(("resource", "authorization_servers"), [f"http://{number}.test" for number in range(1000)], BROWSER)
@given(PLACES, VALUES, st.sampled_from([BROWSER, DEVICE, CONFIGURED]))
def test_whatever_they_say(place: tuple[str, str], value: object, ours: Settings) -> None:
    """One member of one document is something else than it should be."""
    try:
        everything(Hostile(*place, value), ours)
    except SynclineError as error:
        told = [str(error), getattr(error, "error", None) or "" if isinstance(error, AuthError) else ""]
        for text in told:
            assert text.isprintable()
            assert len(text) < 2000
