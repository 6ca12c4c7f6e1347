"""Container engines for tests: real ones where an image is named for them, else one that bubblewrap plays.

PI_BATCH_TEST_DOCKER_IMAGE and PI_BATCH_TEST_PODMAN_IMAGE name what the real ones are tried with: a system
with bash, git and python3, for podman also the path of its tree.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pi_batch.sandboxes.bwrap import find_bwrap

ENGINES = ("docker", "podman")
FAKE = Path(__file__).with_name("fake_engine.py")


def image_of(name: str) -> str:
    """The image to try a real engine with; empty where there is none."""
    return os.environ.get(f"PI_BATCH_TEST_{name.upper()}_IMAGE", "")


@functools.cache
def settings(name: str) -> dict[str, Any] | None:
    """What to make a container with; None where neither engine nor bubblewrap is there."""
    if image_of(name):
        return {"image": image_of(name), "search_path": os.environ["PATH"], "environ": dict(os.environ)}
    program = find_bwrap()
    if program is None or not Path("/usr/bin/python3").exists():
        return None
    path = f"{_fakes()}:{Path(program).parent}:/usr/bin:/bin"
    return {"image": "system", "search_path": path, "environ": {}}


@functools.cache
def _fakes() -> str:
    """A directory with both, as programs."""
    directory = Path(tempfile.mkdtemp(prefix="pib-engines-"))
    for name in ENGINES:
        program = directory / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" {name} "$@"\n', encoding="ascii")
        program.chmod(0o755)
    return str(directory)
