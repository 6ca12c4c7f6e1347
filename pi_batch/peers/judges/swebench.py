"""Judges the directory that it is started in by the tests of a SWE-bench instance.

The test files are put as the instance's test patch has them, then the files that hold the tests are run by
pytest. All tests of FAIL_TO_PASS and PASS_TO_PASS must pass (or fail as they are expected to).
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUNNER = """\
import json, os, sys
import pytest
sys.path.append(os.getcwd())
class Outcomes:
    def __init__(self):
        self.of = {}
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            came = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
            if self.of.get(report.nodeid, "passed") in ("passed", "xfailed"):
                self.of[report.nodeid] = came
    def pytest_sessionfinish(self):
        with open(sys.argv[1], "w") as file:
            json.dump(self.of, file)
sys.exit(pytest.main(sys.argv[2:], plugins=[Outcomes()]))
"""
GOOD = ("passed", "xfailed")


def main() -> int:
    """0 when every test of the instance passes."""
    root, own = Path.cwd(), Path(__file__).resolve().parent
    config = json.loads((own / "config.json").read_text(encoding="utf-8"))
    box = Path(tempfile.mkdtemp(prefix="swebench-"))
    try:
        put_tests(own / "files", config["deleted"], root)
        shutil.rmtree(own)
        outcomes = run(config, root, box)
        return verdict(config, outcomes)
    finally:
        shutil.rmtree(box, ignore_errors=True)


def put_tests(files: Path, deleted: list[str], root: Path) -> None:
    """The test patch, done."""
    for name in deleted:
        (root / name).unlink(missing_ok=True)
    for source in files.rglob("*") if files.is_dir() else ():
        if source.is_file():
            target = root / source.relative_to(files)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(source, target)


def run(config: dict[str, list[str]], root: Path, box: Path) -> dict[str, str]:
    """Test -> what came of it."""
    ids = [*config["fail_to_pass"], *config["pass_to_pass"]]
    files = sorted({one.partition("::")[0] for one in ids})
    (box / "run.py").write_text(RUNNER, encoding="utf-8")
    found = box / "outcomes.json"
    options = ["-p", "no:cacheprovider", "--rootdir", str(root), "-q"]
    words = ["python3", "-B", str(box / "run.py"), str(found), *options, *files]
    subprocess.run(words, cwd=root, stdin=subprocess.DEVNULL, check=False)
    if not found.exists():
        print("FAILED: pytest did not come to its end", flush=True)
        return {}
    read: dict[str, str] = json.loads(found.read_text(encoding="utf-8"))
    return read


def verdict(config: dict[str, list[str]], outcomes: dict[str, str]) -> int:
    """0 when all are good; an id that a space cuts short stands for every test that begins so."""
    cut: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        cut.setdefault(name.partition(" ")[0], []).append(outcome)
    failed = 0
    for kind in ("fail_to_pass", "pass_to_pass"):
        for name in config[kind]:
            came = [outcomes[name]] if name in outcomes else cut.get(name, ["not run"])
            if any(one not in GOOD for one in came):
                failed += 1
                print(f"FAILED {kind} {name}: {', '.join(came)}", flush=True)
    total = len(config["fail_to_pass"]) + len(config["pass_to_pass"])
    print(f"{total - failed} of {total} tests pass", flush=True)
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
