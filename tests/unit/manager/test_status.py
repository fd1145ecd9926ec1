"""What is told about servers that do not start."""

from __future__ import annotations

import pytest

import syncline
from syncline.manager import status
from syncline.manager.status import READY, STARTING, failed, lost, may_pass


def refused() -> syncline.AuthRequired:
    return syncline.AuthRequired("401", www_authenticate=None)


def test_the_text_is_for_whoever_has_to_do_something() -> None:
    """3.15: credentials, limits, and everything else with its cause; 3.16: names are as they were configured."""
    wanted = failed("my server", refused(), 30)
    assert (wanted.state, wanted.reason) == ("failed", "authentication required")
    assert "my server wants credentials" in str(wanted.text)
    late = failed("slow", syncline.RequestTimeout("too late"), 30)
    assert late.reason == "timeout"
    assert "slow did not start within 30 seconds" in str(late.text)
    assert "startup_timeout" in str(late.text)
    broken = failed("x", syncline.ConnectFailed("no program 'x'").at("x"), 30)
    assert (broken.reason, broken.text) == (None, "x did not start: no program 'x'")
    assert str(broken) == "failed: x did not start: no program 'x'"
    assert isinstance(broken.error, syncline.ConnectFailed)


def test_the_text_has_what_the_server_said() -> None:
    chatty = syncline.RequestTimeout("no answer within 5 s; what came instead: hello")
    chatty.instead = "; what came instead: hello"
    text = failed("x", chatty.at("x"), 5).text
    assert (
        text
        == "x did not start within 5 seconds; if it needs longer, raise its startup_timeout; what came instead: hello"
    )
    tail = ["Traceback (most recent call last):", "KeyError: 'KEY'"]
    ended = syncline.ServerExited("the server ended with exit status 1", command=["x"], returncode=1, stderr_tail=tail)
    assert failed("x", ended.at("x"), 5).text == (
        "x did not start: the server ended with exit status 1: KeyError: 'KEY'"
    )


def test_a_status_is_a_word() -> None:
    assert (str(READY), READY.settled, STARTING.settled) == ("ready", True, False)
    assert lost("x").state == "failed"


def untrusted() -> syncline.ConnectFailed:
    error = syncline.ConnectFailed("bad certificate")
    error.passing = False
    return error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (syncline.ConnectFailed("refused"), True),
        (syncline.RequestTimeout("late"), True),
        (syncline.HttpStatusError("503", status=503), True),
        (syncline.ServerExited("it died", command=["x"], returncode=1), True),
        (untrusted(), False),
        (refused(), False),
        (syncline.ConfigError("no token"), False),
        (syncline.NoCommonRevision("none"), False),
    ],
)
def test_what_may_pass_by_itself(error: syncline.SynclineError, passes: bool) -> None:
    assert may_pass(error) == passes


def test_every_state_is_named() -> None:
    """3.20: the states that there are."""
    known = {status.DISABLED, status.NOT_STARTED, STARTING, READY, status.CANCELLED, lost("x")}
    assert {each.state for each in known} == {"disabled", "not started", "starting", "ready", "failed", "cancelled"}
