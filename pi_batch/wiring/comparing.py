"""`pi-batch compare`: runs read, compared, and told as text, JSON, a page and an exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec.structs import replace

from pi_batch.encoders import workflow_safe
from pi_batch.errors import UsageError
from pi_batch.reports.comparison import comparison_json, comparison_text
from pi_batch.reports.html.comparison_page import comparison_page
from pi_batch.reports.write import write_report
from pi_batch.standard_streams import say
from pi_batch.statistics.comparison import Word, compare
from pi_batch.statistics.trials import Entrant, with_names
from pi_batch.wiring.entrants import pairs_of, read_source, split_word
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.wording import printable

FailOn = Literal["regression", "inconclusive"]

STDOUT: Final = Path("/dev/stdout")

EXIT_CODES: Final[Mapping[Word, int]] = {"PASS": 0, "REGRESSION": 1, "MISSING": 3, "INCONCLUSIVE": 5}
"""Without --fail-on, the exit code is the word."""


def compare_runs(
    words: Sequence[str],
    *,
    margin: float,
    fail_on: FailOn | None,
    seed: int,
    json_file: Path | None,
    html_file: Path | None,
) -> int:
    """Compare runs or models, write what was asked for; the exit code. Raises: UsageError, LogWriteError."""
    utf8_streams()
    pairs = [_named(pair) for pair in pairs_of([read_source(word) for word in words])]
    for file in (json_file, html_file):
        _refuse_source(file, words)
    found = compare(pairs, margin=margin, seed=seed)
    if json_file is not None:
        write_report(json_file, comparison_json(found).encode())
    if html_file is not None:
        write_report(html_file, comparison_page(found).encode())
    if STDOUT not in (json_file, html_file):
        text = comparison_text(found)
        say(workflow_safe(text) if Surroundings.of_process().is_ci else text)
    return exit_code(found.word, fail_on)


def _refuse_source(file: Path | None, words: Sequence[str]) -> None:
    """Raises: UsageError for a file that is one of those compared."""
    if file is None or not file.is_file():
        return
    for word in words:
        path, _ = split_word(word)
        if file.samefile(path / "run.json" if (path / "run.json").is_file() else path):
            raise UsageError(f"{printable(str(file))}: is what is compared; name another file")


def exit_code(word: Word, fail_on: FailOn | None) -> int:
    """What a word ends the program with; what is missing never passes a gate."""
    if word == "INCONCLUSIVE" and fail_on is not None:
        return 1 if fail_on == "inconclusive" else 0
    return EXIT_CODES[word]


def _named(pair: tuple[Entrant, Entrant]) -> tuple[Entrant, Entrant]:
    """Both with names that tell them apart."""
    a, b = with_names(pair)
    if a.run != b.run and a.model != b.model:
        return replace(a, name=f"{a.run}:{a.model}"), replace(b, name=f"{b.run}:{b.model}")
    return a, b
