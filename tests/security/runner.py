"""Carries out all attacks in one sandbox: `python -m tests.security.runner NAME` prints what became of each.

A program of its own, so that it can be run as another user and behind other walls.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pi_batch.kernel import cgroups
from pi_batch.protocols import Sandbox
from pi_batch.sandboxes import load
from pi_batch.sandboxes.limits import Limits
from tests.sandboxes.engines import ENGINES, image_of
from tests.sandboxes.engines import settings as engine_settings
from tests.security.attacks import ALL, FILES, GIT, NETWORK, OPENED, Attack
from tests.security.world import TOKEN, World, world

MEMORY_BYTES = 2 << 30
PROCESSES = 400
FILE_BYTES = 1 << 30
DISK_BYTES, FILE_COUNT = 1 << 29, 20_000
ATTACK_S = 8.0
NOT_IN_CONTAINERS = {
    "read password hashes": "they are the image's",
    "fill what the mounts hang in": "/dev is a disk of the engine's, of 64 MiB",
    "fill the disk without a name": "open files of a container are not seen from outside",
}


@dataclass(frozen=True)
class Result:
    """What became of one attack and of its twin."""

    name: str
    damage: tuple[str, ...]
    """What it got; empty: it was held."""
    twin: str
    """What the twin printed; empty where it is not expected to work."""
    said: str
    """What the attack printed, for whoever reads a failure."""


def limits() -> Limits:
    """Small ones, in a control group where there can be one."""
    return Limits(
        MEMORY_BYTES, PROCESSES, FILE_BYTES, disk_bytes=DISK_BYTES, files=FILE_COUNT, wants_cgroup=True
    )


def claims(name: str) -> str:
    """Whose claims a sandbox makes: containers stop what bubblewrap stops."""
    return "bwrap" if name in ENGINES else name


def wanted(name: str, *, has_pids: bool) -> Iterator[Attack]:
    """The attacks that a sandbox claims to stop."""
    can_count = os.geteuid() != 0 or "pids" in {one for h in cgroups.hierarchies() for one in h.controllers}
    if name in ENGINES:
        can_count = bool(image_of(name))
    for attack in ALL:
        if name == "none":
            harmless = attack in (*FILES, *NETWORK, *GIT) or "environment" in attack.name
            if harmless and not attack.name.startswith(("remove", "rename", "unmount", "remount")):
                yield attack
            continue
        if claims(name) not in attack.only or (attack.needs_pids and not has_pids):
            continue
        if attack.name == "make very many processes" and not can_count:
            continue
        if name in ENGINES and attack.name in NOT_IN_CONTAINERS:
            continue
        yield attack


async def attack_all(name: str, *, has_pids: bool) -> list[Result]:
    """Every attack, in one sandbox after another's ruin."""
    with (
        tempfile.TemporaryDirectory(prefix="pib-security-", ignore_cleanup_errors=True) as directory,
        world(Path(directory)) as made,
    ):
        settings: dict[str, Any] = {
            "limits": limits(),
            "search_path": os.environ["PATH"],
            "home": str(made.home),
        }
        if name in ENGINES:
            settings = {**settings, **(engine_settings(name) or {})}
        sandbox = load(name)(made.place(), **({} if name == "none" else settings))
        await sandbox.start()
        try:
            return [await _attack(sandbox, attack, made) for attack in wanted(name, has_pids=has_pids)]
        finally:
            await sandbox.close()


async def _attack(sandbox: Sandbox, attack: Attack, made: World) -> Result:
    said = await _run(sandbox, attack.script, made)
    time.sleep(0.005)  # what was sent arrives
    damage = made.damage(git=attack in GIT)
    damage += [word for word in (TOKEN, OPENED) if word in said]
    made.mend()
    twin = ""
    if claims(sandbox.name) in attack.twin_only:
        twin = await _run(sandbox, attack.twin, made)
    return Result(attack.name, tuple(damage), twin, said[-300:])


async def _run(sandbox: Sandbox, script: str, made: World) -> str:
    output: list[bytes] = []
    place = made.place()
    done = await sandbox.exec(
        ["bash", "-c", script],
        cwd=place.root,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(made.home.resolve()),
            "TMPDIR": place.scratch,
            **made.variables,
        },
        timeout_s=ATTACK_S,
        on_output=output.append,
    )
    text = b"".join(output)[-200_000:].decode("utf-8", "replace").strip()
    return f"{text} [timed out]" if done.timed_out else text


def main() -> None:
    """Print the results as JSON."""
    name, *flags = sys.argv[1:]
    results = asyncio.run(attack_all(name, has_pids="--pids" in flags))
    sys.stdout.write(json.dumps([asdict(result) for result in results]))


if __name__ == "__main__":
    main()
