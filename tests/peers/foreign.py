"""Tasks in other programs' formats, written down as those programs have them, and small."""

from __future__ import annotations

from pathlib import Path

UV_TEST = """\
#!/bin/bash

apt-get update
apt-get install -y curl

curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh

source $HOME/.local/bin/env

uvx \\
  --python 3.12 \\
  --with pytest==8.4.1 \\
  pytest /tests/test_outputs.py -rA

if [ $? -eq 0 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
PLAIN_TEST = """\
#!/bin/bash
if [ "$(cat /app/out.txt)" = "$WANTED" ] && cmp -s /tests/want.txt /app/out.txt; then
  echo '{"reward": 1.0}' > /logs/verifier/reward.json
else
  echo '{"reward": 0.5}' > /logs/verifier/reward.json
fi
"""
TOML = """\
version = "1.0"
[metadata]
difficulty = "easy"
category = "programming"
tags = ["trivial"]
[verifier]
timeout_sec = 90.0
env = { WANTED = "hi" }
[agent]
timeout_sec = 45.0
[solution]
env = { WORD = "hi" }
[environment]
cpus = 1
"""


def put(top: Path, **files: str) -> Path:
    """Write files below a directory; `__` stands for a slash, `DOT` for a dot."""
    for name, text in files.items():
        path = top / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return top


def harbor(top: Path, **files: str) -> Path:
    """A Harbor task: write `hi` to /app/out.txt."""
    whole = {
        "taskDOTtoml": TOML,
        "instructionDOTmd": "Write hi to /app/out.txt.\n",
        "environment__Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\n",
        "tests__testDOTsh": PLAIN_TEST,
        "tests__wantDOTtxt": "hi\n",
        "solution__solveDOTsh": '#!/bin/bash\nbash /solution/more.sh "$WORD"\n',
        "solution__moreDOTsh": 'echo "$1" > /app/out.txt\n',
    }
    return put(top, **(whole | files))


def terminal_bench(top: Path, **files: str) -> Path:
    """A terminal-bench task of the first version: the same."""
    whole = {
        "taskDOTyaml": "instruction: |-\n  Write hi to /app/out.txt.\ndifficulty: easy\nparser_name: pytest\n"
        "max_agent_timeout_sec: 900.0\nmax_test_timeout_sec: 180.0\ntags:\n  - files\n",
        "Dockerfile": "FROM ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624\n",
        "docker-composeDOTyaml": "services:\n  client:\n    build: {dockerfile: Dockerfile}\n",
        "run-testsDOTsh": "#!/bin/bash\nbash $TEST_DIR/check.sh\n",
        "tests__checkDOTsh": 'cd /app && [ "$(cat out.txt)" = hi ]\n',
        "solutionDOTsh": "#!/bin/bash\necho hi > out.txt\n",
    }
    return put(top, **(whole | files))
