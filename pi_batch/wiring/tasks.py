"""One planned task's parts: workspace, sandbox, model, tools, judge, logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch import verifiers, workspaces
from pi_batch.codemode.store import ScriptStore, stored_in
from pi_batch.engine.retry import RetryPolicy
from pi_batch.engine.task_parts import TaskParts
from pi_batch.engine.verification import Judge
from pi_batch.environment import child_environment
from pi_batch.errors import WorkspaceError
from pi_batch.model_names import ModelName
from pi_batch.permissions import check_call
from pi_batch.prompts import ContextFile, find_context_files, system_prompt, users_own_file
from pi_batch.protocols import Clock, Workspace
from pi_batch.redact import Masker
from pi_batch.sandboxes.visible import copies_of_suites
from pi_batch.session_log import SessionLog
from pi_batch.sinks.session_log import SessionWriter
from pi_batch.spec import PermissionsSpec, PlannedTask
from pi_batch.tools.declare import parse_arguments
from pi_batch.wiring.builtin_models import need_walls
from pi_batch.wiring.gates import Gate
from pi_batch.wiring.models import ModelPool
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.run_leg import Leg
from pi_batch.wiring.sandboxing import SandboxChooser, TaskDirs
from pi_batch.wiring.scripting import Scripting
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.tools import tools_of
from pi_batch.workspaces.hidden import read_hidden
from pi_batch.workspaces.repository import repository_workspace


class TaskMaker(Struct, frozen=True):
    """Makes tasks of one run."""

    around: Surroundings
    leg: Leg
    mask: Masker
    clock: Clock
    models: ModelPool
    sandboxes: SandboxChooser
    scripting: Scripting
    retry: RetryPolicy
    repositories: Repositories
    gate: Gate
    warn: Callable[[str, str], None]
    """(key, text): a recording diverges."""
    is_watched: bool = True
    """Whether anybody takes the pieces of a reply as they come."""

    def open(self, planned: PlannedTask) -> TaskParts:
        """Make one task's parts. Raises: PiBatchError."""
        spec, key = planned.spec, planned.planned.key
        need_walls(ModelName.parse(planned.model).provider, self.sandboxes.chosen(spec))
        self._need_files(planned)
        self.leg.ready(key)
        task_dir, state_dir = self.leg.task_dir(key), self.leg.state_dir(key)
        outputs = task_dir / "outputs"
        outputs.mkdir(exist_ok=True)
        opened = self.models.open(planned, lambda text: self.warn(key, text))
        store = ScriptStore()
        tools = tools_of(spec, self.scripting.runner_for(planned), store)
        hidden = read_hidden(planned.hidden_paths)
        dirs = TaskDirs(state_dir, outputs, _out_of_sight(planned, self.sandboxes))
        return TaskParts(
            planned=planned,
            workspace=self._workspace(planned, state_dir),
            make_sandbox=partial(self.sandboxes.make, spec, dirs),
            port=opened.port,
            models=opened.models,
            attempts=self._attempts(planned, opened.attempts),
            bind_workspace=opened.bind_workspace,
            tools=tools.by_name,
            declarations=tools.declarations,
            script_only=tools.script_only,
            parse=parse_arguments,
            make_rules=lambda workspace: PermissionRules(spec.permissions, workspace),
            mask=self.mask,
            make_env=lambda scratch: child_environment(self.around.environ, spec.permissions.env, scratch),
            make_judge=lambda parts: Judge(replace(parts, lay_hidden=hidden.lay), verifiers.make_all()),
            open_session=lambda path, cwd: self._open_session(planned, path, cwd),
            system_prompt=lambda workspace: self._system_prompt(planned, workspace),
            task_dir=task_dir,
            task_dir_name=f"tasks/{task_dir.name}",
            state_dir=state_dir,
            retry=self.retry,
            read_patch=self._read_patch,
            bind_history=lambda messages: store.keep(stored_in(messages)),
            gate=partial(self.gate.skip, planned),
            is_watched=self.is_watched,
        )

    def _attempts(self, planned: PlannedTask, recorded: int) -> int:
        """Verifications in total; as many as a recording has, where the spec says nothing."""
        own, setting = planned.spec.attempts.verify, planned.settings.get("attempts.verify")
        return max(own, recorded) if setting is not None and setting.source == "default" else own

    def _need_files(self, planned: PlannedTask) -> None:
        """Raises: WorkspaceError where a conversation is to go on whose files are gone."""
        key, isolation = planned.planned.key, planned.spec.workspace.isolation
        state_dir = self.leg.state_dir(key)
        if self.leg.work.mode(key) == "go_on" and isolation != "none" and not workspaces.is_kept(state_dir):
            raise WorkspaceError(
                f"{state_dir}: the workspace of the interrupted task is gone, so it cannot go on: "
                "--rerun error begins it anew"
            )

    def _read_patch(self, name: str) -> bytes:
        path = self.leg.run_dir / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise WorkspaceError(f"{path}: cannot be read: {error.strerror or error}") from error

    def _open_session(self, planned: PlannedTask, path: Path, source: str) -> SessionLog:
        # A reply that was paid for is on the disk before it is acted on; a recording can be played again.
        is_synced = not planned.model.startswith("replay/")
        session = SessionWriter(path, cwd=source, clock=self.clock, mask=self.mask, is_synced=is_synced)
        for text in session.warnings:
            self.warn(planned.planned.key, text)
        return session

    def _workspace(self, planned: PlannedTask, state_dir: Path) -> Workspace:
        spec = planned.spec.workspace
        if spec.repo is not None:
            return repository_workspace(self.repositories.origin(spec), Path(planned.spec_dir), state_dir)
        source = Path(planned.spec_dir) / spec.path
        return workspaces.open_workspace(
            spec.isolation, source, state_dir, spec.include_uncommitted, self.around.home
        )

    def _system_prompt(self, planned: PlannedTask, workspace: str) -> str:
        spec = planned.spec
        home = self.around.home
        user_dir = home / ".pi" / "agent" if home else None
        files: tuple[ContextFile, ...] = ()
        if spec.context_files and spec.trust == "untrusted":
            files = users_own_file(user_dir)
        elif spec.context_files:
            source = None
            if spec.workspace.repo is None:  # another repository has nothing to do with the spec's parents
                source = (Path(planned.spec_dir) / spec.workspace.path).resolve()
            files = find_context_files(user_dir, source, Path(workspace))
        return system_prompt(workspace, spec.system, spec.protect, files, spec.output)


