"""Whether a reply in the history came from the model that is asked now: only then its thinking goes back."""

from __future__ import annotations

import re

from pi_batch.messages import AssistantMessage

_DATE = re.compile(r"(?:[-@]\d{4}-?\d{2}-?\d{2}|-latest)\Z")


def is_from(message: AssistantMessage, api: str, provider: str, model: str) -> bool:
    """True when this provider's model wrote the message, in this wire.

    The name that answers may be another than the one asked for (an alias), or dated where that is not. A
    service that speaks two wires signs differently in each.
    """
    if message.provider != provider or message.api not in ("", api):
        return False
    return model in (message.model, message.requested_model) or _undated(message.model) == _undated(model)


def _undated(model: str) -> str:
    return _DATE.sub("", model)
