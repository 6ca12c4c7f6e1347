"""What bash takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field, field_validator

from pi_batch.tools.arguments import ToolArguments
from pi_batch.tools.bash import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S


class BashArguments(ToolArguments):
    """What bash takes."""

    command: str = Field(
        min_length=1,
        validation_alias=AliasChoices("command", "cmd"),
        description="The command line or script.",
    )
    timeout_s: float = Field(
        default=DEFAULT_TIMEOUT_S,
        gt=0,
        le=MAX_TIMEOUT_S,
        validation_alias=AliasChoices("timeout_s", "timeout"),
        description="Seconds until the command and everything that it started is ended.",
    )

    @field_validator("command")
    @classmethod
    def _can_be_run(cls, command: str) -> str:
        if not command.strip():
            raise ValueError("is blank: give a command")
        if "\0" in command:
            raise ValueError("holds a NUL byte, which no shell takes: write \\0 in printf or $'…'")
        return command
