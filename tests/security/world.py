"""What lies around a sandbox to be attacked: secrets, listeners, a process; and what became of them."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes.own_git import repositories

TOKEN = f"token-{secrets.token_hex(12)}"
"""Whoever prints this has read what nobody may read."""


_AS_SOMEBODY = ("-c", "user.name=a", "-c", "user.email=a@b")


@dataclass
class World:
    """One directory tree with everything in it."""

    top: Path
    listeners: list[str] = field(default_factory=list)
    """Every contact that a listener outside had."""
    variables: dict[str, str] = field(default_factory=dict)
    """What attacks are told: where things are."""
    victim: subprocess.Popen[bytes] | None = None

    @property
    def outside(self) -> Path:
        """A directory with a secret, a neighbour of the workspace."""
        return self.top / "outside"

    @property
    def home(self) -> Path:
        """A home with keys in it."""
        return self.top / "home"

    def place(self) -> SandboxPlace:
        """Where the sandbox is: the workspace is a person's own repository."""
        real = self.top.resolve()
        return SandboxPlace(
            str(real / "root"),
            str(real / "scratch"),
            readable=(str(real / "run" / "outputs"),),
            hidden=(str(real / "run"),),
            is_users_own=True,
        )

    def damage(self, *, git: bool = False) -> list[str]:
        """What is not as it was, or was reached; `git`: try the owner's git, too."""
        found = [f"a listener was reached: {contact}" for contact in self.listeners]
        if (self.outside / "secret").read_text(encoding="ascii") != TOKEN:
            found.append("a file outside was changed")
        if sorted(os.listdir(self.outside)) != ["secret", "socket"]:  # noqa: PTH208
            found.append("files outside were made or removed")
        if sorted(os.listdir(self.home)) != [".bashrc", ".ssh"]:  # noqa: PTH208
            found.append("a home was changed")
        if self.victim is not None and (self.victim.poll() is not None or self._is_stopped()):
            found.append("a process outside was signalled")
        if Path("/tmp", self.variables["NAME"]).exists() or Path("/dev/shm", self.variables["NAME"]).exists():
            found.append("a file was left on the machine")
        return [*found, *(self._git_damage() if git else ())]

    def mend(self) -> None:
        """Make it what it was, after an attack that was not held."""
        self.listeners.clear()
        (self.outside / "secret").write_text(TOKEN, encoding="ascii")
        kept = {"secret", "socket", ".bashrc", ".ssh"}
        left = [
            path for place in (self.outside, self.home) for path in place.iterdir() if path.name not in kept
        ]
        for path in (*left, Path("/tmp", self.variables["NAME"]), Path("/dev/shm", self.variables["NAME"])):
            path.unlink(missing_ok=True)

    def _is_stopped(self) -> bool:
        assert self.victim is not None
        stat = Path(f"/proc/{self.victim.pid}/stat").read_text(encoding="ascii")
        return stat.rpartition(") ")[2].startswith("T")

    def _git_damage(self) -> Iterator[str]:
        """What the owner's git would run."""
        repository = self.top / "root"
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "status", "--porcelain"],
            cwd=repository,
            capture_output=True,
            env={"PATH": os.defpath, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"},
            check=False,
        )
        if done.returncode:
            yield f"the repository is broken: {done.stderr.decode()}"
        subprocess.run(
            ["git", *_AS_SOMEBODY, "-c", "safe.directory=*", "commit", "-q", "--allow-empty", "-m", "x"],
            cwd=repository,
            capture_output=True,
            env={"PATH": os.defpath, "HOME": str(self.home)},
            check=False,
        )
        if (self.top / "pwned").exists():
            (self.top / "pwned").unlink()
            yield "the owner's git ran what was planted"


