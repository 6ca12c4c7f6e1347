"""Results and words for people, on streams that are closed, full or left by their reader."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pi_batch.standard_streams import say, tell

SAY = (
    "from pi_batch.standard_streams import say, tell\n"
    "from pi_batch.errors import LogWriteError\n"
    "try:\n    say('result\\n'); tell('fine')\n"
    "except LogWriteError as error:\n    tell(error); raise SystemExit(3)"
)


def run(redirection: str) -> subprocess.CompletedProcess[str]:
    """Say and tell something, with streams as a shell was asked for."""
    command = f'"$0" -c "$1" {redirection}'
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command, sys.executable, SAY],
        capture_output=True,
        text=True,
        check=False,
    )


def test_results_and_words_go_their_own_ways(capsys: pytest.CaptureFixture[str]) -> None:
    say("result\n")
    tell("word")
    assert capsys.readouterr() == ("result\n", "word\n")


def test_a_full_standard_output_is_an_error_said_once() -> None:
    done = run("> /dev/full")
    assert done.returncode == 3
    assert done.stderr == "standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("redirection", [">&-", "| true", "| sleep 0", "2>/dev/full", "2>&-", ">&- 2>&- <&-"])
def test_what_nobody_reads_is_no_error(redirection: str) -> None:
    done = run(redirection)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_words_never_go_where_results_are() -> None:
    assert run("2>&-").stdout == "result\n"
