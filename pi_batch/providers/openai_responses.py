"""The Responses API: OpenAI's, and servers that speak it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from time import time

from pi_batch.messages import AssistantMessage
from pi_batch.protocols import Delta, ModelRequest
from pi_batch.providers.catalog import Service
from pi_batch.providers.encoded import Histories
from pi_batch.providers.endpoint import Endpoint, responses_url
from pi_batch.providers.http import HttpClient
from pi_batch.providers.reply import stream_reply
from pi_batch.providers.responses_stream import ResponsesAssembler
from pi_batch.providers.responses_wire import ResponsesRules, responses_body, responses_tools


class OpenAIResponses:
    """One service at one endpoint, shared by all tasks that use it."""

    def __init__(self, service: Service, endpoint: Endpoint, now: Callable[[], float] = time) -> None:
        self.name = service.name
        self._compat = service.compat
        self._endpoint = endpoint
        self._url = responses_url(endpoint.base_url)
        self._client = HttpClient(endpoint)
        self._histories = Histories()
        self._now = now

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield deltas, then the whole message. Raises: ProviderError."""
        rules = ResponsesRules(self.name, request.model)
        history = self._histories.of((request.session_id, request.model), rules)
        units = history.encode(request.messages)
        body = responses_body(request, self._compat, units, history.tools(request.tools, responses_tools))
        assembler = ResponsesAssembler(
            self._endpoint, request.model, history.call_ids, int(self._now() * 1000)
        )
        return stream_reply(
            lambda: self._client.post(self._url, body, timeout_s=request.timeout_s),
            assembler,
            self._endpoint,
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()