@contextlib.contextmanager
def world(top: Path) -> Iterator[World]:
    """Build it, and take it down again."""
    made = World(top)
    for name in ("root", "scratch", "outside", "home/.ssh", "run/outputs", "shadow"):
        (top / name).mkdir(parents=True)
    for name in ("outside/secret", "home/.ssh/id", "home/.bashrc", "run/run.json", "shadow/config"):
        (top / name).write_text(TOKEN, encoding="ascii")
    (top / "run/outputs/big.txt").write_text("fine\n", encoding="ascii")
    (top / "root" / "ours").write_text("fine\n", encoding="ascii")
    (top / "root" / ".pi-batch").mkdir()
    (top / "root" / ".pi-batch" / "run.json").write_text(TOKEN, encoding="ascii")
    _make_repository(top / "root")
    with contextlib.ExitStack() as stack:
        made.victim = stack.enter_context(
            subprocess.Popen(
                ["sleep", "600"], env={"SECRET": TOKEN, "PATH": os.defpath}, stdin=subprocess.DEVNULL
            )
        )
        stack.callback(made.victim.kill)
        _listen(made, stack)
        made.variables |= {
            "OUT": str(made.outside.resolve()),
            "TOP": str(top.resolve()),
            "FAKE_HOME": str(made.home.resolve()),
            "VICTIM": str(made.victim.pid),
            "NAME": f"pib-{secrets.token_hex(6)}",
            "RUNNER": str(os.getpid()),
        }
        planted = [
            Path("/tmp", f"{made.variables['NAME']}-s"),
            Path("/dev/shm", f"{made.variables['NAME']}-s"),
        ]
        for path in planted:
            path.write_text(TOKEN, encoding="ascii")
            stack.callback(path.unlink)
        yield made


def _make_repository(root: Path) -> None:
    for words in (["init", "-q"], ["add", "ours"], ["commit", "-q", "-m", "first"]):
        subprocess.run(
            ["git", *_AS_SOMEBODY, *words],
            cwd=root,
            check=True,
            env={"PATH": os.defpath, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TEMPLATE_DIR": ""},
        )
    assert repositories(str(root.resolve()))


def _listen(made: World, stack: contextlib.ExitStack) -> None:
    """Servers that note every contact, and tell the token to whoever connects."""
    abstract = f"pib-{secrets.token_hex(6)}"
    inet6 = socket.has_ipv6
    streams = [
        ("TCP", socket.create_server(("127.0.0.1", 0))),
        ("UNIX", _bound(socket.SOCK_STREAM, str(made.outside / "socket"))),
        ("ABSTRACT", _bound(socket.SOCK_STREAM, f"\0{abstract}")),
        ("TMPUNIX", _bound(socket.SOCK_STREAM, f"/tmp/{abstract}.sock")),
    ]
    if inet6:
        with contextlib.suppress(OSError):
            streams.append(("TCP6", socket.create_server(("::1", 0), family=socket.AF_INET6)))
    for name, server in streams:
        server.listen(16)
        stack.callback(server.close)
        threading.Thread(target=_accept, args=(made, name, server), daemon=True).start()
        address = server.getsockname()
        made.variables[name] = str(address[1]) if isinstance(address, tuple) else _text(address)
    stack.callback(Path(f"/tmp/{abstract}.sock").unlink)
    made.variables.setdefault("TCP6", "1")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    datagrams = _bound(socket.SOCK_DGRAM, f"\0{abstract}d")
    made.variables |= {"UDP": str(udp.getsockname()[1]), "DGRAM": f"{abstract}d"}
    for name, receiver in (("UDP", udp), ("DGRAM", datagrams)):
        stack.callback(receiver.close)
        threading.Thread(target=_receive, args=(made, name, receiver), daemon=True).start()


def _text(address: str | bytes) -> str:
    text = address if isinstance(address, str) else address.decode()
    return text.lstrip("\0")


def _bound(kind: int, address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(address)
    return server


def _accept(made: World, name: str, server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        made.listeners.append(name)
        with contextlib.suppress(OSError), connection:
            connection.sendall(TOKEN.encode())


def _receive(made: World, name: str, receiver: socket.socket) -> None:
    while True:
        try:
            receiver.recvfrom(4096)
        except OSError:
            return
        made.listeners.append(name)
