"""Addresses of repositories: what they mean, what is refused, and that no password is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.repository_address import Address, address_of, ref_complaint, slug, without_credentials


@pytest.mark.parametrize(
    ("text", "kind", "url", "name"),
    [
        ("https://example.org/me/a.git", "https", "https://example.org/me/a.git", "a"),
        ("https://user:pa55@example.org/me/a", "https", "https://example.org/me/a", "a"),
        ("http://127.0.0.1:8080/b.git/", "http", "http://127.0.0.1:8080/b.git/", "b"),
        ("ssh://git@example.org:22/me/a.git", "ssh", "ssh://git@example.org:22/me/a.git", "a"),
        ("git@example.org:me/a b.git", "ssh", "git@example.org:me/a b.git", "a-b"),
        ("example.org:a.git", "ssh", "example.org:a.git", "a"),
        ("file:///srv/my%20repo.git", "local", "/srv/my repo.git", "my-repo"),
        ("../a", "local", "../a", "a"),
        ("/srv/work/.git", "local", "/srv/work/.git", "work"),
        ("./with:colon", "local", "./with:colon", "colon"),
    ],
)
def test_what_an_address_means(text: str, kind: str, url: str, name: str) -> None:
    address = address_of(text)
    assert (address.kind, address.url, address.name) == (kind, url, name)


def test_credentials_are_apart_and_decoded() -> None:
    address = address_of("https://me:p%40ss@example.org/a.git")
    assert address.credentials == "me:p@ss"
    assert "p@ss" not in repr(address)
    assert address_of("https://only-a-token@example.org/a").credentials == "only-a-token:"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://u:p@Example.org:8443/a", "example.org:8443"),
        ("git@Example.org:a", "example.org"),
        ("ssh://git@h/a", "h"),
        ("/srv/a", ""),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert address_of(address).host == host


@pytest.mark.parametrize(
    ("text", "need"),
    [
        ("", "need the URL or path"),
        (" https://h/a", "need the URL or path"),
        ("https://h/a\n--upload-pack=x", "need the URL or path"),
        ("a\0b", "need the URL or path"),
        ("--upload-pack=touch /tmp/x", "does not begin with '-'"),
        ("-oProxyCommand=x", "does not begin with '-'"),
        ("ext::sh -c 'touch x'", "starts a program"),
        ("fd::3", "starts a program"),
        ("transport::https://h/a", "starts a program"),
        ("ssh://-oProxyCommand=x/a", "a host that begins"),
        ("git@-oProxyCommand=x:a", "a host that begins"),
        ("ssh://-l@h/a", "a user name that begins"),
        ("h:-x", "the repository's path"),
        ("https://h", "the repository's path"),
        ("https:///a", "a host that begins"),
        ("https://h:99999/a", "whose host and port"),
        ("https://[::1/a", "whose host and port"),
        ("https://h/a?token=12345", "without '?'"),
        ("https://h/a#b", "without '?'"),
        ("file://h/a", "need file:///PATH"),
        ("file:///a%0Ab", "without control characters"),
        ("ftp://h/a", "need an https, ssh or file URL"),
        ("git://h/a", "need an https, ssh or file URL"),
        ("ssh://git:secret@h/a", "ssh takes no password"),
        ("me:secret@h:a", "ssh takes no password"),
        ("https://u:%0d%0aX@h/a", "control characters"),
    ],
)
def test_an_address_that_starts_something_or_is_none_is_refused(text: str, need: str) -> None:
    with pytest.raises(ValueError, match=r"^need ") as caught:
        address_of(text)
    assert need in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hunter2@h/a",
        "https://hunter2@h/a",
        "https://me:hunter2@h/a?x=1",
        "https://me:hun/ter2@h/a#hunter2",
        "https://h/a?private_token=hunter2",
        "ssh://me:hunter2@h/a",
        "me:hunter2@h:a",
        "ftp://me:hunter2@h/a",
        "https://me:hunter2@h:99999/a",
        "https://me:hunter2@\n/a",
    ],
)
def test_no_password_is_shown_of_an_address_right_or_wrong(text: str) -> None:
    shown = without_credentials(text)
    assert "hunter2" not in shown
    assert "ter2" not in shown


def test_a_right_address_is_shown_whole() -> None:
    assert without_credentials("git@h:me/a.git") == "git@h:me/a.git"
    assert without_credentials("ssh://git@h/a") == "ssh://git@h/a"
    assert without_credentials("https://h/a@b") == "https://h/a@b"


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = address_of(text)
    except ValueError:
        return
    finally:
        without_credentials(text)
    assert not address.url.startswith("-")
    assert slug(address.name) == address.name
    assert address.url.isprintable()


def test_relative_paths_start_in_a_directory_and_urls_do_not() -> None:
    assert address_of("../a").below(Path("/x/y")) == Address("local", "/x/a")
    assert address_of("https://h/a").below(Path("/x")).url == "https://h/a"


@pytest.mark.parametrize(
    "ref", ["main", "feature/x", "v1.0", "refs/pull/7/head", "0123abc", "a" * 40, "HEAD"]
)
def test_refs(ref: str) -> None:
    assert ref_complaint(ref) is None


@pytest.mark.parametrize(
    "ref",
    [
        *(
            "",
            "-x",
            "--upload-pack=x",
            "a b",
            "a..b",
            "HEAD~1",
            "a^",
            "a:b",
            "a\\b",
            "a*",
            "a?",
            "x\n",
            "@{1}",
        ),
        *("@", "/a", ".a", "a/", "a.lock", "a//b", "a/.b", "a.", "x" * 251, "\0"),
    ],
)
def test_what_is_no_ref(ref: str) -> None:
    assert ref_complaint(ref) is not None
