"""pi's session format v3: values in, JSON Lines out, and back.

This package is the one edge between our values (`messages.py`) and pi's JSON. `file` reads a session,
`tree` walks it, `context` gives what a model sees of a branch, `spent` what it cost; `to_json` writes entries
and messages, `from_json` reads messages. Nothing else knows that a result is called `toolResult` there, or
that a reply that asks for tools ended with `toolUse`.

What the real pi does with such files (tried with 0.73.1, 0.74.2 and 1.6.0; `tests/session/test_peer.py`
tries it again):

* It opens, exports (`pi --export FILE OUT.html`), lists and continues what is written here: a leading
  system message, `custom` entries, extra fields in messages and blocks, replies with zero usage.
* The first line that parses must be the header with a string `id`; lines that do not parse are skipped
  silently, a last line without LF is taken when it parses. After a stump, 1.6.0 goes on in a new line, so
  that a broken line stays inside the file: we skip such lines, too, and say so. 0.74.2 glues its next entry
  to the stump and loses the branch below it: we find the entry behind the stump, and the branch with it.
* It walks `parentId` from the last entry without a look at cycles; unknown entry types are kept.
* Assistant messages need `usage` with a `cost` object, assistant and tool results a `content` array, calls an
  `arguments` object. NaN in a line makes that line unreadable for it.
* It knows no `content_filter`: such a reply is written as `error` with a message; ours is in `piBatch`.
* To continue a session its `cwd` must exist.

Source: docs/session-format.md and docs/message-types.md of @earendil-works/pi-coding-agent 1.6.0.
"""

from __future__ import annotations

from pi_batch.session.context import (
    Placed,
    branch_message,
    compaction_message,
    context,
    context_entries,
    context_messages,
    current_system,
    prompt_of,
    system_change,
)
from pi_batch.session.fields import (
    branch_summary_fields,
    compaction_fields,
    custom_fields,
    custom_message_fields,
    label_fields,
    message_fields,
    model_change_fields,
    session_info_fields,
    thinking_level_fields,
    usage_fields,
)
from pi_batch.session.file import SESSION_VERSION, Entry, Header, SessionFile, parse_session, read_session
from pi_batch.session.from_json import content_from_json, message_from_json, messages
from pi_batch.session.spent import Spent, spent_on, total_spent
from pi_batch.session.to_json import encode_entry, encode_header, message_to_json, pi_provider
from pi_batch.session.tree import (
    BranchSettings,
    active_branch,
    branch_to,
    labels_of,
    leaves,
    name_of,
    settings_of,
)

__all__ = [
    "SESSION_VERSION",
    "BranchSettings",
    "Entry",
    "Header",
    "Placed",
    "SessionFile",
    "Spent",
    "active_branch",
    "branch_message",
    "branch_summary_fields",
    "branch_to",
    "compaction_fields",
    "compaction_message",
    "content_from_json",
    "context",
    "context_entries",
    "context_messages",
    "current_system",
    "custom_fields",
    "custom_message_fields",
    "encode_entry",
    "encode_header",
    "label_fields",
    "labels_of",
    "leaves",
    "message_fields",
    "message_from_json",
    "message_to_json",
    "messages",
    "model_change_fields",
    "name_of",
    "parse_session",
    "pi_provider",
    "prompt_of",
    "read_session",
    "session_info_fields",
    "settings_of",
    "spent_on",
    "system_change",
    "thinking_level_fields",
    "total_spent",
    "usage_fields",
]
