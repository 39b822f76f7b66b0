"""What is said about a value that does not fit the format: its place as sent, its name, what would be right.

In: one of pydantic's errors and the document. Out: a `Fault` with code `schema` or `unknown_key`.
"""

import difflib
import functools
import json
import math
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic_core import ErrorDetails

from app.errors import Fault, pointer, remove, replace
from app.scenario.format.model import MAX_REQ_ID_LENGTH, Scenario

Path = tuple[str | int, ...]
Fix = list[dict[str, Any]] | None

# pydantic's error type -> the key of our sentence
_MESSAGES = {
    "missing": "missing",
    "int_type": "integer",
    "int_from_float": "integer",
    "string_type": "text",
    "bool_type": "boolean",
    "list_type": "list",
    "tuple_type": "pair",
    "dict_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
    "literal_error": "choice",
    "greater_than_equal": "minimum",
    "less_than_equal": "maximum",
    "too_long": "too_many",
    "too_short": "too_few",
    "string_too_long": "text_too_long",
    "string_too_short": "text_empty",
    "pairs_type": "pairs",
    "version": "version",
}
_WHEN_MISSING: Mapping[str, Any] = {"version": 1, "requests": [], "steps": []}
_WHOLE_NUMBER = re.compile(r"-?\d{1,10}")


def schema_fault(detail: ErrorDetails, document: Any) -> Fault:
    """One of pydantic's errors, pointing into the document as it was sent."""
    path = _path(detail["loc"], document)
    context: Mapping[str, Any] = detail.get("ctx", {})
    value = detail["input"]
    params = _circumstances(path, document)
    if detail["type"] == "extra_forbidden":
        return _unknown_key(path, document, params)
    message = _MESSAGES.get(detail["type"], "other")
    if path == ("version",) and message in ("choice", "other"):  # other: no number of 64 bits
        message = "version"
    if message == "integer" and _is_ids_or_count(path):
        message = "ids_or_count"
    params |= {"name": _name(path), "given": describe(value)}
    if message in ("minimum", "maximum"):
        params["limit"] = context["ge" if message == "minimum" else "le"]
        if abs(value) < 2**53:
            params["given"] = value
        if message == "minimum" and _is_block_id(path):
            message = "block_id"  # a bound alone would not say what 0 and an unknown id are
    elif message in ("too_many", "too_few", "text_too_long"):
        params["limit"] = context["min_length" if message == "too_few" else "max_length"]
        params["count"] = len(value)
    elif message == "choice":
        params["choices"] = ", ".join(_choices(context))
    elif message == "other":
        params["problem"] = detail["msg"]
    return Fault(pointer(*path), "schema", f"schema.{message}", params, _fix(message, path, value, context))


def _fix(message: str, path: Path, value: Any, context: Mapping[str, Any]) -> Fix:
    where = pointer(*path)
    if message == "missing" and len(path) == 1:
        return [{"op": "add", "path": where, "value": _WHEN_MISSING[str(path[0])]}]
    if message == "integer":
        if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
            return replace(where, int(value))
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return replace(where, int(value))
    if message == "text" and type(value) is int and abs(value) < 2**63:
        return replace(where, str(value))  # a name that looks like a number
    if message in ("minimum", "maximum") and path[0] == "steps" and path[2] == "num_scheduled_tokens":
        return remove(pointer(*path[:4])) if message == "minimum" else None  # nothing to run: not scheduled
    if message in ("minimum", "maximum") and isinstance(path[-1], str):
        return replace(where, context["ge" if message == "minimum" else "le"])
    if message == "choice" and isinstance(value, str):
        same = [choice for choice in _choices(context) if choice.casefold() == value.strip().casefold()]
        return replace(where, same[0]) if same else None
    return None


