"""The product's trace and refusals against the reference, for scenarios that nobody wrote by hand.

Every field and event of every step must be what the loops of `tests/reference.py` give, and every space too; one that they
do not compute must be what its own formulas give (`tests/judged.py`). What they refuse must be refused with the same codes
at the same places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings

from app.errors import ScenarioError
from app.scenario import load_plan
from app.trace.expressions import evaluate
from app.trace.trace import trace_scenario
from tests import judged, reference, strategies
from tests.trace.links import SCHEMA, case_of, cells, scopes, variables_of

Scenario = dict[str, Any]

FAST = settings(max_examples=30, deadline=None, derandomize=True, database=None)
SLOW = settings(max_examples=10_000, deadline=None, database=None)

BLOCK_CODES = reference.STRICT_ONLY | {"row_capacity"}
STEP_FIELDS = (
    "index",
    "num_reqs",
    "num_tokens",
    "num_reqs_padded",
    "num_tokens_padded",
    "cudagraph_mode",
    "req_ids",
    "req_id_to_index",
    "free_indices",
)


def trace_of(scenario: Scenario, first: int = 0, last: int | None = None) -> dict[str, Any]:
    return trace_scenario(load_plan(scenario), torch.device("cpu"), lambda key, params: key, first, last)


def refused(scenario: Scenario) -> list[reference.Fault]:
    """The product's faults as (code, where)."""
    try:
        load_plan(scenario)
    except ScenarioError as error:
        return [(fault.code, fault.where) for fault in error.faults]
    return []


# ---- valid scenarios


def check_trace(scenario: Scenario) -> None:
    expected = reference.run(scenario)
    trace = trace_of(json.loads(json.dumps(scenario)))  # as it would arrive, not the objects that the reference saw
    assert len(trace["steps"]) == len(expected["steps"])
    for ours, theirs in zip(trace["steps"], expected["steps"], strict=True):
        check_step(ours, theirs)
    check_formulas(trace)
    stopped = trace["stopped"]
    if stopped is not None:
        stopped = {key: stopped[key] for key in ("step", "code", "needed", "free")}
    assert stopped == expected["stopped"]
    for ours, theirs in zip(trace["summary"], expected["summary"], strict=True):
        assert {key: ours[key] for key in theirs} == theirs
    check_verdicts(scenario, trace)
    check_explicit(trace, expected)


def check_verdicts(scenario: Scenario, trace: dict[str, Any]) -> None:
    """The checks of a trace find what a strict scenario would have been refused for, and nothing else."""
    violated = {(step["index"], check["name"]) for step in trace["steps"] for check in step["checks"] if not check["holds"]}
    last = len(trace["steps"]) - 1
    faults = {code for code, where in reference.faults({**scenario, "strict": True}) if 0 <= place_of(where) <= last}
    if not faults:
        faults_of_initial = reference.faults({**scenario, "strict": True, "steps": []})
        assert not violated or faults_of_initial
    names = {name for _, name in violated}
    for code, name in (
        ("blocks_short", "table_covers_seq_len"),
        ("block_range", "block_ids_in_range"),
        ("block_null", "null_block_unowned"),
        ("block_owned", "blocks_owned_once"),
    ):
        assert code not in faults or name in names, f"{code} without {name}"


