"""From text to a `Scenario`: JSON with its duplicate keys, then the schema, every fault with its place.

Raises `ScenarioError` with codes `bad_json`, `body_too_large`, `duplicate_key`, `unknown_key` and `schema`.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.errors import Fault, ScenarioError, pointer, remove
from app.scenario.limits import limit_faults
from app.scenario.model import Scenario

MAX_BODY_BYTES = 1_048_576
MAX_DEPTH = 64


class _ObjectWithDuplicates(dict[str, Any]):
    duplicates: tuple[str, ...] = ()


def parse_json(body: bytes) -> Any:
    """Read a JSON document.

    Raises:
        ScenarioError: `body_too_large` (413), `bad_json` (400), `duplicate_key` (422).
    """
    if len(body) > MAX_BODY_BYTES:
        params: dict[str, Any] = {"bytes": len(body), "limit": MAX_BODY_BYTES}
        raise ScenarioError([Fault("", "body_too_large", "body_too_large", params)], status=413)
    if not body.strip():
        raise ScenarioError([Fault("", "bad_json", "bad_json.empty")], status=400)
    try:
        document = json.loads(body.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ScenarioError([Fault("", "bad_json", "bad_json.encoding", {"byte": error.start})], status=400) from None
    except json.JSONDecodeError as error:
        params = {"line": error.lineno, "column": error.colno, "problem": error.msg}
        raise ScenarioError([Fault("", "bad_json", "bad_json.syntax", params)], status=400) from None
    except RecursionError:
        raise ScenarioError([Fault("", "bad_json", "bad_json.depth", {"limit": MAX_DEPTH})], status=400) from None
    except ValueError as error:  # NaN, Infinity, numbers of thousands of digits
        fault = Fault("", "bad_json", "bad_json.number", {"problem": str(error)[:80]})
        raise ScenarioError([fault], status=400) from None
    faults = list(_text_faults(document))
    if faults:
        raise ScenarioError(faults, status=400 if faults[0].code == "bad_json" else 422)
    return document


def parse_scenario(document: Any) -> Scenario:
    """Check a JSON-like document against the format and against the bounds that several fields decide together.

    Raises:
        ScenarioError: `schema`, `unknown_key`, `duplicate_key`, `duplicate_req_id` (422).
    """
    if not isinstance(document, dict):
        raise ScenarioError([Fault("", "schema", "schema.not_an_object", {"given": describe(document)})])
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        raise ScenarioError(_schema_fault(detail, document) for detail in error.errors(include_url=False)) from None
    faults = list(limit_faults(scenario))
    if faults:
        raise ScenarioError(faults)
    return scenario


def locate(error: ScenarioError, document: Any) -> ScenarioError:
    """Point faults of scheduled counts into the document: the planner names them by request, pairs have places."""
    return ScenarioError([_located(fault, document) for fault in error.faults], error.status)


def _located(fault: Fault, document: Any) -> Fault:
    parts = fault.where.split("/")
    if len(parts) != 5 or parts[1] != "steps" or parts[3] != "num_scheduled_tokens":
        return fault
    scheduled = document["steps"][int(parts[2])]["num_scheduled_tokens"]
    if isinstance(scheduled, dict):
        return fault
    place = next(index for index, (req_id, _) in enumerate(scheduled) if pointer(req_id) == "/" + parts[4])
    where = pointer("steps", int(parts[2]), "num_scheduled_tokens", place, 1)
    fix = [{**operation, "path": where} if operation["path"] == fault.where else operation for operation in fault.fix or ()]
    return Fault(where, fault.code, fault.message, fault.params, fix or None)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = _ObjectWithDuplicates(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        result.duplicates = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return result


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _text_faults(document: Any) -> Iterator[Fault]:
    """Walk the document for what the JSON reader lets through: duplicate keys, half characters, too deep nesting."""
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while pending:
        path, node = pending.pop()
        if len(path) > MAX_DEPTH:
            yield Fault("", "bad_json", "bad_json.depth", {"limit": MAX_DEPTH})
            return
        if isinstance(node, dict):
            for key in getattr(node, "duplicates", ()):
                yield Fault(pointer(*path, printable(key)), "duplicate_key", "duplicate_key", {"key": printable(key)})
            for key in node:
                if not _is_text(key):
                    yield Fault(pointer(*path, printable(key)), "schema", "schema.surrogate")
            pending.extend(((*path, printable(key)), value) for key, value in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend(((*path, index), value) for index, value in reversed(list(enumerate(node))))
        elif isinstance(node, str) and not _is_text(node):
            yield Fault(pointer(*path), "schema", "schema.surrogate")


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def printable(value: str) -> str:
    """The text with half characters (lone surrogates) replaced, so that it can be sent back."""
    return value.encode("utf-8", "replace").decode("utf-8")


def describe(value: Any) -> str:
    """A value as JSON, shortened, for a sentence about it."""
    text = printable(json.dumps(value, ensure_ascii=False, default=str)) if not isinstance(value, dict | list) else ""
    if isinstance(value, dict):
        text = "{…}" if value else "{}"
    if isinstance(value, list):
        text = "[…]" if value else "[]"
    return text if len(text) <= 60 else text[:57] + "..."


# pydantic's error type -> the key of our sentence
_MESSAGES = {
    "missing": "schema.missing",
    "int_type": "schema.integer",
    "int_from_float": "schema.integer",
    "string_type": "schema.text",
    "bool_type": "schema.boolean",
    "list_type": "schema.list",
    "tuple_type": "schema.list",
    "dict_type": "schema.object",
    "model_type": "schema.object",
    "model_attributes_type": "schema.object",
    "literal_error": "schema.choice",
    "greater_than_equal": "schema.minimum",
    "less_than_equal": "schema.maximum",
    "too_long": "schema.too_many",
    "too_short": "schema.too_few",
    "string_too_long": "schema.text_too_long",
    "string_too_short": "schema.text_empty",
    "pairs_type": "schema.pairs",
    "pair_shape": "schema.pairs",
}


def _schema_fault(detail: ErrorDetails, document: Any) -> Fault:
    path = _path(detail["loc"], document)
    where = pointer(*path)
    given = describe(detail["input"])
    context: Mapping[str, Any] = detail.get("ctx", {})
    if detail["type"] == "extra_forbidden":
        return _unknown_key(path)
    message = _MESSAGES.get(detail["type"], "schema.other")
    params: dict[str, Any] = {"name": str(path[-1]) if path else "", "given": given}
    if "ge" in context:
        params["limit"] = context["ge"]
    elif "le" in context:
        params["limit"] = context["le"]
    elif "max_length" in context:
        params |= {"limit": context["max_length"], "count": context.get("actual_length")}
    elif "min_length" in context:
        params |= {"limit": context["min_length"], "count": context.get("actual_length")}
    elif "expected" in context:
        params["choices"] = context["expected"]
    if message == "schema.other":
        params["problem"] = detail["msg"]
    return Fault(where, "schema", message, params)


def _unknown_key(path: tuple[str | int, ...]) -> Fault:
    where, key, allowed = pointer(*path), str(path[-1]), _fields_beside(path)
    close = difflib.get_close_matches(key, allowed, 1)
    params = {"key": key, "allowed": ", ".join(allowed), "suggestion": close[0] if close else ""}
    return Fault(where, "unknown_key", "unknown_key.similar" if close else "unknown_key", params, remove(where))


def _path(loc: tuple[str | int, ...], document: Any) -> tuple[str | int, ...]:
    """The place in the document as it was sent: union tags dropped, the pairs of an object turned back into its keys."""
    path: list[str | int] = []
    node = document
    for part in loc:
        if isinstance(node, dict) and isinstance(part, int):
            part = list(node)[part]
        if isinstance(node, dict):
            path.append(part)
            node = node.get(part)
        elif isinstance(node, list | tuple) and isinstance(part, int):
            path.append(part)
            node = node[part] if part < len(node) else None
    return tuple(path)


def _fields_beside(path: tuple[str | int, ...]) -> list[str]:
    """Names of the fields that the object at `path[:-1]` may have."""
    schema: dict[str, Any] = Scenario.model_json_schema()
    node = schema
    for part in path[:-1]:
        node = _resolve(node, schema)
        node = node.get("items", {}) if isinstance(part, int) else node.get("properties", {}).get(part, {})
    return list(_resolve(node, schema).get("properties", {}))


def _resolve(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in node:
        node = next((option for option in node["anyOf"] if "$ref" in option), node)
    if "$ref" in node:
        resolved: dict[str, Any] = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return resolved
    return node