def _choices(context: Mapping[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", context["expected"])


def _unknown_key(path: Path, document: Any, params: dict[str, Any]) -> Fault:
    where, key, allowed = pointer(*path), str(path[-1]), _fields_beside(path)
    beside = _node(document, path[:-1])
    close = [name for name in difflib.get_close_matches(key, allowed, 3) if name not in beside]
    params |= {"key": key, "allowed": ", ".join(allowed)}
    if not close:
        return Fault(where, "unknown_key", "unknown_key", params, remove(where))
    params["suggestion"] = close[0]
    fix = remove(where)
    if _can_be_sent(beside[key]):
        fix = [{"op": "add", "path": pointer(*path[:-1], close[0]), "value": beside[key]}, *fix]
    return Fault(where, "unknown_key", "unknown_key.similar", params, fix)


def _can_be_sent(value: Any) -> bool:
    """Whether every reader of JSON would get the value that was sent: no infinities, no integers beyond 64 bits."""
    if isinstance(value, dict | list):
        return all(map(_can_be_sent, value.values() if isinstance(value, dict) else value))
    return math.isfinite(value) if isinstance(value, float) else not isinstance(value, int) or abs(value) < 2**63


def _circumstances(path: Path, document: Any) -> dict[str, Any]:
    """The step and the request that a place belongs to, as far as it does."""
    if len(path) < 2 or path[0] not in ("steps", "requests"):
        return {}
    found: dict[str, Any] = {"step": path[1]} if path[0] == "steps" else {}
    req_id: Any = None
    if path[0] == "requests":
        request = _node(document, path[:2])
        req_id = request.get("req_id") if isinstance(request, dict) else None
    elif len(path) > 3:
        is_pair = path[2] == "num_scheduled_tokens" and isinstance(path[3], int)
        req_id = _first(_node(document, path[:4])) if is_pair else path[3]
    if isinstance(req_id, str) and len(req_id) <= MAX_REQ_ID_LENGTH:
        found["req_id"] = req_id
    return found


def _first(pair: Any) -> Any:
    return pair[0] if isinstance(pair, list) and pair else None


def _name(path: Path) -> str:
    """What a reader would call the place: `num_scheduled_tokens.B`, `kv_cache_groups[0].block_size`."""
    is_within = len(path) > 2 if path[0] in ("steps", "requests") else len(path) > 1 and path[0] == "config"
    inner = path[(1 if path[0] == "config" else 2) if is_within else 0 :]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner)
    return text.removeprefix(".")


def _is_ids_or_count(path: Path) -> bool:
    """Whether a list of token ids or their count stands there."""
    if len(path) != 4:
        return False
    if path[0] == "steps":
        return path[2] in ("draft_token_ids", "sampled_token_ids")
    return path[2:] == ("initial", "output_token_ids")


def _is_block_id(path: Path) -> bool:
    """Whether one block id stands there: of a group, of a request."""
    return len(path) == 6 and (path[2] == "new_block_ids" or path[2:4] == ("initial", "block_ids"))


def _path(loc: tuple[str | int, ...], document: Any) -> Path:
    """The place in the document as it was sent: union tags dropped, the pairs of an object turned back into its keys."""
    path: list[str | int] = []
    node = document
    parts = iter(loc)
    for part in parts:
        if isinstance(part, str) and _is_ids_or_count(tuple(path)):
            continue  # which of the two it was taken for
        if isinstance(node, dict):
            key = next(islice(node, part, None)) if isinstance(part, int) else part
            if key is not part:
                next(parts, None)  # which half of the pair
            path.append(key)
            node = node.get(key)
        elif isinstance(node, list) and isinstance(part, int):
            path.append(part)
            node = node[part] if part < len(node) else None
    return tuple(path)


def _node(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def describe(value: Any) -> str:
    """A value as JSON, shortened, for a sentence about it."""
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return "[…]" if value else "[]"
    text = printable(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 60 else text[:57] + "..."


def printable(value: str) -> str:
    """The text with half characters (lone surrogates) replaced, so that it can be sent back."""
    return value.encode("utf-8", "replace").decode("utf-8")


@functools.cache
def _scenario_schema() -> dict[str, Any]:
    return Scenario.model_json_schema()


def _fields_beside(path: Path) -> list[str]:
    """Names of the fields that the object at `path[:-1]` may have."""
    node = _scenario_schema()
    for part in path[:-1]:
        node = _resolve(node)
        node = node.get("items", {}) if isinstance(part, int) else node.get("properties", {}).get(part, {})
    return list(_resolve(node).get("properties", {}))


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in node:
        node = next((option for option in node["anyOf"] if "$ref" in option), node)
    if "$ref" in node:
        resolved: dict[str, Any] = _scenario_schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return resolved
    return node
