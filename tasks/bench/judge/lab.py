"""What a task's checks may use: children to run the judged code in, and words to compare with.

The judged code never runs in this process, and what it should give is never in the other one: it can end
its process, print what it likes or look for the checks, and has gained nothing.
"""

import json
import os
import subprocess
import sys
import tempfile

PYTHON = (sys.executable, "-I", "-S", "-B")
BOOT = """
import json, os, resource, sys
_out = os.fdopen(int(sys.argv[1]), "w")
if int(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
_code = sys.stdin.read()
sys.stdin = open(os.devnull)
def attempt(function, *arguments, **named):
    try:
        return ["gave", function(*arguments, **named)]
    except Exception as error:
        return ["raised", type(error).__name__, str(error)]
def give(value, _dumps=json.dumps, _out=_out):
    _out.write(_dumps(value) + chr(10))
    _out.flush()
sys.argv = ["probe"]
sys.path.insert(0, os.getcwd())
exec(compile(_code, "probe", "exec"), {"attempt": attempt, "give": give, "__name__": "probe"})
"""
HOME = tempfile.mkdtemp(prefix="home-")
DATA = {}
"""The files beside check.py, by name."""


class Failed(Exception):
    """A check that does not hold; its text says which value, and what was needed."""


class Ended:
    """How a program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def run(*argv, given="", seed="0", timeout_s=60, cwd=None, **variables):
    """A program to its end, in a plain environment; text in, text out."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": HOME}
    env.update({"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC", **variables})
    try:
        done = subprocess.run(
            argv, input=given.encode(), capture_output=True, timeout=timeout_s, cwd=cwd, env=env, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(argv)[:80]}: not done after {timeout_s} s") from None
    except OSError as error:
        raise Failed(f"{argv[0]}: cannot be started: {error}") from None
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def probe(code, timeout_s=60, cpu_s=0):
    """Run code in a child that imports from the workspace; what it hands to `give`, the last time.

    `cpu_s` bounds the work by the processor's own time, so that a busy machine makes nobody fail.
    """
    with tempfile.TemporaryFile() as given:
        child = subprocess.Popen(
            (*PYTHON, "-c", BOOT, str(given.fileno()), str(cpu_s)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(given.fileno(),),
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": HOME, "TZ": "UTC"},
        )
        try:
            _, complaints = child.communicate(code.encode(), timeout=timeout_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise Failed(f"not done after {timeout_s} s") from None
        given.seek(0)
        lines = given.read().decode("utf-8", "replace").split("\n")
    said = complaints.decode("utf-8", "replace").strip().split("\n")[-1]
    if len(lines) < 2:
        raise Failed(f"the code ended with {child.returncode} before it gave anything: {said}")
    return json.loads(lines[-2])


def same(found, wanted, what):
    """Two values that must be equal."""
    if found != wanted:
        raise Failed(f"{what}: got {_short(found)}, need {_short(wanted)}")


def true(fact, what):
    """Something that must hold."""
    if not fact:
        raise Failed(what)


def gave(attempted, wanted, what):
    """What `attempt` brought home must be this value."""
    same(attempted, ["gave", wanted], what)


def raised(attempted, kind, what):
    """What `attempt` brought home must be this exception, or one of these."""
    kinds = (kind,) if isinstance(kind, str) else kind
    true(attempted[0] == "raised" and attempted[1] in kinds, f"{what}: got {_short(attempted)}, need {kinds}")


def text(path):
    """A file of the workspace."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Failed(f"{path}: {error}") from None


def write(path, content):
    """Put a file into the judged copy."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(content)


def files(top="."):
    """Every file below, by path, what tools leave behind left out."""
    found = []
    for directory, names, inside in os.walk(top):
        names[:] = [name for name in names if name not in ("__pycache__", ".git", "judge", "checks")]
        found += [os.path.relpath(os.path.join(directory, name), top) for name in inside]
    return sorted(name for name in found if not name.endswith(".pyc"))


def unchanged(*names):
    """Files that must be as they were at the start; their originals lie beside check.py as start/NAME."""
    for name in names:
        same(text(name).replace("\r\n", "\n"), DATA[f"start/{name}"], f"{name} was to be left alone")


def _short(value):
    shown = repr(value)
    return shown if len(shown) <= 300 else shown[:297] + "..."
