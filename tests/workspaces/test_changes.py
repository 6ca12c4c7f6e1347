"""The patch and the list of changed files: every kind of change, every kind of name, byte for byte."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.protocols import Workspace
from pi_batch.results import ChangedFile
from pi_batch.workspaces import open_workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import files_of, git, git_bytes, make_repository, shell, write

BODY = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
async def workspace(tmp_path: Path, opened: Opener) -> Workspace:
    files: dict[str, str | bytes] = {
        "a.txt": "base\n",
        "long.txt": BODY,
        "bin.dat": bytes(range(256)) * 8,
        "empty": "",
        "no-newline": "x",
        ".gitignore": "*.log\n",
    }
    return await opened("clone", make_repository(tmp_path / "proj", files))


async def applied(workspace: Workspace) -> str:
    """Apply the patch on the start commit in a repository of its own; the tree that comes out."""
    start = await workspace.clean_copy("start", [])
    changes = await workspace.changes([])
    git(start.path, "checkout", "-q", "-f", str(workspace.start_commit))
    if changes.patch:
        git_bytes(start.path, "apply", "--binary", "--index", stdin=changes.patch)
    return git(start.path, "write-tree")


async def tree_of_work(workspace: Workspace) -> str:
    """The tree of the workspace's files, by a git of its own that ignores nothing."""
    copy = await workspace.clean_copy("start", [])
    shell(copy.path, "rm -rf ./* .[!.g]* .gitignore .git/index")
    shell(copy.path, f"tar -C '{workspace.path}' --exclude=./.git -cf - . | tar -xf -")
    git(copy.path, "add", "-A", "-f")
    return git(copy.path, "write-tree")


KINDS = {
    "nothing": "true",
    "edits": "echo more >> a.txt; sed -i 's/line 7/LINE 7/' long.txt",
    "additions in new directories": "mkdir -p d/e/f; echo n > d/e/f/n; : > d/empty",
    "deletions": "rm a.txt long.txt bin.dat empty",
    "binary edits": "printf '\\0\\1\\2' >> bin.dat; head -c 3000 /dev/urandom > new; cp bin.dat other",
    "renames": "mv long.txt renamed.txt; mkdir d; mv bin.dat d/",
    "renames with edits": "mv long.txt other.txt; sed -i 's/line 9/LINE 9/' other.txt; chmod +x other.txt",
    "execute bits": "chmod +x a.txt empty",
    "links": "ln -s a.txt link; ln -s nowhere dangling; ln -s $'li\\nne' odd; rm empty; ln -s a.txt empty",
    "a link becomes a file and back": "ln -s long.txt l; rm a.txt; ln -s l a.txt",
    "line feeds at the end": "printf 'x\\n' > no-newline; printf 'base' > a.txt",
    "windows line feeds": "printf 'a\\r\\nb\\r\\n' > a.txt; printf '\\r' > cr",
    "byte order marks": "printf '\\357\\273\\277bom' > bom",
    "files become directories": "rm a.txt empty; mkdir -p a.txt empty/x; echo i > a.txt/i; touch empty/x/y",
    "spaces, quotes, tabs": "touch ' ' 'a b' $'t\\tb' 'q\"uote' \"it's\" 'back\\slash' -- -n; echo x > 'a b'",
    "line feeds in names": "echo 1 > $'new\\nline'; mkdir $'d\\nd'; echo 2 > $'d\\nd/x'",
    "names outside ascii": "echo 1 > 'café ☃.txt'; echo 2 > $'\\xff\\xfe'; echo 3 > $'nf\\x65\\xcc\\x81'",
    "names like magic": "echo 1 > ':(glob)x'; echo 2 > ':!y'; echo 3 > '*'; echo 4 > '['",
    "attributes": "printf '*.txt binary\\n*.dat text eol=crlf\\n' > .gitattributes; echo z >> a.txt",
    "an ignore file": "echo '!*.log' > .gitignore; touch x.log",
}


async def test_many_changes_together_give_exactly_the_workspace(workspace: Workspace) -> None:
    """The kinds that do not undo each other; the slow test below has each of them alone."""
    together = [
        *("additions in new directories", "renames with edits", "binary edits", "line feeds at the end"),
        *("execute bits", "links", "windows line feeds", "byte order marks", "spaces, quotes, tabs"),
        *("line feeds in names", "names outside ascii", "names like magic", "attributes", "an ignore file"),
    ]
    for kind in together:
        shell(workspace.path, KINDS[kind])
    assert await applied(workspace) == await tree_of_work(workspace)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_the_patch_on_the_start_commit_gives_exactly_the_workspace(
    workspace: Workspace, kind: str
) -> None:
    shell(workspace.path, KINDS[kind])
    assert await applied(workspace) == await tree_of_work(workspace)


async def test_names_are_listed_as_they_are_on_disk(workspace: Workspace) -> None:
    names = [
        "café ☃.txt",
        "sp ace.txt",
        "tab\tname.txt",
        'quo"te.txt',
        "new\nline.txt",
        "back\\slash",
        "-dash",
    ]
    write(Path(workspace.path), {name: f"{name}\n" for name in names})
    assert [file.path for file in (await workspace.changes([])).files] == sorted(names, key=os.fsencode)


async def test_names_that_are_no_utf8_are_escaped_and_stay_distinct(workspace: Workspace) -> None:
    for name in (b"caf\xe9", b"caf\xe8"):
        Path(workspace.path, os.fsdecode(name)).touch()
    changes = await workspace.changes(["caf*"])
    assert [file.path for file in changes.files] == ["caf\\xe8", "caf\\xe9"]
    assert changes.protected_touched == ("caf\\xe8", "caf\\xe9")
    assert b"caf\xe9" in changes.patch


