"""What every sandbox does, over the room's tables."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import ValidationError, convert

from pi_batch.errors import SandboxError
from pi_batch.protocols import DirEntry
from pi_batch.sandboxes import FAKES, TABLE, load
from pi_batch.spec import TaskSpec
from tests.sandboxes.rigs import ALL_NAMES, EACH_NAME, Rig, started


@pytest.fixture(params=EACH_NAME)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    async with started(request.param, tmp_path) as rig:
        yield rig


def test_every_offered_name_can_be_written_in_a_spec_and_no_fake_can() -> None:
    for name in TABLE:
        assert convert({"id": "t", "prompt": "p", "sandbox": name}, TaskSpec).sandbox == name
    for name in FAKES:
        with pytest.raises(ValidationError, match="sandbox"):
            convert({"id": "t", "prompt": "p", "sandbox": name}, TaskSpec)


@pytest.mark.parametrize("name", ALL_NAMES)
def test_every_class_has_its_tables_name_and_says_what_isolates(name: str) -> None:
    sandbox = load(name)()
    assert sandbox.name == name
    assert isinstance(sandbox.layers, tuple)
    assert bool(sandbox.layers) == (name not in ("none", "fake"))


# --- commands -------------------------------------------------------------------------------------


async def test_both_streams_come_in_one_and_the_exit_code_is_told(rig: Rig) -> None:
    completed = await rig.run("echo out; echo err >&2")
    assert rig.printed == "out\nerr\n"
    assert (completed.exit_code, completed.signal, completed.timed_out) == (0, None, False)
    assert (await rig.run("exit 3")).exit_code == 3


async def test_a_signal_is_told_in_place_of_an_exit_code(rig: Rig) -> None:
    completed = await rig.run("kill -9 $$")
    assert (completed.exit_code, completed.signal, completed.timed_out) == (None, 9, False)


async def test_the_time_limit_ends_a_command_and_keeps_what_it_printed(rig: Rig) -> None:
    completed = await rig.run("echo before; sleep 1000", timeout_s=0.2)
    assert completed.timed_out
    assert completed.exit_code is None
    assert 0.2 <= completed.duration_s < 5
    assert rig.printed == "before\n"


async def test_a_cancelled_call_ends_soon(rig: Rig) -> None:
    call = asyncio.create_task(rig.run("echo before; sleep 1000", timeout_s=900))
    await asyncio.sleep(0.1)
    start = time.monotonic()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - start < 5


async def test_a_missing_program_and_a_missing_directory_are_told_apart(rig: Rig) -> None:
    async def call(program: str, cwd: str) -> None:
        await rig.sandbox.exec([program], cwd=cwd, env={}, timeout_s=9, on_output=rig.output.append)

    with pytest.raises(FileNotFoundError) as missing_program:
        await call("no-such-program", rig.root)
    assert missing_program.value.filename == "no-such-program"
    with pytest.raises(FileNotFoundError) as missing_directory:
        await call("sh", f"{rig.root}/gone")
    assert missing_directory.value.filename == f"{rig.root}/gone"


@pytest.mark.parametrize("name", ALL_NAMES)
async def test_nothing_runs_before_start_or_after_close(name: str, tmp_path: Path) -> None:
    async with started(name, tmp_path) as rig:
        await rig.run("true")
        await rig.sandbox.close()
        with pytest.raises(SandboxError, match="not open"):
            await rig.run("true")
        await rig.sandbox.close()
    with pytest.raises(SandboxError, match="not open"):
        await load(name)().exec(["true"], cwd="/", env={}, timeout_s=1, on_output=print)


# --- files ----------------------------------------------------------------------------------------


async def test_what_is_written_is_read_and_parents_are_made(rig: Rig) -> None:
    path = f"{rig.root}/deep/er/ü ☃.bin"
    await rig.sandbox.write(path, b"a\r\n\x00b")
    assert await rig.sandbox.read(path) == b"a\r\n\x00b"
    await rig.sandbox.write(path, b"")
    assert await rig.sandbox.read(path) == b""


async def test_reading_takes_an_offset_and_a_limit(rig: Rig) -> None:
    path = f"{rig.root}/f"
    await rig.sandbox.write(path, b"0123456789")
    assert await rig.sandbox.read(path, offset=3) == b"3456789"
    assert await rig.sandbox.read(path, offset=3, limit_bytes=4) == b"3456"
    assert await rig.sandbox.read(path, limit_bytes=0) == b""
    assert await rig.sandbox.read(path, offset=99) == b""


async def test_only_regular_files_are_read_and_written(rig: Rig) -> None:
    rig.pipe(f"{rig.root}/pipe")
    for path in (f"{rig.root}/pipe", rig.root):
        with pytest.raises(OSError, match=r"not a regular file|directory"):
            await asyncio.wait_for(rig.sandbox.read(path), 5)
        with pytest.raises(OSError, match=r"not a regular file|directory"):
            await asyncio.wait_for(rig.sandbox.write(path, b"x"), 5)
    with pytest.raises(FileNotFoundError):
        await rig.sandbox.read(f"{rig.root}/missing")


async def test_a_write_through_a_link_changes_what_it_points_to(rig: Rig) -> None:
    await rig.sandbox.write(f"{rig.root}/real", b"old")
    rig.link(f"{rig.root}/link", "real")
    rig.link(f"{rig.root}/dangling", "later/made")
    await rig.sandbox.write(f"{rig.root}/link", b"new")
    await rig.sandbox.write(f"{rig.root}/dangling", b"made")
    assert await rig.sandbox.read(f"{rig.root}/real") == b"new"
    assert await rig.sandbox.read(f"{rig.root}/later/made") == b"made"
    assert {entry.kind for entry in await rig.sandbox.list(rig.root) if entry.link_target} == {"link"}


async def test_stat_follows_links_and_gives_none_where_nothing_is(rig: Rig) -> None:
    await rig.sandbox.write(f"{rig.root}/f", b"12345")
    rig.link(f"{rig.root}/link", "f")
    rig.link(f"{rig.root}/dangling", "missing")
    rig.link(f"{rig.root}/circle", "circle")
    rig.pipe(f"{rig.root}/pipe")
    stat = await rig.sandbox.stat(f"{rig.root}/link")
    assert stat is not None
    assert (stat.kind, stat.size_bytes, stat.mode & 0o700) == ("file", 5, 0o600)
    for path, kind in ((rig.root, "directory"), (f"{rig.root}/pipe", "other")):
        found = await rig.sandbox.stat(path)
        assert found is not None
        assert found.kind == kind
    for missing in ("dangling", "circle", "missing", "f/below"):
        assert await rig.sandbox.stat(f"{rig.root}/{missing}") is None


async def test_a_change_shows_in_the_modification_time(rig: Rig) -> None:
    path = f"{rig.root}/f"
    await rig.sandbox.write(path, b"1")
    before = await rig.sandbox.stat(path)
    await asyncio.sleep(0.02)
    await rig.sandbox.write(path, b"2")
    after = await rig.sandbox.stat(path)
    assert before is not None
    assert after is not None
    assert after.mtime_ns > before.mtime_ns


async def test_a_list_is_sorted_and_tells_kinds_without_following_links(rig: Rig) -> None:
    for name in ("b", "a/x", ".hidden", "Z"):
        await rig.sandbox.write(f"{rig.root}/{name}", b"")
    rig.link(f"{rig.root}/to-a", "a")
    rig.pipe(f"{rig.root}/pipe")
    assert await rig.sandbox.list(rig.root) == [
        DirEntry(".hidden", "file"),
        DirEntry("Z", "file"),
        DirEntry("a", "directory"),
        DirEntry("b", "file"),
        DirEntry("pipe", "other"),
        DirEntry("to-a", "link", "a"),
    ]
    with pytest.raises(NotADirectoryError):
        await rig.sandbox.list(f"{rig.root}/b")
    with pytest.raises(FileNotFoundError):
        await rig.sandbox.list(f"{rig.root}/missing")


async def test_resolve_follows_links_before_dots_and_appends_what_is_missing(rig: Rig) -> None:
    await rig.sandbox.write(f"{rig.root}/real/sub/f", b"")
    rig.link(f"{rig.root}/link", "real/sub")
    rig.link(f"{rig.root}/dangling", "no/where")
    for path, real in (
        ("link/f", "real/sub/f"),
        ("link/../x", "real/x"),
        ("link/new/file", "real/sub/new/file"),
        ("missing/../f", "f"),
        ("dangling", "no/where"),
        ("./real//sub/", "real/sub"),
        ("real/sub/f/below", "real/sub/f/below"),
    ):
        assert await rig.sandbox.resolve(f"{rig.root}/{path}") == f"{rig.root}/{real}"
    assert await rig.sandbox.resolve("/../..") == "/"


async def test_resolve_refuses_circles_and_impossible_paths(rig: Rig) -> None:
    rig.link(f"{rig.root}/a", "b")
    rig.link(f"{rig.root}/b", "a")
    for path in ("a", "a/below", "missing/../a"):
        with pytest.raises(OSError, match=r"(?i)symbolic links") as circle:
            await rig.sandbox.resolve(f"{rig.root}/{path}")
        assert circle.value.errno == errno.ELOOP
    for path in ("relative", "/nul\0byte", ""):
        with pytest.raises(OSError, match="path"):
            await rig.sandbox.resolve(path)


async def test_a_file_cannot_be_made_below_a_file(rig: Rig) -> None:
    await rig.sandbox.write(f"{rig.root}/f", b"")
    with pytest.raises(OSError, match=r"(?i)directory|exists"):
        await rig.sandbox.write(f"{rig.root}/f/below", b"x")
