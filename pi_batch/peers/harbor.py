"""Harbor and terminal-bench task directories as tasks of ours, where they need no image.

Harbor: task.toml, instruction.md, environment/, tests/test.sh, solution/solve.sh. Terminal-Bench: task.yaml
with the instruction, Dockerfile, run-tests.sh, tests/, solution.sh. Both were written for a container whose
working directory is /app; the judge that is written beside the tests finds them their places here.

Sources: https://harborframework.com/docs/tasks, https://harborframework.com/docs/task-difference.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from msgspec import Struct

from pi_batch.peers.dockerfile import DEFAULT_DIRECTORY, Image, read_dockerfile, read_task_file
from pi_batch.peers.task_files import Files, Imported, Refused, TaskFile, task_id

JUDGE_DIR = "pi_batch_judge"
JUDGE = f"python3 -I -S -B {JUDGE_DIR}/judge.py"
SCRIPT = ".script"
"""The file of a solution that the model `oracle` runs."""
MAX_SOLUTION_BYTES = 60_000
"""One command of a shell holds about twice as much, and base64 takes a third more."""
DEFAULT_TIMEOUT_S = 600.0
NEEDED = re.compile(r"(?:--with|-w|pip3? install|uv add)\s+([A-Za-z][\w.\[\]-]*(?:==[\w.]+)?)")
PARSERS = frozenset({"pytest", ""})


class Parts(Struct, frozen=True):
    """A task directory, read; the same for both formats."""

    prompt: str
    title: str
    tags: tuple[str, ...]
    agent_s: float
    judge_s: float
    network: bool
    image: Image
    tests: Files
    script: str
    """Of `tests`: what judges."""
    solution: Files
    solution_script: str
    has_reward: bool
    env: Mapping[str, str]
    """Of the judge."""
    solution_env: Mapping[str, str]
    reasons: tuple[str, ...]


def find_tasks(path: Path) -> tuple[Path, ...]:
    """The task directories at or right below a path, and below its `tasks/`; sorted by name."""
    if _is_task(path):
        return (path,)
    below = [one for top in (path, path / "tasks") if top.is_dir() for one in sorted(top.iterdir())]
    return tuple(one for one in below if _is_task(one))


def read_task(directory: Path) -> Imported | Refused:
    """One task directory. What it needs and cannot have here is said, one line each."""
    name = task_id(directory.resolve().name)
    try:
        parts = _harbor(directory) if (directory / "task.toml").is_file() else _terminal_bench(directory)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Refused(name, (f"cannot be read: {_why(error)}",))
    reasons = [*parts.reasons, *parts.image.reasons, *_lacking(parts)]
    return Refused(name, tuple(reasons)) if reasons else _imported(name, parts)


def _is_task(path: Path) -> bool:
    return (path / "task.toml").is_file() or ((path / "task.yaml").is_file() and (path / "tests").is_dir())


def _why(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    return " ".join(f"{where}{text}".split())[:300] or type(error).__name__


def _harbor(directory: Path) -> Parts:
    """Raises: OSError, ValueError, TypeError, AttributeError."""
    config = tomllib.loads((directory / "task.toml").read_text(encoding="utf-8"))
    environment, verifier = config.get("environment", {}), config.get("verifier", {})
    metadata, described = config.get("metadata", {}), config.get("task", {})
    context = directory / "environment"
    dockerfile = context / "Dockerfile"
    tags = [*metadata.get("tags", []), *described.get("keywords", [])]
    return Parts(
        prompt=(directory / "instruction.md").read_text(encoding="utf-8"),
        title=str(described.get("description", "")),
        tags=tuple(dict.fromkeys(str(tag) for tag in (*tags, *_known(metadata)) if str(tag).strip())),
        agent_s=float(config.get("agent", {}).get("timeout_sec") or DEFAULT_TIMEOUT_S),
        judge_s=float(verifier.get("timeout_sec") or DEFAULT_TIMEOUT_S),
        network=False,
        image=_image(dockerfile, context, "environment/Dockerfile"),
        tests=_files(directory / "tests"),
        script="test.sh",
        solution=_files(directory / "solution"),
        solution_script="solve.sh",
        has_reward=True,
        env=_strings(verifier.get("env", {})),
        solution_env=_strings(config.get("solution", {}).get("env", {})),
        reasons=tuple(_harbor_reasons(directory, config, environment)),
    )


def _harbor_reasons(
    directory: Path, config: Mapping[str, Any], environment: Mapping[str, Any]
) -> Iterator[str]:
    """What the configuration asks for that is not to be had."""
    if environment.get("docker_image") and not (directory / "environment" / "Dockerfile").is_file():
        yield f"environment.docker_image {environment['docker_image']!r}: needs an image"
    for name in ("docker-compose.yaml", "docker-compose.yml"):
        if (directory / "environment" / name).is_file():
            yield f"environment/{name}: several containers are not supported"
    if environment.get("gpus"):
        yield f"environment.gpus {environment['gpus']!r}: not supported"
    if environment.get("mcp_servers"):
        yield "environment.mcp_servers: not supported"
    if config.get("steps"):
        yield "steps: tasks of several steps are not supported"
    if str(environment.get("os", "linux")).lower() != "linux":
        yield f"environment.os {environment['os']!r}: not supported"


def _terminal_bench(directory: Path) -> Parts:
    """Raises: OSError, ValueError, TypeError, AttributeError."""
    import yaml  # 20 ms

    try:
        config = yaml.safe_load((directory / "task.yaml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"task.yaml: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("instruction"), str):
        raise ValueError("task.yaml: has no instruction")  # noqa: TRY004 (what a file holds is a value)
    parser = str(config.get("parser_name") or "")
    tests = dict(_files(directory / "tests"))
    if (directory / "run-tests.sh").is_file():
        tests["run-tests.sh"] = read_task_file(directory / "run-tests.sh")
    solution = directory / "solution.sh"
    commands = "solution.yaml: a solution of terminal keys is not supported, so there is none"
    tags = (*(config.get("tags") or ()), *_known(config))
    return Parts(
        prompt=config["instruction"],
        title="",
        tags=tuple(dict.fromkeys(str(tag) for tag in tags if str(tag).strip())),
        agent_s=float(config.get("max_agent_timeout_sec") or DEFAULT_TIMEOUT_S),
        judge_s=float(config.get("max_test_timeout_sec") or DEFAULT_TIMEOUT_S),
        network=False,
        image=_image(directory / "Dockerfile", directory, "Dockerfile"),
        tests=tests,
        script="run-tests.sh",
        solution={"solve.sh": read_task_file(solution)} if solution.is_file() else {},
        solution_script="solve.sh",
        has_reward=False,
        env={},
        solution_env={},
        reasons=(
            *((f"parser_name {parser!r}: only pytest is supported",) if parser not in PARSERS else ()),
            *(_several_containers(directory)),
            *((commands,) if (directory / "solution.yaml").is_file() and not solution.is_file() else ()),
        ),
    )


def _several_containers(directory: Path) -> Iterator[str]:
    """A docker-compose.yaml of one service is what every such task has."""
    import yaml

    path = directory / "docker-compose.yaml"
    if not path.is_file():
        return
    try:
        compose = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"docker-compose.yaml: {error}") from error
    services = compose.get("services") if isinstance(compose, dict) else None
    if isinstance(services, dict) and len(services) > 1:
        yield f"docker-compose.yaml: {len(services)} containers are not supported"


def _known(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Metadata that is worth a tag."""
    return tuple(str(metadata[key]) for key in ("difficulty", "category") if metadata.get(key))


