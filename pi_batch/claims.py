"""What a worker is told of a trial besides where the run is and which it is; never anything secret."""

from __future__ import annotations

import json
from typing import Literal

from msgspec import Struct

from pi_batch import __version__
from pi_batch.errors import UsageError
from pi_batch.results import BudgetAmounts
from pi_batch.struct_json import from_json, to_json

TRIALS = "trials"
"""Where a run directory keeps the logs, claims and workspaces of trials that are carried out elsewhere."""


class Claim(Struct, frozen=True):
    """One trial, to be carried out once; a second execution goes on where the first was."""

    limit: BudgetAmounts
    """Of the suite's budget, with what the trial spent before: the same in every execution."""
    records: int
    """How many records the trial's log had: what is asked below was done once there are more."""
    rerun: tuple[Literal["failed", "error", "all"], ...] = ()
    is_reverify: bool = False
    is_forced: bool = False
    pi_batch_version: str = __version__

    def to_text(self) -> str:
        """One line of JSON."""
        return json.dumps(to_json(self))

    @classmethod
    def parse(cls, text: str) -> Claim:
        """Raises: UsageError for something else, or for a claim of another version."""
        try:
            claim: Claim = from_json(cls, json.loads(text), "claim")
        except ValueError as error:
            raise UsageError(f"a trial's claim cannot be read: {error}") from error
        if claim.pi_batch_version != __version__:
            wanted = claim.pi_batch_version
            raise UsageError(
                f"this worker has pi-batch {__version__}, and the run {wanted}: install the same"
            )
        return claim
