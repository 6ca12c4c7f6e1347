"""The model services that are known by name, and those that a config file adds.

A service is data: its wire, its address, where its key is, its habits. `endpoint_for` turns one into an
`Endpoint` out of a mapping of variables that wiring hands in; nothing here looks at the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import UsageError
from pi_batch.providers import compat
from pi_batch.providers.compat import DEFAULT as DEFAULT_COMPAT
from pi_batch.providers.compat import Compat
from pi_batch.providers.endpoint import (
    DEFAULT_TIMEOUTS,
    Auth,
    Endpoint,
    Timeouts,
    is_loopback,
    proxy_for,
)
from pi_batch.providers.models import DEFAULT_OUTPUT_TOKENS, ModelFacts, model_facts

Api = Literal["openai", "openai-chat", "anthropic", "google"]
KeyState = Literal["set", "missing", "not needed"]


class Service(Struct, frozen=True):
    """One model service."""

    name: str
    """What stands before the first slash of a model."""
    base_url: str
    api: Api = "openai-chat"
    key_variables: tuple[str, ...] = ()
    """The first that is set counts."""
    base_url_variables: tuple[str, ...] = ()
    needs_key: bool = True
    compat: Compat = DEFAULT_COMPAT
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    """The most that a model of unknown family is asked for."""
    context_window: int | None = None
    """Of all its models, where a config file says so."""
    header_variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Variable -> header, sent where the variable is set."""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def chat_service(name: str, base_url: str, habits: Compat, **rest: Any) -> Service:
    """A service that speaks Chat Completions and reads NAME_API_KEY and NAME_BASE_URL."""
    prefix = variable_prefix(name)
    variables = {"key_variables": (f"{prefix}_API_KEY",), "base_url_variables": (f"{prefix}_BASE_URL",)}
    return Service(name, base_url, compat=habits, **{**variables, **rest})


def variable_prefix(name: str) -> str:
    """NAME of NAME_API_KEY and NAME_BASE_URL."""
    return "".join(char if char.isalnum() else "_" for char in name).upper()


_OPENAI: dict[str, Any] = {
    "key_variables": ("OPENAI_API_KEY",),
    "base_url_variables": ("OPENAI_BASE_URL",),
    "header_variables": MappingProxyType(
        {"OPENAI_ORG_ID": "openai-organization", "OPENAI_PROJECT_ID": "openai-project"}
    ),
}
_LOCAL: dict[str, Any] = {"needs_key": False, "max_output_tokens": 8_192}

SERVICES: dict[str, Service] = {
    service.name: service
    for service in (
        chat_service("openai", "https://api.openai.com/v1", compat.OPENAI, api="openai", **_OPENAI),
        chat_service("openai-chat", "https://api.openai.com/v1", compat.OPENAI, **_OPENAI),
        Service(
            "anthropic",
            "https://api.anthropic.com",
            "anthropic",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            ("ANTHROPIC_BASE_URL",),
        ),
        Service(
            "google",
            "https://generativelanguage.googleapis.com",
            "google",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_BASE_URL"),
        ),
        chat_service("deepseek", "https://api.deepseek.com", compat.DEEPSEEK),
        chat_service("openrouter", "https://openrouter.ai/api/v1", compat.OPENROUTER),
        chat_service("groq", "https://api.groq.com/openai/v1", compat.GROQ, max_output_tokens=16_384),
        chat_service("mistral", "https://api.mistral.ai/v1", compat.MISTRAL),
        chat_service("xai", "https://api.x.ai/v1", compat.XAI, max_output_tokens=30_000),
        chat_service("together", "https://api.together.xyz/v1", compat.TOGETHER),
        chat_service("fireworks", "https://api.fireworks.ai/inference/v1", compat.FIREWORKS),
        chat_service("cerebras", "https://api.cerebras.ai/v1", compat.CEREBRAS),
        chat_service("moonshot", "https://api.moonshot.ai/v1", compat.MOONSHOT),
        chat_service("zai", "https://api.z.ai/api/paas/v4", compat.ZAI),
        chat_service("ollama", "http://127.0.0.1:11434", compat.OLLAMA, **_LOCAL),
        chat_service("llamacpp", "http://127.0.0.1:8080", compat.LLAMACPP, **_LOCAL),
        chat_service("vllm", "http://127.0.0.1:8000", compat.VLLM, **_LOCAL),
        chat_service("lmstudio", "http://127.0.0.1:1234", compat.LMSTUDIO, **_LOCAL),
    )
}
"""By name. Base URLs come with or without /v1: they are joined so that it is there once."""


