"""What Gemini's generateContent refuses.

Source: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thought-signatures
and the errors that it answers with. A signature is made of what its part holds, so that one that was moved or
whose part was changed is found out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.servers.refusal import Refusal, check_image, need, only

FIELDS = """contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent
serviceTier store"""
PART_KINDS = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode")
GENERATION_FIELDS = """stopSequences responseMimeType responseSchema responseJsonSchema candidateCount
maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs
thinkingConfig mediaResolution"""
SCHEMA_WORDS = """type format title description nullable enum items maxItems minItems properties
required propertyOrdering minProperties maxProperties minLength maxLength pattern example anyOf default
minimum maximum"""
TYPES = ("string", "number", "integer", "boolean", "array", "object")
LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,62}\Z")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}\Z")
IMAGES = ("image/png", "image/jpeg", "image/webp")
UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What a call of another model's history may carry in place of a signature."""


def signature_of(part: Mapping[str, Any]) -> str:
    """The signature that this server gives a part: for what it says or calls, whatever the call's id."""
    call = {key: value for key, value in part.get("functionCall", {}).items() if key != "id"}
    held = {"text": part.get("text"), "functionCall": call}
    return base64.b64encode(hashlib.sha256(json.dumps(held, sort_keys=True).encode()).digest()).decode()


def generation(model: str) -> int:
    """3 for gemini-3.1-pro; what is not known counts as the newest."""
    match = re.match(r"gemini-(\d+)", model)
    return int(match[1]) if match else 3


def check_gemini(body: Mapping[str, Any], model: str) -> None:
    """Refuse a request that the service would. Raises: Refusal."""
    only(dict(body), FIELDS, "body", _unknown)
    contents = body.get("contents")
    need(
        isinstance(contents, list) and contents,
        "contents is not specified",
    )
    assert isinstance(contents, list)
    if "systemInstruction" in body:
        system = only(body["systemInstruction"], "role parts", "system_instruction", _unknown)
        for part in system.get("parts", ()):
            need(str(part.get("text", "")).strip(), "system_instruction: must have one text part")
    _check_tools(body)
    _check_generation(
        only(body.get("generationConfig", {}), GENERATION_FIELDS, "generation_config", _unknown), model
    )
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        only(content, "role parts", where, _unknown)
        need(content.get("role") in ("user", "model"), "Please use a valid role: user, model.")
        need(content.get("parts"), f"{where}.parts: contents.parts must not be empty.")
        for place, part in enumerate(content["parts"]):
            _check_part(part, content["role"], f"{where}.parts[{place}]", model)
    need(contents[0]["role"] == "user", "the first turn must be of the user")
    steps = _steps(contents)
    _check_turns(steps)
    if generation(model) >= 3:
        _check_signatures(steps)


def _unknown(path: str) -> Refusal:
    name = path.rpartition(".")[2]
    return Refusal(f"Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field.")


def _check_generation(config: Mapping[str, Any], model: str) -> None:
    cap = config.get("maxOutputTokens", 1)
    need(type(cap) is int and 1 <= cap <= 65_536, f"max_output_tokens must be in the range [1, 65537): {cap}")
    thinking = config.get("thinkingConfig")
    if thinking is None:
        return
    only(thinking, "includeThoughts thinkingBudget thinkingLevel", "thinking_config", _unknown)
    budget, level = thinking.get("thinkingBudget"), thinking.get("thinkingLevel")
    need(budget is None or level is None, "You can only set only one of thinking budget and thinking level.")
    if level is not None:
        need(level in LEVELS, f"Invalid value at 'thinking_level': {level!r}")
        need(generation(model) >= 3, "Thinking level is not supported for this model.")
    if budget is not None:
        need(generation(model) < 4, "Thinking budget is not supported for this model.")
        least = 128 if "2.5-pro" in model else 0
        need(least <= budget <= 32_768, f"Budget {budget} is invalid: this model only thinks.")


def _check_tools(body: Mapping[str, Any]) -> None:
    if "tools" not in body:
        need("toolConfig" not in body, "Function calling config is set without function_declarations.")
        return
    names: list[str] = []
    need(isinstance(body["tools"], list) and body["tools"], "tools: must not be empty")
    for tool in body["tools"]:
        only(tool, "functionDeclarations", "tools[0]", _unknown)
        need(
            tool["functionDeclarations"],
            "tools[0].tool_type: must be initialized",
        )
        for index, declared in enumerate(tool["functionDeclarations"]):
            where = f"function_declarations[{index}]"
            only(declared, "name description parameters parametersJsonSchema", where, _unknown)
            need(NAME.match(str(declared.get("name"))), f"{where}.name: Invalid function name.")
            both = {"parameters", "parametersJsonSchema"} <= declared.keys()
            need(not both, f"{where}: parameters and parameters_json_schema are mutually exclusive")
            if "parameters" in declared:
                _check_schema(declared["parameters"], f"{where}.parameters")
            need('"const"' not in json.dumps(declared), f"{where}: const is not looked at")
            names.append(declared["name"])
    need(len({*names}) == len(names), f"Duplicate function declaration found: {names}")


