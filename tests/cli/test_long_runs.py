"""Long runs over HTTP: a small window, a server that refuses what does not fit, and what is sent then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from pi_batch.engine.compaction import Room
from tests.cli.calling import Desk
from tests.servers import Call, LoopbackServer, Refuse, Reply
from tests.servers.cache import messages_cache, shared_prefix
from tests.servers.threaded import served

SUMMARY = "## Goal\nCount.\n## Done\nCounted so far.\n## Next steps\nGo on. " + "It is noted. " * 40


class Worker:
    """A model that calls `bash` so many times, and sums up when it is asked to."""

    def __init__(self, turns: int, chars: int = 60, thinking: str = "") -> None:
        self.turns = turns
        self.chars = chars
        self.thinking = thinking
        self.done = 0
        self.summaries = 0

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        if not body.get("tools"):
            self.summaries += 1
            return Reply(SUMMARY)
        self.done += 1
        if self.done > self.turns:
            return Reply("done")
        command = f"printf '{self.done} row %.0s' $(seq {self.chars // 6})"
        return Reply(
            f"Step {self.done}.", thinking=self.thinking, calls=(Call("bash", {"command": command}),)
        )


def start(desk: Desk, server: LoopbackServer, model: str, window: int | None, **fields: Any) -> Any:
    """Run the task against a server."""
    spec = {"prompt": "Count the rows.", "workspace": {"isolation": "none"}, "verify": ["true"], **fields}
    desk.write("task.yaml", json.dumps(spec))
    provider = model.partition("/")[0].removesuffix("-chat").upper()
    desk.setenv(f"{provider}_BASE_URL", server.url)
    desk.setenv(f"{provider}_API_KEY", "sk-test-key-0123456789")
    if window is not None:
        desk.setenv("PI_BATCH_CONTEXT_WINDOW", str(window))
    return desk.call("run", "task.yaml", "-m", model, "--output", "out")


def sent_tokens(server: LoopbackServer) -> list[int]:
    """How long each request was, as this server counts."""
    return [len(request.raw) // 4 for request in server.requests]


def compactions(desk: Desk) -> list[dict[str, Any]]:
    """The compaction entries of the task's session."""
    lines = (desk.path / "out/tasks/task/session.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [entry for entry in map(json.loads, lines) if entry["type"] == "compaction"]


def result(desk: Desk) -> dict[str, Any]:
    """The task in run.json."""
    (found,) = json.loads((desk.path / "out/run.json").read_bytes())["results"]
    assert isinstance(found, dict)
    return found


MODELS = ("openai-chat/gpt-4.1", "anthropic/claude-sonnet-4-5")
ONE_AT_ONCE = (pytest.param(MODELS[0], marks=pytest.mark.slow), MODELS[1])
"""Both wires; the first only in the long run of the tests."""


@pytest.mark.parametrize("model", ONE_AT_ONCE)
def test_results_stay_with_their_calls_in_a_small_window(desk: Desk, model: str) -> None:
    """datakurre/graph-agent#85: the server refuses a result without its call, and what does not fit."""
    worker = Worker(10, 2_800)
    with served(LoopbackServer(worker, context_tokens=6_000)) as server:
        done = start(desk, server, model, 6_000)
    assert done.code == 0
    assert (server.refused, worker.done) == ([], 11)
    assert worker.summaries >= 1
    assert all(request.body["messages"][0]["role"] in ("user", "system") for request in server.requests)


def test_a_prompt_that_never_fits_ends_the_run_with_that_reason(desk: Desk) -> None:
    """docker/docker-agent#2235."""
    with served(LoopbackServer([], context_tokens=1_000)) as server:
        done = start(desk, server, MODELS[0], 1_000, prompt="word " * 6_000)
    assert done.code == 3
    assert len(server.requests) <= 5
    assert result(desk)["error"]["kind"] == "context_overflow"
    assert result(desk)["stop"] == "model_error"
    assert "larger window" in result(desk)["error"]["message"]
    assert sum("window" in line for line in done.lines) == 1


@pytest.mark.slow
def test_an_unknown_window_is_learned_from_the_services_refusal(desk: Desk) -> None:
    worker = Worker(12, 2_800)
    with served(LoopbackServer(worker, context_tokens=6_000)) as server:
        done = start(desk, server, "openai-chat/my-own-model", None)
    assert done.code == 0
    assert 1 <= len(server.refused) <= 3
    assert any("PI_BATCH_CONTEXT_WINDOW" in text for text in result(desk)["warnings"])
    assert len(compactions(desk)) >= 1


@pytest.mark.slow
def test_three_large_results_at_once_are_shortened_to_fit(desk: Desk) -> None:
    def reply(body: Mapping[str, Any]) -> Reply:
        if len(body["messages"]) > 3:
            return Reply("done")
        commands = [f"seq {start} {start + 9_000}" for start in (1, 20_000, 40_000)]
        return Reply(calls=tuple(Call("bash", {"command": command}) for command in commands))

    with served(LoopbackServer(reply, context_tokens=16_000)) as server:
        done = start(desk, server, MODELS[1], 16_000)
    assert (done.code, server.refused) == (0, [])
    assert server.requests[-1].raw.count(b"of this result left out to save context; the full output: ") == 3


def rewrites(server: LoopbackServer) -> list[int]:
    """The requests that do not begin with the whole request before them, by number; summaries left out."""
    agents = [request.raw for request in server.requests if "tools" in request.body]
    pairs = enumerate(pairwise(agents), start=1)
    return [number for number, (before, after) in pairs if not shared_prefix(before, after)]


@pytest.mark.parametrize("model", ONE_AT_ONCE)
def test_fifty_turns_write_each_part_of_their_prefix_once(desk: Desk, model: str) -> None:
    worker = Worker(50, thinking="I think." if model == MODELS[1] else "")
    with served(LoopbackServer(worker)) as server:
        done = start(desk, server, model, None, budget={"turns": 51, "tool_calls": 100})
    assert (done.code, server.refused, len(server.requests)) == (0, [], 51)
    assert rewrites(server) == []
    assert len({request.raw[: request.raw.index(b'"messages":')] for request in server.requests}) == 1
    if model == MODELS[1]:
        cached = messages_cache([request.body for request in server.requests])
        ends = [one.read + one.written for one in cached]
        assert [one.read for one in cached[1:]] == ends[:-1]
        assert sum(one.written for one in cached) == ends[-1]


@pytest.mark.slow
def test_a_compaction_writes_the_prefix_anew_once(desk: Desk) -> None:
    worker = Worker(40, 1_500)
    with served(LoopbackServer(worker, context_tokens=16_000)) as server:
        done = start(desk, server, MODELS[1], 16_000)
    assert (done.code, server.refused) == (0, [])
    assert worker.summaries == len(compactions(desk)) == len(rewrites(server)) >= 2
    cached = messages_cache([request.body for request in server.requests if "tools" in request.body])
    fixed = min(one.read for one in cached[1:])
    assert fixed > 0, "the system prompt and the tools are read after a compaction, too"
    assert sum(one.read == fixed for one in cached[1:]) == worker.summaries


@pytest.mark.slow
def test_old_bulky_results_are_left_out_seldom_and_before_anything_is_summed_up(desk: Desk) -> None:
    worker = Worker(30, 5_000)
    with served(LoopbackServer(worker, context_tokens=16_000)) as server:
        done = start(desk, server, MODELS[1], 16_000)
    assert (done.code, server.refused) == (0, [])
    first = next(number for number, one in enumerate(server.requests) if b"left out to save" in one.raw)
    summed_up = [number for number, one in enumerate(server.requests) if "tools" not in one.body]
    assert not summed_up or first < summed_up[0]
    assert len(rewrites(server)) <= 10


@pytest.mark.slow
def test_a_replay_has_the_recorded_compactions_and_asks_for_none(desk: Desk) -> None:
    with served(LoopbackServer(Worker(30, 1_500), context_tokens=8_000)) as server:
        assert start(desk, server, MODELS[1], 8_000).code == 0
    recorded, spent = compactions(desk), result(desk)["usage"]
    session = desk.path / "recorded.jsonl"
    session.write_bytes((desk.path / "out/tasks/task/session.jsonl").read_bytes())
    desk.setenv("PI_BATCH_COMPACTION_MODEL", "openai-chat/gpt-4.1-mini")
    done = desk.call("run", "task.yaml", "-m", f"replay/{session.name}", "--output", "again")
    assert (done.code, len(recorded) >= 2) == (0, True)
    lines = (
        (desk.path / "again/tasks/task/session.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    )
    again = [entry for entry in map(json.loads, lines) if entry["type"] == "compaction"]
    for key in ("summary", "usage", "details"):
        assert [entry.get(key) for entry in again] == [entry.get(key) for entry in recorded]
    (replayed,) = json.loads((desk.path / "again/run.json").read_bytes())["results"]
    assert replayed["usage"] == spent
    assert replayed["warnings"] == []


@pytest.mark.slow
def test_a_resumed_run_goes_on_with_its_summary(desk: Desk) -> None:
    worker = Worker(30, 1_500)
    stops_at = 20

    def answer(body: Mapping[str, Any]) -> Reply | Refuse:
        if worker.done == stops_at and body.get("tools"):
            return Refuse(401, {"error": {"message": "Incorrect API key provided"}})
        return worker(body)

    with served(LoopbackServer(answer, context_tokens=8_000)) as server:
        first = start(desk, server, MODELS[1], 8_000, workspace={"isolation": "none"})
        assert first.code == 3
        before, stops_at = len(compactions(desk)), 99
        done = desk.call("resume", "out", "--rerun", "error")
    assert (done.code, server.refused) == (0, [])
    assert before >= 1
    assert len(compactions(desk)) > before
    asked = [request.body for request in server.requests if "tools" not in request.body]
    assert all("<earlier-summary-" in json.dumps(body["messages"]) for body in asked[1:])
    assert worker.done == 31


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_two_hundred_turns_in_a_window_of_32k_take_little_more_than_they_need(desk: Desk, model: str) -> None:
    """At most 1.3 times the tokens of the context that is needed, and nothing is refused.

    Needed is, for each turn, the least that a run with these settings could send if summing up were free and
    took place before every turn: the system prompt, the declarations, the prompt, a summary, and the newest
    messages that a compaction keeps; or the whole history while it is shorter than that. What is sent
    beyond it is the growth between two compactions, and the requests for the summaries themselves.
    """
    window, turns = 32_000, 200
    worker = Worker(turns, 1_500)
    with served(LoopbackServer(worker, context_tokens=window)) as server:
        done = start(desk, server, model, window, budget={"turns": turns + 1})
    assert (done.code, server.refused, worker.done) == (0, [], turns + 1)
    sent = [len(request.raw) // 4 for request in server.requests]
    agents = [
        length for length, request in zip(sent, server.requests, strict=True) if "tools" in request.body
    ]
    growth = agents[1] - agents[0]
    whole = [agents[0] + growth * turn for turn in range(len(agents))]
    room = Room(window - window // 4, agents[0])
    least = agents[0] + len(SUMMARY) // 4 + room.keep_tokens
    needed = sum(min(length, least) for length in whole)
    assert worker.summaries >= 5
    assert sum(sent) <= 1.3 * needed, (sum(sent) / needed, worker.summaries, len(server.requests))
