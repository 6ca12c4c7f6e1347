"""Where another repository is: a URL or a path, taken apart, with its credentials apart from the rest.

What git is given, what is shown and what is stored never holds a password: `credentials` is handed to git
in a variable of its own. Addresses that start a program (`ext::`, a host with a dash in front) are refused.

Source: git-clone(1) "GIT URLS", gitremote-helpers(7).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

NAME_CHARS: Final = 60
_NETWORK: Final = ("https", "http", "ssh")
_UNREAD: Final = re.compile(r"(?<=://).*@|^[^/@:]+:(?!//).*@|[?#].*", re.DOTALL)
"""What of an address that cannot be read may be a secret."""
_HELPER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_SCP: Final = re.compile(r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>[^/:@\s]+):(?P<path>(?!//).+)")
_HOST: Final = re.compile(r"[A-Za-z0-9\[](?:[A-Za-z0-9._:\]-]*)")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REF: Final = re.compile(r"[^\s~^:?*\[\\\x00-\x1f\x7f-\x9f-][^\s~^:?*\[\\\x00-\x1f\x7f-\x9f]{0,249}")


@dataclass(frozen=True, slots=True)
class Address:
    """A repository's place, without credentials."""

    kind: Literal["https", "http", "ssh", "local"]
    url: str
    """What git is given and people are shown; of a local one a path."""
    credentials: str = field(default="", repr=False)
    """`user:password` of an http(s) URL, decoded."""

    @property
    def host(self) -> str:
        """In small letters, with the port where there is one; empty for a local one."""
        if self.kind == "local":
            return ""
        found = None if "://" in self.url else _SCP.fullmatch(self.url)
        return (found["host"] if found else urlsplit(self.url).netloc.rpartition("@")[2]).lower()

    @property
    def path(self) -> str:
        """At its host, without slashes around it and `.git`: `owner/name`."""
        found = _SCP.fullmatch(self.url) if self.kind == "ssh" and "://" not in self.url else None
        path = found["path"] if found else urlsplit(self.url).path if self.kind != "local" else self.url
        return path.strip("/").removesuffix(".git")

    @property
    def name(self) -> str:
        """The last part of the path, fit for keys, files and branches."""
        last = re.split(r"[/:]", self.url.rstrip("/"))[-1]
        if last == ".git":
            last = self.url.rstrip("/").split("/")[-2]
        return slug(last.removesuffix(".git"))

    def below(self, directory: Path) -> Address:
        """The same with an absolute path, where it is a relative one from this directory."""
        if self.kind != "local":
            return self
        return Address("local", os.path.normpath(directory / self.url))


def slug(text: str) -> str:
    """A text as a repository's name: letters, digits, dots and single dashes."""
    safe = re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")
    return re.sub(r"[.]{2,}", ".", safe)[:NAME_CHARS].strip("-._") or "repository"


def without_credentials(text: str) -> str:
    """An address, right or wrong, as it may be shown and stored."""
    try:
        return address_of(text).url
    except ValueError:
        return _UNREAD.sub(lambda found: "***@" if found[0].endswith("@") else f"{found[0][0]}***", text)


def address_of(text: str) -> Address:
    """Take an address apart. Raises: ValueError, `need ...` in words that hold nothing of it."""
    if not text.strip() or text != text.strip() or not text.isprintable():
        raise ValueError("need the URL or path of a git repository")
    if text.startswith("-"):
        raise ValueError("need a URL or path that does not begin with '-'")
    if _HELPER.match(text):
        raise ValueError("need an https, ssh or file URL or a path: an address with '::' starts a program")
    if "://" in text:
        return _of_url(text)
    scp = _SCP.fullmatch(text) if ":" in text.split("/", 1)[0] else None
    if scp is None:
        return Address("local", text)
    if "@" in text.split("/", 1)[0] and scp["user"] is None:
        raise ValueError("need user@host:path: ssh takes no password in an address")
    _check_parts(scp["user"], scp["host"], scp["path"])
    return Address("ssh", text)


def _of_url(text: str) -> Address:
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError("need a URL whose host and port can be read") from error
    scheme = parts.scheme.lower()
    if parts.query or parts.fragment:
        raise ValueError("need a URL without '?' and '#'")
    if scheme == "file":
        if parts.netloc.lower() not in ("", "localhost") or not parts.path.strip("/"):
            raise ValueError("need file:///PATH")
        path = unquote(parts.path)
        if not path.isprintable():
            raise ValueError("need a path without control characters")
        return Address("local", path)
    if scheme not in _NETWORK:
        raise ValueError("need an https, ssh or file URL, or a path")
    _check_parts(parts.username if scheme == "ssh" else None, host, parts.path.lstrip("/"))
    user, _, at = parts.netloc.rpartition("@")
    if scheme == "ssh":
        if ":" in user:
            raise ValueError("need ssh://user@host/path: ssh takes no password in an address")
        return Address("ssh", urlunsplit(("ssh", parts.netloc, parts.path, "", "")))
    url = urlunsplit((scheme, at, parts.path, "", ""))
    name, _, password = user.partition(":")
    plain = f"{unquote(name)}:{unquote(password)}" if user else ""
    if not plain.isprintable():
        raise ValueError("need credentials without control characters")
    return Address("https" if scheme == "https" else "http", url, plain)


def _check_parts(user: str | None, host: str | None, path: str) -> None:
    """Raises: ValueError for parts that a program on the way would take as an option or a command."""
    if host is None or not _HOST.fullmatch(host):
        raise ValueError("need a host that begins with a letter or digit")
    if user is not None and not _USER.fullmatch(user):
        raise ValueError("need a user name that begins with a letter or digit")
    if not path.strip("/") or path.startswith("-"):
        raise ValueError("need the repository's path behind the host")


def ref_complaint(ref: str) -> str | None:
    """What is wrong with a branch, tag or commit, in words; None when nothing is.

    Source: git-check-ref-format(1).
    """
    is_form = bool(_REF.fullmatch(ref)) and not any(part in ref for part in ("..", "//", "@{", "/."))
    if is_form and ref != "@" and not ref.startswith((".", "/")) and not ref.endswith((".lock", "/", ".")):
        return None
    return "need the name of a branch or tag, or a commit's id"
