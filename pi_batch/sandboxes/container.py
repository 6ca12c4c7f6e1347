"""docker and podman: a container of an image, or of a directory tree, with our porter as its first process.

The porter is mounted into the image, which needs a python3 and nothing else of ours. The engine's own
filter and profiles stay on; our filter comes on top. What the engine's socket allows is never inside.

Source: docker-run(1), podman-run(1), podman-create(1).
"""

# ruff: noqa: S108 -- these directories are the container's own
from __future__ import annotations

import contextlib
import importlib.util
import os
import resource
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from pi_batch.errors import SandboxError
from pi_batch.porter.wire import close_all
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes import own_git, visible
from pi_batch.sandboxes.calls import GRACE_S
from pi_batch.sandboxes.enclosed import PLAIN_VARIABLES, Enclosed
from pi_batch.sandboxes.filters import walled_filter
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.way_out import WayOut

ENGINE_VARIABLES = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "HOME", "XDG_RUNTIME_DIR", "PATH"),
)
"""What an engine's client is told of this environment."""
HOME = "/pi-batch/home"
_DOOR = "/pi-batch/door"
_SHM = "1g"
_OWN_NAMES = frozenset({"HOME", "HOSTNAME", "TERM", "container", "PWD", "SHLVL", "_", "PATH"})
"""Variables of a container that say nothing about its image, or that we set."""
_ASK_S = 10.0
_LIMIT_FILES = {
    "memory": ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "processes": ("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"),
}
_UNLIMITED = 1 << 62
_PORTER = "import sys; sys.path.append({root!r}); from pi_batch.porter.serve import main; main({door!r})"
_ROOT = str(Path(__file__).resolve().parents[2])


