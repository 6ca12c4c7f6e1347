"""Which files decide how tests are run, as opposed to what is tested.

A clean copy has these as they were at the start, as if the spec had protected them, so that a check is
judged with the harness that the agent was given: `effective_protect` names them as globs and
`protection` adds what only the changes themselves show. A negated glob in the spec's `protect`
(`!conftest.py`) gives a file to the agent. Only checks that may run tests bring any of this in.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from pi_batch.invocations import Invocation, invocations
from pi_batch.results import ChangedFile
from pi_batch.runners import RECIPE_FILES, Family, executes, may_run, may_run_family
from pi_batch.spec import TaskSpec

PYTHON_GLOBS = (
    "**/conftest.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/pytest.toml",
    "**/.pytest.toml",
    "**/.coveragerc",
    "**/sitecustomize.py",
    "**/sitecustomize/**",
    "**/usercustomize.py",
    "**/usercustomize/**",
    "**/*.pth",
    # Entry points in them load pytest plugins, also from the current directory.
    "**/*.dist-info/**",
    "**/*.egg-info/**",
)
JS_GLOBS = ("**/jest.config.*", "**/jest.setup.*", "**/jest.preset.*", "**/vitest.config.*", "**/.mocharc*")
RUST_GLOBS = ("**/.cargo/config", "**/.cargo/config.toml", "**/.config/nextest.toml")

_GLOBS: Mapping[Family, tuple[str, ...]] = {"python": PYTHON_GLOBS, "js": JS_GLOBS, "rust": RUST_GLOBS}
ENVIRONMENT_GLOBS = (
    "**/.venv/**",
    "**/site-packages/**",
    "**/node_modules/**",
    "**/__pycache__/**",
    "**/*.pyc",
)
"""What setup makes, or a program on its way: never carried over from the agent's tree."""

RUNNER_MODULES = frozenset({"pytest", "_pytest", "unittest", "pluggy", "iniconfig"})
"""Modules that, put where Python looks first, stand in for the runner."""

LOOKERS = frozenset(
    {"test", "[", "[[", "grep", "egrep", "cat", "diff", "cmp", "ls", "stat", "head", "tail", "wc", "jq"}
)
"""Programs that look at a file as such: a harness file that they name is what the task is about."""


class Protection(Struct, frozen=True):
    """What a clean copy has as at the start; in each list the last glob that matches a path decides."""

    environment: tuple[str, ...]
    harness: tuple[str, ...]
    spec: tuple[str, ...]
    """The spec's own `protect`: last, so that its negated globs lift what the others say."""

    @property
    def globs(self) -> tuple[str, ...]:
        """All of them, for making the clean copy."""
        return (*self.environment, *self.harness, *self.spec)

    def touched(self, files: Sequence[ChangedFile]) -> tuple[str, ...]:
        """Changed paths that are put back and that a person should hear of, sorted.

        New files of an environment are what setup made, and are not worth a word.
        """
        if not files:
            return ()
        named, all_of_it = _matcher((*self.harness, *self.spec)), _matcher(self.globs)
        found: set[str] = set()
        for file in files:
            for path in {file.path, file.old_path or file.path}:
                if path.startswith("../"):
                    continue  # beside the workspace: no clean copy puts it back
                if named(path) or (file.status != "added" and all_of_it(path)):
                    found.add(path)
        return tuple(sorted(found))


def effective_protect(spec: TaskSpec) -> tuple[str, ...]:
    """The spec's protect globs behind those of the harness, so that a negated one lifts a default."""
    calls = _all_calls(spec)
    globs = [glob for family in _GLOBS if may_run_family(calls, family) for glob in _GLOBS[family]]
    subjects = {word for call in calls if call.program in LOOKERS for word in call.words[1:]}
    lifted = [f"!{glob_for(word.removeprefix('./'))}" for word in sorted(subjects) if _is_named(word, globs)]
    return (*globs, *lifted, *spec.protect)


