"""Slots of a hit that no request computed, and blocks that several requests share: by hand, and against plain loops."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app import rules
from app.examples import examples
from app.scenario import load_plan
from app.scenario.plan.plan import Plan
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
Trace = dict[str, Any]
SOME = settings(max_examples=40, deadline=None, derandomize=True, database=None)
BLOCKS_OF_4 = {"num_blocks": 32, "kv_cache_groups": [{"block_size": 4}]}


def trace_of(scenario: Scenario) -> Trace:
    return trace_scenario(load_plan(scenario), torch.device("cpu"), lambda key, params: key)


def of(requests: dict[str, int], *steps: dict[str, Any], strict: bool = True, **config: Any) -> Scenario:
    return {
        "version": 1,
        "strict": strict,
        "config": {**BLOCKS_OF_4, **config},
        "requests": [{"req_id": req_id, "prompt_len": length} for req_id, length in requests.items()],
        "steps": list(steps),
    }


def use(trace: Trace, step: int, group: int = 0) -> dict[str, int]:
    found: dict[str, int] = trace["steps"][step]["kv_cache"]["groups"][group]
    return found


def loaded_blocks(trace: Trace, step: int) -> dict[int, list[int]]:
    """Block id -> the offsets of its loaded slots, of blocks that have some."""
    spaces = {name: space["values"] for name, space in trace["steps"][step]["spaces"].items()}
    found: dict[int, list[int]] = {}
    for entry, num_loaded in enumerate(spaces.get("kv_block_num_loaded", ())):
        filled = range(spaces["kv_block_num_filled"][entry])
        computed = range(spaces["kv_block_computed_begin"][entry], spaces["kv_block_computed_end"][entry])
        offsets = [offset for offset in filled if offset not in computed]
        assert len(offsets) == num_loaded
        if offsets:
            found[spaces["kv_block_ids"][entry]] = offsets
    return found


def checks(trace: Trace, step: int) -> dict[str, Any]:
    return {check["name"]: check for check in trace["steps"][step]["checks"]}


# ---- shared blocks


def test_a_shared_block_is_one_block() -> None:
    """A, B, C share blocks 10 and 11 of 4 slots and have one of their own: 2 + 3 = 5 blocks, 20 slots.

    Filled: 8 shared, A's 3 behind them (10 + 1 - 8), B's 3 and C's 1; 8 + 3 + 3 + 1 = 15. A slot takes 4,096 bytes a layer.
    """
    trace = trace_of(examples()["shared-prefix-blocks"].scenario)
    found = use(trace, 1)
    assert (found["num_blocks"], found["num_slots"], found["bytes_per_layer"]) == (5, 20, 20 * 4_096)
    assert (found["num_filled_slots"], found["num_waste_slots"]) == (15, 5)
    assert (found["num_written_slots"], found["num_loaded_slots"]) == (1 + 3 + 1, 0)
    assert found["num_blocks"] == trace["steps"][1]["kv_cache"]["num_used_blocks"]
    spaces = trace["steps"][1]["spaces"]
    ids, holders = spaces["kv_block_ids"]["values"], spaces["kv_block_num_holders"]["values"]
    is_first = spaces["kv_block_is_first_holder"]["values"]
    assert ids == [10, 10, 10, 11, 11, 11, 20, 21, 22]
    assert holders == [3] * 6 + [1] * 3
    assert is_first == [True, False, False] * 2 + [True] * 3


def test_nothing_is_said_of_holders_where_nobody_shares() -> None:
    trace = trace_of(examples()["worked-example"].scenario)
    assert "kv_block_num_holders" not in trace["steps"][1]["spaces"]


def test_slots_that_two_requests_write_count_once() -> None:
    """Not strict: A and B hold block 5. A writes offsets 0 to 2, B 0 and 1; then A writes 3, B 2 and 3: 3, then 2 more."""
    trace = trace_of(
        of(
            {"A": 4, "B": 4},
            {"num_scheduled_tokens": {"A": 3, "B": 2}, "new_block_ids": {"A": [[5]], "B": [[5]]}},
            {"num_scheduled_tokens": {"A": 1, "B": 2}},
            strict=False,
        )
    )
    assert [use(trace, step)["num_written_slots"] for step in (0, 1)] == [3, 2]
    assert [use(trace, step)["num_filled_slots"] for step in (0, 1)] == [3, 4]
    assert [use(trace, step)["num_blocks"] for step in (0, 1)] == [1, 1]


# ---- loaded slots


def test_a_hit_that_ends_inside_a_block_was_loaded() -> None:
    """X computed blocks 5, 9, 3. Y's hit of 11 is 2 whole blocks and 3 tokens of its own block 14; its last is computed."""
    trace = trace_of(
        of(
            {"X": 12, "Y": 12},
            {"num_scheduled_tokens": {"X": 12}, "new_block_ids": {"X": [[5, 9, 3]]}},
            {
                "num_scheduled_tokens": {"X": 1, "Y": 1},
                "num_computed_tokens": {"Y": 11},
                "new_block_ids": {"X": [[20]], "Y": [[5, 9, 14]]},
            },
            {"num_scheduled_tokens": {"Y": 1}, "new_block_ids": {"Y": [[17]]}},
        )
    )
    assert loaded_blocks(trace, 1) == {14: [0, 1, 2]}
    assert (use(trace, 1)["num_loaded_slots"], use(trace, 1)["num_written_slots"]) == (3, 2)
    check = checks(trace, 1)["hit_loaded"]
    assert check["holds"] and check["params"]["num_slots"] == 3
    assert all(check["holds"] for check in checks(trace, 1).values())
    assert loaded_blocks(trace, 2) == {14: [0, 1, 2]}  # they stay what they are
    assert "hit_loaded" not in checks(trace, 0)


