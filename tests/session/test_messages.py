"""Our messages in pi's JSON, and pi's JSON as our messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from pi_batch.jsonl import encode_line
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    StopReason,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
    user_text,
)
from pi_batch.session import (
    Entry,
    Header,
    branch_summary_fields,
    compaction_fields,
    custom_fields,
    custom_message_fields,
    encode_entry,
    encode_header,
    label_fields,
    message_fields,
    message_from_json,
    message_to_json,
    messages,
    model_change_fields,
    parse_session,
    pi_provider,
    session_info_fields,
    thinking_level_fields,
    usage_fields,
)
from pi_batch.session.to_json import EMPTY_RESULT
from tests.session.files import HEADER, NO_USAGE, entry, lines
from tests.strategies import messages as any_message

USAGE = Usage(10, 5, 3, 2, 1)
REPLY = AssistantMessage(
    (
        ThinkingBlock("hm", "sig-1"),
        TextBlock("reading", "sig-2"),
        ToolCall("call_1", "read", {"path": "a"}, signature="sig-3"),
    ),
    "tool_use",
    provider="openai",
    model="gpt-4.1",
    api="openai-completions",
    usage=USAGE,
    cost_usd=0.25,
    raw_stop_reason="tool_calls",
    response_id="resp_1",
    timestamp_ms=1767225600000,
)


def test_a_reply_is_written_as_pi_writes_it() -> None:
    assert message_to_json(REPLY) == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig-1"},
            {"type": "text", "text": "reading", "textSignature": "sig-2"},
            {
                "type": "toolCall",
                "id": "call_1",
                "name": "read",
                "arguments": {"path": "a"},
                "thoughtSignature": "sig-3",
            },
        ],
        "api": "openai-completions",
        "provider": "openai",
        "model": "gpt-4.1",
        "usage": {
            "input": 10,
            "output": 5,
            "cacheRead": 3,
            "cacheWrite": 2,
            "totalTokens": 20,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.25},
            "reasoning": 1,
        },
        "stopReason": "toolUse",
        "rawStopReason": "tool_calls",
        "responseId": "resp_1",
        "timestamp": 1767225600000,
    }


def test_the_system_message_declares_the_tools() -> None:
    schema = {"type": "object", "properties": {}}
    message = SystemMessage("be good", (ToolDeclaration("read", "Reads.", schema),), {"cwd": "/w"}, 7)
    assert message_to_json(message) == {
        "role": "system",
        "content": "be good",
        "sections": {"cwd": "/w"},
        "toolsAdded": [{"name": "read", "description": "Reads.", "parameters": schema}],
        "timestamp": 7,
    }


def test_a_change_of_the_prompt_names_tools_that_went_and_sections_that_changed() -> None:
    change = SystemMessage("", sections={"skills": None}, timestamp_ms=1, tools_removed=("write",))
    value = message_to_json(change)
    assert value["toolsRemoved"] == [{"name": "write"}]
    assert value["sections"] == {"skills": None}
    assert message_from_json(value) == change


def test_a_result_carries_its_error_kind_in_its_details() -> None:
    message = ToolResultMessage(
        "c1",
        "bash",
        (TextBlock("no"),),
        is_error=True,
        error_kind="denied",
        details={"rule": "x"},
        timestamp_ms=7,
    )
    written = message_to_json(message)
    assert written["details"] == {"rule": "x", "error_kind": "denied"}
    assert written["isError"] is True
    assert message_from_json(written) == message


def test_inner_calls_stand_in_nested_calls() -> None:
    nested = {"calls": [{"id": "n1", "name": "read", "status": "ok"}], "complete": True}
    message = ToolResultMessage("c1", "codemode", (TextBlock("3"),), details={"nestedCalls": nested})
    written = message_to_json(message)
    assert written["nestedCalls"] == nested
    assert "details" not in written
    assert message_from_json(written) == message


@given(any_message())
def test_every_message_comes_back(message: Message) -> None:
    assert message_from_json(json.loads(encode_line(message_to_json(message)))) == message


def reply(**fields: Any) -> AssistantMessage:
    return AssistantMessage(
        (), **{"stop_reason": "stop", "api": "a", "usage": USAGE, "cost_usd": 0.0, **fields}
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_use", "toolUse"),
        ("error", "error"),
        ("aborted", "aborted"),
        ("content_filter", "error"),
    ],
)
def test_stop_reasons_are_mapped_at_this_edge_only(ours: StopReason, theirs: str) -> None:
    message = reply(stop_reason=ours)
    written = message_to_json(message)
    assert written["stopReason"] == theirs
    assert message_from_json(written) == message


def test_a_filtered_reply_is_an_error_for_pi_and_says_why() -> None:
    written = message_to_json(reply(stop_reason="content_filter"))
    assert written["errorMessage"].startswith("content_filter")
    assert written["piBatch"] == {"stopReason": "content_filter"}


@pytest.mark.parametrize("theirs", ["pending", "deferred", "whatever", None, 7])
def test_a_stop_reason_that_is_no_end_is_an_error_here(theirs: object) -> None:
    message = message_from_json({"role": "assistant", "content": [], "stopReason": theirs})
    assert isinstance(message, AssistantMessage)
    assert message.stop_reason == "error"
    assert message.raw_stop_reason == (theirs if isinstance(theirs, str) else "")


def test_unknown_usage_and_cost_are_zero_for_pi_and_unknown_for_us() -> None:
    message = reply(usage=None, cost_usd=None)
    written = message_to_json(message)
    assert written["usage"] == NO_USAGE
    assert written["piBatch"] == {"usageUnknown": True, "costUnknown": True}
    assert message_from_json(written) == message


def test_arguments_that_do_not_parse_are_kept_beside_empty_ones() -> None:
    message = reply(stop_reason="tool_use")
    call = ToolCall("c1", "bash", None, '{"command": "ls')
    message = AssistantMessage((call,), "tool_use", api="a", usage=USAGE, cost_usd=0.0)
    (block,) = message_to_json(message)["content"]
    assert block["arguments"] == {}
    assert block["rawArguments"] == '{"command": "ls'
    assert message_from_json(message_to_json(message)) == message


def test_arguments_of_a_foreign_file_that_are_no_object_are_raw() -> None:
    content = [
        {"type": "toolCall", "id": "1", "name": "a", "arguments": "{bad"},
        {"type": "toolCall", "id": "2", "name": "b", "arguments": [1]},
        {"type": "toolCall", "id": "3", "name": "c"},
        {
            "type": "toolCall",
            "id": "4",
            "name": "d",
            "arguments": json.loads('{"a":' * 300 + "1" + "}" * 300),
        },
    ]
    message = message_from_json({"role": "assistant", "content": content, "stopReason": "toolUse"})
    assert isinstance(message, AssistantMessage)
    assert [call.raw_arguments for call in message.tool_calls] == [
        "{bad",
        "[1]",
        "null",
        "(nested too deeply)",
    ]
    assert all(call.arguments is None for call in message.tool_calls)


@pytest.mark.parametrize("blocks", [(), (TextBlock(""),), (TextBlock(" \n"), TextBlock("\t"))])
def test_a_result_is_never_blank(blocks: tuple[TextBlock, ...]) -> None:
    written = message_to_json(ToolResultMessage("c", "bash", blocks))
    assert written["content"] == [{"type": "text", "text": EMPTY_RESULT}]


def test_a_blank_text_beside_an_image_is_left_out() -> None:
    message = ToolResultMessage("c", "read", (TextBlock(""), ImageBlock("AAAA", "image/png")))
    assert message_to_json(message)["content"] == [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]


def test_redacted_thinking_keeps_its_payload() -> None:
    message = reply()
    message = AssistantMessage(
        (ThinkingBlock("", "payload", is_redacted=True),), "stop", api="a", usage=USAGE, cost_usd=0.0
    )
    (block,) = message_to_json(message)["content"]
    assert block == {"type": "thinking", "thinking": "", "thinkingSignature": "payload", "redacted": True}
    assert message_from_json(message_to_json(message)) == message


def test_our_names_of_providers_and_wires_become_pi_names() -> None:
    assert pi_provider("openai-chat") == "openai"
    message = AssistantMessage((), "stop", provider="openai-chat", usage=USAGE, cost_usd=0.0)
    written = message_to_json(message)
    assert (written["provider"], written["api"]) == ("openai", "openai-completions")
    back = message_from_json(written)
    assert isinstance(back, AssistantMessage)
    assert back.provider == "openai-chat"
    assert message_to_json(AssistantMessage((), "stop", provider="anthropic"))["api"] == "anthropic-messages"
    assert message_to_json(AssistantMessage((), "stop", provider="google"))["api"] == "google-generative-ai"


def test_a_user_message_may_be_a_plain_string() -> None:
    assert message_from_json({"role": "user", "content": "go", "timestamp": 3}) == user_text("go", 3)


def test_pi_system_content_may_be_blocks() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    message = message_from_json({"role": "system", "content": content, "toolsAdded": [{"name": "x"}, 7]})
    assert message == SystemMessage("ab", (ToolDeclaration("x", "", {}),))


@pytest.mark.parametrize(
    "value", [None, "x", [], {}, {"role": "bashExecution"}, {"role": "custom", "content": "x"}, {"role": 7}]
)
def test_what_is_no_message_of_ours_is_none(value: object) -> None:
    assert message_from_json(value) is None


def test_fields_of_the_wrong_type_count_as_absent() -> None:
    broken = {
        "role": "assistant",
        "content": [
            7,
            {"type": "text"},
            {"type": "hologram", "beam": 1},
            {"type": "toolCall", "arguments": {}},
        ],
        "provider": 7,
        "usage": {"input": "many", "output": -3, "cacheRead": True, "cost": {"total": "free"}},
        "stopReason": "stop",
        "errorMessage": ["x"],
        "timestamp": float("nan"),
        "piBatch": "mine",
    }
    assert message_from_json(broken) == AssistantMessage(
        (TextBlock(""), ToolCall("", "", {})), "stop", usage=Usage(), cost_usd=None
    )
    assert message_from_json({"role": "user", "content": None}) == UserMessage(())
    assert message_from_json({"role": "toolResult", "details": [], "isError": "yes"}) == ToolResultMessage(
        "", "", ()
    )


def test_messages_of_a_branch_pass_over_everything_else() -> None:
    branch = (
        Entry("1", None, "model_change", "t", model_change_fields("openai-chat", "gpt")),
        Entry("2", "1", "message", "t", message_fields(user_text("go"))),
        Entry("3", "2", "custom", "t", custom_fields("pi-batch", {"kind": "x"})),
        Entry("4", "3", "message", "t", {"message": {"role": "bashExecution", "command": "ls"}}),
        Entry("5", "4", "message", "t", {}),
        Entry("6", "5", "message", "t", message_fields(REPLY)),
    )
    assert messages(branch) == (user_text("go"), REPLY)


def test_entries_of_every_kind_have_pi_fields() -> None:
    assert model_change_fields("openai-chat", "gpt") == {"provider": "openai", "modelId": "gpt"}
    assert custom_fields("pi-batch", {"a": 1}) == {"customType": "pi-batch", "data": {"a": 1}}
    assert compaction_fields("sum", "abc", 9, details={"readFiles": []}) == {
        "summary": "sum",
        "firstKeptEntryId": "abc",
        "tokensBefore": 9,
        "details": {"readFiles": []},
    }
    assert thinking_level_fields("high") == {"thinkingLevel": "high"}
    assert session_info_fields(" fix\nthe tests ") == {"name": "fix the tests"}
    assert label_fields("abc", "start") == {"targetId": "abc", "label": "start"}
    assert label_fields("abc", None) == {"targetId": "abc"}
    assert branch_summary_fields("sum", "abc") == {"fromId": "abc", "summary": "sum"}
    shown = custom_message_fields("x", "hi", details={"a": 1})
    assert shown == {"customType": "x", "content": "hi", "display": True, "details": {"a": 1}}
    checkpoint = compaction_fields("sum", "abc", 9, system=SystemMessage("be good"))["systemMessage"]
    assert (checkpoint["role"], checkpoint["content"]) == ("system", "be good")
    compaction = compaction_fields("sum", "abc", 9, usage=USAGE, cost_usd=0.5)
    spent = usage_fields("compaction", "openai-chat", "gpt", USAGE, 0.5)
    assert compaction["usage"] == spent["usage"]
    assert spent["usage"]["cost"]["total"] == 0.5
    assert (spent["kind"], spent["provider"], spent["model"]) == ("compaction", "openai", "gpt")


def test_what_was_read_is_written_as_it_was() -> None:
    odd = entry("a", None, "message", message={"role": "hologram", "beam": [1, {"x": None}]}, extra="é")
    content = lines({**HEADER, "parentSession": "/p"}, odd, entry("b", "a", "label", targetId="a", label="x"))
    session = parse_session(content)
    header: Header = session.header
    written = [encode_header(header), *(encode_entry(item) for item in session.entries)]
    assert [json.loads(line) for line in written] == [json.loads(line) for line in content.split(b"\n")[:-1]]
