"""Tokens and pool use over the steps: by hand, and against what the trace of every step says."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app.examples import examples
from app.scenario import load_plan
from app.trace.counts.series import GroupSeries, pool_series, token_series
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def scenario(requests: list[dict[str, Any]], steps: list[dict[str, Any]], **config: Any) -> Scenario:
    return {"version": 1, "config": config, "requests": requests, "steps": steps}


def test_the_worked_example() -> None:
    plan = load_plan(examples()["worked-example"].scenario)
    tokens, pool = token_series(plan), pool_series(plan)
    assert tokens.prefill == [31 + 16, 8]
    assert tokens.decode == [0, 1]
    assert tokens.draft == tokens.padding == [0, 0]
    assert pool.num_blocks == 127
    assert pool.used_blocks == [4, 4]
    assert pool.reserved_blocks == [2 * 128 // 16] * 2
    assert pool.reserved_slots == [2 * 128] * 2
    # 4 blocks of 16 slots; B's 31 then 32 tokens, A's 16 then 24
    assert pool.groups == [GroupSeries("full", [31 + 16, 32 + 24], [64 - 47, 64 - 56])]


def test_rejected_drafts_are_not_filled_and_padding_is_counted() -> None:
    steps = [
        {"num_scheduled_tokens": {"A": 4}},
        {"num_scheduled_tokens": {"A": 3}, "draft_token_ids": {"A": 2}, "sampled_token_ids": {"A": 2}},
        {"num_scheduled_tokens": {"A": 1}},
    ]
    plan = load_plan(
        scenario(
            [{"req_id": "A", "prompt_len": 4}],
            steps,
            num_speculative_tokens=2,
            max_model_len=16,
            kv_cache_groups=[{"block_size": 4}],
            cudagraph={"mode": "PIECEWISE", "capture_sizes": [1, 4]},
        )
    )
    tokens, pool = token_series(plan), pool_series(plan)
    assert tokens.prefill == [4, 0, 0]
    assert tokens.decode == [0, 1, 1]
    assert tokens.draft == [0, 2, 0]
    assert tokens.padding == [0, 4 - 3, 0]
    # 4 + 3 tokens, of which one draft is rejected: 6 stand in two blocks of 4; then 7
    assert pool.groups[0].filled == [4, 6, 7]
    assert pool.groups[0].waste == [0, 2, 1]
    assert pool.used_blocks == [1, 2, 2]
    assert pool.reserved_blocks == [4, 4, 4]


def test_null_and_unknown_blocks_hold_nothing() -> None:
    # Columns 0 and 1 lie below the window of 4, column 2 is not known, column 3 is block 9.
    steps = [
        {"num_scheduled_tokens": {"A": 1}, "num_computed_tokens": {"A": 13}, "new_block_ids": {"A": [[0, 0, None, 9]]}},
        {"num_scheduled_tokens": {"A": 1}},
    ]
    group = {"name": "window", "block_size": 4, "sliding_window": 4}
    plan = load_plan(scenario([{"req_id": "A", "prompt_len": 14}], steps, kv_cache_groups=[group]))
    pool = pool_series(plan)
    assert pool.groups == [GroupSeries("window", [14 - 12, 15 - 12], [4 - 2, 4 - 3])]
    assert pool.used_blocks == [1, 1]


def test_a_shared_block_counts_once() -> None:
    pool = pool_series(load_plan(examples()["shared-prefix-blocks"].scenario))
    assert pool.used_blocks == [3, 5, 4]
    # A's 10; the 8 shared and 3 of A, 3 of B, 1 of C; the same 8 and 4 of B, 2 of C. Of 3, 5 and 4 blocks of 4 slots.
    assert pool.groups == [GroupSeries("full", [10, 15, 14], [12 - 10, 20 - 15, 16 - 14])]


def test_a_shared_block_is_as_full_as_its_fullest_holder_says() -> None:
    """Not strict: A, B and C hold block 5 of 4 slots. A has filled 3 of it, B 1, then 2; then A leaves, then B."""
    steps = [
        {"num_scheduled_tokens": {"A": 3, "B": 1, "C": 1}, "new_block_ids": {name: [[5]] for name in "ABC"}},
        {"num_scheduled_tokens": {"B": 1}},
        {"finished_req_ids": ["A"]},
        {"finished_req_ids": ["B"]},
        {"finished_req_ids": ["C"]},
    ]
    requests = [{"req_id": name, "prompt_len": 9} for name in "ABC"]
    plan = load_plan({**scenario(requests, steps, kv_cache_groups=[{"block_size": 4}]), "strict": False})
    pool = pool_series(plan)
    assert pool.groups == [GroupSeries("full", [3, 3, 2, 1, 0], [1, 1, 2, 3, 0])]
    assert pool.used_blocks == [1, 1, 1, 1, 0]


def test_a_rank_counts_its_own_slots() -> None:
    config = {"context_parallel": {"size": 2, "rank": 1}, "kv_cache_groups": [{"block_size": 4}]}
    plan = load_plan(
        scenario(
            [{"req_id": "A", "prompt_len": 9}],
            [{"num_scheduled_tokens": {"A": 9}}, {"num_scheduled_tokens": {"A": 1}}],
            max_model_len=32,
            **config,
        )
    )
    pool = pool_series(plan)
    # positions 1, 3, 5, 7 and then 9; an entry of the table covers 8 positions, 4 of them here
    assert pool.groups == [GroupSeries("full", [4, 5], [4, 3])]
    assert pool.reserved_blocks == [4, 4]
    assert pool.reserved_slots == [16, 16]


def test_no_step_no_number() -> None:
    plan = load_plan({"version": 1, "requests": [], "steps": []})
    assert token_series(plan).prefill == []
    assert pool_series(plan).filled_slots == pool_series(plan).waste_slots == []


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


def agrees_with_the_trace(given_scenario: Scenario) -> None:
    plan = load_plan(given_scenario)
    trace = trace_scenario(plan, torch.device("cpu"), lambda key, params: key)
    tokens, pool = token_series(plan), pool_series(plan)
    summary = trace["summary"]
    assert tokens.prefill == [step["num_prefill_tokens"] for step in summary]
    assert tokens.decode == [step["num_decode_tokens"] for step in summary]
    assert tokens.draft == [step["num_draft_tokens"] for step in summary]
    assert tokens.padding == [step["num_tokens_padded"] - step["num_tokens"] for step in summary]
    usage = [step["kv_cache"] for step in trace["steps"]]
    assert pool.used_blocks == [step["num_used_blocks"] for step in usage]
    assert pool.reserved_slots == [sum(group["num_reserved_slots"] for group in step["groups"]) for step in usage]
    for index, group in enumerate(pool.groups):
        assert group.filled == [step["groups"][index]["num_filled_slots"] for step in usage]
        assert group.waste == [step["groups"][index]["num_waste_slots"] for step in usage]
