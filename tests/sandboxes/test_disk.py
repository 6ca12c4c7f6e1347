"""What a task writes is counted: files with names and without, each once, from the start on."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pi_batch.sandboxes import load
from pi_batch.sandboxes.disk import COUNT_AGAIN_S, DiskWatch
from pi_batch.sandboxes.limits import Limits
from tests.sandboxes.rigs import PATH, place_in, works

MIB = 1 << 20
WALLED = [
    pytest.param(name, marks=pytest.mark.skipif(not works(name), reason=f"no {name} here"))
    for name in ("bwrap", "landlock")
]


def watch(tmp_path: Path, *, most_bytes: int = MIB, most_files: int = 1000) -> DiskWatch:
    """A watch over an empty directory; what was there before is older than any clock is coarse."""
    (tmp_path / "root").mkdir(exist_ok=True)
    time.sleep(0.02)
    return DiskWatch([str(tmp_path / "root")], most_bytes, most_files)


def fill(path: Path, size: int = 2 * MIB) -> Path:
    path.write_bytes(b"x" * size)
    return path


def test_it_is_counted_now_and_then_whatever_others_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    disk = watch(tmp_path, most_bytes=1 << 60)
    assert not disk.may_be_over()
    now_s[0] += COUNT_AGAIN_S
    assert disk.may_be_over()
    assert disk.complaint() == ""
    assert not disk.may_be_over(), "it was counted just now"


def test_bytes_beyond_the_limit_are_said_with_both_figures(tmp_path: Path) -> None:
    disk = watch(tmp_path)
    assert disk.complaint() == ""
    fill(tmp_path / "root" / "a")
    assert disk.complaint() == "its files have grown by 2 MiB, more than 1 MiB"


def test_what_was_there_before_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    fill(tmp_path / "root" / "old")
    disk = watch(tmp_path)
    assert disk.complaint() == ""
    fill(tmp_path / "beside")
    assert disk.complaint() == ""


def test_a_file_of_two_names_counts_once_and_links_lead_nowhere(tmp_path: Path) -> None:
    disk = watch(tmp_path, most_bytes=3 * MIB)
    os.link(fill(tmp_path / "root" / "a"), tmp_path / "root" / "b")
    (tmp_path / "root" / "c").symlink_to("/usr")
    assert disk.complaint() == ""


def test_many_files_are_too_much_however_small(tmp_path: Path) -> None:
    disk = watch(tmp_path, most_files=50)
    for number in range(60):
        (tmp_path / "root" / str(number)).touch()
    assert disk.complaint() == "it has made 60 files, more than 50"


def test_a_file_without_a_name_counts_while_a_process_holds_it(tmp_path: Path) -> None:
    disk = watch(tmp_path)
    path = fill(tmp_path / "root" / "a")
    with path.open("rb"):
        path.unlink()
        assert disk.complaint() == ""
        assert "more than 1 MiB" in disk.complaint([os.getpid()])


def test_after_an_ending_there_is_room_to_clean_up(tmp_path: Path) -> None:
    disk = watch(tmp_path)
    fill(tmp_path / "root" / "a")
    assert disk.complaint()
    assert disk.complaint() == ""
    fill(tmp_path / "root" / "b")
    assert disk.complaint()


def test_a_file_system_that_is_as_full_as_before_is_not_counted_through(tmp_path: Path) -> None:
    assert not watch(tmp_path, most_bytes=1 << 40, most_files=1 << 30).may_be_over()
    assert not DiskWatch(["/no/such/place"], 1, 1).may_be_over()


@pytest.mark.slow
@pytest.mark.parametrize("name", WALLED)
@pytest.mark.parametrize(
    "script",
    ["while :; do head -c 20M /dev/zero >> f; done", "i=0; while :; do i=$((i+1)); : > $i; done"],
)
async def test_a_command_that_fills_the_disk_is_ended_and_told_and_the_next_one_runs(
    tmp_path: Path, name: str, script: str
) -> None:
    place = place_in(tmp_path)
    sandbox = load(name)(place, Limits(disk_bytes=100 * MIB, files=2000))
    await sandbox.start()
    output: list[bytes] = []

    async def run(script: str) -> int | None:
        done = await sandbox.exec(
            ["bash", "-c", script], cwd=place.root, env={"PATH": PATH}, timeout_s=30, on_output=output.append
        )
        assert not done.timed_out
        return done.exit_code

    try:
        assert await run(script) is None
        assert b"ended by pi-batch: it" in b"".join(output)
        with pytest.raises(OSError, match="more than"):
            await sandbox.write(f"{place.root}/more", b"x")
        assert await run("rm -rf ./*; echo fine") == 0
        await sandbox.write(f"{place.root}/more", b"x")
    finally:
        await sandbox.close()
