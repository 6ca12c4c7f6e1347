"""Write sandbox/seccomp.json and sandbox/apparmor-bwrap: our walls as profiles, for whoever builds their own.

Run it after a change to the filter: python scripts/profiles.py

Source: the profile format of docs.docker.com/engine/security/seccomp; AppArmor's apparmor.d(5).
"""

# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pi_batch.sandboxes.filters import (
    ALLOWED_FAMILIES,
    AVOIDABLE,
    CLOSED,
    NAMESPACE_FLAGS,
    ROUTES,
    TERMINAL_INJECTIONS,
)
from pi_batch.wiring.sandbox_findings import apparmor_profile

FOLDER = Path(__file__).parents[1] / "sandbox"
ARCHITECTURES = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")
LAST_FAMILY = 46
"""AF_MCTP, 45, is the last one of Linux 6.18."""
_CLONE_NEWTIME = 0x80


def seccomp() -> dict[str, Any]:
    """The filter of commands behind walls, as container engines and kubelets read it."""
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": list(ARCHITECTURES),
        "syscalls": [
            _refused(list(CLOSED), errno.EPERM),
            _refused(list(AVOIDABLE), errno.ENOSYS),
            *_conditions(),
        ],
    }


def _conditions() -> Iterator[dict[str, Any]]:
    for flag in NAMESPACE_FLAGS:
        names = ["unshare"] if flag == _CLONE_NEWTIME else ["unshare", "clone"]
        mask = {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
        yield {**_refused(names, errno.EPERM), "args": [mask]}
    for command in TERMINAL_INJECTIONS:
        equal = {"index": 1, "value": command, "op": "SCMP_CMP_EQ"}
        yield {**_refused(["ioctl"], errno.EPERM), "args": [equal]}
    for family in range(LAST_FAMILY):
        if family not in ALLOWED_FAMILIES:
            equal = {"index": 0, "value": family, "op": "SCMP_CMP_EQ"}
            yield {**_refused(["socket"], errno.EAFNOSUPPORT), "args": [equal]}
    netlink = {"index": 0, "value": ROUTES[0], "op": "SCMP_CMP_EQ"}
    others = {"index": 2, "value": ROUTES[1], "op": "SCMP_CMP_NE"}
    yield {**_refused(["socket"], errno.EAFNOSUPPORT), "args": [netlink, others]}


def _refused(names: list[str], code: int) -> dict[str, Any]:
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": code}


def files() -> dict[str, str]:
    """Name -> content."""
    return {
        "seccomp.json": json.dumps(seccomp(), indent=1) + "\n",
        "apparmor-bwrap": apparmor_profile("/usr/bin/bwrap") + "\n",
    }


if __name__ == "__main__":
    for name, content in files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
