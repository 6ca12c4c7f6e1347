"""Secrets are hidden in replies and in live pieces; without secrets nothing is touched."""

from __future__ import annotations

import json

from pi_batch.engine.masking import LiveMask, mask_reply
from pi_batch.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from pi_batch.redact import Masker

SECRET = "hunter2-hunter2"
REPLY = AssistantMessage(
    (
        ThinkingBlock(f"the key {SECRET}", signature="sig"),
        TextBlock(f"use {SECRET}"),
        ToolCall("1", "bash", {"command": f"echo {SECRET}"}),
        ToolCall("2", "bash", None, f'{{"command": "{SECRET}'),
    ),
    "tool_use",
)


def test_without_secrets_a_reply_is_the_same_object() -> None:
    assert mask_reply(REPLY, Masker([])) is REPLY


def test_every_kind_of_block_is_masked_and_nothing_else_changes() -> None:
    masked = mask_reply(REPLY, Masker([SECRET]))
    assert SECRET not in repr(masked)
    assert [type(block) for block in masked.content] == [type(block) for block in REPLY.content]
    thinking = masked.content[0]
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.signature is None, "a changed thought would be refused under its signature"
    assert masked.tool_calls[1].arguments is None


def test_a_signature_that_holds_the_thought_is_masked_with_it_and_stays_what_it_is() -> None:
    item = json.dumps({"type": "reasoning", "summary": [{"text": f"use {SECRET}"}], "encrypted_content": "E"})
    blocks = (ThinkingBlock(f"use {SECRET}", item), ThinkingBlock("plain", "sig"))
    changed, same = mask_reply(AssistantMessage(blocks, "stop"), Masker([SECRET])).content
    assert isinstance(changed, ThinkingBlock)
    assert changed.signature is not None
    assert SECRET not in changed.signature
    assert json.loads(changed.signature)["encrypted_content"] == "E"
    assert same == ThinkingBlock("plain", "sig")


def test_live_pieces_hide_a_secret_cut_in_two_per_kind() -> None:
    live = LiveMask(Masker([SECRET]))
    shown = "".join(
        live.feed(kind, text)
        for kind, text in [
            ("text", "a hunter2-"),
            ("thinking", "hunter2 alone is fine, "),
            ("text", "hunter2 b and some more to push it out ............................"),
        ]
    )
    assert SECRET not in shown
    assert shown.startswith("a ")


def test_live_pieces_pass_untouched_without_secrets() -> None:
    assert LiveMask(Masker([])).feed("text", "é") == "é"


def test_characters_are_never_cut() -> None:
    live = LiveMask(Masker([SECRET]))
    shown = "".join(live.feed("text", char) for char in "日本語" * 40)
    assert "\ufffd" not in shown
