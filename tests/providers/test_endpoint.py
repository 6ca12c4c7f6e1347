"""Addresses join once, keys stay out of sight, proxies are found as everywhere."""

from __future__ import annotations

import pytest

from pi_batch.errors import UsageError
from pi_batch.providers.endpoint import (
    Endpoint,
    chat_url,
    gemini_url,
    is_loopback,
    messages_url,
    proxy_for,
    responses_url,
)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.deepseek.com", "https://api.deepseek.com/v1/chat/completions"),
        ("https://api.deepseek.com/", "https://api.deepseek.com/v1/chat/completions"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("https://x.example/inference/v1/", "https://x.example/inference/v1/chat/completions"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"),
        ("https://x.example/v1beta/openai", "https://x.example/v1beta/openai/chat/completions"),
    ],
)
def test_chat_completions_are_posted_where_they_are_served(base: str, url: str) -> None:
    assert chat_url(base) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://x.example/anthropic", "https://x.example/anthropic/v1/messages"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/messages"),
    ],
)
def test_messages_are_posted_where_they_are_served(base: str, url: str) -> None:
    assert messages_url(base) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/responses"),
        ("https://x.example/v1/responses", "https://x.example/v1/responses"),
        ("https://x.example/openai/v1", "https://x.example/openai/v1/responses"),
    ],
)
def test_responses_are_posted_where_they_are_served(base: str, url: str) -> None:
    assert responses_url(base) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://x.example", "https://x.example/v1beta/models/g-3:streamGenerateContent?alt=sse"),
        ("https://x.example/", "https://x.example/v1beta/models/g-3:streamGenerateContent?alt=sse"),
        ("https://x.example/v1beta", "https://x.example/v1beta/models/g-3:streamGenerateContent?alt=sse"),
        (
            "https://x.example/v1beta/models",
            "https://x.example/v1beta/models/g-3:streamGenerateContent?alt=sse",
        ),
        ("https://x.example/v1/", "https://x.example/v1/models/g-3:streamGenerateContent?alt=sse"),
    ],
)
def test_gemini_is_asked_where_it_is_served(base: str, url: str) -> None:
    assert gemini_url(base, "g-3") == gemini_url(base, "models/g-3") == url


def test_a_model_cannot_lead_to_another_path() -> None:
    assert "/models/..%2Fx%3Fkey%3D1:stream" in gemini_url("https://x.example", "../x?key=1")


def test_nothing_secret_is_in_the_repr() -> None:
    shown = repr(
        Endpoint(
            "x",
            "https://x.example",
            "sk-secret",
            headers={"authorization": "secret"},
            proxy="http://user:secret@proxy:1",
        )
    )
    assert "secret" not in shown
    assert "https://x.example" in shown


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x.example/v1",
        "ftp://x.example",
        "http://",
        "https:///v1",
        "http://[::1",
        "http://x.example:99999",
        "http://x.example:0",
        "http://x.example:a",
        "http://x y/",
    ],
)
def test_an_address_that_leads_nowhere_is_refused(url: str) -> None:
    assert not is_loopback(url)
    proxy_for(url, {"all_proxy": "http://proxy:1"})
    with pytest.raises(UsageError, match="x: base URL"):
        Endpoint("x", url)


@pytest.mark.parametrize("proxy", ["http://[::1", "http://proxy:99999", "http://"])
def test_a_proxy_that_is_no_address_is_refused_and_not_shown(proxy: str) -> None:
    with pytest.raises(UsageError, match="the proxy's address is none"):
        Endpoint("x", "https://x.example", proxy=proxy)


@pytest.mark.parametrize(
    "url", ["https://user:secret@x.example", "https://x.example/v1?key=secret", "https://x.example/#f"]
)
def test_secrets_do_not_belong_in_an_address_and_are_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Endpoint("x", url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-\u2013secret", "sk\tsecret", " sk-secret", ""])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError, match="X_API_KEY holds a character") as caught:
        Endpoint("x", "https://x.example", key, key_variable="X_API_KEY")
    assert "secret" not in str(caught.value)


def test_a_socks_proxy_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="proxy of scheme 'socks5'"):
        Endpoint("x", "https://x.example", proxy="socks5://proxy:1080")


@pytest.mark.parametrize(
    ("base_url", "proxy", "is_needed"),
    [
        ("http://x.example", None, False),
        ("https://x.example", None, True),
        ("http://x.example", "http://proxy", False),
        ("http://x.example", "https://proxy", True),
    ],
)
def test_tls_is_needed_only_where_something_speaks_it(
    base_url: str, proxy: str | None, is_needed: bool
) -> None:
    assert Endpoint("x", base_url, proxy=proxy).needs_tls is is_needed


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "api.localhost"])
def test_this_machine_is_recognised(host: str) -> None:
    assert is_loopback(f"http://{host}:8080/v1")


@pytest.mark.parametrize(
    "host", ["example.com", "127.0.0.1.example.com", "localhost.example.com", "10.0.0.1"]
)
def test_other_machines_are_not_this_one(host: str) -> None:
    assert not is_loopback(f"http://{host}/v1")


URL = "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ({"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "http://low:1"),
        ({"https_proxy": "", "HTTPS_PROXY": "http://up:1"}, "http://up:1"),
        ({"HTTP_PROXY": "http://p:1"}, None),
        ({"ALL_PROXY": "p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.com"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.com, example.com"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example.com"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*.example.com"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "ample.com"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.example.com:8443"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, None),
    ],
)
def test_a_proxy_is_found_in_the_usual_variables(environ: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(URL, environ) == proxy


def test_this_machine_is_reached_without_a_proxy() -> None:
    assert proxy_for("http://localhost:11434", {"HTTP_PROXY": "http://p:1"}) is None
