"""The environment that children get: an allow-list, pinned so that nothing asks a person anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PINNED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "NPM_CONFIG_YES": "true",
    "NO_COLOR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""No prompt, pager, editor or colour: nobody is watching. No byte code: an edit within the same second and of
the same size would leave a stale .pyc, and the agent's own test run would lie."""

FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def child_environment(environ: Mapping[str, str], allowed: Sequence[str], scratch: str) -> dict[str, str]:
    """Build a child's environment from scratch.

    Only variables named in `allowed` pass, whatever their names suggest; a spec that allows one by name
    wins over what is pinned here. TMPDIR is a directory of the task's own.
    """
    passed = {name: environ[name] for name in allowed if name in environ}
    child = {"PATH": FALLBACK_PATH, "LANG": "C.UTF-8", "TMPDIR": scratch, **PINNED, **passed}
    child.setdefault("HOME", scratch)
    return child
