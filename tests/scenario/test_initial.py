"""Requests that are in the pool before step 0: rows, counts, outputs, blocks."""

from __future__ import annotations

from typing import Any

import torch

from app.i18n import translator
from app.rules import UNKNOWN_BLOCK
from app.scenario import load_plan
from app.scenario.plan.plan import Admission
from app.trace.trace import trace_scenario
from tests.scenario.faults import Scenario, blocks_of, of, one, request, step

POOL = {"order": "ascending"}


def initial(scenario: Scenario) -> dict[str, Admission]:
    return {admission.req_id: admission for admission in load_plan(scenario).initial}


def spaces(scenario: Scenario, index: int = 0) -> dict[str, Any]:
    traced = trace_scenario(load_plan(scenario), torch.device("cpu"), translator("en"))["steps"][index]
    return {name: space["values"] for name, space in traced["spaces"].items()} | {
        "req_id_to_index": traced["req_id_to_index"]
    }


def tables(admission: Admission) -> list[list[int]]:
    return [list(block_ids) for block_ids in admission.block_ids]


def test_rows_are_popped_in_list_order() -> None:
    """Five rows: [0, 1, 2, 3, 4]. A pops 4, B says 3, C pops 2: the end of what is left. D has none: it is not there yet."""
    entered = initial(
        of(
            [
                request("A", initial={}),
                request("B", initial={"req_state_idx": 3}),
                request("D"),
                request("C", initial={}),
            ],
            max_num_reqs=5,
        )
    )
    assert {req_id: admission.req_state_idx for req_id, admission in entered.items()} == {"A": 4, "B": 3, "C": 2}


def test_the_next_request_gets_the_row_behind_them() -> None:
    """Rows [0, 1, 2, 3]: A takes 1, so [0, 2, 3]; B, new in step 0, pops 3."""
    found = spaces(of([request("A", initial={"req_state_idx": 1}), request("B")], step({"B": 24}), max_num_reqs=4))
    assert found["req_id_to_index"] == {"A": 1, "B": 3}
    assert found["row_status"] == ["unused", "live", "unused", "added"]


def test_nothing_said_is_nothing_computed() -> None:
    admission = initial(one(initial={}))["A"]
    assert (admission.num_computed_tokens, admission.num_output_tokens, admission.last_sampled_token) == (0, 0, 0)
    assert (admission.prompt_len, admission.prefill_len) == (24, 24)
    assert tables(admission) == [[]]


def test_computed_tokens_without_outputs() -> None:
    """17 of 24 tokens: two blocks of 16, the pool's first two."""
    scenario = one(step({"A": 7}), initial={"num_computed_tokens": 17}, block_pool=POOL, max_num_reqs=1)
    admission = initial(scenario)["A"]
    assert admission.num_computed_tokens == 17
    assert tables(admission) == [[1, 2]]
    found = spaces(scenario)
    assert found["is_prefilling"] == [True]
    assert found["positions"] == list(range(17, 24))
    assert found["input_ids"] == list(range(1017, 1024))
    assert found["slot_mappings"] == [[2 * 16 + position - 16 for position in range(17, 24)]]


def test_outputs_given_as_a_count() -> None:
    """24 prompt tokens and 3 outputs: 26 computed (all but the last), 27 in all; the last output is token 26."""
    scenario = one(step({"A": 1}), initial={"output_token_ids": 3}, max_num_reqs=1)
    admission = initial(scenario)["A"]
    assert (admission.num_computed_tokens, admission.num_output_tokens, admission.prefill_len) == (26, 3, 24)
    assert admission.last_sampled_token == 1026
    found = spaces(scenario)
    assert found["total_len"] == [27]
    assert found["prefill_len"] == [24]
    assert (found["positions"], found["input_ids"], found["seq_lens"]) == ([26], [1026], [27])
    assert found["sampled_token_ids"] == [[1027]]
    assert (found["num_computed_tokens_after"], found["total_len_after"]) == ([27], [28])


def test_outputs_given_as_ids() -> None:
    scenario = one(step({"A": 1}), initial={"output_token_ids": [7, 8, 9], "num_computed_tokens": 26}, max_num_reqs=1)
    assert initial(scenario)["A"].last_sampled_token == 9
    found = spaces(scenario)
    assert (found["last_sampled_tokens"], found["input_ids"]) == ([9], [9])


