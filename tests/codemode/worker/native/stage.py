"""The program that tries every payload under every set of layers, in namespaces that it was started in.

    python -m tests.codemode.worker.native.stage FOLDER USER

FOLDER is an empty file system of its own; USER is a number, or `-` to stay who it is. Prints one JSON object:
the set's name, then the payload's, then `did` or what stopped it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from pi_batch.codemode.values import ScriptRequest
from pi_batch.codemode.worker import lockdown
from pi_batch.codemode.worker.host import Zygote
from pi_batch.kernel import process
from tests.codemode.worker.native.payload import PAYLOADS, Target
from tests.codemode.worker.native.runner import attempt
from tests.codemode.worker.rigs import ROOT, Rig

SECRET = "a secret of the runner"
LAYERS = ("not_dumpable", "limits", "nobody", "no_new_privs", "landlock", "seccomp")
WITHOUT_SECCOMP = LAYERS[:-1]
SETS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "all": LAYERS,
    "seccomp alone": ("no_new_privs", "seccomp"),
    "all but seccomp": WITHOUT_SECCOMP,
    **{
        f"all but seccomp and {gone}": tuple(name for name in WITHOUT_SECCOMP if name != gone)
        for gone in ("limits", "nobody", "landlock")
    },
}
LIMIT_S = 5


def child(work: Callable[[], None]) -> int:
    """Fork off a process of the stage."""
    pid = os.fork()
    if pid == 0:
        try:
            process.die_with_parent(signal.SIGKILL)
            work()
        finally:
            os._exit(1)
    return pid


def victim() -> None:
    process.set_dumpable(is_dumpable=True)  # a change of user made it not so
    while True:
        signal.pause()


def serve(listening: list[socket.socket]) -> None:
    """Say the secret to whoever comes."""
    while True:
        ready, _, _ = select.select(listening, [], [])
        for server in ready:
            with contextlib.suppress(OSError):
                if server.type == socket.SOCK_DGRAM:
                    _, address = server.recvfrom(100)
                    server.sendto(SECRET.encode(), address)
                else:
                    with server.accept()[0] as client:
                        client.send(SECRET.encode())


def set_up(folder: str, user: int | None) -> Target:
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(type=socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    by_path, by_name = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    by_path.bind(f"{folder}/socket")
    by_name.bind("\0payloads")
    for server in (by_path, by_name):
        server.listen()
    if user is not None:
        os.chown(folder, user, user)
        os.chown(f"{folder}/socket", user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        process.set_dumpable(is_dumpable=True)
    child(lambda: serve([tcp, udp, by_path, by_name]))
    pid = child(victim)
    return Target(folder, SECRET, pid, tcp.getsockname()[1], udp.getsockname()[1], "payloads")


def put_back(folder: str) -> None:
    """What payloads change."""
    place = Path(folder)
    for entry in place.iterdir():
        if entry.name in ("socket", "folder"):
            continue
        entry.unlink() if not entry.is_dir() else entry.rmdir()
    (place / "secret").write_text(SECRET)
    (place / "secret").chmod(0o600)
    (place / "victim").write_text("as it was")
    (place / "folder").mkdir(exist_ok=True)


def changed(folder: str) -> bool:
    """Whether anything in the folder is not as it was put."""
    place = Path(folder)
    victim_file = place / "victim"
    return (
        {entry.name for entry in place.iterdir()} != {"secret", "victim", "folder", "socket"}
        or victim_file.read_text() != "as it was"
        or victim_file.stat().st_mode & 0o7777 == 0o4755
    )


def tried(name: str, target: Target, layers: tuple[str, ...]) -> str:
    """One payload in a process of its own, locked as said."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            own, host = socket.socketpair()
            os.dup2(writing, 40, inheritable=False)
            os.dup2(host.fileno(), 41, inheritable=False)
            os.dup2(own.fileno(), 3)
            os.closerange(4, 40)
            signal.alarm(LIMIT_S)
            lockdown.lock(parent=None, layers=layers)
            answer = attempt(name, target)
            os.write(40, answer.encode()[:1000])
        finally:
            os._exit(1)
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    answer = os.read(reading, 1000).decode() if select.select([reading], [], [], 0)[0] else ""
    os.close(reading)
    if Path(target.folder, f"proof-{name}").exists():
        return "did"
    return answer or f"ended: {os.waitstatus_to_exitcode(status)}"


def try_all(target: Target, layers: tuple[str, ...]) -> dict[str, str]:
    answers = {}
    for name in PAYLOADS:
        put_back(target.folder)
        answers[name] = tried(name, target, layers)
    return answers


def spied_on(layers: tuple[str, ...]) -> str:
    """What another process of the same user gets to see of the memory of a process locked as said."""
    reading, writing = os.pipe()

    def wait_locked() -> None:
        process.set_dumpable(is_dumpable=True)
        lockdown.lock(parent=None, layers=layers)
        os.write(writing, b".")
        signal.pause()

    pid = child(wait_locked)
    os.read(reading, 1)
    try:
        descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        return "did" if os.pread(descriptor, 8, id(None)) else "no effect"
    except OSError as error:
        return str(error)
    finally:
        os.kill(pid, signal.SIGKILL)


async def try_in_workers(target: Target) -> dict[str, str]:
    """Every payload as a script of a real zygote; then what it left behind."""
    answers = {}
    made = Zygote(runner="tests.codemode.worker.native.runner", paths=[ROOT])
    rig = Rig()
    await made.start()
    try:
        for name in PAYLOADS:
            put_back(target.folder)
            request = ScriptRequest(name, (), asdict(target), timeout_s=LIMIT_S)
            end = await made.run(request, rig.on_call, rig.output.append, rig.on_image)
            answers[name] = str(end.value if end.has_value else end.error)
            if changed(target.folder):
                answers[name] = "did"
        answers["layers"] = " ".join(made.layers)
    finally:
        await made.close()
    return answers


def main(folder: str, user: str) -> None:
    """Set the stage, try, print."""
    target = set_up(folder, None if user == "-" else int(user))
    time.sleep(0.05)
    answers = {name: try_all(target, layers) for name, layers in SETS.items()}
    answers["spy"] = {"on the open": spied_on(()), "on the locked": spied_on(("not_dumpable",))}
    put_back(folder)
    answers["worker"] = asyncio.run(try_in_workers(target))
    os.kill(target.pid, 0)  # the victim is still there
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