class Container:
    """The walls of one container."""

    python = "python3"
    is_remote = True

    def __init__(
        self, engine: str, image: str, place: SandboxPlace, limits: Limits, variables: Mapping[str, str]
    ) -> None:
        self.name = engine
        self._image = image
        self.place = place
        self._limits = limits
        self._home = os.path.realpath(variables.get("HOME", "/var/empty"))
        self._container = ""
        self._image_variables: dict[str, str] = {}
        self._places = own_git.HeldPlaces()
        self._way_out = WayOut(place.network)
        self.variables: Mapping[str, str] = {**PLAIN_VARIABLES, **variables}
        self.door: str | None = f"{place.scratch}/.door/socket"
        self._walls_layers = (
            f"a container of {image}",
            self._way_out.layer,
            "no privileges",
            "filtered system calls",
        )
        self.layers: tuple[str, ...] = self._walls_layers

    def command(self, _porter: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
        """The engine with all its words. Raises: SandboxError."""
        program = self._program()
        if not self._image:
            raise SandboxError(f"{self.name}: no image is named: set sandbox_image")
        is_tree = self._image.startswith(("/", "./"))
        if is_tree and self.name == "docker":
            raise SandboxError(f"docker: takes images, not the directory {self._image}: podman does")
        self.close()
        self._container = f"pi-batch-{secrets.token_hex(6)}"
        words = [program, "run", "--rm", "--name", self._container, *self._walls(), *self._mounts()]
        porter = ["-I", "-S", "-X", "utf8", "-c", _PORTER.format(root=_ROOT, door=f"{_DOOR}/socket")]
        if is_tree:  # what is written lies over the tree, and is gone afterwards
            tree = os.path.realpath(self._image)
            return [*words, "--rootfs", f"{tree}:O", self.python, *porter], ()
        return [*words, "--entrypoint", self.python, self._image, *porter], ()

    async def lock(self, line: Line) -> None:
        """Lock the porter, see what the image says, open the way out. Raises: OSError, SandboxError."""
        await line.ask("lock", walled_filter())
        fields, _ = await line.ask("environment")
        pairs = (os.fsdecode(field).partition("=") for field in fields)
        self._image_variables = {name: value for name, _, value in pairs}
        await self._way_out.open(line)
        kept = [what for what in _LIMIT_FILES if await self._is_limited(line, what)]
        self.layers = (*self._walls_layers, *([f"the engine's limits on {', '.join(kept)}"] if kept else ()))

    async def _is_limited(self, line: Line, what: str) -> bool:
        """Whether the engine keeps a limit on all processes together: not every machine lets it."""
        for path in _LIMIT_FILES[what]:
            with contextlib.suppress(OSError):
                _, files = await line.ask("open", path.encode())
                try:
                    value = os.read(files[0], 32).strip() if files else b""
                finally:
                    close_all(files)
                if value.isdigit() and int(value) < _UNLIMITED:
                    return True
        return False

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """A command's variables over the image's; PATH is the image's, HOME a private one."""
        image = {name: value for name, value in self._image_variables.items() if name not in _OWN_NAMES}
        path = self._image_variables.get("PATH", os.defpath)
        own = {"TAR_OPTIONS": "--no-same-owner"} if os.geteuid() == 0 else {}
        return {**image, **own, **env, "PATH": path, "HOME": HOME, **self._way_out.variables}

    def close(self) -> None:
        """Let go of the way out, and of places that were held."""
        self._way_out.close()
        self._places.give_back()

    def force(self) -> None:
        """Have the engine end the container."""
        if self._container:
            self._ask("rm", "-f", self._container)

    def _program(self) -> str:
        program = shutil.which(self.name, path=self.variables["PATH"])
        if program is None:
            raise SandboxError(f"{self.name}: not installed: no {self.name} on PATH")
        return program

    def _ask(self, *words: str) -> str:
        """What the engine answers; empty where it does not."""
        try:
            done = subprocess.run(
                [self._program(), *words],
                capture_output=True,
                env=self.variables,
                check=False,
                timeout=_ASK_S,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    def _walls(self) -> Iterator[str]:
        limits = self._limits
        yield from ("--pull", "never", "--log-driver", "none", "--hostname", "sandbox", "--workdir", "/")
        yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only")
        yield from ("--ipc", "private", "--shm-size", _SHM, "--no-healthcheck")
        if self.place.network is not True:
            yield from ("--network", "none")
        yield from ("--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes))
        yield from ("--pids-limit", str(limits.processes))
        yield from self._user()
        if self.name == "podman":
            yield from ("--read-only-tmpfs=false", "--http-proxy=false", "--security-opt", "label=disable")
            # It would ask for the most there is, which not every machine allows.
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            yield from ("--ulimit", f"nofile={soft}:{hard}")
            yield from ("--ulimit", f"nproc={limits.processes}:{limits.processes}")

    def _user(self) -> Iterator[str]:
        """Who one is inside: the same user, so that files are nobody else's."""
        user = f"{os.geteuid()}:{os.getegid()}"
        if os.geteuid() == 0:
            yield from ("--user", "0:0")
        elif self.name == "podman":
            yield from ("--userns", "keep-id", "--user", user)
        else:  # a daemon of one's own maps one's user to root
            is_rootless = "rootless" in self._ask("info", "--format", "{{json .SecurityOptions}}")
            yield from ("--user", "0:0" if is_rootless else user)

    def _mounts(self) -> Iterator[str]:
        """Files; what lies below another lies over it, whatever the order."""
        mounts = dict(self._view())
        for target in mounts:
            self._hold(target)
        for target, source in mounts.items():
            if set(target + source) & set(',"\n'):
                raise SandboxError(f"{self.name}: cannot mount a path with a comma or a quote: {target}")
            if not source:
                # podman would copy into it what it is there to hide.
                empty = ",notmpcopyup" if self.name == "podman" else ""
                yield from ("--mount", f"type=tmpfs,dst={target},tmpfs-size=1m{empty}")
            else:
                path, _, mode = source.rpartition(":")
                only = ",readonly" if mode == "ro" else ""
                yield from ("--mount", f"type=bind,src={path},dst={target}{only}")

    def _view(self) -> Iterator[tuple[str, str]]:
        """(where, what), `path:ro` or `path:rw`; empty for something empty."""
        place = self.place
        package, specs = Path(_ROOT, "pi_batch"), importlib.util.find_spec("pathspec")
        yield str(package), f"{package}:ro"
        if specs is not None and specs.origin is not None:  # what our search needs besides
            yield f"{_ROOT}/pathspec", f"{Path(specs.origin).parent}:ro"
        yield _DOOR, f"{self._private('door')}:ro"
        yield "/tmp", f"{self._private('tmp')}:rw"
        yield "/var/tmp", f"{self._private('tmp')}:rw"
        yield HOME, f"{self._private('home')}:rw"
        top = own_git.top_of(place.root, self._home) if place.is_users_own else None
        if top is not None:
            yield top, f"{top}:ro"
        for path in (place.root, place.scratch):
            yield path, f"{path}:rw"
        yield from self._hidden()
        for path in place.readable:
            yield path, f"{path}:ro"

    def _hidden(self) -> Iterator[tuple[str, str]]:
        """What must not be seen or changed though it lies in what is shown."""
        place = self.place
        for path in visible.sockets_below((place.root,)):
            yield path, f"{os.devnull}:ro"
        for path in place.hidden:
            if visible.is_within(path, place.root) and Path(path).exists():
                yield path, ""
        if not place.is_users_own:
            return
        for git_dir in own_git.repositories(place.root):
            yield git_dir, f"{git_dir}:rw"
            self._places.hold(git_dir)
            for path in own_git.protected(git_dir):
                if Path(path).exists():
                    yield path, f"{path}:ro"
        if Path(place.root, ".pi-batch").exists():
            yield f"{place.root}/.pi-batch", ""
        for name in visible.SECRETS_IN_HOME:
            path = f"{self._home}/{name}"
            if visible.is_within(path, place.root) and Path(path).exists():
                yield path, "" if Path(path).is_dir() else f"{os.devnull}:ro"

    def _private(self, name: str) -> str:
        """A directory of this task that lies where everybody else has theirs."""
        path = Path(self.place.scratch, f".{name}")
        path.mkdir(exist_ok=True, mode=0o700)
        return str(path)

    def _hold(self, target: str) -> None:
        """Make where something is mounted below our /tmp: made by the engine, it would be another user's."""
        if target.startswith("/tmp/"):
            Path(self._private("tmp"), target.removeprefix("/tmp/")).mkdir(parents=True, exist_ok=True)


def docker(
    place: SandboxPlace | None = None,
    limits: Limits | None = None,
    *,
    search_path: str = os.defpath,
    home: str = "",
    image: str = "",
    environ: Mapping[str, str] = PLAIN_VARIABLES,
    grace_s: float = GRACE_S,
) -> Enclosed:
    """A container of an image, by docker."""
    told = _told(environ, search_path, home)
    return _contained("docker", image, place, limits or Limits(), variables=told, grace_s=grace_s)


def podman(
    place: SandboxPlace | None = None,
    limits: Limits | None = None,
    *,
    search_path: str = os.defpath,
    home: str = "",
    image: str = "",
    environ: Mapping[str, str] = PLAIN_VARIABLES,
    grace_s: float = GRACE_S,
) -> Enclosed:
    """A container of an image, or of a directory tree that holds a system, by podman."""
    told = _told(environ, search_path, home)
    return _contained("podman", image, place, limits or Limits(), variables=told, grace_s=grace_s)


def _told(environ: Mapping[str, str], search_path: str, home: str) -> dict[str, str]:
    """What the engine's client gets of the environment."""
    told = {name: environ[name] for name in ENGINE_VARIABLES if name in environ}
    return {**told, "PATH": search_path, **({"HOME": home} if home else {})}


def _contained(
    engine: str,
    image: str,
    place: SandboxPlace | None,
    limits: Limits,
    *,
    variables: Mapping[str, str],
    grace_s: float,
) -> Enclosed:
    place = place or SandboxPlace("/var/empty", "/var/empty")
    limits = replace(limits, wants_cgroup=False)  # the engine makes one
    return Enclosed(Container(engine, image, place, limits, variables), limits, grace_s=grace_s)
