"""The plan, step by step: who gets which row order, blocks and ids. Worked out by hand."""

from __future__ import annotations

import pytest
import torch

from app.i18n import translator
from app.scenario import load_plan
from app.scenario.plan.plan import Plan, PlannedStep
from app.trace.trace import trace_scenario
from tests.scenario.faults import Scenario, blocks_of, of, one, request, step, two, worked

POOL = {"order": "ascending"}


def planned(scenario: Scenario) -> list[PlannedStep]:
    return list(load_plan(scenario).steps)


def new_blocks(one_step: PlannedStep) -> dict[str, list[list[int]]]:
    return {req_id: [list(ids) for ids in block_ids] for req_id, block_ids in one_step.new_block_ids.items()}


def stopped(plan: Plan) -> tuple[int, int, int] | None:
    return None if plan.stopped is None else (plan.stopped.step, plan.stopped.needed, plan.stopped.free)


# ---- counts


def test_the_worked_example() -> None:
    first, second = planned(worked())
    assert new_blocks(first) == {"B": [[37, 12]], "A": [[81, 44]]}
    assert new_blocks(second) == {}  # B: 32 tokens in 2 blocks of 16, A: 24 in 2
    assert [admission.req_id for admission in first.admissions] == ["B", "A"]
    assert second.admissions == []
    assert [(one.req_id, one.num_tokens, one.num_computed_tokens, one.seq_len) for one in second.scheduled] == [
        ("B", 1, 31, 32),
        ("A", 8, 16, 24),
    ]
    assert [one.is_prefilling for one in second.scheduled] == [False, True]
    assert first.sampled_token_ids == {"B": [1031]}  # A's chunk of 16 of 24 yields none
    assert second.sampled_token_ids == {"B": [1032], "A": [2024]}
    assert (first.num_live, first.num_used_blocks, first.num_free_blocks) == (2, 4, 127 - 4)


def test_the_order_of_the_schedule_is_kept() -> None:
    requests = [request("10"), request("9"), request("x")]
    for scheduled in ([["x", 1], ["10", 1], ["9", 1]], {"x": 1, "10": 1, "9": 1}):
        (only,) = planned(of(requests, step(scheduled)))
        assert [one.req_id for one in only.scheduled] == ["x", "10", "9"]
        assert list(new_blocks(only)) == ["x", "10", "9"]


def test_a_rejected_draft_is_computed_again() -> None:
    """Step 1: 24 computed, 1 + 2 scheduled, 1 sampled: both drafts rejected, so 24 + 3 - 2 = 25 computed."""
    steps = planned(
        one(
            step({"A": 24}),
            step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": 1}),
            step({"A": 2}, draft_token_ids={"A": 1}),
            step({"A": 1}),
            num_speculative_tokens=2,
        )
    )
    assert [one_step.scheduled[0].num_computed_tokens for one_step in steps] == [0, 24, 25, 27]
    assert [one_step.sampled_token_ids["A"] for one_step in steps] == [[1024], [1025], [1026, 1027], [1028]]
    assert [one_step.draft_token_ids.get("A") for one_step in steps] == [
        None,
        [2**31 - 1 - 1025, 2**31 - 1 - 1026],  # rejected: mirrored ids of the positions where they stand
        [1026],  # accepted: what is sampled there
        None,
    ]


def test_one_draft_of_two_is_accepted() -> None:
    _, second, third = planned(
        one(
            step({"A": 24}),
            step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": [500, 501]}),
            step({"A": 1}),
            num_speculative_tokens=2,
        )
    )
    assert second.draft_token_ids == {"A": [500, 2**31 - 1 - 1026]}
    assert third.scheduled[0].num_computed_tokens == 26  # 24 + 3 - 1 rejected
    assert third.sampled_token_ids == {"A": [1027]}  # 24 prompt tokens, 3 sampled: the next takes position 27


def test_drafts_that_end_a_prompt() -> None:
    """24 prompt tokens and 2 drafts in one chunk; the drafts stand at 24 and 25, the samples take 24, 25 and 26."""
    (only,) = planned(one(step({"A": 26}, draft_token_ids={"A": 2}), num_speculative_tokens=2))
    assert only.sampled_token_ids == {"A": [1024, 1025, 1026]}
    assert only.draft_token_ids == {"A": [1024, 1025]}


