"""Services by name: their variables, addresses, keys and headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.providers.catalog import (
    SERVICES,
    default_max_output_tokens,
    endpoint_for,
    key_state,
    variable_prefix,
)
from pi_batch.providers.endpoint import Timeouts
from pi_batch.providers.service_config import service_from_config

LOCAL = ("ollama", "llamacpp", "vllm", "lmstudio")
WANTED = (
    *("openai-chat", "openai", "anthropic", "deepseek", "openrouter", "groq", "mistral", "xai"),
    *("together", "fireworks", "cerebras", "google", *LOCAL),
)


def test_every_service_that_was_promised_is_there() -> None:
    assert set(WANTED) <= set(SERVICES)
    for name, service in SERVICES.items():
        assert service.name == name


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"openai-chat", "ollama"}))
def test_each_name_reads_its_own_variables(name: str) -> None:
    prefix = variable_prefix(name)
    environ = {f"{prefix}_API_KEY": " sk-12345678 ", f"{prefix}_BASE_URL": " http://gate.example/v1 "}
    endpoint = endpoint_for(SERVICES[name], environ)
    assert (endpoint.api_key, endpoint.base_url) == ("sk-12345678", "http://gate.example/v1")
    assert endpoint.key_variable == f"{prefix}_API_KEY"


def test_openai_chat_reads_the_variables_of_openai() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-12345678",
        "OPENAI_BASE_URL": "http://gate.example/v1",
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1",
    }
    endpoint = endpoint_for(SERVICES["openai-chat"], environ)
    assert endpoint.base_url == "http://gate.example/v1"
    assert endpoint.headers == {"openai-organization": "org-1", "openai-project": "proj-1"}
    assert endpoint.auth == "bearer"


@pytest.mark.parametrize("name", sorted(set(SERVICES) - set(LOCAL)))
def test_a_missing_or_empty_key_names_the_variable(name: str) -> None:
    service = SERVICES[name]
    for environ in ({}, dict.fromkeys(service.key_variables, " ")):
        assert key_state(service, environ) == "missing"
        with pytest.raises(UsageError, match=f"{name}: no key: set {service.key_variables[0]}"):
            endpoint_for(service, environ)


@pytest.mark.parametrize("name", LOCAL)
def test_local_servers_need_no_key(name: str) -> None:
    endpoint = endpoint_for(SERVICES[name], {})
    assert endpoint.api_key is None
    assert endpoint.base_url.startswith("http://127.0.0.1:")
    assert key_state(SERVICES[name], {}) == "not needed"


def test_a_hosted_services_name_on_a_loopback_address_needs_no_key() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}
    assert key_state(SERVICES["openai"], environ) == "not needed"
    assert endpoint_for(SERVICES["openai"], environ).api_key is None


def test_anthropic_takes_a_key_or_a_token_and_the_key_wins() -> None:
    service = SERVICES["anthropic"]
    key = endpoint_for(service, {"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_AUTH_TOKEN": "tok"})
    assert (key.api_key, key.auth) == ("sk-ant-1", "x-api-key")
    token = endpoint_for(service, {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "tok"})
    assert (token.api_key, token.auth, token.key_variable) == ("tok", "bearer", "ANTHROPIC_AUTH_TOKEN")


def test_google_takes_either_of_its_keys_and_geminis_own_wins() -> None:
    service = SERVICES["google"]
    both = {"GEMINI_API_KEY": "g-1", "GOOGLE_API_KEY": "g-2"}
    assert endpoint_for(service, both).key_variable == "GEMINI_API_KEY"
    other = endpoint_for(service, {**both, "GEMINI_API_KEY": " "})
    assert (other.api_key, other.auth, other.key_variable) == ("g-2", "x-goog-api-key", "GOOGLE_API_KEY")
    for variable in ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"):
        endpoint = endpoint_for(service, {**both, variable: "http://gate.example"})
        assert endpoint.base_url == "http://gate.example"


def test_anthropics_custom_headers_are_lines() -> None:
    environ = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_CUSTOM_HEADERS": "X-One: 1\nbroken\n anthropic-beta : a,b ",
    }
    assert endpoint_for(SERVICES["anthropic"], environ).headers == {"x-one": "1", "anthropic-beta": "a,b"}


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11500", "http://127.0.0.1:11500"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8000", "http://127.0.0.1:8000"),
        ("gpu-box", "http://gpu-box:11434"),
        ("http://gpu-box:1234/", "http://gpu-box:1234"),
        ("https://gpu-box", "https://gpu-box:443"),
    ],
)
def test_ollama_host_is_what_the_server_binds(host: str, url: str) -> None:
    assert endpoint_for(SERVICES["ollama"], {"OLLAMA_HOST": host}).base_url == url


def test_ollama_base_url_wins_over_its_host() -> None:
    environ = {"OLLAMA_HOST": "a:1", "OLLAMA_BASE_URL": "http://b:2/v1"}
    assert endpoint_for(SERVICES["ollama"], environ).base_url == "http://b:2/v1"


def test_proxy_certificates_and_timeouts_are_handed_on() -> None:
    environ = {"OPENAI_API_KEY": "k", "HTTPS_PROXY": "http://p:1", "SSL_CERT_FILE": "/ca.pem"}
    endpoint = endpoint_for(SERVICES["openai"], environ, timeouts=Timeouts(idle_s=7))
    assert (endpoint.proxy, endpoint.ca_file, endpoint.timeouts.idle_s) == ("http://p:1", "/ca.pem", 7)


@pytest.mark.parametrize(
    ("name", "model", "tokens"),
    [
        ("openai", "gpt-4o", 16_384),
        ("openai", "gpt-5.2", 32_000),
        ("openai", "gpt-99", 32_000),
        ("anthropic", "claude-3-5-haiku-latest", 8_192),
        ("anthropic", "claude-opus-4-8", 32_000),
        ("xai", "grok-4", 30_000),
        ("ollama", "qwen3:8b", 8_192),
    ],
)
def test_the_output_asked_for_is_never_more_than_the_model_gives(name: str, model: str, tokens: int) -> None:
    assert default_max_output_tokens(SERVICES[name], model) == tokens


def test_a_service_of_ones_own_has_address_key_and_quirks() -> None:
    table = {
        "base_url": "https://gate.example/v1",
        "headers": {"X-Team": "ci"},
        "max_output_tokens": 4096,
        "context_window": 65_536,
        "compat": {"developer_role": True, "reasoning_fields": ["thoughts"], "extra_body": {"top_k": 1}},
    }
    service = service_from_config("my-gate", table, ".pi-batch.toml")
    assert service.compat.developer_role
    assert service.compat.reasoning_fields == ("thoughts",)
    assert default_max_output_tokens(service, "anything") == 4096
    assert service.context_window == 65_536
    endpoint = endpoint_for(service, {"MY_GATE_API_KEY": "k-12345678"})
    assert (endpoint.service, endpoint.api_key) == ("my-gate", "k-12345678")
    assert endpoint.headers == {"X-Team": "ci"}


def test_a_service_of_ones_own_can_name_its_key_or_need_none() -> None:
    table = {"base_url": "https://gate.example", "key_variable": "GATE_TOKEN", "api": "anthropic"}
    service = service_from_config("gate", table, "c")
    assert endpoint_for(service, {"GATE_TOKEN": "t-12345678"}).auth == "x-api-key"
    free = service_from_config("gate", {**table, "key_variable": ""}, "c")
    assert endpoint_for(free, {}).api_key is None


def test_a_known_service_can_be_changed_in_part() -> None:
    service = service_from_config("deepseek", {"compat": {"requires_reasoning": False}}, "c")
    assert service.base_url == SERVICES["deepseek"].base_url
    assert not service.compat.requires_reasoning
    assert service.compat.thinking_format == "deepseek"


def test_every_mistake_in_a_config_is_one_line_that_names_it() -> None:
    table = {
        "base_ur": "x",
        "api": "soap",
        "headers": {"a": 1},
        "max_output_tokens": 0,
        "context_window": "64k",
        "compat": {
            "quirk": 1,
            "developer_role": "yes",
            "output_cap_field": "max",
            "reasoning_fields": "x",
            "reasoning_field": 3,
            "extra_body": [],
        },
    }
    with pytest.raises(UsageError) as caught:
        service_from_config("gate", table, "pyproject.toml")
    lines = str(caught.value).split("\n")
    assert lines[0] == "pyproject.toml: providers.gate: base_ur: unknown; did you mean base_url?"
    assert len(lines) == 12
    for name in (
        "api",
        "headers",
        "max_output_tokens",
        "context_window",
        "compat.quirk",
        "compat.developer_role",
        "base_url: missing",
    ):
        assert any(f"providers.gate: {name}" in line for line in lines)
    assert any("need one of max_tokens, max_completion_tokens, by_model" in line for line in lines)


def test_habits_are_data_and_nobody_asks_for_a_name_or_an_address() -> None:
    room = Path(__file__).parents[2] / "pi_batch" / "providers"
    names = [name for name in SERVICES if name not in ("anthropic", "openai", "ollama")]
    for path in room.glob("*.py"):
        if path.stem in ("catalog", "__init__"):
            continue
        text = path.read_text(encoding="utf-8")
        for name in names:
            assert f'== "{name}"' not in text, f"{path.name} asks for {name}"
            assert f'"{name}" in' not in text, f"{path.name} asks for {name}"
