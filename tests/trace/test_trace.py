"""What a trace says beside its spaces: owners, windows that are too large, usage, events."""

from typing import Any

import pytest
import torch

from app.errors import ScenarioError
from app.i18n import translator
from app.scenario import load_plan
from app.trace.trace import trace_scenario


def trace_of(scenario: dict[str, Any], first: int = 0, last: int | None = None) -> dict[str, Any]:
    return trace_scenario(load_plan(scenario), torch.device("cpu"), translator("en"), first, last)


def test_a_shared_prefix_is_judged_in_the_order_of_the_schedule() -> None:
    """R comes back, N is new: N is added first, but R is scheduled first, and N's hit covers the block they share."""
    trace = trace_of(
        {
            "version": 1,
            "config": {"kv_cache_groups": [{"name": "full", "block_size": 4}]},
            "requests": [{"req_id": "R", "prompt_len": 8}, {"req_id": "N", "prompt_len": 8}],
            "steps": [
                {"num_scheduled_tokens": {"R": 8}, "new_block_ids": {"R": [[1, 2]]}},
                {"preempted_req_ids": ["R"]},
                {
                    "num_scheduled_tokens": [["R", 9], ["N", 4]],
                    "num_computed_tokens": {"N": 4},
                    "new_block_ids": {"R": [[5, 6, 7]], "N": [[5, 8]]},
                },
            ],
        }
    )
    assert all(check["holds"] for step in trace["steps"] for check in step["checks"])


def test_a_step_that_is_too_large_is_refused_before_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = {
        "version": 1,
        "config": {
            "max_num_reqs": 16,
            "max_model_len": 2**20,
            "num_blocks": 2**24,
            "kv_cache_groups": [{"name": "full", "block_size": 1}],
        },
        "requests": [
            {"req_id": f"r{index}", "prompt_len": 1, "initial": {"output_token_ids": 300_000}} for index in range(15)
        ],
        "steps": [{"num_scheduled_tokens": {"r0": 1}}],
    }
    monkeypatch.setattr("app.trace.trace.make_runner", lambda *_: pytest.fail("tensors were made"))
    with pytest.raises(ScenarioError) as refused:  # 15 * 300,000 block ids
        trace_of(scenario)
    assert refused.value.status == 413
    fault = refused.value.faults[0]
    assert (fault.code, fault.params["last"]) == ("response_too_large", -1)


def test_usage_counts_blocks_slots_and_what_reserving_would_take() -> None:
    trace = trace_of(
        {
            "version": 1,
            "requests": [{"req_id": "B", "prompt_len": 31}, {"req_id": "A", "prompt_len": 24}],
            "steps": [
                {"num_scheduled_tokens": {"B": 31, "A": 16}},
                {"finished_req_ids": ["A"], "num_scheduled_tokens": {"B": 1}},
            ],
        }
    )
    first, second = (step["kv_cache"] for step in trace["steps"])
    group = first["groups"][0]
    assert (first["num_blocks"], first["num_used_blocks"], first["num_free_blocks"]) == (127, 3, 124)
    assert (group["num_slots"], group["num_filled_slots"], group["num_waste_slots"]) == (48, 47, 1)  # 3 * 16; 31 + 16
    assert group["num_reserved_slots"] == 256  # 2 requests * 128
    assert group["bytes_per_layer"] == 48 * 4_096
    assert second["num_stale_blocks"] == 1  # A's block
    stale = trace["steps"][1]["spaces"]
    assert stale["stale_block_req_ids"]["values"] == ["A"]
    events = trace["steps"][1]["events"]
    assert [event["kind"] for event in events] == ["remove_request", "post_update"]


def test_512_steps_are_answered_window_by_window() -> None:
    scenario = {
        "version": 1,
        "config": {"max_model_len": 1_024},
        "requests": [{"req_id": "A", "prompt_len": 16}, {"req_id": "B", "prompt_len": 16}],
        "steps": [{"num_scheduled_tokens": {"A": 16, "B": 16}}, *[{"num_scheduled_tokens": {"A": 1, "B": 1}}] * 511],
    }
    last = trace_of(scenario, 510, 511)
    assert [step["index"] for step in last["steps"]] == [510, 511]
    assert len(last["summary"]) == 512
    assert last["steps"][1]["spaces"]["positions"]["values"] == [526, 526]  # 16 + 510
    assert last["steps"][1]["spaces"]["num_computed_tokens_after"]["values"] == [527, 527]


def test_a_step_of_65536_tokens() -> None:
    """As many tokens as a step may have, from two requests."""
    trace = trace_of(
        {
            "version": 1,
            "config": {"max_num_batched_tokens": 65_536, "max_model_len": 65_536, "num_blocks": 8_192},
            "requests": [{"req_id": "A", "prompt_len": 65_535}, {"req_id": "B", "prompt_len": 1}],
            "steps": [{"num_scheduled_tokens": {"A": 65_535, "B": 1}}],
        }
    )
    spaces = {name: space["values"] for name, space in trace["steps"][0]["spaces"].items()}
    assert spaces["query_start_loc"] == [0, 1, 65_536]  # B, then A
    assert spaces["positions"] == [0, *range(65_535)]
    assert len(set(spaces["slot_mappings"][0])) == 65_536
    assert all(check["holds"] for check in trace["steps"][0]["checks"])


def test_drafts_behind_a_prompt_that_ends_read_nothing_that_is_not_known() -> None:
    """The prompt of one token ends in its first step with three drafts behind it, more than anything stored of it."""
    trace = trace_of(
        {
            "version": 1,
            "config": {"max_num_reqs": 1, "max_num_batched_tokens": 4, "max_model_len": 40, "num_speculative_tokens": 3},
            "requests": [{"req_id": "A", "prompt_len": 1}],
            "steps": [
                {
                    "num_scheduled_tokens": {"A": 4},
                    "draft_token_ids": {"A": [7, 8, 9]},
                    "sampled_token_ids": {"A": [7]},
                }
            ],
        }
    )
    spaces = trace["steps"][0]["spaces"]
    # d is at least 3, so request 0's token at position 0 is (0 + 1) * 10^3 + 0.
    assert spaces["input_ids"]["values"] == [1000, 7, 8, 9]
    assert spaces["token_source"]["values"] == ["prefill", "draft", "draft", "draft"]
    assert spaces["num_rejected"]["values"] == [3]  # 1 + 3 - 1 sampled


def test_the_last_slot_of_an_unknown_block_is_unknown_and_the_padding_behind_it_is_not() -> None:
    """A log leaves a block out; a graph pads the step from 16 to 20 tokens. Slot 15 of a block is the last of its 16."""
    trace = trace_of(
        {
            "version": 1,
            "strict": False,
            "config": {"kv_cache_groups": [{"block_size": 16}], "cudagraph": {"mode": "PIECEWISE", "capture_sizes": [20]}},
            "requests": [{"req_id": "A", "prompt_len": 16}],
            "steps": [{"num_scheduled_tokens": {"A": 16}, "new_block_ids": {"A": [[None]]}}],
        }
    )
    (step,) = trace["steps"]
    assert step["spaces"]["block_numbers"]["values"] == [[None] * 16]
    assert step["spaces"]["slot_mappings"]["values"] == [[None] * 16 + [-1] * 4]
    unique = next(check for check in step["checks"] if check["name"] == "slots_unique")
    assert (unique["params"]["num_slots"], unique["params"]["num_unknown"]) == (0, 16)