def _image(dockerfile: Path, context: Path, name: str) -> Image:
    if dockerfile.is_file():
        return read_dockerfile(dockerfile.read_text(encoding="utf-8"), context, name)
    return Image(DEFAULT_DIRECTORY, _files(context) if name.startswith("environment") else {}, ())


def _files(directory: Path) -> Files:
    """All files below a directory that is there."""
    if not directory.is_dir():
        return {}
    paths = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(directory).as_posix(): read_task_file(path) for path in paths}


def _strings(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()}


def _lacking(parts: Parts) -> Iterator[str]:
    """What no import can do without."""
    if not parts.prompt.strip():
        yield "the instruction is empty"
    if parts.script not in parts.tests:
        yield f"{parts.script} is not there: nothing would judge"
    if sum(len(file.content) for file in parts.solution.values()) > MAX_SOLUTION_BYTES:
        yield f"the solution has more than {MAX_SOLUTION_BYTES:,} bytes"
    if any(b"rewardkit" in file.content for file in parts.tests.values()):
        yield "tests: rewardkit is not supported"


def _imported(name: str, parts: Parts) -> Imported:
    config = {
        "directory": parts.image.directory,
        "script": parts.script,
        "has_reward": parts.has_reward,
        "env": parts.env,
    }
    judge = resources.files("pi_batch.peers.judges").joinpath("harbor.py").read_bytes()
    has_solution = parts.solution_script in parts.solution
    return Imported(
        id=name,
        prompt=_prompt(parts),
        judge=JUDGE,
        judge_dir=JUDGE_DIR,
        hidden={
            "judge.py": TaskFile(judge),
            "config.json": TaskFile((json.dumps(config, indent=2) + "\n").encode()),
            **{f"tests/{path}": file for path, file in parts.tests.items()},
        },
        workspace=parts.image.files,
        solution={SCRIPT: TaskFile(_replayed(parts).encode())} if has_solution else {},
        title=parts.title,
        tags=parts.tags,
        wall_s=parts.agent_s,
        judge_timeout_s=parts.judge_s,
        notes=tuple(_notes(parts, has_solution=has_solution)),
    )


