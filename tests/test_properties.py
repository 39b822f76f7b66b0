"""The product's trace and refusals against the reference, for scenarios that nobody wrote by hand.

Every space, field and event of every step must be what the loops of `tests/reference.py` give; what they refuse must be
refused with the same codes at the same places. The recordings of vLLM's kernels go through the product here too.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app.errors import ScenarioError
from app.scenario import load_plan
from app.trace.trace import trace_scenario
from tests import reference, strategies
from tests.conformance.recordings import Recording, as_recorded, load

Scenario = dict[str, Any]

FAST = settings(max_examples=30, deadline=None, derandomize=True, database=None)
SLOW = settings(max_examples=10_000, deadline=None, database=None)

# spaces that a step has only with context parallelism, with speculation, or where something is scheduled
MAY_BE_ABSENT = (
    "dcp_local_seq_lens",
    "is_local",
    "draft_tokens",
    "idx_mapping",
    "positions",
    "slot_mappings",
    "num_sampled",
)
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
    for key in theirs["spaces"]:
        assert key in ours["spaces"], f"{where}, {key} is missing"
        assert ours["spaces"][key]["values"] == theirs["spaces"][key], f"{where}, {key}"
    # a trace may show the blocks that a request got with its row as appended too: there the reference has one event
    added = {event["req_id"] for event in ours["events"] if event["kind"] == "add_request"}
    events = [e for e in ours["events"] if e["kind"] != "append_block_ids" or e["req_id"] not in added]
    assert len(events) == len(theirs["events"]), f"{where}, events"
    for our_event, their_event in zip(events, theirs["events"], strict=True):
        assert {key: our_event.get(key) for key in their_event} == their_event, f"{where}, events"
    for key in MAY_BE_ABSENT:
        assert (key in ours["spaces"]) == (key in theirs["spaces"]), f"{where}, {key}"


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


@FAST
@given(strategies.valid_scenarios(strict=False))
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


@pytest.mark.parametrize("recording", load(), ids=lambda recording: recording.name)
def test_recordings(recording: Recording) -> None:
    trace = trace_of(copy.deepcopy(recording.scenario))
    assert len(trace["steps"]) == len(recording.expected)
    for step, expected in zip(trace["steps"], recording.expected, strict=True):
        spaces = {name: space["values"] for name, space in step["spaces"].items()}
        assert as_recorded(step, spaces, set(expected)) == expected, f"step {step['index']}"


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
