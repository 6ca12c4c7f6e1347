"""What every sink and every session log does, over the room's table."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch import sinks
from pi_batch.errors import LogWriteError, UsageError
from pi_batch.events import Event, Record
from pi_batch.messages import AssistantMessage, TextBlock, Usage, user_text
from pi_batch.protocols import Sink
from pi_batch.session_log import SessionLog
from pi_batch.sinks.fake import KeptSession
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
from tests.strategies import instances

FACTORIES: dict[str, Callable[[type[Any], Path], Sink]] = {
    "event_log": lambda kind, folder: kind(folder / f"{random.random()}.jsonl"),
    "stream": lambda kind, _: kind(io.BytesIO()),
    "progress": lambda kind, _: kind(io.StringIO(), FakeClock()),
    "fake": lambda kind, _: kind(),
}


@pytest.mark.parametrize("name", sorted(FACTORIES))
@settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_sink_takes_any_record_and_alters_none(name: str, tmp_path: Path, data: st.DataObject) -> None:
    sink = FACTORIES[name](sinks.load(name), tmp_path)
    kind = data.draw(st.sampled_from(get_args(Event)))
    record = Record(
        data.draw(st.none() | st.integers(1, 9)),
        "t",
        data.draw(st.none() | st.just("k")),
        data.draw(instances(kind)),
    )
    before = deepcopy(record)
    sink.handle(record)
    assert record == before
    sink.close()
    sink.close()


@pytest.mark.parametrize("name", sorted(sinks.TABLE))
def test_every_sink_of_the_table_is_tried_here(name: str) -> None:
    assert name in FACTORIES
    assert callable(sinks.load(name).handle)


def test_an_unknown_sink_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match="sink 'carrier-pigeon': unknown; known are event_log, fake"):
        sinks.load("carrier-pigeon")


SESSIONS: dict[str, Callable[[Path], SessionLog]] = {
    "session_log": lambda folder: SessionWriter(folder / "session.jsonl", cwd="/w", clock=FakeClock()),
    "kept": lambda _: KeptSession(),
}


@pytest.mark.parametrize("name", sorted(SESSIONS))
def test_a_session_log_gives_each_entry_an_id_of_its_own(name: str, tmp_path: Path) -> None:
    log = SESSIONS[name](tmp_path)
    ids = [
        log.append_model_change("openai", "gpt"),
        log.append_message(user_text("go")),
        log.append_custom("pi-batch", {"kind": "request_start"}),
        log.append_message(AssistantMessage((TextBlock("done"),), "stop")),
        log.append_thinking_level_change("high"),
        log.append_session_info("fix the tests"),
        log.append_compaction("all of it", None, 100, usage=Usage(1, 1), cost_usd=0.1),
        log.append_usage("compaction", "openai", "gpt", Usage(1, 1), None),
    ]
    assert len(set(ids)) == len(ids)
    assert all(len(entry_id) == 8 for entry_id in ids)
    assert log.session_id
    log.close()
    log.close()


@pytest.mark.parametrize("name", sorted(SESSIONS))
def test_a_closed_session_log_says_so(name: str, tmp_path: Path) -> None:
    log = SESSIONS[name](tmp_path)
    log.close()
    with pytest.raises(LogWriteError, match="closed"):
        log.append_message(user_text("go"))
