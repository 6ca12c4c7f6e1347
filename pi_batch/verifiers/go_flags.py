"""`go test` asked for the name of each test, through GOFLAGS.

A GOFLAGS in the environment hides the one that `go env -w` wrote, so that one is taken along.
Source: `go help environment`; other go commands pass over flags that they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping

from pi_batch.protocols import Sandbox

GOENV = ".config/go/env"
MAX_BYTES = 64 * 1024


async def with_names(sandbox: Sandbox, env: Mapping[str, str]) -> dict[str, str]:
    """The environment in which `go test` prints a line for each test."""
    before = env.get("GOFLAGS") or await _written(sandbox, env)
    return {**env, "GOFLAGS": f"{before} -v".strip()}


async def _written(sandbox: Sandbox, env: Mapping[str, str]) -> str:
    path = env.get("GOENV") or f"{env.get('HOME', '')}/{GOENV}"
    try:
        content = await sandbox.read(path, limit_bytes=MAX_BYTES)
    except OSError:
        return ""
    lines = content.decode("utf-8", "replace").split("\n")
    return next((line.removeprefix("GOFLAGS=").strip() for line in lines if line.startswith("GOFLAGS=")), "")
