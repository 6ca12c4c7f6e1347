"""Whatever the agent does to its directory and its git, the patch is the truth and nothing of it runs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from pi_batch.protocols import Workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import (
    dig,
    files_of,
    git,
    git_bytes,
    make_repository,
    shell,
    state_of,
    write,
)
from tests.workspaces.test_clone import HOSTILE_CONFIG


@pytest.fixture
def source(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "a.txt": "base\n",
        "src/app.py": "x = 1\n",
        "tests/test_app.py": "assert x\n",
        ".gitignore": "*.log\n",
    }
    return make_repository(tmp_path / "proj", files)


@pytest.fixture
async def workspace(source: Path, opened: Opener) -> Workspace:
    return await opened("clone", source)


async def paths(workspace: Workspace) -> list[str]:
    return [file.path for file in (await workspace.changes([])).files]


# --- its own git ---

DEEDS = {
    "commits": "git add -A; git commit -qm work",
    "amends": "git add -A; git commit -q --amend -m other",
    "commits and resets softly": "git add -A; git commit -qm work; git reset -q --soft HEAD^",
    "stages": "git add -A",
    "switches branches": "git checkout -q -b side; git add -A; git commit -qm side",
    "starts over": "git add -A; git checkout -q --orphan fresh; git commit -qm fresh; git branch -D main",
    "rebases": "git add -A; git commit -qm one; git commit -q --allow-empty -m two; git rebase -q --root",
    "collects garbage": "git add -A; git commit -qm work; git reflog expire --expire=now --all; "
    "git gc -q --prune=now",
    "deletes its repository": "rm -rf .git",
    "renames its repository": "mv .git .hg",
    "makes its repository a file": "mv .git ../elsewhere; echo 'gitdir: /nonexistent' > .git",
    "breaks its index": "echo broken > .git/index",
    "leaves a lock": "touch .git/index.lock .git/HEAD.lock",
    "empties its objects": "rm -rf .git/objects",
    "starts a new repository": "rm -rf .git; git init -q -b main; git config user.name a; "
    "git config user.email a@b; git add -A; git commit -qm new",
    "marks files as unchanged": "git update-index --assume-unchanged a.txt src/app.py; "
    "git update-index --skip-worktree a.txt",
    "goes sparse": "git config core.sparseCheckout true; echo /docs > .git/info/sparse-checkout",
    "replaces objects": "git add -A; git commit -qm w; git replace HEAD $(git rev-parse HEAD^)",
    "hides files by its exclude file": "echo a.txt > .git/info/exclude; echo src > .git/info/exclude",
    "hides files by attributes": "echo '* binary -diff export-ignore' > .git/info/attributes",
}


USUAL_DEEDS = ("commits", "amends", "deletes its repository", "breaks its index", "starts a new repository")


@pytest.mark.parametrize(
    "deed", [pytest.param(deed, marks=() if deed in USUAL_DEEDS else pytest.mark.slow) for deed in DEEDS]
)
async def test_the_patch_does_not_depend_on_the_agents_git(workspace: Workspace, deed: str) -> None:
    shell(workspace.path, f"echo more >> a.txt; echo 'x = 2' > src/app.py; {DEEDS[deed]}")
    changes = await workspace.changes([])
    found = {file.path for file in changes.files if not file.path.startswith(".hg/")}
    assert found == {"a.txt", "src/app.py"}
    assert b"+more" in changes.patch
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path, "a.txt").read_text() == "base\nmore\n"
    assert git(copy.path, "log", "--format=%s") == "first"


async def test_hooks_filters_and_monitors_set_by_the_agent_run_nowhere(
    workspace: Workspace, tmp_path: Path
) -> None:
    leak = tmp_path / "leak"
    shell(workspace.path, HOSTILE_CONFIG, LEAK=str(leak))
    write(Path(workspace.path), {"made.txt": "made\n"})
    leak.unlink(missing_ok=True)
    changes = await workspace.changes(["tests/**"])
    copy = await workspace.clean_copy("patched", ["tests/**"])
    await (await workspace.clean_copy("start", [])).close()
    assert not leak.exists()
    assert "made.txt" in {file.path for file in changes.files}
    assert shell(copy.path, "git status --porcelain | sort") == "?? .gitattributes\n?? evil.sh\n?? made.txt\n"
    assert not leak.exists()


async def test_a_push_from_the_clone_reaches_nobody(workspace: Workspace, source: Path) -> None:
    before = state_of(source)
    shell(
        workspace.path,
        "git commit -q --allow-empty -m x; git push 2>/dev/null || git push origin main || true",
    )
    assert state_of(source) == before


async def test_a_linked_work_tree_made_by_the_agent_is_part_of_the_patch(workspace: Workspace) -> None:
    shell(workspace.path, "git worktree add -q -b side wt; echo n > wt/new.txt")
    assert "wt/new.txt" in await paths(workspace)


async def test_a_repository_made_by_the_agent_is_opened_up(workspace: Workspace) -> None:
    shell(
        workspace.path,
        "mkdir -p sub/deeper; cd sub; git init -q; echo '*.tmp' > .gitignore; touch x.tmp x.log ':y' z;"
        "git add .; git -c user.name=a -c user.email=b commit -qm inner; cd deeper; git init -q; touch q",
    )
    assert await paths(workspace) == ["sub/.gitignore", "sub/:y", "sub/deeper/q", "sub/z"]


async def test_a_repository_around_protected_files_does_not_hide_them(workspace: Workspace) -> None:
    shell(
        workspace.path, "cd tests; git init -q; echo cheat > test_app.py; echo cheat > conftest.py; git add ."
    )
    changes = await workspace.changes(["tests/**"])
    assert changes.protected_touched == ("tests/conftest.py", "tests/test_app.py")


# --- ignore rules ---


async def test_ignoring_a_file_of_the_start_does_not_hide_it(workspace: Workspace) -> None:
    shell(workspace.path, "echo '*' > .gitignore; echo changed > a.txt; rm src/app.py; echo n > new.txt")
    assert await paths(workspace) == [".gitignore", "a.txt", "src/app.py"]


async def test_by_products_of_tools_are_no_work_whatever_the_ignore_file_says(workspace: Workspace) -> None:
    names = [
        *("old.pyc", "src/__pycache__/app.pyc", ".pytest_cache/v/x", ".mypy_cache/x", ".ruff_cache/x"),
        *(".hypothesis/x", ".tox/x", ".nox/x", "node_modules/p/i.js", "ui/node_modules/p/i.js", ".coverage"),
        *(".venv/bin/python", "venv/bin/x", "p.egg-info/PKG-INFO", ".pi-batch/runs/1/run.json", ".DS_Store"),
    ]
    write(Path(workspace.path), dict.fromkeys(names, "x"))
    write(Path(workspace.path), {".gitignore": "!node_modules/\n!*.pyc\n!venv/\n"})
    assert await paths(workspace) == [".gitignore"]


async def test_a_virtual_environment_of_any_name_is_no_work(workspace: Workspace) -> None:
    write(Path(workspace.path), {"env-311/pyvenv.cfg": "", "env-311/bin/python": "", "env-312/x": ""})
    assert await paths(workspace) == ["env-312/x"]


async def test_a_by_product_that_the_user_committed_is_watched(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"node_modules/p/index.js": "1\n", "a.pyc": b"\0"})
    workspace = await opened("clone", source)
    write(Path(workspace.path), {"node_modules/p/index.js": "2\n", "node_modules/q.js": "", "a.pyc": b"\1"})
    assert await paths(workspace) == ["a.pyc", "node_modules/p/index.js"]


# --- the directory itself ---


async def test_a_deleted_directory_is_a_patch_that_deletes_all(workspace: Workspace) -> None:
    shell(Path(workspace.path).parent, f"rm -rf '{workspace.path}'")
    changes = await workspace.changes(["tests/**"])
    assert {file.status for file in changes.files} == {"deleted"}
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert files_of(copy.path) == {"tests/test_app.py": b"assert x\n"}


async def test_a_directory_replaced_by_a_link_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    write(tmp_path / "private", {"a.txt": "secret\n", "id_rsa": "secret\n"})
    shell(Path(workspace.path).parent, f"mv proj away; ln -s '{tmp_path}/private' proj")
    changes = await workspace.changes([])
    assert {file.status for file in changes.files} == {"deleted"}
    assert b"secret" not in changes.patch


async def test_an_inner_directory_replaced_by_a_link_is_a_link(workspace: Workspace, tmp_path: Path) -> None:
    write(tmp_path / "private", {"app.py": "secret\n"})
    shell(workspace.path, f"rm -r src; ln -s '{tmp_path}/private' src")
    changes = await workspace.changes([])
    assert [(file.path, file.status) for file in changes.files] == [
        ("src", "added"),
        ("src/app.py", "deleted"),
    ]
    assert b"secret" not in changes.patch


async def test_files_become_directories_and_back(workspace: Workspace) -> None:
    shell(workspace.path, "rm a.txt; mkdir a.txt; echo in > a.txt/inner; rm -r src; echo file > src")
    start = await workspace.clean_copy("start", [])
    changes = await workspace.changes([])
    git_bytes(start.path, "apply", "--binary", stdin=changes.patch)
    assert files_of(start.path) == files_of(workspace.path)


async def test_sockets_and_pipes_are_passed_over_and_nothing_waits_for_them(workspace: Workspace) -> None:
    top = Path(workspace.path)
    (top / "a.txt").unlink()
    os.mkfifo(top / "a.txt")
    os.mkfifo(top / "new-pipe")
    async with asyncio.timeout(20):
        assert await paths(workspace) == ["a.txt"]


async def test_names_that_git_refuses_are_said_and_do_not_spoil_the_rest(workspace: Workspace) -> None:
    shell(workspace.path, "mkdir -p .GIT d/git~1 '.git '; touch .GIT/x d/git~1/y '.git /z' good")
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["good"]
    (warning,) = changes.warnings
    assert "'.GIT/x'" in warning


async def test_a_link_that_git_refuses_by_name_does_not_spoil_the_rest(workspace: Workspace) -> None:
    shell(workspace.path, "ln -s a.txt .gitmodules; mkdir d; ln -s x d/.GITMODULES; touch good")
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["good"]
    assert len(changes.warnings) == 2
    await workspace.clean_copy("patched", [])


async def test_a_very_large_new_file_is_left_out_and_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = Path(workspace.path)
    with (top / "core").open("wb") as file:
        file.truncate((100 << 20) + 1)
    write(top, {"good": ""})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["good"]
    assert changes.warnings == ("not in the patch: 'core': 100 MB, more than 100 MB",)


async def test_a_directory_deeper_than_a_path_may_be_is_survived_and_removed(workspace: Workspace) -> None:
    dig(Path(workspace.path), 1200)
    write(Path(workspace.path), {"good": ""})
    assert "good" in await paths(workspace)
    await workspace.close(keep=False)
    assert not Path(workspace.path).exists()


async def test_read_only_directories_do_not_outlive_the_workspace(workspace: Workspace) -> None:
    shell(workspace.path, "mkdir -p mod/cache; touch mod/cache/f; chmod 555 mod/cache; chmod 000 mod")
    await workspace.close(keep=False)
    assert not Path(workspace.path).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_file_is_said_and_counts_as_unchanged(workspace: Workspace) -> None:
    shell(workspace.path, "echo x > new; chmod 000 new; echo y > a.txt; chmod 000 a.txt; echo z > src/app.py")
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["src/app.py"]
    assert len(changes.warnings) == 2


async def test_work_after_a_clean_copy_does_not_reach_its_objects(workspace: Workspace) -> None:
    """The agent may overwrite its own object files; the start is kept elsewhere."""
    shell(
        workspace.path,
        "for f in $(find .git/objects -type f); do chmod u+w $f; echo garbage > $f; done; echo x > a.txt",
    )
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert Path(copy.path, "tests/test_app.py").read_text() == "assert x\n"
    git(copy.path, "fsck")
