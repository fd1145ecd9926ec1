"""Logging in with a real browser, at authorization servers that this project did not write.

One is that of the official Python SDK, in the MCP server itself; the other one is made with Authlib and Flask, for an MCP server of
the SDK that asks it what each token is good for. Consent pages and what is kept are ours (`tests/peers/logins`), as they are
everybody's who uses these two.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

import syncline
from syncline.auth.stores.base import CredentialStore
from syncline.auth.stores.memory import MemoryStore
from syncline.auth.tokens import Credentials
from tests.fixtures.logins import SOON, expire
from tests.peers.catalogue import Place
from tests.peers.chromium import MISSING, Browser, Person, browser
from tests.peers.conftest import end
from tests.peers.sites import Site, Sites

pytestmark = [pytest.mark.peers, pytest.mark.skipif(MISSING is not None, reason=MISSING or "")]

READ, WRITE = "notes:read", "notes:write"
PROGRAM = str(Path(sysconfig.get_path("scripts"), "syncline"))


@pytest.fixture(scope="session")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def person(window: Browser) -> Iterator[Person]:
    somebody = Person(window)
    yield somebody
    somebody.join()
    window.forget()


@pytest.fixture(scope="session")
def sites(places: dict[str, str]) -> Iterator[Sites]:
    started = Sites(places)
    yield started
    for process in started.processes:
        end(process)


@pytest.fixture(scope="module")
def site(place: Place, sites: Sites) -> Site:
    return sites.site(place.server, place.version)


@pytest.fixture(scope="module")
def strict(place: Place, sites: Sites) -> Site:
    """The same, where all of the server wants more than to be read."""
    return sites.site(place.server, place.version, READ, WRITE)


def only(store: CredentialStore) -> Credentials:
    """What is kept."""
    (key,) = store.keys()
    kept = store.load(key)
    assert kept is not None
    return kept


def test_log_in_and_call(site: Site, person: Person) -> None:
    """Beforehand; from then on nobody is asked."""
    store = MemoryStore()
    status = syncline.login(site.url, visit=person, store=store)
    person.saw("You are logged in")
    assert f"It asks for {READ}" in person.read[0]
    assert urlsplit(person.ended[0].url).netloc == urlsplit(person.visits[0].redirect_uri or "").netloc
    assert status.resource == site.url
    assert set(status.scopes) >= {READ}
    assert status.can_refresh
    with site.connect(store=store) as client:
        assert client.protocol_version == site.version
        assert client.call_tool("read", {}).text == f"ada with {' '.join(status.scopes)}"
    assert site.takes(only(store).access_token)


def test_log_in_when_a_call_needs_it(site: Site, person: Person) -> None:
    with site.connect(store=MemoryStore(), visit=person) as client:
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
        assert [tool.name for tool in client.list_tools()] == ["read", "write"]
    person.saw("You are logged in")


@pytest.mark.parametrize("pasted", [True, False])
def test_a_browser_that_is_waited_for(site: Site, person: Person, pasted: bool) -> None:
    """As one in the terminal, or for the URL that it shows in the end."""

    def visit(asked: syncline.Visit) -> str | None:
        person.do(asked.url)
        return person.ended[-1].url if pasted else None

    store = MemoryStore()
    assert syncline.login(site.url, visit=visit, store=store).can_refresh
    person.saw("Go back to the program")
    assert site.takes(only(store).access_token)


def test_a_page_that_belongs_to_no_login(site: Site, person: Person, window: Browser) -> None:
    """Somebody else's, or one of before: it is told so, and the login goes on."""

    def wander(url: str) -> str:
        (visit,) = person.visits
        person.read.append(window.visit(f"{visit.redirect_uri}?code=planted&state=planted").text)
        return person.do(url)

    person.look = wander
    syncline.login(site.url, visit=person, store=MemoryStore())
    person.saw("You are logged in")
    assert "This page is for the end of a login only." in person.read[0]


