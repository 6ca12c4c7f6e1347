"""What every workspace promises, over the room's tables, fakes included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.protocols import Workspace
from pi_batch.workspaces import FAKES, TABLE, load, open_workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import files_of, git_bytes, make_repository, shell, state_of, write

ALL = sorted({**TABLE, **FAKES})
ISOLATED = [name for name in ALL if name != "none"]

FILES: dict[str, str | bytes] = {
    "README.md": "# Demo\n",
    "src/app.py": "print('one')\n",
    "tests/test_app.py": "assert True\n",
    "run.sh": "#!/bin/sh\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = make_repository(tmp_path / "my project é", FILES)
    write(directory, {"notes.txt": "not committed\n"})
    (directory / "run.sh").chmod(0o755)
    return directory


@pytest.fixture(params=ALL)
async def workspace(request: pytest.FixtureRequest, source: Path, opened: Opener) -> Workspace:
    return await opened(request.param, source)


async def test_an_open_workspace_has_a_real_path_with_the_users_files(
    workspace: Workspace, source: Path
) -> None:
    assert workspace.path == os.path.realpath(workspace.path)
    assert workspace.source == str(source)
    assert Path(workspace.path).name == source.name
    assert files_of(workspace.path) == files_of(source)
    assert os.access(Path(workspace.path, "run.sh"), os.X_OK)
    assert workspace.start_commit is not None


async def test_nothing_done_is_an_empty_patch(workspace: Workspace) -> None:
    changes = await workspace.changes(["**"])
    assert (changes.patch, changes.files, changes.protected_touched) == (b"", (), ())
    assert changes.warnings == ()


async def test_every_kind_of_change_is_in_the_patch_and_the_patch_applies_on_the_start(
    workspace: Workspace, tmp_path: Path
) -> None:
    start = await workspace.clean_copy("start", [])
    top = Path(workspace.path)
    write(top, {"src/app.py": "print('two')\n", "new/deep/x.txt": "x\n", "b.bin": b"\0\1\2", "empty": ""})
    (top / "README.md").unlink()
    (top / "run.sh").chmod(0o644)
    changes = await workspace.changes([])
    assert {(file.path, file.status) for file in changes.files} == {
        ("README.md", "deleted"),
        ("b.bin", "added"),
        ("empty", "added"),
        ("new/deep/x.txt", "added"),
        ("run.sh", "modified"),
        ("src/app.py", "modified"),
    }
    plain = tmp_path / "plain"
    shell(tmp_path, f"cp -R '{start.path}' plain && rm -rf plain/.git")
    git_bytes(plain, "apply", "--binary", "-", stdin=changes.patch)
    assert files_of(plain) == files_of(workspace.path)
    assert not os.access(plain / "run.sh", os.X_OK)


async def test_lines_are_counted(workspace: Workspace) -> None:
    write(Path(workspace.path), {"more.txt": "a\nb\nc\n"})
    (file,) = (await workspace.changes([])).files
    assert (file.path, file.added, file.deleted) == ("more.txt", 3, 0)


async def test_protected_paths_that_changed_are_named(workspace: Workspace) -> None:
    write(Path(workspace.path), {"tests/test_app.py": "assert 1\n", "tests/new.py": "", "src/app.py": "x\n"})
    changes = await workspace.changes(["tests/**"])
    assert changes.protected_touched == ("tests/new.py", "tests/test_app.py")


async def test_a_negated_glob_lifts_protection(workspace: Workspace) -> None:
    write(Path(workspace.path), {"tests/data/a.txt": "", "tests/b.txt": ""})
    changes = await workspace.changes(["tests/**", "!tests/data/**"])
    assert changes.protected_touched == ("tests/b.txt",)


async def test_a_clean_copy_of_the_start_has_none_of_the_work(workspace: Workspace, source: Path) -> None:
    before = files_of(source)
    write(Path(workspace.path), {"src/app.py": "changed\n", "new.txt": ""})
    copy = await workspace.clean_copy("start", [])
    assert files_of(copy.path) == before
    assert Path(copy.path).name == source.name
    assert os.access(Path(copy.path, "run.sh"), os.X_OK)


async def test_a_clean_copy_of_the_work_has_protected_paths_as_at_the_start(workspace: Workspace) -> None:
    top = Path(workspace.path)
    write(top, {"src/app.py": "better\n", "tests/test_app.py": "cheat\n", "tests/conftest.py": "cheat\n"})
    copy = await workspace.clean_copy("patched", ["tests/**"])
    found = files_of(copy.path)
    assert found["src/app.py"] == b"better\n"
    assert found["tests/test_app.py"] == b"assert True\n"
    assert "tests/conftest.py" not in found


async def test_a_deleted_protected_file_is_back_in_the_clean_copy(workspace: Workspace) -> None:
    Path(workspace.path, "tests/test_app.py").unlink()
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert Path(copy.path, "tests/test_app.py").read_text() == "assert True\n"
    assert (await workspace.changes(["tests/**"])).protected_touched == ("tests/test_app.py",)


async def test_a_clean_copy_is_what_the_last_patch_says_whatever_was_written_since(
    workspace: Workspace,
) -> None:
    top = Path(workspace.path)
    write(top, {"src/app.py": "reported\n"})
    await workspace.changes([])
    write(top, {"src/app.py": "written behind our back\n"})
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path, "src/app.py").read_text() == "reported\n"
    await workspace.changes([])
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path, "src/app.py").read_text() == "written behind our back\n"


async def test_clean_copies_are_apart_from_the_workspace_and_from_each_other(workspace: Workspace) -> None:
    first = await workspace.clean_copy("patched", [])
    second = await workspace.clean_copy("patched", [])
    write(Path(first.path), {"src/app.py": "by a check\n"})
    assert Path(second.path, "src/app.py").read_text() == "print('one')\n"
    assert (await workspace.changes([])).patch == b""


async def test_a_closed_clean_copy_is_gone(workspace: Workspace) -> None:
    copy = await workspace.clean_copy("start", [])
    await copy.close()
    assert not Path(copy.path).exists()
    await copy.close()


async def test_files_of_the_start_can_be_read_later(workspace: Workspace) -> None:
    Path(workspace.path, "src/app.py").write_text("changed\n")
    assert await workspace.start_file("src/app.py") == b"print('one')\n"
    assert await workspace.start_file("src/../src/app.py") == b"print('one')\n"
    assert await workspace.start_file("src/none.py") is None
    assert await workspace.start_file("src") is None


@pytest.mark.parametrize("isolation", ISOLATED)
async def test_the_users_directory_is_as_before_to_the_nanosecond(
    isolation: str, source: Path, state_dir: Path
) -> None:
    before = state_of(source)
    workspace = open_workspace(isolation, source, state_dir)
    await workspace.open()
    shell(workspace.path, "echo x >> README.md; rm -r src; echo y > y")
    await workspace.changes(["tests/**"])
    await (await workspace.clean_copy("patched", [])).close()
    await workspace.close(keep=False)
    assert state_of(source) == before


async def test_in_place_the_users_repository_is_only_read(source: Path, opened: Opener) -> None:
    before = state_of(source)
    workspace = await opened("none", source)
    await workspace.changes(["tests/**"])
    await (await workspace.clean_copy("patched", [])).close()
    await workspace.close(keep=False)
    assert state_of(source) == before


@pytest.mark.parametrize("isolation", ALL)
async def test_closing_leaves_nothing_and_may_be_repeated(
    isolation: str, source: Path, state_dir: Path
) -> None:
    workspace = open_workspace(isolation, source, state_dir)
    await workspace.open()
    await workspace.clean_copy("start", [])
    await workspace.close(keep=False)
    assert list(state_dir.iterdir()) == []
    await workspace.close(keep=False)
    assert source.is_dir()


@pytest.mark.parametrize("isolation", ISOLATED)
async def test_a_kept_workspace_stays(isolation: str, source: Path, state_dir: Path) -> None:
    workspace = open_workspace(isolation, source, state_dir)
    await workspace.open()
    await workspace.close(keep=True)
    assert Path(workspace.path, "README.md").exists()


@pytest.mark.parametrize("isolation", ALL)
async def test_a_directory_that_is_not_there_is_an_error_that_names_it(
    isolation: str, tmp_path: Path, state_dir: Path
) -> None:
    workspace = open_workspace(isolation, tmp_path / "absent", state_dir)
    with pytest.raises(WorkspaceError, match="absent"):
        await workspace.open()
    assert list(state_dir.iterdir()) == []


@pytest.mark.parametrize("isolation", ALL)
async def test_a_file_is_no_workspace(isolation: str, source: Path, state_dir: Path) -> None:
    workspace = open_workspace(isolation, source / "README.md", state_dir)
    with pytest.raises(WorkspaceError, match=r"README\.md"):
        await workspace.open()


@pytest.mark.parametrize("isolation", ALL)
async def test_before_it_is_open_and_after_it_is_closed_there_is_nothing_to_ask(
    isolation: str, source: Path, state_dir: Path
) -> None:
    workspace = open_workspace(isolation, source, state_dir)
    with pytest.raises(WorkspaceError, match="not open"):
        await workspace.changes([])
    await workspace.open()
    await workspace.close(keep=False)
    with pytest.raises(WorkspaceError, match="not open"):
        await workspace.clean_copy("start", [])


def test_an_unknown_isolation_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load("hypervisor")


@pytest.mark.parametrize("isolation", ["clone", "copy"])
async def test_a_directory_reached_through_a_link_is_the_directory(
    isolation: str, source: Path, tmp_path: Path, opened: Opener
) -> None:
    (tmp_path / "alias").symlink_to(source)
    (source / "src" / "loop").symlink_to(tmp_path / "alias" / "src")
    workspace = await opened(isolation, tmp_path / "alias" / "src" / "..")
    assert workspace.source == str(tmp_path / "alias")
    assert files_of(workspace.path) == {**files_of(source), "src/loop": b"-> ."}
    assert (await workspace.changes([])).patch == b""


async def test_dots_after_a_link_mean_what_they_mean_to_the_system(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "link").symlink_to(source / "src")
    workspace = await opened("clone", tmp_path / "else" / "link" / "..")
    assert workspace.source == str(source)
