"""What must not be seen, though it lies in what is shown: beside a program of a tool chain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes import load
from pi_batch.sandboxes.limits import Limits
from tests.benches import put
from tests.sandboxes.rigs import PATH, works


@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_a_hidden_directory_of_a_tool_chain_is_not_seen_and_its_neighbours_are(
    name: str, tmp_path: Path
) -> None:
    if not works(name):
        pytest.skip(f"no {name} here")
    top = Path(os.path.realpath(tmp_path))
    put(
        top,
        {"tool/bin/x": "", "tool/lib/open/a": "seen", "tool/lib/bench/t/solution": "secret", "root/x": ""},
    )
    (top / "scratch").mkdir()
    place = SandboxPlace(str(top / "root"), str(top / "scratch"), hidden=(str(top / "tool/lib/bench"),))
    sandbox = load(name)(place, Limits(), search_path=f"{top}/tool/bin:{PATH}", home="")
    said: list[bytes] = []
    await sandbox.start()
    try:
        ways = ("lib", "lib64", "lib/around/lib")
        script = f"cat {top}/tool/lib/open/a; " + "".join(
            f"cat {top}/tool/{way}/bench/t/solution; ls {top}/tool/{way}/bench; " for way in ways
        )
        await sandbox.exec(
            ["sh", "-c", script], cwd=place.root, env={"PATH": PATH}, timeout_s=20, on_output=said.append
        )
    finally:
        await sandbox.close()
    text = b"".join(said).decode()
    assert text.startswith("seen")
    assert "secret" not in text
    assert "\nt\n" not in text