def _check_schema(node: Any, where: str) -> None:
    """The OpenAPI subset."""
    only(node, SCHEMA_WORDS, where, _unknown)
    kind = node.get("type")
    need("anyOf" in node or kind in TYPES, f"Invalid value at '{where}.type': {kind!r}")
    values = node.get("enum", [])
    need(not values or kind == "string", f"{where}.enum: only allowed for STRING type")
    need(all(isinstance(value, str) and value for value in values), f"{where}.enum[0]: cannot be empty")
    if kind == "string":
        need(
            node.get("format") in (None, "enum", "date-time"), f"{where}.format: only 'enum' and 'date-time'"
        )
    if kind == "array":
        need("items" in node, f"{where}.items: missing field.")
        _check_schema(node["items"], f"{where}.items")
    if kind == "object":
        need(node.get("properties"), f"{where}.properties: should be non-empty for OBJECT type")
    for name, value in node.get("properties", {}).items():
        _check_schema(value, f"{where}.properties[{name}]")
    for name in node.get("required", ()):
        need(name in node.get("properties", {}), f"{where}.required[0]: property is not defined")
    for option in node.get("anyOf", ()):
        _check_schema(option, f"{where}.any_of[0]")


def _check_part(part: Any, role: str, where: str, model: str) -> None:
    only(part, f"{' '.join(PART_KINDS)} thought thoughtSignature", where, _unknown)
    kinds = [kind for kind in PART_KINDS if kind in part]
    need(len(kinds) == 1, f"{where}.data: required oneof field 'data' must have one initialized field")
    signature = part.get("thoughtSignature")
    match kinds[0]:
        case "text":
            need(part["text"] or signature, f"{where}.text: must not be empty")
        case "inlineData":
            need(role == "user", f"{where}: inline data is the user's")
            _check_blob(part["inlineData"], where)
        case "functionCall":
            need(role == "model", "function call must be in a turn of the model")
            call = only(part["functionCall"], "id name args", where, _unknown)
            need(NAME.match(str(call.get("name"))), f"{where}.function_call.name: Name cannot be empty.")
            need(isinstance(call.get("args", {}), dict), f"{where}.function_call.args: need an object")
            need("id" not in call or generation(model) >= 3, f'{where}: Unknown name "id"')
        case "functionResponse":
            need(role == "user", "function response must be in a turn of the user")
            _check_response(part["functionResponse"], where, model)
    if signature is not None:
        need(BASE64.match(signature), "Invalid value at 'thought_signature' (TYPE_BYTES)")
        need("inlineData" not in part and role == "model", f"{where}: a signature where none was given")
        is_dummy = signature == UNSIGNED and "functionCall" in part
        standard = signature.replace("-", "+").replace("_", "/")  # both alphabets are base64 here
        need(is_dummy or standard == signature_of(part), "Thought signature is not valid.")


def _check_response(response: Any, where: str, model: str) -> None:
    only(response, "id name response parts", where, _unknown)
    need(isinstance(response.get("response"), dict), f"Invalid value at '{where}.function_response.response'")
    need("parts" not in response or generation(model) >= 3, f'{where}: Unknown name "parts"')
    for part in response.get("parts", ()):
        only(part, "inlineData", where, _unknown)
        _check_blob(part["inlineData"], where)


def _check_blob(blob: Any, where: str) -> None:
    only(blob, "mimeType data", where, _unknown)
    need(blob.get("mimeType") in IMAGES, f"Unsupported MIME type: {blob.get('mimeType')}")
    check_image(blob["mimeType"], blob.get("data", ""), where)


def _steps(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The contents, with those of the model in a row as one: Google's own client sends one for each chunk."""
    steps: list[dict[str, Any]] = []
    for content in contents:
        if steps and content["role"] == steps[-1]["role"] == "model":
            steps[-1] = {"role": "model", "parts": [*steps[-1]["parts"], *content["parts"]]}
        else:
            steps.append(content)
    return steps


def _check_turns(contents: list[dict[str, Any]]) -> None:
    """A turn with N calls is followed by one turn with exactly N responses, for the same calls in order."""
    waiting: list[Mapping[str, Any]] = []
    for content in contents:
        responses = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        uneven = "The number of function response parts is not equal to the number of function call parts."
        need(len(responses) == len(waiting), uneven)
        need(not responses or len(responses) == len(content["parts"]), "responses have a turn of their own")
        for call, response in zip(waiting, responses, strict=True):
            need(response.get("name") == call["name"], "function response name does not match the call's")
            need(response.get("id") == call.get("id"), "function response id does not match the call's")
        waiting = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        ids = [call["id"] for call in waiting if "id" in call]
        need(len({*ids}) == len(ids), "function call ids must be unique")
    need(not waiting, "function call turn without its responses")


def _check_signatures(contents: list[dict[str, Any]]) -> None:
    """In the current turn, the first call of each step carries a signature."""
    said = [
        index
        for index, content in enumerate(contents)
        if content["role"] == "user" and any("functionResponse" not in part for part in content["parts"])
    ]
    for content in contents[said[-1] :] if said else contents:
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        lack = "Function call is missing a thought_signature in functionCall parts."
        need(first is None or first.get("thoughtSignature"), lack)
