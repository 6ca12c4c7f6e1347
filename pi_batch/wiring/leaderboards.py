"""`pi-batch report --leaderboard`: all models of one or several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pi_batch.encoders import workflow_safe
from pi_batch.errors import UsageError
from pi_batch.reports.html.leaderboard_page import leaderboard_page
from pi_batch.reports.leaderboard import leaderboard_csv, leaderboard_json, leaderboard_text
from pi_batch.reports.write import write_report
from pi_batch.standard_streams import say
from pi_batch.statistics.standing import Leaderboard, leaderboard
from pi_batch.statistics.trials import Entrant, with_names
from pi_batch.wiring.entrants import read_source
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.wording import quoted

SUFFIXES = (".html", ".csv", ".json", ".txt")


def write_leaderboards(words: Sequence[str], files: Sequence[Path]) -> None:
    """One board of all models that the words name, in the form that each file's suffix says.

    Raises: UsageError, LogWriteError.
    """
    utf8_streams()
    for file in files:
        if str(file) != "-" and file.suffix.lower() not in SUFFIXES:
            raise UsageError(f"--leaderboard {quoted(str(file))}: need a file in {', '.join(SUFFIXES)}, or -")
    entrants = with_names([one for word in words for one in read_source(word).entrants])
    board = leaderboard(entrants)
    for file in files:
        if str(file) == "-":
            text = leaderboard_text(board)
            say(workflow_safe(text) if Surroundings.of_process().is_ci else text)
        else:
            write_report(file, _rendered(file, board, entrants).encode("utf-8"))


def _rendered(file: Path, board: Leaderboard, entrants: Sequence[Entrant]) -> str:
    match file.suffix.lower():
        case ".html":
            return leaderboard_page(board)
        case ".csv":
            return leaderboard_csv(board)
        case ".json":
            return leaderboard_json(board, entrants)
        case _:
            return leaderboard_text(board)
