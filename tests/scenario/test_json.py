"""From bytes to a document: everything that is no JSON, or JSON that no scenario can be, is said in one plain sentence."""

from __future__ import annotations

import json

import pytest

from app.errors import Fault, ScenarioError
from app.scenario.format.parse import MAX_BODY_BYTES, parse_json
from tests.scenario.faults import sentence, worked


def refused(body: bytes) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        parse_json(body)
    return caught.value


def only_fault(body: bytes) -> Fault:
    (fault,) = refused(body).faults
    return fault


NO_JSON = [
    (b"", "The body is empty. Send a scenario as JSON, with version, requests and steps."),
    (b" \n\t ", "The body is empty. Send a scenario as JSON, with version, requests and steps."),
    (b"\xef\xbb\xbf", "The body is empty. Send a scenario as JSON, with version, requests and steps."),
    (b'{"title": "\xff"}', "This is not UTF-8 text: byte 11 is not valid. Save or send it as UTF-8."),
    ('{"version": 1}'.encode("utf-16"), "This is not UTF-8 text: byte 0 is not valid. Save or send it as UTF-8."),
    (
        b'{"version": }',
        "This is not JSON: at line 1, column 13 there should be a value (a number, a text in double quotes, a list, "
        "an object, true, false or null).",
    ),
    (
        b"nul",
        "This is not JSON: at line 1, column 1 there should be a value (a number, a text in double quotes, a list, "
        "an object, true, false or null).",
    ),
    (b"{'version': 1}", "This is not JSON: at line 1, column 2 there should be a key in double quotes."),
    (b'{"version" 1}', "This is not JSON: at line 1, column 12 there should be a colon between a key and its value."),
    (
        b'{"version": 1\n "title": ""}',
        "This is not JSON: at line 2, column 2 there should be a comma, or the bracket that closes the list or object.",
    ),
    (
        b'{"title": "a\nb"}',
        "This is not JSON: at line 1, column 13 a text holds a line break or another control character. "
        "Write \\n for a line break, \\t for a tab.",
    ),
    (
        b'{"title": "\\x"}',
        "This is not JSON: at line 1, column 12 a backslash begins no valid escape. Write \\\\ for a backslash.",
    ),
    (
        b'{"title": "\\u12"}',
        "This is not JSON: at line 1, column 13 a backslash begins no valid escape. Write \\\\ for a backslash.",
    ),
    (b'{"title": "abc', "This is not JSON: the text that begins at line 1, column 11 has no closing quote."),
    (
        b'{"version": 1}\n{"version": 1}',
        "This is not JSON: something follows after its end, from line 2, column 1 on. Send one object.",
    ),
    (b'{"version": NaN}', "NaN is not a number that JSON knows. Write a whole number."),
    (b'{"version": Infinity}', "Infinity is not a number that JSON knows. Write a whole number."),
    (b'{"version": -Infinity}', "-Infinity is not a number that JSON knows. Write a whole number."),
    (b'{"version": ' + b"9" * 5000 + b"}", "A number has more than 4300 digits. No number of a scenario has more than 10."),
    (b"[" * 100_000, "Lists and objects are nested more than 64 deep. A scenario is nested 6 deep."),
    (b'{"a":' * 100_000, "Lists and objects are nested more than 64 deep. A scenario is nested 6 deep."),
    (b"[" * 66 + b"]" * 66, "Lists and objects are nested more than 64 deep. A scenario is nested 6 deep."),
    (b'{"a":' * 66 + b"1" + b"}" * 66, "Lists and objects are nested more than 64 deep. A scenario is nested 6 deep."),
]


@pytest.mark.parametrize(("body", "words"), NO_JSON, ids=[repr(body[:20]) + str(len(body)) for body, _ in NO_JSON])
def test_no_json(body: bytes, words: str) -> None:
    error = refused(body)
    (fault,) = error.faults
    assert (error.status, fault.code, fault.where, fault.fix) == (400, "bad_json", "", None)
    assert sentence(fault) == words


def test_a_trailing_comma() -> None:
    """Python says it in two ways, by its version."""
    fault = only_fault(b'{"steps": [1,]}')
    assert fault.message in ("bad_json.syntax.value", "bad_json.syntax.trailing_comma")
    fault = only_fault(b'{"steps": [],}')
    assert fault.message in ("bad_json.syntax.name", "bad_json.syntax.trailing_comma")


def test_too_large() -> None:
    parse_json(b'"' + b"x" * (MAX_BODY_BYTES - 2) + b'"')
    error = refused(b'"' + b"x" * (MAX_BODY_BYTES - 1) + b'"')
    (fault,) = error.faults
    assert (error.status, fault.code, fault.where) == (413, "body_too_large", "")
    assert sentence(fault) == (
        "The body has 1,048,577 bytes; at most 1,048,576 are read. Send fewer requests, steps or explicit ids."
    )
    assert fault.params == {"bytes": 1_048_577, "limit": 1_048_576}


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_json(b"\xef\xbb\xbf" + json.dumps(worked()).encode()) == worked()


@pytest.mark.parametrize("document", [None, True, 5, "x", [], {}, {"a": {"b": [{}]}}])
def test_any_json_is_read(document: object) -> None:
    assert parse_json(json.dumps(document).encode()) == document


def test_nesting_up_to_the_limit() -> None:
    body = b"[" * 65 + b"]" * 65
    assert parse_json(body) == json.loads(body)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert parse_json(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_half_characters() -> None:
    error = refused(b'{"title": "\\ud800", "steps": [{"\\udc00": 1}, {"a~/\\ud800": ["\\udfff"]}]}')
    assert error.status == 422
    assert [(fault.code, fault.where) for fault in error.faults] == [
        ("schema", "/title"),
        ("schema", "/steps/0/?"),
        ("schema", "/steps/1/a~0~1?"),
        ("schema", "/steps/1/a~0~1?/0"),
    ]
    for fault in error.faults:
        assert sentence(fault) == "This text holds half of a character (a lone surrogate). Use whole Unicode characters."
    assert only_fault(b'"\\ud800"').where == ""


def test_duplicate_keys() -> None:
    error = refused(b'{"a": 1, "a": 2, "b": [{"c/": 1, "c/": 1, "c/": 2, "d": 1}], "a": {"x": 0, "x": 0}}')
    assert error.status == 422
    assert [(fault.code, fault.where) for fault in error.faults] == [
        ("duplicate_key", "/a"),  # however often
        ("duplicate_key", "/a/x"),
        ("duplicate_key", "/b/0/c~1"),
    ]
    assert [sentence(fault) for fault in error.faults][2] == "“c/” is given twice here. Keep one of them."


def test_a_duplicate_request_in_a_schedule() -> None:
    fault = only_fault(b'{"steps": [{"num_scheduled_tokens": {"A": 1, "A": 2}}]}')
    assert (fault.code, fault.where) == ("duplicate_key", "/steps/0/num_scheduled_tokens/A")


def test_endless_keys_are_said_once() -> None:
    """Every fault below such a key would repeat it."""
    key = b"k" * 100_000
    fault = only_fault(b'{"steps": [{"' + key + b'": {"a": 1, "a": 1}}]}')
    assert (fault.code, fault.where) == ("unknown_key", "/steps/0")
    assert sentence(fault) == "A key here has 100,000 characters. No field and no req_id is that long."


def test_a_fault_can_be_sent_back_as_json() -> None:
    error = refused(b'{"\\ud800": "\\ud800"}')
    json.dumps([fault.where for fault in error.faults]).encode()
    assert [sentence(fault).encode() for fault in error.faults]
