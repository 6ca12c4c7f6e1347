"""codemode: runs a script that calls the other tools, many at once, and gives back what it prints."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec.structs import replace

from pi_batch.arguments import ToolArguments, need_text, said
from pi_batch.codemode.description import description
from pi_batch.codemode.records import CallRecords
from pi_batch.codemode.result import cut_output, result_text, whole_output
from pi_batch.codemode.runner import ScriptRunner
from pi_batch.codemode.store import STORE_KEY, ScriptStore
from pi_batch.codemode.values import (
    DEFAULT_TIMEOUT_S,
    MAX_TIMEOUT_S,
    CallReply,
    ScriptEnd,
    ScriptRequest,
    ToolSignature,
)
from pi_batch.errors import ToolErrorKind
from pi_batch.messages import ImageBlock, TextBlock
from pi_batch.protocols import ToolContext, ToolOutput

DEFAULT_OUTPUT_CHARS = 40_000
MIN_OUTPUT_CHARS = 200
MAX_OUTPUT_CHARS = 200_000
LEAST_TIMEOUT_S = 0.01

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


def _script(given: Any) -> Any:
    """The script without a fence around it; lines keep their numbers."""
    if not isinstance(given, str):
        return given
    need_text(given, "script")
    fenced = _FENCE.fullmatch(given)
    return given if fenced is None else f"\n{fenced[1]}\n"


class CodemodeArguments(ToolArguments, frozen=True, kw_only=True):
    """What codemode takes."""

    script: Annotated[
        str,
        said(
            "The Python script itself: plain text, no Markdown fence.",
            "code",
            "source",
            "python",
            coerce=_script,
            min_length=1,
        ),
    ]
    timeout_s: Annotated[
        float,
        said("Seconds for the whole script, its tool calls included.", "timeout", gt=0, le=MAX_TIMEOUT_S),
    ] = DEFAULT_TIMEOUT_S
    max_output_chars: Annotated[
        int,
        said(
            "How much of the output you get back; the whole goes into a file.",
            "max_output",
            ge=MIN_OUTPUT_CHARS,
            le=MAX_OUTPUT_CHARS,
        ),
    ] = DEFAULT_OUTPUT_CHARS


class Codemode:
    """One task's: its scripts share a store, and nothing else."""

    name = "codemode"
    arguments = CodemodeArguments
    is_read_only = False
    returns = "str"

    def __init__(
        self,
        runner: ScriptRunner,
        tools: Sequence[ToolSignature],
        store: ScriptStore | None = None,
        *,
        is_only_way: bool = False,
    ) -> None:
        """`tools` are what scripts may call; `is_only_way`: nothing else of it is declared to the model."""
        self.description = description(tools, is_only_way=is_only_way)
        self._runner = runner
        self._tools = tuple(tools)
        self._store = store or ScriptStore()

    def written_paths(self, arguments: CodemodeArguments) -> tuple[str, ...]:
        """What a script writes is not known beforehand; its calls queue by path themselves."""
        return ()

    async def run(self, arguments: CodemodeArguments, context: ToolContext) -> ToolOutput:
        """Run the script; one that fails is an error result. Raises: SandboxError where none can run."""
        limit_s = max(LEAST_TIMEOUT_S, min(arguments.timeout_s, context.seconds_left))
        printed: list[str] = []
        images: list[ImageBlock] = []
        now = asyncio.get_running_loop().time
        started_s = now()
        records = CallRecords(context.call_id, now)
        end = await self._runner.run(
            ScriptRequest(arguments.script, self._tools, self._store.values, limit_s),
            _Calls(context, records).answer,
            printed.append,
            lambda data, mime_type: images.append(ImageBlock(data, mime_type)),
        )
        wall_s = now() - started_s
        is_over = end.error is not None and wall_s >= limit_s
        if is_over and limit_s < arguments.timeout_s:
            end = replace(end, notes=(*end.notes, "that was all the time left for this task"))
        if end.store is not None:
            self._store.keep(end.store)
        shown = cut_output(
            whole_output("".join(printed), end), arguments.max_output_chars, context.open_output
        )
        kind: ToolErrorKind = "timeout" if is_over else "failed"
        return ToolOutput(
            (TextBlock(result_text(end, shown, wall_s, records.count)), *images),
            self._details(end, records, wall_s, shown.full_output_path),
            is_error=end.status == "failed",
            error_kind=kind if end.status == "failed" else None,
            layers=self._runner.layers,
        )

    def _details(
        self, end: ScriptEnd, records: CallRecords, wall_s: float, full_output_path: str | None
    ) -> dict[str, Any]:
        details: dict[str, Any] = {
            "status": end.status,
            "duration_s": round(wall_s, 3),
            "full_output_path": full_output_path,
            "layers": list(self._runner.layers),
            "nestedCalls": records.to_json(),
        }
        if end.store is not None:
            details[STORE_KEY] = dict(end.store)
        return details


class _Calls:
    """The tool calls of one script."""

    def __init__(self, context: ToolContext, records: CallRecords) -> None:
        self._context = context
        self._records = records

    async def answer(self, number: int, name: str, arguments: Mapping[str, Any]) -> CallReply:
        """Make a call through the one door; what failed is the text of a script's ToolError."""
        place = self._records.start(name, arguments)
        output = await self._context.call_tool(name, arguments)
        text = "\n".join(block.text for block in output.content if isinstance(block, TextBlock))
        self._records.end(place, text if output.is_error else None)
        if output.is_error and (output.value is None or output.error_kind == "timeout"):
            return CallReply(number, error=text, error_kind=output.error_kind)
        return CallReply(number, text if output.value is None else output.value)
