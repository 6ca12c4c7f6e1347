"""Specs: every mistake is one line before anything runs, and text stays as it is written."""

from __future__ import annotations

import re

import pytest

from tests.cases.project import Project, Ran
from tests.cases.turns import say, write_session

pytestmark = pytest.mark.slow


def run_text(project: Project, text: str | bytes, *args: str) -> Ran:
    """Run a spec as it is written, in place."""
    content = text.encode() if isinstance(text, str) else text
    content += b"workspace: {path: project, isolation: none}\n"
    (project.base / "task.yaml").write_bytes(content)
    session = write_session(project.base / "model.jsonl", [say("done")])
    return project.start("run", "task.yaml", "-m", f"replay/{session.name}", *args)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "a block twice (Abilityai/trinity#1884)": (
        "tasks:\n  - id: a\n    prompt: first\n    prompt: second\ntasks:\n  - id: b\n    prompt: third\n",
        r"twice|duplicate|already",
    ),
    "a misspelt key (extra-org/extra#66)": (
        "tasks:\n  - id: a\n    prompt: p\n    verfiy: ['false']\n",
        "verfiy.*verify",
    ),
    "a key that is not ours": (
        "tasks:\n  - name: no\n    prompt: yes\n    tags: [on, off, nb, no]\n",
        "name.*id",
    ),
    "a key of another level": ("prompt: p\nturns: 3\n", "turns.*budget.turns"),
    "nothing": ("", "empty|nothing|need"),
    "a comment alone": ("# later\n", "empty|nothing|need"),
    "a list": ("- prompt: p\n", "need"),
    "a text": ("just text\n", "need"),
    "no prompt": ("id: a\n", "prompt"),
    "a blank prompt": ("prompt: '  '\n", "prompt"),
    "a tab": ("prompt: p\nbudget:\n\tturns: 3\n", "tab"),
    "an anchor": ("prompt: &a p\ntitle: *a\n", "alias|anchor"),
    "a merge key": ("prompt: p\n<<: {title: x}\n", "<<|merge"),
    "a tag": ("prompt: !!python/object/apply:os.system ['touch PWNED']\n", "tag"),
    "two documents": ("prompt: p\n---\nprompt: q\n", "document"),
    "an open quote": ("prompt: 'p\n", "quote|end of"),
    "a number where a list belongs": ("prompt: p\nprotect: 3\n", "protect.*list"),
    "a budget below one": ("prompt: p\nbudget: {turns: 0}\n", "turns"),
    "a budget in words": ("prompt: p\nbudget: {turns: many}\n", "turns.*many"),
    "a budget that is no number": ("prompt: p\nbudget: {wall_s: .nan}\n", "wall_s"),
    "an endless budget": ("prompt: p\nbudget: {cost_usd: .inf}\n", "cost_usd"),
    "an isolation of nobody's": ("prompt: p\nworkspace: {isolation: vm}\n", "isolation.*vm"),
    "an id that leaves its directory": ("prompt: p\nid: ../x\n", "id"),
    "a version of later": ("prompt: p\nversion: 2\n", "version"),
    "a file outside": ("prompt: p\noutput: {files: [../x]}\n", "output.files"),
    "a schema that is none": ("prompt: p\noutput: {schema: {type: objekt}}\n", "schema"),
    "what is not built yet": ("prompt: p\nskills: [a]\n", "not available in this version"),
    "a model without provider": ("prompt: p\nmodel: gpt\n", "model"),
    "two checks of one name": ("prompt: p\nverify: [{name: a, run: x}, {name: a, run: y}]\n", "verify"),
    "bytes that are not UTF-8": (b"prompt: caf\xe9\n", "UTF-8"),
    "a control byte": (b"prompt: a\0b\n", "NUL|character|control"),
    "UTF-16": ("prompt: p\n".encode("utf-16"), "UTF-8|UTF-16"),
    "depth without end": ("prompt: " + "[" * 5000 + "\n", "nest|deep"),
    "a misspelt variable (SWE-agent/mini-swe-agent#497)": (
        "inputs: {issue: {default: x}}\nprompt: 'Fix {{ inputs.isue }}'\n",
        "isue",
    ),
    "a variable from nowhere": ("prompt: 'Fix {{ repo.nmae }}'\n", "repo"),
    "a template that is cut": ("prompt: 'Fix {{ inputs.x '\n", "template|}}|end"),
    "a template that reaches out": ("prompt: \"{{ ''.__class__.__mro__ }}\"\n", "__class__|__mro__"),
    "an input of the wrong type": ("inputs: {n: {type: integer, default: a}}\nprompt: p\n", "n"),
}


