"""What runs scripts, as the tool sees it: `worker.host.Zygote`, and a fake in tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from pi_batch.codemode.values import CallReply, ScriptEnd, ScriptRequest

OnCall = Callable[[int, str, Mapping[str, Any]], Awaitable[CallReply]]
OnOutput = Callable[[str], None]
OnImage = Callable[[str, str], None]


class ScriptRunner(Protocol):
    """Runs one script at a time or several; nothing of one is there for the next."""

    @property
    def layers(self) -> tuple[str, ...]:
        """What holds the scripts, once it is known."""
        ...

    async def run(
        self, request: ScriptRequest, on_call: OnCall, on_output: OnOutput, on_image: OnImage
    ) -> ScriptEnd:
        """Run it; when this returns or raises, none of its calls is running.

        Raises: SandboxError when no script can run here; what the callbacks raise.
        """
        ...
