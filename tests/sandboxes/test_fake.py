"""What tests lean on in the fake beyond the protocol."""

from __future__ import annotations

import pytest

from pi_batch.sandboxes.fake import FakeCall, FakeFile, FakeRun, FakeSandbox


async def test_calls_are_kept_as_they_were_made() -> None:
    fake = FakeSandbox({"/w/f": b""}, lambda call: FakeRun(call.env["X"].encode(), exit_code=len(call.argv)))
    await fake.start()
    output: list[bytes] = []
    completed = await fake.exec(["a", "b"], cwd="/w", env={"X": "1"}, timeout_s=9, on_output=output.append)
    assert (completed.exit_code, output) == (2, [b"1"])
    assert fake.calls == [FakeCall(("a", "b"), "/w", {"X": "1"}, 9)]


async def test_without_a_script_no_program_is_installed() -> None:
    fake = FakeSandbox()
    await fake.start()
    with pytest.raises(FileNotFoundError) as missing:
        await fake.exec(["bash"], cwd="/", env={}, timeout_s=9, on_output=print)
    assert missing.value.filename == "bash"


async def test_files_may_be_anything_from_the_start_and_keep_their_mode() -> None:
    fake = FakeSandbox({"/a/b": FakeFile(b"x", mode=0o755), "/l": FakeFile(kind="link", link_target="a/b")})
    await fake.write("/l", b"y")
    assert fake.files["/a/b"].content == b"y"
    assert fake.files["/a/b"].mode == 0o755
    assert fake.files["/a"].kind == "directory"
