"""The start, run again: which tests a check ran there, and whether setup passes there."""

from __future__ import annotations

from functools import partial

from pi_batch.engine.bench import JudgeParts, log_stem
from pi_batch.engine.side_copy import SideCopy
from pi_batch.errors import VerificationError
from pi_batch.events import Warned
from pi_batch.protocols import Judgement, Verifier
from pi_batch.results import VerificationResult
from pi_batch.spec import Check


class Baselines:
    """What the command of each check came to at the start; found out at most once a task."""

    def __init__(self) -> None:
        self._judgements: dict[str, Judgement] = {}

    def get(self, command: str) -> Judgement | None:
        """What is known of a command."""
        return self._judgements.get(command)

    def put(self, command: str, judgement: Judgement) -> None:
        """Remember."""
        self._judgements[command] = judgement

    def offer(self, command: str, judgement: Judgement) -> None:
        """Remember a precheck if it counted every test: files that it could not load keep it from that."""
        seen = judgement.evidence
        if seen and all((one.executed or one.skipped) and not one.broken for one in seen):
            self.put(command, judgement)


class StartCopy:
    """A clean copy of the start: made when first needed, set up when its tests are to be counted."""

    def __init__(self, parts: JudgeParts, verifier: Verifier, baselines: Baselines, attempt: int) -> None:
        self._parts = parts
        self._baselines = baselines
        make = partial(parts.clean_copy, "start", ())
        self._copy = SideCopy(parts, verifier, attempt, make, "baseline-")

    async def close(self) -> None:
        """Remove what was made."""
        await self._copy.close()

    async def failed_setup(self) -> VerificationResult | None:
        """The setup command that fails at the start; None when all pass."""
        return await self._copy.failed_setup()

    async def judgement(self, check: Check) -> Judgement:
        """What a check comes to at the start. Raises: VerificationError when that cannot be found out."""
        known = self._baselines.get(check.run)
        if known is not None:
            return known
        failed = await self.failed_setup()
        if failed is not None:
            raise VerificationError(f"the start's tests cannot be counted: {failed.name}: {failed.message}")
        judgement = await self._copy.count(check, log_stem(check.name))
        if not judgement.evidence and judgement.result.exit_code is None:
            how = judgement.result.message
            self._parts.emit(Warned(f"{check.name}: the start's tests could not be counted: {how}"))
        self._baselines.put(check.run, judgement)
        return judgement
