"""A provider that answers a request it has seen before without making it (`--cache`).

What a reply depends on is the whole request: the service and its habits, the model, system prompt, history,
tools, level and output cap. The workspace lies somewhere else in each run, so its path stands in keys and in
kept replies as a mark.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from msgspec.structs import replace

from pi_batch.errors import LogWriteError
from pi_batch.messages import (
    AssistantMessage,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
)
from pi_batch.protocols import Delta, ModelRequest, Provider
from pi_batch.providers.kept_replies import KeptReplies, is_worth_keeping, request_key
from pi_batch.session import message_from_json, message_to_json

WORKSPACE = "\u27e6pi-batch workspace\u27e7"
"""Stands for the workspace's path; nobody writes it by chance."""


class Cached:
    """One task's way to one service; implements `protocols.Provider`."""

    def __init__(
        self,
        provider: Provider,
        kept: KeptReplies,
        service: Mapping[str, Any],
        *,
        now_ms: Callable[[], int],
        warn: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """`service`: what its replies depend on besides the request: wire, address, habits.

        `warn` is told once where replies cannot be kept.
        """
        self.name = provider.name
        self._provider = provider
        self._kept = kept
        self._service = service
        self._now_ms = now_ms
        self._warn = warn
        self._workspace = ""

    def bind(self, workspace: str) -> None:
        """Say where the workspace is, before the first request."""
        self._workspace = workspace.rstrip("/")

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield a kept reply, marked and at no cost, else the service's own. Raises: ProviderError."""
        key = request_key(self._anywhere(self._told(request)))
        found = await asyncio.to_thread(self._kept.find, key)
        if found is not None:
            reply = self._here(found)
            for delta in _deltas(reply):
                yield delta
            yield replace(reply, cost_usd=0.0, is_cached=True, timestamp_ms=self._now_ms())
            return
        async for piece in self._provider.stream(request):
            if isinstance(piece, AssistantMessage) and is_worth_keeping(piece):
                await self._keep(key, piece, request.model)
            yield piece

    async def close(self) -> None:
        """The service is shared and closed by who opened it."""

    async def _keep(self, key: str, reply: AssistantMessage, model: str) -> None:
        moved = message_from_json(self._anywhere(message_to_json(reply)))
        if not isinstance(moved, AssistantMessage):
            return
        try:
            await asyncio.to_thread(self._kept.keep, key, moved, f"{self.name}/{model}")
        except LogWriteError as error:
            warn, self._warn = self._warn, lambda _text: None
            warn(f"--cache: {error}; the run goes on without keeping replies")

    def _told(self, request: ModelRequest) -> Mapping[str, Any]:
        """The request as JSON, without what no service is told."""
        return {
            "service": self._service,
            "model": request.model,
            "system": request.system,
            "messages": [_said(message) for message in request.messages],
            "tools": [_tool(tool) for tool in request.tools],
            "max_output_tokens": request.max_output_tokens,
            "thinking": request.thinking,
            "output_schema": request.output_schema,
        }

    def _anywhere(self, value: Any) -> Any:
        """A JSON value with a mark in place of the workspace's path."""
        return _replaced(value, self._workspace, WORKSPACE) if self._workspace else value

    def _here(self, reply: AssistantMessage) -> AssistantMessage:
        """A kept reply with the workspace's path as it is now."""
        moved = message_from_json(_replaced(message_to_json(reply), WORKSPACE, self._workspace))
        return moved if isinstance(moved, AssistantMessage) else reply


def _said(message: Message) -> Mapping[str, Any]:
    """What of a message is sent: no times, no costs, no details for logs."""
    value = message_to_json(message)
    kept = ("role", "content", "toolCallId", "toolName", "isError", "provider", "model", "responseId")
    return {name: value[name] for name in kept if name in value}


def _tool(tool: ToolDeclaration) -> Mapping[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _replaced(value: Any, old: str, new: str) -> Any:
    """A JSON value with one text for another in all its strings, keys too."""
    match value:
        case str():
            return value.replace(old, new)
        case Mapping():
            return {str(key).replace(old, new): _replaced(item, old, new) for key, item in value.items()}
        case list() | tuple():
            return [_replaced(item, old, new) for item in value]
        case _:
            return value


def _deltas(reply: AssistantMessage) -> tuple[Delta, ...]:
    """The reply's blocks, a piece each, for who watches."""
    found = []
    for block in reply.content:
        match block:
            case TextBlock() if block.text:
                found.append(Delta("text", block.text))
            case ThinkingBlock() if block.thinking:
                found.append(Delta("thinking", block.thinking))
            case ToolCall():
                whole = block.raw_arguments or json.dumps(block.arguments or {}, ensure_ascii=False)
                found.append(Delta("tool_call", whole))
            case _:
                pass
    return tuple(found)
