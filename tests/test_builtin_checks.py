"""The commands of the built-in specs, run in real repositories: what they find, and what they let pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.builtins import builtin, commit, git, put, repository, shell

Ran = subprocess.CompletedProcess[str]
pytestmark = pytest.mark.slow


class Project:
    """A repository, and the commands of one spec in it."""

    def __init__(self, scratch: Path, name: str, files: dict[str, str]) -> None:
        self.scratch = scratch
        self.name = name
        self.path = repository(scratch / "a project", files)

    def precheck(self, **inputs: str) -> Ran:
        """Exits with what the precheck exits with."""
        spec = builtin(self.name, self.path, **inputs)
        assert spec.precheck is not None
        return shell(spec.precheck.run, self.path, self.scratch)

    def setup(self, below: str = "", **inputs: str) -> Ran:
        """All of setup, in the directory or one below it."""
        spec = builtin(self.name, self.path, **inputs)
        return shell("\n".join(spec.workspace.setup), self.path / below, self.scratch)

    def check(self, check_name: str, below: str = "", **inputs: str) -> Ran:
        """One check of verify."""
        spec = builtin(self.name, self.path, **inputs)
        (command,) = [check.run for check in spec.verify if check.name == check_name]
        return shell(command, self.path / below, self.scratch)

    def read(self, name: str) -> str:
        """A file."""
        return (self.path / name).read_text(encoding="utf-8")


# --- fix-lint -------------------------------------------------------------------------------------


@pytest.fixture
def lint(tmp_path: Path) -> Project:
    return Project(tmp_path, "fix-lint", {"a.py": "import os\nx = 1  # noqa: E741\n", "b.ts": "let x\n"})


def test_code_that_is_mended_silences_nothing(lint: Project) -> None:
    put(lint.path, {"a.py": "x = 1  # noqa: E741\n", "b.ts": "const y = 1\n"})
    assert lint.check("no new suppressions").returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # NOQA",
        "x = 1  # type: ignore[assignment]",
        "x = 1  # pylint:disable=all",
        "x = 1  # fmt: off",
        "// eslint-disable-next-line",
        "// @ts-ignore",
        "//nolint:errcheck",
        "# rubocop:disable all",
        "# shellcheck disable=SC2086",
        "#[allow(dead_code)]",
    ],
)
def test_a_comment_that_silences_the_linter_is_named(lint: Project, line: str) -> None:
    put(lint.path, {"b.ts": f"let x\n{line}\n"})
    ran = lint.check("no new suppressions")
    assert ran.returncode == 1
    assert ran.stdout.endswith(f"\n+{line}\n")


def test_a_comment_may_move_or_change_with_its_line(lint: Project) -> None:
    put(lint.path, {"a.py": "y = 2\nx = 3  # noqa: E741\n"})
    assert lint.check("no new suppressions").returncode == 0


def test_names_of_files_silence_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, "fix-lint", {"noqa.py": "x = 1\n"})
    put(project.path, {"noqa.py": "x = 2\n"})
    assert project.check("no new suppressions").returncode == 0


def test_what_setup_makes_is_not_the_agents_doing(lint: Project) -> None:
    put(lint.path, {"env/lib/site.py": "import a  # noqa\n"})
    assert lint.check("no new suppressions").returncode == 0


def test_who_allows_suppressions_gets_them(lint: Project) -> None:
    put(lint.path, {"a.py": "import os  # noqa\nx = 1  # noqa\n"})
    assert lint.check("no new suppressions").returncode == 1
    assert lint.check("no new suppressions", allow_suppressions="true").returncode == 0


# --- update-dependencies --------------------------------------------------------------------------


@pytest.fixture
def updates(tmp_path: Path) -> Project:
    files = {"requirements-dev.txt": "a==1\n", "web/package.json": "{}\n", "app/main.py": "import a\n"}
    return Project(tmp_path, "update-dependencies", files)


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("true", 0),
        ("true # nothing", 0),
        ("echo 'a 1 -> 2'", 1),
        ("echo 'a 1 -> 2'; exit 1", 1),
        ("false", 1),
        ("no-such-program", 127),
        ("cd web && true", 0),
    ],
)
def test_nothing_is_to_be_updated_when_the_command_succeeds_in_silence(
    updates: Project, command: str, exit_code: int
) -> None:
    assert updates.precheck(outdated_command=command).returncode == exit_code


def test_an_update_shows_in_a_manifest_or_lock_file_of_any_directory(updates: Project) -> None:
    assert updates.check("updated").returncode == 1
    put(updates.path, {"app/main.py": "import a as b\n", "package-lock.json": "new\n"})
    ran = updates.check("updated")
    assert (ran.returncode, ran.stdout) == (
        1,
        "No manifest or lock file differs from the start: nothing was updated.\n",
    )
    put(updates.path, {"web/package.json": '{"a": "2"}\n'})
    assert updates.check("updated").stdout == "web/package.json\n"
    put(updates.path, {"requirements-dev.txt": "a==2\n"})
    assert updates.check("updated").returncode == 0


def test_only_the_directory_itself_counts_where_it_is_not_the_top(updates: Project) -> None:
    put(updates.path, {"requirements-dev.txt": "a==2\n"})
    assert updates.check("updated", "web").returncode == 1
    put(updates.path, {"web/package.json": '{"a": "2"}\n'})
    assert updates.check("updated", "web").returncode == 0


# --- sync-docs ------------------------------------------------------------------------------------

LONG = "".join(f"line {number}\n" for number in range(60))


@pytest.fixture
def docs(tmp_path: Path) -> Project:
    return Project(tmp_path, "sync-docs", {"README.md": LONG, "docs/short.md": "one\n"})


def test_text_that_is_corrected_is_kept(docs: Project) -> None:
    put(docs.path, {"README.md": LONG.replace("line", "row")})
    assert docs.check("text is kept").returncode == 0


def test_text_that_is_deleted_is_not(docs: Project) -> None:
    put(docs.path, {"README.md": "all is well\n"})
    ran = docs.check("text is kept")
    assert ran.returncode == 1
    assert ran.stdout == "README.md: 60 lines removed, 1 added. Correct the text, do not delete it.\n"
    assert docs.check("text is kept", may_shrink="true").returncode == 0


def test_a_file_that_is_gone_is_not_kept(docs: Project) -> None:
    (docs.path / "README.md").unlink()
    assert docs.check("text is kept").returncode == 1


def test_a_few_lines_may_go(docs: Project) -> None:
    put(docs.path, {"README.md": LONG[: LONG.index("line 52")]})
    (docs.path / "docs/short.md").unlink()
    assert docs.check("text is kept").returncode == 0


# --- review-diff ----------------------------------------------------------------------------------


@pytest.fixture
def review(tmp_path: Path) -> Project:
    return Project(tmp_path, "review-diff", {"a.py": "x = 1\n", "sub/b.py": "y = 1\n"})


def change(project: Project) -> None:
    git(project.path, "checkout", "-q", "-b", "change")
    put(project.path, {"a.py": "x = 2\n", "sub/b.py": "y = 2\n"})
    commit(project.path, "Double it\n\nBecause of b.")


def test_the_diff_comes_with_its_commits_and_a_summary(review: Project) -> None:
    change(review)
    assert review.setup().returncode == 0
    text = review.read(".pi-batch/review.diff")
    assert text.startswith("commit ")
    assert " Double it\n    Because of b.\n" in text
    assert " 2 files changed" in text
    assert "\n-x = 1\n+x = 2\n" in text
    assert review.precheck().returncode == 0


def test_neither_git_nor_a_search_sees_the_file(review: Project) -> None:
    change(review)
    review.setup()
    assert git(review.path, "status", "--porcelain") == ""


def test_in_a_directory_of_the_repository_the_diff_is_about_that(review: Project) -> None:
    change(review)
    assert review.setup("sub").returncode == 0
    text = review.read("sub/.pi-batch/review.diff")
    assert "+++ b/b.py\n" in text
    assert "a.py" not in text


def test_what_came_to_the_base_since_is_no_part_of_the_diff(review: Project) -> None:
    change(review)
    git(review.path, "checkout", "-q", "main")
    put(review.path, {"later.py": "z = 1\n"})
    commit(review.path, "later")
    git(review.path, "checkout", "-q", "change")
    review.setup()
    assert "later" not in review.read(".pi-batch/review.diff")


def test_a_base_may_be_at_origin_only(review: Project) -> None:
    git(review.path, "update-ref", "refs/remotes/origin/release", "HEAD")
    change(review)
    assert review.setup(base="release").returncode == 0
    assert "+x = 2" in review.read(".pi-batch/review.diff")


@pytest.mark.parametrize("base", ["no-such", "-x", "", "$(touch ran)", "a b"])
def test_a_base_that_is_not_there_is_named(review: Project, base: str) -> None:
    ran = review.setup(base=base)
    assert ran.returncode == 1
    assert ran.stdout == f"base: no branch, tag or commit {base} in this repository, nor at origin\n"
    assert not (review.path / "ran").exists()


def test_a_base_without_a_common_commit_is_an_error_that_says_so(review: Project) -> None:
    git(review.path, "checkout", "-q", "--orphan", "other")
    commit(review.path, "another beginning")
    ran = review.setup()
    assert ran.returncode == 1
    assert "no commit in common" in ran.stdout


def test_without_a_change_there_is_nothing_to_review(review: Project) -> None:
    git(review.path, "checkout", "-q", "-b", "change")
    commit(review.path, "empty")
    assert review.setup().returncode == 0
    assert review.precheck().returncode == 1


# --- triage-todos ---------------------------------------------------------------------------------


@pytest.fixture
def todos(tmp_path: Path) -> Project:
    files = {
        "a.py": "x = 1  # TODO: y\nTODOS = []\n",
        "lib/b.c": "/* FIXME z */\n",
        "bin": "\0TODO\n",
        "c d.py": "# XXX " + "w" * 500 + "\n",
    }
    return Project(tmp_path, "triage-todos", files)


def test_open_comments_are_listed_with_their_places(todos: Project) -> None:
    assert todos.setup().returncode == 0
    lines = todos.read(".pi-batch/todos.txt").split("\n")
    assert lines[0] == "a.py:1:x = 1  # TODO: y"
    assert lines[1].startswith("c d.py:1:# XXX www")
    assert len(lines[1]) == 400
    assert lines[2:] == ["lib/b.c:1:/* FIXME z */", ""]
    assert todos.precheck().returncode == 0


def test_words_and_directory_may_be_others(todos: Project) -> None:
    assert todos.setup(words="x|y", paths="a.py").returncode == 0
    assert todos.read(".pi-batch/todos.txt") == "a.py:1:x = 1  # TODO: y\n"


def test_there_are_no_more_than_asked_for(todos: Project) -> None:
    assert todos.setup(most="1").returncode == 0
    assert todos.read(".pi-batch/todos.txt") == "a.py:1:x = 1  # TODO: y\n"


def test_in_a_directory_of_the_repository_only_its_own_are_listed(todos: Project) -> None:
    assert todos.setup("lib").returncode == 0
    assert todos.read("lib/.pi-batch/todos.txt") == "b.c:1:/* FIXME z */\n"


def test_without_comments_there_is_nothing_to_triage(todos: Project) -> None:
    assert todos.setup(words="NOTHING").returncode == 0
    assert todos.precheck().returncode == 1


def test_an_expression_that_is_none_is_an_error_and_no_empty_list(todos: Project) -> None:
    ran = todos.setup(words="TODO(")
    assert ran.returncode == 1
    assert "fatal" in ran.stderr
