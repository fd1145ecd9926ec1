"""A manager of what configuration files say, with what they say that cannot be used."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from syncline import ConfigError, ConnectionManager, HttpServer, load_config
from syncline.manager.configfiles import LoadedConfig, Origin, Skipped

from .conftest import Machine

DEMO = {"command": sys.executable, "args": ["-m", "syncline.demo"]}
UNSET = DEMO | {"env": {"KEY": "${SYNCLINE_TEST_UNSET}"}}
WHY = "the environment variable SYNCLINE_TEST_UNSET is not set; set it"


@pytest.fixture
def here(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The machine, as what has no way to be told of another one sees it."""
    monkeypatch.chdir(machine.work)
    monkeypatch.setenv("HOME", str(machine.home))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return machine


def written(**servers: object) -> str:
    return json.dumps({"mcpServers": servers}, indent=1)


def test_what_is_found_is_started(here: Machine) -> None:
    here.write("mcp.json", written(weather=DEMO, off=DEMO | {"enabled": False}))
    with ConnectionManager.from_config(prefix="", grace=0) as servers:
        assert "weather__add" in [tool.qualified_name for tool in servers.list_tools()]
        assert servers.call_tool("weather__add", {"a": 2, "b": 3}).text == '{"sum": 5}'
        assert {name: status.state for name, status in servers.status().items()} == {
            "weather": "ready",
            "off": "disabled",
        }


def test_what_was_left_out_is_a_failed_server_with_the_reason(here: Machine) -> None:
    file = here.write("mcp.json", written(weather=DEMO, issues=UNSET))
    why = f"{file}, line 10: mcpServers.issues: {WHY}"
    with ConnectionManager.from_config() as servers:
        status = servers.status()["issues"]
        assert (status.state, status.reason, status.text) == ("failed", None, f"issues cannot be used: {why}")
        assert (list(servers.errors), list(servers)) == (["issues"], ["weather"])
        assert str(servers.errors["issues"]) == f"issues: {why}"
        assert isinstance(servers.list_tools().errors["issues"], ConfigError)
        assert isinstance(servers.snapshot().errors["issues"], ConfigError)
        assert "issues" not in servers
        assert not servers.wait_ready("issues", 1)
        for use in (
            lambda: servers["issues"],
            lambda: servers.refresh("issues"),
            lambda: servers.call_tool("add", server="issues"),
            lambda: servers.snapshot(require=["issues"]),
        ):
            with pytest.raises(ConfigError, match=WHY):
                use()


def test_another_configuration_has_other_reasons(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write("mcp.json", written(weather=DEMO, issues=UNSET))
    with ConnectionManager.from_config() as servers:
        weather = servers["weather"]
        monkeypatch.setenv("SYNCLINE_TEST_UNSET", "1")
        servers.reconcile(load_config())
        assert servers["issues"].server_info.name == "syncline-demo"
        assert servers.errors == {}
        assert servers["weather"] is weather
        monkeypatch.delenv("SYNCLINE_TEST_UNSET")
        servers.reconcile(load_config())
        assert list(servers.errors) == ["issues"]
        servers.reconcile({"weather": [sys.executable, "-m", "syncline.demo"]})
        assert servers.status().keys() == {"weather"}


def test_a_named_file_its_scopes_and_its_inputs(here: Machine) -> None:
    here.write("mcp.json", written(ours={"url": "https://ours.example/mcp"}))
    here.write("~/.cursor/mcp.json", written(theirs={"url": "https://theirs.example/mcp"}))
    other = here.write("other.json", written(other={"url": "https://${input:host}/mcp"}))
    assert list(ConnectionManager.from_config().status()) == ["ours", "theirs"]
    assert list(ConnectionManager.from_config(scopes=["user"]).status()) == ["theirs"]
    assert {name: s.state for name, s in ConnectionManager.from_config(other).status().items()} == {"other": "failed"}
    answered = ConnectionManager.from_config(other, inputs={"host": "other.example"})
    assert {name: s.state for name, s in answered.status().items()} == {"other": "not started"}


@pytest.mark.parametrize(
    "text",
    ["{", written(weather={"command": 7}), written(weather=UNSET | {"required": True})],
    ids=["broken", "entry", "required"],
)
def test_what_the_reader_refuses_is_raised(here: Machine, text: str) -> None:
    file = here.write("mcp.json", text)
    with pytest.raises(ConfigError, match=f"^{file}, line "):
        ConnectionManager.from_config()


def test_a_file_that_was_left_out_has_no_name_and_is_logged(here: Machine, caplog: pytest.LogCaptureFixture) -> None:
    file = here.write("~/.cursor/mcp.json", "{")
    with caplog.at_level(logging.WARNING, "syncline"):
        servers = ConnectionManager.from_config()
    assert servers.status() == {}
    [said] = caplog.messages
    assert said.startswith(f"left out: {file}: line 1, column 2: ")


def test_a_loaded_configuration_is_one(tmp_path: Path) -> None:
    origin = Origin(str(tmp_path / "mcp.json"), 3, "mcpServers.b", "mcp.json", "project")
    config = LoadedConfig({"a": HttpServer("https://a.example/mcp")}, skipped=(Skipped(origin, "b", "no"),))
    assert list(ConnectionManager(config).status()) == ["a", "b"]
