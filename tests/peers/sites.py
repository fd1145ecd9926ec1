"""Servers to log in at, each in a process of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

import syncline
from tests.fixtures.logins import SOON

ROOT = Path(__file__).parents[2]
#: Seconds for a server to start.
READY = 90.0


@dataclass(frozen=True)
class Site:
    """Where to log in.

    Attributes:
        url: The MCP server.
        issuer: Where the authorization server is.
        version: The protocol version to ask for.
    """

    url: str
    issuer: str
    version: str

    def connect(self, **oauth: Any) -> syncline.Client:
        return syncline.connect(self.url, auth=syncline.OAuth(**oauth), protocol_version=self.version)

    def control(self, **what: int) -> dict[str, int]:
        """Make time pass at the authorization server; how many tokens it has given for what."""
        grants: dict[str, int] = requests.post(f"{self.issuer}/control", params=what, timeout=SOON).json()
        return grants

    def takes(self, token: str) -> bool:
        """Whether the MCP server does."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        return requests.post(self.url, json=message, headers=headers, timeout=SOON).status_code != 401


class Sites:
    """What was started, by name."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        self.processes: list[subprocess.Popen[bytes]] = []
        self.found: dict[str, tuple[str, str]] = {}

    def site(self, server: str, version: str, *scopes: str) -> Site:
        """A server; `scopes` is what all of it wants, where that is more than to be read."""
        name = "-".join((server, *scopes)).replace(":", "-")
        if name not in self.found:
            issuer = origin = self.start(f"with_{server}", *scopes)
            if server == "authlib":
                origin = self.start("elsewhere", f"{issuer}/tenant")
            self.found[name] = f"{origin}/mcp", issuer
        return Site(*self.found[name], version)

    def start(self, program: str, *words: str) -> str:
        """Start one, with a socket that nobody else can have, and wait for its first answer; where it is."""
        log = Path(self.places["folder"], f"{program}-{len(self.processes)}.log")
        with socket.create_server(("127.0.0.1", 0)) as listening, log.open("wb") as out:
            origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
            command = [self.places["python"], "-m", f"tests.peers.logins.{program}", str(listening.fileno()), *words]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=ROOT,
                pass_fds=[listening.fileno()],
            )
        self.processes.append(process)
        try:
            requests.get(origin, timeout=READY)
        except requests.RequestException as error:
            raise RuntimeError(f"{program} did not come up: {log.read_text()[-2000:]}") from error
        return origin