async def protection(
    spec: TaskSpec, files: Sequence[ChangedFile], exists: Callable[[str], Awaitable[bool]]
) -> Protection:
    """`effective_protect` with what only the changes themselves show.

    Scripts and recipes that a check executes, modules that stand in for the runner, and virtual
    environments. `exists` says whether a path is in the agent's tree now.
    """
    calls = _all_calls(spec)
    static = effective_protect(spec)
    harness = list(static[: len(static) - len(spec.protect)])
    for file in files:
        before = file.old_path if file.status == "renamed" else file.path
        is_executed = file.status != "added" and any(executes(call, before) for call in calls)
        if is_executed and before is not None:
            harness.append(glob_for(before))
        elif _stands_in_for_the_runner(file, files, calls) or await _is_second_recipe(
            file, files, calls, exists
        ):
            harness.append(glob_for(file.path))
    venvs = [f"{glob_for(root)}/**" for root in await _venv_roots(files, exists)]
    return Protection((*ENVIRONMENT_GLOBS, *venvs), tuple(harness), spec.protect)


def is_lifted(path: str, protect: Sequence[str]) -> bool:
    """True when the last of the spec's globs that matches a path is a negated one."""
    if not any(glob.startswith("!") for glob in protect):
        return False
    from pathspec import GitIgnoreSpec  # 10 ms

    return GitIgnoreSpec.from_lines(protect).check_file(path).include is False


def glob_for(path: str) -> str:
    """A glob that matches one path and what is below it, and nothing else."""
    return "/" + re.sub(r"([\\*?\[\]! #])", r"\\\1", path)


def _all_calls(spec: TaskSpec) -> tuple[Invocation, ...]:
    return tuple(call for check in spec.verify for call in invocations(check.run))


def _is_named(word: str, globs: Sequence[str]) -> bool:
    """True when a check that only looks at files names one of the harness: it is the subject then."""
    return not word.startswith(("-", "/")) and _matcher(globs)(word.removeprefix("./"))


def _matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    from pathspec import GitIgnoreSpec  # 10 ms

    return GitIgnoreSpec.from_lines(globs).match_file


def _stands_in_for_the_runner(
    file: ChangedFile, files: Sequence[ChangedFile], calls: Sequence[Invocation]
) -> bool:
    """True for a new module or package named like the runner where Python looks before the real one.

    A package that was there is the project's own: pytest is a project, too.
    """
    if file.status not in {"added", "renamed"} or not any(may_run(call) for call in calls):
        return False
    for place in {"", "src/", *(f"{call.cwd}/" for call in calls if call.cwd)}:
        inner = file.path.removeprefix(place)
        first, _, rest = inner.partition("/")
        if not file.path.startswith(place) or first.split(".")[0] not in RUNNER_MODULES:
            continue
        new_package = f"{place}{first}/__init__."
        if not rest or any(other.path.startswith(new_package) for other in files if other.status == "added"):
            return True
    return False


async def _is_second_recipe(
    file: ChangedFile,
    files: Sequence[ChangedFile],
    calls: Sequence[Invocation],
    exists: Callable[[str], Awaitable[bool]],
) -> bool:
    """True for a new GNUmakefile that would be read before the Makefile that was there."""
    name, directory = posixpath.basename(file.path), posixpath.dirname(file.path)
    if file.status not in {"added", "renamed"} or not any(executes(call, file.path) for call in calls):
        return False
    status = {other.path: other.status for other in files}
    siblings = {sibling for names in RECIPE_FILES.values() if name in names for sibling in names - {name}}
    for sibling in sorted(siblings):
        path = posixpath.join(directory, sibling)
        if status.get(path, "") in {"modified", "deleted"} or (path not in status and await exists(path)):
            return True
    return False


async def _venv_roots(
    files: Sequence[ChangedFile], exists: Callable[[str], Awaitable[bool]]
) -> tuple[str, ...]:
    """Directories that hold changed files and are virtual environments, whatever they are called."""
    parents = {parent for file in files for parent in _parents(file.path)}
    return tuple([path for path in sorted(parents) if await exists(posixpath.join(path, "pyvenv.cfg"))])


def _parents(path: str) -> Iterator[str]:
    parent = posixpath.dirname(path)
    while parent:
        yield parent
        parent = posixpath.dirname(parent)
