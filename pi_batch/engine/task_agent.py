"""A task's agent with its door and its requester, at its beginning or where an earlier leg ended."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec import Struct

from pi_batch.budget import Ledger
from pi_batch.engine.agent import Agent
from pi_batch.engine.planning import WORK, PlanRules, last_said
from pi_batch.engine.restoring import RecordedConversation
from pi_batch.engine.retry import Requester
from pi_batch.engine.router import Router
from pi_batch.engine.taking_up import NOTE, NOTE_OF_A_BRANCH, numbered_outputs
from pi_batch.engine.task_parts import TaskBeginning, TaskParts
from pi_batch.engine.tool_calls import Door, Emit
from pi_batch.messages import UserMessage
from pi_batch.outputs import MaskedOutput
from pi_batch.protocols import Clock, Sandbox
from pi_batch.script_fold import SCRIPT_TOOL
from pi_batch.session_log import SessionLog


class AgentSurroundings(Struct, frozen=True):
    """What is there by the time that the agent is made."""

    sandbox: Sandbox
    scratch: str
    session: SessionLog
    conversation: RecordedConversation | None
    """What an earlier leg left in the session."""
    ledger: Ledger
    emit: Emit
    clock: Clock
    on_wait: Callable[[float], None]
    """Told how long each wait was."""


def make_agent(parts: TaskParts, beginning: TaskBeginning, around: AgentSurroundings) -> Agent:
    """The agent, at its beginning or where an earlier leg ended."""
    router = _router(parts, beginning, around.conversation)
    requester = Requester(
        port=router.port,
        ledger=around.ledger,
        emit=around.emit,
        clock=around.clock,
        mask=parts.mask,
        random=random.Random(parts.planned.planned.key),  # noqa: S311 -- jitter, not secrets
        policy=parts.retry,
        on_wait=around.on_wait,
        is_watched=parts.is_watched,
    )
    return _opened(parts, beginning, around, requester, router)


def _router(parts: TaskParts, beginning: TaskBeginning, said: RecordedConversation | None) -> Router:
    """Who is asked: where an earlier leg of the same work was, else from the beginning."""
    router = Router.of_one(parts.port) if parts.models is None else Router(parts.models)
    if said is not None and said.selected and beginning.mode == "go_on":
        words = [message.text for _, message in said.recorded if isinstance(message, UserMessage)]
        router.restore(said.selected, has_worked=last_said(words) == WORK)
    return router


def _make_door(parts: TaskParts, around: AgentSurroundings, router: Router) -> Door:
    rules = PlanRules(
        parts.make_rules(parts.workspace.path), lambda: router.is_planning, parts.tools, SCRIPT_TOOL
    )
    outputs = parts.task_dir / "outputs"
    return Door(
        tools=parts.tools,
        parse=parts.parse,
        script_tool=SCRIPT_TOOL,
        script_only=parts.script_only,
        rules=rules,
        sandbox=around.sandbox,
        workspace=parts.workspace.path,
        outputs_dir=str(outputs.resolve()),
        open_output=lambda name: MaskedOutput(outputs.resolve() / name, parts.mask.stream()),
        env=parts.make_env(around.scratch),
        scratch=around.scratch,
        ledger=around.ledger,
        mask=parts.mask,
        emit=around.emit,
        clock=around.clock,
        outputs=numbered_outputs(outputs),
    )


def _opened(
    parts: TaskParts,
    beginning: TaskBeginning,
    around: AgentSurroundings,
    requester: Requester,
    router: Router,
) -> Agent:
    left, said = beginning.left, around.conversation
    system, declarations = None, parts.declarations
    is_same = beginning.mode == "go_on" and not beginning.is_changed
    if said is not None and is_same:  # a prefix that stays as it is is read from the service's cache
        system, declarations = said.system, said.declarations
    if system is None:
        system = parts.mask.mask(parts.system_prompt(parts.workspace.path))
    agent = Agent(
        door=_make_door(parts, around, router),
        requester=requester,
        session=around.session,
        system=system,
        declarations=declarations,
        router=router,
        follow_ups=parts.planned.spec.follow_ups,
        output_schema=parts.planned.spec.output.schema_,
    )
    agent.open(said)
    if said is not None:
        parts.bind_history(message for _, message in said.recorded)
        note = NOTE if beginning.mode == "go_on" else NOTE_OF_A_BRANCH
        agent.restore(
            said,
            note.format(workspace=parts.workspace.path) if said.has_calls else "",
            left.ended_calls if left is not None else (),
            left.warned if left is not None and beginning.mode == "go_on" else (),
        )
    return agent
