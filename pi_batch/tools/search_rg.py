r"""Matching lines of files by ripgrep, where it is there: the same as `search_lines` gives, much faster.

Known to differ: what `.`, `\s` and the like make of bytes that are not UTF-8, and of a carriage return
inside a line. An expression that ripgrep refuses (look-around, back-references) is tried with Python's.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from pi_batch.tools.search_lines import Line, PatternError

BATCH_FILES = 2000
BATCH_CHARS = 100_000
"""Of paths in one call: well below what any system takes as arguments."""


class FileLines:
    """What ripgrep found in one file."""

    __slots__ = ("has_nul", "lines", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[Line] = []
        self.has_nul = False
        """Then line numbers may be off: look again without ripgrep."""


def search_files(
    rg: str, paths: Sequence[str], pattern: str, *, options: Sequence[str], most: int
) -> list[FileLines]:
    """Search the named files, in the order given. Raises: PatternError; OSError when it can't be run.

    No config file, no ignore rules (the files are chosen already), lines end at a newline.
    """
    argv = [rg, "--no-config", "--json", "--no-ignore", "--hidden", "--crlf", "--no-messages"]
    argv += [f"--max-count={most}", *options, f"--regexp={pattern}", "--", *paths]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    found: dict[str, FileLines] = {}
    is_whole = False
    for line in done.stdout.split(b"\n"):
        if line:
            is_whole = _take(json.loads(line), found) or is_whole
    if not is_whole:  # ripgrep ends without a summary only when the pattern is refused
        raise PatternError(done.stderr.decode("utf-8", "replace").strip()[:1000] or "ripgrep failed")
    return [found[path] for path in paths if path in found]


def options_for(*, is_literal: bool, ignores_case: bool, context: int) -> list[str]:
    """The options that stand for grep's arguments."""
    options = ["--fixed-strings"] if is_literal else []
    options += ["--ignore-case"] if ignores_case else ["--case-sensitive"]
    return [*options, f"--context={context}"]


def batches(paths: Iterator[str]) -> Iterator[list[str]]:
    """Lists of paths that fit into one call; small ones first, so that an early limit costs little."""
    batch: list[str] = []
    chars, most = 0, 200
    for path in paths:
        if batch and (len(batch) >= most or chars + len(path) > BATCH_CHARS):
            yield batch
            batch, chars, most = [], 0, BATCH_FILES
        batch.append(path)
        chars += len(path)
    if batch:
        yield batch


def _take(event: dict[str, Any], found: dict[str, FileLines]) -> bool:
    """Note one event; True for the summary, which comes last."""
    match event["type"]:
        case "summary":
            return True
        case "begin" | "match" | "context" | "end" as kind:
            path = _text(event["data"]["path"]).decode("utf-8", "surrogateescape")
            file = found.setdefault(path, FileLines(path))
            if kind in ("match", "context"):
                file.lines.append(_line(event["data"], is_match=kind == "match"))
            elif kind == "end":
                file.has_nul = event["data"]["binary_offset"] is not None
    return False


def _line(fields: dict[str, Any], *, is_match: bool) -> Line:
    raw = _text(fields["lines"])
    submatches = fields.get("submatches") or [{"start": 0}]
    at = len(raw[: submatches[0]["start"]].decode("utf-8", "replace")) if is_match else None
    text = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace").removeprefix("\ufeff")
    return Line(fields["line_number"], text, at)


def _text(value: dict[str, str]) -> bytes:
    """The bytes of a value: text as it is, other bytes in base64."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
