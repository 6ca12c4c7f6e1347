"""JSON Schemas: of task and suite files, for editors, and of run.json.

Made from the models, so that no field can be forgotten; the shorthands that `load/` writes out are added
here, and what this version does not have yet is said.
"""

from __future__ import annotations

import json
from typing import Any, Final

from msgspec import Struct
from msgspec.json import schema as schema_of

from pi_batch import spec
from pi_batch.field_texts import field_texts
from pi_batch.load.decode import fields_by_key
from pi_batch.load.rules import NOT_AVAILABLE, RESERVED
from pi_batch.messages import JsonObject
from pi_batch.results import BatchResult
from pi_batch.spec import MatrixRepo, SpecModel, SuiteSpec, TaskSpec

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final = {"type": "string"}
_VALUES: Final = {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}}


def task_schema() -> JsonObject:
    """The JSON Schema of a task file, shorthands included."""
    schema = _task()
    schema["required"] = ["prompt"]
    return {"$schema": DRAFT, **schema, "title": "pi-batch task"}


def suite_schema() -> JsonObject:
    """The JSON Schema of a suite file."""
    task = _task()
    definitions = task.pop("$defs")
    properties = task["properties"]
    defaults = {name: field for name, field in properties.items() if name != "id"}
    schema = _with_texts(SuiteSpec)
    fields = schema["properties"]
    fields["tasks"]["items"] = {"anyOf": [_TEXT, {"$ref": "#/$defs/InlineTask"}]}
    fields["defaults"] = {**_described(fields["defaults"]), **task, "properties": defaults, "required": []}
    repo = _with_texts(MatrixRepo)
    fields["matrix"] = {
        **_described(fields["matrix"]),
        "type": "object",
        "properties": {
            "model": {"type": "array", "minItems": 1, "items": _TEXT},
            "repo": {"type": "array", "minItems": 1, "items": {"anyOf": [_TEXT, repo]}},
            "inputs": {"type": "object", "additionalProperties": _VALUES},
        },
        "additionalProperties": _VALUES,
    }
    schema["$defs"] = {
        **schema["$defs"],
        **repo.pop("$defs"),
        **definitions,
        "InlineTask": {**task, "required": ["id"]},
    }
    return {"$schema": DRAFT, **schema, "title": "pi-batch suite"}


def result_schema() -> JsonObject:
    """The JSON Schema of run.json."""
    return {"$schema": DRAFT, **_schema(BatchResult), "title": "pi-batch result"}


def _schema(model: type[Struct]) -> dict[str, Any]:
    """A struct's schema, those it is made of in $defs."""
    definitions = schema_of(model)["$defs"]
    return {**definitions.pop(model.__name__), "$defs": definitions}


def _described(field: JsonObject) -> dict[str, Any]:
    return {"description": field["description"]}


def _task() -> dict[str, Any]:
    """A task's schema with shorthands, nothing required."""
    schema = _with_texts(TaskSpec)
    fields, definitions = schema["properties"], schema["$defs"]
    definitions["Check"]["required"] = ["run"]
    fields["verify"] = {
        **_described(fields["verify"]),
        "anyOf": [
            _TEXT,
            {"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/Check"}]}},
        ],
    }
    fields["only_if"] = {
        **_described(fields["only_if"]),
        "anyOf": [_TEXT, {"$ref": "#/$defs/OnlyIf"}, {"type": "null"}],
    }
    fields["system"] = {**_described(fields["system"]), "anyOf": [_TEXT, {"$ref": "#/$defs/SystemSpec"}]}
    for name in RESERVED:
        _note_reserved(name.removesuffix("[]"), schema)
    schema.pop("required")
    return schema


def _with_texts(model: type[SpecModel]) -> dict[str, Any]:
    """A model's schema with the text under each of its fields, and of those it is made of."""
    schema = _schema(model)
    texts, parts = field_texts(spec), schema["$defs"]
    for name, part in {model.__name__: schema, **parts}.items():
        for key, info in fields_by_key(getattr(spec, name)).items():
            field, text = part["properties"][key], texts[name][info.name]
            if text != parts.get(field.get("$ref", "").rsplit("/", 1)[-1], {}).get("description"):
                part["properties"][key] = dict(sorted({**field, "description": text}.items()))
    return schema


def _note_reserved(name: str, schema: dict[str, Any]) -> None:
    """Say at a field that some of its values are refused."""
    *outer, last = name.split(".")
    fields = schema["properties"]
    for step in outer:
        if _is_shared(fields[step], schema):
            last = step  # what stands in the shared part holds for others that are available
            break
        fields = _fields_of(fields[step], schema)
    note = f"Some or all values are {NOT_AVAILABLE}."
    described = fields[last].get("description", "")
    if note not in described:
        fields[last]["description"] = f"{described} {note}".strip()


def _is_shared(field: JsonObject, schema: JsonObject) -> bool:
    return json.dumps(schema).count(json.dumps(field["$ref"])) > 1


def _fields_of(field: JsonObject, schema: JsonObject) -> Any:
    """The properties behind a field's reference."""
    return schema["$defs"][field["$ref"].rsplit("/", 1)[-1]]["properties"]
