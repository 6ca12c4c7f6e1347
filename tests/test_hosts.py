"""Which hosts an entry of a list lets through."""

from __future__ import annotations

import pytest

from pi_batch.hosts import AllowedHost


@pytest.mark.parametrize(
    ("entry", "host", "port", "is_allowed"),
    [
        ("pypi.org", "pypi.org", 443, True),
        ("pypi.org", "pypi.org", 80, True),
        ("pypi.org", "pypi.org", 22, False),
        ("PyPI.org.", "pypi.org", 443, False),
        ("PyPI.org", "pypi.org", 443, True),
        ("pypi.org", "evilpypi.org", 443, False),
        ("pypi.org", "pypi.org.evil.example", 443, False),
        ("pypi.org", "sub.pypi.org", 443, False),
        ("*.pypi.org", "files.pypi.org", 443, True),
        ("*.pypi.org", "a.b.pypi.org", 443, True),
        ("*.pypi.org", "pypi.org", 443, False),
        ("*.pypi.org", "evilpypi.org", 443, False),
        ("localhost:8080", "localhost", 8080, True),
        ("localhost:8080", "localhost", 80, False),
        ("[::1]:9", "::1", 9, True),
    ],
)
def test_an_entry_lets_through_what_it_says(entry: str, host: str, port: int, is_allowed: bool) -> None:
    try:
        parsed = AllowedHost.parse(entry)
    except ValueError:
        assert not is_allowed
        return
    assert parsed.allows(host, port) == is_allowed


@pytest.mark.parametrize(
    "entry", ["", "*", "*.", "a b", "http://a", "a/b", "a:0", "a:99999", "a:x", "-a\n", "@a"]
)
def test_what_is_no_host_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        AllowedHost.parse(entry)


def test_addresses_are_told_from_names() -> None:
    assert AllowedHost.parse("127.0.0.1:80").is_address
    assert AllowedHost.parse("localhost").is_address
    assert not AllowedHost.parse("localhost.example").is_address
