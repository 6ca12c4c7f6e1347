"""What is said is on disk, then in the history, then in the stream; in this order and masked."""

from __future__ import annotations

import pytest

from pi_batch.engine.conversation import Conversation
from pi_batch.engine.transcript import Transcript
from pi_batch.errors import LogWriteError
from pi_batch.events import Event, MessageEnd, MessageStart
from pi_batch.providers.fake import says
from pi_batch.redact import Masker
from tests.clocks import FakeClock
from tests.engine.fakes import MemorySession


def make(session: MemorySession, events: list[Event]) -> Transcript:
    mask = Masker(["geheim-geheim"])
    return Transcript(session, Conversation(0), events.append, mask, FakeClock())


def test_words_are_masked_before_they_are_written() -> None:
    session, events = MemorySession(), list[Event]()
    transcript = make(session, events)
    transcript.say("the key is geheim-geheim")
    assert "geheim" not in str(session.messages)
    assert transcript.conversation.messages == session.messages
    assert [type(event) for event in events] == [MessageStart, MessageEnd]


def test_what_cannot_be_written_is_not_in_the_history() -> None:
    session, events = MemorySession(fails_after=0), list[Event]()
    transcript = make(session, events)
    with pytest.raises(LogWriteError):
        transcript.say("go")
    assert transcript.conversation.messages == []
    assert not [event for event in events if isinstance(event, MessageEnd)]


def test_a_reply_has_begun_already_and_tells_who_gave_it() -> None:
    session, events = MemorySession(), list[Event]()
    make(session, events).add(says("done"), "fake/m")
    (event,) = events
    assert isinstance(event, MessageEnd)
    assert (event.entry_id, event.model) == ("00000001", "fake/scripted")
