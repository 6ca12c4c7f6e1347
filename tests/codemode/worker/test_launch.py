"""How workers' programs are started: nothing of the runner's comes along."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from pi_batch.codemode.worker.host import Zygote
from pi_batch.codemode.worker.launch import Launch, _roots
from pi_batch.errors import SandboxError
from tests.codemode.worker.rigs import needs_isolation, run, zygote

LOOK = """
import os, sys
descriptors = []
for number in range(64):
    try: os.lseek(number, 0, os.SEEK_CUR)
    except OSError as error:
        if error.errno == 9: continue
    descriptors.append(number)
value = [dict(os.environ), descriptors, sorted(sys.modules), sys.path, os.getpid()]
"""
NEVER = {"pydantic", "httpx", "asyncio", "ssl", "click", "yaml", "jinja2", "rich", "psutil", "subprocess"}


@needs_isolation
async def test_a_worker_has_no_variable_descriptor_or_module_of_the_runner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    inheritable, other = socket.socketpair()
    with inheritable, other:
        os.set_inheritable(inheritable.fileno(), True)
        async with zygote() as made:
            variables, descriptors, modules, path, _ = (await run(made, LOOK)).value
    assert variables == {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    assert descriptors == [0, 1, 2, 3]
    assert not NEVER & set(modules)
    assert "/nowhere" not in path
    assert "" not in path


@needs_isolation
async def test_a_worker_is_another_process_than_the_runner() -> None:
    async with zygote() as made:
        value = (await run(made, LOOK)).value
    assert value[-1] != os.getpid()


def test_the_packages_of_a_worker_are_found() -> None:
    roots = _roots()
    assert any(os.path.exists(f"{root}/pi_batch/codemode") for root in roots)  # noqa: PTH110
    assert any(os.path.exists(f"{root}/RestrictedPython") for root in roots)  # noqa: PTH110


def test_a_python_that_is_not_there_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    one, other = socket.socketpair()
    with one, other, pytest.raises(SandboxError, match="cannot start '/nowhere/python'"):
        Launch(needs_seccomp=True).start("zygote", other)


async def test_a_zygote_that_cannot_be_started_is_an_error_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    for can_fork in (True, False):
        with pytest.raises(SandboxError, match="cannot start"):
            await Zygote(can_fork=can_fork).start()