def check_step(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    where = f"step {theirs['index']}"
    for key in STEP_FIELDS:
        assert ours[key] == theirs[key], f"{where}, {key}"
    assert list(ours["req_id_to_index"]) == list(theirs["req_id_to_index"]), f"{where}, order of req_id_to_index"
    assert ours["spaces"].keys() & judged.by_reference() == theirs["spaces"].keys(), where
    for key in theirs["spaces"]:
        assert ours["spaces"][key]["values"] == theirs["spaces"][key], f"{where}, {key}"
    # a trace may show the blocks that a request got with its row as appended too: there the reference has one event
    added = {event["req_id"] for event in ours["events"] if event["kind"] == "add_request"}
    events = [e for e in ours["events"] if e["kind"] != "append_block_ids" or e["req_id"] not in added]
    assert len(events) == len(theirs["events"]), f"{where}, events"
    for our_event, their_event in zip(events, theirs["events"], strict=True):
        assert {key: our_event.get(key) for key in their_event} == their_event, f"{where}, events"


def check_formulas(trace: dict[str, Any]) -> None:
    """Every cell of the spaces that the reference does not compute is what the declared formula makes of the others."""
    for step, scope in scopes(trace):
        for name in judged.by_formula() & step["spaces"].keys():
            space = step["spaces"][name]
            for at, value in cells(space["values"], len(space["dims"])):
                variables = variables_of(name, at, value)
                case = SCHEMA["spaces"][name]["cases"][case_of(name, variables, scope)]
                told = None if case["formula"] is None else evaluate(case["formula"], variables, scope)
                assert value == told, f"step {step['index']}, {name}{list(at)}: {case['note']}"


def check_explicit(trace: dict[str, Any], expected: dict[str, Any]) -> None:
    """The normalised scenario names every id, and is a scenario that gives the same trace."""
    full = trace["scenario"]
    for ours, theirs in zip(full["steps"], expected["scenario"]["steps"][: len(expected["steps"])], strict=False):
        for key in ("num_scheduled_tokens", "finished_req_ids", "preempted_req_ids"):
            assert ours[key] == theirs[key], key
        for key in ("new_block_ids", "draft_token_ids", "sampled_token_ids"):
            assert without_nothing(ours[key]) == without_nothing(theirs[key]), key
    if expected["stopped"] is None:
        again = trace_of(json.loads(json.dumps(full)))
        assert again["scenario"] == full
        for ours, theirs in zip(again["steps"], expected["steps"], strict=True):
            check_step(ours, theirs)


def without_nothing(entries: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Without entries that give no id."""
    return {req_id: ids for req_id, ids in entries.items() if ids and ids != [[]] * len(ids)}


def check_window(scenario: Scenario) -> None:
    """Any window of steps holds what the whole trace holds there."""
    whole = trace_of(scenario)["steps"]
    middle = len(whole) // 2
    assert trace_of(scenario, middle, middle)["steps"] == whole[middle : middle + 1]
    assert trace_of(scenario, middle)["steps"] == whole[middle:]
    assert trace_of(scenario, 0, -1)["steps"] == []


@FAST
@given(strategies.valid_scenarios())
def test_valid(scenario: Scenario) -> None:
    check_trace(scenario)


# One id in the tables of two groups, which a log may say: block 5 is shared in neither.
TWO_GROUPS: Scenario = {
    "version": 1,
    "strict": False,
    "config": {"kv_cache_groups": [{"name": "full"}, {"name": "window", "sliding_window": 32}]},
    "requests": [{"req_id": "A", "prompt_len": 20}, {"req_id": "B", "prompt_len": 20}],
    "steps": [{"num_scheduled_tokens": {"A": 20, "B": 20}, "new_block_ids": {"A": [[5, 7], [5, 8]], "B": [[9, 7], [9, 6]]}}],
}


@FAST
@given(strategies.valid_scenarios(strict=False))
@example(TWO_GROUPS)
def test_lenient(scenario: Scenario) -> None:
    check_trace(scenario)


@settings(FAST, max_examples=20)
@given(strategies.valid_scenarios())
def test_windows(scenario: Scenario) -> None:
    check_window(scenario)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@SLOW
@given(strategies.valid_scenarios())
def test_many_valid(scenario: Scenario) -> None:
    check_trace(scenario)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@SLOW
@given(strategies.valid_scenarios(strict=False))
def test_many_lenient(scenario: Scenario) -> None:
    check_trace(scenario)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(SLOW, max_examples=2_000)
@given(strategies.valid_scenarios())
def test_many_windows(scenario: Scenario) -> None:
    check_window(scenario)


# ---- refusals


def check_refusal(scenario: Scenario) -> None:
    """The first place where something is wrong, the requests or one of the steps, is judged alike.

    What is wrong behind it may follow from it, and is not compared. Nor are block ids in steps behind the one in which the
    pool runs out: nobody knows the tables there.
    """
    last = reference.exhausted_at(scenario)

    def is_judged(fault: reference.Fault) -> bool:
        code, where = fault
        return last is None or place_of(where) <= last or code not in BLOCK_CODES

    theirs = set(filter(is_judged, reference.faults(scenario)))
    ours = set(filter(is_judged, refused(json.loads(json.dumps(scenario)))))
    assert bool(theirs) == bool(ours)
    if theirs:
        assert in_first_place(ours) == in_first_place(theirs)


def in_first_place(faults: Iterable[reference.Fault]) -> set[reference.Fault]:
    """The faults of the requests if there are any, else those of the first step that has some."""
    first = min(place_of(where) for _, where in faults)
    return {(code, where) for code, where in faults if place_of(where) == first}


def place_of(where: str) -> int:
    """The step of a pointer, -1 where it points to no step."""
    parts = where.split("/")
    return int(parts[2]) if parts[1] == "steps" else -1


def check_invalid(scenario: Scenario, code: str) -> None:
    assert code in {found for found, _ in refused(json.loads(json.dumps(scenario)))}
    if code in reference.SEMANTIC_CODES and code != "duplicate_req_id":
        check_refusal(scenario)


@settings(FAST, max_examples=100)
@given(strategies.invalid_scenarios())
def test_invalid(invalid: tuple[Scenario, str]) -> None:
    check_invalid(*invalid)


@FAST
@given(strategies.valid_scenarios(strict=False))
def test_lenient_made_strict(scenario: Scenario) -> None:
    check_refusal({**scenario, "strict": True})


@pytest.mark.slow
@pytest.mark.timeout(1800)
@SLOW
@given(strategies.invalid_scenarios())
def test_many_invalid(invalid: tuple[Scenario, str]) -> None:
    check_invalid(*invalid)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(SLOW, max_examples=3_000)
@given(strategies.valid_scenarios(strict=False))
def test_many_lenient_made_strict(scenario: Scenario) -> None:
    check_refusal({**scenario, "strict": True})
