"""OAuth from outside: what a call does when the server wants to know who we are."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import syncline
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from syncline.auth.tokens import Credentials
from syncline.identity import running
from tests.fixtures.logins import Anywhere, Someone, browse, expire, oauth
from tests.fixtures.managers import LEGACY, MODERN
from tests.fixtures.partner import Background
from tools.fakeserver.authorization import AuthorizationServer, ProtectedMcpServer

Protected = Callable[..., ProtectedMcpServer]
Authority = Callable[..., AuthorizationServer]


# Logging in


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_person_logs_in_and_the_call_goes_on(protected: Protected, someone: Someone, era: str) -> None:
    server = protected(versions=[era])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    someone.join()
    assert "You are logged in" in someone.pages[0]
    assert issuer.counts["register"] == issuer.counts["authorize"] == issuer.counts["token"] == 1
    assert server.sent()[0] is None
    assert len(set(server.sent()[1:])) == 1


def test_a_person_brings_the_url_along(protected: Protected, someone: Someone) -> None:
    server = protected(versions=[MODERN])
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(visit=someone.paste)).text == "x"
    (visit,) = someone.visits
    assert visit.server == server.url
    assert visit.redirect_uri is not None
    assert visit.code is None


def test_a_person_types_a_code(protected: Protected) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    seen: list[syncline.Visit] = []

    def visit(what: syncline.Visit) -> None:
        seen.append(what)
        issuer.approved.set()

    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(visit=visit, device=True)).text == "x"
    assert [(each.url, each.code, each.redirect_uri) for each in seen] == [
        (issuer.issuer + "/device", "WDJB-MJHT", None)
    ]
    assert issuer.counts["authorize"] == 0


def test_a_client_with_a_secret_that_was_registered_by_hand(protected: Protected, someone: Someone) -> None:
    """The secret goes to the token endpoint, and is not kept."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.clients["mine"] = {"client_secret": "planted-secret", "redirect_uris": Anywhere()}
    store = MemoryStore()
    auth = oauth(visit=someone, store=store, client_id="mine", client_secret="planted-secret", issuer=issuer.issuer)
    with syncline.connect(server.url, auth=auth) as client:
        issuer.end_access()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    (key,) = store.keys()
    kept = store.load(key)
    assert kept is not None
    assert "planted-secret" not in kept.to_json()
    assert issuer.counts["register"] == 0
    assert issuer.grants["refresh_token"] == 1


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ({"error": "access_denied", "error_description": "not you"}, "access_denied", "not you"),
        ({"error": "server_error"}, "server_error", "try again later"),
        ({"code": "planted-code", "iss": "http://127.0.0.1:1/other"}, None, "not from the authorization server"),
        ({}, None, "neither one code nor an error"),
    ],
    ids=["no", "broken", "mix-up", "nothing"],
)
def test_a_login_that_does_not_work(
    protected: Protected, someone: Someone, answer: dict[str, str], error: str | None, words: str
) -> None:
    """L-4: whoever called is told why, and the person at the browser that it did not work; nothing is kept, and no code is used."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.person = lambda asked: {**answer, "state": asked["state"]}
    store = MemoryStore()
    with pytest.raises(syncline.AuthDenied, match=words) as caught:
        syncline.connect(server.url, auth=oauth(visit=someone, store=store))
    assert caught.value.error == error
    someone.join()
    assert "The login did not work" in someone.pages[0]
    assert words not in someone.pages[0]
    assert not store.keys()
    assert issuer.counts["token"] == 0
    assert "planted" not in str(caught.value) + someone.pages[0]


def test_an_answer_to_another_login_does_not_end_the_wait(protected: Protected, someone: Someone) -> None:
    """B157: nor does a browser that asks for an icon; only what repeats the state does."""
    server = protected(versions=[MODERN])

    def visit(what: syncline.Visit) -> None:
        assert what.redirect_uri is not None
        strangers = [
            what.redirect_uri + "?code=planted-stranger&state=other",
            what.redirect_uri + "?error=access_denied",
            what.redirect_uri.replace("/callback", "/favicon.ico"),
            what.redirect_uri.replace("/callback", "/"),
        ]

        def visits() -> list[int]:
            statuses = [browse(url)[0] for url in strangers]
            return [*statuses, browse(what.url)[0]]

        browsing.append(Background(visits))

    browsing: list[Background[list[int]]] = []
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(visit=visit)).text == "x"
    assert browsing[0].result() == [404, 404, 404, 404, 200]
    assert "planted-stranger" not in str(server.authorities[0].forms)


def test_who_cannot_be_asked_is_told_where_to_log_in(protected: Protected) -> None:
    """Nobody is registered for that."""
    server = protected(versions=[MODERN], scopes=["notes"])
    (issuer,) = server.authorities
    with pytest.raises(syncline.AuthRequired, match=f"run `syncline auth login {server.url}`") as caught:
        syncline.connect(server.url, auth=oauth())
    error = caught.value
    assert error.login_url == issuer.issuer + "/authorize"
    assert error.scopes == ["notes"]
    assert error.url == server.url
    assert error.status == 401
    assert error.www_authenticate is not None
    assert error.www_authenticate.startswith("Bearer resource_metadata=")
    assert issuer.counts["register"] == 0


def test_a_login_elsewhere_is_found_by_the_next_call(protected: Protected, someone: Someone) -> None:
    """A daemon that was told to log in goes on once somebody has, in another process that shares the store."""
    server = protected(versions=[MODERN])
    store = MemoryStore()
    daemon = oauth(store=store)
    with pytest.raises(syncline.AuthRequired):
        syncline.connect(server.url, auth=daemon)
    syncline.connect(server.url, auth=oauth(visit=someone, store=store)).close()
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=daemon).text == "x"


# What is kept


def test_what_is_kept_is_enough_for_another_process(protected: Protected, someone: Someone, tmp_path: Path) -> None:
    """B148, 4.76: it is refreshed ahead of its end, which is kept as a point in time."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.lifetime = 100
    syncline.connect(server.url, auth=oauth(visit=someone, store=FileStore(tmp_path))).close()
    with syncline.connect(server.url, auth=oauth(store=FileStore(tmp_path))) as client:
        client.list_tools()
    assert issuer.grants["refresh_token"] == 0
    store = FileStore(tmp_path)
    expire(store, 20)
    before = len(server.requests)
    with syncline.connect(server.url, auth=oauth(store=FileStore(tmp_path))) as client:
        client.list_tools()
    assert issuer.grants["refresh_token"] == 1
    assert len(set(server.sent()[before:])) == 1
    (key,) = store.keys()
    kept = store.load(key)
    assert kept is not None
    assert kept.access_token == server.sent()[-1]
    assert (kept.expires_at or 0) > time.time() + 60