def test_preempt_and_resume() -> None:
    """Two tokens are sampled before; resumed, 26 tokens are prefilled, and the next sample takes position 26."""
    steps = planned(
        two(
            step({"A": 24, "B": 8}),
            step({"A": 1, "B": 8}),
            step({"B": 8}, preempted_req_ids=["A"]),
            step({"A": 20, "B": 1}, num_computed_tokens={"A": 4}),
            step({"A": 2}),
        )
    )
    assert steps[2].removed == [("A", "preempted")]
    (admission,) = steps[3].admissions
    assert admission.is_resumed
    assert (admission.prompt_len, admission.prefill_len, admission.num_computed_tokens) == (24, 26, 4)
    assert [(one.req_id, one.is_prefilling) for one in steps[3].scheduled] == [("A", True), ("B", False)]
    assert steps[3].sampled_token_ids == {"B": [2025]}
    assert steps[4].sampled_token_ids == {"A": [1026]}


def test_new_requests_enter_before_resumed_ones() -> None:
    steps = planned(
        of(
            [request("A"), request("B"), request("C"), request("D")],
            step({"A": 1, "B": 1}),
            step({}, preempted_req_ids=["A", "B"]),
            step({"B": 1, "C": 1, "A": 1, "D": 1}),
        )
    )
    assert [(one.req_id, one.is_resumed) for one in steps[2].admissions] == [
        ("C", False),
        ("D", False),
        ("B", True),
        ("A", True),
    ]


def test_removals_come_in_the_order_of_names() -> None:
    """By code points: capitals before small letters, digits by their text."""
    names = ["b", "a", "B", "10", "9", "é"]
    steps = planned(
        of(
            [request(name) for name in names],
            step(dict.fromkeys(names, 1)),
            step({}, finished_req_ids=["b", "9", "é"], preempted_req_ids=["a", "10", "B"]),
        )
    )
    assert steps[1].removed == [
        ("10", "preempted"),
        ("9", "finished"),
        ("B", "preempted"),
        ("a", "preempted"),
        ("b", "finished"),
        ("é", "finished"),
    ]


# ---- blocks from the pool


def test_blocks_are_taken_request_by_request_and_group_by_group() -> None:
    """A: 9 tokens, so 2 blocks of 8 and 3 of 4. B: 4 tokens, so 1 and 1."""
    first, second = planned(
        two(
            step({"A": 9, "B": 4}),
            step({"B": 6, "A": 7}),  # B: 10 tokens: 2 and 3; A: 16 tokens: 2 and 4
            kv_cache_groups=blocks_of(8, 4),
            block_pool=POOL,
        )
    )
    assert new_blocks(first) == {"A": [[1, 2], [3, 4, 5]], "B": [[6], [7]]}
    assert new_blocks(second) == {"B": [[8], [9, 10]], "A": [[], [11]]}
    assert (second.num_used_blocks, second.num_free_blocks) == (11, 116)


