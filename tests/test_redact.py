"""Planted secrets survive in no encoding, at no chunking; other text is untouched."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.redact import MASK, Masker, secret_names, secret_values

SECRET = "s3cr3t/V+lue=x?y"
PEM_BODY = [base64.b64encode(bytes(range(n, n + 48))).decode() for n in range(0, 160, 16)]
PEM = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(PEM_BODY) + "\n-----END PRIVATE KEY-----\n"

ENCODINGS: dict[str, Callable[[str], str]] = {
    "raw": lambda value: value,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 unpadded": lambda value: base64.b64encode(value.encode()).decode().rstrip("="),
    "base64 after one byte": lambda value: base64.b64encode(b"u" + value.encode()).decode(),
    "base64 after two bytes": lambda value: base64.b64encode(b"u:" + value.encode() + b"\n").decode(),
    "base64 url-safe": lambda value: base64.urlsafe_b64encode(b"?>" + value.encode() + b"?>").decode(),
    "base64 wrapped": lambda value: base64.encodebytes(b"x" * 50 + value.encode()).decode(),
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
    "hex, spaced": lambda value: value.encode().hex(" "),
    "hex, colons": lambda value: value.encode().hex(":").upper(),
    "url": quote,
    "url, all": lambda value: quote(value, safe=""),
    "url, lower case": lambda value: quote(value, safe="").replace("%2F", "%2f").replace("%3D", "%3d"),
    "form": quote_plus,
    "url, twice": lambda value: quote(quote(value, safe="")),
    "json": lambda value: json.dumps(value)[1:-1],
    "json, as it is": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "json, slashes": lambda value: json.dumps(value)[1:-1].replace("/", "\\/"),
    "json in json": lambda value: json.dumps(json.dumps(value))[1:-1],
    "html": html.escape,
}
SECRETS = {
    "plain": "hunter2-hunter2",
    "regex": "a.b*c(d)[e]{2}^$|\\z",
    "unicode": "pässwörd-Ünïcode-\U0001f511",
    "spaces": "correct horse battery staple",
    "quotes": "quo'te\"and&<tag>/slash",
    "url": SECRET,
    "long": "ghp_" + "Aa1" * 40,
    "backslashes": "C:\\\\dir\\new\\table",
}


def recovered(text: str, value: str) -> bool:
    """True when any decoding of what is left shows the secret."""
    if value in text:
        return True
    squeezed = "".join(char for char in text if char.isascii() and (char.isalnum() or char in "+/-_"))
    standard = squeezed.replace("-", "+").replace("_", "/")
    pieces = (standard[start : start + (len(standard) - start) // 4 * 4] for start in range(4))
    return any(value.encode() in base64.b64decode(piece) for piece in pieces)


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_while_more_is_coming_no_beginning_of_a_secret_is_shown(encode: Callable[[str], str]) -> None:
    secret = SECRETS["plain"]
    text, masker = f"before {encode(secret)}", Masker([secret])
    whole = masker.mask(text)
    begins = len("before ")
    for end in range(begins, len(text) + 1):
        shown = masker.mask_settled(text[:end])
        assert whole.startswith(shown.removesuffix(MASK)), text[:end]
    assert masker.mask_settled("before and after") == "before and after"
    assert Masker([]).mask_settled(text) == text


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_hidden_in_every_encoding(secret: str, encode: Callable[[str], str]) -> None:
    text = f"before {encode(secret)} after"
    masked = Masker([secret]).mask(text)
    assert MASK in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after") or "base64" in repr(encode)
    assert not recovered(masked, secret)
    assert encode(secret) not in masked


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_bytes_are_masked_as_text_is(secret: str, encode: Callable[[str], str]) -> None:
    data = b"\xff\xfe before " + encode(secret).encode() + b" after \x00\xe9"
    masked = Masker([secret]).mask_bytes(data)
    assert masked.startswith(b"\xff\xfe before ")
    assert masked.endswith(b" after \x00\xe9")
    assert encode(secret).encode() not in masked
    assert MASK.encode() in masked


@given(
    secret=st.sampled_from(sorted(SECRETS.values())),
    encode=st.sampled_from(list(ENCODINGS.values())),
    before=st.text(max_size=8),
    after=st.text(max_size=8),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=40),
)
def test_a_stream_gives_what_masking_the_whole_gives_at_any_chunking(
    secret: str, encode: Callable[[str], str], before: str, after: str, sizes: list[int]
) -> None:
    masker = Masker([secret, "other-secret-value"])
    data = f"{before}{encode(secret)}{after}".encode("utf-8", "replace") + b"\xff other-secret-value"
    stream, given_out, rest = masker.stream(), b"", data
    turn = 0
    while rest:
        size = sizes[turn % len(sizes)]
        given_out += stream.feed(rest[:size])
        rest, turn = rest[size:], turn + 1
    given_out += stream.flush()
    assert given_out == masker.mask_bytes(data)
    assert encode(secret).encode() not in given_out


@given(st.text(alphabet="abAB \n", max_size=60), st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_overlapping_values_leave_nothing_at_any_chunking(text: str, sizes: list[int]) -> None:
    secrets = ["abababab", "babababA", "aaaabbbb", "abababababab"]
    masker = Masker(secrets)
    data = text.encode()
    stream, parts, rest = masker.stream(), [], data
    for turn in range(len(data)):
        size = sizes[turn % len(sizes)]
        parts.append(stream.feed(rest[:size]))
        rest = rest[size:]
    parts.append(stream.flush())
    whole = masker.mask(text)
    assert b"".join(parts).decode() == whole
    assert not any(secret in whole for secret in secrets)


@given(st.text(max_size=200))
def test_text_without_secrets_is_unchanged(text: str) -> None:
    masker = Masker(["\x01never\x02in\x03any\x04text"])
    assert masker.mask(text) == text
    data = text.encode("utf-8", "surrogatepass")
    assert masker.mask_bytes(data) == data


def test_the_union_of_overlapping_values_becomes_one_mask() -> None:
    masker = Masker(["ABCDEFGH", "EFGHIJKL", "ABCDEFGHIJ"])
    assert masker.mask("<ABCDEFGHIJKL>") == "<***>"
    assert masker.mask("<ABCDEFGHABCDEFGH>") == "<******>"


def test_the_longest_of_several_values_at_one_place_wins() -> None:
    assert Masker(["token-123", "token-123-and-more"]).mask("x token-123-and-more y") == "x *** y"


def test_a_short_value_hides_nothing() -> None:
    masker = Masker(["", "1234567", "x" * 7])
    assert masker.is_empty
    assert masker.mask("1234567") == "1234567"
    assert masker.mask_bytes(b"1234567") == b"1234567"
    stream = masker.stream()
    assert stream.feed(b"1234567") + stream.flush() == b"1234567"
    assert masker.mask_json({"a": ["1234567"]}) == {"a": ["1234567"]}


def test_eight_characters_are_enough() -> None:
    assert Masker(["12345678"]).mask("a12345678b") == "a***b"


def test_each_line_of_a_value_is_hidden_by_itself() -> None:
    masker = Masker([PEM])
    for line in PEM_BODY:
        assert masker.mask(f"- {line}") == "- ***"
    assert masker.mask(PEM.replace("\n", "\r\n")).count(MASK) == len(PEM_BODY)


def test_the_frame_of_a_key_file_is_no_secret() -> None:
    text = "-----BEGIN PRIVATE KEY-----"
    assert Masker([PEM]).mask(text) == text


def test_a_value_that_ends_in_a_newline_is_found_without_it() -> None:
    assert Masker(["token-value-1\n"]).mask("[token-value-1]") == "[***]"


def test_a_stream_holds_back_only_what_may_still_become_a_secret() -> None:
    stream = Masker(["token-value-1"]).stream()
    assert stream.feed(b"all clear ") == b"all clear "
    assert stream.feed(b"and token-val") == b"and "
    assert stream.feed(b"id!") == b"token-valid!"
    assert stream.feed(b" token-value-1") == b" ***"
    assert stream.flush() == b""


def test_a_stream_gives_the_rest_when_it_ends() -> None:
    stream = Masker(["token-value-1"]).stream()
    assert stream.feed(b"x token-value-") == b"x "
    assert stream.flush() == b"token-value-"
    assert stream.flush() == b""


def test_an_endless_run_of_overlapping_finds_is_not_kept_in_memory() -> None:
    stream = Masker(["aaaaaaaa"]).stream()
    given_out = b"".join(stream.feed(b"a" * 64) for _ in range(50))
    assert given_out == b"***"
    assert len(stream._held) < 64
    assert stream.flush() == b""


def test_json_is_masked_in_keys_and_values_at_any_depth() -> None:
    masker = Masker([SECRET, "12345678"])
    value = {SECRET: [{"a": f"x{SECRET}"}, (SECRET,)], "n": 12345678, "m": 1.5, "t": True, "z": None}
    assert masker.mask_json(value) == {
        "***": [{"a": "x***"}, ["***"]],
        "n": "***",
        "m": 1.5,
        "t": True,
        "z": None,
    }


def test_a_masker_shows_nothing_of_its_values() -> None:
    assert SECRET not in repr(Masker([SECRET]))


def test_many_secrets_and_a_large_text_take_little_time() -> None:
    masker = Masker([PEM, *(f"token-{n:04d}-{n * 7919:x}" for n in range(30))])
    text = "The quick brown fox jumps over the lazy dog. " * 2_000
    assert masker.mask(text) == text
    assert masker.mask(text + "token-0007-d889") == text + MASK


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "PGPASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "DJANGO_SECRET_KEY_BASE",
        "npm_config__authToken",
        "AZURE_CREDENTIALS",
        "DOCKER_AUTH_CONFIG",
        "SENTRY_DSN",
        "KEY",
        "SLACK_WEBHOOK_URL",
        "PI_BATCH_TEST_KEY",
    ],
)
def test_the_usual_names_are_secret(name: str) -> None:
    assert secret_names({name: "some-long-value"}) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "PWD",
        "OLDPWD",
        "HOME",
        "SSH_AUTH_SOCK",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "POSTGRES_PASSWORD_FILE",
        "PASSWORD_STORE_DIR",
        "TOKENIZERS_PARALLELISM",
        "PI_BATCH_MAX_OUTPUT_TOKENS",
        "KEYBOARD",
        "MONKEY",
        "XDG_SESSION_ID",
        "GIT_ASKPASS",
        "SESSION_COOKIE_NAME",
        "OAUTH_TOKEN_URL",
        "PASSWORD_RESET_URL",
    ],
)
def test_names_that_hold_no_secret_are_left_alone(name: str) -> None:
    assert secret_names({name: "some-long-value"}) == ()


def test_empty_variables_are_not_named() -> None:
    assert secret_names({"A_TOKEN": "", "B_TOKEN": "x"}) == ("B_TOKEN",)


def test_the_password_inside_a_url_is_a_secret_whatever_the_variable_is_called() -> None:
    environ = {"HTTPS_PROXY": "http://user:p%40ssw0rd-1@proxy:3128", "A_TOKEN": "abc", "B": "https://x/@y"}
    assert secret_values(environ) == ("abc", "p%40ssw0rd-1", "p@ssw0rd-1")


def test_a_default_password_that_everybody_knows_hides_no_word_of_the_code() -> None:
    environ = {
        "PGPASSWORD": "postgres",
        "DATABASE_URL": "postgresql://me:postgres@localhost/db",
        "A_TOKEN": "abc",
    }
    assert secret_values(environ) == ("abc",)
    assert Masker(["postgres"]).mask("postgres") == MASK, "named on purpose it is hidden all the same"


def test_a_broken_url_is_no_error() -> None:
    assert secret_values({"X": "http://[::1@"}) == ()
