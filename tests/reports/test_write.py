"""Report files are written whole, where they were asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.errors import LogWriteError
from pi_batch.fold import fold
from pi_batch.redact import Masker
from pi_batch.reports.junit import JUnit
from pi_batch.reports.write import ReportWriter, write_report, write_run_reports
from tests.clocks import FakeClock
from tests.reports.batches import hostile, one_of_everything
from tests.streams import Stream


def test_a_run_directory_gets_run_json_and_junit_xml(tmp_path: Path) -> None:
    write_run_reports(tmp_path, one_of_everything())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["junit.xml", "run.json"]
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["run_id"] == "run-1"


def test_other_reports_go_where_they_were_asked_for(tmp_path: Path) -> None:
    extra = {
        "junit": tmp_path / "made" / "for it" / "j.xml",
        "markdown": tmp_path / "r.md",
        "json": tmp_path / "r.json",
    }
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    write_run_reports(run_dir, one_of_everything(), extra)
    assert (tmp_path / "made/for it/j.xml").read_bytes() == (run_dir / "junit.xml").read_bytes()
    assert (tmp_path / "r.json").read_bytes() == (run_dir / "run.json").read_bytes()
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("## pi-batch")


def test_logs_of_the_run_directory_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "tasks" / "red" / "verify-1-tests.log"
    log.parent.mkdir(parents=True)
    log.write_text("second-line", encoding="utf-8")
    write_run_reports(tmp_path, one_of_everything(), {"markdown": tmp_path / "r.md"})
    assert "second-line" in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "second-line" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_rewriting_replaces_the_whole_file(tmp_path: Path) -> None:
    write_run_reports(tmp_path, one_of_everything())
    before = (tmp_path / "junit.xml").read_bytes()
    write_run_reports(tmp_path, hostile())
    assert (tmp_path / "junit.xml").read_bytes() != before
    write_run_reports(tmp_path, one_of_everything())
    assert (tmp_path / "junit.xml").read_bytes() == before


def test_secrets_stand_in_no_report(tmp_path: Path) -> None:
    secret = "sk-ant-VERY-SECRET-0001"
    extra = {"markdown": tmp_path / "r.md"}
    write_run_reports(tmp_path, hostile(f"before {secret} after"), extra, mask=Masker([secret]))
    for path in tmp_path.iterdir():
        text = path.read_text(encoding="utf-8")
        assert secret not in text
        assert "before *** after" in text


@pytest.mark.parametrize(
    "word", ["testcase", "interrupted", "max_turns", "verification", "outcome", "results"]
)
def test_a_secret_that_is_a_word_of_ours_breaks_no_report(tmp_path: Path, word: str) -> None:
    write_run_reports(tmp_path, one_of_everything(), mask=Masker([word]))
    document = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert document["status"] == "interrupted"
    assert [result["outcome"] for result in document["results"]].count("failed") == 3
    assert len((tmp_path / "junit.xml").read_text(encoding="utf-8")) > len(JUnit().render(hostile("x")))


def test_a_directory_that_cannot_be_made_is_one_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(LogWriteError, match=r"file/j\.xml: cannot be written"):
        write_run_reports(tmp_path, one_of_everything(), {"junit": tmp_path / "file" / "j.xml"})


def test_a_directory_in_a_files_place_is_one_plain_error(tmp_path: Path) -> None:
    with pytest.raises(LogWriteError, match=r"cannot be written: Is a directory$"):
        write_report(tmp_path, b"x")


def test_a_directory_in_a_files_place_is_found_at_the_first_writing(tmp_path: Path) -> None:
    batch = replace(one_of_everything(), status="running")
    with pytest.raises(LogWriteError, match="Is a directory"):
        write_run_reports(tmp_path, batch, {"json": tmp_path})


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.xml").symlink_to(tmp_path / "real.xml")
    write_report(tmp_path / "link.xml", b"x")
    assert (tmp_path / "link.xml").is_symlink()
    assert (tmp_path / "real.xml").read_bytes() == b"x"


def test_a_loop_of_links_is_one_plain_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(LogWriteError, match="cannot be written"):
        write_report(tmp_path / "a", b"x")


def test_standard_output_as_a_file_is_written_into_and_not_replaced() -> None:
    code = (
        "from pathlib import Path; from pi_batch.reports.write import write_report;"
        "write_report(Path('/dev/stdout'), b'report')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"report"


def test_a_pipe_gets_the_last_state_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_run_reports(tmp_path, fold(Stream("a").records), {"junit": pipe})
        write_run_reports(tmp_path, fold(Stream("a").finish().records), {"junit": pipe})
        assert os.read(handle, 100_000) == (tmp_path / "junit.xml").read_bytes()
    finally:
        os.close(handle)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no /dev/shm for us")
def test_a_file_in_shared_memory_is_a_file_like_others() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for content in (b"first", b"second"):
            write_report(Path(folder) / "r.xml", content)
        assert (Path(folder) / "r.xml").read_bytes() == b"second"


# --- after every task -----------------------------------------------------------------------------


class SlowClock(FakeClock):
    """A clock that goes on by itself each time it is read, as if every write took that long."""

    step_s = 0.0

    def monotonic(self) -> float:
        self.advance(self.step_s)
        return super().monotonic()


RUNNING, ENDED = fold(Stream("a").records), fold(Stream("a").finish().records)


def test_reports_of_tasks_that_end_together_are_written_once(tmp_path: Path) -> None:
    clock = FakeClock()
    writer = ReportWriter(tmp_path, clock)
    assert writer.pause_s() == 0
    writer.write(RUNNING)
    assert writer.pause_s() == pytest.approx(0.25)
    clock.advance(0.25)
    assert writer.pause_s() == pytest.approx(0)


def test_reports_that_take_long_take_a_tenth_of_the_time(tmp_path: Path) -> None:
    clock = SlowClock()
    writer = ReportWriter(tmp_path, clock)
    clock.step_s = 2.0
    writer.write(RUNNING)
    clock.step_s = 0.0
    assert writer.pause_s() == pytest.approx(18.0)
    writer.write(ENDED)
    assert (tmp_path / "run.json").exists()
