"""What the stream says about a task's scripts."""

from __future__ import annotations

from pi_batch.events import ToolExecutionEnd
from pi_batch.results import CodemodeCounts

SCRIPT_TOOL = "codemode"
"""The tool that runs scripts."""


class ScriptFold:
    """Counts a task's scripts and the calls they make."""

    def __init__(self, before: CodemodeCounts | None = None) -> None:
        """`before` is what was counted before the task was begun anew."""
        counted = before or CodemodeCounts()
        self._scripts = counted.scripts
        self._calls = counted.calls
        self._inner_bytes = counted.bytes_saved
        self._script_bytes = 0
        self._layers: tuple[str, ...] = counted.layers

    def feed(self, event: ToolExecutionEnd) -> None:
        """Take the end of a call that was carried out."""
        if event.parent_tool_call_id is not None:
            self._calls += 1
            self._inner_bytes += event.result_bytes
        elif event.tool == SCRIPT_TOOL:
            self._scripts += 1
            self._script_bytes += event.result_bytes
            self._layers = event.layers or self._layers

    def counts(self) -> CodemodeCounts:
        """As the result tells it."""
        saved = max(0, self._inner_bytes - self._script_bytes)
        return CodemodeCounts(self._scripts, self._calls, saved, self._layers)
