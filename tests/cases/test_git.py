"""Repositories in every state: the copy works, the patch is whole, and the user's own is as it was."""

from __future__ import annotations

import pytest

from tests.cases.project import BASE, Project, Ran
from tests.cases.turns import bash, turn, write

pytestmark = pytest.mark.slow

MADE = turn(write("made.txt", "made\n"))


def run_in_copy(project: Project, *turns: object, **more: object) -> Ran:
    """Run in a clone; the user's repository, its index and its refs are as they were."""
    before = state(project)
    ran = project.run(*(turns or (MADE,)), isolation="clone", **more)  # type: ignore[arg-type]
    assert state(project) == before
    assert "Traceback" not in ran.stderr
    return ran


def state(project: Project, directory: str = ".") -> str:
    """Everything of a repository that a run could disturb."""
    command = (
        "git -c core.fsmonitor= status --porcelain=v2 --branch --ignored; git for-each-ref; "
        "git worktree list; git config --local --list; cat .git/index 2>/dev/null | cksum; "
        "find . -name '*.lock'; ls -la .git/hooks"
    )
    return project.shell(f"cd {directory}; export GIT_OPTIONAL_LOCKS=0; {command}", check=False).stdout


def applied(project: Project, ran: Ran, start: str = "HEAD") -> None:
    """Apply the patch to a commit of the user's, in a directory `applied` beside the project."""
    project.shell(f"git worktree add -q --detach ../applied {start}")
    project.shell(f"cd ../applied && git apply --index --binary {ran.run_dir / ran.result['patch']}")


def repository(path: str) -> str:
    """Commands that make a repository with one commit."""
    return f"git init -q {path}; (cd {path}; {BASE}; echo 1 > f; git add -A; git commit -qm one)"


def beside(name: str) -> str:
    """One beside the project."""
    return repository(f"../{name}")


STATES = {
    # Each is set up in a directory of its own; ../NAME is beside it and belongs to it.
    "without a commit (openai/codex#42708)": "git init -q -b trunk; echo u > user.txt",
    "at depth 1, on no branch (decocms/studio#6155)": (
        f"{beside('full')}; (cd ../full; for i in 1 2; do echo $i > f; git commit -qam c$i; done); "
        "git clone -q --depth 1 file://$PWD/../full .; git checkout -q --detach"
    ),
    "with a lock of somebody's (anthropics/claude-plugins-official#6004)": f"{BASE}; touch .git/index.lock",
    "with filters that are not there (microsoft/vscode#325591)": (
        f"{BASE}; echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; "
        "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:00\\nsize 3\\n' > x.bin; "
        "git add -A; git commit -qm lfs; git config filter.lfs.required true; "
        "git config filter.lfs.clean 'no-such-lfs clean'; git config filter.lfs.smudge 'no-such-lfs smudge'; "
        "git config filter.lfs.process 'no-such-lfs process'"
    ),
    "in the middle of a merge": (
        f"{BASE}; git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main; "
        "echo m > a.txt; git commit -qam m; git merge -q side >/dev/null || true"
    ),
    "in the middle of a rebase": (
        f"{BASE}; git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main; "
        "echo m > a.txt; git commit -qam m; git rebase -q side >/dev/null 2>&1 || true"
    ),
    "that is a linked worktree": (f"{beside('full')}; rmdir ../top; git -C ../full worktree add -q ../top"),
    "with a submodule": (
        f"{beside('sub')}; "
        f"{BASE}; git -c protocol.file.allow=always submodule --quiet add ../sub lib; git commit -qm sub"
    ),
    "that is sparse": f"{BASE}; mkdir in out; echo i > in/i; echo o > out/o; git add -A; git commit -qm d; "
    "git sparse-checkout set in",
    "of SHA-256 objects": "git init -q --object-format=sha256; " + BASE,
    "with line ends converted": (
        f"{BASE}; git config core.autocrlf true; echo '* text=auto eol=crlf' > .gitattributes; "
        "printf 'x\\r\\ny\\r\\n' > w.txt; git add -A 2>/dev/null; git commit -qm crlf"
    ),
    "with alternates": f"{beside('full')}; git clone -q --shared ../full .",
    "with hooks and a helper of its own": (
        f"{BASE}; printf '#!/bin/sh\\necho ran >> ../hooks-ran\\nexit 1\\n' > h; chmod +x h; "
        "for n in pre-commit post-checkout post-commit reference-transaction post-index-change; "
        "do cp h .git/hooks/$n; done; "
        'git config core.fsmonitor "$PWD/h"; git config core.hooksPath "$PWD/.git/hooks"; '
        "git config commit.gpgsign true; git config gpg.program false; rm -f ../hooks-ran"
    ),
    "with replaced objects": f"{BASE}; echo 2 > a.txt; git commit -qam two; git replace HEAD HEAD~1",
    "with odd names": f"{BASE}; touch -- '-n' 'a b' $'t\\tb' $'n\\nl' 'é'; git add -A; git commit -qm odd",
    "inside another repository": f"{BASE}; git -C .. init -q; echo x > ../.gitignore",
    "that holds another repository": f"{BASE}; {repository('inner')}",
}


