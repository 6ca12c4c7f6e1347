"""What models and histories get wrong, on each of the four wires, against services that refuse it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.calling import Called, Desk
from tests.servers import Call, LoopbackServer, Refuse, Reply
from tests.servers.script import Step
from tests.servers.threaded import served

pytestmark = pytest.mark.slow

KEY = "sk-test-key-0123456789"


@dataclass(frozen=True)
class Wire:
    """One wire, by a model that speaks it."""

    model: str
    variable: str
    cut: str
    """Its word for a reply that was cut by the output limit."""


WIRES = {
    "chat": Wire("openai-chat/gpt-4.1", "OPENAI", "length"),
    "responses": Wire("openai/gpt-5.6", "OPENAI", "max_output_tokens"),
    "messages": Wire("anthropic/claude-sonnet-4-5", "ANTHROPIC", "max_tokens"),
    "gemini": Wire("google/gemini-3.1-pro", "GOOGLE", "MAX_TOKENS"),
}


@pytest.fixture(params=sorted(WIRES))
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


def run(desk: Desk, wire: Wire, server: LoopbackServer, **fields: Any) -> Called:
    """Run a task against the server."""
    spec = {"prompt": "Go.", "workspace": {"isolation": "none"}, "verify": ["true"], **fields}
    desk.write("task.yaml", json.dumps(spec))
    desk.setenv(f"{wire.variable}_BASE_URL", server.url)
    desk.setenv(f"{wire.variable}_API_KEY", KEY)
    return desk.call("run", "task.yaml", "-m", wire.model, "--output", "out")


def tool_results(desk: Desk) -> Iterator[tuple[bool, str]]:
    """Of each result in the session, in order: whether it is an error, and its text."""
    text = (desk.path / "out/tasks/task/session.jsonl").read_text(encoding="utf-8")
    for line in text.rstrip("\n").split("\n"):
        message = json.loads(line).get("message", {})
        if message.get("role") == "toolResult":
            yield message["isError"], "".join(block.get("text", "") for block in message["content"])


def report(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((desk.path / "out/run.json").read_bytes())["results"][0]
    return found


def test_a_call_that_is_no_json_is_told_so_and_its_siblings_run(desk: Desk, wire: Wire) -> None:
    """mozilla-ai/clawbolt#169."""
    broken = Call("write", raw='{"path": "a.txt", "content": "x')
    steps = [Reply(calls=(broken, Call("bash", {"command": "echo sibling"}))), Reply("done")]
    with served(LoopbackServer(steps, key=KEY)) as server:
        done = run(desk, wire, server)
    assert (done.code, server.refused) == (0, [])
    (is_error, told), (is_wrong, said) = tool_results(desk)
    assert is_error
    assert "JSON" in told
    assert not is_wrong
    assert "sibling" in said
    assert not (desk.path / "a.txt").exists()


def test_no_call_of_a_cut_reply_is_run(desk: Desk, wire: Wire) -> None:
    """ahwurm/localharness#77."""
    desk.write("doc.md", "long and good\n")
    half = Call("write", raw='{"path": "doc.md", "content": "# Ti')
    whole = Call("write", {"path": "doc.md", "content": "# Title"})
    steps = [Reply(calls=(whole, half), stop=wire.cut), Reply("done")]
    with served(LoopbackServer(steps, key=KEY)) as server:
        done = run(desk, wire, server)
    assert (done.code, server.refused) == (0, [])
    for is_error, told in tool_results(desk):
        assert is_error
        assert "cut" in told or "limit" in told
    assert (desk.path / "doc.md").read_text() == "long and good\n"


def test_no_blank_text_is_sent(desk: Desk, wire: Wire) -> None:
    """dirge-code/dirge#757: the services refuse a request with an empty text."""
    steps: list[Step] = [
        Reply(calls=(Call("bash", {"command": "true"}),)),
        Reply(calls=(Call("write", {"path": "e.txt", "content": ""}),)),
        Reply(calls=(Call("read", {"path": "e.txt"}),)),
        Reply(""),
    ]
    desk.setenv("PI_BATCH_MAX_RETRIES", "0")
    with served(LoopbackServer(steps, key=KEY)) as server:
        done = run(desk, wire, server)
    assert (done.code, server.refused) == (0, [])
    assert len(server.requests) >= 4


