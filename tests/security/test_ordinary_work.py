"""Ordinary work goes on unhindered behind walls: the tools that projects are built and tested with."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pi_batch.protocols import Sandbox
from pi_batch.sandboxes import load
from tests.sandboxes.rigs import place_in, works

pytestmark = pytest.mark.slow

WALLED = [
    pytest.param(name, marks=pytest.mark.skipif(not works(name), reason=f"no {name} here"))
    for name in ("bwrap", "landlock")
]
IN_BWRAP = WALLED[:1]
PATH = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"


@pytest.fixture(params=WALLED)
async def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Sandbox]:
    home = os.path.expanduser("~")  # noqa: PTH111 -- the string that children get
    made = load(request.param)(place_in(tmp_path), search_path=PATH, home=home)
    await made.start()
    yield made
    await made.close()


async def works_out(sandbox: Sandbox, tmp_path: Path, script: str) -> None:
    """Run a script; all of it must succeed."""
    output: list[bytes] = []
    done = await sandbox.exec(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=str(tmp_path.resolve() / "root"),
        env={
            "PATH": PATH,
            "HOME": os.path.expanduser("~"),  # noqa: PTH111
            "TMPDIR": str(tmp_path.resolve() / "scratch"),
            "LANG": "C.UTF-8",
        },
        timeout_s=60,
        on_output=output.append,
    )
    assert done.exit_code == 0, b"".join(output).decode("utf-8", "replace")[-2000:]


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is not installed."""
    missing = [program for program in programs if shutil.which(program, path=PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {missing}")


async def test_git(sandbox: Sandbox, tmp_path: Path) -> None:
    script = """
    git init -q -b main r && cd r && git config user.name a && git config user.email a@b
    echo 1 > f && git add f && git commit -qm one; git checkout -qb side; echo 2 > f && git commit -qam two
    git checkout -q main && git merge -q side && git stash list && git gc -q && git fsck
    git clone -q . ../r2 && git -C ../r2 log --oneline | grep -q two && git worktree add -q ../wt side
    printf '#!/bin/sh\\ntouch hooked\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
    git commit -q --allow-empty -m three && test -f hooked
    """
    await works_out(sandbox, tmp_path, script)


async def test_pytest_with_processes_and_temporary_files(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "root" / "test_it.py").write_text(
        "import subprocess, sys, tempfile, threading, multiprocessing.shared_memory\n"
        "def test_child(tmp_path): assert subprocess.run([sys.executable, '-c', '']).returncode == 0\n"
        "def test_file(): tempfile.NamedTemporaryFile().write(b'x')\n"
        "def test_thread(): t = threading.Thread(target=int); t.start(); t.join()\n",
        encoding="ascii",
    )
    await works_out(sandbox, tmp_path, "python -m pytest -q -p no:cacheprovider test_it.py")


async def test_pip_from_a_local_index_into_an_own_environment(sandbox: Sandbox, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "pkg").mkdir()
    (root / "pkg" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "tiny"\nversion = "1.0"\n',
        encoding="ascii",
    )
    (root / "pkg" / "tiny.py").write_text("ANSWER = 42\n", encoding="ascii")
    script = """
    python -m pip wheel -q --no-deps --no-build-isolation --no-index -w index ./pkg
    python -m venv env
    env/bin/python -m pip install -q --no-index --find-links index tiny
    env/bin/python -c 'import tiny; assert tiny.ANSWER == 42'
    """
    await works_out(sandbox, tmp_path, script)


@needs("npm", "node")
async def test_npm_test_and_webassembly(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "root" / "package.json").write_text(
        '{"name": "x", "version": "1.0.0", "scripts": {"test": "node t.js"}}', encoding="ascii"
    )
    (tmp_path / "root" / "t.js").write_text(
        "const m = new WebAssembly.Memory({initial: 1, maximum: 1000});\n"
        "const {execSync} = require('child_process'); execSync('true');\n"
        "new (require('worker_threads').Worker)('process.exit(0)', {eval: true});\n"
        "if (m.buffer.byteLength !== 65536) process.exit(1);\n",
        encoding="ascii",
    )
    await works_out(sandbox, tmp_path, "npm test --silent")


@needs("make", "gcc")
async def test_make_and_a_compiler(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "root" / "a.c").write_text("int main(void) { return 0; }\n", encoding="ascii")
    (tmp_path / "root" / "Makefile").write_text("a: a.c\n\tgcc -O1 -o a a.c\n", encoding="ascii")
    await works_out(sandbox, tmp_path, "make -j4 && ./a && tar cf a.tar a && rm a && tar xf a.tar && ./a")


async def test_an_archive_of_somebody_elses_files_can_be_unpacked(sandbox: Sandbox, tmp_path: Path) -> None:
    script = "echo x > f && tar --owner=4711 --group=4711 -cf a.tar f && rm f && tar xf a.tar && cat f"
    await works_out(sandbox, tmp_path, script)


async def test_what_setup_leaves_in_a_home_is_there_later(sandbox: Sandbox, tmp_path: Path) -> None:
    await works_out(sandbox, tmp_path, "mkdir -p ~/.cache/tool && echo kept > ~/.cache/tool/f")
    await works_out(sandbox, tmp_path, "grep -q kept ~/.cache/tool/f")


@pytest.mark.parametrize("sandbox", IN_BWRAP, indirect=True)
async def test_servers_on_loopback_live_between_calls(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "root" / "page").write_text("served", encoding="ascii")
    await works_out(sandbox, tmp_path, "python -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 &")
    get = "import urllib.request as u; assert u.urlopen('http://localhost:8123/page').read() == b'served'"
    script = f'for i in $(seq 50); do python -c "{get}" 2>/dev/null && exit 0; sleep 0.1; done; exit 1'
    await works_out(sandbox, tmp_path, script)


@pytest.mark.parametrize("sandbox", IN_BWRAP, indirect=True)
async def test_pools_of_processes(sandbox: Sandbox, tmp_path: Path) -> None:
    code = (
        "from concurrent.futures import ProcessPoolExecutor as P\n"
        "if __name__ == '__main__':\n    with P(2) as p: assert list(p.map(abs, [-1, 2])) == [1, 2]\n"
    )
    (tmp_path / "root" / "pool.py").write_text(code, encoding="ascii")
    await works_out(sandbox, tmp_path, "python pool.py && echo x > /tmp/y && cat /tmp/y /dev/null")


async def test_the_same_tools_run_inside_as_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    await works_out(sandbox, tmp_path, f'[ "$(python -c "import sys; print(sys.prefix)")" = "{sys.prefix}" ]')