def test_a_copy_is_made_of_a_repository_in_any_state(project: Project) -> None:
    specs = {}
    for number, setup in enumerate(STATES.values()):
        top = f"state{number}/top"
        (project.root / top).mkdir(parents=True)
        project.shell(f"cd {top}; {setup}")
        specs[f"s{number}"] = {"workspace": {"path": f"project/{top}"}, "isolation": "clone"}
    tops = [f"state{number}/top" for number in range(len(STATES))]
    before = [state(project, top) for top in tops]
    ran = project.run_all(specs, MADE)
    after = [state(project, top) for top in tops]
    found = {
        name: (result["outcome"], result["reason"], [file["path"] for file in result["changed_files"]])
        for name, result in zip(STATES, ran.results.values(), strict=True)
    }
    assert found == dict.fromkeys(STATES, ("passed", "1 of 1 check passed", ["made.txt"]))
    assert dict(zip(STATES, after, strict=True)) == dict(zip(STATES, before, strict=True))
    assert not list(project.root.rglob("made.txt"))
    assert not list(project.root.rglob("hooks-ran"))


def test_a_lock_of_somebodys_is_left_and_none_is_added(project: Project) -> None:
    project.shell(f"{BASE}; touch .git/index.lock")
    run_in_copy(project)
    assert project.shell("find . -name '*.lock'").stdout == "./.git/index.lock\n"


def test_variables_of_an_outer_git_reach_no_one(project: Project) -> None:
    """2389-research/tracker#399: started from a hook."""
    project.shell(f"{BASE}; {beside('outer')}; git -C ../outer ls-files -s > ../before")
    outer = project.base / "outer"
    ran = project.run(
        turn(bash("git rev-parse --show-toplevel; echo n > new.txt; git add -A; env | grep ^GIT_ || true")),
        isolation="clone",
        env={
            "GIT_DIR": f"{outer}/.git",
            "GIT_INDEX_FILE": f"{outer}/.git/index",
            "GIT_WORK_TREE": str(outer),
            "GIT_OBJECT_DIRECTORY": f"{outer}/.git/objects",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": f"touch {outer}/helper-ran",
            "GIT_TEMPLATE_DIR": str(outer),
            "GIT_TRACE": f"{outer}/trace",
        },
    )
    assert ran.exit_code == 0
    assert "outer" not in ran.call(0).text
    project.shell(
        "cd ../outer; git ls-files -s | cmp - ../before && git fsck --no-dangling && test ! -e helper-ran"
    )
    assert ran.changed == {"new.txt": "added"}


def test_the_patch_holds_all_that_was_made_and_nothing_ignored(project: Project) -> None:
    """rojim666/SztuCode#34, and modes, links, renames and case on top."""
    project.shell(
        f"{BASE}; echo '*.log' > .gitignore; printf 'l1\\nl2\\nl3\\nl4\\n' > moved.txt; echo m > mode.sh; "
        "ln -s a.txt link; printf 'no newline' > end.txt; git add -A; git commit -qm ig"
    )
    deeds = (
        "printf '\\000\\001bin' > b.bin; rm a.txt; : > empty.txt; chmod +x mode.sh; mv moved.txt New.txt; "
        "rm link; ln -s ../elsewhere link; mkdir -p d; printf 'x' > d/-dash; printf 'e2' > end.txt"
    )
    ran = run_in_copy(
        project,
        turn(write("src/new.py", "x = 1\n"), write("junk.log", "j\n"), bash(deeds)),
        verify=["test -x mode.sh"],
    )
    assert ran.exit_code == 0
    applied(project, ran)
    project.shell(
        "cd ../applied && test -f src/new.py -a -f empty.txt -a ! -e a.txt -a ! -e junk.log -a -x mode.sh"
        " -a -f New.txt -a ! -e moved.txt -a -f d/-dash && cmp b.bin <(printf '\\000\\001bin')"
        ' && test "$(readlink link)" = ../elsewhere && test "$(cat end.txt)" = e2'
    )
    assert ran.changed["a.txt"] == "deleted"
    assert ran.changed["New.txt"] == "renamed"


