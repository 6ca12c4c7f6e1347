"""Run the benchmark suite with `oracle`, `nop` and two recorded models, 3 times each; show the leaderboard.

    python -m scripts.bench_demo [--filter GLOB]

No model service is asked. The recordings are written here, from what the suite's tasks hold: `careful` does
what the reference solution says, but for one of three tries at a hard task; `hasty` solves the easy ones and
makes each task's known mistake in others. What they cost is made up, so that there is something to draw.
"""

# ruff: noqa: INP001, T201 - a script, no package; it prints what it made

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from pi_batch.spec import PlannedTask
from pi_batch.task_content import read_tree
from tests.cases.turns import Call, Turn, bash, call, say, write_session

ROOT = Path(__file__).parents[1]
HOME = Path(".pi-batch", "bench-demo")
SUITE = ROOT / "tasks" / "bench" / "suite.yaml"
REPEAT = 3
USD_PER_TOKEN = {"careful": 3e-6, "hasty": 2.5e-7}
SPECIAL = (".deleted", ".answer", ".script")


def main(arguments: list[str], home: Path = HOME) -> int:
    """Record, run, report; 0 when every trial could be made."""
    filters = arguments[arguments.index("--filter") + 1 :][:1] if "--filter" in arguments else []
    shutil.rmtree(home, ignore_errors=True)
    names = {f"replay/{home / name}": name for name in USD_PER_TOKEN}
    options = PlanOptions(cwd=ROOT, models=tuple(names), repeat=REPEAT, filter=tuple(filters))
    for task in load_plan([str(SUITE)], options).tasks:
        record(task, home / names[task.planned.model])
    words = [word for model in ("oracle", "nop", *names) for word in ("-m", model)]
    words += [word for pattern in filters for word in ("--filter", pattern)]
    words += ["--repeat", str(REPEAT), "--jobs", "2", "--output", str(home / "run"), "--quiet"]
    code = pi_batch("run", str(SUITE), *words, is_shown=False)
    files = [str(home / f"board{end}") for end in (".html", ".csv", ".json")]
    boards = [word for file in (*files, "-") for word in ("--leaderboard", file)]
    pi_batch("report", str(home / "run"), *boards)
    print(f"the page: {files[0]}")
    return 0 if code in (0, 1) else code


def pi_batch(*words: str, is_shown: bool = True) -> int:
    """Run the program; its exit code."""
    out = None if is_shown else subprocess.DEVNULL
    words = (sys.executable, "-m", "pi_batch", *words)
    return subprocess.run(words, cwd=ROOT, stdout=out, check=False).returncode


def record(task: PlannedTask, directory: Path) -> None:
    """Write what a model said in one trial; the directory has its name."""
    name = directory.name
    mistakes = sorted(path for path in Path(task.spec_dir, "mistakes").glob("*") if path.is_dir())
    work = task.solution_path if solves(name, task) else next(iter(mistakes), None)
    turns = list(said(work)) if work is not None else [say("I see nothing to do.")]
    size = len(task.spec.prompt) + sum(len(str(turn)) for turn in turns)
    tokens = 400 + size // 4 * (3 if name == "careful" else 1)
    priced = [Turn(turn.calls, turn.text, turn.stop, tokens * USD_PER_TOKEN[name], tokens) for turn in turns]
    write_session(directory / f"{task.planned.key}.jsonl", priced)


def solves(name: str, task: PlannedTask) -> bool:
    """Whether a model solves a task in this try."""
    tags, repeat = task.planned.tags, task.planned.repeat
    if name == "careful":
        return "hard" not in tags or repeat < REPEAT
    return "easy" in tags or ("hard" not in tags and repeat == 1)


def said(work: Path) -> Iterator[Turn]:
    """A look around, the files of a directory written, and an answer."""
    content = {path: body.decode() for path, body in read_tree(work).items()}
    yield Turn((bash("ls -a"),), "I look at what is there.")
    calls: list[Call] = [bash(f"rm -r -- '{path}'") for path in content.get(".deleted", "").split()]
    calls += [call("write", path=path, content=text) for path, text in content.items() if path not in SPECIAL]
    calls += [bash(content[".script"])] if ".script" in content else []
    if calls:
        yield Turn(tuple(calls))
    yield say(content.get(".answer", "Done."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
