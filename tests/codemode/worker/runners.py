"""A runner of scripts for tests: a "script" is plain Python with `host` and `request`, nothing checked.

So a test's script can do what a script that broke out of the language could: native code, and any byte on the
socket. It runs in a locked worker all the same.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pi_batch.codemode.values import ScriptEnd, ScriptHost, ScriptRequest


def prepare() -> None:
    """Import what a script uses: nothing can be opened afterwards."""
    for name in ("array", "ctypes", "json", "mmap", "re", "socket", "struct"):
        import_module(name)


def run_script(request: ScriptRequest, host: ScriptHost) -> ScriptEnd:
    """Run it; what it binds to `value` is returned, and an `end` is taken as it is."""
    names: dict[str, Any] = {"host": host, "request": request, "__name__": "script"}
    exec(compile(request.source, "<script>", "exec"), names)
    if "end" in names:
        end = names["end"]
        assert isinstance(end, ScriptEnd)
        return end
    return ScriptEnd("completed", value=names.get("value"), has_value="value" in names)
