"""What is fine, just beside what is refused."""

from __future__ import annotations

import pytest

from tests.scenario.faults import (
    Scenario,
    blocks_of,
    faults_of,
    of,
    one,
    request,
    sentence,
    step,
    two,
    with_pairs,
)

ACCEPTED = [
    pytest.param(one(step({"A": 24})), id="a chunk that is the whole prompt"),
    pytest.param(one(step({"A": 8}, num_computed_tokens={"A": 16})), id="a chunk that is all behind the hit"),
    pytest.param(one(step({"A": 24}), step({}, preempted_req_ids=["A"]), step({"A": 25})), id="a resumed request's output"),
    pytest.param(
        one(step({"A": 26}, draft_token_ids={"A": 2}), num_speculative_tokens=2), id="drafts behind the end of the prompt"
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 3}, draft_token_ids={"A": [-1, 2**31 - 1]}), num_speculative_tokens=2),
        id="as many drafts as K, unknown ones too",
    ),
    pytest.param(one(step({"A": 23}, sampled_token_ids={"A": 0})), id="an unfinished chunk that samples none"),
    pytest.param(one(step({"A": 23}, sampled_token_ids={"A": []})), id="an unfinished chunk with an empty list"),
    pytest.param(one(step({"A": 24}, draft_token_ids={"A": []})), id="no drafts without speculation"),
    pytest.param(
        one(step({"A": 24}), step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": 3}), num_speculative_tokens=2),
        id="all drafts accepted",
    ),
    pytest.param(one(step({"A": 1}, num_computed_tokens={"A": 23})), id="a hit of all but one"),
    pytest.param(one(step({"A": 6}), step({"A": 1}), prompt_len=6, max_model_len=8), id="up to max_model_len - 1"),
    pytest.param(
        one(prompt_len=4, initial={"output_token_ids": 4, "num_computed_tokens": 7}, max_model_len=8),
        id="initial outputs up to max_model_len",
    ),
    pytest.param(one(initial={"num_computed_tokens": 23}), id="initial, all but one computed"),
    pytest.param(one(initial={"num_computed_tokens": 0}), id="initial, none computed"),
    pytest.param(two(step({"A": 24, "B": 8}), max_num_batched_tokens=32), id="a step as large as its budget"),
    pytest.param(two(step({"A": 24}), step({"B": 24}, preempted_req_ids=["A"]), max_num_reqs=1), id="a row given on"),
    pytest.param(one(step({"A": 24}), step({}, finished_req_ids=["A"])), id="finished after its prompt"),
    pytest.param(
        one(step({"A": 10}), step({}, preempted_req_ids=["A"]), step({"A": 24}), step({}, preempted_req_ids=["A"])),
        id="preempted twice",
    ),
    pytest.param(
        one(step({"A": 4}, new_block_ids={"A": [[1, 2]]}), prompt_len=4, max_model_len=8, kv_cache_groups=blocks_of(4)),
        id="blocks to spare, as many as a row is wide",
    ),
    pytest.param(one(step({"A": 24}, new_block_ids={"A": [[None, None]]})), id="unknown blocks"),
    pytest.param(one(step({"A": 24}, new_block_ids={"A": [[1, 127]]})), id="the first and the last block"),
    pytest.param(
        one(
            step({"A": 1}, num_computed_tokens={"A": 16}, new_block_ids={"A": [[0, 0, 5, 6, 7]]}),
            kv_cache_groups=blocks_of(4, sliding_window=6),  # (16 - 5) // 4 = 2 columns are out of sight
        ),
        id="null blocks below the window",
    ),
    pytest.param(
        two(
            step({"A": 8}, new_block_ids={"A": [[5, 6]]}),
            step({"A": 1, "B": 2}, num_computed_tokens={"B": 4}, new_block_ids={"A": [[9]], "B": [[5, 7]]}),
            prompt_len=8,
            kv_cache_groups=blocks_of(4),  # B's hit of 4 covers block 5, column 0, and no more
        ),
        id="a shared prefix",
    ),
    pytest.param(
        of(
            [
                request("A", 8, initial={"num_computed_tokens": 4, "block_ids": [[5]]}),
                request("B", 8, initial={}),
                request("C", 8, initial={"num_computed_tokens": 4, "block_ids": [[5]]}),
            ],
            kv_cache_groups=blocks_of(4),
        ),
        id="a prefix shared from the start",
    ),
    pytest.param(
        two(
            step({"A": 4}, new_block_ids={"A": [[5]]}),
            step({"B": 4}, new_block_ids={"B": [[5]]}, finished_req_ids=["A"]),
            prompt_len=4,
            kv_cache_groups=blocks_of(4),
        ),
        id="a block whose owner left in the same step",
    ),
    pytest.param(
        two(
            step({"A": 12}, new_block_ids={"A": [[5, 6, 7]]}),
            step({"A": 1, "B": 4}, new_block_ids={"A": [[8]], "B": [[5]]}),
            prompt_len=12,
            kv_cache_groups=blocks_of(4, sliding_window=6),  # A has 12 computed: (12 - 5) // 4 = 1 column is out of sight
        ),
        id="a block that has fallen below its owner's window",
    ),
]


@pytest.mark.parametrize("scenario", ACCEPTED)
def test_accepted(scenario: Scenario) -> None:
    assert [sentence(fault) for fault in faults_of(scenario)] == []
    assert [sentence(fault) for fault in faults_of(with_pairs(scenario))] == []
