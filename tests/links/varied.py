"""Scenarios that differ in what a link has to carry: names, orders, ids, groups, drafts, ranks, what was there before."""

from __future__ import annotations

from typing import Any

from tests.bench_links import classroom, worked_example

Scenario = dict[str, Any]


def _one(*steps: Any, **more: Any) -> Scenario:
    return {"version": 1, "requests": [{"req_id": "A", "prompt_len": 24}], "steps": list(steps), **more}


def varied() -> dict[str, Scenario]:
    """Name -> scenario; each can be run."""
    return {
        "worked example": worked_example(),
        "empty": {"version": 1, "requests": [], "steps": []},
        "5 x 3": classroom(5, 3),
        "16 x 8": classroom(16, 8),
        "unicode": {
            "version": 1,
            "title": '请求 é 😀 <i>&amp; "quoted" \\ \u2028',
            "description": "two\nlines\tand a tab",
            "requests": [
                {"req_id": "请求-1", "prompt_len": 5},
                {"req_id": "😀", "prompt_len": 4},
                {"req_id": " ", "prompt_len": 3},
            ],
            "steps": [{"num_scheduled_tokens": [["😀", 4], ["请求-1", 5], [" ", 3]]}],
        },
        "names like numbers, in an order of their own": {
            "version": 1,
            "requests": [{"req_id": name, "prompt_len": 3} for name in ("10", "9", "007", "-1", "1e3", "__proto__")],
            "steps": [{"num_scheduled_tokens": [[name, 3] for name in ("9", "__proto__", "10", "007", "1e3", "-1")]}],
        },
        "drafts": _one(
            {"num_scheduled_tokens": [["A", 24]], "sampled_token_ids": {"A": [7]}},
            {"num_scheduled_tokens": [["A", 4]], "draft_token_ids": {"A": [11, -1, 13]}, "sampled_token_ids": {"A": 2}},
            {"num_scheduled_tokens": [["A", 3]], "draft_token_ids": {"A": 2}},
            config={"num_speculative_tokens": 3},
        ),
        "groups": _one(
            {"num_scheduled_tokens": [["A", 24]], "new_block_ids": {"A": [[3, 5], [7, 9, 11, 13, 15, 17]]}},
            config={"kv_cache_groups": [{}, {"name": "local", "block_size": 4, "sliding_window": 9}]},
        ),
        "context parallelism": _one(
            {"num_scheduled_tokens": [["A", 24]]},
            config={"context_parallel": {"size": 2, "rank": 1, "interleave": 4}},
        ),
        "hit, preemption, return": _one(
            {"num_scheduled_tokens": [["A", 8]], "num_computed_tokens": {"A": 16}},
            {"preempted_req_ids": ["A"]},
            {"num_scheduled_tokens": [["A", 25]]},
            {"finished_req_ids": ["A"]},
        ),
        "there before": {
            "version": 1,
            "requests": [
                {
                    "req_id": "A",
                    "prompt_len": 5,
                    "initial": {"output_token_ids": [8, 9], "num_computed_tokens": 6, "block_ids": [[4]]},
                },
                {
                    "req_id": "B",
                    "prompt_token_ids": [1, 2, 2147483647],
                    "initial": {"num_computed_tokens": 2, "req_state_idx": 0},
                },
            ],
            "steps": [{"num_scheduled_tokens": [["B", 1], ["A", 1]]}],
        },
        "every setting": _one(
            {"num_scheduled_tokens": [["A", 24]]},
            start_step=0,
            strict=False,
            config={
                "max_num_reqs": 3,
                "max_num_batched_tokens": 32,
                "max_model_len": 64,
                "num_blocks": 40,
                "cudagraph": {"mode": "FULL_AND_PIECEWISE", "capture_sizes": [1, 2, 4, 8, 16, 32]},
                "block_pool": {"order": "ascending", "seed": 4294967295},
                "kv_cache": {"num_layers": 2, "num_kv_heads": 4, "head_size": 64, "dtype": "fp8", "layout": "HND"},
            },
        ),
        "unknown and impossible blocks": _one(
            {"num_scheduled_tokens": [["A", 24]], "new_block_ids": {"A": [[None, 2147483647]]}},
            strict=False,
        ),
    }
