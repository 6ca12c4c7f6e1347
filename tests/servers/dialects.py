"""The wires that the server speaks: for each its path, its rules, its replies and its way to say no."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.servers.chat_replies import Frame, chat_document, chat_frames
from tests.servers.chat_rules import ChatProfile, check_chat
from tests.servers.gemini_replies import MODEL, gemini_document, gemini_frames
from tests.servers.gemini_rules import check_gemini
from tests.servers.http_server import Request
from tests.servers.messages_replies import messages_document, messages_frames
from tests.servers.messages_rules import check_messages
from tests.servers.refusal import Refusal, need
from tests.servers.responses_replies import responses_document, responses_frames
from tests.servers.responses_rules import check_responses
from tests.servers.script import Reply

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wire."""

    check: Callable[[Body, Request, ChatProfile], None]
    """Raises: Refusal."""
    check_key: Callable[[Request, str], None]
    """Raises: Refusal."""
    frames: Callable[[Reply, Body, int], Iterable[Frame]]
    document: Callable[[Reply, Body, int], Any]
    error_body: Callable[[Refusal], Any]
    history: str
    """The field that holds the messages."""
    streams: Callable[[Body, Request], bool] = lambda body, _request: bool(body.get("stream"))

    def turns(self, body: Body) -> int:
        """How many replies a request holds."""
        items = body[self.history]
        roles = [item.get("role") if isinstance(item, dict) else None for item in items]
        replies: int = sum(role in ("assistant", "model") for role in roles)
        calls = [isinstance(item, dict) and item.get("type") == "function_call" for item in items]
        bare = sum(
            is_call and not (index and (calls[index - 1] or roles[index - 1] == "assistant"))
            for index, is_call in enumerate(calls)
        )
        return int(replies + bare)


def _openai_error(refusal: Refusal) -> dict[str, Any]:
    kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}
    kind = kinds.get(refusal.status, "invalid_request_error")
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code}}


def _messages_error(refusal: Refusal) -> dict[str, Any]:
    error = _openai_error(refusal)["error"]
    inner = {"type": error["type"], "message": error["message"]}
    return {"type": "error", "error": inner, "request_id": "req_loopback"}


def _gemini_error(refusal: Refusal) -> dict[str, Any]:
    names = {403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": refusal.code}]
    error = {"code": refusal.status, "message": refusal.message}
    return {"error": {**error, "status": names.get(refusal.status, "INVALID_ARGUMENT"), "details": details}}


def _check_key(request: Request, key: str) -> None:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    given = (request.headers.get("x-api-key"), bearer)
    shown = f"{given[0] or given[1]}"
    need(key in given, f"Incorrect API key provided: {shown}.", status=401, code="invalid_api_key")


def _check_google_key(request: Request, key: str) -> None:
    given = request.headers.get("x-goog-api-key")
    missing = "Method doesn't allow unregistered callers. Please use API Key."
    need(given is not None, missing, status=403)
    wrong = "API key not valid. Please pass a valid API key."
    need(given == key, wrong, status=400, code="API_KEY_INVALID")


def _check_gemini(body: Body, request: Request, _profile: ChatProfile) -> None:
    need("key=" not in request.path, "the key stands in the URL, and so in every log")
    check_gemini({key: value for key, value in body.items() if key != MODEL}, str(body[MODEL]))


CHAT = Dialect(
    lambda body, _request, profile: check_chat(body, profile),
    _check_key,
    chat_frames,
    chat_document,
    _openai_error,
    "messages",
)
MESSAGES = Dialect(
    lambda body, request, _profile: check_messages(body, request.headers.get("anthropic-version", "")),
    _check_key,
    messages_frames,
    messages_document,
    _messages_error,
    "messages",
)
RESPONSES = Dialect(
    lambda body, _request, _profile: check_responses(body),
    _check_key,
    responses_frames,
    responses_document,
    _openai_error,
    "input",
)


GEMINI = Dialect(
    _check_gemini,
    _check_google_key,
    gemini_frames,
    gemini_document,
    _gemini_error,
    "contents",
    lambda _body, request: "alt=sse" in request.path,
)
_GEMINI_PATH = re.compile(
    r"/v1beta/models/([^/:?]+):(?:streamGenerateContent\?alt=sse|generateContent)(?:&key=.*)?\Z"
)


def dialect_of(path: str) -> Dialect | None:
    """The wire that is spoken at a path."""
    known = {"/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": RESPONSES}
    return GEMINI if _GEMINI_PATH.match(path) else known.get(path)


def with_model(body: dict[str, Any], path: str) -> dict[str, Any]:
    """The body, with the model that stands in the path where it does."""
    match = _GEMINI_PATH.match(path)
    return {**body, MODEL: unquote(match[1])} if match else body


def overflow(dialect: Dialect, tokens: int, limit: int) -> Refusal:
    """How a service says that a request is longer than the context."""
    if dialect is MESSAGES:
        return Refusal(f"prompt is too long: {tokens} tokens > {limit} maximum")
    if dialect is GEMINI:
        text = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."
        return Refusal(text)
    if dialect is RESPONSES:
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return Refusal(text, code="context_length_exceeded", param="input")
    text = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens}."
    )
    return Refusal(text, code="context_length_exceeded", param="messages")
