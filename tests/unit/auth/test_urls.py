"""Where a server may lead us."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import urls
from syncline.auth.urls import Reach

PUBLIC = Reach.of("https://notes.test/mcp", ["9.9.9.9"])
PRIVATE = Reach.of("https://notes.corp/mcp", ["10.1.2.3"])
LOCAL = Reach.of("http://127.0.0.1:4711/mcp", ["127.0.0.1"])


@pytest.mark.parametrize(
    ("address", "zone"),
    [
        ("9.9.9.9", "public"),
        ("2620:fe::fe", "public"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fc00::1", "private"),
        ("fec0::1", "private"),
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("0.0.0.0", "nowhere"),
        ("0.1.2.3", "nowhere"),
        ("::", "nowhere"),
        ("224.0.0.1", "nowhere"),
        ("ff02::1", "nowhere"),
        ("240.0.0.1", "nowhere"),
        ("255.255.255.255", "nowhere"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:9.9.9.9", "public"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b::909:909", "public"),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:909:909::f5ff:fffe", "private"),
    ],
)
def test_where_an_address_is(address: str, zone: str) -> None:
    """Z-3: also when it is wrapped into another one."""
    assert urls.zone(address) == zone


NOT_URLS = [
    "",
    "notes.test",
    "//notes.test/",
    "/path",
    "https://",
    "https:notes.test",
    "ftp://notes.test/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "https://user@notes.test/",
    "https://user:pw@notes.test/",
    "https://notes.test@evil.test/",
    "https://notes.test/#x",
    "https://notes.test/ x",
    "https://notes.test/\r\nX-Key: 1",
    "https://notes.test\\@evil.test/",
    "https://nötes.test/",
    "https://notes.test:99999/",
    "https://notes.test:x/",
    "https://notes.test:0/",
    "https://[::1/",
    "https://[zz]/",
    "https://[10.0.0.1]/",
    "https://a[::1]/",
    "https://[::1]a/",
    "https://notes.test:+1/",
    "https://no%74es.test/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.0.0.1/",
    "https://0x7f000001/",
    "https://017700000001./",
    "https://notes..test/",
    "https://notes.test/" + "x" * urls.LONGEST,
]


@pytest.mark.parametrize("url", NOT_URLS)
def test_what_is_no_url_to_go_to(url: str) -> None:
    """Z-6: a list of what is allowed; nothing that programs understand differently, and nothing that ends a header."""
    with pytest.raises(ValueError, match=r"it has|it is neither"):
        urls.split(url)
    for reach in (PUBLIC, PRIVATE, LOCAL, Reach.of("https://notes.test", trusted=["notes.test", "evil.test"])):
        assert reach.refusal(url)
    assert urls.redirect_refusal(url)


@pytest.mark.parametrize(
    ("url", "addresses", "public", "private", "local"),
    [
        ("https://id.test/", ["9.9.9.9"], True, True, True),
        ("https://id.test:8443/a?b=c", [], True, True, True),
        ("https://id.test/", ["10.0.0.1"], False, True, False),
        ("https://id.test/", ["9.9.9.9", "10.0.0.1"], False, True, False),
        ("https://id.test/", ["127.0.0.1"], False, False, True),
        ("https://id.test/", ["169.254.169.254"], False, False, False),
        ("https://169.254.169.254/", [], False, False, False),
        ("https://id.test/", ["0.0.0.0"], False, False, False),
        ("https://id.test/", ["not an address"], False, False, False),
        ("https://10.0.0.1/", [], False, True, False),
        ("https://10.0.0.1/", ["9.9.9.9"], False, True, False),
        ("https://[::ffff:10.0.0.1]/", [], False, True, False),
        ("https://localhost/", [], False, False, True),
        ("https://x.localhost./", [], False, False, True),
        ("https://localhost/", ["9.9.9.9"], True, True, True),
        ("http://localhost:3000/", ["::1", "127.0.0.1"], False, False, True),
        ("http://127.0.0.1:3000/", [], False, False, True),
        ("http://localhost/", ["9.9.9.9"], False, False, False),
        ("http://id.test/", [], False, False, False),
        ("http://id.test/", ["9.9.9.9"], False, False, False),
        ("http://10.0.0.1/", [], False, False, False),
    ],
)
def test_where_a_server_may_lead_us(url: str, addresses: list[str], public: bool, private: bool, local: bool) -> None:
    """Z-1, Z-2, Z-3, T-5: to the internet, or to where it is itself; http on this machine only."""
    assert [reach.refusal(url, addresses) is None for reach in (PUBLIC, PRIVATE, LOCAL)] == [public, private, local]


def test_a_reason_is_given() -> None:
    assert "private address" in str(PUBLIC.refusal("https://10.0.0.1/"))
    assert "http" in str(PUBLIC.refusal("http://id.test/"))
    assert "nobody listens" in str(PUBLIC.refusal("https://0.0.0.0/"))


def test_hosts_that_the_user_names_may_be_anywhere() -> None:
    """Z-2: an explicit opt-out, for each host."""
    reach = Reach.of("https://notes.test/mcp", ["9.9.9.9"], ["ID.corp"])
    assert reach.refusal("http://id.corp:8080/", ["10.0.0.1"]) is None
    assert reach.refusal("http://other.corp/", ["10.0.0.1"])
    assert reach.refusal("https://id.corp/", ["0.0.0.0"])


def test_a_server_that_is_nowhere_to_be_found_has_no_reach() -> None:
    with pytest.raises(ValueError, match="no proper host"):
        Reach.of("https://127.1/mcp")


@pytest.mark.parametrize(
    ("uri", "allowed"),
    [
        ("http://127.0.0.1:52117/cb", True),
        ("http://[::1]:52117/cb", True),
        ("http://localhost:3000/callback", True),
        ("https://tool.test/cb", True),
        ("https://10.0.0.1/cb", True),
        ("http://tool.test/cb", False),
        ("http://0.0.0.0:3000/cb", False),
        ("com.example.app:/cb", False),
    ],
)
def test_where_people_are_sent_back_to(uri: str, allowed: bool) -> None:
    """L-1, T-5."""
    assert (urls.redirect_refusal(uri) is None) is allowed


def test_origins() -> None:
    assert (
        urls.origin("HTTPS://Notes.test/a") == urls.origin("https://notes.test:443/b") == ("https", "notes.test", 443)
    )
    assert urls.origin("http://[::1]:80/") == ("http", "::1", 80)
    assert urls.root("https://Notes.test:8443/a/b?c") == "https://Notes.test:8443"
    assert urls.is_loopback("http://localhost:3000/cb")
    assert not urls.is_loopback("https://notes.test/cb")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:planted@h.test/a?planted#planted", "https://h.test/a"),
        ("https://h.test/@x/y", "https://h.test/@x/y"),
        ("\x1b[31m", "[31m"),
        ("https://h.test/" + "x" * 400, "https://h.test/" + "x" * 185 + "..."),
    ],
)
def test_urls_for_people(url: str, shown: str) -> None:
    """G-4, 4.21."""
    assert urls.shown(url) == shown


@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(["", "https://", "http://", "https://h.test", "https://h.test/"]))
def test_what_is_allowed_is_what_it_seems(text: str, head: str) -> None:
    """Whatever is allowed parses to the same host again, and has nothing in it that ends a line."""
    url = head + text
    if PUBLIC.refusal(url) is None:
        parts = urlsplit(url)
        assert parts.scheme == "https"
        assert parts.hostname
        assert not parts.username
        assert not parts.fragment
        assert url.isascii()
        assert url.isprintable()
        assert "\\" not in url


@settings(deadline=None)
@given(st.ip_addresses())
def test_only_public_addresses_are_reached_from_the_internet(address: object) -> None:
    """Z-3."""
    allowed = PUBLIC.refusal("https://id.test/", [str(address)]) is None
    assert allowed is (urls.zone(str(address)) == "public")


def test_urls_to_copy_into_a_shell() -> None:
    """They can be somebody else's, in a configuration file that came with their program."""
    assert urls.typed("https://notes.example:8443/v1/mcp?key=planted") == "https://notes.example:8443/v1/mcp"
    assert urls.typed("https://notes.example/$(reboot);`a`") == "'https://notes.example/$(reboot);`a`'"
