"""oracle does what a solution says, nop nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, Message, user_text
from pi_batch.providers.reference import Nop, Oracle
from pi_batch.providers.steps import Steps
from tests.benches import put
from tests.providers.requests import ask


async def said(provider: Steps) -> list[AssistantMessage]:
    """All replies, up to the one that ends the work."""
    history: list[Message] = [user_text("go")]
    while True:
        _, reply = await ask(provider, *history)
        history.append(reply)
        if reply.stop_reason == "stop":
            return [message for message in history if isinstance(message, AssistantMessage)]


async def test_every_file_is_written_and_what_is_listed_is_removed_first(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": "1\n", "b/c.py": "2\n", ".deleted": "old dir/x.py\n\ny.py\n"})
    work, last = await said(Oracle(tmp_path))
    assert [(call.name, call.arguments) for call in work.tool_calls] == [
        ("bash", {"command": "rm -r -- 'old dir/x.py' y.py"}),
        ("write", {"path": "a.py", "content": "1\n"}),
        ("write", {"path": "b/c.py", "content": "2\n"}),
    ]
    assert last.text == "Done as the reference solution does it."


async def test_an_answer_is_the_last_reply(tmp_path: Path) -> None:
    put(tmp_path, {".answer": '{"verdict": "fine"}\n'})
    assert [reply.text for reply in await said(Oracle(tmp_path))] == ['{"verdict": "fine"}\n']


def test_what_is_no_text_is_no_solution(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(ProviderError, match="cannot be read as a solution: holds a file that is no UTF-8"):
        Oracle(tmp_path)
    with pytest.raises(ProviderError, match="cannot be read as a solution: No such file"):
        Oracle(tmp_path / "gone")


async def test_doing_nothing_takes_one_reply() -> None:
    (only,) = await said(Nop())
    assert only.text == "Nothing was done."
    assert not only.tool_calls