def test_a_logout_ends_what_is_open(protected: Protected, someone: Someone) -> None:
    """The token that a connection has is revoked, and no other one is kept: a person is asked again."""
    server = protected(versions=[MODERN])
    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        assert syncline.logout(server.url, store=store)
        assert not store.keys()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(someone.visits) == 2


# Refusals


def test_a_token_that_was_refused_is_refreshed(protected: Protected, someone: Someone) -> None:
    """W-6, B148: nobody is asked."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        for number in range(3):
            issuer.end_access()
            assert client.call_tool("echo", {"text": "x"}).text == "x"
            assert issuer.grants["refresh_token"] == number + 1
    assert len(someone.visits) == 1
    assert server.catalogue.executions["echo"] == 3


def test_a_newer_token_that_is_stored_is_taken(protected: Protected, someone: Someone) -> None:
    """4.160: another process has refreshed, or logged in again; its token serves, and nothing is asked of anybody."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        for end in (issuer.end_access, issuer.end_logins):
            end()
            with syncline.connect(server.url, auth=oauth(visit=someone, store=store)):
                before, visits = issuer.counts["token"], len(someone.visits)
                assert client.call_tool("echo", {"text": "x"}).text == "x"
            assert (issuer.counts["token"], len(someone.visits)) == (before, visits)
    assert issuer.grants == {"authorization_code": 2, "refresh_token": 2}


