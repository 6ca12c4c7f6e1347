"""Hosts that a spec lists: what an entry may look like, and what it lets through."""

from __future__ import annotations

import ipaddress
import re

from msgspec import Struct

USUAL_PORTS = (80, 443)
_NAME = r"(\*\.)?[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?"
_ENTRY = re.compile(rf"(?P<host>\[[0-9A-Fa-f:.]+\]|{_NAME})(:(?P<port>\d{{1,5}}))?")


class AllowedHost(Struct, frozen=True):
    """One entry of a list: `example.org`, `*.example.org`, either with `:port`."""

    host: str
    """In lower case; with `*.` in front everything below it, and not itself."""
    port: int | None
    """None: 80 and 443."""

    @classmethod
    def parse(cls, entry: str) -> AllowedHost:
        """Raises: ValueError for what is no host."""
        found = _ENTRY.fullmatch(entry)
        port = int(found["port"]) if found and found["port"] else None
        if found is None or (port is not None and not 0 < port < 65536):
            raise ValueError(f"no host: {entry!r}")
        return cls(found["host"].strip("[]").lower().rstrip("."), port)

    @property
    def is_address(self) -> bool:
        """True when it names one machine by number, or this one."""
        return self.host == "localhost" or address_of(self.host) is not None

    def allows(self, host: str, port: int) -> bool:
        """Whether a target is within this entry."""
        if port not in USUAL_PORTS if self.port is None else port != self.port:
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:]) and len(host) > len(self.host) - 1
        return host == self.host


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address out of its text, a zone left out; None for a name."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
