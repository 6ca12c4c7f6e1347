"""A clean copy beside the one that is judged, for running a check in another state of the work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from msgspec.structs import replace

from pi_batch.engine.bench import Bench, JudgeParts, fresh_bench, observed, set_up
from pi_batch.protocols import CleanCopy, Judgement, Verifier
from pi_batch.results import VerificationResult
from pi_batch.spec import Check


class SideCopy:
    """Made when first needed, set up once; its runs decide nothing by themselves."""

    def __init__(
        self,
        parts: JudgeParts,
        verifier: Verifier,
        attempt: int,
        make: Callable[[], Awaitable[CleanCopy]],
        log_prefix: str,
    ) -> None:
        self._parts = parts
        self._verifier = verifier
        self._attempt = attempt
        self._make = make
        self._log_prefix = log_prefix
        self._stack = AsyncExitStack()
        self._bench: Bench | None = None
        self._is_set_up = False
        self._failed_setup: VerificationResult | None = None

    async def close(self) -> None:
        """Remove what was made."""
        await self._stack.aclose()

    async def failed_setup(self) -> VerificationResult | None:
        """The setup command that fails here; None when all pass."""
        if not self._is_set_up:
            bench = await self._opened()
            self._failed_setup = await set_up(
                self._parts, self._verifier, bench, self._log_prefix, self._attempt
            )
            self._is_set_up = True
        return self._failed_setup

    async def count(self, check: Check, log_stem: str) -> Judgement:
        """Run a check here, which must be set up, for the sake of its tests."""
        bench = await self._opened()
        context = bench.context(self._parts, f"{self._log_prefix}{log_stem}.log", self._attempt)
        return await observed(
            self._parts,
            "baseline",
            self._verifier,
            check,
            replace(context, is_counting=True),
            name=check.name,
            command=check.run,
        )

    async def _opened(self) -> Bench:
        if self._bench is None:
            copy = await self._make()
            self._stack.push_async_callback(copy.close)
            self._bench = await self._stack.enter_async_context(fresh_bench(self._parts, copy.path))
        return self._bench
