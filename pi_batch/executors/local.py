"""Trials in this process."""

from __future__ import annotations

from pi_batch.protocols import Trial


class Local:
    """Carries every trial out where it is."""

    name = "local"
    is_remote = False

    async def start(self) -> int | None:
        """As many at once as the plan says."""
        return None

    async def run(self, trial: Trial) -> str:
        """Carry one out."""
        await trial.run_here()
        return ""

    async def close(self) -> None:
        """Nothing is held."""
