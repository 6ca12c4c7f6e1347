"""A host of scripts that has a few files in memory, and scripts run on it."""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pi_batch.codemode.script.errors import FILE
from pi_batch.codemode.script.run import run_script
from pi_batch.codemode.values import CallReply, ScriptEnd, ScriptRequest, ToolSignature

_warned: Any = getattr(warnings, "_warn_unawaited_coroutine")  # noqa: B009 -- no public name


def _left_behind(coroutine: Any) -> None:
    """A script's coroutines that nobody awaited end with its process; here they are found by later tests."""
    name = coroutine.cr_code.co_filename
    if name != FILE and "codemode/script" not in name:
        _warned(coroutine)


setattr(warnings, "_warn_unawaited_coroutine", _left_behind)  # noqa: B010 -- no public name

SIGNATURES = {
    "read": ("path", "offset", "limit"),
    "write": ("path", "content"),
    "edit": ("path", "old_string", "new_string", "replace_all"),
    "bash": ("command", "timeout_s"),
    "grep": ("pattern", "path", "glob"),
    "find": ("pattern", "path"),
    "ls": ("path",),
    "think": ("thought",),
}
TOOLS = tuple(
    ToolSignature(name, names, names[:1], f"{name}({', '.join(names)})", f"The tool {name}.")
    for name, names in SIGNATURES.items()
)


@dataclass
class FakeHost:
    """Answers calls at once, in the order in which they came."""

    files: dict[str, str] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    out: int = 0
    most_out: int = 0
    replies: deque[CallReply] = field(default_factory=deque)
    is_silent: bool = False
    """True: no call is ever answered, unless it is dropped."""
    dropped: list[int] = field(default_factory=list)

    def call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> None:
        """Take a call; its reply waits."""
        self.calls.append((name, dict(arguments)))
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        if self.is_silent:
            return
        try:
            self.replies.append(CallReply(call_id, self._answer(name, dict(arguments))))
        except (KeyError, ValueError) as error:
            self.replies.append(CallReply(call_id, error=str(error.args[0]), error_kind="failed"))

    def drop(self, call_id: int) -> None:
        """End a call: its reply is an error then."""
        self.dropped.append(call_id)
        if self.is_silent:
            self.replies.append(CallReply(call_id, error="given up", error_kind="failed"))

    def output(self, text: str) -> None:
        """Keep what is printed."""
        self.printed.append(text)

    def image(self, data: str, mime_type: str) -> None:
        """Keep an image."""
        self.images.append((data, mime_type))

    def receive(self, timeout_s: float | None) -> CallReply | None:
        """The oldest reply."""
        if not self.replies:
            assert timeout_s is not None, "nothing is coming"
            return None
        self.out -= 1
        return self.replies.popleft()

    @property
    def text(self) -> str:
        """Everything printed."""
        return "".join(self.printed)

    def _answer(self, name: str, arguments: dict[str, Any]) -> Any:
        match name:
            case "read":
                return self._file(arguments["path"])
            case "write":
                self.files[arguments["path"]] = arguments["content"]
                return f"Wrote {arguments['path']}"
            case "edit":
                text = self._file(arguments["path"])
                if arguments["old_string"] not in text:
                    raise ValueError("old_string not found")
                self.files[arguments["path"]] = text.replace(arguments["old_string"], arguments["new_string"])
                return "edited"
            case "bash":
                return {"output": f"$ {arguments['command']}\n", "exit_code": 0, "truncated": False}
            case "grep":
                return self._grep(arguments)
            case "find":
                return sorted(file for file in self.files if fnmatch.fnmatch(file, arguments["pattern"]))
            case "ls":
                return sorted(self.files)
        return ""

    def _file(self, path: str) -> str:
        if path not in self.files:
            raise KeyError(f"{path}: no such file")
        return self.files[path]

    def _grep(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"path": path, "line": number, "text": line}
            for path, text in sorted(self.files.items())
            if path.startswith(arguments.get("path", "") or "")
            for number, line in enumerate(text.split("\n"), 1)
            if re.search(arguments["pattern"], line)
        ]


@dataclass(frozen=True)
class Ran:
    """What a script came to."""

    end: ScriptEnd
    host: FakeHost

    @property
    def text(self) -> str:
        """What was printed."""
        return self.host.text

    @property
    def error(self) -> str:
        """The error's text; empty without one."""
        return self.end.error.text if self.end.error is not None else ""


def run(source: str, files: Mapping[str, str] | None = None, **request: Any) -> Ran:
    """Run a script on a host with these files."""
    host = FakeHost(dict(files or {}), is_silent=request.pop("is_silent", False))
    end = run_script(ScriptRequest(source, TOOLS, **request), host)
    return Ran(end, host)