def test_many_servers(sites: Sites, person: Person) -> None:
    """One person, and one `OAuth`, at two servers that are started at once."""
    urls = {name: sites.site(name, "").url for name in ("sdk", "authlib")}
    with syncline.ConnectionManager(urls, auth=syncline.OAuth(store=MemoryStore(), visit=person)) as servers:
        for name in urls:
            assert servers.client(name).call_tool("read", {}).text.startswith(f"ada with {READ}")
    person.saw("You are logged in", "You are logged in")


def test_say_no(site: Site, person: Person) -> None:
    store = MemoryStore()
    person.answer = "Deny"
    with pytest.raises(syncline.AuthDenied, match="log in again and allow it") as caught:
        syncline.login(site.url, visit=person, store=store)
    assert caught.value.error == "access_denied"
    person.saw("The login did not work")
    assert list(store.keys()) == []


def test_tokens_that_end_are_refreshed(site: Site, person: Person) -> None:
    """The server ends one that we take for good; then we know beforehand. Refresh tokens rotate."""
    store = MemoryStore()
    with site.connect(store=store, visit=person) as client:
        seen = [only(store)]
        before = site.control(end=1).get("refresh_token", 0)
        for _ in range(2):
            assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
            seen.append(only(store))
            expire(store, 5)
        assert site.control()["refresh_token"] == before + 1
    with site.connect(store=store) as client:  # what is stored ends in five seconds
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
    seen.append(only(store))
    assert site.control()["refresh_token"] == before + 2
    assert len({kept.refresh_token for kept in seen}) == 3
    assert len({kept.principal for kept in seen}) == 1
    person.saw("You are logged in")


def test_tokens_of_a_few_seconds(site: Site, person: Person) -> None:
    """They are used up to half of their life, and not refreshed before each request."""
    before = site.control(lifetime=20).get("refresh_token", 0)
    try:
        with site.connect(store=MemoryStore(), visit=person) as client:
            for _ in range(3):
                assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
    finally:
        after = site.control(lifetime=3600)["refresh_token"]
    assert after < before + 3
    person.saw("You are logged in")


def test_a_client_that_was_registered_by_hand(place: Place, site: Site, person: Person) -> None:
    """With a secret. Nobody says how it is to be shown: the SDK wants it in the form, Authlib in a header."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    wanted = {
        "client_name": "by hand",
        "redirect_uris": [f"http://127.0.0.1:{port}/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": place.scopes,
    }
    client = requests.post(f"{site.issuer}/register", json=wanted, timeout=SOON).json()
    store = MemoryStore()
    login = {"client_id": client["client_id"], "client_secret": client["client_secret"], "store": store}
    with site.connect(visit=person, redirect_port=port, **login) as connected:
        assert connected.call_tool("read", {}).text.startswith(f"ada with {READ}")
    expire(store, 0)
    with site.connect(**login) as connected:
        assert connected.call_tool("read", {}).text.startswith(f"ada with {READ}")
    person.saw("You are logged in")
    assert "by hand" in person.read[0]


def test_a_refresh_token_that_comes_twice(site: Site, person: Person) -> None:
    """The login ends for whoever has it; a program says so, and where to log in again."""
    store, copied = MemoryStore(), MemoryStore()
    syncline.login(site.url, visit=person, store=store)
    copied.save(only(store))
    for each in (store, copied):
        expire(each, 0)
    with site.connect(store=store) as client:
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
        with pytest.raises(syncline.AuthRequired), site.connect(store=copied):
            pass
        with pytest.raises(syncline.AuthRequired, match="syncline auth login") as caught:
            client.call_tool("read", {})
        assert (caught.value.login_url or "").startswith(site.issuer)
        assert set(caught.value.scopes) >= {READ}
        syncline.login(site.url, visit=person, store=store)
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
    person.saw("You are logged in", "You are logged in")


def test_more_scopes(site: Site, person: Person) -> None:
    """A tool wants more: the person is asked for all of it, and the call goes on."""
    store = MemoryStore()
    with site.connect(store=store, visit=person) as client:
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
        assert client.call_tool("write", {"text": "x"}).text == "wrote x"
        assert client.call_tool("write", {"text": "y"}).text == "wrote y"
    person.saw("You are logged in", "You are logged in")
    assert WRITE not in person.read[0]
    assert READ in person.read[1]
    assert WRITE in person.read[1]
    assert set(only(store).scopes) >= {READ, WRITE}


def test_no_more_scopes(site: Site, person: Person) -> None:
    """Who says no keeps what they have."""
    with site.connect(store=MemoryStore(), visit=person) as client:
        client.list_tools()
        person.join()
        person.answer = "Deny"
        with pytest.raises(syncline.AuthDenied) as caught:
            client.call_tool("write", {"text": "x"})
        assert caught.value.error == "access_denied"
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
    person.saw("You are logged in", "The login did not work")


@pytest.mark.offers("unnamed")
def test_more_scopes_that_the_server_does_not_name(strict: Site, person: Person) -> None:
    """The SDK's answer of 403 has no `scope`: what its metadata list is asked for."""
    with strict.connect(store=MemoryStore(), visit=person, scopes=[READ]) as client:
        assert client.call_tool("read", {}).text == f"ada with {READ} {WRITE}"
    person.saw("You are logged in", "You are logged in")
    assert [parse_qs(urlsplit(visit.url).query)["scope"] for visit in person.visits] == [[READ], [f"{READ} {WRITE}"]]