@pytest.mark.parametrize("end", ["end_access", "end_logins"])
def test_eight_threads_meet_one_refusal(protected: Protected, someone: Someone, end: str) -> None:
    """One of them gets a token, for all."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    gate = threading.Event()
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        old = server.sent()[-1]
        getattr(issuer, end)()
        issuer.hold("token", gate)
        callers = [Background(lambda: client.call_tool("echo", {"text": "x"}).text) for _ in range(8)]
        server.wait_until(lambda: server.sent("tools/call").count(old) == 8)
        gate.set()
        assert [caller.result() for caller in callers] == ["x"] * 8
        assert len(server.sent("tools/call")) == 16
    assert issuer.grants["refresh_token"] == 1
    assert len(someone.visits) == (1 if end == "end_access" else 2)
    assert server.catalogue.executions["echo"] == 8


def test_a_login_after_one_that_has_ended_registers_nothing(protected: Protected, someone: Someone) -> None:
    """F-5: the tokens go, and who we are there stays; scopes that were asked for are asked for again."""
    server = protected(versions=[MODERN], scopes=["read"], needs={"echo": "write"})
    (issuer,) = server.authorities
    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        client.call_tool("echo", {"text": "x"})
    registered = issuer.counts["register"]
    issuer.end_logins()
    with pytest.raises(syncline.AuthRequired):
        syncline.connect(server.url, auth=oauth(store=store))
    status = syncline.auth_status(server.url, store=store)
    assert status is not None
    assert status.login_needed
    (key,) = store.keys()
    assert "planted" not in (store.load(key) or Credentials("", "", "", "planted")).to_json()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        client.call_tool("echo", {"text": "x"})
    assert issuer.counts["register"] == registered
    assert [visit["scope"] for visit in issuer.visits] == ["read", "read write", "read write"]


def test_a_logout_after_the_end_of_a_login_revokes_nothing(protected: Protected, someone: Someone) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    store = MemoryStore()
    syncline.connect(server.url, auth=oauth(visit=someone, store=store)).close()
    issuer.end_logins()
    with pytest.raises(syncline.AuthRequired):
        syncline.connect(server.url, auth=oauth(store=store))
    assert syncline.logout(server.url, store=store)
    assert not store.keys()
    assert issuer.counts["revoke"] == 0


def test_a_server_that_refuses_everything(protected: Protected, someone: Someone) -> None:
    """W-6: one refresh and one login for each call, and no more."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        server.arm(401, 10, method="tools/call", headers=[("WWW-Authenticate", "Bearer")])
        for number in (1, 2):
            with pytest.raises(syncline.AuthDenied, match="does not take the token that was just given"):
                client.call_tool("echo", {"text": "x"})
            assert issuer.grants["refresh_token"] == number
            assert len(someone.visits) == 1 + number
            assert len(server.calls("tools/call")) == 3 * number


def test_a_new_token_that_is_refused_is_not_replaced_by_another_one(protected: Protected, someone: Someone) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.refresh = False
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        server.arm(401, 10, method="tools/call", headers=[("WWW-Authenticate", "Bearer")])
        with pytest.raises(syncline.AuthDenied, match="does not take the token that was just given"):
            client.call_tool("echo", {"text": "x"})
    assert len(someone.visits) == 2


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (403, None),
        (403, "Bearer"),
        (403, 'Bearer scope="write"'),
        (403, 'Bearer error="invalid_token"'),
        (403, 'Bearer error="access_denied", error_description="insufficient_scope"'),
        (403, 'Basic realm="x", error="insufficient_scope"'),
        (400, 'Bearer error="invalid_request"'),
        (400, 'Bearer error="insufficient_scope", scope="write"'),
    ],
)
def test_another_reason_to_refuse_is_none_of_ours(
    protected: Protected, someone: Someone, status: int, challenge: str | None
) -> None:
    """W-5, W-8: a 403 that misses no scope is an answer, and so is a 400: nobody is asked, nothing refreshed or sent again."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        tokens = issuer.counts["token"]
        server.arm(status, 9, method="tools/call", headers=[("WWW-Authenticate", challenge)] if challenge else [])
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.call_tool("echo", {"text": "x"})
        assert caught.value.status == status
        assert len(server.calls("tools/call")) == 1
    assert issuer.counts["token"] == tokens
    assert len(someone.visits) == 1


@pytest.mark.parametrize("lifetime", [20, 0])
def test_a_token_that_does_not_last(protected: Protected, someone: Someone, lifetime: float) -> None:
    """And that cannot be refreshed. It is used while it lasts, and one that never does is no reason to ask for ever."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.refresh, issuer.lifetime = False, lifetime
    with contextlib.ExitStack() as stack:
        if not lifetime:
            stack.enter_context(pytest.raises(syncline.AuthDenied, match="does not take the token"))
        client = stack.enter_context(syncline.connect(server.url, auth=oauth(visit=someone)))
        for _ in range(3):
            client.call_tool("echo", {"text": "x"})
    assert len(someone.visits) == 1


# More scopes


