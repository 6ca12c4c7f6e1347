"""What a wire needs to go on is where pi looks for it: pi goes on with our session, and we with its.

On the Responses wire and on Gemini's: reasoning in `thinkingSignature`, phases in `textSignature`, signatures
of calls in `thoughtSignature`. The loopback service refuses any of them that it did not give.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.messages import AssistantMessage, SystemMessage, ToolResultMessage, user_text
from pi_batch.session import active_branch, context_messages, read_session
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
from tests.providers.asking import KEY, READ, ask, provider, request
from tests.providers.histories import result
from tests.servers import Call, LoopbackServer, Reply
from tests.servers.gemini_rules import UNSIGNED
from tests.servers.responses_rules import encrypted_of
from tests.servers.threaded import served
from tests.session.test_peer import Pi, installed

pytestmark = [pytest.mark.peer, pytest.mark.timeout(600)]

MODELS = {
    "openai": ("openai-responses", "gpt-5.6", "/v1"),
    "google": ("google-generative-ai", "gemini-3.1-pro", "/v1beta"),
}


@pytest.fixture(scope="module", params=["0.74.2", "1.6.0"])
def pi(request: pytest.FixtureRequest) -> Pi:
    return installed(request.param)


def agent_dir(folder: Path, url: str, service: str) -> Path:
    """A configuration of pi's in which a service is the loopback one."""
    api, model, version = MODELS[service]
    entry = {
        "baseUrl": f"{url}{version}",
        "api": api,
        "apiKey": KEY,
        "models": [{"id": model, "reasoning": True}],
    }
    folder.mkdir()
    (folder / "models.json").write_text(json.dumps({"providers": {service: entry}}), encoding="utf-8")
    return folder


async def first_turn(server: LoopbackServer, service: str, session: Path, cwd: Path) -> None:
    """A turn of ours with thoughts, a phase and two calls, as a session."""
    model = MODELS[service][1]
    asked = provider(server.url, service)
    _, message = await ask(asked, request(user_text("go"), model=model))
    await asked.close()
    log = SessionWriter(session, cwd=str(cwd), clock=FakeClock())
    log.append_message(SystemMessage("Be good.", (READ,)))
    log.append_model_change(service, model)
    log.append_message(user_text("go"))
    log.append_message(message)
    for call in message.tool_calls:
        log.append_message(ToolResultMessage(call.id, call.name, result(call.id, "text").content))
    log.close()


def signs(service: str, body: Any, number: int) -> list[str]:
    """The opaque data of a request's replies, in order."""
    if service == "openai":
        found = [item["encrypted_content"] for item in body["input"] if item.get("type") == "reasoning"]
        said = next(item for item in body["input"] if item.get("role") == "assistant")
        assert said["phase"] == "commentary"
    else:
        parts = [part for content in body["contents"] for part in content["parts"]]
        found = [
            part["thoughtSignature"]
            for part in parts
            if "functionCall" in part and "thoughtSignature" in part
        ]
    assert len(found) == number
    return found


@pytest.mark.parametrize("service", MODELS)
async def test_a_conversation_goes_from_us_to_pi_and_back(pi: Pi, service: str, tmp_path: Path) -> None:
    session, model = tmp_path / "s.jsonl", MODELS[service][1]
    calls = (Call("read", {"path": "a"}), Call("ls", {}))
    quirks = ("phases", "signed_text")  # one signed part: pi would put a later part's signature on it
    steps = [
        Reply("Reading.", thinking="first", calls=calls, quirks=("phases",)),
        Reply("mark-continued", thinking="second", quirks=quirks, piece_chars=50),
        Reply("mark-ours"),
    ]
    with served(LoopbackServer(steps, key=KEY)) as server:
        await first_turn(server, service, session, tmp_path)
        agent = agent_dir(tmp_path / "agent", server.url, service)
        options = ("--provider", service, "--model", model, "--session", str(session))
        output = pi.run("-p", *options, "mark-again", cwd=tmp_path, agent_dir=agent)
        assert server.refused == []
        assert "mark-continued" in output
        after = context_messages(active_branch(read_session(session)))
        last = after[-1]
        assert isinstance(last, AssistantMessage)
        assert (last.provider, last.api) == (service, MODELS[service][0])
        asked = provider(server.url, service)
        history = [message for message in after if not isinstance(message, SystemMessage)]
        _, ours = await ask(asked, request(*history, user_text("on"), model=model))
        await asked.close()
        assert server.refused == []
    assert ours.text == "mark-ours"
    if service == "openai":
        assert signs(service, server.requests[1].body, 1) == [encrypted_of("first")]
        assert signs(service, server.requests[2].body, 2) == [encrypted_of("first"), encrypted_of("second")]
    else:
        for request_ in server.requests[1:]:
            assert UNSIGNED not in signs(service, request_.body, 1)
