"""Mirrors: fetched once, shared, brought up to date, mended."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.repository_address import address_of
from tests.workspaces.mirroring import Counting, Forge
from tests.workspaces.repositories import git, make_repository, state_of


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


async def test_fifty_tasks_over_one_repository_ask_and_fetch_once(forge: Forge) -> None:
    mirrors = forge.mirrors()
    found = await asyncio.gather(*(mirrors.get(forge.address) for _ in range(50)))
    assert Counting.calls == ["ls-remote", "fetch"]
    assert len({mirror.git_dir for mirror in found}) == 1


@pytest.mark.slow
async def test_a_later_run_fetches_only_what_is_new(forge: Forge) -> None:
    await forge.mirror()
    Counting.calls.clear()
    await forge.mirror()
    assert Counting.calls == ["ls-remote"]
    moved = forge.push({"a.txt": "two\n"})
    mirror = await forge.mirror()
    assert Counting.calls == ["ls-remote", "ls-remote", "fetch"]
    assert (await mirror.position(None)).commit == moved


@pytest.mark.slow
async def test_a_branch_a_tag_a_commit_or_head(forge: Forge) -> None:
    first = git(forge.work, "rev-parse", "HEAD")
    git(forge.work, "tag", "-a", "-m", "one", "v1")
    other = forge.push({"a.txt": "other\n"}, branch="topic/x")
    git(forge.work, "push", "-q", "origin", "v1")
    mirror = await forge.mirror()
    found = {
        ref: await mirror.position(ref) for ref in (None, "HEAD", "main", "topic/x", "v1", first[:9], other)
    }
    assert {ref: at.commit for ref, at in found.items()} == {
        None: first,
        "HEAD": first,
        "main": first,
        "topic/x": other,
        "v1": first,
        first[:9]: first,
        other: other,
    }
    assert {ref: at.branch for ref, at in found.items() if at.branch} == {
        None: "refs/heads/main",
        "HEAD": "refs/heads/main",
        "main": "refs/heads/main",
        "topic/x": "refs/heads/topic/x",
    }


@pytest.mark.slow
async def test_a_commit_that_no_branch_leads_to_is_asked_for_by_itself(forge: Forge) -> None:
    hidden = forge.push({"a.txt": "hidden\n"}, branch="gone")
    git(forge.bare, "update-ref", "refs/pull/7/head", hidden)
    git(forge.bare, "update-ref", "-d", "refs/heads/gone")
    mirror = await forge.mirror()
    assert (await mirror.position("refs/pull/7/head")).commit == hidden
    git(forge.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    assert (await mirror.position(hidden)).commit == hidden


async def test_a_ref_that_is_not_there_is_named_with_what_is(forge: Forge) -> None:
    mirror = await forge.mirror()
    for ref in ("mian", "f" * 40, "refs/pull/1/head", "abcdef1"):
        with pytest.raises(WorkspaceError, match=f"no branch, tag or commit '{ref}'"):
            await mirror.position(ref)
    with pytest.raises(WorkspaceError, match="did you mean 'main'"):
        await mirror.position("mian")


async def test_what_cannot_be_fetched_is_one_line_and_asked_once(forge: Forge) -> None:
    mirrors = forge.mirrors()
    for _ in range(2):
        with pytest.raises(
            WorkspaceError, match=r"^/nowhere/x.git: cannot be fetched: '/nowhere/x.git' does not"
        ):
            await mirrors.get(address_of("/nowhere/x.git"))
    assert Counting.calls == ["ls-remote"]


@pytest.mark.slow
async def test_a_repository_without_a_commit_is_said_so(forge: Forge) -> None:
    git(forge.base, "init", "-q", "--bare", "empty.git")
    with pytest.raises(WorkspaceError, match=r"empty.git: has no commit yet$"):
        await forge.mirrors().get(address_of(str(forge.base / "empty.git")))


@pytest.mark.slow
async def test_a_branch_that_was_rewritten_or_removed_is_followed(forge: Forge) -> None:
    forge.push({"a.txt": "x\n"}, branch="topic")
    await forge.mirror()
    git(forge.work, "reset", "-q", "--hard", "HEAD^")
    rewritten = forge.push({"a.txt": "rewritten\n"}, branch="main")
    git(forge.bare, "update-ref", "-d", "refs/heads/topic")
    forge.push({"b.txt": "x\n"}, branch="topic/now-a-directory")
    mirror = await forge.mirror()
    assert (await mirror.position("main")).commit == rewritten
    with pytest.raises(WorkspaceError, match="'topic'"):
        await mirror.position("topic")


@pytest.mark.slow
async def test_what_a_killed_fetch_left_is_cleared_away(forge: Forge) -> None:
    mirror = await forge.mirror()
    for name in ("packed-refs.lock", "refs/heads/main.lock", "shallow.lock", "objects/pack/tmp_pack_x"):
        (mirror.git_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror.git_dir / name).write_bytes(b"half")
    moved = forge.push({"a.txt": "two\n"})
    again = await forge.mirror()
    assert (await again.position(None)).commit == moved
    assert not [*mirror.git_dir.glob("**/*.lock"), *mirror.git_dir.glob("objects/pack/tmp_*")]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["no head", "no packs", "a file", "rubbish"])
async def test_a_broken_mirror_is_made_anew(forge: Forge, damage: str) -> None:
    mirror = await forge.mirror()
    match damage:
        case "no head":
            (mirror.git_dir / "HEAD").unlink()
        case "no packs":
            shutil.rmtree(mirror.git_dir / "objects" / "pack")
        case "a file":
            shutil.rmtree(mirror.git_dir)
            mirror.git_dir.write_text("no directory")
        case _:
            for pack in (mirror.git_dir / "objects" / "pack").glob("*.pack"):
                pack.chmod(0o644)
                pack.write_bytes(b"rubbish")
    moved = forge.push({"a.txt": "two\n"})
    again = await forge.mirror()
    assert (await again.position(None)).commit == moved
    assert (await again.checkout(await again.position(None))).head is not None


@pytest.mark.slow
async def test_runs_at_the_same_time_share_a_mirror(forge: Forge) -> None:
    found = await asyncio.gather(*(forge.mirrors().get(forge.address) for _ in range(4)))
    commits = {(await mirror.position(None)).commit for mirror in found}
    assert commits == {git(forge.work, "rev-parse", "HEAD")}


@pytest.mark.slow
async def test_the_other_repository_is_not_changed(forge: Forge) -> None:
    before = state_of(forge.bare)
    mirror = await forge.mirror()
    await mirror.position("main")
    assert state_of(forge.bare) == before


@pytest.mark.slow
async def test_a_work_tree_a_shallow_clone_and_a_detached_head_are_repositories_too(forge: Forge) -> None:
    forge.push({"a.txt": "two\n"})
    shallow = forge.base / "shallow"
    git(forge.base, "clone", "-q", "--depth", "1", f"file://{forge.bare}", str(shallow))
    git(shallow, "checkout", "-q", "--detach")
    head = git(shallow, "rev-parse", "HEAD")
    git(shallow, "branch", "-D", "main", "-q")
    mirror = await forge.mirrors().get(address_of(str(shallow)))
    at = await mirror.position(None)
    assert (at.commit, at.branch) == (head, None)
    assert (await mirror.checkout(at)).shallow


@pytest.mark.slow
async def test_repositories_with_sha256_ids(forge: Forge) -> None:
    other = make_repository(forge.base / "other", {"a": "b"}, "--object-format=sha256")
    mirror = await forge.mirrors().get(address_of(str(other)))
    at = await mirror.position("main")
    assert len(at.commit) == 64
    assert (await mirror.checkout(at)).object_format == "sha256"


@pytest.mark.slow
async def test_a_directory_of_mirrors_that_cannot_be_made_is_one_line(forge: Forge) -> None:
    (forge.base / "mirrors").write_text("a file")
    with pytest.raises(WorkspaceError, match="mirrors"):
        await forge.mirror()


@pytest.mark.slow
async def test_nothing_that_a_repository_says_of_itself_is_run(forge: Forge) -> None:
    evil = forge.base / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {forge.base}/ran\n")
    evil.chmod(0o755)
    git(forge.work, "reset", "-q", "--hard")
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ):
        git(forge.work, "config", key, str(evil))
    git(forge.work, "config", "core.hooksPath", str(forge.base / "hooks"))
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        (forge.base / "hooks").mkdir(exist_ok=True)
        shutil.copy(evil, forge.base / "hooks" / hook)
    mirror = await forge.mirrors().get(address_of(str(forge.work)))
    at = await mirror.position("main")
    assert (await mirror.checkout(at)).head is not None
    assert not (forge.base / "ran").exists()