def test_missing_scopes_are_asked_for_with_those_of_before(protected: Protected, someone: Someone) -> None:
    """B153: the challenge says what is missing. The registration was for less, so there is another one."""
    server = protected(versions=[MODERN], scopes=["read"], needs={"echo": "write"})
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert client.call_tool("echo", {"text": "y"}).text == "y"
    assert [visit["scope"] for visit in issuer.visits] == ["read", "read write"]
    assert len({visit["client_id"] for visit in issuer.visits}) == issuer.counts["register"] == 2


def test_missing_scopes_that_the_challenge_does_not_name(protected: Protected, someone: Someone) -> None:
    """What the server lists is asked for then."""
    server = protected(versions=[MODERN], scopes=["read", "write"], needs={"echo": "write"}, names_scope=False)
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone, scopes=["read"])) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert [visit["scope"] for visit in issuer.visits] == ["read", "read write"]
    assert issuer.counts["register"] == 1


def test_missing_scopes_where_nobody_can_be_asked(protected: Protected, someone: Someone) -> None:
    server = protected(versions=[MODERN], scopes=["read"], needs={"echo": "write"})
    store = MemoryStore()
    syncline.connect(server.url, auth=oauth(visit=someone, store=store)).close()
    with syncline.connect(server.url, auth=oauth(store=store)) as client:
        with pytest.raises(syncline.AuthRequired) as caught:
            client.call_tool("echo", {"text": "x"})
        assert caught.value.status == 403
        assert caught.value.scopes == ["read", "write"]
        assert 'scope="write"' in (caught.value.www_authenticate or "")
        assert "allow more scopes" in str(caught.value)
        assert str(caught.value).endswith(f"`syncline auth login {server.url} --scope read --scope write`")
        client.list_tools()


@pytest.mark.parametrize("named", [True, False])
def test_scopes_that_are_never_granted(protected: Protected, someone: Someone, named: bool) -> None:
    """One step up for each call; and after two of them the person has said what they had to say."""
    scopes = ["read"] if named else ["read", "write"]
    server = protected(versions=[MODERN], scopes=scopes, needs={"echo": "write"}, names_scope=named)
    (issuer,) = server.authorities
    issuer.granted = "read"
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        for visits in (2, 3, 3):
            with pytest.raises(syncline.AuthDenied, match="ask those who run it") as caught:
                client.call_tool("echo", {"text": "x"})
            assert caught.value.error == "insufficient_scope"
            assert len(someone.visits) == visits
        client.list_tools()
        server.needs["echo"] = "read"
        assert client.call_tool("echo", {"text": "x"}).text == "x"


def test_a_login_and_a_step_up_in_one_call(protected: Protected, someone: Someone) -> None:
    server = protected(versions=[MODERN], scopes=["read"], needs={"echo": "write"})
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        issuer.end_logins()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert [visit["scope"] for visit in issuer.visits] == ["read", "read", "read write"]


# Another authorization server


def test_another_authorization_server(protected: Protected, authority: Authority, someone: Someone) -> None:
    """W-7, B-4, Z-10: the old one still refreshes its tokens; the new one is shown nothing of it."""
    server = protected(versions=[MODERN])
    (old,) = server.authorities
    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        new = authority(path="/tenant")
        server.authorities = [new]
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert new.counts["register"] == 1
    assert {visit["client_id"] for visit in new.visits} == set(new.clients)
    assert not set(new.clients) & set(old.clients)
    assert new.grants == {"authorization_code": 1}
    with syncline.connect(server.url, auth=oauth(store=store)) as client:
        client.list_tools()


# The authorization server does not do what it should


def refuse_connection(exchange: object) -> None:
    exchange.reset()  # type: ignore[attr-defined]


