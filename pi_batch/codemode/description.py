"""What a model is told about scripts; with `only`, also which tools they call."""

from __future__ import annotations

from collections.abc import Sequence

from pi_batch.codemode.signatures import inline
from pi_batch.codemode.values import ToolSignature

_WHAT = """\
Run a Python script that calls {which} as functions: many calls at once, loops, filters, counts. \
Only what it prints or returns comes back to you, so it costs one turn and few tokens where single calls \
cost many. Use it to look at or change many files, to search and then read what was found, to run several \
commands and compare; {instead}."""

_HOW = """\
The script is the body of an async function: write top-level `await` and `return`. Call a tool as \
`await tools.NAME(argument=value)`{same}; without `await` it only starts. Run many at once with \
`await asyncio.gather(*calls)`. A call that fails raises ToolError; a command that exits with an error does \
not: look at its exit_code.
Results are whole Python values: {results}.
There is no file, process or network access but through tools: no open(), os, subprocess. Import json, re, \
math, collections, itertools, datetime, pathlib (paths only) and the like. image(value) shows you an image; \
store(key, value) and load(key) keep JSON for later scripts; print what you need, not everything."""

_EXAMPLE = """

Example: where is a deprecated call left, and how often?
paths = await tools.find(pattern="*.py")
texts = await asyncio.gather(*[tools.read(path=p) for p in paths])
for path, text in zip(paths, texts):
    count = text.count("old_call(")
    if count:
        print(path, count)"""

_EXAMPLE_TOOLS = {"find", "read"}
_RETURNS = {
    "read": "read gives the whole text",
    "bash": "bash a dict of output, exit_code, truncated and full_output_path",
    "grep": "grep a list of {path, line, text}",
    "find": "find and ls lists of str",
}


def description(tools: Sequence[ToolSignature], *, is_only_way: bool) -> str:
    """The declaration's text.

    Args:
        tools: what scripts may call.
        is_only_way: True when the tools are declared nowhere else: then they are listed here.
    """
    names = {tool.name for tool in tools}
    results = ", ".join(text for name, text in _RETURNS.items() if name in names) or "as each tool says"
    what = _WHAT.format(
        which="the tools below" if is_only_way else "your other tools",
        instead="there is no other way to call a tool"
        if is_only_way
        else "for a single call use the tool itself",
    )
    how = _HOW.format(
        same="" if is_only_way else ", with the arguments that the tool has",
        results=results,
    )
    example = _EXAMPLE if names >= _EXAMPLE_TOOLS else ""
    listed = f"\n\nThe tools:\n{inline(tools)}" if is_only_way else ""
    return f"{what}\n\n{how}{example}{listed}"
