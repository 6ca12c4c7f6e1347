"""Judges the directory that it is started in by the tests of a Harbor or terminal-bench task.

The tests were written for a container: they lie in /tests, the work in /app, and a number in /logs/verifier
says how it went. Here a copy of the tests is made whose paths are those of this machine. Installers that such
tests begin with are answered by stand-ins, as nothing can be installed here: what is not there, tests miss.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUN_PYTEST = 'exec python3 -I -m pytest -p no:cacheprovider -c /dev/null --rootdir="$TEST_DIR" "$@"\n'
SKIP_OPTIONS = """\
while [ $# -gt 0 ]; do
  case "$1" in
    -p|--python|-w|--with|--from|--with-requirements|--index-url|--project) shift 2;;
    -*) shift;;
    *) break;;
  esac
done
case "${1:-}" in
  pytest|pytest@*|pytest==*) shift; exec pytest "$@";;
  *) exec "$@";;
esac
"""
STAND_INS = {
    "apt": "exit 0\n",
    "apt-get": "exit 0\n",
    "pip": "exit 0\n",
    "pip3": "exit 0\n",
    "sudo": 'exec "$@"\n',
    "curl": 'case "$*" in *astral.sh/uv*) exit 0;; *) exec /usr/bin/curl "$@";; esac\n',
    "pytest": RUN_PYTEST,
    "uvx": SKIP_OPTIONS,
    "uv": 'case "${1:-}" in\n'
    f'  run|tool) shift; [ "${{1:-}}" = run ] && shift\n{SKIP_OPTIONS};;\n'
    '  venv) for last; do :; done; mkdir -p "$last/bin"; : > "$last/bin/activate";;\n'
    "  *) exit 0;;\nesac\n",
}


def main() -> int:
    """0 when the task's own tests say that all is well."""
    root, own = Path.cwd(), Path(__file__).resolve().parent
    config = json.loads((own / "config.json").read_text(encoding="utf-8"))
    box = Path(tempfile.mkdtemp(prefix="harbor-"))
    try:
        tests = box / "tests"
        shutil.copytree(own / "tests", tests)
        shutil.rmtree(own)
        places = {config["directory"]: str(root), "/tests": str(tests), "/logs": str(box / "logs")}
        rewrite(tests, places)
        code = run(config, box, places)
        return verdict(config, box / "logs" / "verifier", code)
    finally:
        shutil.rmtree(box, ignore_errors=True)


def rewrite(directory: Path, places: dict[str, str]) -> None:
    """Put this machine's paths into every text below a directory."""
    for path in directory.rglob("*"):
        if path.is_file():
            try:
                text = path.read_bytes().decode()
            except UnicodeDecodeError:
                continue
            path.write_bytes(moved(text, places).encode())


def moved(text: str, places: dict[str, str]) -> str:
    """A text with each of the places where it is here; parts of longer names and addresses stay."""
    names = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return re.sub(rf"(?<![\w./-])({names})(?![\w-])", lambda found: places[found[1]], text)


def run(config: Any, box: Path, places: dict[str, str]) -> int:
    """Run the task's script; its exit code."""
    for directory in ("bin", "home/.local/bin", "logs/verifier", "logs/agent"):
        (box / directory).mkdir(parents=True)
    for name, body in STAND_INS.items():
        (box / "bin" / name).write_text(f"#!/bin/sh\n{body}", encoding="utf-8")
        (box / "bin" / name).chmod(0o755)
    (box / "home/.local/bin/env").write_text("", encoding="utf-8")
    settings = {
        **{name: moved(value, places) for name, value in config["env"].items()},
        "HOME": str(box / "home"),
        "TEST_DIR": str(box / "tests"),
    }
    script = 'PATH="$1:$PATH" exec bash "$2"'
    words = ["bash", "-c", script, "bash", str(box / "bin"), str(box / "tests" / config["script"])]
    pairs = [f"{name}={value}" for name, value in settings.items()]
    return subprocess.run(["env", "--", *pairs, *words], stdin=subprocess.DEVNULL, check=False).returncode


def verdict(config: Any, logs: Path, code: int) -> int:
    """0 for a reward of 1, or for terminal-bench an exit code of 0."""
    if not config["has_reward"]:
        return 0 if code == 0 else 1
    try:
        reward = read_reward(logs)
    except (OSError, ValueError, TypeError) as error:
        print(f"FAILED: the tests left no reward that can be read ({error}); exit code {code}", flush=True)
        return 1
    print(f"reward {reward:g}", flush=True)
    return 0 if reward >= 1 else 1


def read_reward(logs: Path) -> float:
    """reward.txt, else reward.json: its `reward`, or its only number."""
    if (logs / "reward.txt").exists():
        return float((logs / "reward.txt").read_text(encoding="utf-8"))
    values = json.loads((logs / "reward.json").read_text(encoding="utf-8"))
    if "reward" not in values and len(values) != 1:
        raise ValueError(f"reward.json has {len(values)} numbers and none is called reward")
    return float(values.get("reward", next(iter(values.values()))))


if __name__ == "__main__":
    sys.exit(main())
