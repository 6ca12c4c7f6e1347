"""What a service's refusal means: the one mapping of answers to `ProviderError`.

Three ways in: a response with an error status (`refused`), an error object inside a 200 stream
(`error_in_stream`), an answer that is neither a stream nor an error (`senseless`). Codes decide before
words, words before the status. Messages are one line, shortened, with the key masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from time import time
from typing import Any

from msgspec.structs import replace

from pi_batch.consequences import ON_ERROR
from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.error_body import Fault, page_text, read_body, read_object
from pi_batch.providers.overflow import is_context_overflow
from pi_batch.providers.retry_after import retry_after_s

MAX_MESSAGE_CHARS = 300

RETRYABLE_KINDS: frozenset[ErrorKind] = frozenset(kind for kind, row in ON_ERROR.items() if row.is_retried)

NEVER_AGAIN = frozenset({400, 401, 402, 403, 404, 413, 422})
"""Not even when the service says x-should-retry: true."""

QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "enforced_spend_limit_reached",
        "usage_limit_reached",
        "insufficient_balance",
        "insufficient_credits",
        "credit_balance_too_low",
    }
)
_QUOTA_WORDS = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|billing_hard_limit|billing hard limit"
    r"|credit balance is too low|requires? more credits|out of credits|spend(?:ing)? limit"
    r"|usage limit reached|exceeded your current quota",
    re.IGNORECASE,
)
_DAILY_QUOTA = re.compile(r"per_?day", re.IGNORECASE)

IMAGE_CODES = (
    *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"),
    *("invalid_image_mode", "image_too_large", "image_too_small", "image_parse_error"),
    *("image_file_too_large", "unsupported_image_media_type", "empty_image_file"),
)
"""What the Responses API says of an image that it cannot read: the same one again is no better."""

CODE_KINDS: dict[str, ErrorKind] = {
    "invalid_api_key": "auth",
    "api_key_invalid": "auth",
    "authentication_error": "auth",
    "permission_error": "permission",
    "permission_denied": "permission",
    "model_not_found": "model_not_found",
    "not_found_error": "model_not_found",
    "request_too_large": "request_too_large",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "image_content_policy_violation": "content_filter",
    "bio_policy": "content_filter",
    "misalignment_policy_violation": "content_filter",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "resource_exhausted": "rate_limit",
    "too_many_requests": "rate_limit",
    "overloaded_error": "overloaded",
    "service_unavailable": "overloaded",
    "insufficient_system_resource": "overloaded",
    "api_error": "server_error",
    "server_error": "server_error",
    "internal_server_error": "server_error",
    "internal_error": "server_error",
    "network_error": "server_error",
    "timeout_error": "timeout",
    "invalid_request_error": "invalid_request",
    "invalid_prompt": "invalid_request",
    "unknown_parameter": "invalid_request",
    "unsupported_parameter": "invalid_request",
    **dict.fromkeys(IMAGE_CODES, "invalid_request"),
}
"""`error.code`, `error.type` or `error.details.error_code`, lower case; of several the first here counts."""

STATUS_KINDS: dict[int, ErrorKind] = {
    401: "auth",
    402: "quota",
    403: "permission",
    408: "timeout",
    409: "server_error",
    413: "request_too_large",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_NO_KEY = re.compile(
    r"(?:invalid|incorrect|missing|no|wrong).{0,20}\bapi[_ -]?key|api[_ -]?key.{0,20}not valid"
    r"|unregistered callers",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodels?\b.{0,100}?(?:not found|does not exist|not exist)|\bmodel \S+ is not (?:supported|available)"
    r"|(?:no such|invalid|unknown|unsupported) model\b|not a valid model",
    re.IGNORECASE,
)
_ANTHROPIC_NO_MODEL = re.compile(r"model: \S")
_FILTERED = re.compile(r"content (?:management )?(?:policy|filter)", re.IGNORECASE)


def refused(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: Callable[[], float] = time,
) -> ProviderError:
    """The error of a response with a status other than 2xx."""
    if 300 <= status < 400:
        where = headers.get("location", "nowhere")
        message = one_line(endpoint, f"HTTP {status}: redirects to {where}; set the base URL to where it is")
        return ProviderError(f"{endpoint.service}: {message}", kind="bad_response", status=status)
    fault = read_body(status, body)
    wait_s = retry_after_s(headers, now)
    should_retry = {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())
    if wait_s is None:
        wait_s = fault.retry_after_s
    return _error(endpoint, replace(fault, status=status, retry_after_s=wait_s, should_retry=should_retry))


def error_in_stream(endpoint: Endpoint, payload: Mapping[str, Any]) -> ProviderError:
    """The error of an `error` object that came inside a stream whose status was 200."""
    return _error(endpoint, read_object(payload))


def senseless(endpoint: Endpoint, body: bytes) -> ProviderError:
    """The error of a 200 whose body is neither events nor an error: HTML of a proxy, nothing, noise."""
    text = body.decode("utf-8", "replace").strip()
    if not text:
        what = "an empty answer"
    elif text.startswith("<"):
        what = f"a web page instead of a reply: {page_text(text)}"
    else:
        what = f"no reply of a model service: {text}"
    message = f"{endpoint.service}: {one_line(endpoint, what)}; is {endpoint.base_url} the right address?"
    return ProviderError(message, kind="bad_response", is_retryable=True)


def one_line(endpoint: Endpoint, text: str) -> str:
    """A service's words for people: one line, short, without the key."""
    if endpoint.api_key and len(endpoint.api_key) >= 8:
        text = text.replace(endpoint.api_key, "***")
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def _error(endpoint: Endpoint, fault: Fault) -> ProviderError:
    kind = _kind(fault)
    is_retryable = kind in RETRYABLE_KINDS
    if fault.should_retry is not None and fault.status not in NEVER_AGAIN and kind != "quota":
        is_retryable = fault.should_retry
    code = f"HTTP {fault.status}: " if fault.status else ""
    hint = _hint(endpoint, kind, fault.status)
    return ProviderError(
        f"{endpoint.service}: {code}{one_line(endpoint, fault.message) or kind.replace('_', ' ')}{hint}",
        kind=kind,
        is_retryable=is_retryable,
        status=fault.status,
        retry_after_s=fault.retry_after_s if is_retryable else None,
    )


