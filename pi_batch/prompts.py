"""The system prompt: who the model is here, what the harness does with its calls, the project's own words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.spec import OutputSpec, SystemSpec

CONTEXT_FILE_NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")
"""The first that exists in a directory counts, as in pi."""
CONTEXT_FILE_BYTES = 32 * 1024
CONTEXT_TOTAL_BYTES = 64 * 1024

BASE = """\
You are a coding agent that works alone: nobody watches and nobody answers questions. Do the task with the \
tools, then reply with {answer}; a reply without a tool call ends your work.

- The working directory is {workspace}. Paths are relative to it. Stay inside it.
- Look before you change: read the files that matter. Prefer `edit` for small changes.
- Commands get no terminal and no input. Their variables and working directory persist.
- Your own word decides nothing: when you stop, the task's checks are run on your changes{judge}.
- Never weaken, skip or delete tests or checks to make them pass.
"""


class ContextFile(Struct, frozen=True):
    """A project's instructions to agents."""

    path: str
    text: str


def system_prompt(
    workspace: str,
    system: SystemSpec,
    protect: Sequence[str],
    context: Iterable[ContextFile],
    output: OutputSpec = OutputSpec(),  # noqa: B008 -- frozen
) -> str:
    """Build it: ours or the spec's own, the spec's addition, what must be left, then the context files."""
    judge = f"; files matching {', '.join(protect)} count as they were at the start" if protect else ""
    answer = "a short plain text that says what you did" if output.schema_ is None else "your answer as JSON"
    base = BASE.format(workspace=workspace, judge=judge, answer=answer)
    parts = [(base if system.replace is None else system.replace).rstrip()]
    if system.append:
        parts.append(system.append.rstrip())
    parts.extend(_required(output))
    parts.extend(
        f"Instructions of this project, from {file.path}:\n\n{file.text.rstrip()}" for file in context
    )
    return "\n\n".join(parts) + "\n"


def _required(output: OutputSpec) -> Iterable[str]:
    """What is judged beside the checks: a model that is not told cannot do it."""
    if output.files:
        yield f"These files must be there, and not empty, when you stop: {', '.join(output.files)}"
    if output.schema_ is not None:
        schema = json.dumps(dict(output.schema_), ensure_ascii=False)
        yield f"Your last reply must be JSON and nothing else, valid by this JSON Schema:\n\n{schema}"


def find_context_files(
    user_dir: Path | None, source: Path | None, workspace: Path
) -> tuple[ContextFile, ...]:
    """AGENTS.md and its kin: the user's, then from the outermost parent of the source inwards.

    The source's own directory is read in the workspace, as it was at the start. Each file is cut at
    32 KiB, all together at 64 KiB; what cannot be read is passed over. source None: it is another repository,
    whose parents are nobody's.
    """
    parents = reversed(source.parents) if source else ()
    return _read_files([*([user_dir] if user_dir else []), *parents, workspace])


def users_own_file(user_dir: Path | None) -> tuple[ContextFile, ...]:
    """The user's alone, for a checkout that may be hostile."""
    return _read_files([user_dir] if user_dir else [])


def _read_files(directories: Iterable[Path]) -> tuple[ContextFile, ...]:
    found: list[ContextFile] = []
    left = CONTEXT_TOTAL_BYTES
    for directory in directories:
        file = _first_file(directory, min(left, CONTEXT_FILE_BYTES))
        if file is not None:
            found.append(file)
            left -= len(file.text.encode())
    return tuple(found)


def _first_file(directory: Path, limit_bytes: int) -> ContextFile | None:
    for name in CONTEXT_FILE_NAMES:
        path = directory / name
        try:
            if not path.is_file() or limit_bytes <= 0:
                continue
            with path.open("rb") as file:
                content = file.read(limit_bytes + 1)
        except OSError:
            continue
        text = content[:limit_bytes].decode("utf-8", "ignore")
        if len(content) > limit_bytes:
            text += "\n[cut]"
        if text.strip():
            return ContextFile(str(path), text)
    return None
