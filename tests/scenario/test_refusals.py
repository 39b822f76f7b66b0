"""Every clause of the table of refusals: what is refused where, in which words, and what makes it right.

The scenarios are as small as can be, so that the numbers in the sentences can be checked in the head. What a single field
may hold is in test_schema.py.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.scenario.faults import (
    Patch,
    Scenario,
    blocks_of,
    faults_of,
    of,
    one,
    patched,
    places,
    request,
    sentence,
    step,
    two,
    with_pairs,
    worked,
)


def put(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def drop(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


REFUSED = [
    pytest.param(
        worked(steps=[worked()["steps"][0], step({"B": 1, "A": 40})]),
        "chunk",
        "/steps/1/num_scheduled_tokens/A",
        "A has 24 tokens to prefill and 16 computed: 8 left, but 40 scheduled. Use at most 8.",
        [put("/steps/1/num_scheduled_tokens/A", 8)],
        id="chunk: more than the prompt has left",
    ),
    pytest.param(
        one(step({"A": 25})),
        "chunk",
        "/steps/0/num_scheduled_tokens/A",
        "A has 24 tokens to prefill and 0 computed: 24 left, but 25 scheduled. Use at most 24.",
        [put("/steps/0/num_scheduled_tokens/A", 24)],
        id="chunk: in the first step",
    ),
    pytest.param(
        one(step({"A": 20}, num_computed_tokens={"A": 16})),
        "chunk",
        "/steps/0/num_scheduled_tokens/A",
        "A has 24 tokens to prefill and 16 computed: 8 left, but 20 scheduled. Use at most 8.",
        [put("/steps/0/num_scheduled_tokens/A", 8)],
        id="chunk: after a hit",
    ),
    pytest.param(
        one(step({"A": 27}, draft_token_ids={"A": 2}), num_speculative_tokens=2),
        "chunk",
        "/steps/0/num_scheduled_tokens/A",
        "A has 24 tokens to prefill and 0 computed: 24 left, but 25 scheduled beside its drafts. Use 24 + 2 = 26.",
        [put("/steps/0/num_scheduled_tokens/A", 26)],
        id="chunk: drafts are not part",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, preempted_req_ids=["A"]), step({"A": 26})),
        "chunk",
        "/steps/2/num_scheduled_tokens/A",
        "A has 25 tokens to prefill and 0 computed: 25 left, but 26 scheduled. Use at most 25.",
        [put("/steps/2/num_scheduled_tokens/A", 25)],
        id="chunk: a resumed request prefills its output too",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 2})),
        "decode",
        "/steps/1/num_scheduled_tokens/A",
        "A has all its 24 prefill tokens computed, so it decodes: exactly 1 token a step, not 2.",
        [put("/steps/1/num_scheduled_tokens/A", 1)],
        id="decode: two tokens",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 1}, draft_token_ids={"A": [7, 8]}), num_speculative_tokens=2),
        "decode",
        "/steps/1/num_scheduled_tokens/A",
        "A decodes: exactly 1 token and its drafts, 1 + 2 = 3, not 1.",
        [put("/steps/1/num_scheduled_tokens/A", 3)],
        id="decode: with drafts",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 4}, draft_token_ids={"A": 3}), num_speculative_tokens=2),
        "drafts",
        "/steps/1/draft_token_ids/A",
        "A has 3 drafts; num_speculative_tokens allows 2.",
        [put("/steps/1/draft_token_ids/A", 2), put("/steps/1/num_scheduled_tokens/A", 3)],
        id="drafts: more than K",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 4}, draft_token_ids={"A": [5, 6, 7]}), num_speculative_tokens=2),
        "drafts",
        "/steps/1/draft_token_ids/A",
        "A has 3 drafts; num_speculative_tokens allows 2.",
        [put("/steps/1/draft_token_ids/A", [5, 6]), put("/steps/1/num_scheduled_tokens/A", 3)],
        id="drafts: more ids than K",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 3}, draft_token_ids={"A": 2})),
        "drafts",
        "/steps/1/draft_token_ids/A",
        "A has drafts (2), but num_speculative_tokens is 0. Leave them out, or raise num_speculative_tokens.",
        [drop("/steps/1/draft_token_ids/A"), put("/steps/1/num_scheduled_tokens/A", 1)],
        id="drafts: without speculation",
    ),
    pytest.param(
        one(step({"A": 10}, draft_token_ids={"A": 2}), num_speculative_tokens=2),
        "drafts",
        "/steps/0/draft_token_ids/A",
        "A still prefills after this step (0 + 8 of 24 tokens), so it cannot have drafts.",
        [drop("/steps/0/draft_token_ids/A"), put("/steps/0/num_scheduled_tokens/A", 8)],
        id="drafts: on an unfinished chunk",
    ),
    pytest.param(
        one(step({"A": 2}, draft_token_ids={"A": 3}), num_speculative_tokens=3),
        "drafts",
        "/steps/0/draft_token_ids/A",
        "A still prefills, so it cannot have drafts. And drafts are part of what is scheduled: 3 do not fit into 2.",
        [drop("/steps/0/draft_token_ids/A")],  # 2 tokens of the prompt stay
        id="drafts: more than scheduled",
    ),
    pytest.param(
        one(step({"A": 24}, sampled_token_ids={"A": 0})),
        "sampled",
        "/steps/0/sampled_token_ids/A",
        "A reaches the end of its prefill in this step, so at least one token is sampled.",
        [drop("/steps/0/sampled_token_ids/A")],
        id="sampled: none, a count",
    ),
    pytest.param(
        one(step({"A": 24}, sampled_token_ids={"A": []})),
        "sampled",
        "/steps/0/sampled_token_ids/A",
        "A reaches the end of its prefill in this step, so at least one token is sampled.",
        [drop("/steps/0/sampled_token_ids/A")],
        id="sampled: none, a list",
    ),
    pytest.param(
        one(step({"A": 24}, sampled_token_ids={"A": 2})),
        "sampled",
        "/steps/0/sampled_token_ids/A",
        "A samples 2 tokens; without drafts exactly 1 is sampled.",
        [put("/steps/0/sampled_token_ids/A", 1)],
        id="sampled: two without drafts",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": 4}), num_speculative_tokens=2),
        "sampled",
        "/steps/1/sampled_token_ids/A",
        "A samples 4 tokens; at most 1 + 2 = 3 can be, one more than its drafts.",
        [put("/steps/1/sampled_token_ids/A", 3)],
        id="sampled: more than drafts allow, a count",
    ),
    pytest.param(
        one(
            step({"A": 24}),
            step({"A": 2}, draft_token_ids={"A": 1}, sampled_token_ids={"A": [4, 5, 6]}),
            num_speculative_tokens=2,
        ),
        "sampled",
        "/steps/1/sampled_token_ids/A",
        "A samples 3 tokens; at most 1 + 1 = 2 can be, one more than its drafts.",
        [put("/steps/1/sampled_token_ids/A", [4, 5])],
        id="sampled: more than drafts allow, a list",
    ),
    pytest.param(
        one(step({"A": 23}, sampled_token_ids={"A": [5]})),
        "sampled",
        "/steps/0/sampled_token_ids/A",
        "A reaches 23 of its 24 prefill tokens in this step: an unfinished chunk yields no token.",
        [drop("/steps/0/sampled_token_ids/A")],
        id="sampled: on an unfinished chunk",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 24})),
        "hit",
        "/steps/0/num_computed_tokens/A",
        (
            "The prefix-cache hit of A is 24 of 24 tokens; at least one token is always computed, and the cache hits whole"
            " blocks: at most 16."  # 23 // 16 * 16
        ),
        [put("/steps/0/num_computed_tokens/A", 16)],
        id="hit: the whole prompt",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 40}), prompt_len=40),
        "hit",
        "/steps/0/num_computed_tokens/A",
        (
            "The prefix-cache hit of A is 40 of 40 tokens; at least one token is always computed, and the cache hits whole"
            " blocks: at most 32."  # 39 // 16 * 16
        ),
        [put("/steps/0/num_computed_tokens/A", 32)],
        id="hit: a full one of 40",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 24}), kv_cache_groups=[{"block_size": 4}, {"block_size": 6}]),
        "hit",
        "/steps/0/num_computed_tokens/A",
        (
            "The prefix-cache hit of A is 24 of 24 tokens; at least one token is always computed, and the cache hits whole"
            " blocks: at most 12."  # whole blocks of 4 and of 6 end together every 12
        ),
        [put("/steps/0/num_computed_tokens/A", 12)],
        id="hit: whole blocks of every group",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 24}), kv_cache_groups=[{"block_size": 1}]),
        "hit",
        "/steps/0/num_computed_tokens/A",
        "The prefix-cache hit of A is 24 of 24 tokens; at least one token is always computed, so at most 23 can be a hit.",
        [put("/steps/0/num_computed_tokens/A", 23)],
        id="hit: every token is a block",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 16}), prompt_len=16),
        "hit",
        "/steps/0/num_computed_tokens/A",
        (
            "The prefix-cache hit of A is 16 of 16 tokens; at least one token is always computed, and the 15 before it fill"
            " no whole block: there is nothing to hit."
        ),
        [drop("/steps/0/num_computed_tokens/A")],
        id="hit: of a prompt of one block",
    ),
    pytest.param(
        one(step({"A": 1}, num_computed_tokens={"A": 1}), prompt_len=1),
        "hit",
        "/steps/0/num_computed_tokens/A",
        "The prefix-cache hit of A is 1 of 1 token; at least one token is always computed, so at most 0 can be a hit.",
        [drop("/steps/0/num_computed_tokens/A")],
        id="hit: of a prompt of one token",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, preempted_req_ids=["A"]), step({"A": 1}, num_computed_tokens={"A": 25})),
        "hit",
        "/steps/2/num_computed_tokens/A",
        (
            "The prefix-cache hit of A is 25 of 25 tokens; at least one token is always computed, and the cache hits whole"
            " blocks: at most 16."
        ),
        [put("/steps/2/num_computed_tokens/A", 16)],
        id="hit: of a resumed request",
    ),
    pytest.param(
        one(step({"A": 16}), step({"A": 8}, num_computed_tokens={"A": 0})),
        "hit",
        "/steps/1/num_computed_tokens/A",
        "A is in the pool already; a prefix-cache hit comes only with the step that adds a request.",
        [drop("/steps/1/num_computed_tokens/A")],
        id="hit: already in the pool",
    ),
    pytest.param(
        one(step({"A": 7}), step({"A": 1}), prompt_len=7, max_model_len=8),
        "length",
        "/steps/1/num_scheduled_tokens/A",
        (
            "A would reach 8 tokens (7 computed + 1 scheduled). With max_model_len 8 a step reaches at most 7: the "
            "token sampled there is the last that fits."
        ),
        [drop("/steps/1/num_scheduled_tokens/A")],
        id="length: a decode",
    ),
    pytest.param(
        one(
            step({}, preempted_req_ids=["A"]), step({"A": 8}), prompt_len=4, initial={"output_token_ids": 4}, max_model_len=8
        ),
        "length",
        "/steps/1/num_scheduled_tokens/A",
        (
            "A would reach 8 tokens (0 computed + 8 scheduled). With max_model_len 8 a step reaches at most 7: the "
            "token sampled there is the last that fits."
        ),
        [put("/steps/1/num_scheduled_tokens/A", 7)],
        id="length: a resumed request",
    ),
    pytest.param(
        one(
            step({"A": 6}), step({"A": 3}, draft_token_ids={"A": 2}), prompt_len=6, max_model_len=8, num_speculative_tokens=2
        ),
        "length",
        "/steps/1/num_scheduled_tokens/A",
        (
            "A would reach 9 tokens (6 computed + 3 scheduled). With max_model_len 8 a step reaches at most 7: the "
            "token sampled there is the last that fits."
        ),
        [drop("/steps/1/draft_token_ids/A"), put("/steps/1/num_scheduled_tokens/A", 1)],
        id="length: with drafts",
    ),
    pytest.param(
        one(prompt_len=4, initial={"output_token_ids": 5}, max_model_len=8),
        "length",
        "/requests/0/initial/output_token_ids",
        (
            "A starts with 8 tokens computed; with max_model_len 8 at most 7 can be. After its prompt of 4, at most 8"
            " - 4 = 4 outputs fit."
        ),
        [put("/requests/0/initial/output_token_ids", 4)],
        id="length: initial outputs, a count",
    ),
    pytest.param(
        one(prompt_len=4, initial={"output_token_ids": [1, 2, 3, 4, 5], "num_computed_tokens": 8}, max_model_len=8),
        "length",
        "/requests/0/initial/num_computed_tokens",
        (
            "A starts with 8 tokens computed; with max_model_len 8 at most 7 can be. After its prompt of 4, at most 8"
            " - 4 = 4 outputs fit."
        ),
        [put("/requests/0/initial/output_token_ids", [1, 2, 3, 4]), put("/requests/0/initial/num_computed_tokens", 7)],
        id="length: initial outputs, a list",
    ),
    pytest.param(
        two(step({"A": 24, "B": 9}), max_num_batched_tokens=32),
        "budget",
        "/steps/0/num_scheduled_tokens",
        "Step 0 schedules 33 tokens, 1 more than max_num_batched_tokens (32).",
        [put("/steps/0/num_scheduled_tokens/B", 8)],
        id="budget",
    ),
    pytest.param(
        two(step({"A": 24}), step({"B": 24, "A": 1}), max_num_batched_tokens=24),
        "budget",
        "/steps/1/num_scheduled_tokens",
        "Step 1 schedules 25 tokens, 1 more than max_num_batched_tokens (24).",
        [put("/steps/1/num_scheduled_tokens/B", 23)],
        id="budget: a decode has nothing to give",
    ),
    pytest.param(
        two(step({"A": 24}), step({"B": 1, "A": 1}), max_num_batched_tokens=24, max_num_reqs=1),
        "rows",
        "/steps/1/num_scheduled_tokens/B",
        "B would make 2 live requests, but the state pool has room for 1. Finish or preempt another one first.",
        [drop("/steps/1/num_scheduled_tokens/B")],
        id="rows: before a decode",
    ),
    pytest.param(
        two(step({"A": 24}), step({"A": 1, "B": 24}), max_num_reqs=1),
        "rows",
        "/steps/1/num_scheduled_tokens/B",
        "B would make 2 live requests, but the state pool has room for 1. Finish or preempt another one first.",
        [drop("/steps/1/num_scheduled_tokens/B")],
        id="rows: in a step",
    ),
    pytest.param(
        of([request("A", initial={}), request("B", initial={})], max_num_reqs=1),
        "rows",
        "/requests/1/initial",
        "2 requests are there from the start, but the state pool has room for 1: no row is left for B.",
        [drop("/requests/1/initial")],
        id="rows: from the start",
    ),
    pytest.param(
        one(step({}, finished_req_ids=["A"]), step({"A": 24})),
        "not_live",
        "/steps/0/finished_req_ids/0",
        "A cannot finish in step 0: it is not in the pool then.",
        [drop("/steps/0/finished_req_ids/0")],
        id="not_live: finished before it came",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 1}, finished_req_ids=["A"])),
        "not_live",
        "/steps/1/finished_req_ids/0",
        "A finishes at the start of step 1, so this step cannot schedule it.",
        [drop("/steps/1/finished_req_ids/0")],
        id="not_live: finished and scheduled",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, finished_req_ids=["A", "A"])),
        "not_live",
        "/steps/1/finished_req_ids/1",
        "A is removed twice in step 1.",
        [drop("/steps/1/finished_req_ids/1")],
        id="not_live: finished twice",
    ),
    pytest.param(
        one(step({}, preempted_req_ids=["A"]), step({"A": 24})),
        "not_live",
        "/steps/0/preempted_req_ids/0",
        "A cannot be preempted in step 0: it is not in the pool then.",
        [drop("/steps/0/preempted_req_ids/0")],
        id="not_live: preempted before it came",
    ),
    pytest.param(
        one(step({"A": 24}), step({"A": 1}, preempted_req_ids=["A"])),
        "not_live",
        "/steps/1/preempted_req_ids/0",
        "A is preempted at the start of step 1, so this step cannot schedule it.",
        [drop("/steps/1/preempted_req_ids/0")],
        id="not_live: preempted and scheduled",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, preempted_req_ids=["A", "A"])),
        "not_live",
        "/steps/1/preempted_req_ids/1",
        "A is removed twice in step 1.",
        [drop("/steps/1/preempted_req_ids/1")],
        id="not_live: preempted twice",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, finished_req_ids=["A"], preempted_req_ids=["A"])),
        "not_live",
        "/steps/1/preempted_req_ids/0",
        "A is removed twice in step 1.",
        [drop("/steps/1/preempted_req_ids/0")],
        id="not_live: finished and preempted",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, finished_req_ids=["A"]), step({}, finished_req_ids=["A"])),
        "not_live",
        "/steps/2/finished_req_ids/0",
        "A cannot finish in step 2: it is not in the pool then.",
        [drop("/steps/2/finished_req_ids/0")],
        id="not_live: finished again",
    ),
    pytest.param(
        one(step({"A": 24}), step({}, finished_req_ids=["A"]), step({"A": 1})),
        "not_live",
        "/steps/2/num_scheduled_tokens/A",
        "A has finished in an earlier step and cannot be scheduled again.",
        [drop("/steps/2/num_scheduled_tokens/A")],
        id="not_live: scheduled after its end",
    ),
    pytest.param(
        one(step({"X": 1})),
        "unknown_req_id",
        "/steps/0/num_scheduled_tokens/X",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/num_scheduled_tokens/X")],
        id="unknown_req_id: num_scheduled_tokens",
    ),
    pytest.param(
        one({"num_computed_tokens": {"X": 1}}),
        "unknown_req_id",
        "/steps/0/num_computed_tokens/X",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/num_computed_tokens/X")],
        id="unknown_req_id: num_computed_tokens",
    ),
    pytest.param(
        one({"new_block_ids": {"X": [[1]]}}),
        "unknown_req_id",
        "/steps/0/new_block_ids/X",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/new_block_ids/X")],
        id="unknown_req_id: new_block_ids",
    ),
    pytest.param(
        one({"draft_token_ids": {"X": 1}}),
        "unknown_req_id",
        "/steps/0/draft_token_ids/X",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/draft_token_ids/X")],
        id="unknown_req_id: draft_token_ids",
    ),
    pytest.param(
        one({"sampled_token_ids": {"X": 1}}),
        "unknown_req_id",
        "/steps/0/sampled_token_ids/X",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/sampled_token_ids/X")],
        id="unknown_req_id: sampled_token_ids",
    ),
    pytest.param(
        one({"finished_req_ids": ["X"]}),
        "unknown_req_id",
        "/steps/0/finished_req_ids/0",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/finished_req_ids/0")],
        id="unknown_req_id: finished_req_ids",
    ),
    pytest.param(
        one({"preempted_req_ids": ["X"]}),
        "unknown_req_id",
        "/steps/0/preempted_req_ids/0",
        "Step 0 names “X”, but there is no such request.",
        [drop("/steps/0/preempted_req_ids/0")],
        id="unknown_req_id: preempted_req_ids",
    ),
    pytest.param(
        one({"num_computed_tokens": {"A": 0}}),
        "unscheduled",
        "/steps/0/num_computed_tokens/A",
        "num_computed_tokens names A, but step 0 does not schedule it.",
        [drop("/steps/0/num_computed_tokens/A")],
        id="unscheduled: num_computed_tokens",
    ),
    pytest.param(
        one({"new_block_ids": {"A": [[]]}}),
        "unscheduled",
        "/steps/0/new_block_ids/A",
        "new_block_ids names A, but step 0 does not schedule it.",
        [drop("/steps/0/new_block_ids/A")],
        id="unscheduled: new_block_ids",
    ),
    pytest.param(
        one({"draft_token_ids": {"A": 0}}),
        "unscheduled",
        "/steps/0/draft_token_ids/A",
        "draft_token_ids names A, but step 0 does not schedule it.",
        [drop("/steps/0/draft_token_ids/A")],
        id="unscheduled: draft_token_ids",
    ),
    pytest.param(
        one({"sampled_token_ids": {"A": []}}),
        "unscheduled",
        "/steps/0/sampled_token_ids/A",
        "sampled_token_ids names A, but step 0 does not schedule it.",
        [drop("/steps/0/sampled_token_ids/A")],
        id="unscheduled: sampled_token_ids",
    ),
    pytest.param(
        of([request("A"), request("B"), request("A")]),
        "duplicate_req_id",
        "/requests/2/req_id",
        "Request 0 is called “A” already. Every req_id must be different.",
        None,
        id="duplicate_req_id",
    ),
    pytest.param(
        one(initial={"num_computed_tokens": 24}),
        "initial",
        "/requests/0/initial/num_computed_tokens",
        (
            "A has a prompt of 24 and no output yet, so at most 24 - 1 = 23 can be computed, not 24. With all of them "
            "computed there would be an output."
        ),
        [put("/requests/0/initial/num_computed_tokens", 23)],
        id="initial: all computed and no output",
    ),
    pytest.param(
        one(initial={"num_computed_tokens": 24, "output_token_ids": 2}),
        "initial",
        "/requests/0/initial/num_computed_tokens",
        ("A has prompt length 24 and output length 2. All but the last output are computed then: 24 + 2 - 1 = 25, not 24."),
        [put("/requests/0/initial/num_computed_tokens", 25)],
        id="initial: fewer computed than outputs tell",
    ),
    pytest.param(
        one(initial={"num_computed_tokens": 26, "output_token_ids": [5, 6]}),
        "initial",
        "/requests/0/initial/num_computed_tokens",
        ("A has prompt length 24 and output length 2. All but the last output are computed then: 24 + 2 - 1 = 25, not 26."),
        [put("/requests/0/initial/num_computed_tokens", 25)],
        id="initial: more computed than outputs tell",
    ),
    pytest.param(
        one(initial={"req_state_idx": 8}),
        "initial",
        "/requests/0/initial/req_state_idx",
        "A is to have row 8, but the rows of the pool are 0 to 7.",
        [drop("/requests/0/initial/req_state_idx")],
        id="initial: no such row",
    ),
    pytest.param(
        of([request("A", initial={"req_state_idx": 2}), request("B", initial={"req_state_idx": 2})], max_num_reqs=4),
        "initial",
        "/requests/1/initial/req_state_idx",
        "B is to have row 2, which another request has already: rows go out in list order, from the last one down.",
        [drop("/requests/1/initial/req_state_idx")],
        id="initial: a row given twice",
    ),
    pytest.param(
        of([request("A", initial={}), request("B", initial={"req_state_idx": 3})], max_num_reqs=4),
        "initial",
        "/requests/1/initial/req_state_idx",
        "B is to have row 3, which another request has already: rows go out in list order, from the last one down.",
        [drop("/requests/1/initial/req_state_idx")],
        id="initial: a row popped before",
    ),
    pytest.param(
        one(step({"A": 4}, new_block_ids={"A": [[1, 2, 3]]}), prompt_len=4, max_model_len=8, kv_cache_groups=blocks_of(4)),
        "row_capacity",
        "/steps/0/new_block_ids/A/0",
        "The block table of A in group 0 would hold 3 blocks; a row has 2 columns, as many as max_model_len needs.",
        [drop("/steps/0/new_block_ids/A")],
        id="row_capacity: of a new request",
    ),
    pytest.param(
        one(
            step({"A": 4}, new_block_ids={"A": [[1]]}),
            step({"A": 1}, new_block_ids={"A": [[2, 3]]}),
            prompt_len=4,
            max_model_len=8,
            kv_cache_groups=blocks_of(4),
        ),
        "row_capacity",
        "/steps/1/new_block_ids/A/0",
        "The block table of A in group 0 would hold 3 blocks; a row has 2 columns, as many as max_model_len needs.",
        [drop("/steps/1/new_block_ids/A")],
        id="row_capacity: of a live one",
    ),
    pytest.param(
        one(prompt_len=4, initial={"block_ids": [[1, 2, 3]]}, max_model_len=8, kv_cache_groups=blocks_of(4)),
        "row_capacity",
        "/requests/0/initial/block_ids/0",
        "The block table of A in group 0 would hold 3 blocks; a row has 2 columns, as many as max_model_len needs.",
        [drop("/requests/0/initial/block_ids")],
        id="row_capacity: from the start",
    ),
    pytest.param(
        one(step({"A": 24}, new_block_ids={"A": [[7]]})),
        "blocks_short",
        "/steps/0/new_block_ids/A/0",
        (
            "Blocks of A in group 0: 1 held, 2 needed for a sequence of length 24. Give 1 more, or leave the ids out "
            "to take them from the pool."
        ),
        [drop("/steps/0/new_block_ids/A")],
        id="blocks_short: of a new request",
    ),
    pytest.param(
        one(step({"A": 16}, new_block_ids={"A": [[7]]}), step({"A": 8}, new_block_ids={"A": [[]]})),
        "blocks_short",
        "/steps/1/new_block_ids/A/0",
        (
            "Blocks of A in group 0: 1 held, 2 needed for a sequence of length 24. Give 1 more, or leave the ids out "
            "to take them from the pool."
        ),
        [drop("/steps/1/new_block_ids/A")],
        id="blocks_short: of a live one",
    ),
    pytest.param(
        one(step({"A": 8}, new_block_ids={"A": [[7], [8]]}), kv_cache_groups=blocks_of(8, 4)),
        "blocks_short",
        "/steps/0/new_block_ids/A/1",
        (
            "Blocks of A in group 1: 1 held, 2 needed for a sequence of length 8. Give 1 more, or leave the ids out to"
            " take them from the pool."
        ),
        [drop("/steps/0/new_block_ids/A")],
        id="blocks_short: in the second group",
    ),
    pytest.param(
        one(initial={"num_computed_tokens": 17, "block_ids": [[7]]}),
        "blocks_short",
        "/requests/0/initial/block_ids/0",
        (
            "Blocks of A in group 0: 1 held, 2 needed for a sequence of length 17. Give 1 more, or leave the ids out "
            "to take them from the pool."
        ),
        [drop("/requests/0/initial/block_ids")],
        id="blocks_short: from the start",
    ),
    pytest.param(
        one(step({"A": 24}, new_block_ids={"A": [[127, 128]]})),
        "block_range",
        "/steps/0/new_block_ids/A/0/1",
        "Block 128 of A (group 0, column 1) is outside the pool. Real blocks have the ids 1 to 127.",
        [drop("/steps/0/new_block_ids/A")],
        id="block_range: the first id too large",
    ),
    pytest.param(
        one(initial={"num_computed_tokens": 4, "block_ids": [[2**31 - 1]]}),
        "block_range",
        "/requests/0/initial/block_ids/0/0",
        "Block 2,147,483,647 of A (group 0, column 0) is outside the pool. Real blocks have the ids 1 to 127.",
        [drop("/requests/0/initial/block_ids")],
        id="block_range: from the start",
    ),
    pytest.param(
        one(step({"A": 24}, new_block_ids={"A": [[0, 5]]})),
        "block_null",
        "/steps/0/new_block_ids/A/0/0",
        (
            "Block 0 is the null block and belongs to nobody; A is given it in group 0, column 0. Real blocks have the"
            " ids 1 to 127."
        ),
        [drop("/steps/0/new_block_ids/A")],
        id="block_null: without a window",
    ),
    pytest.param(
        one(
            step({"A": 1}, num_computed_tokens={"A": 16}, new_block_ids={"A": [[0, 0, 0, 5, 6]]}),
            kv_cache_groups=blocks_of(4, sliding_window=6),
        ),
        "block_null",
        "/steps/0/new_block_ids/A/0/2",
        (
            "Block 0 is the null block. A can have it only where its sliding window no longer reads: in the first 2 "
            "columns of group 0, not in column 2."
        ),
        [drop("/steps/0/new_block_ids/A")],
        id="block_null: one too many",
    ),
    pytest.param(
        one(
            step({"A": 1}, num_computed_tokens={"A": 16}, new_block_ids={"A": [[3, 0, 5, 6, 7]]}),
            kv_cache_groups=blocks_of(4, sliding_window=6),
        ),
        "block_null",
        "/steps/0/new_block_ids/A/0/1",
        ("Block 0 is the null block. In group 0, A can have it only before its first real block, not after it in column 1."),
        [drop("/steps/0/new_block_ids/A")],
        id="block_null: behind a real block",
    ),
    pytest.param(
        two(step({"A": 4, "B": 4}, new_block_ids={"A": [[5]], "B": [[5]]}), prompt_len=4, kv_cache_groups=blocks_of(4)),
        "block_owned",
        "/steps/0/new_block_ids/B/0/0",
        (
            "Block 5 of B (group 0, column 0) is held by A at the same place. To share it, B must come with the block "
            "computed, a hit of at least 4 tokens; its hit is 0."
        ),
        [drop("/steps/0/new_block_ids/B")],
        id="block_owned: by another",
    ),
    pytest.param(
        two(
            step({"A": 8, "B": 8}, new_block_ids={"A": [[5, 6]], "B": [[7, 5]]}), prompt_len=8, kv_cache_groups=blocks_of(4)
        ),
        "block_owned",
        "/steps/0/new_block_ids/B/0/1",
        "Block 5 of B (group 0, column 1) is held by A (group 0, column 0). Give a block that nobody holds.",
        [drop("/steps/0/new_block_ids/B")],
        id="block_owned: by another, elsewhere",
    ),
    pytest.param(
        two(
            step({"A": 4, "B": 4}, new_block_ids={"A": [[5], [6]], "B": [[7], [5]]}),
            prompt_len=4,
            kv_cache_groups=blocks_of(4, 4),
        ),
        "block_owned",
        "/steps/0/new_block_ids/B/1/0",
        "Block 5 of B (group 1, column 0) is held by A (group 0, column 0). Give a block that nobody holds.",
        [drop("/steps/0/new_block_ids/B")],
        id="block_owned: in another group",
    ),
    pytest.param(
        two(
            step({"A": 8}, new_block_ids={"A": [[5, 6]]}),
            step({"A": 1, "B": 2}, num_computed_tokens={"B": 6}, new_block_ids={"A": [[9]], "B": [[5, 6]]}),
            prompt_len=8,
            kv_cache_groups=blocks_of(4),
        ),
        "block_owned",
        "/steps/1/new_block_ids/B/0/1",
        (
            "Block 6 of B (group 0, column 1) is held by A at the same place. To share it, B must come with the block "
            "computed, a hit of at least 8 tokens; its hit is 6."
        ),
        [drop("/steps/1/new_block_ids/B")],
        id="block_owned: hit covers one block of two",
    ),
    pytest.param(
        one(step({"A": 8}, new_block_ids={"A": [[5, 5]]}), prompt_len=8, kv_cache_groups=blocks_of(4)),
        "block_owned",
        "/steps/0/new_block_ids/A/0/1",
        "A has block 5 twice: in group 0, column 0 and in group 0, column 1. Give a block that nobody holds.",
        [drop("/steps/0/new_block_ids/A")],
        id="block_owned: twice in a list",
    ),
    pytest.param(
        one(step({"A": 4}, new_block_ids={"A": [[5], [5]]}), prompt_len=4, kv_cache_groups=blocks_of(4, 4)),
        "block_owned",
        "/steps/0/new_block_ids/A/1/0",
        "A has block 5 twice: in group 0, column 0 and in group 1, column 0. Give a block that nobody holds.",
        [drop("/steps/0/new_block_ids/A")],
        id="block_owned: twice, in two groups",
    ),
    pytest.param(
        one(
            step({"A": 4}, new_block_ids={"A": [[5]]}),
            step({"A": 4}, new_block_ids={"A": [[5]]}),
            prompt_len=8,
            kv_cache_groups=blocks_of(4),
        ),
        "block_owned",
        "/steps/1/new_block_ids/A/0/0",
        "A has block 5 twice: in group 0, column 0 and in group 0, column 1. Give a block that nobody holds.",
        [drop("/steps/1/new_block_ids/A")],
        id="block_owned: twice, in two steps",
    ),
    pytest.param(
        of(
            [request("A", initial={"num_computed_tokens": 4, "block_ids": [[5]]}), request("B")],
            step({"B": 4}, new_block_ids={"B": [[5]]}),
        ),
        "block_owned",
        "/steps/0/new_block_ids/B/0/0",
        (
            "Block 5 of B (group 0, column 0) is held by A at the same place. To share it, B must come with the block "
            "computed, a hit of at least 16 tokens; its hit is 0."
        ),
        [drop("/steps/0/new_block_ids/B")],
        id="block_owned: by one there from the start",
    ),
]


@pytest.mark.parametrize(("scenario", "code", "where", "words", "fix"), REFUSED)
def test_refused(scenario: Scenario, code: str, where: str, words: str, fix: Patch | None) -> None:
    (fault,) = faults_of(scenario)  # one cause, one fault
    assert (fault.code, fault.where) == (code, where)
    assert sentence(fault) == words
    assert fault.fix == fix
    assert numbers_in(words) <= numbers_of(fault.params) | {0, 1}  # each number is there to be read by a program too
    if where.startswith("/steps/"):
        assert fault.params["step"] == int(where.split("/")[2])
    if fault.code not in ("budget", "schema"):
        assert fault.params["req_id"] in ("A", "B", "X")
    if fix is not None:
        assert (code, where) not in places(patched(scenario, fix))


@pytest.mark.parametrize(("scenario", "code", "where", "words", "fix"), REFUSED)
def test_refused_with_pairs(scenario: Scenario, code: str, where: str, words: str, fix: Patch | None) -> None:
    """The same scenarios with `num_scheduled_tokens` as pairs: places and fixes lead to the pair."""
    scenario = with_pairs(scenario)
    (fault,) = faults_of(scenario)
    parts = where.split("/")
    if "num_scheduled_tokens" in parts[:-1]:
        names = [name for name, _ in scenario["steps"][int(parts[2])]["num_scheduled_tokens"]]
        pair = "/".join([*parts[:4], str(names.index(parts[4]))])
        assert fault.where == f"{pair}/{0 if code == 'unknown_req_id' else 1}"
    else:
        assert fault.where == where
    assert (fault.code, sentence(fault)) == (code, words)
    assert (fault.fix is None) == (fix is None)
    if fault.fix is not None:
        corrected = patched(scenario, [dict(operation) for operation in fault.fix])
        assert (code, fault.where) not in places(corrected)
        for number, one_step in enumerate(corrected["steps"]):
            assert all(len(pair) == 2 for pair in one_step.get("num_scheduled_tokens", [])), f"step {number}"


def test_every_code_is_tried() -> None:
    names = {"duplicate_req_id", "unknown_req_id", "initial", "not_live", "unscheduled"}
    counts = {"chunk", "decode", "drafts", "sampled", "hit", "length", "budget", "rows"}
    blocks = {"row_capacity", *STRICT_ONLY}
    assert {case.values[1] for case in REFUSED} == names | counts | blocks


def numbers_in(words: str) -> set[int]:
    return {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\b", words)}


def numbers_of(params: Any) -> set[int]:
    return {value for value in params.values() if isinstance(value, int)}


# ---- not strict: computed, and shown as a violated check


def lenient(scenario: Scenario) -> Scenario:
    return {**scenario, "strict": False}


STRICT_ONLY = ("blocks_short", "block_range", "block_null", "block_owned")


@pytest.mark.parametrize(
    "scenario", [pytest.param(case.values[0], id=str(case.id)) for case in REFUSED if case.values[1] in STRICT_ONLY]
)
def test_not_refused_unless_strict(scenario: Any) -> None:
    assert places(lenient(scenario)) == []


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        pytest.param(*case.values[:2], id=str(case.id))
        for case in REFUSED
        if case.values[1] not in (*STRICT_ONLY, "duplicate_req_id")
    ],
)
def test_refused_even_if_not_strict(scenario: Any, code: Any) -> None:
    assert [found for found, _ in places(lenient(scenario))] == [code]
