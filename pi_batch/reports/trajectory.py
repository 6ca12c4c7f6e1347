"""A session as a trajectory that mini-swe-agent's tools read: `*.traj.json`, format mini-swe-agent-1.1.

Messages as Chat Completions has them, what is beside them in `extra`. Source: docs/usage/output_files.md and
`run/utilities/inspector.py` of mini-swe-agent 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_batch.results import AgentStop
from pi_batch.session import SessionFile, active_branch, messages, total_spent

FORMAT = "mini-swe-agent-1.1"
EXIT_STATUSES: Mapping[AgentStop, str] = {
    "completed": "Submitted",
    "max_turns": "LimitsExceeded",
    "max_tokens": "LimitsExceeded",
    "max_cost": "LimitsExceeded",
    "max_tool_calls": "LimitsExceeded",
    "max_wall_time": "TimeExceeded",
}
"""Words that its tools know; other stops are named as ours are."""


class Ending(Struct, frozen=True):
    """How the run that a session is of ended, where that is known."""

    instance_id: str = ""
    exit_status: str = ""
    submission: str = ""
    """The patch."""


def exit_status(stop: AgentStop | None, error_kind: str | None) -> str:
    """Why it ended, in mini-swe-agent's words where it has one."""
    if error_kind is not None and stop in (None, "model_error", "cancelled"):
        return error_kind
    return EXIT_STATUSES.get(stop, stop) if stop is not None else ""


def trajectory(session: SessionFile, ending: Ending, version: str) -> str:
    """The active branch as one JSON document, two-space indent."""
    said = list(messages(active_branch(session)))
    replies = [one for one in said if isinstance(one, AssistantMessage)]
    model = f"{replies[-1].provider}/{replies[-1].model}" if replies else ""
    document: dict[str, Any] = {
        "info": {
            "model_stats": {
                "instance_cost": total_spent(session.entries).cost_usd,
                "api_calls": len(replies),
            },
            "config": {
                "agent": {},
                "agent_type": f"pi_batch {version}",
                "model": {"model_name": model},
                "model_type": "pi_batch.providers",
                "environment": {"cwd": session.header.cwd},
                "environment_type": "pi_batch.workspaces",
            },
            "mini_version": "",
            "exit_status": ending.exit_status,
            "submission": ending.submission,
        },
        "messages": [*(_message(one) for one in said), *_exit(ending)],
        "trajectory_format": FORMAT,
    }
    if ending.instance_id:
        document["instance_id"] = ending.instance_id
    return json.dumps(document, indent=2, default=str) + "\n"


def _exit(ending: Ending) -> Iterator[dict[str, Any]]:
    if ending.exit_status:
        extra = {"exit_status": ending.exit_status, "submission": ending.submission}
        yield {"role": "exit", "content": ending.exit_status, "extra": extra}


def _message(message: Message) -> dict[str, Any]:
    match message:
        case SystemMessage():
            parts = (message.content, *map(str, message.sections.values()))
            return {"role": "system", "content": "\n\n".join(part for part in parts if part)}
        case UserMessage():
            extra = {"timestamp": message.timestamp_ms / 1000}
            return {"role": "user", "content": _content(message), "extra": extra}
        case AssistantMessage():
            return _reply(message)
        case ToolResultMessage():
            return _observation(message)


def _reply(message: AssistantMessage) -> dict[str, Any]:
    thought = "\n".join(block.thinking for block in message.content if isinstance(block, ThinkingBlock))
    calls = message.tool_calls
    return {
        "role": "assistant",
        "content": message.text,
        **({"reasoning_content": thought} if thought.strip() else {}),
        **({"tool_calls": [_call(call) for call in calls]} if calls else {}),
        "extra": {
            "actions": [_action(call) for call in calls],
            "cost": message.cost_usd or 0.0,
            "timestamp": message.timestamp_ms / 1000,
        },
    }


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.raw_arguments if call.arguments is None else _json(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _action(call: ToolCall) -> dict[str, str]:
    """A command as it is; any other call by its name and arguments."""
    arguments = call.arguments or {}
    command = arguments.get("command") if call.name == "bash" else None
    shown = command if isinstance(command, str) else f"{call.name} {_json(arguments)}"
    return {"command": shown, "tool_call_id": call.id}


def _observation(message: ToolResultMessage) -> dict[str, Any]:
    code = message.details.get("exit_code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    return {
        "role": "tool",
        "tool_call_id": message.tool_call_id,
        "content": _content(message),
        "extra": {
            "raw_output": message.text,
            "returncode": known if known is not None else int(message.is_error),
            "timestamp": message.timestamp_ms / 1000,
            "exception_info": message.error_kind or "",
        },
    }


def _content(message: UserMessage | ToolResultMessage) -> Any:
    """Text, or parts where there are images among it."""
    if not any(isinstance(block, ImageBlock) for block in message.content):
        return message.text
    return [
        {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
        if isinstance(block, ImageBlock)
        else {"type": "text", "text": block.text}
        for block in message.content
    ]


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), default=str)
