"""Providers against the loopback server, and requests for them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch import providers
from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, Message, ToolDeclaration, user_text
from pi_batch.protocols import Delta, ModelRequest, Provider
from pi_batch.providers.catalog import SERVICES, Service
from pi_batch.providers.endpoint import Endpoint, Timeouts

KEY = "sk-test-0123456789"
NOW = 1_767_225_600.0
READ = ToolDeclaration(
    "read",
    "Read a file",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def endpoint(url: str, service: str = "openai-chat", **rest: Any) -> Endpoint:
    """An endpoint at the loopback server."""
    auth = {"anthropic": "x-api-key", "google": "x-goog-api-key"}.get(service, "bearer")
    variable = f"{service.split('-', 1)[0].upper()}_API_KEY"
    fields: dict[str, Any] = {"api_key": KEY, "auth": auth, "key_variable": variable, **rest}
    return Endpoint(service, url, **fields)


def provider(url: str, service: str | Service = "openai-chat", **rest: Any) -> Provider:
    """A provider that speaks to the loopback server."""
    known = SERVICES[service] if isinstance(service, str) else service
    where = endpoint(url, known.name, **rest)
    made: Provider = providers.load(known.api)(known, where, now=lambda: NOW)
    return made


def quick(**seconds: float) -> Timeouts:
    """Timeouts for tests of stalls."""
    return Timeouts(**{"connect_s": 2.0, "first_event_s": 2.0, "idle_s": 2.0, **seconds})


def patience(step: object) -> Timeouts:
    """Short only for a step that stalls: elsewhere a slow machine must not look like one."""
    wire = getattr(step, "wire", None)
    stalls = getattr(step, "delay_s", 0) or (wire is not None and wire.stall_s)
    seconds = 0.3 if stalls else 20.0
    return quick(first_event_s=seconds, idle_s=seconds)


def request(*messages: Message, **changes: Any) -> ModelRequest:
    """A request with this history, or one that says hi."""
    base = ModelRequest(
        "gpt-4.1", "Be good.", messages or (user_text("hi"),), (READ,), 2_000, None, 30.0, "s1"
    )
    return replace(base, **changes)


async def ask(asked: Provider, wanted: ModelRequest) -> tuple[list[Delta], AssistantMessage]:
    """The deltas and the message, which must come last and once."""
    deltas: list[Delta] = []
    final: AssistantMessage | None = None
    async for item in asked.stream(wanted):
        assert final is None, "something came after the message"
        if isinstance(item, Delta):
            deltas.append(item)
        else:
            final = item
    assert final is not None, "no message came"
    return deltas, final


async def failure(asked: Provider, wanted: ModelRequest) -> ProviderError:
    """The error that a request ends in; no message may come before it."""
    with pytest.raises(ProviderError) as caught:
        await _exhaust(asked, wanted)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return caught.value


async def _exhaust(asked: Provider, wanted: ModelRequest) -> None:
    async for item in asked.stream(wanted):
        assert not isinstance(item, AssistantMessage), "an incomplete message was yielded"


def shown(deltas: list[Delta], kind: str) -> str:
    """All pieces of a kind, joined."""
    return "".join(delta.text for delta in deltas if delta.kind == kind)
