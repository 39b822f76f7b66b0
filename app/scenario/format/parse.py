"""From text to a `Scenario`: JSON with its duplicate keys, then the schema, every fault with its place.

Raises `ScenarioError` with codes `bad_json`, `body_too_large`, `duplicate_key`, `unknown_key` and `schema`. What is said
about a value that does not fit the schema is in `schema_faults`; what fields decide together is in `limits`.
"""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from app.errors import MAX_FAULTS, Fault, ScenarioError, pointer
from app.scenario.format.model import Patience, Scenario
from app.scenario.format.schema_faults import describe, printable, schema_fault

MAX_BODY_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_KEY_LENGTH = 1_024  # of any key; those of a scenario are far shorter
MAX_DIGITS = 4_300  # of a number: what Python reads

# what Python's JSON reader says -> the key of our sentence
_SYNTAX = {
    "Expecting value": "value",
    "Expecting property name enclosed in double quotes": "name",
    "Expecting ':' delimiter": "colon",
    "Expecting ',' delimiter": "comma",
    "Illegal trailing comma before end of object": "trailing_comma",
    "Illegal trailing comma before end of array": "trailing_comma",
    "Invalid control character at": "control_character",
    "Invalid \\escape": "escape",
    "Invalid \\uXXXX escape": "escape",
    "Unterminated string starting at": "unterminated",
    "Extra data": "extra",
}


class ObjectWithDuplicates(dict[str, Any]):
    """A map as it was written, which remembers the keys that were given more than once."""

    duplicates: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The map of these keys and values; of equal keys the last one counts."""
        result = cls(pairs)
        if len(result) < len(pairs):
            seen: set[str] = set()
            result.duplicates = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
        return result


class _NotANumberError(ValueError):
    """NaN or an infinity."""


def parse_json(body: bytes) -> Any:
    """Read a JSON document.

    Raises:
        ScenarioError: `body_too_large` (413), `bad_json` (400); `duplicate_key`, `schema` or `unknown_key` (422) for texts
            that no scenario can hold.
    """
    if len(body) > MAX_BODY_BYTES:
        params = {"bytes": len(body), "limit": MAX_BODY_BYTES}
        raise ScenarioError([Fault("", "body_too_large", "body_too_large", params)], status=413)
    if not body.removeprefix(b"\xef\xbb\xbf").strip():
        raise _unreadable("empty")
    try:
        text = body.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=ObjectWithDuplicates.of, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise _unreadable("encoding", byte=error.start) from None
    except json.JSONDecodeError as error:
        kind = f"syntax.{_SYNTAX[error.msg]}" if error.msg in _SYNTAX else "syntax"
        raise _unreadable(kind, line=error.lineno, column=error.colno, problem=error.msg) from None
    except RecursionError:
        raise _unreadable("depth", limit=MAX_DEPTH) from None
    except _NotANumberError as error:
        raise _unreadable("number", given=str(error)) from None
    except ValueError:  # Python reads no longer number
        raise _unreadable("digits", limit=MAX_DIGITS) from None
    refuse_text_faults(document)
    return document


def refuse_text_faults(document: Any) -> None:
    """Find what no scenario can hold, in whatever notation: duplicate keys, half characters, endless keys.

    Raises:
        ScenarioError: `duplicate_key`, `schema`, `unknown_key` (422); `bad_json` (400) where it is nested too deep.
    """
    faults = list(_text_faults(document, ()))
    if faults:
        raise ScenarioError(faults)


def parse_scenario(document: Any) -> Scenario:
    """Check a JSON-like document against the format, field by field.

    Raises:
        ScenarioError: `schema`, `unknown_key` (422).
    """
    if not isinstance(document, dict):
        raise ScenarioError([Fault("", "schema", "schema.not_an_object", {"given": describe(document)})])
    try:
        return Scenario.model_validate(document, context=Patience())
    except ValidationError as error:
        details = error.errors(include_url=False)[:MAX_FAULTS]
        refusal = ScenarioError(schema_fault(detail, document) for detail in details)
        refusal.num_faults = error.error_count()
        raise refusal from None


def _unreadable(message: str, **params: Any) -> ScenarioError:
    return ScenarioError([Fault("", "bad_json", f"bad_json.{message}", params)], status=400)


def _refuse_constant(name: str) -> None:
    raise _NotANumberError(name)


def _text_faults(node: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Walk the document for what the JSON reader lets through: duplicate keys, half characters, endless keys.

    Raises:
        ScenarioError: `bad_json` (400) where it is nested too deep.
    """
    if len(path) > MAX_DEPTH:
        raise _unreadable("depth", limit=MAX_DEPTH)
    if isinstance(node, dict):
        for key in getattr(node, "duplicates", ()):
            yield Fault(pointer(*path, printable(key)), "duplicate_key", "duplicate_key", {"key": printable(key)})
        for key, value in node.items():
            if len(key) > MAX_KEY_LENGTH:  # its faults' pointers would repeat it; say it once and leave it alone
                params = {"count": len(key), "limit": MAX_KEY_LENGTH}
                yield Fault(pointer(*path), "unknown_key", "unknown_key.too_long", params)
                continue
            if not _is_text(key):
                yield Fault(pointer(*path, printable(key)), "schema", "schema.surrogate")
            if isinstance(value, dict | list):
                yield from _text_faults(value, (*path, printable(key)))
            elif isinstance(value, str) and not _is_text(value):
                yield Fault(pointer(*path, printable(key)), "schema", "schema.surrogate")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            if isinstance(value, dict | list):
                yield from _text_faults(value, (*path, index))
            elif isinstance(value, str) and not _is_text(value):
                yield Fault(pointer(*path, index), "schema", "schema.surrogate")
    elif isinstance(node, str) and not _is_text(node):
        yield Fault(pointer(*path), "schema", "schema.surrogate")


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
