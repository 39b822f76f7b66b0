"""Several faults at once: all that can be known is said, and what only follows from another is not."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import MAX_FAULTS, replace
from tests.scenario.faults import (
    blocks_of,
    faults_of,
    of,
    one,
    places,
    refusal,
    request,
    step,
    two,
)


def test_faults_of_different_steps_and_requests_come_together() -> None:
    scenario = two(
        step({"A": 30, "B": 12}, new_block_ids={"B": [[200]]}, finished_req_ids=["X"]),
        step({"B": 12}, num_computed_tokens={"A": 3}),
        step({"B": 2}),
        max_num_batched_tokens=40,
    )
    assert places(scenario) == [
        ("unknown_req_id", "/steps/0/finished_req_ids/0"),
        ("budget", "/steps/0/num_scheduled_tokens"),  # 30 + 12 = 42
        ("chunk", "/steps/0/num_scheduled_tokens/A"),
        ("block_range", "/steps/0/new_block_ids/B/0/0"),
        ("unscheduled", "/steps/1/num_computed_tokens/A"),
        ("decode", "/steps/2/num_scheduled_tokens/B"),
    ]


def test_a_request_can_be_wrong_in_several_ways_at_once() -> None:
    scenario = one(
        step({"A": 30}, new_block_ids={"A": [[0, 200, 3, 3]]}, sampled_token_ids={"A": 2}),
        max_num_batched_tokens=24,
    )
    assert places(scenario) == [
        ("budget", "/steps/0/num_scheduled_tokens"),
        ("chunk", "/steps/0/num_scheduled_tokens/A"),
        ("sampled", "/steps/0/sampled_token_ids/A"),
        ("block_null", "/steps/0/new_block_ids/A/0/0"),
        ("block_range", "/steps/0/new_block_ids/A/0/1"),
        ("block_owned", "/steps/0/new_block_ids/A/0/3"),
    ]


def test_outputs_that_do_not_fit_and_a_wrong_count_are_repaired_one_after_the_other() -> None:
    """4 prompt tokens and 5 outputs: 4 + 5 - 1 = 8 computed, not 2; and with max_model_len 8 at most 7 can be."""
    scenario = one(prompt_len=4, initial={"output_token_ids": 5, "num_computed_tokens": 2}, max_model_len=8)
    initial = "/requests/0/initial"
    assert [(fault.code, fault.where, fault.fix) for fault in faults_of(scenario)] == [
        ("initial", f"{initial}/num_computed_tokens", replace(f"{initial}/num_computed_tokens", 7)),
        (
            "length",
            f"{initial}/output_token_ids",
            replace(f"{initial}/output_token_ids", 4) + replace(f"{initial}/num_computed_tokens", 7),
        ),
    ]
    assert not places(one(prompt_len=4, initial={"output_token_ids": 4, "num_computed_tokens": 7}, max_model_len=8))


def test_faults_of_fields_together_and_of_steps_come_at_once() -> None:
    scenario = of(
        [
            request("A"),
            request("B", 500),
            request("A", 4),
            request("C"),
            {"req_id": "D"},
            request("E", initial={"block_ids": []}),
        ],
        step([["A", 99], ["B", 99], ["C", 25], ["C", 1], ["D", 1], ["E", 50]], finished_req_ids=["X"]),
        step([["A", 99], ["B", 99], ["C", 25], ["E", 50]], preempted_req_ids=["D"]),
        step({}, finished_req_ids=["F", "C"], new_block_ids={"B": [[], []]}),
        max_num_batched_tokens=300,
    )
    scenario["start_step"] = 3
    assert places(scenario) == [
        ("schema", "/start_step"),
        ("schema", "/requests/1/prompt_len"),
        ("duplicate_req_id", "/requests/2/req_id"),
        ("schema", "/requests/4"),
        ("schema", "/requests/5/initial/block_ids"),
        ("duplicate_key", "/steps/0/num_scheduled_tokens/3/0"),
        ("schema", "/steps/2/new_block_ids/B"),
        ("unknown_req_id", "/steps/0/finished_req_ids/0"),
        ("unknown_req_id", "/steps/2/finished_req_ids/0"),
        ("unscheduled", "/steps/2/new_block_ids/B"),
    ]


def test_what_follows_from_a_wrong_request_is_not_reported() -> None:
    """Which of the two is meant is not known, nor how long the prompt is."""
    scenario = of(
        [request("A", 8), request("B", 500), request("A", 100)],
        step({"A": 50, "B": 300}, sampled_token_ids={"A": 5}, new_block_ids={"A": [[0]]}),
        step({"A": 50, "B": 1}),
        max_num_batched_tokens=512,
    )
    assert places(scenario) == [("schema", "/requests/1/prompt_len"), ("duplicate_req_id", "/requests/2/req_id")]


def test_several_faults_of_a_list_and_of_several_groups() -> None:
    scenario = one(step({"A": 8}, new_block_ids={"A": [[128, 1], [0, 1]]}), kv_cache_groups=blocks_of(4, 4))
    assert places(scenario) == [
        ("block_range", "/steps/0/new_block_ids/A/0/0"),
        ("block_null", "/steps/0/new_block_ids/A/1/0"),
        ("block_owned", "/steps/0/new_block_ids/A/1/1"),
    ]


def test_at_most_a_hundred_are_reported_and_all_are_counted() -> None:
    scenario = one(*(step({}, finished_req_ids=["X"]) for _ in range(150)))
    error = refusal(scenario)
    assert error is not None
    assert len(error.faults) == MAX_FAULTS == 100
    assert error.num_faults == 150
    assert error.faults[-1].where == "/steps/99/finished_req_ids/0"


@pytest.mark.parametrize(
    "first",
    [
        step({"A": 25}),
        step({"A": 24}, num_computed_tokens={"A": 24}),
        step({"A": 24}, sampled_token_ids={"A": 2}),
        step({"A": 24}, draft_token_ids={"A": 1}),
    ],
)
def test_what_follows_from_a_wrong_count_is_not_reported(first: Any) -> None:
    """Whatever later steps say of it: where the request stands is not known any more."""
    later = [
        step({"A": 2}),
        step({"A": 1}, num_computed_tokens={"A": 9}),
        step({}, preempted_req_ids=["A"]),
        step({"A": 99}),
    ]
    assert len(faults_of(one(first, *later, max_num_batched_tokens=128))) == 1


def test_a_request_without_a_row_is_reported_once() -> None:
    scenario = two(
        step({"A": 24, "B": 24}),
        step({"A": 1, "B": 24}),
        step({"A": 1}, finished_req_ids=["B"]),
        max_num_reqs=1,
    )
    assert places(scenario) == [("rows", "/steps/0/num_scheduled_tokens/B")]


def test_a_request_without_a_row_takes_none_from_others() -> None:
    """One row: B finds none in step 0; when A has left, C gets it."""
    scenario = of(
        [request("A"), request("B"), request("C")],
        step({"A": 24, "B": 24}),
        step({"C": 24}, finished_req_ids=["A"]),
        max_num_reqs=1,
    )
    assert places(scenario) == [("rows", "/steps/0/num_scheduled_tokens/B")]


def test_a_request_scheduled_after_its_end_is_reported_once() -> None:
    scenario = two(
        step({"A": 24}),
        step({}, finished_req_ids=["A"]),
        step({"A": 1}),
        step({"A": 1, "B": 24}),  # A has no row, so B finds one
        step({"A": 1}, finished_req_ids=["A"]),
        max_num_reqs=1,
    )
    assert places(scenario) == [
        ("not_live", "/steps/2/num_scheduled_tokens/A"),
        ("not_live", "/steps/4/finished_req_ids/0"),
    ]


def test_wrong_names_leave_the_counts_known() -> None:
    """What is said of a request in the wrong list does not hide what is wrong with it otherwise."""
    scenario = one(
        step({"A": 24}, finished_req_ids=["A"]),
        step({"A": 2}, num_computed_tokens={"A": 1}),
    )
    assert places(scenario) == [
        ("not_live", "/steps/0/finished_req_ids/0"),
        ("hit", "/steps/1/num_computed_tokens/A"),
        ("decode", "/steps/1/num_scheduled_tokens/A"),
    ]


def test_wrong_blocks_leave_the_counts_known() -> None:
    scenario = one(step({"A": 24}, new_block_ids={"A": [[5]]}), step({"A": 3}))
    assert places(scenario) == [
        ("blocks_short", "/steps/0/new_block_ids/A/0"),
        ("decode", "/steps/1/num_scheduled_tokens/A"),
    ]


def test_too_few_blocks_are_reported_once() -> None:
    """A block is missing in step 0; it is missing in step 1 too, for the same reason."""
    scenario = one(
        step({"A": 17}, new_block_ids={"A": [[5]]}),
        step({"A": 7}, new_block_ids={"A": [[]]}),
    )
    assert places(scenario) == [("blocks_short", "/steps/0/new_block_ids/A/0")]


def test_a_block_given_to_three_is_wrong_twice() -> None:
    scenario = of(
        [request("A", 4), request("B", 4), request("C", 4)],
        step({"A": 4, "B": 4, "C": 4}, new_block_ids={"A": [[9]], "B": [[9]], "C": [[9]]}),
    )
    assert places(scenario) == [
        ("block_owned", "/steps/0/new_block_ids/B/0/0"),
        ("block_owned", "/steps/0/new_block_ids/C/0/0"),
    ]


def test_a_step_that_the_pool_cannot_serve_hides_no_fault() -> None:
    """Two blocks of 16 in all: step 0 stops the trace, and what is wrong behind it is said all the same."""
    scenario = one(
        step({"A": 40}),
        step({"A": 9}, new_block_ids={"A": [[2, 9]]}),
        prompt_len=48,
        num_blocks=3,
    )
    assert places(scenario) == [
        ("chunk", "/steps/1/num_scheduled_tokens/A"),
        ("block_range", "/steps/1/new_block_ids/A/0/1"),
    ]