def default_max_output_tokens(service: Service, model: str) -> int:
    """What to ask for where nobody names a cap: never more than the model gives."""
    facts = model_facts(model, ModelFacts(service.max_output_tokens))
    return min(facts.max_output_tokens, service.max_output_tokens)


def key_state(service: Service, environ: Mapping[str, str]) -> KeyState:
    """Whether requests to this service can be made, for `pi-batch models`."""
    if _first(environ, service.key_variables):
        return "set"
    return "missing" if service.needs_key and not is_loopback(_base_url(service, environ)) else "not needed"


def endpoint_for(
    service: Service, environ: Mapping[str, str], *, timeouts: Timeouts = DEFAULT_TIMEOUTS
) -> Endpoint:
    """Where and with which key to reach a service. Raises: UsageError, naming the variable to set."""
    if key_state(service, environ) == "missing":
        wanted = " or ".join(service.key_variables)
        raise UsageError(f"{service.name}: no key: set {wanted}")
    base_url = _base_url(service, environ)
    key_variable = _first(environ, service.key_variables) or "".join(service.key_variables[:1])
    return Endpoint(
        service.name,
        base_url,
        environ.get(key_variable, "").strip() or None,
        _auth(service, key_variable),
        MappingProxyType(_headers(service, environ)),
        proxy_for(base_url, environ),
        environ.get("SSL_CERT_FILE") or None,
        key_variable,
        timeouts,
    )


def _first(environ: Mapping[str, str], variables: tuple[str, ...]) -> str | None:
    """The first variable that is set; an empty one counts as unset."""
    return next((name for name in variables if environ.get(name, "").strip()), None)


def _base_url(service: Service, environ: Mapping[str, str]) -> str:
    variable = _first(environ, service.base_url_variables)
    if variable is not None:
        return environ[variable].strip()
    if service.name == "ollama" and environ.get("OLLAMA_HOST", "").strip():
        return _ollama_url(environ["OLLAMA_HOST"].strip())
    return service.base_url


def _ollama_url(host: str) -> str:
    """OLLAMA_HOST is what the server binds: host:port, :port or 0.0.0.0, with or without a scheme."""
    scheme, _, rest = host.rpartition("://")
    name, colon, port = rest.rstrip("/").rpartition(":")
    if not colon:
        name, port = rest.rstrip("/"), "443" if scheme == "https" else "11434"
    name = "127.0.0.1" if name in ("", "0.0.0.0") else name  # noqa: S104 - read, not bound
    return f"{scheme or 'http'}://{name}:{port}"


def _auth(service: Service, key_variable: str) -> Auth:
    if service.api == "google":
        return "x-goog-api-key"
    return "x-api-key" if service.api == "anthropic" and key_variable != "ANTHROPIC_AUTH_TOKEN" else "bearer"


def _headers(service: Service, environ: Mapping[str, str]) -> dict[str, str]:
    headers = dict(service.headers)
    for variable, header in service.header_variables.items():
        if value := environ.get(variable, "").strip():
            headers[header] = value
    if service.api == "anthropic":
        for line in environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
            name, colon, value = line.partition(":")
            if colon and name.strip():
                headers[name.strip().lower()] = value.strip()
    return headers