def test_log_out(site: Site, person: Person) -> None:
    """Gone here, and of no use there."""
    store = MemoryStore()
    syncline.login(site.url, visit=person, store=store)
    kept = only(store)
    assert syncline.logout(site.url, store=store)
    assert list(store.keys()) == []
    assert not site.takes(kept.access_token)
    store.save(replace(kept, expires_at=0))
    with pytest.raises(syncline.AuthRequired), site.connect(store=store):
        pass


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@pytest.mark.timeout(300)  # a dozen processes
@pytest.mark.usefixtures("state")
def test_the_command_line(site: Site, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process logs in, and others go by that."""
    monkeypatch.setenv("BROWSER", "true")  # does nothing: the person goes to the URL that is shown
    words = [PROGRAM, "auth", "login", site.url, "--store", "file", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            person.do(json.loads(process.stderr.readline())["visit"]["url"])
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    person.saw("You are logged in")
    assert (process.returncode, json.loads(out)["state"]) == (0, "logged in")
    before = site.control(end=1).get("refresh_token", 0)
    words = ["call", site.url, "read", "--protocol-version", site.version]
    with ThreadPoolExecutor() as pool:  # a refresh token that came twice would end the login
        for called in pool.map(lambda _: run(*words), range(3)):
            assert (called.returncode, called.stdout.startswith(f"ada with {READ}")) == (0, True), called.stderr
    assert site.control()["refresh_token"] == before + 1
    assert json.loads(run("auth", "status", site.url, "--json").stdout)["state"] == "logged in"
    assert [each["resource"] for each in json.loads(run("auth", "list", "--json").stdout)["logins"]] == [site.url]
    ended = run("auth", "logout", site.url)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert run(*words).returncode == 3


@pytest.mark.offers("device")
@pytest.mark.parametrize("answer", ["Allow", "Deny"])
def test_type_a_code(site: Site, person: Person, answer: str) -> None:
    """In a browser that may be anywhere (RFC 8628)."""
    store = MemoryStore()
    person.answer = answer
    if answer == "Deny":
        with pytest.raises(syncline.AuthDenied) as caught:
            syncline.login(site.url, visit=person.type, device=True, store=store)
        assert caught.value.error == "access_denied"
        return
    syncline.login(site.url, visit=person.type, device=True, store=store)
    expire(store, 0)
    with site.connect(store=store) as client:
        assert client.call_tool("read", {}).text.startswith(f"ada with {READ}")
