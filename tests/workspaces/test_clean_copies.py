"""Protected content is in place in the clean copy, by whatever trick it was replaced."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from pi_batch.protocols import Workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import files_of, git, make_repository, shell, write

pytestmark = pytest.mark.slow

START: dict[str, str | bytes] = {
    "src/app.py": "x = 1\n",
    "tests/test_app.py": "assert x == 2\n",
    "tests/unit/test_unit.py": "assert True\n",
    "tests/data/big.json": "{}\n",
    "Makefile": "test:\n\tpytest\n",
    "conftest.py": "",
}
PROTECT = ["tests/**", "Makefile", "conftest.py"]
PROTECTED = {name: content for name, content in START.items() if name != "src/app.py"}


@pytest.fixture
async def workspace(tmp_path: Path, opened: Opener) -> Workspace:
    return await opened("clone", make_repository(tmp_path / "proj", START))


TRICKS = {
    "edits": "echo cheat > tests/test_app.py; echo cheat > conftest.py",
    "deletes": "rm -r tests conftest.py Makefile",
    "adds": "touch tests/conftest.py tests/unit/new.py tests/unit/sub.py",
    "moves the directory away": "git mv tests checks",
    "replaces the directory by a link": "mv tests fakes; echo cheat > fakes/test_app.py; ln -s fakes tests",
    "replaces the directory by a link to elsewhere": "rm -r tests; ln -s /tmp tests",
    "replaces the directory by a file": "rm -r tests; echo cheat > tests",
    "replaces an inner directory by a link": "mv tests/unit other; ln -s ../other tests/unit",
    "replaces a file by a directory": "rm conftest.py; mkdir conftest.py; echo c > conftest.py/__init__.py",
    "replaces a file by a link": "cd tests; mv test_app.py ../c.py; echo c >> ../c.py; "
    "ln -s ../c.py test_app.py",
    "makes a file executable": "chmod +x tests/test_app.py",
    "adds a name with a line feed": "cd tests; touch $'a\\nb.py'; mkdir $'\\n'; touch $'\\n/conftest.py'",
    "adds another case": "echo cheat > makefile; echo cheat > Conftest.py",
    "adds a link of another case": "mkdir fakes; touch fakes/test_app.py; ln -s fakes Tests",
    "hides it in another repository": "cd tests; git init -q; echo cheat > test_app.py; git add .",
    "ignores it": "echo tests > .gitignore; echo cheat > tests/test_app.py",
    "commits it": "echo cheat > tests/test_app.py; git commit -qam cheat",
    "adds a nested one": "mkdir -p src/deep; echo cheat > src/deep/conftest.py",
}


@pytest.mark.parametrize("trick", TRICKS)
async def test_protected_content_is_in_place_and_what_was_put_back_is_named(
    workspace: Workspace, trick: str
) -> None:
    shell(workspace.path, TRICKS[trick])
    copy = await workspace.clean_copy("patched", PROTECT)
    found = files_of(copy.path)
    assert {name: found.get(name) for name in PROTECTED} == {
        name: content.encode() if isinstance(content, str) else content for name, content in PROTECTED.items()
    }
    extra = {name for name in found if name.startswith("tests/")} - PROTECTED.keys()
    assert extra == set()
    assert "src/deep/conftest.py" not in found
    assert not {"makefile", "Conftest.py", "Tests"} & found.keys()
    assert not Path(copy.path, "tests").is_symlink()
    assert not os.access(Path(copy.path, "tests/test_app.py"), os.X_OK)
    changes = await workspace.changes(PROTECT)
    assert changes.protected_touched != ()
    assert list(changes.protected_touched) == sorted(set(changes.protected_touched))


async def test_unprotected_work_is_all_there(workspace: Workspace) -> None:
    shell(
        workspace.path,
        "echo 'x = 2' > src/app.py; mkdir -p docs; echo d > docs/d; ln -s ../src/app.py docs/link;"
        "rm -r tests;"
        "chmod +x src/app.py; printf '\\0\\1' > bin; echo n > $'new\\nline'",
    )
    copy = await workspace.clean_copy("patched", PROTECT)
    found = files_of(copy.path)
    assert {name: found[name] for name in found if name not in PROTECTED} == {
        "src/app.py": b"x = 2\n",
        "docs/d": b"d\n",
        "docs/link": b"-> ../src/app.py",
        "bin": b"\0\1",
        "new\nline": b"n\n",
    }
    assert os.access(Path(copy.path, "src/app.py"), os.X_OK)


async def test_without_protection_the_copy_is_the_workspace(workspace: Workspace) -> None:
    shell(workspace.path, "rm -r tests; ln -s src tests; echo 'x = 2' > src/app.py")
    copy = await workspace.clean_copy("patched", [])
    assert files_of(copy.path) == files_of(workspace.path)


async def test_a_lifted_path_keeps_the_agents_content(workspace: Workspace) -> None:
    shell(workspace.path, "echo '{\"new\": 1}' > tests/data/big.json; echo cheat > tests/test_app.py")
    copy = await workspace.clean_copy("patched", ["tests/**", "!tests/data/**"])
    assert Path(copy.path, "tests/data/big.json").read_text() == '{"new": 1}\n'
    assert Path(copy.path, "tests/test_app.py").read_text() == "assert x == 2\n"


async def test_a_link_of_the_start_protects_what_it_names(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(
        tmp_path / "p", {"src/tests/test_a.py": "assert 1\n", "src/a.py": "", "shared/t.py": "1\n"}
    )
    shell(source, "ln -s src/tests tests; ln -s ../../shared/t.py src/tests/t.py; ln -s tests checks")
    workspace = await opened("clone", source)
    shell(workspace.path, "echo cheat > src/tests/test_a.py; echo cheat > shared/t.py; echo ok > src/a.py")
    changes = await workspace.changes(["checks/**"])
    assert changes.protected_touched == ("shared/t.py", "src/tests/test_a.py")
    copy = await workspace.clean_copy("patched", ["checks/**"])
    found = files_of(copy.path)
    assert (found["src/tests/test_a.py"], found["shared/t.py"]) == (b"assert 1\n", b"1\n")
    assert found["src/a.py"] == b"ok\n"


async def test_globs_are_relative_to_the_workspace_and_not_to_the_repository(
    tmp_path: Path, opened: Opener
) -> None:
    source = make_repository(tmp_path / "p", {"sub/tests/t.py": "1\n", "tests/t.py": "1\n"})
    workspace = await opened("clone", source / "sub")
    shell(workspace.path, "echo 2 > tests/t.py; echo 2 > ../tests/t.py")
    assert (await workspace.changes(["/tests/**"])).protected_touched == ("tests/t.py",)
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert Path(copy.path, "tests/t.py").read_text() == "1\n"
    assert Path(copy.path, "../tests/t.py").read_text() == "2\n"


async def test_a_workspace_replaced_by_a_link_still_has_its_protected_files(
    tmp_path: Path, opened: Opener
) -> None:
    source = make_repository(tmp_path / "p", {"sub/tests/t.py": "1\n", "other/tests/t.py": "cheat\n"})
    workspace = await opened("clone", source / "sub")
    shell(Path(workspace.path).parent, "rm -r sub; ln -s other sub")
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert Path(copy.path, "tests/t.py").read_text() == "1\n"
    assert not Path(copy.path).is_symlink()


@pytest.mark.parametrize("deed", ["rm -r sub; ln -s /tmp sub", "rm -r sub; echo file > sub", "rm -r sub"])
async def test_the_path_of_a_copy_is_a_directory_in_the_copy(
    tmp_path: Path, opened: Opener, deed: str
) -> None:
    workspace = await opened(
        "clone", make_repository(tmp_path / "p", {"sub/deep/t.py": "1\n"}) / "sub" / "deep"
    )
    shell(Path(workspace.path, "../.."), deed)
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path).is_dir()
    assert Path(copy.path) == Path(copy.path).resolve()


# --- links that lead back ---


async def test_absolute_links_into_the_agents_directory_lead_into_the_copy(workspace: Workspace) -> None:
    shell(
        workspace.path,
        'mkdir -p a/b; ln -s "$PWD/src/app.py" a/b/file; ln -s "$PWD" a/b/top; ln -s "../../w/proj/src" up;'
        "ln -s ../../../w/proj/src a/b/around; ln -s /usr/bin/env elsewhere",
    )
    copy = await workspace.clean_copy("patched", PROTECT)
    found = files_of(copy.path)
    assert found["a/b/file"] == b"-> ../../src/app.py"
    assert found["a/b/top"] == b"-> ../.."
    assert found["elsewhere"] == b"-> /usr/bin/env"
    for name in ("a/b/file", "a/b/top", "up"):
        assert (
            str(Path(copy.path, name).resolve()).startswith(copy.path) or not Path(copy.path, name).exists()
        )


async def test_a_link_that_climbs_to_the_agents_directory_leads_into_the_copy(workspace: Workspace) -> None:
    shell(workspace.path, "ln -s ../../w/proj/src sneaky; mkdir d; ln -s ../../proj/src d/other")
    copy = await workspace.clean_copy("patched", [])
    found = files_of(copy.path)
    assert (found["sneaky"], found["d/other"]) == (b"-> src", b"-> ../src")


async def test_a_link_over_a_stepping_stone_outside_is_left_out_and_said(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "stone").symlink_to(workspace.path)
    shell(workspace.path, f"ln -s '{tmp_path}/stone/src' sneaky; ln -s '{workspace.source}' user; touch good")
    changes = await workspace.changes([])
    assert [text for text in changes.warnings if "'sneaky'" in text and "'user'" in text]
    assert b"sneaky" in changes.patch
    copy = await workspace.clean_copy("patched", [])
    assert {"sneaky", "user", "good"} & files_of(copy.path).keys() == {"good"}


async def test_files_of_the_start_are_read_through_links_that_stay_inside(
    tmp_path: Path, opened: Opener
) -> None:
    source = make_repository(tmp_path / "p", {"sub/cfg": "1\n"})
    shell(
        source / "sub",
        "ln -s cfg l; ln -s ../sub/l ll; ln -s /etc/hostname out; ln -s r r; ln -s gone dangling",
    )
    workspace = await opened("clone", source / "sub")
    found = [
        await workspace.start_file(name) for name in ("l", "ll", "../sub/ll", "out", "r", "dangling", "../..")
    ]
    assert found == [b"1\n", b"1\n", b"1\n", None, None, None, None]


# --- git in the clean copy ---


async def test_git_says_in_the_copy_what_it_says_in_the_workspace(workspace: Workspace) -> None:
    shell(workspace.path, "echo 'x = 2' > src/app.py; touch new; rm conftest.py")
    copy = await workspace.clean_copy("patched", [])
    say = "git status --porcelain; git log --format=%H; git branch -a; git diff"
    assert shell(copy.path, say) == shell(workspace.path, say)
    git(copy.path, "fsck", "--strict")


async def test_checks_that_commit_or_stash_in_the_copy_touch_nothing_else(workspace: Workspace) -> None:
    copy = await workspace.clean_copy("patched", [])
    shell(
        copy.path,
        "echo y > src/app.py; git stash -q; git commit -q --allow-empty -m z; git gc -q --prune=now",
    )
    assert (await workspace.changes([])).patch == b""
    again = await workspace.clean_copy("start", [])
    assert git(again.path, "log", "--format=%s") == "first"


async def test_the_start_of_a_checkout_with_uncommitted_work_is_in_the_copy(
    tmp_path: Path, opened: Opener
) -> None:
    source = make_repository(tmp_path / "p", {"src/app.py": "x = 1\n"})
    write(source, {"tests/test_new.py": "assert False\n"})
    workspace = await opened("clone", source)
    write(Path(workspace.path), {"tests/test_new.py": "assert True\n"})
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert Path(copy.path, "tests/test_new.py").read_text() == "assert False\n"
    assert git(copy.path, "status", "--porcelain") == ""


async def test_copies_run_side_by_side(workspace: Workspace) -> None:
    shell(workspace.path, "echo 'x = 2' > src/app.py")
    await workspace.changes([])
    copies = await asyncio.gather(*(workspace.clean_copy("patched", PROTECT) for _ in range(4)))
    assert len({copy.path for copy in copies}) == 4
    assert all(Path(copy.path, "src/app.py").read_text() == "x = 2\n" for copy in copies)
