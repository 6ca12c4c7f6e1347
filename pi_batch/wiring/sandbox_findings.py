"""What `pi-batch doctor` says of sandboxes: which work, what each stops, whether tools differ inside."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from pi_batch import sandboxes
from pi_batch.errors import SandboxError
from pi_batch.load.config import load_config
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes.bwrap import find_bwrap
from pi_batch.sandboxes.probe import probe
from pi_batch.wiring.finding import Finding
from pi_batch.wiring.sandboxing import ENGINES, LADDER, SandboxChooser, limits_here
from pi_batch.wiring.surroundings import Surroundings

_VERSION_S = 10.0
_COMPARED = ("python", "python3", "node", "npm", "git", "go", "cargo", "ruby", "java", "make")
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_PROFILE = """\
abi <abi/4.0>,
include <tunables/global>
profile bwrap {program} flags=(unconfined) {{
  userns,
}}"""


def sandbox_findings(around: Surroundings) -> Iterator[Finding]:
    """Each sandbox's probe, then the choice, then tools that differ inside. Nothing is changed."""
    works: list[str] = []
    for name in LADDER:
        make = partial(
            sandboxes.load(name),
            limits=limits_here(),
            search_path=around.environ.get("PATH", os.defpath),
            home=str(around.home or ""),
        )
        try:
            tried = asyncio.run(probe(make))  # type: ignore[arg-type] # partial of any maker
        except SandboxError as error:
            yield Finding("note", f"sandbox {name}", str(error).removeprefix(f"{name}: "))
            if name == "bwrap" and apparmor_forbids():
                yield Finding("note", "AppArmor", apparmor_advice(find_bwrap() or "/usr/bin/bwrap"))
        else:
            works.append(name)
            yield Finding("ok", f"sandbox {name}", "; ".join(tried.layers))
            if len(works) == 1:
                yield from _differing_tools(name, around)
    for finding in _engines(around):
        if finding.state == "ok":
            works.append(finding.name.removeprefix("sandbox "))
        yield finding
    if works:
        yield Finding("ok", "sandbox auto", f"is {works[0]} here")
    else:
        yield Finding("note", "sandbox auto", "is none here: commands run with your rights")


def _engines(around: Surroundings) -> Iterator[Finding]:
    """Container engines that are installed, tried where an image is named."""
    chooser = SandboxChooser.of(around, around.cwd)
    image = around.environ.get("PI_BATCH_SANDBOX_IMAGE") or load_config(around.cwd).sandbox_image or ""
    for name in ENGINES:
        if shutil.which(name, path=chooser.search_path) is None:
            continue
        if not image:
            yield Finding(
                "note", f"sandbox {name}", "is installed: name an image with sandbox_image to use it"
            )
        elif complaint := asyncio.run(chooser.complaint(name, image=image)):
            yield Finding("note", f"sandbox {name}", complaint.removeprefix(f"{name}: "))
        else:
            yield Finding("ok", f"sandbox {name}", f"a container of {image}")


def apparmor_forbids(setting: Path = _APPARMOR) -> bool:
    """True where AppArmor keeps ordinary users from making namespaces, as on Ubuntu 24.04."""
    try:
        return setting.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def apparmor_advice(program: str) -> str:
    """The profile that would let bwrap work; whoever runs the machine decides."""
    return (
        "forbids namespaces to ordinary users. To allow them to bwrap alone, put this into "
        "/etc/apparmor.d/bwrap and run `sudo apparmor_parser -r /etc/apparmor.d/bwrap`:\n"
        f"{apparmor_profile(program)}"
    )


def apparmor_profile(program: str) -> str:
    """What lets one program make namespaces, and gives it nothing else."""
    return _PROFILE.format(program=program)


def _differing_tools(name: str, around: Surroundings) -> Iterator[Finding]:
    """Tools whose version inside is not the one outside."""
    environ = {key: around.environ[key] for key in ("PATH", "HOME") if key in around.environ}
    commands = [tool for tool in _COMPARED if shutil.which(tool, path=environ.get("PATH"))]
    script = "; ".join(f'echo "{tool} $({_version(tool)} 2>&1 | head -n 1)"' for tool in commands)
    outside = subprocess.run(
        ["/bin/sh", "-c", script], capture_output=True, env=environ, check=False, timeout=_VERSION_S * 3
    ).stdout
    inside = asyncio.run(_inside(name, script, environ))
    different = [
        f"{one} outside, {other} inside"
        for one, other in zip(_lines(outside), _lines(inside), strict=False)
        if one != other
    ]
    if different:
        yield Finding("note", "tools", f"not the same in {name}: {'; '.join(different)}")
    else:
        yield Finding("ok", "tools", f"the same in {name} as outside: {', '.join(commands)}")


def _version(tool: str) -> str:
    return f"{tool} version" if tool == "go" else f"{tool} --version"


async def _inside(name: str, script: str, environ: Mapping[str, str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="pi-batch-") as directory:
        top = Path(directory).resolve()
        for part in ("root", "scratch"):
            (top / part).mkdir()
        place = SandboxPlace(str(top / "root"), str(top / "scratch"))
        home = environ.get("HOME", "")
        sandbox = sandboxes.load(name)(place, search_path=environ.get("PATH", os.defpath), home=home)
        output: list[bytes] = []
        await sandbox.start()
        try:
            await sandbox.exec(
                ["/bin/sh", "-c", script],
                cwd=place.root,
                env=environ,
                timeout_s=_VERSION_S * 3,
                on_output=output.append,
            )
        finally:
            await sandbox.close()
        return b"".join(output)


def _lines(output: bytes) -> list[str]:
    return output.decode("utf-8", "replace").rstrip("\n").split("\n")
