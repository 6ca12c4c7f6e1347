"""What a field's type cannot say: names, globs, schemas, and what this version does not have yet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from msgspec.structs import fields

from pi_batch.hosts import AllowedHost
from pi_batch.load.decode import NodeRule, Rule
from pi_batch.load.nodes import Fields, Node, Scalar
from pi_batch.model_names import model_name, stands_alone
from pi_batch.repository_address import NAME_CHARS, address_of, ref_complaint, without_credentials
from pi_batch.spec import SpecModel, TaskSpec
from pi_batch.wording import quoted

NOT_AVAILABLE = "not available in this version"

RESERVED: Final[Mapping[str, Callable[[Any], bool]]] = {
    "mcp": bool,
    "skills": bool,
}
"""Which values ask for what a later version builds: to make one available, delete its line."""

_LATER_TOOLS = re.compile(r"mcp__.*|tool_search", re.DOTALL)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHECK_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._ -]{0,78}[A-Za-z0-9._-])?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,300}|/[^,\"\0\n]*")


def task_id(name: str) -> str | None:
    """A task's id is a directory name, a part of result keys, and a JUnit name."""
    if NAME.fullmatch(name) and "--" not in name:
        return None
    return (
        f"got {quoted(name)}, need at most 100 letters (a-z), digits, '.', '_' and single '-', "
        "a letter or digit first (without id:, the file's name counts)"
    )


def image_name(name: str) -> str | None:
    """An image as engines name it, or the path of a directory tree."""
    if _IMAGE.fullmatch(name):
        return None
    return f"got {quoted(name)}, need an image such as 'python:3.12-slim', or an absolute path"


def _check_name(name: str) -> str | None:
    if _CHECK_NAME.fullmatch(name):
        return None
    return f"got {quoted(name)}, need at most 80 letters (a-z), digits, spaces, '.', '_' and '-'"


def path_glob(pattern: str) -> str | None:
    """A glob in the manner of .gitignore that matches something, or takes an exception out with a !."""
    import pathspec  # 30 ms of CPU

    reason = ""
    if not pattern.removeprefix("!").strip() or pattern.startswith("#"):
        reason = "a glob"
    elif re.search(r"(?<!\\)\[(?!\^?\]?[^\]]+\])", pattern):
        reason = "a glob with every '[' closed"
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                pathspec.GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error, Warning):
            reason = "a glob"
    return f"got {quoted(pattern)}, need {reason}" if reason else None


def _allowed_glob(pattern: str) -> str | None:
    if pattern.startswith("!"):
        return f"got {quoted(pattern)}, need a glob without '!': exceptions go to deny"
    return path_glob(pattern)


def not_blank(text: str) -> str | None:
    """Something that is there."""
    return None if text.strip() else f"got {quoted(text)}, need text that is not blank"


def _variable(name: str) -> str | None:
    return None if _VARIABLE.fullmatch(name) else f"got {quoted(name)}, need the name of a variable"


def _hosts(network: bool | tuple[str, ...]) -> str | None:
    """Hosts as a proxy can tell them apart."""
    for entry in network if isinstance(network, tuple) else ():
        try:
            AllowedHost.parse(entry)
        except ValueError:
            return f"got {quoted(entry)}, need a host such as 'pypi.org', '*.example.org' or 'localhost:8080'"
    return None


def relative_path(path: str) -> str | None:
    """A path that leads nowhere else."""
    steps = path.split("/")
    if path.strip() and not path.startswith("/") and ".." not in steps and "\0" not in path:
        return None
    return f"got {quoted(path)}, need a path within the workspace"


def repository(address: str | None) -> str | None:
    """An address that git may be given; what is shown of it holds no credentials."""
    if address is not None:
        try:
            address_of(address)
        except ValueError as error:
            return f"got {quoted(without_credentials(address))}, {error}"
    return None


def repository_ref(ref: str | None) -> str | None:
    """A branch, a tag or a commit by its name alone."""
    complaint = None if ref is None else ref_complaint(ref)
    return f"got {quoted(without_credentials(ref or ''))}, {complaint}" if complaint else None


def repository_name(name: str | None) -> str | None:
    """As an id: a part of keys and branches."""
    if name is None or (NAME.fullmatch(name) and "--" not in name and len(name) <= NAME_CHARS):
        return None
    return f"got {quoted(name)}, need at most {NAME_CHARS} letters (a-z), digits, '.', '_' and single '-'"


def _workspace_path(path: str) -> str | None:
    """A path; a URL is a mistake that would else read as a directory that is not there."""
    if "://" in path:
        return f"got {quoted(without_credentials(path))}, need a path: a URL is `repo:`"
    return not_blank(path)


def _hidden_name(path: str) -> str | None:
    """Something that has a name of its own to be laid down under."""
    last = path.rstrip("/").rpartition("/")[2]
    if "\0" not in path and path.strip() and last not in ("", ".", "..", ".git"):
        return None
    return f"got {quoted(path)}, need a file or directory with a name of its own"


