"""A session file as a recording: what the model said, what its calls came to, where it worked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.protocols import RecordedSummary
from pi_batch.session import Entry, SessionFile, active_branch, messages, read_session
from pi_batch.session.spent import spent_on

NOT_REPLIES = frozenset({"error", "aborted"})
"""How a recorded message ended that is no reply: the request was made again, or given up."""
MAX_ATTEMPTS = 1_000
"""Of a recording: more were never made."""
EXIT_CODE = re.compile(r"exited with code (-?\d+)|exit code:? (-?\d+)", re.IGNORECASE)
PATH_BEFORE = r"(?:(?<![\w.~/-])|(?<=[\s\"'=]-[A-Za-z])|(?<=file://))"
PATH_AFTER = r"(?=[/\s\"'`:;,)\]}>|&]|\.?(?:\s|$)|$)"
"""What stands around a whole path: /w/main is not a part of /w/main2, and -I/w/main names it."""


class Recording(Struct, frozen=True):
    """What a replay needs of a session."""

    path: Path
    replies: tuple[AssistantMessage, ...]
    """On the active branch, in order, those before a compaction too."""
    results: tuple[Mapping[str, ToolResultMessage], ...]
    """For each reply, what its calls came to, by call id."""
    compactions: Mapping[int, RecordedSummary]
    """By how many replies came before each."""
    prompt: str | None
    """The first user message's text; None where there is none."""
    roots: tuple[str, ...]
    """Directories that recorded paths start from, the longest first."""
    warnings: tuple[str, ...] = ()
    has_phases: bool = False
    """True when a plan was made first, by a virtual model's word."""
    has_steps: bool = False
    """True when each attempt had a model of its own, by a virtual model's word."""
    attempts: int = 1
    """How often the work was taken up, after failed verifications."""


def find_recording(path: Path, key: str) -> Path:
    """The session file for a result key: the path itself, or what a directory holds for the key.

    Raises: UsageError that lists where it was looked for.
    """
    if not path.is_dir():
        return path
    names = dict.fromkeys((key, re.sub(r"[^A-Za-z0-9._-]", "_", key)))
    places = [
        place
        for name in names
        if name and ".." not in name.split("/") and not name.startswith("/")
        for place in (
            path / f"{name}.jsonl",
            path / name / "session.jsonl",
            path / "tasks" / name / "session.jsonl",
        )
    ]
    for place in places:
        if place.is_file():
            return place
    tried = ", ".join(str(place) for place in places) or "nowhere: the key is no file name"
    raise UsageError(f"{path}: no recorded session for {key!r}; looked for {tried}")


def read_recording(path: Path) -> Recording:
    """A session of ours or pi's as a recording; read anew when it changed. Raises: UsageError, one line."""
    try:
        status = path.stat()
    except OSError:
        return _read(path, ())
    return _read(path, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=8)  # a suite plays one recording a thousand times
def _read(path: Path, _state: tuple[int, ...]) -> Recording:
    session = read_session(path)
    branch = active_branch(session)
    said = messages(branch)
    replies, results = _replies(said)
    if not replies:
        raise UsageError(f"{path}: holds no reply of a model that could be replayed")
    prompts = (message for message in said if isinstance(message, UserMessage))
    first = next(prompts, None)
    return Recording(
        path,
        replies,
        results,
        _compactions(branch),
        None if first is None else user_text_of(first),
        _roots(session, branch),
        _warnings(session),
        any(_own(entry).get("is_planning") is True for entry in branch),
        any("escalate" in str(_own(entry).get("policy")) for entry in branch),
        max((_attempt(entry) for entry in branch), default=1),
    )


def _own(entry: Entry) -> Mapping[str, Any]:
    """What an entry of this program's own says; nothing for any other."""
    value = entry.fields.get("data") if entry.type == "custom" else None
    is_own = entry.fields.get("customType") == "pi-batch"
    return value if is_own and isinstance(value, Mapping) else {}


def _attempt(entry: Entry) -> int:
    """Which attempt an entry begins; 1 for one that begins none."""
    number = _own(entry).get("attempt") if _own(entry).get("kind") == "attempt" else 1
    return number if isinstance(number, int) and 1 <= number <= MAX_ATTEMPTS else 1


def user_text_of(message: UserMessage) -> str:
    """The text of a user message, images left out."""
    return "\n".join(block.text for block in message.content if isinstance(block, TextBlock))


