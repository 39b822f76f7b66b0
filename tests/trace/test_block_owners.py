"""Who holds which block over time: by hand, and against the blocks that the trace of every step lists."""

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app.errors import ScenarioError
from app.examples import examples
from app.scenario import load_plan
from app.trace.counts import block_owners
from app.trace.counts.block_owners import BlockMap, BlockRange, PartState, Run, block_map
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)

FREE = PartState()


def held(owner: int, **more: int) -> PartState:
    return PartState(**{"owner": owner, "num_owned": 1, "num_owners": 1, "num_held": 1, **more})


def test_a_block_goes_from_hand_to_hand() -> None:
    requests = [{"req_id": "A", "prompt_len": 20}, {"req_id": "B", "prompt_len": 4}]
    steps = [
        {"num_scheduled_tokens": {"A": 20}, "new_block_ids": {"A": [[3, 5]]}},
        {"finished_req_ids": ["A"]},
        {"num_scheduled_tokens": {"B": 4}, "new_block_ids": {"B": [[5]]}},
    ]
    found = block_map(load_plan({"version": 1, "config": {"num_blocks": 8}, "requests": requests, "steps": steps}))
    assert found.parts == [
        BlockRange(0, 0),
        BlockRange(1, 2),
        BlockRange(3, 3),
        BlockRange(4, 4),
        BlockRange(5, 5),
        BlockRange(6, 7),
    ]
    assert found.blocks_per_part is None
    stale = PartState(num_stale=1, last_owner=0)
    assert [run for run in found.runs if run.state != FREE] == [
        Run(2, 0, 0, held(0)),
        Run(2, 1, 2, stale),
        Run(4, 0, 0, held(0)),
        Run(4, 1, 1, stale),
        Run(4, 2, 2, held(1)),
    ]
    assert [run.state.kind for run in found.runs if run.part == 4] == ["held", "stale", "held"]


def test_a_shared_block_has_two_owners_until_one_leaves() -> None:
    requests = [{"req_id": "A", "prompt_len": 16}, {"req_id": "B", "prompt_len": 17}]
    steps = [
        {"num_scheduled_tokens": {"A": 16}, "new_block_ids": {"A": [[3]]}},
        {"num_scheduled_tokens": {"B": 1}, "num_computed_tokens": {"B": 16}, "new_block_ids": {"B": [[3, 4]]}},
        {"finished_req_ids": ["A"]},
    ]
    found = block_map(load_plan({"version": 1, "config": {"num_blocks": 5}, "requests": requests, "steps": steps}))
    assert [run for run in found.runs if found.parts[run.part] == BlockRange(3, 3)] == [
        Run(2, 0, 0, held(0)),
        Run(2, 1, 1, held(0, num_owners=2)),
        Run(2, 2, 2, held(1)),
    ]


def test_many_blocks_share_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_owners, "MAX_SINGLE_PARTS", 3)
    monkeypatch.setattr(block_owners, "MAX_PARTS", 2)
    requests = [{"req_id": "A", "prompt_len": 33}, {"req_id": "B", "prompt_len": 33}, {"req_id": "C", "prompt_len": 3}]
    steps = [
        {
            "num_scheduled_tokens": {"A": 33, "B": 33, "C": 3},
            "new_block_ids": {"A": [[1, 2, 7]], "B": [[3, 5, 6]], "C": [[4]]},
        },
        {"finished_req_ids": ["B"]},
    ]
    config = {"num_blocks": 16, "max_num_batched_tokens": 128}
    found = block_map(load_plan({"version": 1, "config": config, "requests": requests, "steps": steps}))
    assert found.parts == [BlockRange(0, 3), BlockRange(4, 7)]
    assert (found.blocks_per_part, found.last_block) == (4, 15)
    assert list(found.runs) == [
        Run(0, 0, 0, PartState(owner=0, num_owned=2, num_owners=2, num_held=3)),
        Run(0, 1, 1, PartState(owner=0, num_owned=2, num_owners=1, num_held=2, num_stale=1)),
        Run(1, 0, 0, PartState(owner=1, num_owned=2, num_owners=3, num_held=4)),
        Run(1, 1, 1, PartState(owner=0, num_owned=1, num_owners=2, num_held=2, num_stale=2)),
    ]
    assert [run.state.kind for run in found.runs] == ["held", "held", "several", "several"]


def test_more_moves_than_can_be_followed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_owners, "MAX_MOVES", 3)
    with pytest.raises(ScenarioError) as refused:
        block_map(load_plan(examples()["worked-example"].scenario))
    assert refused.value.status == 413
    fault = refused.value.faults[0]
    assert (fault.code, fault.params) == ("response_too_large", {"num_moves": 4, "limit": 3})


