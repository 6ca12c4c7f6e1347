"""Gemini's generateContent: Google's, and servers that speak it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from time import time

from pi_batch.messages import AssistantMessage
from pi_batch.protocols import Delta, ModelRequest
from pi_batch.providers.catalog import Service
from pi_batch.providers.encoded import Histories
from pi_batch.providers.endpoint import Endpoint, gemini_url
from pi_batch.providers.google_stream import GeminiAssembler
from pi_batch.providers.google_wire import GeminiRules, gemini_body, gemini_tools
from pi_batch.providers.http import HttpClient
from pi_batch.providers.reply import stream_reply
from pi_batch.providers.tool_ids import gemini_tool_name


class Google:
    """One service at one endpoint, shared by all tasks that use it."""

    def __init__(self, service: Service, endpoint: Endpoint, now: Callable[[], float] = time) -> None:
        self.name = service.name
        self._service = service
        self._endpoint = endpoint
        self._client = HttpClient(endpoint)
        self._histories = Histories()
        self._now = now

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield deltas, then the whole message. Raises: ProviderError."""
        rules = GeminiRules(self.name, request.model)
        history = self._histories.of((request.session_id, request.model), rules)
        units = history.encode(request.messages)
        body = gemini_body(request, self._service, units, history.tools(request.tools, gemini_tools))
        names = {gemini_tool_name(tool.name): tool.name for tool in request.tools}
        assembler = GeminiAssembler(
            self._endpoint, request.model, history.call_ids, names, int(self._now() * 1000)
        )
        url = gemini_url(self._endpoint.base_url, request.model)
        return stream_reply(
            lambda: self._client.post(url, body, timeout_s=request.timeout_s),
            assembler,
            self._endpoint,
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()
