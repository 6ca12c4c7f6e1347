"""`--cache`: which tasks may be answered out of kept replies, and from where."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from pi_batch.protocols import Provider
from pi_batch.redact import Masker
from pi_batch.spec import PlannedTask
from pi_batch.struct_json import to_json
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.settings import Settings


class ReplyCache:
    """The kept replies of one run."""

    def __init__(self, options: RunOptions, settings: Settings, mask: Masker) -> None:
        self.is_on = options.cache or options.cache_repeats
        self._takes_repeats = options.cache_repeats
        self._settings = settings
        self._mask = mask
        self._made: dict[tuple[str, str], Any] = {}
        """By task and service: `providers.cached.Cached`."""

    def serves(self, task: PlannedTask) -> bool:
        """False for one of several repeats, unless they were asked for: they would all be the first one."""
        return self.is_on and (self._takes_repeats or not task.planned.shows_repeat)

    def warnings(self, tasks: Iterable[PlannedTask]) -> tuple[str, ...]:
        """What to say before the run."""
        if not self.is_on or all(map(self.serves, tasks)):
            return ()
        return ("--cache: repeats are asked anew; --cache-repeats answers them out of the cache, all alike",)

    def around(
        self, provider: Provider, service: Any, base_url: str, task: PlannedTask, warn: Callable[[str], None]
    ) -> Provider:
        """A service as one task sees it; `service` is a `providers.catalog.Service`."""
        if not self.serves(task):
            return provider
        from pi_batch.providers.cached import Cached
        from pi_batch.providers.kept_replies import KeptReplies

        key = (task.planned.key, service.name)
        if key not in self._made:
            told = {
                "name": service.name,
                "api": service.api,
                "base_url": base_url,
                "compat": to_json(service.compat),
                "headers": dict(service.headers),
            }
            kept = KeptReplies(self._settings.cache_dir, self._mask.mask_json)
            self._made[key] = Cached(provider, kept, told, now_ms=lambda: int(time.time() * 1000), warn=warn)
        made: Provider = self._made[key]
        return made

    def bind(self, task: PlannedTask, workspace: str) -> None:
        """Tell the caches of a task where its workspace is."""
        for (key, _), made in self._made.items():
            if key == task.planned.key:
                made.bind(workspace)