def exit_code(result: ToolResultMessage) -> int | None:
    """A command's exit code: ours from the details, pi's from its last words; None when unknown."""
    code = result.details.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    if result.tool_name != "bash" or not result.is_error:
        return None
    found = list(EXIT_CODE.finditer(result.text[-500:]))
    return int(found[-1][1] or found[-1][2]) if found else None


def path_rewriter(roots: Iterable[str], workspace: str) -> Callable[[str], str]:
    """Rewrites every recorded absolute path under one of the roots to the live workspace."""
    wanted = [root.rstrip("/") for root in roots if root.rstrip("/") not in {"", workspace.rstrip("/")}]
    if not wanted:
        return lambda text: text
    any_root = "|".join(re.escape(root) for root in sorted(wanted, key=len, reverse=True))
    pattern = re.compile(f"{PATH_BEFORE}(?:{any_root}){PATH_AFTER}")
    return lambda text: pattern.sub(lambda _: workspace.rstrip("/"), text)


def with_paths(reply: AssistantMessage, rewrite: Callable[[str], str]) -> AssistantMessage:
    """The reply with the paths in its calls' arguments rewritten; what it says stays."""
    content = tuple(
        replace(block, arguments=_deep(block.arguments, rewrite))
        if isinstance(block, ToolCall) and block.arguments is not None
        else block
        for block in reply.content
    )
    return replace(reply, content=content)


def _replies(
    said: Iterable[Message],
) -> tuple[tuple[AssistantMessage, ...], tuple[Mapping[str, ToolResultMessage], ...]]:
    """The replies, and the results that followed each."""
    replies: list[AssistantMessage] = []
    results: list[dict[str, ToolResultMessage]] = []
    for message in said:
        match message:
            case AssistantMessage() if message.stop_reason not in NOT_REPLIES:
                replies.append(message)
                results.append({})
            case ToolResultMessage() if results:
                results[-1][message.tool_call_id] = message
            case _:
                pass
    return tuple(replies), tuple(results)


def _compactions(branch: Sequence[Entry]) -> Mapping[int, RecordedSummary]:
    """Each compaction, by how many replies came before it; of several at one place the last."""
    found: dict[int, RecordedSummary] = {}
    said: list[str] = []
    replies = 0
    for entry in branch:
        if entry.type == "message":
            (message,) = messages((entry,)) or (None,)
            is_failed = isinstance(message, AssistantMessage) and message.stop_reason in NOT_REPLIES
            if message is not None and not isinstance(message, SystemMessage) and not is_failed:
                said.append(entry.id)
                replies += isinstance(message, AssistantMessage)
        elif entry.type == "compaction" and isinstance(entry.fields.get("summary"), str):
            first, details = entry.fields.get("firstKeptEntryId"), entry.fields.get("details")
            kept = len(said) - said.index(first) if first in said else 0
            spent = spent_on(entry)
            earlier = found.get(replies)
            usage = (spent.usage if spent else Usage()) + (earlier.usage or Usage() if earlier else Usage())
            cost_usd = (spent.cost_usd if spent else 0.0) + (earlier.cost_usd or 0.0 if earlier else 0.0)
            details = details if isinstance(details, Mapping) else {}
            found[replies] = RecordedSummary(str(entry.fields["summary"]), kept, details, usage, cost_usd)
    return found


def _deep(value: Any, rewrite: Callable[[str], str]) -> Any:
    match value:
        case str():
            return rewrite(value)
        case Mapping():
            return {key: _deep(item, rewrite) for key, item in value.items()}
        case list():
            return [_deep(item, rewrite) for item in value]
        case _:
            return value


def _roots(session: SessionFile, branch: Iterable[Entry]) -> tuple[str, ...]:
    """The clone that the model worked in (our custom entry), and the header's directory."""
    found = [session.header.cwd]
    for entry in branch:
        state = entry.fields.get("data")
        if (
            entry.type == "custom"
            and entry.fields.get("customType") == "pi-batch"
            and isinstance(state, Mapping)
        ):
            found.append(state.get("workspace", ""))
    absolute = {root for root in found if isinstance(root, str) and root.startswith("/")}
    return tuple(sorted(absolute, key=len, reverse=True))


def _warnings(session: SessionFile) -> tuple[str, ...]:
    if session.torn is None:
        return session.warnings
    return (*session.warnings, f"{session.path}: its last line is torn and was left out")
