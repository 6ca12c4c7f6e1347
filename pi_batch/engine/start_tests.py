"""The work, judged once more with the start's own tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from msgspec.structs import replace

from pi_batch.engine.bench import JudgeParts
from pi_batch.engine.case import Case
from pi_batch.engine.side_copy import SideCopy
from pi_batch.harness import glob_for
from pi_batch.protocols import Judgement, Verifier
from pi_batch.spec import Check


class StartTests:
    """Copies of one attempt's work in which some test files are as at the start; made when needed."""

    def __init__(self, parts: JudgeParts, verifier: Verifier, case: Case) -> None:
        self._parts = parts
        self._verifier = verifier
        self._case = case
        self._stack = AsyncExitStack()
        self._copies: dict[tuple[str, ...], SideCopy] = {}

    async def close(self) -> None:
        """Remove what was made."""
        await self._stack.aclose()

    async def judgement(self, check: Check, log_stem: str, paths: Sequence[str]) -> Judgement | None:
        """What a check comes to with these paths as at the start; None when a copy cannot tell.

        A check that is judged in the workspace may need what no copy has. A copy tells then only when the
        check passes in one of the unaltered work.
        """
        found = await self._run(check, log_stem, tuple(paths))
        if self._case.is_clean or found.result.passed:
            return found
        unaltered = await self._run(check, log_stem, ())
        return found if unaltered.result.passed else None

    async def _run(self, check: Check, log_stem: str, paths: tuple[str, ...]) -> Judgement:
        copy = self._copies.get(paths)
        if copy is None:
            copy = self._copies[paths] = self._copy(paths)
            self._stack.push_async_callback(copy.close)
        failed = await copy.failed_setup()
        if failed is not None:
            message = f"{failed.name} failed: {failed.message}"
            return Judgement(replace(failed, name=check.name, command=check.run, message=message))
        return await copy.count(check, log_stem)

    def _copy(self, paths: tuple[str, ...]) -> SideCopy:
        globs = (*self._case.globs, *map(glob_for, paths))
        make = partial(self._parts.clean_copy, "patched", globs)
        prefix = f"{'start-tests' if paths else 'unaltered'}-{self._case.attempt}-"
        return SideCopy(self._parts, self._verifier, self._case.attempt, make, prefix)