def test_results_stay_with_their_calls_when_the_history_is_cut(desk: Desk, wire: Wire) -> None:
    """datakurre/graph-agent#85: the services refuse a result without its call, and what does not fit."""
    turns: list[int] = []

    def answer(body: Mapping[str, Any]) -> Reply:
        if not body.get("tools"):
            return Reply("## Goal\nCount.\n" + "It is noted. " * 40)
        turns.append(len(turns))
        if len(turns) > 10:
            return Reply("done")
        command = f"python3 -c \"print('row {len(turns)} '*400)\""
        return Reply("On.", thinking=f"hm {len(turns)}", calls=(Call("bash", {"command": command}),) * 2)

    desk.setenv("PI_BATCH_CONTEXT_WINDOW", "6000")
    with served(LoopbackServer(answer, context_tokens=6_000)) as server:
        done = run(desk, wire, server)
    assert (done.code, server.refused) == (0, [])
    assert len(turns) == 11
    assert len(server.requests) > 11, "nothing was summed up"


def test_a_prompt_that_never_fits_ends_the_run_with_that_reason(desk: Desk, wire: Wire) -> None:
    """docker/docker-agent#2235."""
    desk.setenv("PI_BATCH_CONTEXT_WINDOW", "1000")
    with served(LoopbackServer([], context_tokens=1_000)) as server:
        done = run(desk, wire, server, prompt="word " * 6_000)
    assert done.code == 3
    assert len(server.requests) <= 5
    assert report(desk)["error"]["kind"] == "context_overflow"


def test_a_wrong_key_is_asked_once_and_says_which_variable(desk: Desk, wire: Wire) -> None:
    """docker/docker-agent#335."""
    with served(LoopbackServer([Reply("hi")], key="another-key")) as server:
        done = run(desk, wire, server)
    assert (done.code, len(server.requests)) == (3, 1)
    (line,) = [line for line in done.lines if line.startswith("error")]
    assert f"{wire.variable}_API_KEY" in line
    assert KEY not in done.err + done.out
    assert report(desk)["error"]["kind"] == "auth"


def test_the_responses_api_is_told_the_schema_of_the_answer(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with served(LoopbackServer([Reply('{"n": 5}')], key=KEY)) as server:
        done = run(desk, WIRES["responses"], server, output={"schema": schema}, verify=[])
    assert (done.code, server.refused) == (0, [])
    assert server.requests[0].body["text"]["format"]["schema"] == schema
    assert report(desk)["structured_output"] == {"n": 5}


def test_a_resumed_run_sends_what_the_run_before_would_have_sent(desk: Desk, wire: Wire) -> None:
    """Reasoning, phases and signatures are in the session: the request that failed is made again."""
    quirks = ("phases", "signed_thought")
    steps: list[Step] = [
        Reply("On it.", thinking="why", redacted="ENC", calls=(Call("ls"), Call("ls")), quirks=quirks),
        Refuse(401, {"error": {"message": "Incorrect API key provided"}}),
        Reply("done"),
    ]
    with served(LoopbackServer(steps, key=KEY)) as server:
        assert run(desk, wire, server, thinking="low").code == 3
        done = desk.call("resume", "out", "--rerun", "error")
    assert (done.code, server.refused) == (0, [])
    _, failed, again = server.requests
    assert said_by_the_model(again.body) == said_by_the_model(failed.body) != []


def said_by_the_model(body: Mapping[str, Any]) -> list[Any]:
    """What of a request is the model's own, whatever the wire."""
    (history,) = (body[name] for name in ("messages", "input", "contents") if name in body)
    kinds = ("reasoning", "function_call")
    return [one for one in history if one.get("role") in ("assistant", "model") or one.get("type") in kinds]