def test_a_hit_on_blocks_that_nobody_computed_was_loaded() -> None:
    trace = trace_of(of({"A": 12}, {"num_scheduled_tokens": {"A": 4}, "num_computed_tokens": {"A": 8}}))
    assert sorted(loaded_blocks(trace, 0).values()) == [[0, 1, 2, 3]] * 2
    assert checks(trace, 0)["hit_loaded"]["params"]["num_slots"] == 8


def test_a_hit_on_blocks_of_a_request_that_is_gone_was_computed() -> None:
    """A finished, its blocks are free and still cached. Only 7 of its 8 slots were ever filled: the 8th was loaded."""
    trace = trace_of(
        of(
            {"A": 7, "B": 12},
            {"num_scheduled_tokens": {"A": 7}, "new_block_ids": {"A": [[5, 6]]}},
            {"finished_req_ids": ["A"]},
            {
                "num_scheduled_tokens": {"B": 4},
                "num_computed_tokens": {"B": 8},
                "new_block_ids": {"B": [[5, 6, 7]]},
            },
        )
    )
    assert loaded_blocks(trace, 2) == {6: [3]}


def test_a_hit_that_ends_inside_a_block_was_loaded_whoever_had_it_before() -> None:
    """A computed all of blocks 5, 9 and 14 and is gone. Y's hit of 11 is 5 and 9; in 14 it ends, so 3 slots were loaded."""
    trace = trace_of(
        of(
            {"A": 12, "Y": 12},
            {"num_scheduled_tokens": {"A": 12}, "new_block_ids": {"A": [[5, 9, 14]]}},
            {"finished_req_ids": ["A"]},
            {"num_scheduled_tokens": {"Y": 1}, "num_computed_tokens": {"Y": 11}, "new_block_ids": {"Y": [[5, 9, 14]]}},
        )
    )
    assert loaded_blocks(trace, 2) == {14: [0, 1, 2]}


def test_a_hit_on_a_block_that_was_another_column_was_loaded() -> None:
    """Block 6 held A's positions 4 to 7; as B's first block it holds 0 to 3, which nobody computed."""
    trace = trace_of(
        of(
            {"A": 8, "B": 12},
            {"num_scheduled_tokens": {"A": 8}, "new_block_ids": {"A": [[5, 6]]}},
            {"finished_req_ids": ["A"]},
            {
                "num_scheduled_tokens": {"B": 8},
                "num_computed_tokens": {"B": 4},
                "new_block_ids": {"B": [[6, 8, 9]]},
            },
        )
    )
    assert loaded_blocks(trace, 2) == {6: [0, 1, 2, 3]}


