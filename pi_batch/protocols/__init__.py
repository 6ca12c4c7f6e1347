"""What the rooms offer and the engine uses: one Protocol per kind of part.

Each has at least two implementations, a fake included, and one conformance suite in tests/ that runs
over the room's table. Rooms import this package; they never import each other.
"""

from __future__ import annotations

from pi_batch.protocols.executors import Executor, Trial
from pi_batch.protocols.models import Delta, ModelRequest, Provider, RecordedSummary
from pi_batch.protocols.outlets import Clock, Report, Sink
from pi_batch.protocols.sandboxes import (
    Completed,
    DirEntry,
    FileKind,
    FileStat,
    Sandbox,
    SandboxPlace,
    SandboxUse,
)
from pi_batch.protocols.tools import OutputFile, Tool, ToolContext, ToolOutput
from pi_batch.protocols.verifiers import CheckContext, Judgement, TestEvidence, Verifier
from pi_batch.protocols.workspaces import Changes, CleanCopy, Workspace

__all__ = [
    "Changes",
    "CheckContext",
    "CleanCopy",
    "Clock",
    "Completed",
    "Delta",
    "DirEntry",
    "Executor",
    "FileKind",
    "FileStat",
    "Judgement",
    "ModelRequest",
    "OutputFile",
    "Provider",
    "RecordedSummary",
    "Report",
    "Sandbox",
    "SandboxPlace",
    "SandboxUse",
    "Sink",
    "TestEvidence",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "Trial",
    "Verifier",
    "Workspace",
]