@pytest.mark.parametrize("trouble", [503, 500, refuse_connection], ids=["503", "500", "reset"])
def test_a_refresh_that_fails_for_now(protected: Protected, someone: Someone, trouble: object) -> None:
    """Nothing was sent to the server, so that nothing is in doubt; what is kept is as it was, and serves the next call."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    store = MemoryStore()
    auth = oauth(visit=someone, store=store)
    with syncline.connect(server.url, auth=auth):
        expire(store, 10)
    with syncline.connect(server.url, auth=oauth(store=store)) as client:
        expire(store, 10)
        issuer.end_access()
        issuer.arm("token", trouble)  # type: ignore[arg-type]
        with pytest.raises(syncline.RefreshFailed, match="again later"):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(someone.visits) == 1


@pytest.mark.parametrize("client_id", [None, "mine"])
def test_a_refresh_token_that_is_refused_in_other_words(
    protected: Protected, someone: Someone, client_id: str | None
) -> None:
    """4.149: as some do, with status 200; who configured the client is not told to look at it."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.clients["mine"] = {"redirect_uris": Anywhere()}
    with syncline.connect(server.url, auth=oauth(visit=someone, client_id=client_id)) as client:
        issuer.end_access()
        issuer.arm("token", lambda exchange: exchange.json({"error": "bad_refresh_token"}))
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(someone.visits) == 2


def test_a_refresh_that_is_not_understood(protected: Protected, someone: Someone) -> None:
    """It may be a proxy that speaks: what is kept stays, and the error says what to do if that does not pass."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        issuer.end_access()
        issuer.arm("token", lambda exchange: exchange.respond(403, "<p>no</p>", "text/html"))
        with pytest.raises(syncline.RefreshFailed, match=f"http_403.*: syncline auth login {server.url}"):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(someone.visits) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (503, "HTTP 503; try again later"),
        (lambda exchange: exchange.reset(), "no answer from .*; try again later"),
        (lambda exchange: exchange.respond(200, b" " * (2 << 20), "application/json"), "over 1048576 bytes"),
        (lambda exchange: exchange.respond(302, headers=[("Location", "/elsewhere")]), "HTTP 302"),
        (lambda exchange: exchange.json({"issuer": "http://127.0.0.1:1"}), "names another issuer"),
    ],
    ids=["503", "reset", "huge", "redirect", "somebody else"],
)
def test_metadata_that_cannot_be_used(protected: Protected, someone: Someone, answer: object, words: str) -> None:
    """B160: redirects are not followed, and there is a limit to what is read."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.arm("metadata", answer)  # type: ignore[arg-type]
    with pytest.raises(syncline.DiscoveryFailed, match=words):
        syncline.connect(server.url, auth=oauth(visit=someone))
    assert issuer.counts["register"] == 0
    assert not any(request.path == "/elsewhere" for request in issuer.requests)


def test_a_login_page_that_leads_nowhere(
    protected: Protected, someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B150: the client is not known there any more, and nobody comes back: the wait has an end, and a way out."""
    monkeypatch.setattr(running, "LOGIN", 0.3)
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    auth = oauth(visit=someone)
    issuer.arm("authorize", lambda exchange: exchange.respond(500, "<p>no such client</p>", "text/html"))
    with pytest.raises(syncline.AuthDenied, match="if its page showed an error, log out first"):
        syncline.connect(server.url, auth=auth)
    someone.join()
    assert "no such client" in someone.pages[0]
    monkeypatch.undo()
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text == "x"


def test_a_client_that_is_not_known_any_more(protected: Protected, someone: Someone) -> None:
    """C-9, B150: it registers itself again."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        issuer.clients.clear()
        issuer.end_access()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert issuer.counts["register"] == len(someone.visits) == 2


def test_a_client_that_is_forgotten_while_a_person_logs_in(protected: Protected, someone: Someone) -> None:
    """Its registration is given up, so that the next login begins with another one."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.refresh = False

    def slow(asked: dict[str, str]) -> dict[str, str] | None:
        issuer.person = issuer.agree
        answer = issuer.agree(asked)
        issuer.clients.clear()
        return answer

    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        issuer.end_access()
        issuer.person = slow
        with pytest.raises(syncline.AuthDenied, match="log in again") as caught:
            client.call_tool("echo", {"text": "x"})
        assert caught.value.error == "invalid_client"
        assert not store.keys()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert issuer.counts["register"] == 2


def test_a_client_of_ours_that_is_not_known_there(protected: Protected, someone: Someone) -> None:
    """Who configured it has to change that; what is kept stays."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.clients["mine"] = {"redirect_uris": Anywhere()}
    store = MemoryStore()
    auth = oauth(visit=someone, store=store, client_id="mine")
    with syncline.connect(server.url, auth=auth) as client:
        issuer.clients.clear()
        issuer.end_access()
        with pytest.raises(syncline.AuthDenied, match="check the client_id") as caught:
            client.call_tool("echo", {"text": "x"})
        assert caught.value.error == "invalid_client"
    assert store.keys()
    assert len(someone.visits) == 1
