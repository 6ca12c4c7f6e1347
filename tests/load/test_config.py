"""The configuration file and the variables beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import SpecError
from pi_batch.load.config import SETTINGS, Config, environment_config, load_config
from pi_batch.load.problems import Problems
from tests.load.loading import write


def lines(directory: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_config(directory)
    return str(caught.value).split("\n")


def test_no_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert load_config(tmp_path) == Config()


def test_every_setting_is_read_from_pyproject(tmp_path: Path) -> None:
    text = """
        [project]
        name = "x"

        [tool.pi-batch]
        model = "fake/x"
        sandbox = "none"
        sandbox_required = true
        codemode = "off"
        trust = "untrusted"
        max_turns = 7
        max_tokens = 9000
        max_cost_usd = 1.5
        max_wall_s = 60
        repeat = 2
        output = "runs"
        jobs = 3
        idle_timeout_s = 20
        max_output_tokens = 4096
        context_window = 32768
        compaction_model = "fake/small"
        compaction_reserve_tokens = 4000
        max_retries = 0
        retry_cap_s = 2.5
        prices = "prices.json"
    """
    write(tmp_path, {"pyproject.toml": text})
    assert load_config(tmp_path) == Config(
        model="fake/x",
        sandbox="none",
        sandbox_required=True,
        codemode="off",
        trust="untrusted",
        max_turns=7,
        max_tokens=9000,
        max_cost_usd=1.5,
        max_wall_s=60,
        repeat=2,
        output=str(tmp_path / "runs"),
        jobs=3,
        idle_timeout_s=20,
        max_output_tokens=4096,
        context_window=32768,
        compaction_model="fake/small",
        compaction_reserve_tokens=4000,
        max_retries=0,
        retry_cap_s=2.5,
        prices=str(tmp_path / "prices.json"),
        file="pyproject.toml",
    )


def test_a_file_of_our_own_has_the_keys_at_its_top(tmp_path: Path) -> None:
    write(tmp_path, {".pi-batch.toml": 'model = "fake/x"\n'})
    assert load_config(tmp_path).model == "fake/x"


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[tool.pi-batch]\nmodel = "fake/root"\n',
            "a/.pi-batch.toml": 'model = "fake/a"\n',
            "a/b/pyproject.toml": "[project]\nname = 'no table of ours'\n",
            "c/d/.keep": "",
        },
    )
    assert load_config(tmp_path / "a" / "b").model == "fake/a"
    found = load_config(tmp_path / "c" / "d")
    assert (found.model, found.file) == ("fake/root", str(tmp_path / "pyproject.toml"))


def test_the_repository_is_the_border(tmp_path: Path) -> None:
    write(
        tmp_path, {".pi-batch.toml": 'model = "fake/outside"\n', "repo/.git/HEAD": "", "repo/sub/.keep": ""}
    )
    assert load_config(tmp_path / "repo" / "sub").model is None


def test_two_files_side_by_side_are_a_mistake(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".pi-batch.toml": "jobs = 1\n", "pyproject.toml": "[tool.pi-batch]\njobs = 2\n"},
    )
    assert lines(tmp_path) == [
        ".pi-batch.toml: pyproject.toml beside it has [tool.pi-batch] too; keep one of them"
    ]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("modle = 'x'", "tool.pi-batch.modle: unknown key, did you mean 'model'?"),
        ("zzz = 1", "tool.pi-batch.zzz: unknown key"),
        ("model = 3", "tool.pi-batch.model: got '3', need text"),
        ("model = 'gpt'", "tool.pi-batch.model: got 'gpt', need provider/model, e.g. 'openai/gpt-4.1'"),
        (
            "sandbox_image = 'a b'",
            "tool.pi-batch.sandbox_image: got 'a b', need an image such as 'python:3.12-slim', "
            "or an absolute path",
        ),
        (
            "sandbox = 'x'",
            "tool.pi-batch.sandbox: got 'x', need one of auto, bwrap, landlock, docker, podman, none",
        ),
        ("jobs = '3'", "tool.pi-batch.jobs: got '3', need a whole number"),
        ("jobs = true", "tool.pi-batch.jobs: got 'True', need a whole number"),
        ("jobs = 0", "tool.pi-batch.jobs: got 0, need >= 1"),
        ("jobs = 1.5", "tool.pi-batch.jobs: got '1.5', need a whole number"),
        ("idle_timeout_s = 0", "tool.pi-batch.idle_timeout_s: got 0, need > 0"),
        ("retry_cap_s = inf", "tool.pi-batch.retry_cap_s: got 'inf', need a finite number"),
        ("output = ''", "tool.pi-batch.output: got '', need text"),
    ],
)
def test_each_mistake_is_one_line_with_its_place(tmp_path: Path, setting: str, message: str) -> None:
    write(tmp_path, {"pyproject.toml": f"[project]\njobs = 1\n[tool.pi-batch]\n{setting}\n"})
    assert lines(tmp_path) == [f"pyproject.toml:4: {message}"]


def test_all_mistakes_are_told(tmp_path: Path) -> None:
    write(tmp_path, {".pi-batch.toml": "jobs = 0\nmax_retries = -1\nx = 1\n"})
    assert lines(tmp_path) == [
        ".pi-batch.toml:1: jobs: got 0, need >= 1",
        ".pi-batch.toml:2: max_retries: got -1, need >= 0",
        ".pi-batch.toml:3: x: unknown key",
    ]


def test_a_table_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[tool]\npi-batch = 3\n"})
    assert lines(tmp_path) == ["pyproject.toml: tool.pi-batch: got '3', need a table"]


@pytest.mark.parametrize("content", [b"jobs = \n", b"[x\n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_what_is_no_toml_is_one_line(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {".pi-batch.toml": content})
    (line,) = lines(tmp_path)
    assert line.startswith(".pi-batch.toml:")
    assert "not TOML" in line


def test_a_project_file_that_is_not_ours_may_be_broken(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project\n", ".git/HEAD": ""})
    assert load_config(tmp_path) == Config()


def test_variables_say_the_same(tmp_path: Path) -> None:
    environ = {
        "PI_BATCH_MODEL": "fake/x",
        "PI_BATCH_SANDBOX": "none",
        "PI_BATCH_OUTPUT": "runs",
        "PI_BATCH_JOBS": "3",
        "PI_BATCH_IDLE_TIMEOUT_S": "20",
        "PI_BATCH_MAX_OUTPUT_TOKENS": "4096",
        "PI_BATCH_CONTEXT_WINDOW": "32768",
        "PI_BATCH_COMPACTION_MODEL": "fake/small",
        "PI_BATCH_COMPACTION_RESERVE_TOKENS": "4000",
        "PI_BATCH_MAX_RETRIES": "0",
        "PI_BATCH_RETRY_CAP_S": "2.5",
        "PI_BATCH_PRICES": "p.json",
        "PI_BATCH_TEST_KEY": "not ours",
        "PATH": "/bin",
    }
    found = Problems()
    assert environment_config(environ, found) == Config(
        model="fake/x",
        sandbox="none",
        output="runs",
        jobs=3,
        idle_timeout_s=20,
        max_output_tokens=4096,
        context_window=32768,
        compaction_model="fake/small",
        compaction_reserve_tokens=4000,
        max_retries=0,
        retry_cap_s=2.5,
        prices="p.json",
    )
    assert not found


def test_every_setting_has_a_field() -> None:
    assert set(SETTINGS) | {"file"} == set(Config.__struct_fields__)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PI_BATCH_JOBS", "1e3", "got 1000.0, need a whole number"),
        ("PI_BATCH_CONTEXT_WINDOW", "0", "got 0, need >= 1"),
        ("PI_BATCH_CONTEXT_WINDOW", "32k", "got '32k', need a whole number"),
        ("PI_BATCH_COMPACTION_MODEL", "small", "got 'small', need provider/model, e.g. 'openai/gpt-4.1'"),
        ("PI_BATCH_RETRY_CAP_S", "-1", "got -1, need > 0"),
        ("PI_BATCH_MAX_RETRIES", "x", "got 'x', need a whole number"),
    ],
)
def test_each_mistake_of_a_variable_is_one_line(name: str, value: str, message: str) -> None:
    found = Problems()
    environment_config({name: value}, found)
    with pytest.raises(SpecError) as caught:
        found.raise_if_any()
    assert str(caught.value).startswith(f"{name}: got ")
    assert str(caught.value).endswith(message.split(", ", 1)[1])