def test_given_outputs_are_prefilled_again_after_preemption() -> None:
    """Resumed, the outputs 7, 8, 9 are part of what is prefilled: positions 24..26."""
    scenario = one(
        step({}, preempted_req_ids=["A"]),
        step({"A": 27}),
        initial={"output_token_ids": [7, 8, 9]},
        max_num_reqs=1,
    )
    found = spaces(scenario, 1)
    assert found["prefill_len"] == [27]
    assert found["input_ids"] == [*range(1000, 1024), 7, 8, 9]
    assert found["sampled_token_ids"] == [[1027]]


def test_counted_outputs_are_prefilled_again_after_preemption() -> None:
    scenario = one(step({}, preempted_req_ids=["A"]), step({"A": 27}), initial={"output_token_ids": 3}, max_num_reqs=1)
    assert spaces(scenario, 1)["input_ids"] == list(range(1000, 1027))


def test_blocks_come_from_the_pool_in_list_order_group_by_group() -> None:
    """Ascending. A has 9 tokens: blocks of 8 and 4, so 2 and 3. B gives its own. C has 4 tokens: 1 and 1.

    B's ids 2 and 7 are never handed out: A gets 1, 3 and 4, 5, 6; C gets 8 and 9.
    """
    entered = initial(
        of(
            [
                request("A", initial={"num_computed_tokens": 9}),
                request("B", initial={"num_computed_tokens": 4, "block_ids": [[2], [7]]}),
                request("C", initial={"num_computed_tokens": 4}),
            ],
            kv_cache_groups=blocks_of(8, 4),
            block_pool=POOL,
        )
    )
    assert tables(entered["A"]) == [[1, 3], [4, 5, 6]]
    assert tables(entered["B"]) == [[2], [7]]
    assert tables(entered["C"]) == [[8], [9]]


def test_unknown_and_surplus_blocks() -> None:
    scenario = one(
        step({"A": 8}), initial={"num_computed_tokens": 16, "block_ids": [[None, 9, 10]]}, block_pool=POOL, max_num_reqs=1
    )
    assert tables(initial(scenario)["A"]) == [[UNKNOWN_BLOCK, 9, 10]]
    found = spaces(scenario)
    assert found["block_tables"] == [[[None, 9, 10]]]
    assert found["slot_mappings"] == [list(range(144, 152))]  # positions 16..23 in block 9: 9 * 16 + 0..7


def test_null_blocks_below_the_window() -> None:
    """W = 6, 20 computed: (20 - 5) // 4 = 3 columns may be null."""
    scenario = one(
        step({"A": 1}),
        initial={"num_computed_tokens": 20, "block_ids": [[0, 0, 0, 5, 6, 7]]},
        kv_cache_groups=blocks_of(4, sliding_window=6),
        max_num_reqs=1,
    )
    found = spaces(scenario)
    assert found["slot_mappings"] == [[28]]  # position 20 is the first of column 5: 7 * 4
    assert found["input_block_tables"] == [[[0, 0, 0, 5, 6, 7]]]


def test_the_computed_count_plays_the_part_of_a_hit() -> None:
    """B is there from the start with 16 of A's tokens computed: it shares A's first block, and A can leave it behind."""
    plan = load_plan(
        of(
            [
                request("A", initial={"num_computed_tokens": 20, "block_ids": [[5, 6]]}),
                request("B", initial={"num_computed_tokens": 16, "block_ids": [[5]]}),
            ],
            step({"A": 4}),
            step({"B": 8}, finished_req_ids=["A"]),
        )
    )
    assert [one_step.num_used_blocks for one_step in plan.steps] == [2, 2]  # 5, 6; then 5 and one from the pool


def test_the_pool_may_run_out_before_the_first_step() -> None:
    """Two free blocks; A and B need one and two."""
    scenario = of(
        [request("A", initial={"num_computed_tokens": 8}), request("B", initial={"num_computed_tokens": 20})],
        step({"A": 8}),
        num_blocks=3,
    )
    plan = load_plan(scenario)
    assert plan.stopped is not None
    assert (plan.stopped.step, plan.stopped.needed, plan.stopped.free) == (0, 3, 2)
    assert plan.steps == []
    traced = trace_scenario(plan, torch.device("cpu"), translator("en"))
    assert (traced["steps"], traced["summary"]) == ([], [])
    assert traced["stopped"]["message"] == (
        "Step 0 needs 3 blocks from the pool, which has 2 left: it is not computed, and neither is what follows."
    )


def test_four_thousand_at_once() -> None:
    requests = [request(str(number), 24, initial={"num_computed_tokens": 23}) for number in range(4096)]
    entered = initial(of(requests, max_num_reqs=4096, num_blocks=2**14))
    assert entered["0"].req_state_idx == 4095
    assert entered["4095"].req_state_idx == 0
    assert len({block_id for admission in entered.values() for block_id in admission.block_ids[0]}) == 2 * 4096
