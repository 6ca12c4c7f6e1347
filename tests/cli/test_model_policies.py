"""Fallbacks and virtual models through the whole program, over HTTP, and their recordings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest

from tests.cli.calling import Called, Desk
from tests.servers import Call, LoopbackServer, Refuse, Reply
from tests.servers.script import Step
from tests.servers.threaded import served

KEY = "sk-test-key-0123456789"
CHAT, CLAUDE, RESPONSES, GEMINI = (
    "openai-chat/gpt-4.1",
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5.1",
    "google/gemini-3-flash",
)
SPENT = {
    "error": {
        "message": "You exceeded your current quota.",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    }
}
NEW = Call("bash", {"command": "echo new >> made.txt"})


Say = Callable[[Mapping[str, Any]], Step]


def answer_by(answers: Mapping[str, Say]) -> Say:
    """Each model has a say of its own."""
    return lambda body: answers[str(body["model"])](body)


def in_turn(*steps: Step) -> Say:
    """One after the other."""
    left = iter(steps)
    return lambda _body: next(left)


def run(desk: Desk, server: LoopbackServer, *words: str, config: str = "", **fields: Any) -> Called:
    """Run a task against a server that speaks for every service."""
    spec = {"prompt": "Make made.txt.", "workspace": {"isolation": "none"}, "verify": ["test -f made.txt"]}
    desk.write("task.yaml", json.dumps({**spec, **fields}))
    desk.write(".pi-batch.toml", config)
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        desk.setenv(f"{name}_API_KEY", KEY)
    desk.setenv("OPENAI_BASE_URL", server.url)
    desk.setenv("ANTHROPIC_BASE_URL", server.url)
    desk.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    return desk.call("run", "task.yaml", "--output", "out", *words)


def result(desk: Desk, directory: str = "out") -> dict[str, Any]:
    """The task in run.json."""
    (found,) = json.loads((desk.path / directory / "run.json").read_bytes())["results"]
    assert isinstance(found, dict)
    return found


def events(desk: Desk, kind: str) -> list[dict[str, Any]]:
    lines = (desk.path / "out/events.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [event for event in map(json.loads, lines) if event.get("type") == kind]


def entries(desk: Desk, kind: str) -> list[dict[str, Any]]:
    lines = (desk.path / "out/tasks/task/session.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [entry for entry in map(json.loads, lines) if entry["type"] == kind]


def replay(desk: Desk) -> dict[str, Any]:
    """The session played again, without a key, from the same files."""
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        desk.setenv(f"{name}_API_KEY", "")
    (desk.path / "made.txt").unlink()
    session = desk.path / "out/tasks/task/session.jsonl"
    done = desk.call("run", "task.yaml", "-m", f"replay/{session}", "--output", "again")
    assert done.code == 0, done.err
    return result(desk, "again")


def test_another_service_goes_on_in_the_middle_of_a_task_and_the_session_replays(desk: Desk) -> None:
    turns = in_turn(Reply(calls=(NEW,)), Refuse(429, SPENT))
    answers = answer_by({"gpt-4.1": turns, "claude-sonnet-4-5": in_turn(Reply("done"))})
    with served(LoopbackServer(answers)) as server:
        done = run(desk, server, "-m", CHAT, fallback=[CLAUDE])
        assert not server.refused
    assert done.code == 0, done.err
    found = result(desk)
    assert found["models_used"] == [CHAT, CLAUDE]
    assert [one["replies"] for one in found["model_usage"].values()] == [1, 1]
    costs = [one["total_cost_usd"] for one in found["model_usage"].values()]
    assert all(cost > 0 for cost in costs)
    assert sum(costs) == pytest.approx(found["total_cost_usd"])
    assert [one["error_kind"] for one in found["model_selections"]] == [None, "quota"]
    assert any("anthropic/claude-sonnet-4-5 goes on" in line for line in found["warnings"])
    changes = [(entry["provider"], entry["modelId"]) for entry in entries(desk, "model_change")]
    assert changes == [("openai", "gpt-4.1"), ("anthropic", "claude-sonnet-4-5")]
    assert [event["model"] for event in events(desk, "message_start") if event["role"] == "assistant"] == [
        CHAT,
        CHAT,
        CLAUDE,
    ]
    again = replay(desk)
    assert (again["outcome"], again["num_turns"], again["models_used"]) == ("passed", 2, [CHAT, CLAUDE])
    assert again["total_cost_usd"] == pytest.approx(found["total_cost_usd"])
    assert not [line for line in again["warnings"] if "were not asked for" in line]


ALL = (CHAT, CLAUDE, RESPONSES, GEMINI)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [pair for pair in product(ALL, ALL) if pair[0] != pair[1]])
def test_every_protocol_goes_on_with_a_conversation_of_every_other(
    desk: Desk, first: str, second: str
) -> None:
    """The strict server refuses what the services would refuse of a history."""
    name = first.partition("/")[2]
    gone = {"message": f"model: {name}", "code": "model_not_found", "type": "not_found_error"}
    begun = in_turn(
        Reply("On it.", calls=(NEW, NEW)), Refuse(404, {"error": {**gone, "status": "NOT_FOUND"}})
    )

    def step(body: Mapping[str, Any]) -> Step:
        is_first = str(body.get("model", GEMINI.partition("/")[2])) == name  # Gemini's stands in the path
        return begun(body) if is_first else Reply("done")

    with served(LoopbackServer(step)) as server:
        done = run(desk, server, "-m", first, fallback=[second])
        assert not server.refused
    assert done.code == 0, done.err
    assert result(desk)["models_used"] == [first, second]


@pytest.mark.slow
def test_the_next_model_mends_what_failed_within_one_budget(desk: Desk) -> None:
    bad = Call("bash", {"command": "echo x > other.txt"})
    small = in_turn(Reply(calls=(bad,)), Reply("I made it."))
    large = in_turn(Reply(calls=(NEW,)), Reply("Now it is there."))
    heard: list[str] = []

    def big(body: Mapping[str, Any]) -> Step:
        heard.append(json.dumps(body))
        return large(body)

    config = f'[models.climb]\npolicy = "escalate"\nmodels = ["{CHAT}", "{CLAUDE}"]\n'
    answers = answer_by({"gpt-4.1": small, "claude-sonnet-4-5": big})
    with served(LoopbackServer(answers)) as server:
        done = run(desk, server, "-m", "router/climb", config=config, budget={"turns": 4})
        assert not server.refused
    assert done.code == 0, done.err
    found = result(desk)
    assert (found["outcome"], found["attempts"], found["num_turns"]) == ("passed", 2, 4)
    assert (desk.path / "other.txt").exists(), "the workspace is kept"
    assert "test -f made.txt" in heard[0], "the next model is told what failed"
    assert found["model"] == "router/climb"
    assert [one["policy"] for one in found["model_selections"]] == ["escalate", "escalate"]
    (desk.path / "other.txt").unlink()
    assert replay(desk)["attempts"] == 2


@pytest.mark.slow
def test_a_plan_and_its_work_replay_as_they_were(desk: Desk) -> None:
    plans = in_turn(Reply(calls=(NEW,)), Reply("Write made.txt."))
    works = in_turn(Reply(calls=(NEW,)), Reply("done"))
    models = {"split": {"policy": "phases", "plan": CLAUDE, "work": CHAT}}
    answers = answer_by({"claude-sonnet-4-5": plans, "gpt-4.1": works})
    with served(LoopbackServer(answers)) as server:
        done = run(desk, server, "-m", "router/split", models=models)
        assert not server.refused
    assert done.code == 0, done.err
    found = result(desk)
    assert found["models_used"] == [CLAUDE, CHAT]
    assert (desk.path / "made.txt").read_text() == "new\n", "planning changes nothing"
    assert [one["rule"] for one in found["permission_denials"]] == ["phases: plan"]
    again = replay(desk)
    assert (again["num_turns"], again["outcome"]) == (4, "passed")
    assert (desk.path / "made.txt").read_text() == "new\n"


@pytest.mark.slow
def test_what_a_classifier_costs_is_in_the_report(desk: Desk) -> None:
    turns = in_turn(Reply(calls=(NEW,)), Reply("done"))
    sort = {"policy": "classify", "classifier": CLAUDE, "choices": {"hard": RESPONSES, "easy": CHAT}}
    answers = answer_by({"claude-sonnet-4-5": in_turn(Reply("2")), "gpt-4.1": turns})
    with served(LoopbackServer(answers)) as server:
        done = run(desk, server, "-m", "router/sort", models={"sort": sort})
        assert not server.refused
    assert done.code == 0, done.err
    found = result(desk)
    assert list(found["model_usage"]) == [CLAUDE, CHAT]
    assert found["model_usage"][CLAUDE]["total_cost_usd"] > 0
    assert found["num_turns"] == 2
    assert [event["label"] for event in events(desk, "model_classified")] == ["easy"]
    assert replay(desk)["num_turns"] == 2


@pytest.mark.slow
def test_a_run_again_is_answered_out_of_the_cache_at_no_cost(desk: Desk) -> None:
    """In a workspace that lies somewhere else each time."""
    work = Call("bash", {"command": "pwd; echo new >> made.txt"})

    def step(body: Mapping[str, Any]) -> Step:
        return Reply("done") if "tool_call_id" in json.dumps(body) else Reply(calls=(work,))

    desk.setenv("PI_BATCH_CACHE_DIR", "kept")
    spec: dict[str, Any] = {"workspace": {"isolation": "copy"}, "verify": ["test -f made.txt"]}
    with served(LoopbackServer(step)) as server:
        first = run(desk, server, "-m", CHAT, "--cache", **spec)
        found = result(desk)
        again = desk.call("run", "task.yaml", "-m", CHAT, "--cache", "--output", "again")
        assert len(server.requests) == 2
        repeated = desk.call(
            *("run", "task.yaml", "-m", CHAT, "--cache", "--repeat", "2", "--output", "repeated")
        )
        assert len(server.requests) == 6
        desk.call(*("run", "task.yaml", "-m", CHAT, "--cache-repeats", "--repeat", "2", "--output", "told"))
        assert len(server.requests) == 6
    assert (first.code, again.code, repeated.code) == (0, 0, 0)
    assert "--cache: repeats are asked anew" in repeated.err
    kept = result(desk, "again")
    assert found["total_cost_usd"] > 0
    assert (kept["total_cost_usd"], kept["num_turns"]) == (0.0, 2)
    assert kept["model_usage"][CHAT]["cached_replies"] == 2
    assert "2 replies from the cache" in again.err
    assert KEY not in "".join(path.read_text() for path in (desk.path / "kept").rglob("*.json"))


@pytest.mark.parametrize(
    ("words", "fields", "line"),
    [
        (("-m", "router/gone"), {}, "model 'router/gone': no virtual model of that name (known: none)"),
        (("-m", CHAT), {"fallback": ["groq/x"]}, "groq/x: no key: set GROQ_API_KEY"),
        (
            ("-m", CHAT, "--max-cost-usd", "1"),
            {"fallback": ["openai/no-price-model"]},
            "openai/no-price-model: no price is known",
        ),
    ],
)
def test_what_cannot_be_had_is_one_line_before_the_first_request(
    desk: Desk, words: tuple[str, ...], fields: dict[str, Any], line: str
) -> None:
    with served(LoopbackServer([])) as server:
        done = run(desk, server, *words, **fields)
        assert not server.requests
    assert done.code == 2
    (said,) = done.err.rstrip("\n").split("\n")
    assert line in said
    assert not (desk.path / "out/run.json").exists()
