"""An interrupted task taken up: log and ledger are brought to where its session is."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from pi_batch.budget import Ledger
from pi_batch.engine.agent_outcome import AgentOutcome
from pi_batch.engine.legs import TaskLeft
from pi_batch.engine.machine import Machine
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.restoring import RecordedConversation
from pi_batch.engine.tool_calls import Emit
from pi_batch.events import MessageEnd, message_end
from pi_batch.files import write_atomic
from pi_batch.messages import AssistantMessage, Usage

MACHINE_FILE = "machine.json"
NUMBERED = re.compile(r"(.+)-(\d+)(?:\.\w+)?\Z")
"""A file in outputs/: the id of its call, and a number."""

NOTE = (
    "[The run was interrupted and goes on now, in the same workspace. What was running in the background has "
    "ended. The shell starts anew in {workspace}: its variables, functions and directory are gone.]"
)
NOTE_OF_A_BRANCH = (
    "[This conversation goes on in {workspace}. Files may have changed since. The shell starts anew: "
    "variables, functions, directory and background processes of earlier commands are gone.]"
)


def catch_up(
    left: TaskLeft, conversation: RecordedConversation, ledger: Ledger, emit: Emit, port: ModelPort
) -> None:
    """Tell log and ledger what the session knows and they do not.

    That is messages whose event was not written any more, and requests that have no reply: each counts as
    spent, as it was reserved.
    """
    for entry_id, message in conversation.recorded:
        if entry_id in left.entry_ids:
            continue
        emit(message_end(entry_id, message, port.label))
        if isinstance(message, AssistantMessage):
            is_answer = message.stop_reason not in ("error", "aborted")
            ledger.charge(message.usage or Usage(), message.cost_usd, turns=int(is_answer))
    torn = left.reply_ids - {entry_id for entry_id, _ in conversation.recorded}
    for request in conversation.unanswered[left.lost_replies + len(torn) :]:
        is_priced = port.cost_usd(port.model, request.usage) is not None
        cost_usd = request.cost_usd if is_priced else None
        emit(MessageEnd("", "assistant", "", "aborted", request.usage, cost_usd))
        ledger.charge(request.usage, cost_usd)


def outcome_left(left: TaskLeft, conversation: RecordedConversation) -> AgentOutcome | None:
    """How the agent had ended by itself in the attempt that is to be judged; None: it is to go on."""
    agent = left.agent
    if agent is None or agent.attempt != conversation.attempt:
        return None
    return AgentOutcome(agent.stop, agent.answer, agent.error)


def numbered_outputs(directory: Path) -> Counter[str]:
    """The highest number of each call's files in outputs/: names are not used twice."""
    numbers: Counter[str] = Counter()
    if directory.is_dir():
        for path in directory.iterdir():
            if match := NUMBERED.match(path.name):
                numbers[match[1]] = max(numbers[match[1]], int(match[2]))
    return numbers


def keep_machine(state_dir: Path, machine: Machine) -> None:
    """Keep what decides how checks run, as it was at the start. Raises: LogWriteError."""
    if machine:
        write_atomic(state_dir / MACHINE_FILE, json.dumps(dict(machine)).encode(), is_synced=False)


def kept_machine(state_dir: Path) -> Machine | None:
    """What was kept; None where it cannot be read."""
    try:
        value = json.loads((state_dir / MACHINE_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return {str(name): str(state) for name, state in value.items()} if isinstance(value, dict) else None
