"""From YAML to the document that the same scenario would be as JSON: plain lists, maps and scalars, and nothing else.

Only what JSON can say is read: no anchors, aliases, tags or directives, one document, keys as the text written (`1:` and
`on:` are names). A plain value is what JSON would make of it, or YAML 1.2's other spellings of true, false and null; every
other one is a text, so `yes`, `0x10`, `1_000` and `08` are never numbers by accident. Raises `ScenarioError` with codes
`bad_yaml`, `body_too_large` and those of `parse.refuse_text_faults`.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from app.errors import Fault, ScenarioError
from app.scenario.format.parse import MAX_DEPTH, MAX_DIGITS, ObjectWithDuplicates, refuse_text_faults

MAX_YAML_BYTES = 262_144

# libyaml's events where PyYAML was built with it: ten times as fast.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_TOO_DEEP = re.compile("maximum nesting")
_BREAK = re.compile("\r\n?|\n")

# what PyYAML or libyaml say -> the key of our sentence; the first that is found in it
_SYNTAX = (
    (r"'\\t'|tab character", "tab"),
    (r"found character .*that cannot start", "character"),
    (r"mapping values are not allowed", "colon"),
    (r"could not find expected ':'", "no_colon"),
    (r"while scanning a quoted scalar.*end of stream|document separator|document indicator", "quote"),
    (r"escape|expected hexdecimal|expected escape sequence", "escape"),
    (r"expected ',' or", "bracket"),
    (r"node content", "value"),
    (r"sequence entries are not allowed|expected key|expected '-'|<block end>|found .*indent", "indent"),
)


def parse_yaml(body: bytes) -> Any:
    """Read a YAML document.

    Raises:
        ScenarioError: `body_too_large` (413), `bad_yaml` (400); `duplicate_key`, `schema` or `unknown_key` (422) for texts
            that no scenario can hold.
    """
    if len(body) > MAX_YAML_BYTES:
        params = {"bytes": len(body), "limit": MAX_YAML_BYTES}
        raise ScenarioError([Fault("", "body_too_large", "body_too_large", params)], status=413)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable("encoding", byte=error.start) from None
    if stray := _CONTROL.search(text):
        raise _unreadable_at("control_character", text, stray.start())
    try:
        document = _Reader(text).document()
    except yaml.MarkedYAMLError as error:
        if _TOO_DEEP.search(str(error.problem)):  # libyaml reads ahead, and gives up before we do
            raise _unreadable("depth", limit=MAX_DEPTH) from None
        raise _syntax(error, text) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # escapes that name no character
        raise _unreadable_at("syntax", text, 0, problem=str(error).partition("\n")[0]) from None
    refuse_text_faults(document)
    return document


class _Reader:
    """Builds plain values from the events of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events: Iterator[Any] = yaml.parse(text, Loader=_PARSER)

    def document(self) -> Any:
        next(self._events)  # the stream
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise _unreadable("empty")
        assert isinstance(start, yaml.DocumentStartEvent)
        if start.version is not None or start.tags:
            raise self._refusal("directive", start)
        root = self._node(next(self._events), 0)
        next(self._events)  # the document's end
        more = next(self._events)
        if not isinstance(more, yaml.StreamEndEvent):
            raise self._refusal("documents", more)
        return root

    def _node(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            raise self._refusal("alias", event, name=event.anchor)
        if event.anchor is not None:
            raise self._refusal("anchor", event, name=event.anchor)
        if event.tag is not None:
            raise self._refusal("tag", event, name=event.tag.replace("tag:yaml.org,2002:", "!!"))
        if isinstance(event, yaml.ScalarEvent):
            return self._value(event) if event.style in (None, "") else event.value
        if depth >= MAX_DEPTH:
            raise _unreadable("depth", limit=MAX_DEPTH)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(depth)
        assert isinstance(event, yaml.MappingStartEvent)
        return self._map(depth)

    def _list(self, depth: int) -> list[Any]:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return items

    def _map(self, depth: int) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if isinstance(event, yaml.CollectionStartEvent) and event.anchor is event.tag is None:
                raise self._refusal("key", event)
            self._node(event, depth + 1)  # neither alias nor anchored nor tagged
            if event.style in (None, "") and event.value == "":  # `[? , a]`: libyaml loses what stands behind such a key
                raise self._refusal("empty_key", event)
            pairs.append((event.value, self._node(next(self._events), depth + 1)))
        return ObjectWithDuplicates.of(pairs)

    def _value(self, event: Any) -> Any:
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            if len(text) > MAX_DIGITS:
                raise _unreadable("digits", limit=MAX_DIGITS)
            return int(text)
        return float(text) if _FRACTION.fullmatch(text) else text

    def _refusal(self, message: str, event: Any, **params: Any) -> ScenarioError:
        mark = event.start_mark
        shown = {name: value if len(value) <= 40 else value[:37] + "..." for name, value in params.items()}
        return _unreadable(message, line=mark.line + 1, column=mark.column + 1, **shown)


def _syntax(error: yaml.MarkedYAMLError, text: str) -> ScenarioError:
    problem = str(error.problem or error.context or "")
    said = f"{error.context or ''} {problem}"
    kind = next((kind for pattern, kind in _SYNTAX if re.search(pattern, said)), "")
    mark: Any = error.context_mark if kind == "quote" and error.context_mark else error.problem_mark or error.context_mark
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    if kind == "character" and _lines(text)[line : line + 1] and _lines(text)[line][column : column + 1] == "\t":
        kind = "tab"
    return _unreadable(f"syntax.{kind}" if kind else "syntax", line=line + 1, column=column + 1, problem=problem)


def _lines(text: str) -> list[str]:
    return _BREAK.split(text)


def _unreadable_at(message: str, text: str, place: int, **params: Any) -> ScenarioError:
    before = _lines(text[:place])
    return _unreadable(message, line=len(before), column=len(before[-1]) + 1, **params)


def _unreadable(message: str, **params: Any) -> ScenarioError:
    return ScenarioError([Fault("", "bad_yaml", f"bad_yaml.{message}", params)], status=400)