def test_a_hit_on_what_is_computed_in_the_same_step() -> None:
    """X writes blocks 5 and 9 in the step in which Y counts on them."""
    trace = trace_of(examples()["a-hit-on-blocks-not-yet-written"].scenario)
    assert not any(loaded_blocks(trace, step["index"]) for step in trace["steps"])


def test_half_a_block_that_is_computed_later() -> None:
    """Y counts on block 5, of which X has computed 2 slots: the others are loaded, until X computes them as well."""
    trace = trace_of(
        of(
            {"X": 8, "Y": 8},
            {"num_scheduled_tokens": {"X": 2}, "new_block_ids": {"X": [[5, 6]]}},
            {"num_scheduled_tokens": {"Y": 4}, "num_computed_tokens": {"Y": 4}, "new_block_ids": {"Y": [[5, 7]]}},
            {"num_scheduled_tokens": {"X": 6}},
        )
    )
    assert [loaded_blocks(trace, step) for step in range(3)] == [{}, {5: [2, 3]}, {}]


def test_what_an_initial_request_has_computed_is_computed() -> None:
    scenario = of(
        {"A": 9, "B": 9},
        {"num_scheduled_tokens": {"A": 1, "B": 1}, "num_computed_tokens": {"B": 8}, "new_block_ids": {"B": [[5, 6, 8]]}},
    )
    scenario["requests"][0]["initial"] = {"num_computed_tokens": 8, "block_ids": [[5, 6, 7]]}
    assert loaded_blocks(trace_of(scenario), 0) == {}


def test_loaded_slots_of_a_rank() -> None:
    """2 ranks: an entry covers 8 positions, 4 of them here. Of a hit of 11, rank 0 has one whole block, and 8 and 10."""
    parallel = {"context_parallel": {"size": 2, "rank": 0}}
    trace = trace_of(
        of({"A": 12}, {"num_scheduled_tokens": {"A": 1}, "num_computed_tokens": {"A": 11}, "new_block_ids": {"A": [[5, 6]]}})
        | {"config": {**BLOCKS_OF_4, **parallel}}
    )
    assert loaded_blocks(trace, 0) == {5: [0, 1, 2, 3], 6: [0, 1]}


def test_the_explicit_scenario_says_the_same() -> None:
    """With every id written out, blocks of the pool are named by the scenario: what was loaded does not change."""
    scenario = of(
        {"A": 12, "B": 12},
        {"num_scheduled_tokens": {"A": 12}},
        {"finished_req_ids": ["A"], "num_scheduled_tokens": {"B": 3}, "num_computed_tokens": {"B": 9}},
    )
    trace = trace_of(scenario)
    again = trace_of(trace["scenario"])
    assert [loaded_blocks(trace, step) for step in (0, 1)] == [loaded_blocks(again, step) for step in (0, 1)]


# ---- against plain loops