def _prompt(parts: Parts) -> str:
    """The instruction with paths that are there: relative to the working directory."""
    place = re.escape(parts.image.directory)
    text = re.sub(rf"(?<![\w./-]){place}/(?=[\w.*{{<$-])", "", parts.prompt)
    text = re.sub(rf"(?<=[`\"'])({place})/?(?=[`\"'])|(?<=cd )({place})(?![\w-])/?", ".", text)
    text = re.sub(rf"(?<![\w./-]){place}(?![\w-])/?", "the current directory", text)
    if text == parts.prompt:
        return text
    return f"{text.rstrip()}\n\nPaths are relative to the current directory, where you begin.\n"


def _notes(parts: Parts, *, has_solution: bool) -> Iterator[str]:
    texts = [file.content.decode("utf-8", "replace") for file in parts.tests.values()]
    wanted = dict.fromkeys(found for text in texts for found in NEEDED.findall(text))
    if wanted:
        yield f"its tests need, installed where they run: {', '.join(wanted)}"
    place = parts.image.directory.encode()
    named = sorted(path for path, file in parts.image.files.items() if place + b"/" in file.content)
    if named:
        yield f"{', '.join(named[:3])} in the workspace names {parts.image.directory}, which is not there"
    if not has_solution:
        yield "it has no solution that can be run, so nothing proves it"


def _replayed(parts: Parts) -> str:
    """A shell script that lays the solution down, puts this machine's paths into it, and runs it."""
    lines = ['root=$PWD; box=$(mktemp -d); mkdir -p "$box/solution"']
    for path, file in parts.solution.items():
        target = f'"$box/solution/"{shlex.quote(path)}'
        body = base64.b64encode(file.content).decode()
        lines.append(f'mkdir -p "$(dirname {target})"; printf %s {body} | base64 -d > {target}')
        if b"\0" not in file.content:
            lines += [
                _moved(parts.image.directory, "$root", target),
                _moved("/solution", "$box/solution", target),
            ]
    env = " ".join(f"{name}={shlex.quote(value)}" for name, value in parts.solution_env.items())
    script = f'"$box/solution/"{shlex.quote(parts.solution_script)}'
    lines += [f'{env + " " if env else ""}bash {script}; code=$?; rm -rf "$box"; exit $code']
    return "\n".join(lines) + "\n"


def _moved(place: str, variable: str, target: str) -> str:
    """sed, twice: of two names that share a character between them it sees but one at a time."""
    pattern = f"(^|[^[:alnum:]_./-]){place}($|[^[:alnum:]_-])"
    step = f"-e 's#{pattern}#\\1'\"{variable}\"'\\2#g'"
    return f"sed -i -E {step} {step} {target}"
