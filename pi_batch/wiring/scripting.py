"""The scripts of one run: which tasks may have them, and the process that is kept ready for them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pi_batch.codemode.runner import OnCall, OnImage, OnOutput
from pi_batch.codemode.values import ScriptEnd, ScriptRequest
from pi_batch.errors import SandboxError
from pi_batch.kernel import seccomp
from pi_batch.model_names import BUILTIN_MODELS
from pi_batch.script_fold import SCRIPT_TOOL
from pi_batch.spec import PlannedTask, TaskSpec

if TYPE_CHECKING:  # 15 ms of CPU, and two processes, only where a script may come
    from pi_batch.codemode.worker.host import Zygote

AHEAD_S = 1.0
"""How long a service may take before the zygote is started, where nobody asked for codemode by name.

Every real one takes longer, and has a zygote ready for its first script; what answers at once (a fake) and
sends no script pays nothing.
"""
WEAK = (
    "codemode: scripts are held by a process of their own only, as this system has no system-call filter: "
    "whoever breaks out of the language has your rights"
)


class Scripting:
    """Runs the scripts of all tasks of a run; implements `codemode.runner.ScriptRunner`.

    The zygote is started when it is worth it, and ended by `close`.
    """

    def __init__(
        self,
        *,
        is_isolated: Callable[[], bool] = seccomp.is_available,
        platform: str = sys.platform,
        ahead_s: float = AHEAD_S,
    ) -> None:
        self.is_isolated = is_isolated()
        """Whether the kernel can hold a script here."""
        self.is_linux = platform == "linux"
        self._ahead_s = ahead_s
        self._zygote: Zygote | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """What holds the scripts; empty until it is known."""
        return () if self._zygote is None else self._zygote.layers

    @property
    def is_started(self) -> bool:
        """Whether there are processes for scripts."""
        return self._zygote is not None

    def refusal(self, spec: TaskSpec) -> str:
        """Why a task's scripts cannot be run here; empty when they can."""
        if self.is_isolated:
            return ""
        if self.is_linux:
            return "codemode: this kernel takes no system-call filter (seccomp), so no script is run"
        if spec.sandbox_required or spec.trust == "untrusted":
            return "codemode: this system has no system-call filter, and the task asks for full isolation"
        return ""

    def warnings(self, tasks: Iterable[PlannedTask]) -> tuple[str, ...]:
        """What is to be said before the first task, each thing once."""
        said: dict[str, None] = {}
        for task in tasks:
            refusal = self.refusal(task.spec) if has_scripts(task.spec) else ""
            if refusal and not is_asked_for(task):
                said[f"{refusal}; models get the other tools"] = None
            elif has_scripts(task.spec) and not refusal and not self.is_isolated:
                said[WEAK] = None
        return tuple(said)

    def runner_for(self, task: PlannedTask) -> Scripting | None:
        """What runs a task's scripts, made ready ahead of need; None for a task that has none.

        Raises: SandboxError when they were asked for and cannot be run here.
        """
        if not has_scripts(task.spec):
            return None
        refusal = self.refusal(task.spec)
        if refusal and is_asked_for(task):
            raise SandboxError(refusal)
        if not refusal:
            self._expect(task)
        return None if refusal else self

    def _expect(self, task: PlannedTask) -> None:
        if self._zygote is not None or task.model.startswith(("replay/", *BUILTIN_MODELS)):
            return  # a recording says soon enough whether there is a script in it, and these have none
        if is_asked_for(task):
            self._start()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._ahead_s, self._start)

    async def run(
        self, request: ScriptRequest, on_call: OnCall, on_output: OnOutput, on_image: OnImage
    ) -> ScriptEnd:
        """Run a script. Raises: SandboxError when none can run here; what the callbacks raise."""
        return await self._start().run(request, on_call, on_output, on_image)

    async def close(self) -> None:
        """End every process of it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._zygote is not None:
            await self._zygote.close()

    def _start(self) -> Zygote:
        if self._zygote is None:
            from pi_batch.codemode.worker.host import Zygote

            self._zygote = Zygote(needs_seccomp=self.is_isolated or self.is_linux)
            self._zygote.warm()
        return self._zygote


def has_scripts(spec: TaskSpec) -> bool:
    """Whether a task's model may send scripts."""
    return SCRIPT_TOOL in spec.tools and spec.codemode != "off"


def is_asked_for(task: PlannedTask) -> bool:
    """Whether somebody named codemode, as opposed to: it is there by default."""
    setting = task.settings.get("codemode")
    return setting is not None and setting.source != "default"
