"""What is refused although a check has passed."""

from __future__ import annotations

import pytest

from pi_batch.publishing.policy import Change, Limits, refusals
from pi_batch.redact import Masker

SECRET = "s3cr3t-value-of-this-job"


def judged(
    *paths: str, mode: str = "100644", patch: bytes = b"+x\n", protect: tuple[str, ...] = (), **limits: object
) -> tuple[str, ...]:
    changes = [Change(path, "M", mode) for path in paths or ("a.py",)]
    return refusals(patch, changes, protect, Limits(**limits), Masker([SECRET]))  # type: ignore[arg-type]


def test_ordinary_work_is_published() -> None:
    assert judged("src/a.py", "docs/x y.md", "-dash.txt", "ünïcode/ñ.py", ".github/ISSUE_TEMPLATE.md") == ()
    assert judged("bin/tool", mode="100755") == ()


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/actions/mine/action.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "sub/.gitmodules",
        ".gitmodules",
        "x/.gitattributes",
        "Jenkinsfile",
        ".pre-commit-config.yaml",
    ],
)
def test_files_that_run_with_rights_of_their_own_are_refused(path: str) -> None:
    (reason,) = judged(path)
    assert path in reason
    assert "--allow" in reason


@pytest.mark.parametrize("path", [".git/hooks/pre-push", "a/.GIT/config", "../outside", "a//b", "a\\..\\b"])
def test_paths_that_are_none_are_refused_and_cannot_be_allowed(path: str) -> None:
    (reason,) = judged(path, allow=("**",))
    assert "no path for a file" in reason


def test_a_glob_lifts_the_refusal_of_what_it_matches_only() -> None:
    reasons = judged(".github/workflows/ci.yml", ".gitlab-ci.yml", allow=("/.github/**",))
    assert [".gitlab-ci.yml" in reason for reason in reasons] == [True]


def test_protected_paths_are_refused_also_below_a_workspace_that_is_a_part() -> None:
    assert judged(
        "tests/test_a.py", "pkg/tests/test_b.py", protect=("tests/test_a.py", "tests/test_b.py")
    ) == (
        "'tests/test_a.py': protected by the task's own spec (lift it with --allow)",
        "'pkg/tests/test_b.py': protected by the task's own spec (lift it with --allow)",
    )
    assert judged("mytests/test_a.py", protect=("tests/test_a.py",)) == ()


@pytest.mark.parametrize(("mode", "word"), [("120000", "symbolic link"), ("160000", "submodule")])
def test_links_and_submodules_are_refused(mode: str, word: str) -> None:
    (reason,) = judged("x", mode=mode)
    assert word in reason


def test_too_much_is_refused() -> None:
    assert "bytes" in judged(patch=b"+" * 101, patch_bytes=100)[0]
    assert "files" in judged("a", "b", "c", files=2)[0]
    assert judged("a", "b", patch=b"+" * 100, patch_bytes=100, files=2) == ()


@pytest.mark.parametrize(
    "added",
    [
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 70,
        "glpat-" + "a" * 20,
        "AKIA" + "A" * 16,
        "xoxb-" + "1" * 12,
        "sk_live_" + "a" * 24,
        "sk-proj-" + "a" * 48,
        "sk-ant-api03-" + "a" * 40,
        "AIza" + "a" * 35,
        "npm_" + "a" * 36,
    ],
)
def test_what_looks_like_a_key_is_refused_where_it_is_added(added: str) -> None:
    (reason,) = judged(patch=f"+key = '{added}'\n".encode())
    assert "looks like" in reason
    assert added not in reason
    assert judged(patch=f"-key = '{added}'\n context {added}\n".encode()) == ()


@pytest.mark.parametrize("text", ["sk-learn is short", "task-runner-of-many-words", "AKIASHORT", "ghp_x"])
def test_ordinary_words_are_no_keys(text: str) -> None:
    assert judged(patch=f"+{text}\n".encode()) == ()


def test_a_secret_of_the_job_is_refused_in_any_encoding() -> None:
    (reason,) = judged(patch=f"+{SECRET.encode().hex()}\n".encode())
    assert "secret of this job" in reason
