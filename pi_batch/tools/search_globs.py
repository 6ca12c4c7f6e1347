"""Globs of grep and find as regular expressions: * ? [] {a,b} and ** over directories."""

from __future__ import annotations

import re


class Glob:
    """A glob over paths relative to where the search starts.

    Without a slash it is about the name alone; with one about the path, at any depth unless it begins with
    a slash. `dir/` stands for everything in such a directory.
    """

    def __init__(self, pattern: str) -> None:
        pattern = pattern.removeprefix("./")
        if pattern.endswith("/"):
            pattern += "**"
        self._is_about_name = "/" not in pattern
        if not self._is_about_name and not pattern.startswith(("/", "**/")):
            pattern = f"**/{pattern}"
        self._regex = re.compile(_translated(pattern.removeprefix("/")), re.DOTALL)

    def matches(self, relative: str) -> bool:
        """Whether the path does."""
        subject = relative.rpartition("/")[2] if self._is_about_name else relative
        return self._regex.fullmatch(subject) is not None


def _translated(pattern: str, *, has_braces: bool = True) -> str:
    """The regular expression; what is not closed stands for itself."""
    out: list[str] = []
    at, braces = 0, 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] in "/{,"):
            out.append("(?:.*/)?")
            at += 3
            continue
        if pattern.startswith("**", at):
            out.append(".*")
            at += 2
            continue
        if char == "[" and (found := _class(pattern, at)) is not None:
            text, at = found
            out.append(text)
            continue
        if char == "{" and has_braces:
            braces += 1
            out.append("(?:")
        elif char == "}" and braces:
            braces -= 1
            out.append(")")
        elif char == "," and braces:
            out.append("|")
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            out.append(re.escape(pattern[at]))
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char))
        at += 1
    if braces:  # one is not closed, so it is a character like others
        return _translated(pattern, has_braces=False)
    return "".join(out)


def _class(pattern: str, start: int) -> tuple[str, int] | None:
    """[…] as a character class and the position behind it; None where it is not closed or makes no sense."""
    end = pattern.find("]", start + 2 + (pattern[start + 1 : start + 2] in ("!", "^")))
    if end < 0:
        return None
    body = pattern[start + 1 : end]
    negation = "^/" if body[0] in "!^" else ""
    body = body[1:] if negation else body
    escaped = re.sub(r"([][\\^&~|])", r"\\\1", body).replace("--", r"\--")
    text = f"[{negation}{escaped}]"
    try:
        re.compile(text)
    except re.error:
        return None
    return text, end + 1