def json_schema(schema: Mapping[str, Any] | None) -> str | None:
    """A JSON Schema that is valid by its own draft, its references within itself."""
    if schema is None:
        return None
    import jsonschema  # 90 ms of CPU

    drafts = jsonschema.validators
    draft = schema.get("$schema")
    if draft is not None and not (
        isinstance(draft, str) and drafts.validator_for(schema, default=cast("Any", None))
    ):
        return f"$schema: got {quoted(str(draft))}, need a JSON Schema draft such as 2020-12"
    validator = drafts.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        validator.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        at = "".join(f".{step}" for step in error.absolute_path)
        return f"not a JSON Schema{f' at {at[1:]}' if at else ''}: {quoted(error.message)[1:-1]}"
    return _dangling_reference(schema)


def _dangling_reference(schema: Mapping[str, Any]) -> str | None:
    """The first reference that leads nowhere within the schema."""
    from referencing import Registry, Resource
    from referencing.exceptions import NoSuchResource, Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = Registry().with_resource("", resource).resolver_with_root(resource)
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except (Unresolvable, NoSuchResource, ValueError, LookupError, TypeError):
            return f"$ref: got {quoted(reference)}, need something within the schema"
    return None


def _references(schema: Any) -> list[str]:
    found = []
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Mapping):
            reference = current.get("$ref")
            found += [reference] if isinstance(reference, str) else []
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
    return found


def _fallback(name: str) -> str | None:
    if stands_alone(name):
        return f"got {quoted(name)}: a recording and a built-in model stand alone, never for another"
    return model_name(name)


def _reserved(is_used: Callable[[Any], bool]) -> Rule:
    return lambda value: NOT_AVAILABLE if is_used(value) else None


RULES: Final[Mapping[str, Rule]] = {
    "hidden[]": _hidden_name,
    "id": task_id,
    "fallback[]": _fallback,
    "follow_ups[]": not_blank,
    "model": lambda model: model_name(model) if model is not None else None,
    "output.files[]": relative_path,
    "output.schema": json_schema,
    "only_if.changed[]": path_glob,
    "only_if.since": repository_ref,
    "permissions.bash.allow[]": not_blank,
    "permissions.bash.deny[]": not_blank,
    "permissions.env[]": _variable,
    "permissions.network": _hosts,
    "permissions.read.allow[]": _allowed_glob,
    "permissions.read.deny[]": path_glob,
    "permissions.write.allow[]": _allowed_glob,
    "permissions.write.deny[]": path_glob,
    "protect[]": path_glob,
    "sandbox_image": lambda image: image_name(image) if image is not None else None,
    "solution": lambda path: not_blank(path) if path is not None else None,
    "tags[]": not_blank,
    "verify[].name": _check_name,
    "workspace.path": _workspace_path,
    "workspace.ref": repository_ref,
    "workspace.repo": repository,
    "workspace.setup[]": not_blank,
    **{key: _reserved(is_used) for key, is_used in RESERVED.items()},
}


def _refuse_ask(node: Node) -> str | None:
    """Nobody is there to be asked."""
    if isinstance(node, Scalar) and node.text == "ask":
        return "got 'ask', need allow and deny lists: nobody is there to answer"
    return None


def _refuse_ask_within(node: Node) -> str | None:
    values = [entry.node for entry in node.entries] if isinstance(node, Fields) else [node]
    return next((complaint for value in values if (complaint := _refuse_ask(value))), None)


def _refuse_later_tool(node: Node) -> str | None:
    is_later = isinstance(node, Scalar) and _LATER_TOOLS.fullmatch(node.text)
    return NOT_AVAILABLE if is_later else None


NODE_RULES: Final[Mapping[str, NodeRule]] = {
    "permissions": _refuse_ask,
    "permissions.bash": _refuse_ask_within,
    "permissions.network": _refuse_ask,
    "permissions.read": _refuse_ask_within,
    "permissions.write": _refuse_ask_within,
    "tools[]": _refuse_later_tool,
}


def _places(model: type[SpecModel], path: str = "") -> dict[str, str]:
    """Every nested key of a model: name -> the way to it."""
    found: dict[str, str] = {}
    for info in fields(model):
        below = f"{path}.{info.encode_name}" if path else info.encode_name
        if isinstance(info.type, type) and issubclass(info.type, SpecModel):
            found |= {key: where for key, where in _places(info.type, below).items() if key not in found}
        elif path:
            found.setdefault(info.encode_name, below)
    return found


HINTS: Final[Mapping[str, str]] = {
    "cmd": "did you mean 'run'?",
    "description": "did you mean 'title'?",
    "edit": "did you mean 'write'? It covers edit",
    "max_cost_usd": "did you mean 'budget.cost_usd'?",
    "max_tokens": "did you mean 'budget.tokens'?",
    "max_turns": "did you mean 'budget.turns'?",
    "name": "did you mean 'id'?",
    "timeout": "did you mean 'timeout_s'?",
    **{key: f"did you mean {place!r}?" for key, place in _places(TaskSpec).items()},
    **dict.fromkeys(TaskSpec.__struct_encode_fields__, "it belongs to the task itself"),
    **dict.fromkeys(
        ("defaults", "matrix", "repeat", "max_parallel"), "it belongs to a suite: a file with tasks:"
    ),
}
"""What to say of keys that are at home elsewhere or under another name."""