def test_file_names_are_told_as_they_are(project: Project) -> None:
    """cline/kanban#147."""
    project.shell(BASE)
    names = [
        "café ☃.txt",
        "sp ace.txt",
        "tab\tname.txt",
        'quo"te.txt',
        "new\nline.txt",
        "back\\slash.txt",
        "-dash",
    ]
    ran = run_in_copy(project, turn(*(write(name, "1\n") for name in names)))
    assert sorted(ran.changed) == sorted(names)
    applied(project, ran)
    project.shell("cd ../applied && test -f 'café ☃.txt' -a -f $'new\\nline.txt' -a -f 'back\\slash.txt'")


def test_names_that_are_no_text_do_not_end_the_run(project: Project) -> None:
    project.shell(BASE)
    ran = run_in_copy(project, turn(bash("printf x > $'caf\\xe9.txt'")))
    assert ran.exit_code == 0
    applied(project, ran)
    assert project.shell("cd ../applied && ls | wc -l").stdout.strip() == "2"


def test_what_the_user_has_not_committed_is_neither_in_the_patch_nor_changed(project: Project) -> None:
    """intent-hq/intent#939."""
    project.shell(
        f"{BASE}; echo user-edit >> a.txt; echo user-new > mine.txt; echo user-staged > st.txt; "
        "git add st.txt"
    )
    ran = run_in_copy(project, turn(bash("grep -c user- a.txt mine.txt st.txt"), write("made.txt", "made\n")))
    assert ran.exit_code == 0
    assert not ran.call(0).is_error
    assert b"made.txt" in ran.patch
    assert b"user-" not in ran.patch


def test_nothing_of_the_copys_own_settings_is_run(project: Project) -> None:
    """atlassian/atlascode#1918: own calls after the agent's run no hook, no helper, no filter, no pager."""
    project.shell(BASE)
    leak = project.base / "leak.txt"
    deeds = (
        f"printf '#!/bin/sh\\nenv > {leak}\\n' > evil.sh; chmod +x evil.sh; d=$(git rev-parse --git-dir); "
        'git config core.fsmonitor "$PWD/evil.sh"; mkdir -p "$d/hooks"; '
        "for h in post-checkout pre-commit post-index-change reference-transaction; "
        'do cp evil.sh "$d/hooks/$h"; done; '
        'git config core.hooksPath "$d/hooks"; git config filter.x.clean "$PWD/evil.sh"; '
        'git config filter.x.smudge "$PWD/evil.sh"; git config diff.external "$PWD/evil.sh"; '
        'git config core.pager "$PWD/evil.sh"; git config core.sshCommand "$PWD/evil.sh"; '
        'git config core.attributesFile "$PWD/attr"; git config alias.diff "!$PWD/evil.sh"; '
        "printf '* filter=x diff=x\\n' > .gitattributes; cp .gitattributes \"$d/info/attributes\" || true; "
        f'git config diff.x.textconv "$PWD/evil.sh"; rm -f {leak}'
    )
    ran = run_in_copy(project, turn(bash(deeds), write("z.txt", "z\n")))
    assert ran.exit_code == 0
    assert not leak.exists()


def test_a_workspace_below_the_top_of_its_repository_has_a_patch_of_its_own(project: Project) -> None:
    project.shell(f"{BASE}; mkdir -p sub/dir; echo s > sub/dir/s.txt; git add -A; git commit -qm sub")
    ran = project.run(
        turn(write("made.txt", "made\n")), workspace={"path": "project/sub", "isolation": "clone"}
    )
    assert ran.exit_code == 0
    assert [path.removeprefix("sub/") for path in ran.changed] == ["made.txt"]
    assert not (project.root / "sub/made.txt").exists()


def test_a_directory_that_is_no_repository_is_copied(project: Project) -> None:
    project.put({"a.txt": b"1\n"})
    ran = project.run(MADE, isolation="clone")
    other = project.run(MADE, isolation="copy")
    assert other.exit_code == 0
    assert other.changed == {"made.txt": "added"}
    assert ran.exit_code in (0, 3)
    assert not (project.root / "made.txt").exists()


def test_a_workspace_that_is_not_there_is_one_line(project: Project) -> None:
    ran = project.run(MADE, workspace={"path": "absent", "isolation": "clone"})
    assert ran.exit_code == 3
    assert "absent" in ran.reason
    assert "Traceback" not in ran.stderr
