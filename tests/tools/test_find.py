"""find as a model meets it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.spec import PathRules
from pi_batch.tools.find import Find
from tests.tools.context import FakeContext, call, failure, text_of
from tests.tools.searches import InProcessSearches

FIND = Find()


@pytest.fixture(autouse=True)
def fast_searches(context: FakeContext, request: pytest.FixtureRequest) -> None:
    """The worker's code without its process, but for the test that says otherwise."""
    if "process" not in request.node.name:
        context.sandbox = InProcessSearches()


def touch(workspace: Path, *names: str) -> None:
    for name in names:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x\n")


async def found(context: FakeContext, pattern: str, /, **arguments: object) -> list[str]:
    value = (await call(FIND, context, pattern=pattern, **arguments)).value
    assert isinstance(value, list)
    return value


async def test_names_are_paths_in_the_workspace_sorted_part_by_part(
    context: FakeContext, workspace: Path
) -> None:
    touch(workspace, "b.py", "a/z.py", "a.py", "a/b/c.py", "a/b.py", "x.js")
    output = await call(FIND, context, pattern="*.py")
    assert output.value == ["a/b/c.py", "a/b.py", "a/z.py", "a.py", "b.py"]
    assert text_of(output) == "\n".join(output.value)
    assert await found(context, "*.py", path="a") == ["a/b/c.py", "a/b.py", "a/z.py"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.yml", [".github/workflows/n.yml"]),
        ("workflows/*.yml", [".github/workflows/n.yml"]),
        ("/*.py", ["a.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("src/", ["src/b.py", "src/deep/c.py"]),
        ("**/c.py", ["src/deep/c.py"]),
        ("{a,b}.py", ["a.py", "src/b.py"]),
        ("nothing*", []),
    ],
)
async def test_patterns(context: FakeContext, workspace: Path, pattern: str, expected: list[str]) -> None:
    """cheasee-pi#971: dot directories are seen."""
    touch(workspace, "a.py", "src/b.py", "src/deep/c.py", ".github/workflows/n.yml", ".git/n.yml")
    assert await found(context, pattern) == expected


async def test_a_process_does_the_search(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "a.py", "é/b.py", os.fsdecode(b"b\xff.py"))
    assert await found(context, "*.py") == ["a.py", "b\\xff.py", "é/b.py"]


async def test_nothing_found_is_no_error(context: FakeContext) -> None:
    output = await call(FIND, context, pattern="*.txt")
    assert text_of(output) == "No files found"
    assert output.value == []


async def test_a_pattern_is_never_a_command(context: FakeContext, workspace: Path) -> None:
    """pi#4018."""
    touch(workspace, "a.txt")
    for pattern in ("--exec=touch PWNED2", "-delete", "$(touch PWNED2)", "; touch PWNED2"):
        assert await found(context, pattern) == []
    assert [path.name for path in workspace.iterdir()] == ["a.txt"]


async def test_dead_links_and_pipes_are_names_like_others(context: FakeContext, workspace: Path) -> None:
    """opencode#24972: one dead link must not empty the list."""
    touch(workspace, "here.txt", "dir/there.txt")
    (workspace / "dead.txt").symlink_to("/nowhere/at/all")
    (workspace / "loop.txt").symlink_to("loop.txt")
    (workspace / "dir/up").symlink_to("..")
    os.mkfifo(workspace / "pipe.txt")
    assert await found(context, "*.txt") == ["dead.txt", "dir/there.txt", "here.txt", "loop.txt", "pipe.txt"]


async def test_directories_are_named_where_no_file_fits(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "pkg/tests/a.py", "tests/b.py")
    output = await call(FIND, context, pattern="tests")
    assert output.value == []
    assert text_of(output) == "No files found\n\n[Directories that match: pkg/tests/, tests/.]"


async def test_ignored_files_are_left_out(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "node_modules/x/a.js", "a.js", "b.log")
    (workspace / ".gitignore").write_text("node_modules\n*.log\n")
    assert await found(context, "*") == [".gitignore", "a.js"]
    assert await found(context, "*.js", path="node_modules") == ["node_modules/x/a.js"]


async def test_the_limit_is_said(context: FakeContext, workspace: Path) -> None:
    touch(workspace, *(f"{number:03}.txt" for number in range(12)))
    output = await call(FIND, context, pattern="*.txt", limit=10)
    assert len(output.value) == 10
    assert "[10 files limit reached. Narrow the search, or use limit=20.]" in text_of(output)
    assert output.details["is_more"]
    assert not (await call(FIND, context, pattern="*.txt", limit=12)).details["is_more"]


async def test_denied_paths_are_left_out(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "secrets/a.txt", "open/b.txt")
    denied = Find(PathRules(deny=("secrets/",)))
    output = await call(denied, context, pattern="*.txt")
    assert output.value == ["open/b.txt"]
    assert "1 path left out by permissions.read" in text_of(output)


async def test_names_that_are_no_text_are_escaped(context: FakeContext, workspace: Path) -> None:
    touch(workspace, os.fsdecode(b"b\xff.txt"), "new\nline.txt", "é.txt", "\x1b[31m.txt")
    output = await call(FIND, context, pattern="*.txt")
    assert output.value == ["\\x1b[31m.txt", "b\\xff.txt", "new\\nline.txt", "é.txt"]
    text_of(output).encode()


async def test_deep_trees_are_walked(context: FakeContext, workspace: Path) -> None:
    deep = "/".join(["d"] * 300)
    touch(workspace, f"{deep}/x.txt")
    assert await found(context, "x.txt") == [f"{deep}/x.txt"]


async def test_a_directory_without_leave_is_said(context: FakeContext, workspace: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    touch(workspace, "a.txt", "closed/b.txt")
    (workspace / "closed").chmod(0)
    output = await call(FIND, context, pattern="*.txt")
    (workspace / "closed").chmod(0o755)
    assert output.value == ["a.txt"]
    assert "1 path could not be read" in text_of(output)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": ""}, "empty"),
        ({"pattern": "*", "path": "absent"}, "no such file"),
        ({"pattern": "*", "path": "../x"}, "outside"),
        ({"pattern": "*", "path": ".git/hooks"}, ".git"),
        ({"pattern": "*", "limit": 0}, "limit: got 0"),
    ],
)
async def test_wrong_arguments_are_explained(
    context: FakeContext, workspace: Path, arguments: dict[str, object], expected: str
) -> None:
    touch(workspace, ".git/hooks/x")
    assert expected in await failure(FIND, context, **arguments)


async def test_a_file_as_the_path_is_looked_at_alone(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "a.txt", "b.txt")
    assert await found(context, "*.txt", path="a.txt") == ["a.txt"]
