"""What of a Dockerfile needs no image."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.peers.dockerfile import Image, read_dockerfile
from tests.peers.foreign import put


def read(text: str, context: Path) -> Image:
    return read_dockerfile(text, context, "Dockerfile")


def test_files_that_are_copied_lie_below_the_working_directory(tmp_path: Path) -> None:
    put(tmp_path, a="1", data__b="2", data__deep__c="3", xDOTsh="4", yDOTsh="5", Dockerfile="")
    lines = (
        "FROM python:3.13 # base",
        "# a comment",
        "WORKDIR /app",
        "COPY a ./renamed",
        "COPY --chown=1:1 data/ /app/d/",
        "COPY *.sh \\",
        "     scripts/",
        'COPY ["a", "two words/"]',
        "ADD data/b .",
        "ENV PYTHONUNBUFFERED=1 LANG=C.UTF-8",
        "ENV DEBIAN_FRONTEND noninteractive",
        'CMD ["sleep", "1"]',
    )
    found = read("\n".join(lines), tmp_path)
    assert found.reasons == ()
    assert {name: file.content for name, file in found.files.items()} == {
        "renamed": b"1",
        "d/b": b"2",
        "d/deep/c": b"3",
        "scripts/x.sh": b"4",
        "scripts/y.sh": b"5",
        "two words/a": b"1",
        "b": b"2",
    }


def test_the_whole_context_is_copied_without_the_dockerfile(tmp_path: Path) -> None:
    put(tmp_path, a="1", Dockerfile="x", DOTdockerignore="y")
    assert set(read("FROM x\nWORKDIR /srv\nCOPY . .\n", tmp_path).files) == {"a"}


def test_without_a_workdir_it_is_app(tmp_path: Path) -> None:
    assert read("FROM x\n", tmp_path).directory == "/app"
    assert read("FROM x\nWORKDIR /srv\nWORKDIR deep\n", tmp_path).directory == "/srv/deep"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("RUN apt-get install -y \\\n  vim", "Dockerfile:3: RUN apt-get install -y    vim: needs an image"),
        ("ENV SECRET=1", "Dockerfile:3: ENV SECRET=1: needs an image"),
        ("USER nobody", "Dockerfile:3: USER nobody: needs an image"),
        ("FROM other AS two", "Dockerfile:3: several stages need an image"),
        ("COPY --from=two /x /app/x", "another stage needs an image"),
        ("COPY a /etc/a", "/etc/a lies outside of /app: needs an image"),
        ("COPY gone .", "gone is not there"),
        ("COPY ../a .", "lies outside of the task"),
        ("COPY a", "needs what and where to"),
        ('COPY ["a"', "is no JSON list"),
        ("ADD https://example.org/x.tar /app/", "needs an image"),
        ("COPY <<EOF /app/x", "needs an image"),
    ],
)
def test_what_needs_an_image_is_said_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    context = put(tmp_path / "context", a="1")
    put(tmp_path, a="1")
    found = read(f"FROM x\nWORKDIR /app\n{line}\n", context)
    assert len(found.reasons) == 1
    assert reason in found.reasons[0]
    assert found.reasons[0].startswith("Dockerfile:3: ")


def test_links_are_not_followed(tmp_path: Path) -> None:
    context = put(tmp_path / "context", d__a="1")
    (context / "d/secret").symlink_to("/etc/passwd")
    (context / "link").symlink_to("/etc/passwd")
    assert set(read("FROM x\nWORKDIR /app\nCOPY d d\n", context).files) == {"d/a"}
    assert "outside of the task" in read("FROM x\nCOPY link .\n", context).reasons[0]
