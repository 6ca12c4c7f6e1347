"""Templates in specs: where a mistake is said to be, and which fields are rendered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.load.loading import problem, problems, task


def test_every_templated_field_is_rendered(tmp_path: Path) -> None:
    text = """
        inputs: {a: {default: it's}, c: {type: command, default: "echo 'x' | cat"}}
        prompt: P {{ inputs.a }}
        system: {append: "S {{ inputs.a }}"}
        workspace: {setup: ["u {{ inputs.a }}"]}
        precheck: {run: "{{ inputs.c }} && p {{ inputs.a }}"}
        verify: ["v {{ inputs.a }} && {{ inputs.c }}"]
    """
    made = task(tmp_path, text).spec
    quoted = "'it'\"'\"'s'"
    assert made.prompt == "P it's"
    assert made.system.append == "S it's"
    assert made.workspace.setup == (f"u {quoted}",)
    assert made.precheck is not None
    assert made.precheck.run == f"echo 'x' | cat && p {quoted}"
    assert made.verify[0].run == f"v {quoted} && echo 'x' | cat"


def test_a_replacing_system_text_is_rendered(tmp_path: Path) -> None:
    made = task(tmp_path, "prompt: x\nsystem: {replace: 'I am {{ task.id }}'}\n").spec
    assert made.system.replace == "I am a"


def test_fields_that_hold_no_template_are_left_alone(tmp_path: Path) -> None:
    text = """
        prompt: x
        title: "{{ title }}"
        tags: ["{{ tag }}"]
        protect: ["{{ a }}"]
        output: {files: ["{{ f }}"]}
    """
    made = task(tmp_path, text).spec
    assert (made.title, made.tags, made.output.files) == ("{{ title }}", ("{{ tag }}",), ("{{ f }}",))


def test_a_misspelt_variable_is_named_before_anything_runs(tmp_path: Path) -> None:
    """It rendered as nothing in SWE-agent/mini-swe-agent#497."""
    text = (
        "tasks:\n  - id: a\n    prompt: 'Fix {{ isue }} in {{ repo.nmae }}'\n    inputs: "
        "{issue: {default: x}}\n"
    )
    assert problems(tmp_path, text) == [
        "a.yaml:3: tasks[0].prompt: 'isue' is not defined, did you mean 'inputs.issue'?",
        "a.yaml:3: tasks[0].prompt: 'repo' is not defined",
    ]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("inputs.isue", "'inputs.isue' is not defined, did you mean 'issue'?"),
        ("inputs['isue']", "'inputs.isue' is not defined, did you mean 'issue'?"),
        ("inputs.nothing", "'inputs.nothing' is not defined (there are: issue)"),
        ("issue", "'issue' is not defined, did you mean 'inputs.issue'?"),
        ("task.name", "'task.name' is not defined (there are: id, title)"),
        ("task.titel", "'task.titel' is not defined, did you mean 'title'?"),
        ("matrix.issue", "'matrix.issue' is not defined"),
        ("inputs", "'inputs' by itself is no value, write inputs.NAME"),
        ("inputs.issue.number", "a value has no '.number' (inputs hold texts and numbers)"),
        ("inputs.issue | uper", "no filter 'uper', did you mean 'upper'?"),
        ("env.HOME", "'env' is not defined"),
        ("os", "'os' is not defined"),
    ],
)
def test_each_wrong_reference_is_one_line(tmp_path: Path, expression: str, message: str) -> None:
    text = f'inputs: {{issue: {{default: x}}}}\nprompt: "{{{{ {expression} }}}}"\n'
    assert problem(tmp_path, text) == f"a.yaml:2: prompt: {message}"


