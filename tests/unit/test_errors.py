"""The error tree: what it says, what it is caught by, and that it travels."""

from __future__ import annotations

import copy
import pickle

import pytest

from syncline import errors

SAMPLES = [
    errors.SynclineError("m", server="s", method="tools/call", request_id=7),
    errors.ConfigError("m"),
    errors.ConnectFailed("m", server="s"),
    errors.ConnectionLost("m"),
    errors.ServerExited("m", command=["uvx", "x"], returncode=2, stderr_tail=["no such flag"]),
    errors.HttpStatusError("m", status=503, url="https://x/mcp", body_preview="busy", retry_after=2.0),
    errors.SessionExpired("m"),
    errors.ConnectionClosed("m"),
    errors.ForkedConnection("m"),
    errors.RequestTimeout("m"),
    errors.NoCommonRevision("m"),
    errors.LocalProtocolError("m"),
    errors.InvalidMessage("m", raw=b"<html>"),
    errors.InvalidResult("m", raw={"a": 1}, errors=["a: bad"]),
    errors.UnexpectedMessage("m"),
    errors.server_error(-32602, "m", {"x": 1}, 400),
    errors.ListingLimit("m"),
    errors.InputRequired("m", requests={"k": {"method": "roots/list"}}, request_state="S"),
    errors.AuthRequired("m", www_authenticate="Bearer", url="https://x/mcp", login_url="https://y/", scopes=["a"]),
    errors.AuthDenied("m", error="access_denied"),
    errors.DiscoveryFailed("m", passing=True),
    errors.RefreshFailed("m", error="temporarily_unavailable"),
    errors.AuthRequired("m", www_authenticate="Bearer", url="https://x/mcp"),
    errors.RefreshFailed("m", error="invalid_client"),
    errors.CredentialStoreError("m", store="the keyring"),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_errors_travel_whole(error: errors.SynclineError, way: object) -> None:
    """They cross threads as copies and processes as pickles (Celery, multiprocessing)."""
    other = way(error)  # type: ignore[operator]

    assert type(other) is type(error)
    assert vars(other) == vars(error)
    assert str(other) == str(error)


def test_where_it_happened_is_filled_in_once() -> None:
    error = errors.RequestTimeout("no answer").at("weather", "tools/call", 7).at("other", "ping", 8)

    assert str(error) == "weather: tools/call: no answer"
    assert (error.server, error.method, error.request_id) == ("weather", "tools/call", 7)


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.ConnectFailed("m"), OSError),
        (errors.ConnectionLost("m"), OSError),
        (errors.RequestTimeout("m"), TimeoutError),
        (errors.LocalProtocolError("m"), ValueError),
        (errors.ConfigError("m"), ValueError),
    ],
)
def test_python_knows_them_too(error: Exception, base: type[Exception]) -> None:
    assert isinstance(error, base)
    assert isinstance(error, errors.SynclineError)


def test_a_dead_server_shows_its_last_words() -> None:
    error = errors.ServerExited("it ended with status 2", command=["x"], returncode=2, stderr_tail=["usage: x"])

    assert str(error) == "it ended with status 2; its last words on standard error:\n  usage: x"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32601, errors.MethodNotFound),
        (-32602, errors.InvalidParams),
        (-32002, errors.ResourceNotFound),
        (-32020, errors.HeaderMismatch),
        (-32021, errors.MissingCapability),
        (-32022, errors.UnsupportedRevision),
        (-32042, errors.UrlElicitationRequired),
        (-32000, errors.ServerError),
        (0, errors.ServerError),
    ],
)
def test_codes_have_classes(code: int, kind: type[errors.ServerError]) -> None:
    error = errors.server_error(code, "m")

    assert type(error) is kind
    assert str(error) == f"m (code {code})"


def test_required_servers_that_failed_are_a_list() -> None:
    """What one wrote to standard error cannot be taken for another one."""
    ended = errors.ServerExited("it ended", command=["a"], returncode=1, stderr_tail=["z: no key"])
    failed = errors.RequiredServersFailed({"z": errors.ConnectFailed("refused"), "a": ended})
    assert str(failed).splitlines() == [
        "2 required servers did not start:",
        "  a: it ended; its last words on standard error:",
        "    z: no key",
        "  z: refused",
    ]
