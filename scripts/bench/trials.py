"""Measure what a trial of a large suite costs: 1,000 replayed trials of ten turns, at 8 and at 32 at once.

    python -m scripts.bench.trials [--trials N] [--inspect PYTHON]

Nine replies call `read`, the tenth answers; no model service and no sandbox are in it, so what is left is
ours: session, log, budget, report. CPU time is the whole process tree's. `--inspect` names a Python that has
inspect_ai: the same ten replies by its mock model, a tool that reads a file, a scorer that looks for a word,
started as its users start it, in turns with ours.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench.measuring import Cost, Program

TURNS = 10
_AT = {"timestamp": "2026-01-01T00:00:00.000Z"}
_NO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_TASK = "id: t\nprompt: Go.\ntools: [read]\nworkspace: {path: project, isolation: none}\n"
_INSPECT = '''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

@tool
def read():
    async def execute(path: str, offset: int) -> str:
        """Read lines of a file.

        Args:
            path: The file.
            offset: The first line.
        """
        with open(path) as file:
            return "".join(file.readlines()[offset:offset + 2])
    return execute

def reply(input, tools, tool_choice, config):
    turn = sum(message.role == "assistant" for message in input)
    if turn < 9:
        output = ModelOutput.for_tool_call("mockllm/model", "read", {"path": "project/f.txt", "offset": turn})
    else:
        output = ModelOutput.from_content("mockllm/model", "done")
    output.usage = ModelUsage(input_tokens=500, output_tokens=20, total_tokens=520)
    return output

@task
def trials(count: int = 1):
    samples = [Sample(input="Go.", target="done", id=number) for number in range(1, count + 1)]
    model = get_model("mockllm/model", custom_outputs=reply)
    return Task(dataset=samples, solver=[use_tools(read()), generate()], scorer=includes(), model=model)
'''


def main(words: list[str]) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="scripts.bench.trials")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--inspect", metavar="PYTHON")
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="pi-batch-trials-") as name:
        bench = Bench(Path(name).resolve())
        bench.ours(1, 1).run()  # writes byte code and fills the file cache
        one = bench.ours(1, 1).run().least(bench.ours(1, 1).run())
        _row("", "CPU ms", "a trial", "peak MiB", "wall s")
        _row("ours: one trial", f"{one.cpu_ms:.0f}", "", f"{one.peak_mb:.0f}", f"{one.wall_ms / 1000:.1f}")
        for jobs in (8, 32):
            for count in (chosen.trials // 10, chosen.trials):
                _many(f"ours: {count} trials, {jobs} at once", count, bench.ours(count, jobs).run(), one)
        if chosen.inspect:
            first = bench.inspect(chosen.inspect, 1, 1).run().least(bench.inspect(chosen.inspect, 1, 1).run())
            wall = f"{first.wall_ms / 1000:.1f}"
            _row("inspect_ai: one sample", f"{first.cpu_ms:.0f}", "", f"{first.peak_mb:.0f}", wall)
            count = chosen.trials // 10
            _many(
                f"inspect_ai: {count}, 8 at once", count, bench.inspect(chosen.inspect, count, 8).run(), first
            )
            again = bench.ours(count, 8).run()
            _many(f"ours once more: {count}, 8 at once", count, again, one)
    return 0


class Bench:
    """Programs in a directory of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        (path / "t.yaml").write_text(_TASK, encoding="utf-8")
        (path / "project").mkdir()
        (path / "project" / "f.txt").write_text("a line of a file\n" * 40, encoding="utf-8")
        lines = (json.dumps(line) for line in _recording())
        (path / "s.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (path / "trials.py").write_text(_INSPECT, encoding="utf-8")
        (path / "home").mkdir()
        self._env = {"PATH": os.environ["PATH"], "HOME": str(path / "home"), "LANG": "C.UTF-8"}
        self._runs = 0

    def ours(self, count: int, jobs: int) -> Program:
        """So many trials."""
        self._runs += 1
        command = str(Path(sys.executable).with_name("pi-batch"))
        how = (
            "--repeat",
            str(count),
            "--jobs",
            str(jobs),
            "--output",
            f"runs/{self._runs}",
            "--sandbox",
            "none",
        )
        return Program(
            [command, "run", "t.yaml", "-m", "replay/s.jsonl", *how, "--quiet"], self._path, self._env
        )

    def inspect(self, python: str, count: int, samples: int) -> Program:
        """The same by inspect_ai."""
        how = (
            "-T",
            f"count={count}",
            "--max-samples",
            str(samples),
            "--display",
            "none",
            "--log-dir",
            "logs",
        )
        return Program(
            [str(Path(python).with_name("inspect")), "eval", "trials.py", *how], self._path, self._env
        )


def _many(title: str, count: int, cost: Cost, one: Cost) -> None:
    each = (cost.cpu_ms - one.cpu_ms) / max(1, count - 1)
    _row(title, f"{cost.cpu_ms:.0f}", f"{each:.1f}", f"{cost.peak_mb:.0f}", f"{cost.wall_ms / 1000:.1f}")


def _row(*cells: str) -> None:
    print(f"{cells[0]:36}", *(f"{cell:>9}" for cell in cells[1:]), flush=True)  # noqa: T201


def _recording() -> list[dict[str, Any]]:
    """A session of ten replies."""
    lines: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": "5f2b1c1e-8a04-4f6c-9d0a-1f2e3d4c5b6a",
            "cwd": "/bench",
            **_AT,
        }
    ]
    user = {"role": "user", "content": [{"type": "text", "text": "Go."}], "timestamp": 1}
    said = [user, *(_reply(turn) for turn in range(TURNS))]
    for number, message in enumerate(said):
        parent = f"{number - 1:08}" if number else None
        lines.append({"type": "message", "id": f"{number:08}", "parentId": parent, "message": message, **_AT})
    return lines


def _reply(turn: int) -> dict[str, Any]:
    usage = {"input": 500 + 100 * turn, "output": 20, "cacheRead": 0, "cacheWrite": 0, "cost": _NO_COST}
    arguments = {"path": "f.txt", "offset": turn + 1, "limit": 2}
    call = {"type": "toolCall", "id": f"call_{turn}", "name": "read", "arguments": arguments}
    is_last = turn == TURNS - 1
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": "done"}] if is_last else [call],
        "api": "openai-completions",
        "provider": "openai",
        "model": "m",
        "usage": {**usage, "totalTokens": 520 + 100 * turn},
        "stopReason": "stop" if is_last else "toolUse",
        "timestamp": 2,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
