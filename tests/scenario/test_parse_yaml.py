"""YAML as the server reads it: the document that the same scenario would be as JSON, or one sentence on why it is none.

`yaml_texts.json` holds texts by hand, each with its document, or with the fault and the line it is at. The browser's reader
has the same table (test_text_twins.py).
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.errors import ScenarioError
from app.scenario import load_plan
from app.scenario.format import parse_yaml
from app.scenario.format.parse import parse_json
from app.scenario.format.parse_yaml import MAX_YAML_BYTES
from tests.scenario.faults import sentence, worked
from tests.strategies import valid_scenarios

TEXTS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("yaml_texts.json").read_text(encoding="utf-8"))

# How the contract writes the worked example.
WORKED = """\
version: 1
title: One decode, one prefill chunk
start_step: 1
requests:
  - {req_id: B, prompt_len: 31}
  - {req_id: A, prompt_len: 24}
steps:
  - {num_scheduled_tokens: {B: 31, A: 16}, new_block_ids: {B: [[37, 12]], A: [[81, 44]]}}
  - {num_scheduled_tokens: {B: 1, A: 8}}
"""


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """libyaml, and what reads where PyYAML came without it."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(parse_yaml, "_PARSER", getattr(yaml, request.param))
    return str(request.param)


def read(text: str) -> Any:
    return parse_yaml.parse_yaml(text.encode())


def refused(body: bytes) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        parse_yaml.parse_yaml(body)
    for fault in caught.value.faults:
        assert sentence(fault)
    return caught.value


def document_or_faults(body: bytes) -> Any:
    """The document, or the sentences of what keeps it from being one."""
    try:
        return parse_yaml.parse_yaml(body)
    except ScenarioError as error:
        return [sentence(fault) for fault in error.faults]


def escaped(found: re.Match[str]) -> str:
    character = found.group()
    return f"\\u{ord(character):04x}" if ord(character) < 2**16 else character


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("case", TEXTS, ids=lambda case: repr(case["text"][:30]))
def test_the_table(case: dict[str, Any]) -> None:
    if "fault" not in case:
        found = read(case["text"])
        assert found == case["document"]
        assert repr(found) == repr(case["document"]), "1, 1.0 and true are different things"
        return
    error = refused(case["text"].encode())
    fault = error.faults[0]
    assert fault.message == case["fault"]
    assert error.status == (422 if fault.code == "duplicate_key" else 400)
    if "line" in case:
        assert fault.params["line"] == case["line"]


@pytest.mark.usefixtures("parser")
def test_the_worked_example_as_the_contract_writes_it() -> None:
    assert read(WORKED)["title"] == "One decode, one prefill chunk"
    assert load_plan(read(WORKED)).steps == load_plan(worked()).steps


@pytest.mark.usefixtures("parser")
def test_every_duplicate_is_said_with_its_place() -> None:
    error = refused(b"version: 1\nsteps:\n  - {num_scheduled_tokens: {A: 1, B: 2, A: 3}}\nversion: 1\n")
    assert [fault.where for fault in error.faults] == ["/version", "/steps/0/num_scheduled_tokens/A"]
    assert error.status == 422


def test_names_that_are_numbers_stay_the_names_they_are() -> None:
    document = read("steps: [{num_scheduled_tokens: {10: 1, 2: 3, ~: 4, on: 5, 0x1: 6}}]")
    assert list(document["steps"][0]["num_scheduled_tokens"].items()) == [
        ("10", 1),
        ("2", 3),
        ("~", 4),
        ("on", 5),
        ("0x1", 6),
    ]


def test_a_number_where_a_name_is_wanted_can_be_repaired() -> None:
    text = "version: 1\nrequests: [{req_id: 7, prompt_len: 3}]\nsteps: []"
    with pytest.raises(ScenarioError) as caught:
        load_plan(read(text))
    (fault,) = caught.value.faults
    assert fault.where == "/requests/0/req_id"
    assert fault.fix == [{"op": "replace", "path": "/requests/0/req_id", "value": "7"}]


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_yaml.parse_yaml(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_what_is_no_text_or_too_large_is_said() -> None:
    assert sentence(refused(b"title: \xff").faults[0]).startswith("This is not UTF-8 text: byte 7")
    error = refused(b"#" * (MAX_YAML_BYTES + 1))
    assert (error.status, error.faults[0].code) == (413, "body_too_large")
    assert refused(b"#" * MAX_YAML_BYTES).faults[0].message == "bad_yaml.empty"


@given(st.text(alphabet=st.sampled_from("ab1: ,-[]{}#&*!|>'\"%@`?~\n\t \\x0"), max_size=60) | st.text(max_size=60))
@example("a: &a [*a, *a]")
@example("<<: *x")
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_document_or_a_fault(text: str) -> None:
    try:
        body = text.encode()
    except UnicodeEncodeError:
        return
    outcome = document_or_faults(body)
    json.dumps(outcome)


@given(valid_scenarios())
@settings(max_examples=25, deadline=None)
def test_json_is_yaml(scenario: dict[str, Any]) -> None:
    """What is a scenario as JSON is the same one when it is sent as YAML, whose escapes know no halves of characters."""
    text = re.sub(r"[^\x20-\x7e]", escaped, json.dumps(scenario, ensure_ascii=False))
    if len(text) <= MAX_YAML_BYTES:
        assert read(text) == parse_json(text.encode())


@pytest.mark.parametrize(
    "pattern", ["[", "{", "{a: ", "- ", "? ", "a: ", '"', "a: b\n", "- - ", "a: |\n x\n", "[1, ", "&a ", "!x ", "\t", " "]
)
def test_the_largest_text_is_answered_at_once(pattern: str) -> None:
    body = (pattern * (MAX_YAML_BYTES // len(pattern))).encode()
    start = time.perf_counter()
    assert document_or_faults(body)
    # Measured: 0.25 s at most with libyaml, 1.6 s without; what grows with the square takes minutes.
    assert time.perf_counter() - start < 60
