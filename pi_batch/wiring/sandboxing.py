"""Which sandbox a task gets: the one that its spec names, or the strongest that works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from pi_batch import sandboxes
from pi_batch.errors import SandboxError
from pi_batch.protocols import Sandbox, SandboxPlace, SandboxUse
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.probe import probe
from pi_batch.spec import PlannedTask, TaskSpec
from pi_batch.wiring.surroundings import Surroundings

LADDER = ("bwrap", "landlock")
"""What `auto` tries, strongest first, before it ends at none."""
ENGINES = ("docker", "podman")
"""What it tries after these where an image is named."""

EXPOSED = "sandbox: none, so models can read the hidden files and solutions of these tasks by their paths"
"""What is wrong with a benchmark that nothing isolates."""

Network = bool | tuple[str, ...]
Wish = tuple[str, bool, Network, str]
"""A sandbox's name, whether one is required, its network, an image."""


class Choice(Struct, frozen=True):
    """What was found for one wish."""

    name: str
    """Empty where there is nothing to run in."""
    why: str = ""
    """Why nothing stronger, or nothing at all, is to be had."""


class TaskDirs(Struct, frozen=True):
    """A task's directories beside its workspace."""

    state: Path
    """What was made for the task lies below it."""
    outputs: Path
    """Files that the model is told of; exists."""
    hidden: tuple[str, ...] = ()
    """Real paths of directories that must not be seen though they may lie in what is shown."""


class SandboxChooser(Struct, frozen=True):
    """Tries sandboxes out, each once, and makes those that tasks get."""

    search_path: str
    home: str
    run_dir: Path
    choices: dict[Wish, Choice] = field(default_factory=dict)
    _complaints: dict[tuple[str, Network], str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    """What container engines are told of it."""

    @classmethod
    def of(cls, around: Surroundings, run_dir: Path) -> SandboxChooser:
        """For a run from here."""
        path = around.environ.get("PATH", os.defpath)
        return cls(path, str(around.home or ""), run_dir, environ=around.environ)

    async def prepare(self, tasks: Iterable[PlannedTask]) -> tuple[str, ...]:
        """Find what every task will get, before any request; warnings, one for each thing to be said."""
        warnings: dict[str, None] = {}
        for task in tasks:
            wish = _wish(task.spec)
            if wish not in self.choices:
                self.choices[wish] = await self._choose(*wish)
                if task.spec.sandbox == "auto" and self.choices[wish].name == "none":
                    warnings[_at_none(self.choices[wish].why)] = None
            if task.spec.hidden and self.choices[wish].name == "none":
                warnings[EXPOSED] = None
        return tuple(warnings)

    def chosen(self, spec: TaskSpec) -> str:
        """The name of what a task gets. Raises: SandboxError when that is nothing."""
        choice = self.choices[_wish(spec)]
        if not choice.name:
            raise SandboxError(choice.why)
        return choice.name

    def make(self, spec: TaskSpec, dirs: TaskDirs, path: str, scratch: str, use: SandboxUse) -> Sandbox:
        """A sandbox around a directory of a task. Raises: SandboxError."""
        name = self.chosen(spec)
        if name == "none":
            return sandboxes.load(name)()
        root = _root(path, dirs.state)
        network = True if use == "setup" and spec.workspace.setup_network else spec.permissions.network
        place = SandboxPlace(
            root=root,
            scratch=os.path.realpath(scratch),
            readable=(os.path.realpath(dirs.outputs),),
            hidden=(os.path.realpath(self.run_dir), *dirs.hidden),
            network=network,
            is_users_own=not Path(root).is_relative_to(dirs.state.resolve()),
        )
        return self._maker(name, spec.sandbox_image or "")(place, limits_here())

    def _maker(self, name: str, image: str) -> Callable[..., Sandbox]:
        """What makes a sandbox around a place."""
        make = partial(sandboxes.load(name), search_path=self.search_path, home=self.home)
        return partial(make, image=image, environ=self.environ) if name in ENGINES else make

    async def _choose(self, name: str, is_required: bool, network: Network, image: str) -> Choice:
        if name == "none":
            why = "sandbox: none, but sandbox_required asks for one: name another, or auto"
            return Choice("", why) if is_required else Choice("none")
        complaints: list[str] = []
        ladder = (*LADDER, *(ENGINES if image else ()))
        for candidate in ladder if name == "auto" else (name,):
            complaint = await self.complaint(candidate, network, image)
            if not complaint:
                return Choice(candidate, "; ".join(complaints))
            complaints.append(complaint)
        why = "; ".join(complaints)
        if name == "auto" and not is_required and not isinstance(network, tuple):
            return Choice("none", why)
        return Choice("", why if name != "auto" else f"no sandbox works here: {why}")

    async def complaint(self, name: str, network: Network = False, image: str = "") -> str:
        """Why a sandbox does not work here; empty when it does."""
        key = (f"{name} {image}" if name in ENGINES else name, network)
        if key not in self._complaints:
            make = self._maker(name, image)
            try:
                await probe(make, network=network)  # type: ignore[arg-type] # partial of any maker
                self._complaints[key] = ""
            except SandboxError as error:
                self._complaints[key] = str(error)
        return self._complaints[key]


def limits_here() -> Limits:
    """The usual limits, with a control group of their own where one can be made."""
    return Limits(wants_cgroup=True)


def _wish(spec: TaskSpec) -> Wish:
    return spec.sandbox, spec.sandbox_required, spec.permissions.network, spec.sandbox_image or ""


def _at_none(why: str) -> str:
    return f"sandbox: auto ends at none, commands run with your rights, files and network: {why}"


def _root(path: str, state_dir: Path) -> str:
    """The whole tree that a directory is in, where it was made for the task; else the directory."""
    real, state = Path(os.path.realpath(path)), state_dir.resolve()
    if not real.is_relative_to(state):
        return str(real)
    return str(state.joinpath(*real.relative_to(state).parts[:2]))