def test_a_mistake_is_one_line_with_its_place_before_anything_runs(project: Project) -> None:
    tasks = project.base / "tasks"
    tasks.mkdir()
    for number, (text, _like) in enumerate(REFUSED.values()):
        (tasks / f"m{number:02d}.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    ran = project.start("run", "tasks", "-m", "replay/absent.jsonl")
    assert ran.exit_code == 2
    assert not ran.run_dir.exists()
    assert "Traceback" not in ran.stderr
    lines = ran.stderr.rstrip("\n").split("\n")
    found = {}
    for number, (name, (_text, like)) in enumerate(REFUSED.items()):
        own = [line for line in lines if f"tasks/m{number:02d}.yaml" in line]
        assert own, f"{name}: nothing is said"
        found[name] = any(re.search(like, line, re.IGNORECASE) for line in own) or own
        assert all(re.match(r"tasks/m\d\d\.yaml(:\d+)?: \S", line) for line in own), own
    assert found == dict.fromkeys(REFUSED, True)
    assert not [line for line in lines if not line.startswith("tasks/m")]


def test_a_key_twice_names_both_lines(project: Project) -> None:
    ran = run_text(project, "prompt: a\ntitle: b\nprompt: c\n")
    assert ran.exit_code == 2
    assert "task.yaml:3" in ran.stderr
    assert re.search(r"\b1\b", ran.stderr)


def test_what_rendering_finds_is_told_before_anything_runs(project: Project) -> None:
    text = "inputs: {x: {}}\nprompt: '{{ inputs.x }}'\n"
    ran = run_text(project, text)
    assert ran.exit_code == 2
    assert re.match(r"task\.yaml:1: inputs\.x: .*-i", ran.stderr), ran.stderr
    unknown = run_text(project, text, "-i", "x=1", "-i", "y=2")
    assert unknown.exit_code == 2
    assert "y" in unknown.stderr
    endless = run_text(project, "prompt: '{% for a in range(1000000000) %}x{% endfor %}'\n")
    assert endless.exit_code == 2
    assert "range" in endless.stderr


def test_words_stay_words(project: Project) -> None:
    """huggingface/huggingface_hub#797."""
    words = ["no", "yes", "on", "off", "nb", "012", "1.10", "1e3", "0x1F", "2026-11-30", "1_000"]
    text = f"id: no\ntitle: yes\nprompt: off\ntags: [{', '.join(words)}]\nverify: ['true']\n"
    ran = run_text(project, text)
    assert ran.exit_code == 0, ran.stderr
    assert ran.result["task_id"] == "no"
    assert ran.result["title"] == "yes"
    assert ran.sent == "off"
    assert ran.report["planned"][0]["tags"] == words


def test_data_is_no_template(project: Project) -> None:
    """567-labs/instructor#1132."""
    data = "{{ 7*7 }} {% raw %} ${{ x }} {#"
    text = "inputs: {title: {}}\nprompt: 'Title: {{ inputs.title }}'\nverify: ['true']\n"
    ran = run_text(project, text, "-i", f"title={data}")
    assert ran.exit_code == 0
    assert f"Title: {data}" in ran.sent


def test_data_is_no_shell_code(project: Project) -> None:
    text = (
        "inputs: {title: {}, note: {type: file, default: note.txt}}\nprompt: p\n"
        'verify: ["printf %s {{ inputs.title }} > said.txt; printf %s {{ inputs.note }} > note.txt"]\n'
    )
    (project.base / "note.txt").write_text("-n $(touch PWNED)\n'quoted'", encoding="utf-8")
    data = "a'; touch PWNED; echo '$(touch PWNED) `id` \\ \"x\" \n next"
    ran = run_text(project, text, "-i", f"title={data}")
    assert ran.exit_code == 0, ran.stderr
    assert (project.root / "said.txt").read_text(encoding="utf-8") == data
    assert (project.root / "note.txt").read_text(encoding="utf-8") == "-n $(touch PWNED)\n'quoted'"
    assert not list(project.base.rglob("PWNED"))


def test_a_spec_with_a_mark_or_foreign_line_ends_is_read(project: Project) -> None:
    ran = run_text(project, b"\xef\xbb\xbfprompt: |\r\n  one\r\n  two\r\nverify: ['true']\r\n")
    assert ran.exit_code == 0
    assert ran.sent.rstrip("\n") == "one\ntwo"
