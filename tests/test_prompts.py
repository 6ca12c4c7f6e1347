"""The system prompt says where, how and by what it is judged, and holds the project's own words."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import convert

from pi_batch.prompts import (
    CONTEXT_FILE_BYTES,
    ContextFile,
    find_context_files,
    system_prompt,
    users_own_file,
)
from pi_batch.spec import OutputSpec, SystemSpec


def test_it_names_the_workspace_and_what_is_protected() -> None:
    text = system_prompt("/w/project", SystemSpec(), ["tests/**"], ())
    assert "/w/project" in text
    assert "tests/**" in text


def test_a_specs_addition_comes_after_ours() -> None:
    text = system_prompt("/w", SystemSpec(append="Answer in French."), (), ())
    assert text.index("Answer in French.") > text.index("coding agent")


def test_a_specs_own_prompt_stands_in_its_place() -> None:
    text = system_prompt("/w", SystemSpec(replace="You review {diffs}."), (), ())
    assert text == "You review {diffs}.\n"


def test_an_answer_that_must_match_a_schema_is_asked_for_with_the_schema() -> None:
    output = convert({"schema": {"type": "object", "required": ["wörter"]}}, OutputSpec)
    text = system_prompt("/w", SystemSpec(), (), [ContextFile("/w/AGENTS.md", "Use tabs.")], output)
    assert '{"type": "object", "required": ["wörter"]}' in text
    assert "short plain text" not in text
    assert text.index("JSON Schema") < text.index("AGENTS.md")


def test_without_a_schema_the_answer_is_plain_text() -> None:
    text = system_prompt("/w", SystemSpec(), (), ())
    assert "short plain text" in text
    assert "JSON" not in text


def test_files_that_must_be_left_are_named() -> None:
    text = system_prompt("/w", SystemSpec(), (), (), OutputSpec(files=("notes.md", "out/a.csv")))
    assert "notes.md, out/a.csv" in text


def test_what_is_judged_is_said_beside_a_specs_own_prompt_too() -> None:
    text = system_prompt(
        "/w",
        SystemSpec(replace="You count."),
        (),
        (),
        convert({"schema": {"type": "integer"}}, OutputSpec),
    )
    assert text.startswith("You count.\n\n")
    assert '{"type": "integer"}' in text


def test_context_files_are_named() -> None:
    text = system_prompt("/w", SystemSpec(), (), [ContextFile("/w/AGENTS.md", "Use tabs.")])
    assert "from /w/AGENTS.md" in text
    assert text.endswith("Use tabs.\n")


def make(directory: Path, **files: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)
    return directory


def test_they_come_from_the_user_then_from_the_outermost_parent_inwards(tmp_path: Path) -> None:
    user = make(tmp_path / "home", AGENTS__md="user")
    make(tmp_path / "repo", AGENTS__md="outer")
    source = make(tmp_path / "repo" / "sub", AGENTS__md="as it is now")
    workspace = make(tmp_path / "w", AGENTS__md="as it was at the start")
    found = find_context_files(user, source, workspace)
    assert [file.text for file in found] == ["user", "outer", "as it was at the start"]


def test_one_file_a_directory_the_override_first(tmp_path: Path) -> None:
    workspace = make(tmp_path / "w", AGENTS__override__md="over", AGENTS__md="plain", CLAUDE__md="other")
    assert [file.text for file in find_context_files(None, tmp_path / "none", workspace)] == ["over"]
    workspace = make(tmp_path / "v", CLAUDE__md="other")
    assert [file.text for file in find_context_files(None, tmp_path / "none", workspace)] == ["other"]


def test_a_huge_one_is_cut_and_all_together_are_bounded(tmp_path: Path) -> None:
    huge = "é" * CONTEXT_FILE_BYTES
    make(tmp_path / "a", AGENTS__md=huge)
    make(tmp_path / "a" / "b", AGENTS__md=huge)
    workspace = make(tmp_path / "w", AGENTS__md=huge)
    found = find_context_files(None, tmp_path / "a" / "b" / "c", workspace)
    assert all(file.text.endswith("[cut]") for file in found)
    assert sum(len(file.text.encode()) for file in found) <= 64 * 1024 + 20


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    workspace = make(tmp_path / "w")
    os.mkfifo(workspace / "AGENTS.md")
    make(workspace, CLAUDE__md="   \n")
    assert find_context_files(None, tmp_path / "none", workspace) == ()


def test_of_a_hostile_checkout_only_the_users_own_instructions_are_read(tmp_path: Path) -> None:
    for name in ("user", "project"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(f"of the {name}", encoding="utf-8")
    assert [file.text for file in users_own_file(tmp_path / "user")] == ["of the user"]
    assert users_own_file(None) == ()
