"""The compact form of a scenario: the plain document without what equals its default, keys as they are.

In: a scenario as it was written, right or wrong. Out: a document that parses to the same scenario, for links and
files. Nothing is judged here: a value of the wrong type, or a key that nobody knows, stays for the parser to refuse.

`num_scheduled_tokens` becomes pairs: its order matters, and not every reader of JSON keeps the order of an object.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from app.scenario.format.model import Model, Scenario, Step

_REQUIRED = object()


def compact(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario without what equals its default.

    `parse_scenario` makes the same of both, and refuses the same in both.
    """
    document: dict[str, Any] = _without_defaults(Scenario, scenario)
    return document


def to_json(document: Any) -> bytes:
    """JSON without spaces. Half characters (lone surrogates) are escaped, as JavaScript does it."""
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(document, separators=(",", ":")).encode()


def _without_defaults(model: type[Model], value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_without_defaults(model, entry) for entry in value]
    if not isinstance(value, Mapping):
        return value
    parts = _parts(model)
    defaults = _defaults(model)
    kept = {}
    for key, given in value.items():
        inner = given
        if key in parts:
            inner = _without_defaults(parts[key], given)
        elif model is Step and key == "num_scheduled_tokens":
            inner = _pairs(given)
        default = defaults.get(key, _REQUIRED)
        if type(inner) is type(default) and inner == default:  # 0 is neither false nor 0.0
            continue
        kept[key] = inner
    return kept


def _pairs(counts: Any) -> Any:
    if isinstance(counts, Mapping):
        return [list(pair) for pair in counts.items()]
    return [list(pair) if isinstance(pair, tuple) else pair for pair in counts] if isinstance(counts, list) else counts


@cache
def _parts(model: type[Model]) -> dict[str, type[Model]]:
    """Fields that hold another model, or a list of them."""
    found = {name: _model_in(field.annotation) for name, field in model.model_fields.items()}
    return {name: part for name, part in found.items() if part is not None}


def _model_in(annotation: Any) -> type[Model] | None:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((part for part in map(_model_in, get_args(annotation)) if part is not None), None)


@cache
def _defaults(model: type[Model]) -> dict[str, Any]:
    """Field -> its default in the compact form; fields that must be given are not in it."""
    defaults: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if not field.is_required():
            default = field.default
            if isinstance(default, Model):
                default = {}
            elif isinstance(default, list) and name in _parts(model):
                default = [{} for _ in default]
            defaults[name] = default
    return defaults
