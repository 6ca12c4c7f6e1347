"""Where a model service is and how it is spoken to: one frozen value, made by wiring, read by `http`.

Nothing here reads the environment. `repr` shows neither the key nor what headers and proxy may hold of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from pi_batch.errors import UsageError

Auth = Literal["bearer", "x-api-key", "x-goog-api-key"]

_VERSION_SEGMENT = re.compile(r"v\d+(?:alpha|beta)?\d*\Z")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?\Z")
_LOOPBACK = re.compile(r"localhost\Z|.*\.localhost\Z|127(?:\.\d{1,3}){3}\Z|::1\Z")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a request may take; `ModelRequest.timeout_s` ends it in any case."""

    connect_s: float = 10.0
    first_event_s: float = 600.0
    """Until the first event: long prompts, queues, hidden reasoning."""
    idle_s: float = 300.0
    """Between two parsed events; comments and pings are none."""


DEFAULT_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One service at one address with one key."""

    service: str
    """The provider's name, as in provider/model."""
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    auth: Auth = "bearer"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """Sent besides ours; they win over them."""
    proxy: str | None = field(default=None, repr=False)
    """http://[user:password@]host:port, or None."""
    ca_file: str | None = None
    """A PEM file of certificate authorities in place of the usual ones."""
    key_variable: str = ""
    """Where the key comes from, for error messages."""
    timeouts: Timeouts = DEFAULT_TIMEOUTS

    def __post_init__(self) -> None:
        url = _split(self.base_url)
        if url is None or url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError(f"{self.service}: base URL {self.base_url!r}: need http://HOST or https://HOST")
        if url.username or url.password or url.query or url.fragment:
            raise UsageError(f"{self.service}: base URL: no user, password, query or fragment belongs in it")
        if self.api_key is not None and not _HEADER_VALUE.match(self.api_key):
            where = self.key_variable or "the key"
            raise UsageError(f"{self.service}: {where} holds a character that no HTTP header can carry")
        proxy = None if self.proxy is None else _split(self.proxy)
        if self.proxy is not None and (proxy is None or not proxy.hostname):
            raise UsageError(f"{self.service}: the proxy's address is none: need http://HOST:PORT")
        if proxy is not None and proxy.scheme not in ("http", "https"):
            raise UsageError(
                f"{self.service}: proxy of scheme {proxy.scheme!r}: only http and https are supported"
            )

    @property
    def needs_tls(self) -> bool:
        """True when anything on the way speaks TLS."""
        return self.base_url.startswith("https:") or (self.proxy or "").startswith("https:")

    @property
    def place(self) -> str:
        """host:port, for error messages."""
        return urlsplit(self.base_url).netloc


def _split(url: str) -> SplitResult | None:
    """A URL taken apart; None for one whose host or port no URL can have."""
    try:
        parts = urlsplit(url)
        is_possible = parts.port != 0 and not any(char.isspace() for char in parts.netloc)
    except ValueError:
        return None
    return parts if is_possible else None


def chat_url(base_url: str) -> str:
    """Where Chat Completions are posted, whether or not the base ends in / or /v1.

    A base without any path is taken to lack the /v1; one with a path is taken at its word.
    """
    scheme, host, path, _, _ = urlsplit(base_url)
    path = path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((scheme, host, (path or "/v1") + "/chat/completions", "", ""))


def responses_url(base_url: str) -> str:
    """Where Responses are posted, whether or not the base ends in / or /v1; as `chat_url` reads it."""
    scheme, host, path, _, _ = urlsplit(base_url)
    path = path.rstrip("/").removesuffix("/responses")
    return urlunsplit((scheme, host, (path or "/v1") + "/responses", "", ""))


def gemini_url(base_url: str, model: str) -> str:
    """Where a Gemini model streams from, whether or not the base ends in / or /v1beta."""
    scheme, host, path, _, _ = urlsplit(base_url)
    path = path.rstrip("/").removesuffix("/models")
    if not _VERSION_SEGMENT.match(path.rpartition("/")[2]):
        path += "/v1beta"
    name = quote(model.removeprefix("models/"), safe="")
    return urlunsplit((scheme, host, f"{path}/models/{name}:streamGenerateContent", "alt=sse", ""))


def messages_url(base_url: str) -> str:
    """Where Messages are posted, whether or not the base ends in / or /v1."""
    scheme, host, path, _, _ = urlsplit(base_url)
    path = path.rstrip("/").removesuffix("/messages")
    if not _VERSION_SEGMENT.match(path.rpartition("/")[2]):
        path += "/v1"
    return urlunsplit((scheme, host, path + "/messages", "", ""))


def is_loopback(url: str) -> bool:
    """True when the URL's host is this machine."""
    parts = _split(url)
    return parts is not None and _LOOPBACK.match(parts.hostname or "") is not None


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the usual variables name for a URL: {HTTP,HTTPS,ALL}_PROXY, NO_PROXY.

    Lower case wins over upper case, an empty variable counts as unset, and this machine needs no proxy.
    """
    parts = _split(url)
    if parts is None or is_loopback(url):
        return None
    proxy = _variable(environ, f"{parts.scheme}_proxy") or _variable(environ, "all_proxy")
    if not proxy or _is_exempt(parts.hostname or "", parts.port, _variable(environ, "no_proxy")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    """NO_PROXY as curl reads it: `*`, or names that cover their subdomains, with or without dot and port."""
    for entry in no_proxy.lower().replace(",", " ").split():
        name, _, wanted_port = entry.partition(":")
        name = name.lstrip(".").removeprefix("*.")
        if wanted_port and wanted_port != str(port):
            continue
        if name in ("*", host) or host.endswith(f".{name}"):
            return True
    return False