def _out_of_sight(planned: PlannedTask, chooser: SandboxChooser) -> tuple[str, ...]:
    """Directories that hold what a model must not see of a benchmark task."""
    if not planned.spec.hidden:
        return ()
    paths = (*planned.hidden_paths, *filter(None, (planned.solution_path,)))
    directories = (path if path.is_dir() else path.parent for path in paths)
    around = Path(planned.spec_dir).parent
    suite = around if (around / "suite.yaml").is_file() else planned.spec_dir
    copies = copies_of_suites(chooser.search_path, chooser.home)
    places = (str(suite), planned.spec_dir, *map(str, directories), *copies)
    return tuple(dict.fromkeys(os.path.realpath(path) for path in places))


class PermissionRules(Struct, frozen=True):
    """A task's permissions, for real paths in its workspace."""

    permissions: PermissionsSpec
    workspace: str

    def refusal(self, tool: str, arguments: Any, paths: Sequence[str]) -> tuple[str, str] | None:
        """(rule, reason for the model) of a refusal, or None."""
        denial = check_call(self.permissions, tool, arguments, tuple(self._relative(path) for path in paths))
        return None if denial is None else (denial.rule, denial.reason)

    def _relative(self, path: str) -> str:
        root = self.workspace.rstrip("/") + "/"
        if path == self.workspace:
            return "."
        return path.removeprefix(root)
