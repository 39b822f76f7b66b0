"""The summary of all steps, which nothing ran: by hand, and what it says of a step against what the step then says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app.examples import examples
from app.scenario import load_plan
from app.trace.counts.summary import summarise
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
SOME = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def summary_of(*steps: dict[str, Any], prompt_lens: dict[str, int], mode: str, **config: Any) -> list[dict[str, Any]]:
    requests = [{"req_id": req_id, "prompt_len": length} for req_id, length in prompt_lens.items()]
    config = {"cudagraph": {"mode": mode, "capture_sizes": [1, 2, 4, 8]}, **config}
    return summarise(load_plan({"version": 1, "config": config, "requests": requests, "steps": list(steps)}))


def test_one_prompt_token_over_context_replays_a_decode_graph() -> None:
    """A decodes, B's chunk is 1 token: 2 rows of 1 token. With context it is a decode, without it is not."""
    first = {"num_scheduled_tokens": {"A": 4, "B": 3}}
    second = {"num_scheduled_tokens": {"A": 1, "B": 1}}
    with_context = summary_of(first, second, prompt_lens={"A": 4, "B": 9}, mode="FULL_DECODE_ONLY")[1]
    assert (with_context["cudagraph_mode"], with_context["kinds"]) == ("FULL", ["decode", "prefill"])
    assert (with_context["num_prefill_tokens"], with_context["num_decode_tokens"]) == (1, 1)
    first = {"num_scheduled_tokens": {"A": 4}}
    without = summary_of(first, second, prompt_lens={"A": 4, "B": 9}, mode="FULL_DECODE_ONLY")[1]
    assert (without["cudagraph_mode"], without["kinds"]) == ("NONE", ["decode", "prefill"])


def test_two_prompt_tokens_do_not() -> None:
    """K = 1, so a decode graph has rows of 2: A's token and draft fit, a chunk of 2 does not, 1 and a draft does."""
    first = {"num_scheduled_tokens": {"A": 4, "B": 3}}
    chunk = {"num_scheduled_tokens": {"A": 2, "B": 2}, "draft_token_ids": {"A": 1}}
    end = {"num_scheduled_tokens": {"A": 2, "B": 2}, "draft_token_ids": {"A": 1, "B": 1}}
    config = {"mode": "FULL_DECODE_ONLY", "num_speculative_tokens": 1}
    (_, step) = summary_of(first, chunk, prompt_lens={"A": 4, "B": 5}, **config)
    assert (step["cudagraph_mode"], step["kinds"]) == ("NONE", ["decode_drafts", "prefill_end"])
    (_, step) = summary_of(first, end, prompt_lens={"A": 4, "B": 4}, **config)
    assert (step["cudagraph_mode"], step["kinds"]) == ("FULL", ["decode_drafts", "prefill_end"])
    # 1 + 1 drafts, 1 token of A's and 1 of B's prompt
    assert [step[f"num_{kind}_tokens"] for kind in ("draft", "decode", "prefill")] == [2, 1, 1]


def test_a_step_without_tokens() -> None:
    (_, step) = summary_of(
        {"num_scheduled_tokens": {"A": 4}}, {"finished_req_ids": ["A"]}, prompt_lens={"A": 4}, mode="PIECEWISE"
    )
    assert step["cudagraph_mode"] == "NONE"
    assert [step[key] for key in ("num_reqs", "num_tokens_padded", "num_live", "num_used_blocks")] == [0, 0, 0, 0]
    assert (step["num_free_blocks"], step["kinds"]) == (127, [])


def test_examples(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            says_what_the_steps_say(examples()[name].scenario)


@SOME
@given(strategies.valid_scenarios())
def test_strict_scenarios(scenario: Scenario) -> None:
    says_what_the_steps_say(scenario)


@SOME
@given(strategies.valid_scenarios(strict=False))
def test_lenient_scenarios(scenario: Scenario) -> None:
    says_what_the_steps_say(scenario)


def says_what_the_steps_say(scenario: Scenario) -> None:
    trace = trace_scenario(load_plan(scenario), torch.device("cpu"), lambda key, params: key)
    assert len(trace["summary"]) == len(trace["steps"])
    for summary, step in zip(trace["summary"], trace["steps"], strict=True):
        assert summary == told_by(step, trace["constants"]["num_blocks_in_pool"])


def told_by(step: dict[str, Any], num_blocks: int) -> dict[str, Any]:
    """The summary of a step, from nothing but the step's fields and spaces."""
    spaces = {name: space["values"] for name, space in step["spaces"].items()}
    sources = spaces.get("token_source", [])
    held = set(spaces["kv_block_ids"])
    same = ("index", "num_reqs", "num_tokens", "num_reqs_padded", "num_tokens_padded", "cudagraph_mode")
    return {
        **{key: step[key] for key in same},
        "num_prefill_tokens": sources.count("prefill"),
        "num_decode_tokens": sources.count("sampled"),
        "num_draft_tokens": sources.count("draft"),
        "num_live": len(step["req_id_to_index"]),
        "num_used_blocks": len(held),
        "num_free_blocks": num_blocks - 1 - sum(block_id < num_blocks for block_id in held),
        "kinds": kinds_of(step, spaces),
    }


def kinds_of(step: dict[str, Any], spaces: dict[str, Any]) -> list[str]:
    """What each request does, in the schedule's order: by what became of its tokens."""
    kinds = {}
    for batch_idx, req_id in enumerate(step["req_ids"]):
        if spaces["is_prefilling"][batch_idx]:
            kinds[req_id] = "prefill_end" if spaces["num_sampled"][batch_idx] else "prefill"
        else:
            kinds[req_id] = "decode_drafts" if spaces["num_draft_tokens"][batch_idx] else "decode"
    return [kinds[req_id] for req_id in spaces.get("schedule_req_ids", [])]