async def test_a_renamed_file_has_both_names_and_its_own_line_counts(workspace: Workspace) -> None:
    shell(
        workspace.path, "mkdir new; git mv long.txt 'new/na me.txt'; sed -i 's/line 9$/LINE/' 'new/na me.txt'"
    )
    changes = await workspace.changes(["long.txt"])
    assert changes.files == (ChangedFile("new/na me.txt", "renamed", 1, 1, "long.txt"),)
    assert changes.protected_touched == ("long.txt",)
    assert b"rename from long.txt" in changes.patch


async def test_a_file_renamed_into_a_protected_place_is_touched_there(workspace: Workspace) -> None:
    shell(workspace.path, "mkdir tests; git mv long.txt tests/long.txt")
    assert (await workspace.changes(["tests/**"])).protected_touched == ("tests/long.txt",)


async def test_line_counts_are_none_for_binary_files(workspace: Workspace) -> None:
    shell(workspace.path, "printf '\\0' >> bin.dat; rm a.txt; chmod +x empty; ln -s x link")
    counted = {f.path: (f.status, f.added, f.deleted) for f in (await workspace.changes([])).files}
    assert counted == {
        "a.txt": ("deleted", 0, 1),
        "bin.dat": ("modified", None, None),
        "empty": ("modified", 0, 0),
        "link": ("added", 1, 0),
    }


async def test_an_agents_attributes_cannot_make_the_patch_unreadable(workspace: Workspace) -> None:
    write(Path(workspace.path), {".gitattributes": "* binary -diff\n", "a.txt": "base\nreadable\n"})
    changes = await workspace.changes([])
    assert b"+readable" in changes.patch


async def test_changes_that_were_undone_are_no_changes(workspace: Workspace) -> None:
    shell(workspace.path, "echo x > a.txt; touch new")
    assert (await workspace.changes([])).files != ()
    shell(workspace.path, "echo base > a.txt; rm new; touch -d @1 long.txt")
    assert (await workspace.changes(["**"])).patch == b""


async def test_an_edit_that_keeps_size_and_time_is_seen(workspace: Workspace) -> None:
    shell(workspace.path, "touch -r a.txt ref; printf 'BASE\\n' > a.txt; touch -r ref a.txt; rm ref")
    assert [file.path for file in (await workspace.changes([])).files] == ["a.txt"]


async def test_an_added_directory_that_is_empty_is_no_change(workspace: Workspace) -> None:
    Path(workspace.path, "empty-dir").mkdir()
    assert (await workspace.changes([])).patch == b""


async def test_a_pattern_that_is_none_protects_nothing_and_a_comment_is_a_name(workspace: Workspace) -> None:
    write(Path(workspace.path), {"#x": "", "!y": "", "z": ""})
    assert (await workspace.changes(["", "  ", "!", "#x", "!!y"])).protected_touched == ("#x",)


async def test_a_large_file_is_streamed(workspace: Workspace) -> None:
    content = os.urandom(1 << 20) * 9
    write(Path(workspace.path), {"large.bin": content})
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path, "large.bin").read_bytes() == content


# --- any sequence of edits ---

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/c", "new\nline", "é", " x", "d/-y"])
CONTENTS = st.binary(max_size=30) | st.sampled_from([b"", b"text\n", b"text\nmore\n", b"\0\1", b"a\r\nb\r\n"])
EDITS = st.lists(st.tuples(st.sampled_from(["write", "delete", "link", "exec"]), NAMES, CONTENTS), max_size=8)


def carry_out(top: Path, edits: list[tuple[str, str, bytes]]) -> None:
    for kind, name, content in edits:
        path = top / name
        if kind == "exec":
            if path.is_file() and not path.is_symlink():
                path.chmod(path.stat().st_mode ^ 0o111)
            continue
        for place in (path, *path.parents):
            if place == top:
                break
            if place == path and place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            elif place.is_symlink() or place.is_file():
                place.unlink()
        if kind == "delete":
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(os.fsdecode(content.replace(b"\0", b"").replace(b"/", b"") or b"t"))
        else:
            path.write_bytes(content)


async def round_trip(directory: Path, before: list[Any], after: list[Any]) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    source = make_repository(directory / "p", {"keep": "k\n"})
    (directory / "state").mkdir()
    carry_out(source, before)
    workspace = open_workspace("clone", source, directory / "state")
    await workspace.open()
    assert files_of(workspace.path) == files_of(source)
    carry_out(Path(workspace.path), after)
    assert await applied(workspace) == await tree_of_work(workspace)
    copy = await workspace.clean_copy("patched", ["d/**"])
    found, at_start, now = files_of(copy.path), files_of(source), files_of(workspace.path)
    in_d = {name: content for name, content in found.items() if name.startswith("d/")}
    assert in_d == {name: content for name, content in at_start.items() if name.startswith("d/")}
    for name, content in now.items():
        if name.split("/")[0] != "d":
            assert found[name] == content
    await workspace.close(keep=False)


def property_of(examples: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


@given(before=EDITS, after=EDITS)
@property_of(6)
async def test_any_work_on_any_start_round_trips(tmp_path: Path, before: list[Any], after: list[Any]) -> None:
    await round_trip(tmp_path / "case", before, after)


@pytest.mark.fuzz
@given(before=EDITS, after=EDITS)
@property_of(100)
@pytest.mark.timeout(600)
async def test_any_work_on_any_start_round_trips_at_length(
    tmp_path: Path, before: list[Any], after: list[Any]
) -> None:
    await round_trip(tmp_path / "case", before, after)
