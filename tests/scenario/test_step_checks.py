"""Counts that are wrong for several reasons: one repair, which is right by every rule at once."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import Fault, replace
from app.scenario.format.model import Config, Step
from app.scenario.plan.plan import PlannedRequest
from app.scenario.plan.step_checks import count_faults, has_right_counts
from tests.scenario.faults import faults_of, one, patched, refusal, step, two, with_pairs, worked

COUNT = "/steps/1/num_scheduled_tokens/A"


def repairs(faults: list[Fault]) -> list[Any]:
    return [fault.fix for fault in faults if fault.fix is not None]


def test_a_count_that_is_far_too_large_has_one_repair() -> None:
    """A has 24 tokens to prefill and 16 computed: 8 left; 127 - 16 = 111 below max_model_len, 64 - 1 = 63 in the budget."""
    scenario = worked(steps=[worked()["steps"][0], step({"B": 1, "A": 999_999})])
    faults = faults_of(scenario)
    assert [fault.code for fault in faults] == ["budget", "chunk", "length"]
    assert repairs(faults) == [replace(COUNT, 8)]
    assert faults[1].params["right"] == 8
    assert refusal(patched(scenario, faults[1].fix)) is None


def test_the_budget_can_be_the_least() -> None:
    """B takes 4 of a budget of 10, so 6 are left for A, which has 24 to prefill."""
    scenario = two(step({"B": 4, "A": 999_999}), max_num_batched_tokens=10)
    faults = faults_of(scenario)
    assert repairs(faults) == [replace("/steps/0/num_scheduled_tokens/A", 6)]
    assert refusal(patched(scenario, faults[1].fix)) is None
    scenario = with_pairs(scenario)
    assert repairs(faults_of(scenario)) == [replace("/steps/0/num_scheduled_tokens/1/1", 6)]


def test_max_model_len_can_be_the_least() -> None:
    """A resumed request of 8 tokens, all that max_model_len 8 lets it have: 8 are left to prefill, 7 can be computed."""
    scenario = one(step({"A": 7}), step({}, preempted_req_ids=["A"]), step({"A": 999}), prompt_len=7, max_model_len=8)
    faults = faults_of(scenario)
    assert repairs(faults) == [replace("/steps/2/num_scheduled_tokens/A", 7)]
    assert faults[1].params | {"remaining": 8, "right": 7} == faults[1].params


def test_drafts_are_cut_together_with_the_count() -> None:
    """K = 2, and of max_model_len 8 the decode at 6 leaves one place: 1 token, no draft."""
    scenario = one(
        step({"A": 6}), step({"A": 9}, draft_token_ids={"A": 3}), prompt_len=6, max_model_len=8, num_speculative_tokens=2
    )
    faults = faults_of(scenario)
    assert [fault.code for fault in faults] == ["decode", "drafts", "length"]
    assert len(repairs(faults)) == 1
    assert refusal(patched(scenario, faults[0].fix)) is None


def test_a_wrong_count_keeps_the_budget_from_cutting_another_request() -> None:
    """B decodes 50 tokens: with 1 the step is within its budget of 64, and A's chunk of 20 can stay."""
    scenario = two(step({"B": 24}), step({"B": 50, "A": 20}))
    faults = faults_of(scenario)
    assert [(fault.code, fault.fix) for fault in faults] == [
        ("budget", None),
        ("decode", replace("/steps/1/num_scheduled_tokens/B", 1)),
    ]


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_a_repair_is_right_by_every_rule(data: st.DataObject) -> None:
    config = Config(
        max_model_len=data.draw(st.integers(2, 30)),
        max_num_batched_tokens=40,
        num_speculative_tokens=data.draw(st.integers(0, 3)),
    )
    prefill_len = data.draw(st.integers(1, config.max_model_len))
    num_computed = data.draw(st.integers(0, config.max_model_len))
    num_tokens, num_drafts = data.draw(st.integers(1, 45)), data.draw(st.integers(0, 5))
    request = PlannedRequest("A", num_tokens, num_drafts, num_computed, prefill_len)
    room = data.draw(st.integers(-3, 40))
    given_step = Step(num_scheduled_tokens=[("A", num_tokens)], draft_token_ids={"A": num_drafts} if num_drafts else {})
    faults = list(count_faults(0, given_step, request, config, room))
    assert bool(faults) != has_right_counts(request, config)
    if not faults:
        return
    assert [fault.fix is not None for fault in faults] == [True] + [False] * (len(faults) - 1)
    document = {
        "steps": [{"num_scheduled_tokens": {"A": num_tokens}, "draft_token_ids": {"A": num_drafts} if num_drafts else {}}]
    }
    repaired = patched(document, faults[0].fix)["steps"][0]
    count, drafts = repaired["num_scheduled_tokens"].get("A", 0), repaired["draft_token_ids"].get("A", 0)
    if count == 0:
        assert drafts == 0 and num_computed + 1 > config.max_model_len - 1
        return
    # The rules once more: K, the length, a decode of one token or a chunk of what is left, drafts only behind its end.
    assert drafts <= min(num_drafts, config.num_speculative_tokens)
    assert num_computed + count <= config.max_model_len - 1
    assert count <= max(room, 1)
    if num_computed >= prefill_len:
        assert count - drafts == 1
    else:
        assert 1 <= count - drafts <= prefill_len - num_computed
        assert drafts == 0 or count - drafts == prefill_len - num_computed
