"""A task's fields: how each is read, and what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.spec import DEFAULT_ENV, Check, OnlyIf, SystemSpec, TaskSpec
from tests.load.loading import problem, problems, task


def spec(tmp_path: Path, text: str) -> TaskSpec:
    return task(tmp_path, text).spec


def test_a_prompt_is_enough(tmp_path: Path) -> None:
    made = spec(tmp_path, "prompt: Fix it.\n")
    assert (made.id, made.prompt, made.title) == ("a", "Fix it.", "")
    assert made.permissions.env == DEFAULT_ENV
    assert made.budget.turns == 50
    assert made.budget.wall_s == 1800
    assert made.verify == ()


def test_every_field_is_read(tmp_path: Path) -> None:
    made = spec(
        tmp_path,
        """
        version: 1
        id: fix-it
        title: Fix it
        model: fake/model
        inputs:
          command: {type: command, default: pytest -q, description: How to test}
        prompt: Run {{ inputs.command }}.
        system: Be brief.
        workspace:
          path: ..
          isolation: copy
          include_uncommitted: false
          setup: [pip install -e .]
          setup_network: false
          setup_timeout_s: 30
        context_files: false
        tools: [read, bash]
        permissions:
          read: {deny: [secrets/**]}
          write: {allow: [src/**], deny: ["src/*.lock"]}
          bash: {deny: ["git push*"]}
          env: [PATH, LC_ALL]
          network: true
        sandbox: none
        sandbox_required: false
        trust: trusted
        budget: {turns: 3, tokens: 1000, cost_usd: 0.5, wall_s: 60, tool_calls: 7}
        precheck: {run: "true", skip_if: fails, timeout_s: 5}
        verify:
          - {name: unit tests, run: pytest -q, timeout_s: 2.5}
        verify_in: workspace
        attempts: {verify: 2}
        protect: [tests/**]
        output: {schema: {type: object}, files: [notes.md]}
        codemode: off
        fallback: []
        skills: []
        mcp: {}
        only_if: null
        follow_ups: []
        tags: [nightly, no]
        """,
    )
    assert made.prompt == "Run pytest -q."
    assert made.system == SystemSpec(append="Be brief.")
    assert (made.workspace.path, made.workspace.isolation, made.workspace.setup_timeout_s) == (
        "..",
        "copy",
        30,
    )
    assert made.tools == ("read", "bash")
    assert made.permissions.write.allow == ("src/**",)
    assert made.permissions.network is True
    assert made.budget.cost_usd == 0.5
    assert made.precheck is not None
    assert made.precheck.skip_if == "fails"
    assert made.verify == (Check(name="unit tests", run="pytest -q", timeout_s=2.5),)
    assert made.output.schema_ == {"type": "object"}
    assert made.codemode == "off"
    assert made.tags == ("nightly", "no")


def test_texts_are_what_was_written(tmp_path: Path) -> None:
    """The text `no` became false in huggingface/huggingface_hub#797."""
    text = """
        tasks:
          - id: no
            prompt: yes
            title: 012
            tags: [on, off, nb, no, 1.10, true, 2026-01-01]
    """
    made = spec(tmp_path, text)
    assert (made.id, made.prompt, made.title) == ("no", "yes", "012")
    assert made.tags == ("on", "off", "nb", "no", "1.10", "true", "2026-01-01")


@pytest.mark.parametrize("word", ["false", "no", "off", "0", "1e3", "0x10", ".5", "-1"])
def test_no_word_of_yaml_turns_a_text_into_something_else(tmp_path: Path, word: str) -> None:
    made = spec(tmp_path, f"id: a\nprompt: {word}\nverify: [{word}]\n")
    assert made.prompt == word
    assert made.verify[0].run == word


@pytest.mark.parametrize(("word", "shown"), [("null", "null"), ("~", "~")])
def test_null_is_no_text_unless_quoted(tmp_path: Path, word: str, shown: str) -> None:
    line = problem(tmp_path, f"prompt: x\ntitle: {word}\n")
    assert line == f"a.yaml:2: title: got nothing, need text (put {shown} in quotes to mean the word)"
    assert spec(tmp_path, f"prompt: x\ntitle: '{word}'\n").title == word


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("version: 2", "version: got '2', need 1"),
        ("version: '1'", "version: got '1', need 1 without quotes"),
        ("title:", "title: got nothing, need text"),
        ("title: [a]", "title: got a list, need text"),
        ("title: {a: b}", "title: got a mapping, need text"),
        ("tags: x", "tags: got 'x', need a list of texts"),
        ("tags: [[x]]", "tags[0]: got a list, need text"),
        ("tags: [' ']", "tags[0]: got ' ', need text that is not blank"),
        ("context_files: yes", "context_files: got 'yes', need true or false"),
        ("context_files: True", "context_files: got 'True', need true or false"),
        ("context_files: 'true'", "context_files: got 'true', need true or false without quotes"),
        ("budget: 3", "budget: got '3', need a mapping"),
        ("budget: {turns: -1}", "budget.turns: got -1, need >= 1"),
        ("budget: {turns: 0}", "budget.turns: got 0, need >= 1"),
        ("budget: {turns: many}", "budget.turns: got 'many', need a whole number"),
        ("budget: {turns: 1.5}", "budget.turns: got '1.5', need a whole number"),
        ("budget: {turns: 1_000}", "budget.turns: got '1_000', need a whole number"),
        ("budget: {turns: '3'}", "budget.turns: got '3', need a whole number without quotes"),
        ("budget: {turns: true}", "budget.turns: got 'true', need a whole number"),
        (
            "budget: {turns: 99999999999999999999999}",
            "budget.turns: got '99999999999999999999999', need a whole number",
        ),
        ("budget: {cost_usd: -0.1}", "budget.cost_usd: got -0.1, need >= 0"),
        ("budget: {cost_usd: .nan}", "budget.cost_usd: got '.nan', need a finite number"),
        ("budget: {wall_s: .inf}", "budget.wall_s: got '.inf', need a finite number"),
        ("budget: {wall_s: 1e999}", "budget.wall_s: got '1e999', need a finite number"),
        ("budget: {wall_s: 0}", "budget.wall_s: got 0, need > 0"),
        ("budget: {wall_s: 30m}", "budget.wall_s: got '30m', need a finite number"),
        ("budget: {tool_calls: 0}", "budget.tool_calls: got 0, need >= 1"),
        ("attempts: {verify: 0}", "attempts.verify: got 0, need >= 1"),
        ("attempts: 2", "attempts: got '2', need a mapping"),
        (
            "workspace: {isolation: worktree}",
            "workspace.isolation: got 'worktree', need one of clone, copy, none",
        ),
        (
            "workspace: {isolation: Clone}",
            "workspace.isolation: got 'Clone', need one of clone, copy, none, did you mean 'clone'?",
        ),
        ("workspace: {setup: make}", "workspace.setup: got 'make', need a list of texts"),
        ("workspace: {setup: ['']}", "workspace.setup[0]: got '', need text that is not blank"),
        ("workspace: {setup_timeout_s: 0}", "workspace.setup_timeout_s: got 0, need > 0"),
        ("workspace: {path: ''}", "workspace.path: got '', need text that is not blank"),
        (
            "tools: [read, raed]",
            "tools[1]: got 'raed', need one of read, write, edit, bash, grep, find, ls, think, "
            "codemode, did you mean 'read'?",
        ),
        ("precheck: make", "precheck: got 'make', need a mapping"),
        ("precheck: {skip_if: passes}", "precheck.run: missing, need text"),
        ("precheck: {run: ''}", "precheck.run: got '', need text that is not blank"),
        (
            "precheck: {run: x, skip_if: pass}",
            "precheck.skip_if: got 'pass', need one of passes, fails, did you mean 'passes'?",
        ),
        ("verify: {run: x}", "verify: got a mapping, need a list of mappings"),
        ("verify: [' ']", "verify[0].run: got ' ', need text that is not blank"),
        ("verify: [{name: x}]", "verify[0].run: missing, need text"),
        ("verify: [{run: x, timeout: 3}]", "verify[0].timeout: unknown key, did you mean 'timeout_s'?"),
        ("verify: [{run: x, timeout_s: -3}]", "verify[0].timeout_s: got -3, need > 0"),
        ("verify: [[x]]", "verify[0]: got a list, need a mapping"),
        ("verify_in: elsewhere", "verify_in: got 'elsewhere', need one of clean, workspace"),
        ("system: [x]", "system: got a list, need a mapping"),
        ("system: {replaced: x}", "system.replaced: unknown key, did you mean 'replace'?"),
        (
            "output: {files: [/etc/passwd]}",
            "output.files[0]: got '/etc/passwd', need a path within the workspace",
        ),
        ("output: {files: [../x]}", "output.files[0]: got '../x', need a path within the workspace"),
        ("output: {schema: x}", "output.schema: got 'x', need a mapping"),
        ("permissions: {env: [A=B]}", "permissions.env[0]: got 'A=B', need the name of a variable"),
        (
            "permissions: {network: yes}",
            "permissions.network: got 'yes', need true or false or a list of texts",
        ),
        ("permissions: {read: [x]}", "permissions.read: got a list, need a mapping"),
        ("codemode: true", "codemode: got 'true', need one of on, only, off"),
        ("model: gpt-5", "model: got 'gpt-5', need provider/model, e.g. 'openai/gpt-4.1'"),
        ("model: /x", "model: got '/x', need provider/model, e.g. 'openai/gpt-4.1'"),
        ("model: openai/", "model: got 'openai/', need provider/model, e.g. 'openai/gpt-4.1'"),
        ("mcp: [x]", "mcp: got a list, need a mapping"),
        ("inputs: [x]", "inputs: got a list, need a mapping"),
        ("inputs: {x: string}", "inputs.x: got 'string', need a mapping"),
        (
            "inputs: {x: {type: text}}",
            "inputs.x.type: got 'text', need one of string, integer, number, boolean, enum, file, command",
        ),
    ],
)
def test_each_mistake_is_one_line(tmp_path: Path, field: str, line: str) -> None:
    assert problem(tmp_path, f"prompt: x\n{field}\n") == f"a.yaml:2: {line}"


def test_a_missing_prompt_is_named(tmp_path: Path) -> None:
    assert problem(tmp_path, "\n# x\nid: a\n") == "a.yaml:2: prompt: missing, need text"


@pytest.mark.parametrize("prompt", ["''", "' '", '"\\n"', "|\n\n"])
def test_a_blank_prompt_is_no_prompt(tmp_path: Path, prompt: str) -> None:
    line = problem(tmp_path, f"id: x\nprompt: {prompt}\n")
    assert line.startswith("a.yaml:2: prompt: got ")
    assert line.endswith("need text that is not blank")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("verfiy", "unknown key, did you mean 'verify'?"),
        ("prommpt", "unknown key, did you mean 'prompt'?"),
        ("Title", "unknown key, did you mean 'title'?"),
        ("name", "unknown key, did you mean 'id'?"),
        ("turns", "unknown key, did you mean 'budget.turns'?"),
        ("network", "unknown key, did you mean 'permissions.network'?"),
        ("isolation", "unknown key, did you mean 'workspace.isolation'?"),
        ("setup", "unknown key, did you mean 'workspace.setup'?"),
        ("max_turns", "unknown key, did you mean 'budget.turns'?"),
        ("repeat", "unknown key, it belongs to a suite: a file with tasks:"),
        ("matrix", "unknown key, it belongs to a suite: a file with tasks:"),
        ("zzzzzz", "unknown key"),
        ("''", "unknown key"),
    ],
)
def test_an_unknown_key_is_named_with_the_likely_one(tmp_path: Path, key: str, message: str) -> None:
    assert problem(tmp_path, f"prompt: x\n{key}: 1\n") == f"a.yaml:2: {key}: {message}"


def test_a_key_of_the_task_is_recognised_in_the_wrong_place(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x\nworkspace:\n  path: .\n  protect: [tests/**]\n")
    assert line == "a.yaml:4: workspace.protect: unknown key, it belongs to the task itself"


def test_a_misspelt_check_is_never_dropped(tmp_path: Path) -> None:
    """A misspelt key was dropped and the check said that all was well in extra-org/extra#66."""
    text = """
        tasks:
          - id: a
            prompt: p
            verfiy: ['false']
    """
    assert problem(tmp_path, text) == "a.yaml:4: tasks[0].verfiy: unknown key, did you mean 'verify'?"


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = """
        id: a b
        budget: {turns: -1, tokens: x}
        workspace: {isolation: clon}
        verify: [{run: ''}]
        titel: x
        protect: ["["]
    """
    assert [line.split(": ")[0:2] for line in problems(tmp_path, text)] == [
        ["a.yaml:1", "id"],
        ["a.yaml:1", "prompt"],
        ["a.yaml:2", "budget.turns"],
        ["a.yaml:2", "budget.tokens"],
        ["a.yaml:3", "workspace.isolation"],
        ["a.yaml:4", "verify[0].run"],
        ["a.yaml:5", "titel"],
        ["a.yaml:6", "protect[0]"],
    ]


def test_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    files = {"a.yaml": "prompt: [x]\n", "b.yaml": "promt: x\n", "c.yaml": "{", "d.yaml": "prompt: fine\n"}
    assert [line.split(":")[0] for line in problems(tmp_path, files)] == [
        "a.yaml",
        "b.yaml",
        "b.yaml",
        "c.yaml",
    ]


def test_a_value_in_a_message_is_short_and_on_one_line(tmp_path: Path) -> None:
    line = problem(tmp_path, 'prompt: x\nbudget: {turns: "' + "a\\n" * 500 + '"}\n')
    assert len(line) < 200
    assert "\n" not in line


# --- shorthands -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "checks"),
    [
        ("pytest -q", [("pytest-q", "pytest -q")]),
        ("[pytest -q]", [("pytest-q", "pytest -q")]),
        ("[ruff check ., mypy]", [("ruff-check", "ruff check ."), ("mypy", "mypy")]),
        ("['true', 'true']", [("true", "true"), ("check-2", "true")]),
        ("['./run.sh']", [("run.sh", "./run.sh")]),
        ("['|&']", [("check-1", "|&")]),
        ("[{run: make test}]", [("make-test", "make test")]),
        ("[{name: check-2, run: a}, '!']", [("check-2", "a"), ("check-2-", "!")]),
    ],
)
def test_a_check_may_be_a_plain_command(tmp_path: Path, written: str, checks: list[tuple[str, str]]) -> None:
    made = spec(tmp_path, f"prompt: x\nverify: {written}\n")
    assert [(check.name, check.run) for check in made.verify] == checks


def test_a_long_or_templated_command_is_named_by_its_position(tmp_path: Path) -> None:
    text = """
        prompt: x
        inputs: {t: {type: command, default: pytest}}
        verify:
          - "{{ inputs.t }}"
          - python -c 'import this; import that; import everything else too'
          - |
            set -x
            make
    """
    assert [check.name for check in spec(tmp_path, text).verify] == ["check-1", "check-2", "set-x-make"]


def test_checks_have_names_of_their_own(tmp_path: Path) -> None:
    text = """
        prompt: x
        verify:
          - {name: Tests, run: a}
          - {name: tests, run: b}
    """
    assert problem(tmp_path, text) == "a.yaml:4: verify[1].name: got 'tests' a second time, already on line 3"


@pytest.mark.parametrize("name", ["a/b", "..", "-x", "'a '", "''", "x\u00e9", "'" + "x" * 81 + "'"])
def test_a_check_is_named_as_its_log_can_be(tmp_path: Path, name: str) -> None:
    line = problem(tmp_path, f"prompt: x\nverify: [{{name: {name}, run: y}}]\n")
    assert line.startswith("a.yaml:2: verify[0].name: got ")


def test_a_system_text_is_appended(tmp_path: Path) -> None:
    assert spec(tmp_path, "prompt: x\nsystem: Be brief.\n").system == SystemSpec(append="Be brief.")
    assert spec(tmp_path, "prompt: x\nsystem: {append: no}\n").system == SystemSpec(append="no")


def test_a_system_text_can_replace(tmp_path: Path) -> None:
    assert spec(tmp_path, "prompt: x\nsystem: {replace: Mine.}\n").system == SystemSpec(replace="Mine.")
    line = problem(tmp_path, "prompt: x\nsystem: {replace: Mine., append: And}\n")
    assert line == "a.yaml:2: system: append and replace exclude each other"


# --- fields that must fit each other --------------------------------------------------------------


def test_a_clean_copy_needs_isolation(tmp_path: Path) -> None:
    text = """
        prompt: x
        workspace: {isolation: none}
        verify_in: clean
    """
    line = problem(tmp_path, text)
    assert line == (
        "a.yaml:3: verify_in: got 'clean', need isolation clone or copy: with none there is "
        "no copy to judge in"
    )


@pytest.mark.parametrize(
    ("isolation", "where"), [("clone", "clean"), ("copy", "clean"), ("none", "workspace")]
)
def test_where_checks_run_follows_from_isolation(tmp_path: Path, isolation: str, where: str) -> None:
    assert spec(tmp_path, f"prompt: x\nworkspace: {{isolation: {isolation}}}\n").verify_in == where


def test_nobody_can_be_asked(tmp_path: Path) -> None:
    reason = "got 'ask', need allow and deny lists: nobody is there to answer"
    for field in ("write", "read", "bash", "network"):
        line = problem(tmp_path, f"prompt: x\npermissions: {{{field}: ask}}\n")
        assert line == f"a.yaml:2: permissions.{field}: {reason}"
    assert problem(tmp_path, "prompt: x\npermissions: ask\n") == f"a.yaml:2: permissions: {reason}"
    line = problem(tmp_path, 'prompt: x\npermissions: {bash: {"git push*": ask}}\n')
    assert line == f"a.yaml:2: permissions.bash: {reason}"
    line = problem(tmp_path, "prompt: x\npermissions: {write: {deny: ask}}\n")
    assert line == f"a.yaml:2: permissions.write: {reason}"


def test_a_file_called_ask_may_be_denied(tmp_path: Path) -> None:
    made = spec(tmp_path, "prompt: x\npermissions: {write: {deny: [ask]}}\n")
    assert made.permissions.write.deny == ("ask",)


@pytest.mark.parametrize(
    "glob", ["'['", "'a['", "'[z-a]'", "'\\'", "''", "' '", "'#x'", "'!'", "'[[:alpha:]]'"]
)
@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("protect: [GLOB]", "protect[0]"),
        ("permissions: {read: {deny: [GLOB]}}", "permissions.read.deny[0]"),
        ("permissions: {write: {allow: [GLOB]}}", "permissions.write.allow[0]"),
    ],
)
def test_a_glob_that_matches_nothing_is_a_mistake(tmp_path: Path, glob: str, field: str, place: str) -> None:
    line = problem(tmp_path, f"prompt: x\n{field.replace('GLOB', glob)}\n")
    assert line.startswith(f"a.yaml:2: {place}: got ")
    assert "need a glob" in line


@pytest.mark.parametrize(
    "glob",
    ["tests/**", "'*.pem'", "/setup.py", "'[a-c]*'", "'[!a]b'", "'!tests/fixtures/**'", "'\\[x]'", "a b"],
)
def test_globs_of_gitignore_are_taken(tmp_path: Path, glob: str) -> None:
    assert len(spec(tmp_path, f"prompt: x\nprotect: [{glob}]\n").protect) == 1


def test_an_exception_in_an_allow_list_is_a_mistake(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x\npermissions: {read: {allow: ['!x']}}\n")
    assert (
        line
        == "a.yaml:2: permissions.read.allow[0]: got '!x', need a glob without '!': exceptions go to deny"
    )


# --- output.schema --------------------------------------------------------------------------------


def test_a_schema_is_read_with_the_types_of_yaml(tmp_path: Path) -> None:
    text = """
        prompt: x
        output:
          schema:
            type: object
            required: [no, "yes"]
            additionalProperties: false
            properties:
              no: {type: integer, minimum: 1, default: 007}
              "yes": {enum: [on, off, true, null, 1.5, "1", NULL, ~, 1e2, 0x1F, False]}
              on: {const: 2026-01-01}
    """
    schema = spec(tmp_path, text).output.schema_
    assert schema == {
        "type": "object",
        "required": ["no", "yes"],
        "additionalProperties": False,
        "properties": {
            "no": {"type": "integer", "minimum": 1, "default": 7},
            "yes": {"enum": ["on", "off", True, None, 1.5, "1", None, None, 100.0, 31, False]},
            "on": {"const": "2026-01-01"},
        },
    }


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("{type: objekt}", "not a JSON Schema at type: "),
        ("{properties: {a: {pattern: '('}}}", "not a JSON Schema at properties.a.pattern: "),
        ("{required: x}", "not a JSON Schema at required: "),
        (
            "{$schema: 'http://example.com/mine'}",
            "$schema: got 'http://example.com/mine', need a JSON Schema draft",
        ),
        ("{$schema: [x]}", "$schema: got "),
        ("{$ref: '#/$defs/a'}", "$ref: got '#/$defs/a', need something within the schema"),
        (
            "{$ref: 'https://example.com/x.json'}",
            "$ref: got 'https://example.com/x.json', need something within",
        ),
    ],
)
def test_a_schema_that_cannot_judge_is_a_mistake(tmp_path: Path, schema: str, message: str) -> None:
    line = problem(tmp_path, f"prompt: x\noutput:\n  schema: {schema}\n")
    assert line.startswith(f"a.yaml:3: output.schema: {message}")


def test_a_schema_may_refer_to_itself(tmp_path: Path) -> None:
    text = "prompt: x\noutput: {schema: {$ref: '#/$defs/a', $defs: {a: {type: string}}}}\n"
    assert spec(tmp_path, text).output.schema_ is not None


def test_older_drafts_are_taken(tmp_path: Path) -> None:
    text = 'prompt: x\noutput: {schema: {$schema: "http://json-schema.org/draft-07/schema#", type: object}}\n'
    assert spec(tmp_path, text).output.schema_ is not None


# --- when a task is worth running ---


def test_a_plain_command_is_a_condition(tmp_path: Path) -> None:
    text = "prompt: x\ninputs: {n: {default: a b}}\nonly_if: test -e {{ inputs.n }}\n"
    assert task(tmp_path, text).spec.only_if == OnlyIf(run="test -e 'a b'")


def test_conditions_are_read_in_their_form(tmp_path: Path) -> None:
    found = spec(tmp_path, "prompt: x\nonly_if: {changed: [src/**, '!src/gen/**'], since: v1.0, days: 0.5}\n")
    assert found.only_if == OnlyIf(changed=("src/**", "!src/gen/**"), since="v1.0", days=0.5)


@pytest.mark.parametrize(
    ("only_if", "line"),
    [
        ("{}", "only_if: need run, changed or days"),
        ("{timeout_s: 3}", "only_if: need run, changed or days"),
        ("{days: 0}", "only_if.days: got 0, need > 0"),
        ("{days: 1, since: main}", "only_if.since: belongs to changed:"),
        ("{changed: ['[']}", "only_if.changed[0]: got '[', need a glob"),
        ("{changed: [a], since: -x}", "only_if.since: got '-x', need the name of a branch"),
        ("{changd: [a]}", "only_if.changd: unknown key, did you mean 'changed'?"),
        ("[a]", "only_if: got a list, need a mapping"),
        ("{run: '{{ inputs.x }}'}", "only_if.run: "),
    ],
)
def test_what_is_no_condition(tmp_path: Path, only_if: str, line: str) -> None:
    assert problem(tmp_path, f"prompt: x\nonly_if: {only_if}\n").startswith(f"a.yaml:2: {line}")


# --- what later versions bring --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("tools: [mcp__docs__search]", "tools[0]"),
        ("tools: [tool_search]", "tools[0]"),
        ("skills: [x]", "skills"),
        ("mcp: {docs: {command: x}}", "mcp"),
    ],
)
def test_what_a_later_version_builds_is_reserved(tmp_path: Path, field: str, path: str) -> None:
    assert problem(tmp_path, f"prompt: x\n{field}\n") == f"a.yaml:2: {path}: not available in this version"


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("fallback: openai/x", "fallback: got 'openai/x', need a list of texts"),
        (
            "sandbox: bubblewrap",
            "sandbox: got 'bubblewrap', need one of auto, bwrap, landlock, docker, podman, none, "
            "did you mean 'bwrap'?",
        ),
        ("skills: {x: y}", "skills: got a mapping, need a list of texts"),
        ("trust: maybe", "trust: got 'maybe', need one of trusted, untrusted"),
    ],
)
def test_reserved_fields_are_still_read_in_their_form(tmp_path: Path, field: str, line: str) -> None:
    assert problem(tmp_path, f"prompt: x\n{field}\n") == f"a.yaml:2: {line}"


def test_codemode_is_one_of_the_default_tools(tmp_path: Path) -> None:
    assert "codemode" in spec(tmp_path, "prompt: x\n").tools


def test_a_tool_named_twice_is_one_tool(tmp_path: Path) -> None:
    assert spec(tmp_path, "prompt: x\ntools: [read, bash, read]\n").tools == ("read", "bash")


# --- ids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fix-failing-tests", "a", "A.b_c-1", "0", "no", "1.10"])
def test_the_file_names_the_task(tmp_path: Path, name: str) -> None:
    assert task(tmp_path, {f"{name}.yaml": "prompt: x\n"}).spec.id == name


@pytest.mark.parametrize(
    "name", ["a/b", "..", ".hidden", "a b", "a--b", "-a", "caf\u00e9", "a:b", "x" * 101, "a\\nb"]
)
def test_an_id_can_name_a_directory_and_a_test_case(tmp_path: Path, name: str) -> None:
    line = problem(tmp_path, f'prompt: x\nid: "{name}"\n')
    assert line.startswith("a.yaml:2: id: got ")
    assert line.endswith("a letter or digit first (without id:, the file's name counts)")


def test_a_file_name_that_is_no_id_asks_for_one(tmp_path: Path) -> None:
    line = problem(tmp_path, {"fix it.yaml": "prompt: x\n"})
    assert line.startswith("fix it.yaml:1: id: got 'fix it', need ")
    assert task(tmp_path, {"fix it.yaml": "prompt: x\nid: fix-it\n"}).spec.id == "fix-it"


def test_a_list_is_no_task(tmp_path: Path) -> None:
    line = problem(tmp_path, "- prompt: x\n")
    assert line == "a.yaml:1: got a list, need a mapping: a task with prompt:, or a suite with tasks:"
    assert problem(tmp_path, "just text\n").startswith("a.yaml:1: got 'just text', need a mapping")


# --- scripts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "tools: [read, codemode]\ncodemode: off",
            "3: codemode: got 'off', and tools has codemode; leave one of them out",
        ),
        (
            "tools: [codemode]\ncodemode: only",
            "3: codemode: got 'only', and tools has none that a script could call; name some",
        ),
    ],
)
def test_tools_and_codemode_must_agree(tmp_path: Path, text: str, line: str) -> None:
    assert problem(tmp_path, f"prompt: x\n{text}\n") == f"a.yaml:{line}"


def test_codemode_is_added_where_its_key_asks_for_it(tmp_path: Path) -> None:
    assert spec(tmp_path, "prompt: x\ntools: [read]\ncodemode: only\n").tools == ("read", "codemode")
    assert "codemode" not in spec(tmp_path, "prompt: x\ncodemode: off\n").tools
