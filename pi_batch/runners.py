"""Which programs run tests: those whose counts are known, and those that may start one out of sight."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from pi_batch.invocations import Invocation, invocations

Family = Literal["python", "js", "rust", "go"]
"""Runners that read the same files."""

_FAMILY_OF: Mapping[str, Family] = {
    "pytest": "python",
    "unittest": "python",
    "jest": "js",
    "cargo": "rust",
    "go": "go",
}
_NODE_ONLY = frozenset({"node", "deno", "vitest", "mocha"})

RECIPE_FILES = {
    "make": frozenset({"GNUmakefile", "makefile", "Makefile"}),
    "gmake": frozenset({"GNUmakefile", "makefile", "Makefile"}),
    "just": frozenset({"justfile", "Justfile", ".justfile"}),
    "task": frozenset({"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"}),
    "nox": frozenset({"noxfile.py"}),
    "invoke": frozenset({"tasks.py"}),
    "inv": frozenset({"tasks.py"}),
}
INDIRECT = frozenset(RECIPE_FILES) | frozenset(
    {"tox", "npm", "yarn", "pnpm", "bun", "node", "deno", "hatch", "pdm", "poetry", "uv", "rye", "pixi"}
    | {"nose2", "trial", "vitest", "mocha", "coverage", "docker", "podman", "mvn", "gradle", "bazel", "rake"}
    | {"rspec", "phpunit", "ctest", "dotnet", "mix", "sbt", "bats", "ava"}
)
_ONLY_TESTS = frozenset({"nose2", "trial", "vitest", "mocha", "rspec", "phpunit", "ctest", "bats", "ava"})
"""Programs that may run tests without being a runner whose counts are known."""

_CHECK_WORD = re.compile(
    r"(?:^|[^a-z])(?:run[-_]?)?(?:tests?|checks?|verify|validate|ci|lint|spec|e2e|smoke)(?:[^a-z]|$)",
    re.IGNORECASE,
)
_TEST_DIRECTORIES = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing"})
_REPEATING = frozenset({"for", "while", "until", "xargs", "parallel", "find", "eval", "watch"})
_TEST_FILE = re.compile(
    r"^test(?!ing)\w*\.py$|^test_.*\.(?:rb|rs|cc?|cpp|lua|jl)$|^tests?\.rs$"
    r"|_tests?\.(?:py|go|rs|rb|exs?|cc?|cxx|cpp|dart|ml|clj|php)$|_spec\.(?:rb|lua)$"
    r"|\.(?:test|spec)\.[cm]?[jt]sx?$|\.bats$"
    r"|(?:[a-z0-9](?:Tests?|TestCase|Spec|IT)|^Test[A-Z]\w*)\.(?:java|kts?|scala|groovy|cs|php|swift)$"
)
_TEST_FILE_BY_PLACE = re.compile(r"(?:^|/)(?:tests/[^/]+\.rs|(?:__tests__/.+|tests?/[^/]+)\.[cm]?[jt]sx?)$")
_TEST_WORD = re.compile(
    r"(?:^|[^a-z])(?:tests?|specs?|checks?|verify|ci|e2e|smoke)(?:[^a-z]|$)", re.IGNORECASE
)
_LINT_WORD = re.compile(
    r"(?:^|[^a-z])(?:lint|format|fmt|style|mypy|types?|typecheck)(?:[^a-z]|$)", re.IGNORECASE
)


def named_runner(invocation: Invocation) -> str | None:
    """The runner that an invocation is, of those whose counts are known."""
    words = [word for word in invocation.words[1:] if not word.startswith(("-", "+"))]
    match invocation.program:
        case "pytest" | "py.test":
            return "pytest"
        case "unittest" | "jest":
            return invocation.program
        case "go" if words[:1] == ["test"]:
            return "go"
        case "cargo" if words[:1] and words[0] in {"test", "t"}:
            return "cargo"
        case _:
            return None


def named_runners(command: str) -> frozenset[str]:
    """The runners that a command starts by name."""
    return frozenset(name for call in invocations(command) if (name := named_runner(call)) is not None)


def may_run_tests(command: str) -> bool:
    """True for a runner, and for whatever may start one out of sight."""
    return any(may_run(call) for call in invocations(command))


def may_run_family(calls: Iterable[Invocation], family: Family) -> bool:
    """True when one of the programs is a runner of this family, or may start one out of sight."""
    return any(_is_of(call, family) for call in calls)


def expects_tests(command: str) -> bool:
    """True when a command without any sign of a test run is a reason to ask whether the start gave one."""
    return any(
        named_runner(call) is not None
        or call.program in INDIRECT
        or (call.script is not None and is_check_script(call.script))
        for call in invocations(command)
    )


def may_run(call: Invocation) -> bool:
    """True for a runner, and for whatever may start one out of sight."""
    code = call.words[-1] if "-c" in call.words else ""
    return (
        named_runner(call) is not None
        or call.program in INDIRECT
        or call.script is not None
        or "/" in call.words[0]
        or "pytest" in code
        or "unittest" in code
    )


def is_for_tests(call: Invocation) -> bool:
    """True when the words of a call say that tests are what it runs; a linter of tests runs none."""
    if named_runner(call) is not None or call.program in _ONLY_TESTS:
        return True
    is_lint = any(_LINT_WORD.search(word) for word in call.words if not word.startswith("-"))
    return may_run(call) and not is_lint and any(map(_TEST_WORD.search, call.words))


def unseen_test_runs(command: str, seen: Collection[str]) -> bool:
    """True when more calls of a command are for tests than runners were seen."""
    calls = [call for call in invocations(command) if is_for_tests(call)]
    named = {name for call in calls if (name := named_runner(call)) is not None}
    others = [call for call in calls if named_runner(call) is None]
    return not named <= set(seen) or len(others) > len(set(seen) - named)


def _is_of(call: Invocation, family: Family) -> bool:
    runner = named_runner(call)
    if runner is not None:
        return _FAMILY_OF.get(runner) == family
    return may_run(call) and (family == "js" or call.program not in _NODE_ONLY)


def executes(call: Invocation, path: str | None) -> bool:
    """True when a call runs this file as a check's script or recipe."""
    if path is None:
        return False
    name = posixpath.basename(path)
    if call.script == path:
        return is_check_script(path)
    if name in RECIPE_FILES.get(call.program, ()) or (
        call.program in {"make", "gmake"} and name.endswith(".mk")
    ):
        return call.program == "nox" or any(_CHECK_WORD.search(word) for word in call.words[1:])
    return False


def is_test_file(path: str) -> bool:
    """True when a file's name is one that runners collect tests from, as far as habits tell."""
    name = posixpath.basename(path)
    return _TEST_FILE.search(name) is not None or _TEST_FILE_BY_PLACE.search(path) is not None


def is_test_path(path: str) -> bool:
    """True for test files, and for whatever lies in a directory of tests."""
    return is_test_file(path) or bool(_TEST_DIRECTORIES.intersection(path.lower().split("/")[:-1]))


def runs_pytest_once(command: str) -> bool:
    """True when a command starts pytest by name, once, and nothing else that may run tests."""
    calls = [call for call in invocations(command) if may_run(call) or call.program in _REPEATING]
    return [named_runner(call) for call in calls] == ["pytest"]


def is_check_script(path: str) -> bool:
    """True when the name of a script or of its directory says that it checks; a test file is no harness."""
    name, directory = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    return not is_test_file(path) and any(_CHECK_WORD.search(word) for word in (name, directory))
