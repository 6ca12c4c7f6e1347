"""A script's end as the text that the model reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from pi_batch.codemode.values import ScriptEnd, ScriptError
from pi_batch.protocols import OutputFile

REFUSED = "Refused"
"""The type of an error that kept a script from starting."""

_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"
}
"""What a terminal or a log would act on, spelled out; a script's output is a program's, not a terminal's."""


class Shown(Struct, frozen=True):
    """A script's output as far as the model sees it."""

    text: str
    full_output_path: str | None
    """Where the whole is, when this is not."""


def result_text(end: ScriptEnd, shown: Shown, wall_s: float, calls: int) -> str:
    """How it ended, what it gave, and last what went wrong."""
    counted = f", {calls} tool {'call' if calls == 1 else 'calls'}" if calls else ""
    parts = [f"Script {end.status}, wall time {wall_s:.2f} s{counted}."]
    if shown.text.strip():
        parts.append(f"Output:\n{shown.text.rstrip(chr(10))}")
    elif end.error is None:
        parts.append("It printed and returned nothing: print what you want to see.")
    parts += [f"Note: {visible(note)}" for note in end.notes]
    if end.error is not None:
        parts.append(_error(end.error))
        if end.error.type == REFUSED:
            parts.append("Nothing was run. Correct the script and send all of it again.")
    return "\n".join(parts)


def whole_output(printed: str, end: ScriptEnd) -> str:
    """What a script printed and, behind it, what it returned."""
    printed = visible(printed)
    if not end.has_value or end.value is None:
        return printed
    value = visible(as_text(end.value))
    if not printed:
        return value
    return f"{printed}{'' if printed.endswith(chr(10)) else chr(10)}Returned: {value}"


def as_text(value: Any) -> str:
    """A returned value: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    compact = json.dumps(value, ensure_ascii=False)
    return compact if len(compact) <= 200 else json.dumps(value, ensure_ascii=False, indent=1)


def cut_output(text: str, max_chars: int, open_output: Callable[[str], OutputFile]) -> Shown:
    """Head and tail of an output that is too long, the whole of it in a file.

    Raises: LogWriteError.
    """
    if len(text) <= max_chars:
        return Shown(text, None)
    file = open_output(".txt")
    file.write(text.encode("utf-8", "replace"))
    file.close()
    head, tail = _head(text, max_chars - max_chars // 2), _tail(text, max_chars // 2)
    left_out = len(text) - len(head) - len(tail)
    note = (
        f"[{left_out:,} of {len(text):,} characters left out here; whole output: {file.path}. "
        "Print less, or set max_output_chars]"
    )
    return Shown(f"{head.rstrip(chr(10))}\n{note}\n{tail}", file.path)


def visible(text: str) -> str:
    r"""Text with every control character but \n and \t spelled out; CRLF is a newline."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def _error(error: ScriptError) -> str:
    text = visible(error.text)
    return text if text.startswith(error.type) else f"{visible(error.type)}: {text}"


def _head(text: str, chars: int) -> str:
    """The beginning, up to the end of a line where one is near."""
    cut = text.rfind("\n", chars // 2, chars)
    return text[: cut + 1] if cut >= 0 else text[:chars]


def _tail(text: str, chars: int) -> str:
    """The end, from the start of a line where one is near."""
    start = len(text) - chars
    cut = text.find("\n", start, start + chars // 2)
    return text[cut + 1 :] if cut >= 0 else text[start:]
