"""The reference itself: against every recording of vLLM's kernels, and against cases worked out by hand.

What holds here makes `tests/reference.py` a judge that is independent of the product. The strategies are checked with it:
what they call valid has no fault and runs, what they call invalid has the fault they name.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from tests import reference, strategies
from tests.conformance.recordings import as_recorded, load

Scenario = dict[str, Any]

WORKED: Scenario = {
    "version": 1,
    "title": "One decode, one prefill chunk",
    "start_step": 1,
    "requests": [{"req_id": "B", "prompt_len": 31}, {"req_id": "A", "prompt_len": 24}],
    "steps": [
        {"num_scheduled_tokens": {"B": 31, "A": 16}, "new_block_ids": {"B": [[37, 12]], "A": [[81, 44]]}},
        {"num_scheduled_tokens": {"B": 1, "A": 8}},
    ],
}


def scenario(requests: list[dict[str, Any]], steps: list[dict[str, Any]], **config: Any) -> Scenario:
    """A scenario with a pool in ascending order, unless `config` says otherwise."""
    return {
        "version": 1,
        "config": {"block_pool": {"order": "ascending"}, **config},
        "requests": requests,
        "steps": steps,
    }


def steps_of(given_scenario: Scenario) -> list[dict[str, Any]]:
    """The steps of a scenario without faults, each with its spaces merged in."""
    assert reference.faults(given_scenario) == []
    return [{**step, **step["spaces"]} for step in reference.run(given_scenario)["steps"]]


# ---- vLLM's own results


def test_agrees_with_the_recordings(subtests: pytest.Subtests) -> None:
    for recording in load():
        with subtests.test(recording.name):
            assert reference.faults(recording.scenario) == []
            trace = reference.run(recording.scenario)
            assert trace["stopped"] is None
            assert len(trace["steps"]) == len(recording.expected)
            for step, expected in zip(trace["steps"], recording.expected, strict=True):
                assert as_recorded(step, step["spaces"], set(expected)) == expected, f"step {step['index']}"


def test_every_recording_is_there() -> None:
    assert len(load()) == 168
    assert sum(len(recording.expected) for recording in load()) == 1_174


# ---- worked out by hand


def test_worked_example() -> None:
    first, second = steps_of(WORKED)
    assert first["req_ids"] == ["A", "B"]  # 16 tokens before 31
    assert second["req_ids"] == ["B", "A"]  # 1 before 8
    assert second["idx_mapping"] == [7, 6]  # B was added first and took the last row
    assert second["query_start_loc"] == [0, 1, 9]
    assert second["positions"] == [31, *range(16, 24)]  # B has computed 31, A 16
    assert second["seq_lens"] == [32, 24]  # 31 + 1, 16 + 8
    # request 0 is named 1000 + position, request 1 is named 2000 + position
    assert second["input_ids"] == [1031, *range(2016, 2024)]
    # position 31 is in block 31 // 16 = 1, which is 12, at offset 15: 12 * 16 + 15 = 207
    # position 16 is in block 1, which is 44, at offset 0: 44 * 16 + 0 = 704
    assert second["slot_mappings"] == [[207, *range(704, 712)]]
    assert second["block_indices"] == [[1] * 9]
    assert second["block_offsets"] == [[15, *range(8)]]
    assert second["block_numbers"] == [[12, *[44] * 8]]
    # 8 heads * 2 * 128 elements * 2 bytes = 4096 bytes per slot: 207 * 4096 = 847872
    assert second["slot_byte_offsets"][0][0] == 847_872
    assert second["token_source"] == ["sampled", *["prefill"] * 8]
    assert [event["kind"] for event in first["events"]] == ["add_request"] * 2 + ["post_update"] * 2
    assert second["events"][0] == {"kind": "post_update", "req_id": "B", "req_state_idx": 7, "num_computed_tokens": 32}


def test_defaults_are_filled_in() -> None:
    full = reference.normalise({"version": 1, "requests": [], "steps": [{}]})
    assert full["config"]["kv_cache_groups"] == [{"name": "full", "block_size": 16, "sliding_window": None}]
    assert full["config"]["max_num_reqs"] == 8
    assert full["config"]["block_pool"] == {"order": "shuffled", "seed": 0}
    assert full["steps"][0]["num_scheduled_tokens"] == []


@pytest.mark.parametrize(("seed", "begins"), [(0, [24, 36, 22, 29, 112, 124, 113, 8]), (1, [31, 110, 29, 102, 79, 49])])
def test_shuffled_pool(seed: int, begins: list[int]) -> None:
    order = reference.pool_order(128, "shuffled", seed)
    assert order[: len(begins)] == begins
    assert sorted(order) == list(range(1, 128))


def test_pool_order_of_large_pools() -> None:
    order = reference.pool_order(70_000, "shuffled", 3)
    assert sorted(order[:65_535]) == list(range(1, 65_536))
    assert order[65_535:] == list(range(65_536, 70_000))  # only the first 65,535 are shuffled
    assert reference.pool_order(5, "ascending", 9) == [1, 2, 3, 4]
    assert reference.pool_order(2, "shuffled", 9) == [1]


def test_synthetic_token_ids() -> None:
    assert reference.synthetic_token_id(1, 16, 128) == 2016  # 127 has 3 digits
    assert reference.synthetic_token_id(0, 4, 8) == 1004  # 1 digit, but at least 3
    assert reference.synthetic_token_id(0, 4, 1000) == 1004  # 999 has 3
    assert reference.synthetic_token_id(0, 4, 1001) == 10_004  # 1000 has 4
    # 3000 * 10^7 = 30,000,000,000; less 13 * (2^31 - 1) = 27,917,287,411 leaves 2,082,712,589
    assert reference.synthetic_token_id(2999, 0, 2**20) == 2_082_712_589
    assert reference.rejected_draft_id(0, 20, 128) == 2**31 - 1 - 1020


def test_drafts_given_as_a_count() -> None:
    # B's 4-token prompt samples one token; then 3 drafts, of which 1 is accepted
    (_, step) = steps_of(
        scenario(
            [{"req_id": "B", "prompt_len": 4}],
            [
                {"num_scheduled_tokens": {"B": 4}},
                {"num_scheduled_tokens": {"B": 4}, "draft_token_ids": {"B": 3}, "sampled_token_ids": {"B": 2}},
            ],
            num_speculative_tokens=3,
        )
    )
    # position 4 holds the token sampled before, named 1004. Drafts are for positions 5, 6, 7. Two tokens are sampled: the
    # accepted draft 1005 and one more, 1006. Drafts 2 and 3 are rejected: 2^31 - 1 - 1006 and - 1007
    assert step["input_ids"] == [1004, 1005, 2_147_482_641, 2_147_482_640]
    assert step["token_source"] == ["sampled", "draft", "draft", "draft"]
    assert step["sampled_token_ids"] == [[1005, 1006]]
    assert (step["num_sampled"], step["num_rejected"]) == ([2], [2])  # 1 + 3 - 2
    assert step["num_computed_tokens_after"] == [6]  # 4 + 4 - 2
    assert step["total_len_after"] == [7]
    assert step["cu_num_logits"] == [0, 4]
    assert step["logits_indices"] == [0, 1, 2, 3]
    assert step["expanded_local_pos"] == [0, 1, 2, 3]


def test_drafts_lead_and_unknown_drafts_stay() -> None:
    (_, step) = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 2}, {"req_id": "B", "prompt_len": 2}, {"req_id": "C", "prompt_len": 2}],
            [
                {"num_scheduled_tokens": {"A": 2, "B": 2}},
                {
                    "num_scheduled_tokens": {"C": 1, "A": 1, "B": 2},
                    "draft_token_ids": {"B": [-1]},
                    "sampled_token_ids": {"B": [7]},
                },
            ],
            num_speculative_tokens=1,
        )
    )
    # keys: C (1, 1, 1), A (1, 1, 1), B (0, 0, 2)
    assert step["req_ids"] == ["B", "C", "A"]
    assert step["sort_key"] == [[0, 0, 2], [1, 1, 1], [1, 1, 1]]
    assert step["schedule_idx"] == [2, 0, 1]
    # B: last sampled 2002 and the unknown draft; C: its first prompt token 3000; A: last sampled 1002
    assert step["input_ids"] == [2002, -1, 3000, 1002]


def test_block_pool_is_last_in_first_out() -> None:
    # Two groups of block size 4. A (5 tokens) takes 2 + 2 blocks, then B (3 tokens) 1 + 1: A [1, 2] [3, 4], B [5] [6].
    # Both leave, A before B. Front of the free list: B's 6, 5, then A's 4, 3, 2, 1.
    steps = steps_of(
        scenario(
            [{"req_id": "B", "prompt_len": 3}, {"req_id": "A", "prompt_len": 5}, {"req_id": "C", "prompt_len": 9}],
            [
                {"num_scheduled_tokens": {"A": 5, "B": 3}},
                {"num_scheduled_tokens": {"C": 9}, "finished_req_ids": ["B", "A"]},
            ],
            kv_cache_groups=[{"name": "f", "block_size": 4}, {"name": "g", "block_size": 4}],
            max_num_reqs=3,
        )
    )
    assert steps[0]["block_tables"] == [[[], [5], [1, 2]], [[], [6], [3, 4]]]
    # rows: A had 2, B had 1, freed in the order A, B. C takes B's row 1, its table overwrites B's
    assert steps[1]["free_indices"] == [0, 2]
    assert steps[1]["block_tables"] == [[[], [6, 5, 4], [1, 2]], [[], [3, 2, 1], [3, 4]]]
    assert steps[1]["row_status"] == ["unused", "added", "freed"]
    assert [event["kind"] for event in steps[1]["events"]] == ["remove_request"] * 2 + ["add_request", "post_update"]


def test_pool_never_hands_out_named_ids() -> None:
    (step,) = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 32}, {"req_id": "B", "prompt_len": 17}],
            [{"num_scheduled_tokens": {"A": 32, "B": 17}, "new_block_ids": {"B": [[2, 1]]}}],
        )
    )
    assert step["block_tables"][0][6:] == [[2, 1], [3, 4]]


def test_pool_runs_out() -> None:
    # 3 blocks beside the null block; A holds 2, B needs 2
    trace = reference.run(
        scenario(
            [{"req_id": "A", "prompt_len": 20}, {"req_id": "B", "prompt_len": 20}],
            [{"num_scheduled_tokens": {"A": 20}}, {"num_scheduled_tokens": {"B": 20}}, {}],
            num_blocks=4,
        )
    )
    assert trace["stopped"] == {"step": 1, "code": "pool_exhausted", "needed": 2, "free": 1}
    assert [step["index"] for step in trace["steps"]] == [0]


def test_preempted_request_comes_back_behind_new_ones() -> None:
    steps = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 3}, {"req_id": "B", "prompt_len": 2}],
            [
                {"num_scheduled_tokens": {"A": 3}},
                {"num_scheduled_tokens": {"A": 1}},
                {"preempted_req_ids": ["A"]},
                {"num_scheduled_tokens": {"A": 4, "B": 2}, "num_computed_tokens": {"A": 1}},
            ],
            max_num_reqs=2,
        )
    )
    assert steps[2]["num_reqs"] == 0
    assert steps[2]["free_indices"] == [0, 1]
    last = steps[3]
    assert last["req_id_to_index"] == {"B": 1, "A": 0}  # B was never seen before, so it is added first
    assert last["prefill_len"] == [5, 2]  # 3 prompt tokens and 2 outputs
    assert last["prompt_len"] == [3, 2]
    assert last["req_ids"] == ["B", "A"]
    assert last["positions"] == [0, 1, 1, 2, 3, 4]
    assert last["input_ids"] == [2000, 2001, 1001, 1002, 1003, 1004]
    assert last["num_sampled"] == [1, 1]


def test_stale_tails() -> None:
    # block size 2: A's table [1, 2, 3]; B reuses row 1 and overwrites one column of it
    steps = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 5}, {"req_id": "C", "prompt_len": 4}, {"req_id": "B", "prompt_len": 2}],
            [
                {"num_scheduled_tokens": {"A": 5, "C": 4}},
                {"num_scheduled_tokens": {"B": 2}, "finished_req_ids": ["A"]},
                {"num_scheduled_tokens": {"B": 1, "C": 1}},
            ],
            max_num_reqs=2,
            kv_cache_groups=[{"name": "f", "block_size": 2}],
        )
    )
    # batch order C, A: the gathered buffer is [[4, 5], [1, 2, 3]]
    assert steps[0]["input_block_tables"] == [[[4, 5], [1, 2, 3]]]
    # A's blocks came back as 3, 2, 1; B takes 3. The persistent row keeps 2, 3 behind it
    assert steps[1]["block_tables"] == [[[4, 5], [3, 2, 3]]]
    assert steps[1]["num_blocks"] == [[2, 1]]
    # gathered row 0 keeps C's second column; row 1 is zeroed, since the step before had two requests
    assert steps[1]["input_block_tables"] == [[[3, 5]]]
    # B needs a second block for position 2: block 2, then C a third for position 4: block 1
    assert steps[2]["input_block_tables"] == [[[3, 2], [4, 5, 1]]]


def test_sliding_window_null_blocks() -> None:
    # block size 2, window 3: with 7 computed tokens, max(7 - 2, 0) // 2 = 2 blocks are out of sight
    steps = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 7}],
            [{"num_scheduled_tokens": {"A": 7}}, {"num_scheduled_tokens": {"A": 1}}],
            kv_cache_groups=[{"name": "w", "block_size": 2, "sliding_window": 3}],
        )
    )
    assert steps[0]["input_block_tables"] == [[[1, 2, 3, 4]]]
    assert steps[1]["input_block_tables"] == [[[0, 0, 3, 4]]]
    assert steps[1]["block_tables"][0][7] == [1, 2, 3, 4]  # the persistent row is untouched
    assert steps[1]["slot_mappings"] == [[9]]  # position 7: block 4 at offset 1


def test_context_parallel() -> None:
    # 2 ranks, interleave 2, block size 4: a virtual block covers 8 tokens. Rank 1 has offsets 2, 3, 6, 7
    (step,) = steps_of(
        scenario(
            [{"req_id": "A", "prompt_len": 11}],
            [{"num_scheduled_tokens": {"A": 11}, "new_block_ids": {"A": [[5, 9]]}}],
            kv_cache_groups=[{"name": "f", "block_size": 4}],
            context_parallel={"size": 2, "rank": 1, "interleave": 2},
        )
    )
    assert step["is_local"] == [position % 8 in (2, 3, 6, 7) for position in range(11)]
    # offset 6 is local 6 // 4 * 2 + 6 % 2 = 2; position 10 is virtual block 1 (9), offset 2, local 0
    assert step["slot_mappings"] == [[-1, -1, 20, 21, -1, -1, 22, 23, -1, -1, 36]]
    assert step["block_offsets"] == [[None, None, 0, 1, None, None, 2, 3, None, None, 0]]
    # 11 // 2 // 2 * 2 = 4, 11 - 4 * 2 = 3 left, 3 - 1 * 2 = 1 for this rank: 5
    assert step["dcp_local_seq_lens"] == [5]


def test_uniform_decode_graph() -> None:
    # K = 1, so q = 2. Sizes 1, 3, 8 give 2 tokens / 1 request, 4 / 2, 8 / 4. Three decodes with a draft: 6 tokens fit in 8
    requests = [{"req_id": req_id, "prompt_len": 2} for req_id in "ABC"]
    decode = {"num_scheduled_tokens": dict.fromkeys("ABC", 2), "draft_token_ids": dict.fromkeys("ABC", 1)}
    prefill = {"num_scheduled_tokens": dict.fromkeys("ABC", 2)}
    config = {"num_speculative_tokens": 1, "max_num_reqs": 4}
    cudagraph = {"mode": "FULL_DECODE_ONLY", "capture_sizes": [8, 1, 3]}
    (first, second) = steps_of(scenario(requests, [prefill, decode], cudagraph=cudagraph, **config))
    assert first["cudagraph_mode"] == "NONE"  # uniform, but prefilling
    assert (second["cudagraph_mode"], second["num_reqs_padded"], second["num_tokens_padded"]) == ("FULL", 4, 8)
    assert second["query_start_loc"] == [0, 2, 4, 6, 6]
    assert second["seq_lens"] == [4, 4, 4, 0]
    assert second["slot_mappings"][0][6:] == [-1, -1]
    assert second["input_block_tables"][0][3] == []


def test_unknown_block_ids() -> None:
    (step,) = steps_of(
        scenario(
            [
                {
                    "req_id": "A",
                    "prompt_len": 20,
                    "initial": {"output_token_ids": [77], "num_computed_tokens": 20, "block_ids": [[None, 3]]},
                },
                {"req_id": "B", "prompt_len": 18},
            ],
            [{"num_scheduled_tokens": {"A": 1, "B": 18}, "new_block_ids": {"B": [[None, 6]]}}],
        )
    )
    assert step["input_ids"][0] == 77
    # A's position 20 is in the known block 3: 3 * 16 + 4. B's first 16 tokens are in an unknown one
    assert step["slot_mappings"] == [[52, *[None] * 16, 96, 97]]
    assert step["block_numbers"] == [[3, *[None] * 16, 6, 6]]
    assert step["input_block_tables"] == [[[None, 3], [None, 6]]]


def test_initial_requests() -> None:
    (step,) = steps_of(
        scenario(
            [
                {"req_id": "A", "prompt_len": 20, "initial": {"output_token_ids": 2, "num_computed_tokens": 21}},
                {"req_id": "B", "prompt_len": 5, "initial": {"num_computed_tokens": 4, "req_state_idx": 0}},
                {"req_id": "C", "prompt_len": 5, "initial": {"num_computed_tokens": 0}},
            ],
            [{"num_scheduled_tokens": {"B": 1, "A": 1}}],
            max_num_reqs=4,
        )
    )
    assert step["req_id_to_index"] == {"A": 3, "B": 0, "C": 2}
    assert step["free_indices"] == [1]
    assert step["total_len"] == [5, 0, 5, 22]
    assert step["prefill_len"] == [5, 0, 5, 20]
    assert step["block_tables"] == [[[3], [], [], [1, 2]]]  # 21 tokens, 4 tokens, none
    assert step["input_ids"] == [2004, 1021]
    assert step["is_prefilling"] == [True, False]
    assert step["row_status"] == ["live", "unused", "live", "live"]


# ---- refusals, one by one


def prefill(count: int, **more: Any) -> dict[str, Any]:
    return {"num_scheduled_tokens": {"A": count}, **more}


A = {"req_id": "A", "prompt_len": 8}
B = {"req_id": "B", "prompt_len": 8}
SMALL = {"kv_cache_groups": [{"name": "f", "block_size": 4}]}
WINDOW = {"kv_cache_groups": [{"name": "w", "block_size": 4, "sliding_window": 3}]}
REFUSED: list[tuple[str, str, Scenario]] = [
    ("duplicate_req_id", "/requests/1/req_id", scenario([A, A], [])),
    ("unknown_req_id", "/steps/0/num_scheduled_tokens/Z", scenario([A], [{"num_scheduled_tokens": {"Z": 1}}])),
    ("unknown_req_id", "/steps/0/num_scheduled_tokens/0/0", scenario([A], [{"num_scheduled_tokens": [["Z", 1]]}])),
    ("unknown_req_id", "/steps/0/finished_req_ids/0", scenario([A], [{"finished_req_ids": ["Z"]}])),
    ("chunk", "/steps/0/num_scheduled_tokens/A", scenario([A], [prefill(9)])),
    ("chunk", "/steps/1/num_scheduled_tokens/0/1", scenario([A], [prefill(5), {"num_scheduled_tokens": [["A", 4]]}])),
    ("decode", "/steps/1/num_scheduled_tokens/A", scenario([A], [prefill(8), prefill(2)])),
    ("drafts", "/steps/1/draft_token_ids/A", scenario([A], [prefill(8), prefill(2, draft_token_ids={"A": 1})])),
    (
        "drafts",
        "/steps/0/draft_token_ids/A",
        scenario([A], [prefill(4, draft_token_ids={"A": 1})], num_speculative_tokens=1),
    ),
    ("sampled", "/steps/0/sampled_token_ids/A", scenario([A], [prefill(8, sampled_token_ids={"A": []})])),
    ("sampled", "/steps/0/sampled_token_ids/A", scenario([A], [prefill(8, sampled_token_ids={"A": 2})])),
    ("sampled", "/steps/0/sampled_token_ids/A", scenario([A], [prefill(7, sampled_token_ids={"A": 1})])),
    ("hit", "/steps/0/num_computed_tokens/A", scenario([A], [prefill(1, num_computed_tokens={"A": 8})])),
    ("hit", "/steps/1/num_computed_tokens/A", scenario([A], [prefill(4), prefill(4, num_computed_tokens={"A": 4})])),
    ("length", "/steps/1/num_scheduled_tokens/A", scenario([A], [prefill(8), prefill(1)], max_model_len=9)),
    ("budget", "/steps/0/num_scheduled_tokens", scenario([A], [prefill(8)], max_num_batched_tokens=7)),
    (
        "rows",
        "/steps/0/num_scheduled_tokens/B",
        scenario([A, B], [{"num_scheduled_tokens": {"A": 8, "B": 8}}], max_num_reqs=1),
    ),
    ("not_live", "/steps/0/preempted_req_ids/0", scenario([A], [{"preempted_req_ids": ["A"]}])),
    (
        "not_live",
        "/steps/1/preempted_req_ids/0",
        scenario([A], [prefill(8), {"finished_req_ids": ["A"], "preempted_req_ids": ["A"]}]),
    ),
    ("not_live", "/steps/1/finished_req_ids/0", scenario([A], [prefill(4), prefill(4, finished_req_ids=["A"])])),
    (
        "not_live",
        "/steps/2/num_scheduled_tokens/A",
        scenario([A], [prefill(8), {"finished_req_ids": ["A"]}, prefill(1)]),
    ),
    ("unscheduled", "/steps/0/sampled_token_ids/A", scenario([A], [{"sampled_token_ids": {"A": 1}}])),
    ("unscheduled", "/steps/0/new_block_ids/A", scenario([A], [{"new_block_ids": {"A": [[]]}}])),
    (
        "row_capacity",
        "/steps/0/new_block_ids/A/0",
        scenario([A], [prefill(8, new_block_ids={"A": [[1, 2, 3, 4]]})], max_model_len=12, **SMALL),
    ),
    ("blocks_short", "/steps/0/new_block_ids/A/0", scenario([A], [prefill(8, new_block_ids={"A": [[1]]})], **SMALL)),
    (
        "block_range",
        "/steps/0/new_block_ids/A/0/1",
        scenario([A], [prefill(8, new_block_ids={"A": [[1, 128]]})], **SMALL),
    ),
    ("block_null", "/steps/0/new_block_ids/A/0/0", scenario([A], [prefill(8, new_block_ids={"A": [[0, 1]]})], **SMALL)),
    (
        "block_null",  # 6 - 2 = 4: one block is below the window, not two
        "/steps/0/new_block_ids/A/0/1",
        scenario([A], [prefill(2, num_computed_tokens={"A": 6}, new_block_ids={"A": [[0, 0]]})], **WINDOW),
    ),
    (
        "block_owned",
        "/steps/0/new_block_ids/A/0/1",
        scenario([A], [prefill(8, new_block_ids={"A": [[5, 5]]})], **SMALL),
    ),
    (
        "block_owned",  # B's hit of 3 does not cover the 4 tokens of block 5
        "/steps/1/new_block_ids/B/0/0",
        scenario(
            [A, B],
            [
                prefill(8, new_block_ids={"A": [[5, 6]]}),
                {
                    "num_scheduled_tokens": {"B": 5},
                    "num_computed_tokens": {"B": 3},
                    "new_block_ids": {"B": [[5, 7]]},
                },
            ],
            **SMALL,
        ),
    ),
    (
        "initial",
        "/requests/0/initial/num_computed_tokens",
        scenario([{**A, "initial": {"num_computed_tokens": 8}}], []),
    ),
    (
        "initial",
        "/requests/0/initial/num_computed_tokens",
        scenario([{**A, "initial": {"num_computed_tokens": 8, "output_token_ids": 2}}], []),
    ),
    (
        "initial",
        "/requests/0/initial/req_state_idx",
        scenario([{**A, "initial": {"num_computed_tokens": 1, "req_state_idx": 8}}], []),
    ),
    (
        "initial",
        "/requests/1/initial/req_state_idx",
        scenario(
            [
                {**A, "initial": {"num_computed_tokens": 1}},
                {**B, "initial": {"num_computed_tokens": 1, "req_state_idx": 7}},
            ],
            [],
        ),
    ),
]


@pytest.mark.parametrize(("code", "where", "refused"), REFUSED, ids=[f"{code}-{where}" for code, where, _ in REFUSED])
def test_refusals(code: str, where: str, refused: Scenario) -> None:
    assert reference.faults(refused) == [(code, where)]
    lenient = {**refused, "strict": False}
    assert reference.faults(lenient) == ([] if code in reference.STRICT_ONLY else [(code, where)])
    if code in reference.STRICT_ONLY:
        reference.run(lenient)


def test_every_semantic_code_is_refused_somewhere() -> None:
    assert {code for code, _, _ in REFUSED} == reference.SEMANTIC_CODES


def test_what_is_not_refused() -> None:
    # a hit that covers a shared block; a null block below the window; a block below the holder's window; surplus blocks
    shared = [
        prefill(8, new_block_ids={"A": [[5, 6, 8]]}),
        {"num_scheduled_tokens": {"B": 4}, "num_computed_tokens": {"B": 4}, "new_block_ids": {"B": [[5, 7]]}},
    ]
    assert reference.faults(scenario([A, B], shared, **SMALL)) == []
    null = [prefill(2, num_computed_tokens={"A": 6}, new_block_ids={"A": [[0, 3]]})]
    assert reference.faults(scenario([A], null, **WINDOW)) == []
    reused = [prefill(8, new_block_ids={"A": [[5, 6]]}), prefill(1, new_block_ids={"A": [[5]]})]
    assert reference.faults(scenario([A], reused, **WINDOW)) == []
    assert reference.faults(scenario([A], reused, **SMALL)) == [("block_owned", "/steps/1/new_block_ids/A/0/0")]
    # the last token that fits is sampled at max_model_len - 1
    assert reference.faults(scenario([A], [prefill(8)], max_model_len=9)) == []


def test_all_faults_are_reported_at_once() -> None:
    found = reference.faults(
        scenario(
            [A, B],
            [
                {"num_scheduled_tokens": {"A": 9, "B": 4}, "sampled_token_ids": {"B": 1}, "finished_req_ids": ["Z"]},
                {"num_scheduled_tokens": {"A": 1}},  # of a request whose counts were wrong: not judged again
            ],
            max_num_batched_tokens=12,
        )
    )
    assert sorted(found) == [
        ("budget", "/steps/0/num_scheduled_tokens"),
        ("chunk", "/steps/0/num_scheduled_tokens/A"),
        ("sampled", "/steps/0/sampled_token_ids/B"),
        ("unknown_req_id", "/steps/0/finished_req_ids/0"),
    ]


# ---- invariants, and the strategies themselves

FAST = settings(max_examples=400, deadline=None, derandomize=True, database=None)
SLOW = settings(max_examples=10_000, deadline=None, database=None)


def check_valid(valid: Scenario) -> None:
    sent = copy.deepcopy(valid)
    assert reference.faults(valid) == []
    trace = reference.run(valid)
    assert valid == sent  # nothing was written into it
    for step in trace["steps"]:
        check_invariants(step, strict=valid.get("strict", True))
    stopped = trace["stopped"]
    exhausted_at = reference.exhausted_at(valid)
    assert (None if exhausted_at is None else max(exhausted_at, 0)) == (None if stopped is None else stopped["step"])
    # the scenario with every id explicit gives the same spaces
    if stopped is None and valid.get("strict", True):
        assert reference.faults(trace["scenario"]) == []
        again = reference.run(trace["scenario"])
        assert again["steps"] == trace["steps"]


def check_invariants(step: dict[str, Any], *, strict: bool) -> None:
    spaces = step["spaces"]
    live = set(step["req_id_to_index"].values())
    assert live.isdisjoint(step["free_indices"])
    assert len(live) + len(step["free_indices"]) == len(spaces["prompt_len"])
    if not step["num_reqs"]:
        return
    starts = spaces["query_start_loc"]
    assert starts == sorted(starts)
    assert starts[-1] == step["num_tokens"] == len(spaces["positions"])
    for batch_idx, row in enumerate(spaces["idx_mapping"]):
        scheduled = spaces["num_scheduled_tokens"][batch_idx]
        assert spaces["seq_lens"][batch_idx] - scheduled == spaces["num_computed_tokens"][row]
    if strict:
        for group, slot_mapping in enumerate(spaces["slot_mappings"]):
            slots = [slot for slot in slot_mapping if slot is not None and slot != reference.PAD_SLOT_ID]
            assert len(slots) == len(set(slots)), f"group {group}"
            assert all(block != reference.NULL_BLOCK for block in spaces["block_numbers"][group])


@FAST
@given(strategies.valid_scenarios())
def test_valid_scenarios_are_valid(valid: Scenario) -> None:
    check_valid(valid)


@FAST
@given(strategies.valid_scenarios(strict=False))
def test_lenient_scenarios_are_valid(valid: Scenario) -> None:
    check_valid(valid)


@FAST
@given(strategies.invalid_scenarios())
def test_invalid_scenarios_have_the_fault_they_name(invalid: tuple[Scenario, str]) -> None:
    refused, code = invalid
    if code in reference.SEMANTIC_CODES:
        assert code in {found for found, _ in reference.faults(refused)}


@pytest.mark.parametrize("code", strategies.INVALID_CODES)
def test_every_code_finds_a_place_in_the_rich_scenario(code: str) -> None:
    assert reference.faults(strategies.RICH) == []
    mutations = strategies.mutations(code, strategies.RICH)
    assert mutations
    for mutation in mutations:
        refused = copy.deepcopy(strategies.RICH)
        mutation(refused)
        if code in reference.SEMANTIC_CODES:
            assert code in {found for found, _ in reference.faults(refused)}


def test_strategies_reach_every_kind() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=600, deadline=None, derandomize=True, database=None)
    @given(strategies.valid_scenarios())
    def count(valid: Scenario) -> None:
        trace = reference.run(valid)
        seen["stopped"] += trace["stopped"] is not None
        for step in trace["steps"]:
            spaces = step["spaces"]
            seen["empty"] += not step["num_reqs"]
            seen[step["cudagraph_mode"]] += 1
            seen["padded requests"] += step["num_reqs_padded"] > step["num_reqs"]
            seen["rejected"] += any(spaces.get("num_rejected", []))
            seen["context parallel"] += "is_local" in spaces
            seen["unknown slots"] += any(None in slots for slots in spaces.get("slot_mappings", []))
            seen["null blocks"] += any(0 in row for rows in spaces.get("input_block_tables", []) for row in rows)
            seen["drafts while prefilling"] += any(
                prefilling and drafts
                for prefilling, drafts in zip(
                    spaces.get("is_prefilling", []), spaces.get("num_draft_tokens", []), strict=True
                )
            )
            for event in step["events"]:
                seen[event.get("reason", event["kind"])] += 1

    count()
    kinds = ["stopped", "empty", "NONE", "FULL", "PIECEWISE", "rejected", "finished", "preempted"]
    kinds += [
        "add_request",
        "append_block_ids",
        "padded requests",
        "context parallel",
        "unknown slots",
        "null blocks",
        "drafts while prefilling",
    ]
    assert {kind for kind in kinds if not seen[kind]} == set()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@SLOW
@given(strategies.valid_scenarios())
def test_many_valid_scenarios(valid: Scenario) -> None:
    check_valid(valid)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@SLOW
@given(strategies.invalid_scenarios())
def test_many_invalid_scenarios(invalid: tuple[Scenario, str]) -> None:
    refused, code = invalid
    if code in reference.SEMANTIC_CODES:
        assert code in {found for found, _ in reference.faults(refused)}
