"""Where a server may lead us: the URLs of metadata and endpoints come from the network (specification, basic/authorization,
security considerations; OAuth 2.1, 1.5). Pure: who resolves names passes in what they resolved to.

- https; http on this machine only.
- To the public internet, or to where the server itself is: this machine, a private network, a link. A server on the internet
  leads nobody into a private network (SSRF).
- No user names, no fragments, no spellings of an address that programs understand differently.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from .documents import shown as _shown

#: Where an address is; ``nowhere``: it is none that anybody listens on, as 0.0.0.0 or a multicast group.
Zone = Literal["public", "private", "loopback", "link-local", "nowhere"]

#: The longest URL that is used.
LONGEST = 8192
PORTS = {"https": 443, "http": 80}

_URL = re.compile(rf"[\x21-\x5b\x5d-\x7e]{{1,{LONGEST}}}")
_AUTHORITY = re.compile(r"(?:(?P<six>\[[^\[\]@]+\])|[^\[\]:@]+)(?::[0-9]*)?")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")
_USER = re.compile(r"//[^/]*@")
_NAT64 = IPv6Network("64:ff9b::/96")
_THIS_NETWORK = IPv4Network("0.0.0.0/8")


def split(url: str) -> SplitResult:
    """The parts of an http or https URL that programs cannot understand differently. ``ValueError`` says what is wrong."""
    if not _URL.fullmatch(url):
        raise ValueError("it has characters that a URL cannot have, or too many")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("it has no proper host or port") from None
    if parts.scheme not in PORTS:
        raise ValueError("it is neither https nor http")
    if "@" in parts.netloc or "#" in url:
        raise ValueError("it has a user name or a fragment")
    authority = _AUTHORITY.fullmatch(parts.netloc)
    if authority is None or port == 0 or not _is_host(host, in_brackets=bool(authority["six"])):
        raise ValueError("it has no proper host or port")
    return parts


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port (RFC 6454). Raises ``ValueError``."""
    parts = split(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]


def root(url: str) -> str:
    """A URL without its path and what follows it, host and port as they are written. Raises ``ValueError``."""
    parts = split(url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def is_loopback(url: str) -> bool:
    """Whether the host of a URL is this machine by its name or address. Raises ``ValueError``."""
    return _zones(split(url), ()) == {"loopback"}


def shown(url: str) -> str:
    """A URL for people, without what may be secret in it: user, query, fragment."""
    return _shown(_USER.sub("//", re.split("[?#]", url, maxsplit=1)[0], count=1))


def typed(url: str) -> str:
    """A URL for people to copy into a shell: as it is shown, and in quotes where a shell would understand something else.

    It may come from somebody else's configuration file.
    """
    return shlex.quote(shown(url))


def zone(address: str) -> Zone:
    """Where an IP address is. Raises ``ValueError`` if it is none."""
    return _zone(ip_address(address))


def redirect_refusal(uri: str) -> str | None:
    """Why people must not be sent back to such a URI (specification: https or this machine); None if they may."""
    try:
        parts = split(uri)
    except ValueError as error:
        return str(error)
    if parts.scheme == "https" or _zones(parts, ()) == {"loopback"}:
        return None
    return "it is http, and not on this machine"


@dataclass(frozen=True)
class Reach:
    """Where a server may lead us.

    Attributes:
        zones: Where the server itself is.
        trusted: Hosts that the user names: they may be anywhere, and spoken to over http.
    """

    zones: frozenset[Zone]
    trusted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, server_url: str, addresses: Iterable[str] = (), trusted: Iterable[str] = ()) -> Reach:
        """The reach of a server.

        Args:
            server_url: Where it is, as the user says.
            addresses: What its host resolved to; none where a proxy does that.
            trusted: See the class.

        Raises:
            ValueError: The URL is none that can be used.
        """
        return cls(frozenset(_zones(split(server_url), addresses)), frozenset(host.lower() for host in trusted))

    def refusal(self, url: str, addresses: Iterable[str] = ()) -> str | None:
        """Why a URL must not be used, None if it may.

        Args:
            url: What was learned from the server, its metadata or its authorization server.
            addresses: What its host resolved to. The connection has to go to one of these: a name can resolve to something
                else a moment later.
        """
        try:
            parts = split(url)
            zones = _zones(parts, addresses)
        except ValueError as error:
            return str(error)
        if "nowhere" in zones:
            return "nobody listens on its address"
        if parts.hostname in self.trusted:
            return None
        if parts.scheme == "http" and zones != {"loopback"}:
            return "it is http, and not on this machine"
        strange = zones - self.zones - {"public"}
        if strange:
            return f"it leads to a {min(strange)} address, and the server itself is not there"
        return None


def _is_host(host: str, *, in_brackets: bool) -> bool:
    """An IPv6 address in brackets, an IPv4 address as it is usually written, or a name that is no other spelling of one."""
    literal = _literal(host)
    if in_brackets or literal is not None:
        return isinstance(literal, IPv6Address if in_brackets else IPv4Address)
    return bool(_NAME.fullmatch(host)) and not _NUMBER.fullmatch(host)


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _zones(parts: SplitResult, addresses: Iterable[str]) -> set[Zone]:
    """Where a host is; a name that nobody resolved here is taken for public."""
    found: set[Zone] = {zone(address) for address in addresses}
    host = (parts.hostname or "").removesuffix(".")
    literal = _literal(host)
    if literal is not None:
        found.add(_zone(literal))
    elif not found:
        found.add("loopback" if host == "localhost" or host.endswith(".localhost") else "public")
    return found


def _zone(address: IPv4Address | IPv6Address) -> Zone:
    if isinstance(address, IPv6Address):
        inside = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in _NAT64:
            inside = IPv4Address(int(address) & 0xFFFFFFFF)
        if inside is not None:
            return _zone(inside)
    elif address in _THIS_NETWORK:
        return "nowhere"
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    if address.is_multicast or address.is_reserved or address.is_unspecified:
        return "nowhere"
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return "public" if address.is_global and not site_local else "private"
