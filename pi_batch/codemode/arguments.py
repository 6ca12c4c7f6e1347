"""What codemode takes, in every spelling that models use for it."""

from __future__ import annotations

import re

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from pi_batch.codemode.tool import DEFAULT_OUTPUT_CHARS, MAX_OUTPUT_CHARS, MIN_OUTPUT_CHARS
from pi_batch.codemode.values import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


class CodemodeArguments(BaseModel):
    """What codemode takes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    script: str = Field(
        min_length=1,
        validation_alias=AliasChoices("script", "code", "source", "python"),
        description="The Python script itself: plain text, no Markdown fence.",
    )
    timeout_s: float = Field(
        default=DEFAULT_TIMEOUT_S,
        gt=0,
        le=MAX_TIMEOUT_S,
        validation_alias=AliasChoices("timeout_s", "timeout"),
        description="Seconds for the whole script, its tool calls included.",
    )
    max_output_chars: int = Field(
        default=DEFAULT_OUTPUT_CHARS,
        ge=MIN_OUTPUT_CHARS,
        le=MAX_OUTPUT_CHARS,
        validation_alias=AliasChoices("max_output_chars", "max_output"),
        description="How much of the output you get back; the whole goes into a file.",
    )

    @field_validator("script")
    @classmethod
    def _is_script(cls, script: str) -> str:
        if not script.strip():
            raise ValueError("is blank: give a script")
        fenced = _FENCE.fullmatch(script)
        return script if fenced is None else f"\n{fenced[1]}\n"  # lines keep their numbers
