"""What each refusal means: kind, whether another try makes sense, and what a person reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.faults import error_in_stream, refused, senseless

ENDPOINT = Endpoint("openai-chat", "http://127.0.0.1/v1", "sk-secret-12345678", key_variable="OPENAI_API_KEY")


def openai(
    message: str = "no", code: str | None = None, kind: str = "invalid_request_error"
) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str = "no", **details: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"type": kind, "message": message, "details": details},
        "request_id": "r",
    }


def answer(status: int, body: object, headers: dict[str, str] | None = None) -> ProviderError:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return refused(ENDPOINT, status, headers or {}, data)


CASES: list[tuple[int, object, ErrorKind, bool]] = [
    (401, openai("Incorrect API key provided: sk-x", "invalid_api_key"), "auth", False),
    (400, openai("Incorrect API key provided"), "auth", False),  # xAI says 400
    (
        400,
        {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}},
        "auth",
        False,
    ),
    (401, anthropic("authentication_error", "invalid x-api-key"), "auth", False),
    (403, anthropic("permission_error"), "permission", False),
    (403, "<html><title>403 Forbidden</title></html>", "permission", False),
    (402, {"error": {"message": "Insufficient Balance"}}, "quota", False),  # DeepSeek
    (402, {"error": {"code": 402, "message": "This request requires more credits"}}, "quota", False),
    (402, anthropic("billing_error"), "quota", False),
    (402, "", "quota", False),
    (400, anthropic("invalid_request_error", "Your credit balance is too low to access"), "quota", False),
    (
        429,
        openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
        "quota",
        False,
    ),
    (429, openai("Billing hard limit has been reached", "billing_hard_limit_reached"), "quota", False),
    (429, anthropic("rate_limit_error", error_code="enforced_spend_limit_reached"), "quota", False),
    (429, openai("limit", "usage_limit_reached"), "quota", False),
    (429, openai("Rate limit reached", "rate_limit_exceeded", "tokens"), "rate_limit", True),
    (429, anthropic("rate_limit_error"), "rate_limit", True),
    (429, "", "rate_limit", True),
    (404, openai("The model `x` does not exist", "model_not_found"), "model_not_found", False),
    (404, anthropic("not_found_error", "model: claude-x"), "model_not_found", False),
    (404, {"error": {"message": "model 'x' not found, try pulling it first"}}, "model_not_found", False),
    (400, {"error": {"message": "x/y is not a valid model ID", "code": 400}}, "model_not_found", False),
    (
        400,
        {"object": "error", "message": "Invalid model: x", "type": "invalid_model"},
        "model_not_found",
        False,
    ),
    (404, "404 page not found", "invalid_request", False),
    (404, anthropic("not_found_error", "Not Found"), "invalid_request", False),
    (
        400,
        openai("Unsupported parameter: 'max_tokens' is not supported with this model."),
        "invalid_request",
        False,
    ),
    (422, {"detail": [{"loc": ["body"], "msg": "unknown variant `developer`"}]}, "invalid_request", False),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), "request_too_large", False),
    (413, "<h1>413 Request Entity Too Large</h1>", "request_too_large", False),
    (400, openai("flagged", "content_filter"), "content_filter", False),
    (400, openai("blocked by our content management policy"), "content_filter", False),
    (408, "", "timeout", True),
    (409, "", "server_error", True),
    (500, anthropic("api_error", "Internal server error"), "server_error", True),
    (500, openai("The server had an error", None, "server_error"), "server_error", True),
    (502, "<html><head><title>502 Bad Gateway</title></head></html>", "server_error", True),
    (503, "", "overloaded", True),
    (504, anthropic("timeout_error"), "timeout", True),
    (520, "", "server_error", True),
    (524, "", "server_error", True),
    (529, anthropic("overloaded_error", "Overloaded"), "overloaded", True),
    (418, "", "invalid_request", False),
]


@pytest.mark.parametrize(("status", "body", "kind", "is_retryable"), CASES)
def test_an_answer_has_its_kind(status: int, body: object, kind: ErrorKind, is_retryable: bool) -> None:
    error = answer(status, body)
    assert (error.kind, error.is_retryable, error.status) == (kind, is_retryable, status)
    assert str(error).startswith(f"openai-chat: HTTP {status}: ")
    assert "\n" not in str(error)


def test_gemini_words_of_a_quota_with_a_delay_are_a_rate() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}]
    body = {"error": {"code": 429, "message": "You exceeded your current quota", "details": details}}
    error = answer(429, body)
    assert (error.kind, error.is_retryable, error.retry_after_s) == ("rate_limit", True, 36.0)


def test_a_daily_quota_without_a_delay_does_not_clear() -> None:
    details = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]
    error = answer(
        429, {"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow down", "details": details}}
    )
    assert (error.kind, error.is_retryable) == ("quota", False)


def test_the_service_may_forbid_another_try() -> None:
    assert not answer(503, "", {"x-should-retry": "false"}).is_retryable
    assert not answer(429, "", {"x-should-retry": "FALSE"}).is_retryable


def test_the_service_may_ask_for_another_try_but_not_of_what_cannot_change() -> None:
    assert answer(418, "", {"x-should-retry": "true"}).is_retryable
    assert not answer(400, "", {"x-should-retry": "true"}).is_retryable
    spent = openai("no", "insufficient_quota")
    assert not answer(429, spent, {"x-should-retry": "true"}).is_retryable


def test_a_wait_is_only_told_where_a_try_makes_sense() -> None:
    assert answer(429, "", {"retry-after": "7"}).retry_after_s == 7
    assert answer(401, "", {"retry-after": "7"}).retry_after_s is None


def test_a_spent_quota_stays_one_whatever_the_wait() -> None:
    error = answer(429, openai("no", "insufficient_quota"), {"retry-after": "1"})
    assert (error.kind, error.is_retryable) == ("quota", False)


def test_a_redirect_says_where_to() -> None:
    error = answer(307, "", {"location": "https://elsewhere.example/v1"})
    assert error.kind == "bad_response"
    assert not error.is_retryable
    assert "https://elsewhere.example/v1" in str(error)


def test_the_key_is_in_no_message() -> None:
    error = answer(401, openai("Incorrect API key provided: sk-secret-12345678."))
    assert "sk-secret" not in str(error)
    assert "***" in str(error)
    assert "check OPENAI_API_KEY" in str(error)


def test_a_long_body_becomes_one_short_line() -> None:
    error = answer(500, openai("line one\nline two\x1b[31m " + "x" * 5000))
    assert len(str(error)) < 400
    assert "line one line two" in str(error)
    assert "\x1b" not in str(error)


def test_a_page_is_told_by_its_title_or_its_words() -> None:
    assert "502 Bad Gateway" in str(
        answer(502, "<html><title>502 Bad Gateway</title><body>nginx</body></html>")
    )
    body = "<style>b{}</style><script>var x</script><p>Sign in to the <b>network</b></p>"
    assert str(answer(500, body)).endswith("Sign in to the network")


def test_what_a_router_heard_from_the_service_behind_it_is_told() -> None:
    body = {
        "error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "upstream died"}}
    }
    assert str(answer(502, body)).endswith("Provider returned error: upstream died")


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "just words"}',
        '{"message": "just words"}',
        '{"detail": "just words"}',
        '{"error": {"error": "just words"}}',
        '[{"error": {"message": "just words"}}]',
        "just words",
    ],
)
def test_every_shape_of_a_body_gives_its_words(body: str) -> None:
    assert "just words" in str(answer(500, body))


@pytest.mark.parametrize("body", ["", "null", "[]", "{}", "{", '{"error": null}', '{"error": {}}', "[1]"])
def test_a_body_without_sense_still_gives_a_line(body: str) -> None:
    error = answer(500, body)
    assert error.kind == "server_error"
    assert str(error)


def test_deep_nesting_does_not_break_the_reader() -> None:
    assert answer(500, '{"error":' + "[" * 100_000).kind == "server_error"


STREAM_CASES: list[tuple[dict[str, Any], ErrorKind, bool]] = [
    (anthropic("overloaded_error"), "overloaded", True),
    (anthropic("api_error"), "server_error", True),
    (anthropic("rate_limit_error"), "rate_limit", True),
    (anthropic("invalid_request_error", "bad"), "invalid_request", False),
    (
        anthropic("invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"),
        "context_overflow",
        False,
    ),
    ({"error": {"code": 429, "message": "Rate limited"}}, "rate_limit", True),
    ({"error": {"code": 502, "message": "Provider disconnected"}}, "server_error", True),
    ({"error": {"code": "insufficient_quota", "message": "no"}}, "quota", False),
    ({"error": {"message": "Internal error"}}, "server_error", True),
    ({"error": "words only"}, "server_error", True),
    ({"object": "error", "message": "engine died", "code": 500}, "server_error", True),
]


@pytest.mark.parametrize(("payload", "kind", "is_retryable"), STREAM_CASES)
def test_an_error_object_in_a_stream_has_its_kind(
    payload: dict[str, Any], kind: ErrorKind, is_retryable: bool
) -> None:
    error = error_in_stream(ENDPOINT, payload)
    assert (error.kind, error.is_retryable) == (kind, is_retryable)


@pytest.mark.parametrize("body", [b"", b"<!doctype html><title>Sign in</title>", b"hello", b"\xff\xfe"])
def test_an_answer_that_is_no_reply_is_tried_again_and_names_the_address(body: bytes) -> None:
    error = senseless(ENDPOINT, body)
    assert (error.kind, error.is_retryable) == ("bad_response", True)
    assert "http://127.0.0.1/v1" in str(error)
