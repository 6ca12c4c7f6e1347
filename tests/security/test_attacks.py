"""Every attack is held by every sandbox that claims to stop it, for root and for an ordinary user.

Landlock is attacked as a whole behind an outer bubblewrap, which is also what a machine looks like that
forbids namespaces: should a wall fall, nothing but that is hit.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pi_batch.sandboxes.bwrap import find_bwrap
from tests.sandboxes.engines import image_of
from tests.sandboxes.rigs import works
from tests.security.attacks import ALL, Attack
from tests.security.runner import claims

pytestmark = [pytest.mark.slow, pytest.mark.timeout(110)]

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
NAMESPACES_FORBIDDEN = (
    *("--unshare-user", "--unshare-pid", "--disable-userns"),
    *("--dev-bind", "/", "/", "--proc", "/proc", "--"),
)
"""What GitHub's Ubuntu and many containers are like."""
OWN_MACHINE = (
    *("--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
    *("--ro-bind", str(ROOT), str(ROOT), "--tmpfs", "/dev/shm", "--chdir", str(ROOT), "--"),
)
"""Somewhere that attacks may succeed."""

KINDS: Mapping[str, tuple[str, str]] = {
    "bwrap": ("bwrap", ""),
    "bwrap, an ordinary user": ("bwrap", "user"),
    "landlock": ("landlock", ""),
    "landlock, an ordinary user": ("landlock", "user"),
    "landlock, namespaces forbidden": ("landlock", "outer"),
    "podman": ("podman", ""),
    **({"docker": ("docker", "")} if image_of("docker") else {}),  # played, it would be the same once more
}
CASES = [(kind, attack) for kind, (name, _) in KINDS.items() for attack in ALL if claims(name) in attack.only]


@functools.cache
def results(kind: str) -> Mapping[str, Any]:
    """What became of all attacks in one sandbox, by name; skips where this machine has it not."""
    name, how = KINDS[kind]
    if not works(name):
        pytest.skip(f"{name} does not come up on this machine")
    flags = ["--pids"] if name != "landlock" or how == "outer" else []
    words = ["-m", "tests.security.runner", name, *flags]
    if how == "user":
        done = as_nobody(words)
    elif how == "outer":
        done = run([outer_bwrap(), *NAMESPACES_FORBIDDEN, sys.executable, *words])
    else:
        done = run([sys.executable, *words])
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return {result["name"]: result for result in json.loads(done.stdout)}


def outer_bwrap() -> str:
    """Bubblewrap of at least 0.8, which can forbid namespaces."""
    program = find_bwrap()
    if program is None or not works("bwrap"):
        pytest.skip("bubblewrap does not come up on this machine")
    return program


def as_nobody(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """Run Python as a user that owns nothing."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join([str(ROOT), *packages])}
    for python in (os.path.realpath(sys.executable), f"/usr/bin/python{version}"):
        try:
            probe = run([python, "-c", "import msgspec, psutil"], user=NOBODY, env=env)
        except OSError:
            continue
        if probe.returncode == 0:
            return run([python, *words], user=NOBODY, env=env)
    pytest.skip("no Python that an ordinary user can run")


def run(
    words: Sequence[str], *, user: int | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program from the project's directory."""
    more: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False, timeout=100, **more)


@pytest.mark.parametrize(("kind", "attack"), CASES, ids=[f"{kind}: {attack.name}" for kind, attack in CASES])
def test_an_attack_is_held_and_the_same_means_work_where_they_may(kind: str, attack: Attack) -> None:
    found = results(kind).get(attack.name)
    if found is None:
        pytest.skip("it would hit this machine, or is not claimed here; tried behind other walls")
    assert found["damage"] == [], found["said"]
    if claims(KINDS[kind][0]) in attack.twin_only:
        assert found["twin"].split("\n")[-1] == "fine"


def test_without_walls_the_attacks_succeed() -> None:
    """They are no empty threats; in a machine of their own, where they can do no harm."""
    done = run([outer_bwrap(), *OWN_MACHINE, sys.executable, "-m", "tests.security.runner", "none"])
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    succeeded = {result["name"] for result in json.loads(done.stdout) if result["damage"]}
    assert succeeded >= EFFECTIVE


EFFECTIVE = {attack.name for attack in ALL if attack.name.startswith(("read a file", "plant", "set a "))} | {
    "write beside the workspace",
    "change a file outside",
    "connect by TCP",
    "send a datagram",
    "connect to a socket outside",
    "connect to an abstract socket",
    "send to an abstract socket",
    "read a process's environment",
    "lead git to other settings",
    "put other hooks in their place",
}


def test_there_are_at_least_sixty_attacks_of_every_kind() -> None:
    assert len({attack.name for attack in ALL}) == len(ALL) >= 100
