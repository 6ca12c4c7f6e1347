"""A runner whose "script" is a payload's name: native code in a real worker, after its lock-down."""

from __future__ import annotations

from pi_batch.codemode.values import ScriptEnd, ScriptHost, ScriptRequest
from tests.codemode.worker.native import files, kernel, network, processes
from tests.codemode.worker.native.payload import PAYLOADS, Target

ALL = (files, kernel, network, processes)
"""Imported for what they register."""


def prepare() -> None:
    """All is imported already."""
    assert len(PAYLOADS) > len(ALL)


def names() -> set[str]:
    """Of all payloads."""
    return set(PAYLOADS)


def attempt(name: str, target: Target) -> str:
    """Try a payload: `did`, or how it was stopped."""
    try:
        done = PAYLOADS[name](target)
    except BaseException as error:  # noqa: BLE001 -- whatever it is, it is the answer
        return f"{type(error).__name__}: {error}"
    return "did" if done else "no effect"


def run_script(request: ScriptRequest, _host: ScriptHost) -> ScriptEnd:
    """Try the payload; the target is handed over as the store."""
    return ScriptEnd("completed", value=attempt(request.source, Target(**request.store)), has_value=True)
