"""Virtual models and fallbacks on their way to ports: keys, prices, levels, functions, recordings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pi_batch.engine.router import Router, Situation
from pi_batch.errors import UsageError
from pi_batch.messages import user_text
from pi_batch.providers.fake import says
from pi_batch.redact import Masker
from pi_batch.results import PlannedResult
from pi_batch.routes import ByPhase, attempts_of
from pi_batch.sinks.session_log import SessionWriter
from pi_batch.spec import BudgetSpec, PlannedTask, TaskSpec, VirtualModel
from pi_batch.wiring.functions import load_function
from pi_batch.wiring.models import ModelPool
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from tests.cases.turns import say, write_session
from tests.clocks import FakeClock

KEYS = {"OPENAI_API_KEY": "sk-x", "ANTHROPIC_API_KEY": "sk-y"}


def pool(tmp_path: Path, environ: Mapping[str, str] = KEYS, *, has_limit: bool = False) -> ModelPool:
    around = Surroundings(tmp_path, environ)
    return ModelPool(around, Settings(around), has_cost_limit=has_limit)


def task(
    model: str, cost_usd: float | None = None, virtual: dict[str, Any] | None = None, **spec: Any
) -> PlannedTask:
    made = TaskSpec(id="t", prompt="p", budget=BudgetSpec(cost_usd=cost_usd), **spec)
    known = {name: msgspec.convert(fields, VirtualModel) for name, fields in (virtual or {}).items()}
    planned = PlannedResult("t", "t", "", "t.yaml", "0" * 64, model)
    return PlannedTask(planned, made, "/w", model, virtual=known)


def lines(models: ModelPool, *tasks: PlannedTask) -> list[str]:
    with pytest.raises(UsageError) as caught:
        models.check(tasks)
    return str(caught.value).split("\n")


async def test_every_member_has_a_port_and_the_first_is_the_tasks(tmp_path: Path) -> None:
    models = pool(tmp_path)
    opened = models.open(task("openai/gpt-4.1", fallback=("anthropic/claude-sonnet-4-5",)), lambda _: None)
    assert opened.models is not None
    assert list(opened.models.ports) == ["openai/gpt-4.1", "anthropic/claude-sonnet-4-5"]
    assert opened.port.label == "openai/gpt-4.1"
    assert models.open(task("openai/gpt-4.1"), lambda _: None).models is None
    await models.close()


def test_a_member_without_a_key_is_one_line_before_anything_runs(tmp_path: Path) -> None:
    models = pool(tmp_path, {"OPENAI_API_KEY": "sk-x"})
    (line,) = lines(models, task("openai/gpt-4.1", fallback=("groq/llama", "anthropic/claude-x")))[:1]
    assert line == "groq/llama: no key: set GROQ_API_KEY"
    models.check([task("openai/gpt-4.1", fallback=("ollama/qwen3:8b",))])


@pytest.mark.parametrize("has_limit", [True, False])
def test_a_member_without_a_price_is_refused_under_a_money_limit(tmp_path: Path, has_limit: bool) -> None:
    models = pool(tmp_path, has_limit=has_limit)
    climb = {"climb": {"policy": "escalate", "models": ["openai/gpt-4.1", "openai/no-price"]}}
    asked = task("router/climb", None if has_limit else 1.0, climb)
    (line,) = lines(models, asked)
    assert line.startswith("openai/no-price: no price is known, so the cost limit cannot be kept")
    pool(tmp_path).check([task("router/climb", None, climb)])


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    said = lines(
        pool(tmp_path, {}),
        task("router/gone"),
        task("openai/gpt-4.1", fallback=("opanai/x", "groq/llama")),
    )
    assert [line.split(":")[0] for line in said] == [
        "model 'router/gone'",
        "openai/gpt-4.1",
        "provider 'opanai'",
        "groq/llama",
    ]


async def test_a_level_is_clamped_for_each_model_and_said_once_a_run(tmp_path: Path) -> None:
    models, said = pool(tmp_path), list[str]()
    asked = task(
        "openai/gpt-5:max", thinking="max", fallback=("anthropic/claude-opus-4-6:low", "openai/gpt-4.1")
    )
    for _ in range(2):
        opened = models.open(asked, said.append)
        assert opened.models is not None
        levels = [port.thinking for port in opened.models.ports.values()]
        assert levels == ["high", "low", None]
    assert said == [
        "openai/gpt-5: thinking level 'max': the model has minimal, low, medium, high: 'high' is taken",
        "openai/gpt-4.1: thinking level 'max': the model cannot be told how much to think: "
        "nothing is said of it",
    ]
    await models.close()


async def test_a_level_of_the_command_line_holds_over_the_one_behind_the_specs_model(tmp_path: Path) -> None:
    models = pool(tmp_path)
    port = models.open(task("openai/gpt-5:low", thinking="high"), lambda _: None).port
    assert port.thinking == "high"
    await models.close()


OWN = {"own": {"policy": "function", "function": "choosing_for_test:pick", "models": ["openai/gpt-4.1"]}}


async def test_a_function_beside_the_configuration_file_is_found(tmp_path: Path) -> None:
    (tmp_path / ".pi-batch.toml").write_text("jobs = 1\n", encoding="utf-8")
    module = "def pick(situation):\n    return situation.models[0]\n"
    (tmp_path / "choosing_for_test.py").write_text(module, encoding="utf-8")
    models = pool(tmp_path)
    models.check([task("router/own", virtual=OWN)])
    opened = models.open(task("router/own", virtual=OWN, tags=("a",)), lambda _: None)
    assert opened.models is not None
    router = Router(opened.models)
    pending = router.begin(1)
    assert pending is not None
    choose = opened.models.functions["choosing_for_test:pick"]
    assert choose(Situation("t", ("a",), "p", 1, ("openai/gpt-4.1",))) == "openai/gpt-4.1"
    await models.close()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("nowhere_at_all:f", "cannot be imported: ModuleNotFoundError: No module named"),
        ("broken_for_test:f", "cannot be imported: ZeroDivisionError: division by zero"),
        ("leaving_for_test:f", "cannot be imported: SystemExit: 3"),
        ("torn_for_test:f", "cannot be imported: SyntaxError"),
        ("json:nothing", "json has no function nothing"),
        ("json:__doc__", "json has no function __doc__"),
    ],
)
def test_a_function_that_is_not_there_is_one_line(tmp_path: Path, function: str, said: str) -> None:
    (tmp_path / ".pi-batch.toml").write_text("jobs = 1\n", encoding="utf-8")
    broken = {
        "broken_for_test": "1 / 0",
        "leaving_for_test": "raise SystemExit(3)",
        "torn_for_test": "def f(",
    }
    for name, text in broken.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    virtual = {"own": {"policy": "function", "function": function, "models": ["openai/gpt-4.1"]}}
    (line,) = lines(pool(tmp_path), task("router/own", virtual=virtual))
    assert said in line


@pytest.mark.parametrize("body", ["raise ValueError('boom\\nagain')", "raise SystemExit('boom again')"])
def test_a_function_that_raises_is_one_line_and_what_it_prints_is_no_result(
    tmp_path: Path, body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"raising_{len(body)}"
    (tmp_path / f"{name}.py").write_text(f"def f(s):\n    print('hello')\n    {body}\n", encoding="utf-8")
    choose = load_function(f"{name}:f", tmp_path)
    with pytest.raises(UsageError, match=rf"function '{name}:f': failed: \w+: boom again$"):
        choose(Situation("t", (), "p", 1, ()))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "hello\n")


def test_a_virtual_model_sums_nothing_up(tmp_path: Path) -> None:
    models = pool(tmp_path, {**KEYS, "PI_BATCH_COMPACTION_MODEL": "router/x"})
    (line,) = lines(models)
    assert line == "compaction_model 'router/x': a virtual model sums nothing up"


def test_a_recording_is_played_without_keys_whatever_the_spec_falls_back_to(tmp_path: Path) -> None:
    write_session(tmp_path / "s.jsonl", [say("hi")])
    models = pool(tmp_path, {})
    asked = task("replay/s.jsonl", 1.0, fallback=("openai/gpt-4.1",))
    models.check([asked])
    opened = models.open(asked, lambda _: None)
    assert (opened.port.provider_name, opened.models) == ("replay", None)


def test_a_recording_with_steps_is_played_in_as_many(tmp_path: Path) -> None:
    session = SessionWriter(tmp_path / "s.jsonl", cwd=str(tmp_path), clock=FakeClock(), mask=Masker(()))
    for attempt in (1, 2):
        session.append_custom(
            "pi-batch", {"kind": "model", "model": "x/a", "policy": "router/r, escalate: 1 of 2"}
        )
        session.append_custom("pi-batch", {"kind": "attempt", "attempt": attempt})
        session.append_message(user_text("go"))
        session.append_message(says("no"))
    session.close()
    opened = pool(tmp_path, {}).open(task("replay/s.jsonl"), lambda _: None)
    assert opened.attempts == 2
    assert opened.models is not None
    assert attempts_of(opened.models.route) == 2


def test_a_recording_with_a_plan_is_played_in_two_phases(tmp_path: Path) -> None:
    session = SessionWriter(tmp_path / "s.jsonl", cwd=str(tmp_path), clock=FakeClock(), mask=Masker(()))
    session.append_custom("pi-batch", {"kind": "model", "model": "x/a", "is_planning": True})
    session.append_message(user_text("go"))
    session.append_message(says("the plan"))
    session.close()
    opened = pool(tmp_path, {}).open(task("replay/s.jsonl"), lambda _: None)
    assert opened.models is not None
    assert isinstance(opened.models.route, ByPhase)