@pytest.mark.parametrize("num_steps", [1, 2, 3, 7, 80, 100, 257, 512])
def test_a_picture_of_the_map_is_no_larger_than_a_screen(num_steps: int) -> None:
    steps = [{"num_scheduled_tokens": {"A": 1}, "num_computed_tokens": {"A": 9_000}}]
    steps += [{"num_scheduled_tokens": {"A": 1}} for _ in range(num_steps - 1)]
    config = {"max_model_len": 16_384, "num_blocks": 2**14, "kv_cache_groups": [{"block_size": 1}], "max_num_reqs": 1}
    plan = load_plan({"version": 1, "config": config, "requests": [{"req_id": "A", "prompt_len": 9_001}], "steps": steps})
    found = block_map(plan)
    assert len(found.parts) * num_steps <= block_owners.MAX_CELLS
    assert -(-len(found.parts) // found.parts_per_line) <= block_owners.MAX_LINES
    assert found.parts_per_line * num_steps <= max(block_owners.MAX_COLUMNS, num_steps)


def test_long_schedules_over_big_pools_stay_small() -> None:
    requests = [{"req_id": f"r{index}", "prompt_len": 100} for index in range(64)]
    steps = [{"num_scheduled_tokens": {request["req_id"]: 100 for request in requests}}]
    steps += [{"num_scheduled_tokens": {request["req_id"]: 1 for request in requests}} for _ in range(511)]
    config = {"max_num_reqs": 64, "max_num_batched_tokens": 8192, "max_model_len": 1024, "num_blocks": 2**24}
    found = block_map(load_plan({"version": 1, "config": config, "requests": requests, "steps": steps}))
    assert len(found.parts) * found.num_steps <= block_owners.MAX_CELLS
    assert found.parts[-1].last < found.last_block
    assert found.parts_per_line == 1
    assert sum(run.state.num_held for run in found.runs if run.last_step == 511) == 64 * -(-611 // 16)


def test_examples_agree_with_their_traces(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            agrees_with_the_trace(examples()[name].scenario)


@SOME
@given(strategies.valid_scenarios())
def test_strict_scenarios_agree_with_their_traces(given_scenario: Scenario) -> None:
    agrees_with_the_trace(given_scenario)


@SOME
@given(strategies.valid_scenarios(strict=False))
def test_lenient_scenarios_agree_with_their_traces(given_scenario: Scenario) -> None:
    agrees_with_the_trace(given_scenario)


@SOME
@given(strategies.valid_scenarios())
def test_parts_of_many_blocks_agree_with_their_traces(given_scenario: Scenario) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_owners, "MAX_SINGLE_PARTS", 0)
        patch.setattr(block_owners, "MAX_PARTS", 5)
        agrees_with_the_trace(given_scenario)


def agrees_with_the_trace(given_scenario: Scenario) -> None:
    plan = load_plan(given_scenario)
    trace = trace_scenario(plan, torch.device("cpu"), lambda key, params: key)
    found = block_map(plan)
    places = {request.req_id: index for index, request in enumerate(plan.scenario.requests)}
    covers_every_row_and_step(found, len(trace["steps"]))
    for step in trace["steps"]:
        spaces = {name: space["values"] for name, space in step["spaces"].items()}
        owners = [spaces["row_req_ids"][row] for row in spaces["kv_block_rows"]]
        holders: dict[int, Counter[int]] = {}
        for block_id, req_id in zip(spaces["kv_block_ids"], owners, strict=True):
            holders.setdefault(block_id, Counter())[places[req_id]] += 1
        last_owners = dict(zip(spaces["stale_block_ids"], spaces["stale_block_req_ids"], strict=True))
        for row, state in enumerate(states_of(found, step["index"])):
            ids = range(found.parts[row].first, found.parts[row].last + 1)
            owned = sum((holders.get(block_id, Counter()) for block_id in ids), Counter[int]())
            stale = [block_id for block_id in ids if block_id in last_owners]
            assert state.num_held == sum(block_id in holders for block_id in ids)
            assert state.num_stale == len(stale)
            assert state.num_owners == len(owned)
            assert state.num_owned == (max(owned.values()) if owned else 0)
            assert (state.owner is None) == (not owned)
            if state.owner is not None:
                assert owned[state.owner] == state.num_owned
            if len(ids) == 1 and stale:
                assert state.last_owner == places[last_owners[stale[0]]]


def states_of(found: BlockMap, step: int) -> list[PartState]:
    return [run.state for run in found.runs if run.first_step <= step <= run.last_step]


def covers_every_row_and_step(found: BlockMap, num_steps: int) -> None:
    assert found.num_steps == num_steps
    assert found.parts[0].first == 0
    for before, after in zip(found.parts, found.parts[1:], strict=False):
        assert after.first == before.last + 1
    cells = [(run.part, step) for run in found.runs for step in range(run.first_step, run.last_step + 1)]
    assert cells == [(row, step) for row in range(len(found.parts)) for step in range(num_steps)] or num_steps == 0