def test_examples(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            agrees_with_loops(examples()[name].scenario)


@SOME
@given(strategies.valid_scenarios())
def test_strict_scenarios(scenario: Scenario) -> None:
    agrees_with_loops(scenario)


def agrees_with_loops(scenario: Scenario) -> None:
    plan = load_plan(scenario)
    trace = trace_scenario(plan, torch.device("cpu"), lambda key, params: key)
    for step, computed in zip(trace["steps"], computed_slots(plan), strict=True):
        spaces = {name: space["values"] for name, space in step["spaces"].items()}
        filled: dict[tuple[int, int], set[int]] = {}
        written: dict[tuple[int, int], set[int]] = {}
        num_loaded: dict[tuple[int, int], int] = {}
        in_order = spaces["kv_block_ids"]
        assert in_order == sorted(in_order)
        for entry, block_id in enumerate(in_order):
            block = (spaces["kv_block_groups"][entry], block_id)
            offsets = set(range(spaces["kv_block_num_filled"][entry]))
            filled.setdefault(block, set()).update(offsets)
            column, slots = computed.get(block, (None, set()))
            loaded = offsets - slots if column == spaces["kv_block_indices"][entry] else set()
            num_loaded[block] = max(num_loaded.get(block, 0), len(loaded))
            assert spaces.get("kv_block_num_loaded", [0] * len(in_order))[entry] == len(loaded), block
        for group, block_id, offset in written_slots(step, spaces):
            written.setdefault((group, block_id), set()).add(offset)
        for index, group in enumerate(step["kv_cache"]["groups"]):
            blocks = [block for block in filled if block[0] == index]
            assert group["num_blocks"] == len(blocks)
            assert group["num_filled_slots"] == sum(len(filled[block]) for block in blocks)
            assert group["num_loaded_slots"] == sum(num_loaded[block] for block in blocks)
            assert group["num_written_slots"] == sum(len(written.get(block, ())) for block in blocks)


def written_slots(step: dict[str, Any], spaces: dict[str, Any]) -> list[tuple[int, int, int]]:
    """(group, block, offset) of every slot that a token of the step is written to."""
    return [
        (group, block_id, spaces["block_offsets"][group][token])
        for group in range(len(step["kv_cache"]["groups"]))
        for token, block_id in enumerate(spaces.get("block_numbers", [[]] * 8)[group])
        if block_id not in (None, rules.NULL_BLOCK)
    ]


def computed_slots(plan: Plan) -> list[dict[tuple[int, int], tuple[int, set[int]]]]:
    """After each step, of the blocks of hits: (group, block id) -> its column, and the offsets that requests computed there.

    Slot by slot.
    """
    config = plan.scenario.config
    parallel = (config.context_parallel.size, config.context_parallel.rank, config.context_parallel.interleave)
    column_of: dict[tuple[int, int], int] = {}
    computed: dict[tuple[int, int], set[int]] = {}
    tables: dict[str, list[list[int]]] = {}

    def hold(req_id: str, block_ids: Any, hit: int) -> None:
        held = tables.setdefault(req_id, [[] for _ in config.kv_cache_groups])
        for index, (group, ids) in enumerate(zip(config.kv_cache_groups, block_ids, strict=True)):
            for block_id in ids:
                column = len(held[index])
                held[index].append(block_id)
                is_whole = (column + 1) * config.tokens_per_block(group) <= hit
                if not (is_whole and column_of.get((index, block_id)) == column):
                    computed[index, block_id] = set()
                    column_of[index, block_id] = column

    def compute(req_id: str, before: int, after: int) -> None:
        for index, group in enumerate(config.kv_cache_groups):
            for position in range(before, after):
                column, place = divmod(position, config.tokens_per_block(group))
                if column < len(tables[req_id][index]) and rules.is_local_token(position, *parallel):
                    block = (index, tables[req_id][index][column])
                    if column_of[block] == column:
                        computed[block].add(rules.num_local_tokens(place, *parallel))

    of_hits = {
        (index, block_id)
        for step in plan.steps
        for admission in step.admissions
        for index, group in enumerate(config.kv_cache_groups)
        for column, block_id in enumerate(admission.block_ids[index])
        if column * config.tokens_per_block(group) < admission.num_computed_tokens
    }
    for admission in plan.initial:
        hold(admission.req_id, admission.block_ids, 0)
        compute(admission.req_id, 0, admission.num_computed_tokens)
    found = []
    for step in plan.steps:
        for req_id, _ in step.removed:
            tables.pop(req_id)
        hits = {admission.req_id: admission.num_computed_tokens for admission in step.admissions}
        for req_id, block_ids in step.new_block_ids.items():
            hold(req_id, block_ids, hits.get(req_id, 0))
        for request in step.scheduled:
            after = request.num_computed_tokens_after(len(step.sampled_token_ids.get(request.req_id, ())))
            compute(request.req_id, request.num_computed_tokens, after)
        found.append({block: (column_of[block], set(computed[block])) for block in computed if block in of_hits})
    return found
