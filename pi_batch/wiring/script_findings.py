"""What `pi-batch doctor` says of scripts: whether they run here, and what holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from pi_batch.codemode.worker.host import Zygote
from pi_batch.errors import SandboxError
from pi_batch.wiring.finding import Finding
from pi_batch.wiring.scripting import WEAK, Scripting


def script_findings(make: Callable[[], Scripting] = Scripting) -> Iterator[Finding]:
    """One finding, by starting the process that scripts come from; nothing of it stays."""
    scripting = make()
    if not scripting.is_isolated and scripting.is_linux:
        yield Finding("note", "codemode", "this kernel takes no system-call filter: no script is run")
        return
    try:
        layers = asyncio.run(_layers(Zygote(needs_seccomp=scripting.is_isolated)))
    except SandboxError as error:
        yield Finding("note", "codemode", str(error))
        return
    if scripting.is_isolated:
        yield Finding("ok", "codemode", f"scripts are held by {', '.join(layers)}")
    else:
        yield Finding("note", "codemode", WEAK.removeprefix("codemode: "))


async def _layers(zygote: Zygote) -> tuple[str, ...]:
    try:
        return await zygote.ready()
    finally:
        await zygote.close()
