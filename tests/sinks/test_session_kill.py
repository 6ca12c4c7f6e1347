"""A writer that is killed at any moment loses nothing that it had said was written."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pi_batch.messages import UserMessage
from pi_batch.session import active_branch, messages, read_session

ROOT = Path(__file__).parents[2]
WRITE = """
import sys
from pathlib import Path
from pi_batch.messages import user_text
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
log = SessionWriter(Path(sys.argv[1]), cwd="/w", clock=FakeClock(), is_synced=False)
count = len(log.entries)
while True:
    log.append_message(user_text(f"{count} " + "x" * 20_000))
    print(count, flush=True)
    count += 1
"""


def write_until_killed(path: Path, after_s: float) -> int:
    """The last message that a writer said was written, before it was killed; -1 for none."""
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(after_s)
        writer.kill()
        said = (first + writer.stdout.read()).split("\n")[:-1]
    return int(said[-1])


@pytest.mark.slow
def test_twenty_kills_leave_one_whole_chain(tmp_path: Path) -> None:
    path, rng = tmp_path / "session.jsonl", random.Random(7)
    for _ in range(20):
        last = write_until_killed(path, rng.uniform(0, 0.05))
        session = read_session(path)
        assert session.warnings == ()
        said = [message for message in messages(active_branch(session)) if isinstance(message, UserMessage)]
        numbers = [int(str(message.content[0].text).split(" ", 1)[0]) for message in said]  # type: ignore[union-attr]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > last