def test_a_block_is_taken_when_its_first_token_comes() -> None:
    """Blocks of 4: tokens 0..3 in the first, 4 in the second."""
    steps = planned(
        one(
            step({"A": 4}),
            step({"A": 1}),
            step({"A": 3}),
            step({"A": 1}),
            prompt_len=12,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert [new_blocks(one_step) for one_step in steps] == [{"A": [[1]]}, {"A": [[2]]}, {}, {"A": [[3]]}]


def test_a_hit_takes_blocks_too() -> None:
    """Computed earlier by somebody not shown: 10 + 2 tokens are 3 blocks of 4."""
    (only,) = planned(
        one(
            step({"A": 2}, num_computed_tokens={"A": 10}),
            prompt_len=12,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert new_blocks(only) == {"A": [[1, 2, 3]]}


def test_a_virtual_block_covers_the_tokens_of_all_ranks() -> None:
    """Two ranks, blocks of 4: one entry per 8 tokens."""
    steps = planned(
        one(
            step({"A": 8}),
            step({"A": 1}),
            prompt_len=12,
            kv_cache_groups=blocks_of(4),
            context_parallel={"size": 2},
            block_pool=POOL,
        )
    )
    assert [new_blocks(one_step) for one_step in steps] == [{"A": [[1]]}, {"A": [[2]]}]


def test_rejected_drafts_keep_their_blocks() -> None:
    """Blocks of 4. Step 1 reaches 4 + 3 = 7 tokens: 2 blocks. Both drafts rejected: 5 computed; 8 fit without a new one."""
    steps = planned(
        one(
            step({"A": 4}),
            step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": 1}),
            step({"A": 3}, draft_token_ids={"A": 2}),
            step({"A": 1}),
            prompt_len=4,
            num_speculative_tokens=2,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert [new_blocks(one_step) for one_step in steps] == [{"A": [[1]]}, {"A": [[2]]}, {}, {"A": [[3]]}]


def test_blocks_come_back_to_the_front_last_first() -> None:
    """A has 1, 2 and B 3, 4, 5. Removed in one step, in the order of their names.

    A's run goes back reversed: 2, 1, 6, 7, ...; then B's: 5, 4, 3, 2, 1, 6, 7, ...
    C needs 4 blocks: 5, 4, 3, 2.
    """
    steps = planned(
        of(
            [request("A", 8), request("B", 12), request("C", 16)],
            step({"A": 8, "B": 12}),
            step({"C": 16}, finished_req_ids=["B"], preempted_req_ids=["A"]),
            step({"A": 9}),  # the next ones: 1, 6, 7
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert new_blocks(steps[0]) == {"A": [[1, 2]], "B": [[3, 4, 5]]}
    assert new_blocks(steps[1]) == {"C": [[5, 4, 3, 2]]}
    assert new_blocks(steps[2]) == {"A": [[1, 6, 7]]}


def test_blocks_come_back_group_by_group() -> None:
    """A has 1, 2 in group 0 and 3, 4, 5, 6 in group 1.

    Group 0 goes back first: 2, 1. Group 1 goes in front of it: 6, 5, 4, 3, 2, 1.
    """
    steps = planned(
        two(
            step({"A": 16}),
            step({"B": 16}, finished_req_ids=["A"]),
            prompt_len=16,
            kv_cache_groups=blocks_of(8, 4),
            block_pool=POOL,
        )
    )
    assert new_blocks(steps[0]) == {"A": [[1, 2], [3, 4, 5, 6]]}
    assert new_blocks(steps[1]) == {"B": [[6, 5], [4, 3, 2, 1]]}


def test_blocks_that_the_scenario_names_are_not_the_pools() -> None:
    """1 and 3 are named (3 only in the last step): the pool has 2, 4, 5, ... A's named block does not go back to it.

    Free is what nobody holds, whether the pool could hand it out or not: of 127 blocks 3 are held, at last 4.
    """
    steps = planned(
        two(
            step({"A": 4, "B": 8}, new_block_ids={"A": [[1]]}),
            step({"B": 1}, finished_req_ids=["A"]),
            step({"B": 3}),
            step({"B": 1}, new_block_ids={"B": [[3]]}),
            prompt_len=12,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert [new_blocks(one_step) for one_step in steps] == [
        {"A": [[1]], "B": [[2, 4]]},
        {"B": [[5]]},
        {},
        {"B": [[3]]},
    ]
    assert [one_step.num_used_blocks for one_step in steps] == [3, 3, 3, 4]
    assert [one_step.num_free_blocks for one_step in steps] == [124, 124, 124, 123]


def test_named_and_pool_blocks_in_one_table() -> None:
    """A's second block is the pool's: only that one goes back."""
    steps = planned(
        two(
            step({"A": 4}, new_block_ids={"A": [[7]]}),
            step({"A": 4}),
            step({"B": 12}, finished_req_ids=["A"]),
            prompt_len=12,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert new_blocks(steps[1]) == {"A": [[1]]}
    assert new_blocks(steps[2]) == {"B": [[1, 2, 3]]}
    assert [one_step.num_used_blocks for one_step in steps] == [1, 2, 3]


def test_a_shared_block_is_used_once() -> None:
    steps = planned(
        two(
            step({"A": 8}, new_block_ids={"A": [[5, 6]]}),
            step({"B": 4}, num_computed_tokens={"B": 4}, new_block_ids={"B": [[5, 7]]}),
            step({}, finished_req_ids=["A"]),
            step({}, finished_req_ids=["B"]),
            prompt_len=8,
            kv_cache_groups=blocks_of(4),
        )
    )
    assert [one_step.num_used_blocks for one_step in steps] == [2, 3, 2, 0]


def test_the_default_order_is_shuffled() -> None:
    (only,) = planned(one(step({"A": 24}), kv_cache_groups=blocks_of(4)))
    assert new_blocks(only) == {"A": [[24, 36, 22, 29, 112, 124]]}


# ---- the pool runs out


def test_the_trace_ends_where_the_pool_runs_out() -> None:
    """3 blocks of 4. Step 0: 2 for A. Step 1: 1 for A (9 tokens) and 1 for B, and 1 is free."""
    scenario = two(
        step({"A": 8}),
        step({"A": 1, "B": 4}),
        step({"A": 1}),
        prompt_len=12,
        num_blocks=4,
        kv_cache_groups=blocks_of(4),
        block_pool=POOL,
    )
    plan = load_plan(scenario)
    assert stopped(plan) == (1, 2, 1)
    assert [new_blocks(one_step) for one_step in plan.steps] == [{"A": [[1, 2]]}]

    traced = trace_scenario(plan, torch.device("cpu"), translator("en"))
    assert traced["stopped"] == {
        "step": 1,
        "code": "pool_exhausted",
        "needed": 2,
        "free": 1,
        "message": "Step 1 needs 2 blocks from the pool, which has 1 left: it is not computed, and neither is what follows.",
    }
    # What comes before is as if the later steps were not there.
    shorter = load_plan({**scenario, "steps": scenario["steps"][:1]})
    assert traced["steps"] == trace_scenario(shorter, torch.device("cpu"), translator("en"))["steps"]
    assert len(traced["summary"]) == 1


def test_the_step_that_removes_can_use_what_comes_back() -> None:
    """All 3 blocks are A's; it leaves in the step in which B needs 3."""
    plan = load_plan(
        two(
            step({"A": 12}),
            step({"B": 12}, finished_req_ids=["A"]),
            prompt_len=12,
            num_blocks=4,
            kv_cache_groups=blocks_of(4),
            block_pool=POOL,
        )
    )
    assert stopped(plan) is None
    assert new_blocks(plan.steps[1]) == {"B": [[3, 2, 1]]}


def test_all_or_nothing_in_one_step() -> None:
    """A alone would find its block: the step as a whole does not."""
    plan = load_plan(two(step({"A": 4, "B": 8}), prompt_len=8, num_blocks=3, kv_cache_groups=blocks_of(4)))
    assert stopped(plan) == (0, 3, 2)
    assert plan.steps == []


def test_named_blocks_need_no_pool() -> None:
    plan = load_plan(one(step({"A": 24}, new_block_ids={"A": [[1, 2]]}), num_blocks=3))
    assert stopped(plan) is None
    plan = load_plan(one(step({"A": 16}, new_block_ids={"A": [[1]]}), step({"A": 8}), num_blocks=2))
    assert stopped(plan) == (1, 1, 0)


@pytest.mark.parametrize("num_more", [0, 1, 5])
def test_steps_behind_the_stop_are_not_computed(num_more: int) -> None:
    plan = load_plan(one(step({"A": 24}), *[step({})] * num_more, num_blocks=2))
    assert stopped(plan) == (0, 2, 1)
    assert plan.steps == []


# ---- how wide tables get


def test_tables_are_as_wide_as_the_run_needs() -> None:
    assert load_plan(one(step({"A": 20}), step({"A": 4}))).num_columns == [2]
    assert load_plan(one(max_model_len=2**20)).num_columns == [1]
    assert load_plan(one(step({"A": 4}, new_block_ids={"A": [[1, 2, 3, 4]]}))).num_columns == [4]
    assert load_plan({**one(step({"A": 20}, new_block_ids={"A": [[1]]})), "strict": False}).num_columns == [2]


# ---- size


def test_a_long_run_of_many_requests() -> None:
    """128 requests over 25 steps, their names as long as they may be."""
    names = [f"{number:0128}" for number in range(128)]
    scenario = of(
        [request(name, 100) for name in names],
        *[step([[name, 4] for name in names])] * 25,
        max_num_reqs=128,
        max_num_batched_tokens=512,
        num_blocks=2**12,
    )
    steps = planned(scenario)
    assert steps[-1].num_used_blocks == 128 * 7  # 100 tokens in blocks of 16
    assert sum(len(ids[0]) for one_step in steps for ids in new_blocks(one_step).values()) == 128 * 7
