"""Settings that are not about one run: the environment's, then the config file's."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pi_batch.engine.retry import RetryPolicy
from pi_batch.load.config import Config, environment_config, load_config
from pi_batch.load.problems import Problems
from pi_batch.prices import PriceTable, read_own_prices
from pi_batch.wiring.surroundings import Surroundings

Value = TypeVar("Value")


class Settings:
    """What environment and config file say, the environment first; None: neither says anything."""

    def __init__(self, around: Surroundings, *, reads_file: bool = True) -> None:
        """Without `reads_file` the checkout's file says nothing: it may be hostile.

        Raises: UsageError for a wrong value, a wrong key or an unreadable file.
        """
        self._around = around
        problems = Problems()
        self._environment = environment_config(around.environ, problems)
        problems.raise_if_any()
        self.file = load_config(around.cwd) if reads_file else Config()

    @property
    def model(self) -> str | None:
        """The model of specs that name none."""
        return self._environment.model or self.file.model

    @property
    def idle_timeout_s(self) -> float | None:
        """The longest silence between two events of a stream."""
        return _first(self._environment.idle_timeout_s, self.file.idle_timeout_s)

    @property
    def max_output_tokens(self) -> int | None:
        """The output cap of one request."""
        return _first(self._environment.max_output_tokens, self.file.max_output_tokens)

    @property
    def context_window(self) -> int | None:
        """The window of the tasks' models, over what tables say."""
        return _first(self._environment.context_window, self.file.context_window)

    @property
    def compaction_model(self) -> str | None:
        """Who sums a long history up."""
        return self._environment.compaction_model or self.file.compaction_model

    @property
    def compaction_reserve_tokens(self) -> int | None:
        """What a history leaves free of the window."""
        return _first(self._environment.compaction_reserve_tokens, self.file.compaction_reserve_tokens)

    @property
    def output(self) -> Path | None:
        """Where run directories go."""
        text = self._environment.output or self.file.output
        return self._around.cwd / text if text else None

    @property
    def mirrors(self) -> Path:
        """Where mirrors of other repositories are kept: the user's cache, or without one beside the runs."""
        text = self._environment.mirrors or self.file.mirrors
        return self._around.cwd / text if text else self._cache / "mirrors"

    @property
    def cache_dir(self) -> Path:
        """Where `--cache` keeps replies: as for mirrors."""
        text = self._environment.cache_dir or self.file.cache_dir
        return self._around.cwd / text if text else self._cache / "replies"

    @property
    def _cache(self) -> Path:
        """The user's cache for this program, or without one a place beside the runs."""
        cache, home = self._around.environ.get("XDG_CACHE_HOME"), self._around.home
        if cache:
            return self._around.cwd / cache / "pi-batch"
        return home / ".cache" / "pi-batch" if home else self._around.cwd / ".pi-batch"

    @property
    def state(self) -> Path | None:
        """Where what was tried is remembered between nights."""
        text = self._environment.state or self.file.state
        return self._around.cwd / text if text else None

    @property
    def retry(self) -> RetryPolicy:
        """How often and how long."""
        default = RetryPolicy()
        retries = _first(self._environment.max_retries, self.file.max_retries)
        cap_s = _first(self._environment.retry_cap_s, self.file.retry_cap_s)
        return RetryPolicy(
            max_retries=default.max_retries if retries is None else retries,
            cap_s=default.cap_s if cap_s is None else cap_s,
        )

    def prices(self, free_providers: tuple[str, ...] = ()) -> PriceTable:
        """The price table, with a person's own prices over it. Raises: UsageError."""
        text = self._environment.prices or self.file.prices
        own = read_own_prices(self._around.cwd / text) if text else {}
        return PriceTable(own, free_providers=free_providers)


def _first(*values: Value | None) -> Value | None:
    return next((value for value in values if value is not None), None)
