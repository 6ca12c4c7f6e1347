"""Whose reply a reply is: its provider's, its wire's, its model's."""

from __future__ import annotations

import pytest

from pi_batch.providers import apis
from pi_batch.providers.same_model import is_from
from tests.providers.histories import reply

OWN = {"provider": "house", "api": apis.RESPONSES, "model": "gpt-6"}


@pytest.mark.parametrize(
    ("fields", "is_own"),
    [
        ({}, True),
        ({"api": ""}, True),
        ({"model": "gpt-6-2026-10-01"}, True),
        ({"model": "gpt-6-latest"}, True),
        ({"model": "gpt-6-sol", "requested_model": "gpt-6"}, True),
        ({"model": "gpt-6-sol"}, False),
        ({"model": "gpt-6-sol", "requested_model": "gpt-5"}, False),
        ({"api": apis.CHAT}, False),
        ({"provider": "openai"}, False),
    ],
)
def test_a_reply_is_ones_own_by_provider_wire_and_model(fields: dict[str, str], is_own: bool) -> None:
    assert is_from(reply("x", **{**OWN, **fields}), apis.RESPONSES, "house", "gpt-6") is is_own