def _hint(endpoint: Endpoint, kind: ErrorKind, status: int | None) -> str:
    """What to do about it, where one thing helps."""
    if kind == "auth":
        return f"; check {endpoint.key_variable or 'the key'}"
    if kind == "invalid_request" and status in (404, 405):
        return f"; is {endpoint.base_url} the right address?"
    return ""


def _kind(fault: Fault) -> ErrorKind:
    if is_context_overflow(fault.message, fault.codes):
        return "context_overflow"
    if _is_quota(fault):
        return "quota"
    if _NO_KEY.search(fault.message) and fault.status in (None, 400, 401, 403):
        return "auth"
    kind = _kind_by_code(fault)
    if kind is not None:
        return kind
    status = fault.status
    if status is None:
        return "server_error"
    if status in (400, 404, 422) and _NO_MODEL.search(fault.message):
        return "model_not_found"
    if status == 400 and _FILTERED.search(fault.message):
        return "content_filter"
    return STATUS_KINDS.get(status) or ("server_error" if status >= 500 else "invalid_request")


def _kind_by_code(fault: Fault) -> ErrorKind | None:
    """The narrowest kind that a code names; a general code leaves the word to status and message."""
    kinds = {CODE_KINDS[code] for code in fault.codes if code in CODE_KINDS}
    if fault.status is not None:
        kinds -= {"invalid_request", "server_error"}
    if "not_found_error" in fault.codes and not _names_model(fault.message):
        kinds -= {"model_not_found"}
    return next((kind for kind in CODE_KINDS.values() if kind in kinds), None)


def _names_model(message: str) -> bool:
    return bool(_ANTHROPIC_NO_MODEL.match(message) or _NO_MODEL.search(message))


def _is_quota(fault: Fault) -> bool:
    """Spent money or quota, as opposed to a rate that clears by waiting."""
    if fault.codes & QUOTA_CODES:
        return True
    if fault.retry_after_s is not None:
        return False
    text = " ".join((fault.message, *fault.codes))
    if "resource_exhausted" in fault.codes:  # Google's prose is the same for minutes and for days
        return _DAILY_QUOTA.search(text) is not None
    return _QUOTA_WORDS.search(text) is not None
