"""Tests of output.schema."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.messages import JsonObject
from pi_batch.protocols import Judgement
from pi_batch.verifiers.schema import Schema, parse_answer
from tests.verifiers.rigs import context

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def judged(tmp_path: Path, schema: JsonObject, answer: str | None) -> Judgement:
    async with context(tmp_path, answer=answer) as at:
        return await Schema().verify(schema, at)


@pytest.mark.parametrize(
    "answer",
    [
        '{"n": 1}',
        '  \n{"n": 1}\n',
        '```json\n{"n": 1}\n```',
        'Here it is:\n\n```json\n{"n": 1}\n```\nDone.',
        '~~~~ JSON\n{"n":\n1}\n~~~~',
        'text\n```\n{"n": 1}\n```',
        '```python\nx = 1\n```\nand\n```json\r\n{"n": 1}\r\n```',
        '```\nnot this\n```\n```json\n{"n": 1}\n```',
        '\ufeff{"n": 1}',
    ],
)
async def test_the_whole_answer_or_its_one_json_block_is_read(tmp_path: Path, answer: str) -> None:
    found = await judged(tmp_path, OBJECT, answer)
    assert (found.result.passed, found.result.message, found.value) == (True, "", {"n": 1})
    assert (found.result.name, found.result.command, found.result.exit_code) == ("output.schema", "", None)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "the final answer is empty"),
        (" \n", "the final answer is empty"),
        ("no json", "the final answer is not JSON"),
        ('{"n": 1', "the final answer is not JSON"),
        ('{"n": NaN}', "NaN is no JSON value"),
        ('{"n": 1e999}', "1e999 is too large"),
        ("```json\n{\n```", "the JSON block of the final answer is not JSON"),
        ("```json\n1\n```\n```json\n2\n```", "holds 2 JSON blocks"),
        ('```json\n{"n": 1}', "the final answer is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 101 + "]" * 101, "nested too deeply, need <= 100 levels"),
        ('{"n": "1"}', "$.n: '1' is not of type 'integer'"),
        ("{}", "$: 'n' is a required property"),
        ("[]", "$: [] is not of type 'object'"),
    ],
)
async def test_an_answer_that_does_not_do_fails_and_says_where(
    tmp_path: Path, answer: str | None, message: str
) -> None:
    found = await judged(tmp_path, OBJECT, answer)
    assert not found.result.passed
    assert message in found.result.message
    assert "\n" not in found.result.message
    assert found.value is None
    assert found.result.error is None


async def test_several_mismatches_are_named_up_to_three(tmp_path: Path) -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    message = (await judged(tmp_path, schema, '["a", "b", "c", "d", "e"]')).result.message
    assert "$[0]: 'a'" in message
    assert message.endswith("and 2 more")


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"type": "no-such-type"}, "$.type"),
        ({"$ref": "https://example.invalid/schema.json"}, "leads nowhere"),
        ({"$ref": "#/$defs/gone"}, "leads nowhere"),
        ({"$ref": "#"}, "go in a circle"),
        ({"type": "string", "pattern": "("}, "is not a 'regex'"),
    ],
)
async def test_a_schema_that_cannot_judge_is_an_error(
    tmp_path: Path, schema: dict[str, Any], part: str
) -> None:
    found = await judged(tmp_path, schema, '"x"')
    assert not found.result.passed
    assert found.result.error is not None
    assert found.result.error.kind == "verification"
    assert part in found.result.error.message


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers of CPU time")
async def test_a_pattern_that_needs_for_ever_is_an_error(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    async with context(tmp_path, answer=f'"{"a" * 40}!"') as at:
        found = await Schema(max_cpu_s=0.05).verify({"pattern": "^(a+)+$"}, at)
    assert found.result.error is not None
    assert "not matched within 0.05 s of CPU time" in found.result.error.message
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


async def test_the_drafts_rules_hold_by_default_and_as_the_schema_says(tmp_path: Path) -> None:
    tuple_2020 = {"prefixItems": [{"type": "string"}]}
    assert not (await judged(tmp_path, tuple_2020, "[1]")).result.passed
    tuple_7 = {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_2020}
    assert (await judged(tmp_path, tuple_7, "[1]")).result.passed


async def test_a_valid_null_passes_without_a_value(tmp_path: Path) -> None:
    found = await judged(tmp_path, {"type": "null"}, "null")
    assert (found.result.passed, found.value) == (True, None)


@given(st.text(max_size=80))
def test_any_answer_is_parsed_or_refused_with_a_value_error(answer: str) -> None:
    with suppress(ValueError):
        parse_answer(answer)