def test_a_wrong_reference_in_a_branch_that_is_never_taken_is_found(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x {% if false %}{{ nope }}{% endif %}\n")
    assert line == "a.yaml:1: prompt: 'nope' is not defined"


def test_mistakes_of_fields_templates_and_inputs_are_told_together(tmp_path: Path) -> None:
    text = """
        prompt: "{{ nope }}"
        budget: {turns: 0}
        inputs: {n: {type: integer, default: x}, bad-name: {}}
        verify: ["make {{ inputs.m }}", {name: a/b, run: "{{"}]
    """
    assert [line.split(": ")[1] for line in problems(tmp_path, text)] == [
        "prompt",
        "budget.turns",
        "inputs.n.default",
        "inputs.bad-name",
        "verify[1].name",
        "verify[0].run",
        "verify[1].run",
    ]


def test_an_empty_system_text_is_nobodys_mistake(tmp_path: Path) -> None:
    assert task(tmp_path, "prompt: x\nsystem: {replace: ''}\n").spec.system.replace == ""


def test_lines_within_a_block_are_the_files_lines(tmp_path: Path) -> None:
    text = """
        id: a
        prompt: |
          one
          two {{ nope }}

          {% if %}
        verify:
          - run: |

              make {{ target }}
    """
    assert problems(tmp_path, text)[0].startswith("a.yaml:6: prompt: not a template: ")
    fixed = text.replace("{% if %}", "five")
    assert problems(tmp_path, fixed) == [
        "a.yaml:4: prompt: 'nope' is not defined",
        "a.yaml:10: verify[0].run: 'target' is not defined",
    ]


def test_a_mistake_in_a_quoted_or_folded_text_is_at_its_start(tmp_path: Path) -> None:
    assert problem(tmp_path, 'id: a\nprompt: "x\n\n  y {{ nope }}"\n').startswith("a.yaml:2: prompt: ")
    assert problem(tmp_path, "id: a\nprompt: >\n  x\n  y {{ nope }}\n").startswith("a.yaml:2: prompt: ")


def test_a_mistake_of_a_suites_default_is_told_once(tmp_path: Path) -> None:
    text = """
        defaults: {prompt: "{{ nope }}"}
        tasks: [{id: a}, {id: b}]
    """
    assert problem(tmp_path, text) == "a.yaml:1: tasks[0].prompt: 'nope' is not defined"


def test_a_failure_while_rendering_has_its_line(tmp_path: Path) -> None:
    text = """
        prompt: |
          x
          {{ 1 // 0 }}
    """
    assert problem(tmp_path, text) == (
        "a.yaml:3: prompt: cannot be rendered: integer division or modulo by zero"
    )


def test_what_renders_to_nothing_is_refused(tmp_path: Path) -> None:
    text = """
        prompt: "{{ inputs.x }}"
        verify: ["{% if inputs.x %}make{% endif %}"]
        inputs: {x: {default: ""}}
    """
    assert problems(tmp_path, text) == [
        "a.yaml:1: prompt: renders to blank text",
        "a.yaml:2: verify[0].run: renders to blank text",
    ]


def test_a_value_within_quotes_is_refused_where_it_stands(tmp_path: Path) -> None:
    text = """
        prompt: x
        inputs: {x: {default: "; rm -rf ~"}}
        verify:
          - |
            set -e
            echo '{{ inputs.x }}'
    """
    line = problem(tmp_path, text)
    assert line.startswith("a.yaml:6: verify[0].run: {{ inputs.x }} stands inside single quotes, ")


def test_a_misplaced_value_is_found_without_values_where_nothing_decides(tmp_path: Path) -> None:
    text = "prompt: x\ninputs: {x: {}}\nverify: [\"echo '{{ inputs.x }}'\"]\n"
    line = "a.yaml:3: verify[0].run: {{ inputs.x }} stands inside single quotes, "
    assert problem(tmp_path, text).startswith(line)


def test_a_rendered_command_does_in_bash_what_it_says(tmp_path: Path) -> None:
    text = """
        prompt: x
        inputs: {x: {}}
        verify: ["printf %s {{ inputs.x }}"]
    """
    data = "a b; $(id) `id` 'q' \"d\" \\ \n * ~ #!"
    command = task(tmp_path, text, inputs={"x": data}).spec.verify[0].run
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == data
