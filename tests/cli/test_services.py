"""Services that fail, over HTTP: one line for a person, the exit code, and a whole report."""

from __future__ import annotations

import json
import socket
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

import pytest

from tests.cli.calling import Called, Desk
from tests.servers import Call, LoopbackServer, Raw, Refuse, Reply, Step, Wire
from tests.servers.threaded import served

KEY = "sk-test-key-0123456789"
MODEL = "openai-chat/gpt-4.1"
QUOTA = {
    "error": {
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
}
PAGE = Raw("<html><head><title>Sign in</title></head></html>", wire=Wire(content_type="text/html"))


def run(desk: Desk, url: str, *words: str, model: str = MODEL, **fields: Any) -> Called:
    """Run a task against a service."""
    spec = {"prompt": "Go.", "workspace": {"isolation": "none"}, "verify": ["true"], **fields}
    desk.write("task.yaml", json.dumps(spec))
    desk.setenv("OPENAI_BASE_URL", url)
    desk.setenv("OPENAI_API_KEY", KEY)
    return desk.call("run", "task.yaml", "-m", model, "--output", "out", *words)


def results(desk: Desk) -> list[dict[str, Any]]:
    """The results in run.json."""
    found: list[dict[str, Any]] = json.loads((desk.path / "out/run.json").read_bytes())["results"]
    return found


def assert_failed(desk: Desk, done: Called, kind: str, *words: str) -> None:
    """One line with the words, exit 3, and both reports with the error."""
    assert done.code == 3
    (line,) = [line for line in done.lines if line.startswith("error")]
    for word in words:
        assert word in line
    assert KEY not in done.err + done.out
    (result,) = results(desk)
    assert (result["outcome"], result["error"]["kind"]) == ("error", kind)
    assert "\n" not in result["error"]["message"]
    suite = ET.parse(desk.path / "out/junit.xml").getroot()
    assert len(suite.findall(".//error")) == 1
    assert KEY.encode() not in (desk.path / "out/run.json").read_bytes()


def test_a_wrong_key_is_asked_once_and_says_which_variable(desk: Desk) -> None:
    """docker/docker-agent#335."""
    with served(LoopbackServer([Reply("hi")], key="another-key")) as server:
        done = run(desk, server.url)
    assert_failed(desk, done, "auth", "401", "OPENAI_API_KEY")
    assert len(server.requests) == 1


def test_an_unknown_model_is_asked_for_once_and_named(desk: Desk) -> None:
    error = {"message": "The model `gpt-9` does not exist", "type": "x", "code": "model_not_found"}
    with served(LoopbackServer([Refuse(404, {"error": error})])) as server:
        done = run(desk, server.url, model="openai-chat/gpt-9")
    assert_failed(desk, done, "model_not_found", "gpt-9")
    assert len(server.requests) == 1


def test_a_proxys_page_is_no_reply(desk: Desk) -> None:
    desk.setenv("PI_BATCH_MAX_RETRIES", "0")
    with served(LoopbackServer([PAGE])) as server:
        url = server.url
        done = run(desk, url)
    assert_failed(desk, done, "bad_response", "web page", "Sign in", url)


def test_a_dead_server_is_named_with_its_address(desk: Desk) -> None:
    desk.setenv("PI_BATCH_MAX_RETRIES", "0")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        done = run(desk, url)
    assert_failed(desk, done, "network", url.removeprefix("http://"))


def test_spent_quota_is_not_tried_again(desk: Desk) -> None:
    with served(LoopbackServer([Refuse(429, QUOTA), Reply("hi")])) as server:
        done = run(desk, server.url)
    assert_failed(desk, done, "quota", "quota")
    assert len(server.requests) == 1


@pytest.mark.slow
def test_a_retry_after_that_is_no_number_is_waited_out_by_a_wait_of_our_own(desk: Desk) -> None:
    """NousResearch/hermes-agent#103722."""
    busy = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    steps: list[Step] = [
        Refuse(429, busy, {"retry-after": "soon"}),
        Refuse(529, {"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        Refuse(429, busy, {"retry-after": formatdate(time.time() + 4, usegmt=True)}),
        Reply("done"),
    ]
    with served(LoopbackServer(steps)) as server:
        done = run(desk, server.url)
    assert done.code == 0
    assert len(server.requests) == 4


def prices(desk: Desk, output_usd: float) -> None:
    """Input is free, and a reply's tokens cost so much per million."""
    desk.write("prices.json", json.dumps({"gpt-4.1": {"input": 0, "output": output_usd}}))
    desk.setenv("PI_BATCH_PRICES", "prices.json")
    desk.setenv("PI_BATCH_MAX_OUTPUT_TOKENS", "4000")


def dear(body: Mapping[str, Any]) -> Reply:
    """A call at 0.4 USD, whatever was said before."""
    count = sum(message["role"] == "assistant" for message in body["messages"])
    call = Call("bash", {"command": f"echo {count} >> ran.txt"})
    return Reply(calls=(call,), usage={"prompt_tokens": 10, "completion_tokens": 4_000})


def test_no_request_is_made_that_the_money_left_would_not_pay(desk: Desk) -> None:
    """MervinPraison/PraisonAI#2314."""
    prices(desk, 100)
    with served(LoopbackServer(dear)) as server:
        done = run(desk, server.url, "--max-cost-usd", "1", verify=[])
    assert done.code == 1
    assert len(server.requests) <= 3
    (result,) = results(desk)
    assert result["stop"] == "max_cost"
    assert result["total_cost_usd"] <= 1.21
    assert len((desk.path / "ran.txt").read_text().split()) < len(server.requests)


def test_a_model_without_a_price_is_refused_before_any_request(desk: Desk) -> None:
    """BerriAI/litellm#36561."""
    with served(LoopbackServer([Reply("hi")])) as server:
        done = run(desk, server.url, "--max-cost-usd", "1", model="openai-chat/no-price-model")
    assert_failed(desk, done, "price_unknown", "no-price-model", "price")
    assert not server.requests


def test_ten_tasks_at_once_never_pass_the_suites_money(desk: Desk) -> None:
    prices(desk, 100)
    for number in range(10):
        text = json.dumps({"prompt": f"Task {number}.", "workspace": {"isolation": "none"}})
        desk.write(f"all/t{number}.yaml", text)
    desk.write("suite.yaml", "tasks: ['all/*.yaml']\nbudget: {cost_usd: 2.0}\nmax_parallel: 10\n")
    with served(LoopbackServer(dear)) as server:
        desk.setenv("OPENAI_BASE_URL", server.url)
        desk.setenv("OPENAI_API_KEY", KEY)
        done = desk.call("run", "suite.yaml", "-m", MODEL, "--output", "out")
    assert done.code == 1
    assert len(server.requests) == 5
    assert sum(result["total_cost_usd"] for result in results(desk)) == pytest.approx(2.0)


def test_the_same_call_for_ever_is_stopped_with_a_reason_of_its_own(desk: Desk) -> None:
    """anomalyco/opencode#43673."""
    desk.write("a.txt", "x\n")
    with served(LoopbackServer(lambda _body: Reply(calls=(Call("read", {"path": "a.txt"}),)))) as server:
        done = run(desk, server.url, verify=[])
    assert done.code == 1
    assert len(server.requests) <= 12
    assert results(desk)[0]["stop"] == "repeated_calls"


def test_no_blank_text_is_sent(desk: Desk) -> None:
    """dirge-code/dirge#757: the server refuses a request with an empty text block."""
    steps: list[Step] = [
        Reply(calls=(Call("bash", {"command": "true"}),)),
        Reply(calls=(Call("write", {"path": "e.txt", "content": ""}),)),
        Reply(calls=(Call("read", {"path": "e.txt"}),)),
        Reply("done"),
    ]
    desk.setenv("ANTHROPIC_API_KEY", KEY)
    with served(LoopbackServer(steps)) as server:
        desk.setenv("ANTHROPIC_BASE_URL", server.url)
        done = run(desk, server.url, model="anthropic/claude-sonnet-4-5")
    assert (done.code, server.refused, len(server.requests)) == (0, [], 4)
