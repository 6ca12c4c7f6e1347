"""Which files count: of a user's checkout at the start, of the agent's directory later.

git's own rules decide (`git ls-files`), with two differences. What tools leave behind and make anew
(`names.BY_PRODUCTS`) never counts as a new file, and no `.gitignore` can lift that. A repository inside the
agent's directory is opened up: to git it is one opaque entry, and work done in it would be lost.

Names are bytes, relative to the top, NUL-separated on the way: any byte but `/` and NUL occurs in names.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, field

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.workspaces.layout import repository_of
from pi_batch.workspaces.names import BY_PRODUCTS, is_by_product, without_environments
from pi_batch.workspaces.reading import SUBMODULE, Entry


class Listing(Struct, frozen=True):
    """The files that belong to a start."""

    names: list[bytes] = field(default_factory=list)
    stored: dict[bytes, Entry] = field(default_factory=dict)
    """What the index says; these objects are in the repository's store."""
    left_out: list[bytes] = field(default_factory=list)
    """Repositories that no commit mentions."""
    submodules: list[bytes] = field(default_factory=list)
    not_on_disk: list[bytes] = field(default_factory=list)
    """Files of a sparse checkout that are not there."""


class IgnoreRules(Struct, frozen=True):
    """What is never a new file, beside the ignore files that git finds by itself."""

    directories: tuple[bytes, ...] = ()
    """Paths from the top: a run's temporary directory inside the checkout."""
    user_home: Path | None = None
    """Where the user's own ignore file and git config are; None: not looked at."""

    def arguments(self) -> list[str]:
        """For `git ls-files`. Patterns given so outrank every ignore file; those of a file would not."""
        patterns = [*BY_PRODUCTS, *(f"/{_escaped(path)}/" for path in self.directories)]
        return ["--exclude-standard", *(f"--exclude={pattern}" for pattern in patterns)]


def _escaped(path: bytes) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\!# " else letter for letter in os.fsdecode(path))


async def list_checkout(git: Git, top: Path, rules: IgnoreRules) -> Listing:
    """List a user's checkout: what its index names, and new files that are not ignored.

    A submodule that is checked out is opened up; other repositories inside are left out, as git does.
    """
    listing = Listing()
    place = Place(repository_of(top), top)
    index = await git.run(place, "ls-files", "-z", "--stage", "-t")
    for record in _records(index.stdout):
        fields, _, path = record.partition(b"\t")
        tag, mode, oid, stage = fields.decode("ascii").split(" ")
        if mode == SUBMODULE:
            await _list_submodule(git, top, path, rules, listing)
        elif tag == "S" and not os.path.lexists(os.path.join(os.fsencode(top), path)):  # noqa: PTH118 bytes
            listing.not_on_disk.append(path)
        else:
            listing.names.append(path)
            if stage == "0":
                listing.stored[path] = Entry(mode, oid)
    others = await git.run(place, "ls-files", "-z", "--others", *rules.arguments(), user_home=rules.user_home)
    for path in without_environments(_records(others.stdout)):
        (listing.left_out if path.endswith(b"/") else listing.names).append(path)
    return listing


async def _list_submodule(git: Git, top: Path, path: bytes, rules: IgnoreRules, listing: Listing) -> None:
    directory = top / os.fsdecode(path)
    if directory.is_symlink() or not os.path.lexists(directory / ".git"):
        listing.names.append(path)  # a file or link in its place; an empty directory is none
        return
    try:
        inner = await list_checkout(git, directory, IgnoreRules(user_home=rules.user_home))
    except WorkspaceError:  # its repository is gone, or somebody else's doing
        listing.left_out.append(path + b"/")
        return
    listing.submodules.append(path)
    prefix = path + b"/"
    listing.names.extend(prefix + name for name in inner.names)
    listing.left_out.extend(prefix + name for name in inner.left_out)


class Others(Struct, frozen=True):
    """Files that are in no commit of ours."""

    names: tuple[bytes, ...]
    complaints: tuple[str, ...] = ()
    """What git said of directories that it could not read."""


async def list_others(git: Git, place: Place, rules: IgnoreRules) -> Others:
    """List the files of a work tree that its index does not name, repositories inside included.

    `place` is a repository of ours with the agent's directory as its work tree: the agent's own `.git`,
    whatever became of it, is not looked at.
    """
    output = await git.run(place, "ls-files", "-z", "--others", *rules.arguments(), user_home=rules.user_home)
    complaints = [line for line in output.stderr.decode("utf-8", "backslashreplace").split("\n") if line]
    names: list[bytes] = []
    nested: list[bytes] = []
    for path in _records(output.stdout):
        (nested if path.endswith(b"/") else names).append(path)
    for path in nested:
        inside = await _list_nested(git, place, path)
        names.extend(inside.names)
        complaints.extend(inside.complaints)
    return Others(tuple(without_environments(names)), tuple(complaints))


async def _list_nested(git: Git, place: Place, path: bytes) -> Others:
    top = place.work_tree or place.git_dir
    inside = Place(place.git_dir, top / os.fsdecode(path), place.git_dir / "no-index")
    found = await list_others(git, inside, IgnoreRules())
    names = [path + name for name in found.names]
    if not names:
        return found
    # The rules of the directories above. "./" keeps a name that starts with ":" from being read as magic.
    stdin = b"".join(b"./" + name + b"\0" for name in names)
    ignored = await git.run(
        place, "check-ignore", "-z", "--stdin", "--no-index", stdin=stdin, accepted=(0, 1)
    )
    dropped = frozenset(path.removeprefix(b"./") for path in _records(ignored.stdout))
    return Others(tuple(name for name in names if name not in dropped), found.complaints)


async def list_ignored(git: Git, place: Place, rules: IgnoreRules) -> tuple[bytes, ...]:
    """List the files that git ignores now; by-products of tools, always ignored, are left out.

    File by file: with `--directory` git would name a whole directory in which all that is there so far
    is ignored.
    """
    arguments = ("ls-files", "-z", "--others", "--ignored", *rules.arguments())
    output = await git.run(place, *arguments, user_home=rules.user_home)
    return tuple(path for path in _records(output.stdout) if not is_by_product(path))


def _records(output: bytes) -> list[bytes]:
    return [record for record in output.split(b"\0") if record]
