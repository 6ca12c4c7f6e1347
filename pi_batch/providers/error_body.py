"""An error as a service words it, out of whichever shape its body has.

{"error": {message, type, code, …}} is OpenAI's and most others'; Anthropic adds `details.error_code`,
OpenRouter `metadata.raw`, Google `details[]` and a list around it all; vLLM and FastAPI put the fields at
the top; proxies answer with a web page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pi_batch.providers.retry_after import retry_info_s

_TAG = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]{0,2000}>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


class Fault(Struct, frozen=True):
    """What a service says is wrong."""

    message: str
    codes: frozenset[str]
    """Lower case: code, type, status name, details.error_code, Google's reasons, names of spent quotas."""
    status: int | None = None
    """HTTP status, or the one that the error object names."""
    retry_after_s: float | None = None
    should_retry: bool | None = None
    """x-should-retry."""


def page_text(text: str) -> str:
    """What a web page says: its title, else its words."""
    title = _TITLE.search(text)
    return title[1] if title else _TAG.sub(" ", text)


def read_body(status: int, body: bytes) -> Fault:
    """The fault in the body of a response with an error status."""
    text = body.decode("utf-8", "replace").strip()
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        payload = None
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if isinstance(payload, dict):
        fault = read_object(payload)
        return Fault(fault.message, fault.codes, status, fault.retry_after_s)
    return Fault(page_text(text), frozenset(), status)


def read_object(payload: Mapping[str, Any]) -> Fault:
    """The fault in an object that holds an `error`, or is one."""
    error = payload.get("error", payload)
    if not isinstance(error, dict):
        return Fault(str(error), frozenset(_names(payload)))
    message = error.get("message") or error.get("detail") or error.get("error") or payload.get("message")
    text = message if isinstance(message, str) else json.dumps(message or error, ensure_ascii=False)
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if raw and str(raw) not in text:  # OpenRouter: what the service behind it said
        text = f"{text}: {raw}"
    code = error.get("code", payload.get("code"))
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    return Fault(text, frozenset(_names(error)) | _quota_ids(error), status, retry_info_s(error))


def _names(error: Mapping[str, Any]) -> set[str]:
    """Every name that an error object gives to its cause."""
    details = error.get("details")
    detail = details.get("error_code") if isinstance(details, dict) else None
    reasons = (
        [item.get("reason") for item in details if isinstance(item, dict)]
        if isinstance(details, list)
        else []
    )
    names = (error.get("code"), error.get("type"), error.get("status"), detail, *reasons)
    return {name.lower() for name in names if isinstance(name, str)}


def _quota_ids(error: Mapping[str, Any]) -> frozenset[str]:
    """Google's names of the quotas that are spent, such as GenerateRequestsPerDayPerProjectPerModel."""
    details = error.get("details")
    ids = []
    for detail in details if isinstance(details, list) else ():
        for violation in detail.get("violations", ()) if isinstance(detail, dict) else ():
            quota = violation.get("quotaId") if isinstance(violation, dict) else None
            ids += [quota.lower()] if isinstance(quota, str) else []
    return frozenset(ids)
