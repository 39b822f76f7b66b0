"""The rules for plain numbers: by hand at their edges, and against the tensors of the pipeline cell by cell."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app import rules
from app.examples import examples
from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel, get_dcp_local_seq_lens, is_local_token
from app.pipeline.input_block_tables import num_null_blocks
from app.pipeline.slot_mapping import compute_slot_mapping
from app.pipeline.token_ids import AllTokenIds, RequestTokens
from app.scenario import load_plan
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
SOME = settings(max_examples=60, deadline=None, derandomize=True, database=None)
CPU = torch.device("cpu")

parallels = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda sizes: st.tuples(st.just(sizes[0]), st.integers(0, sizes[0] - 1), st.just(sizes[1]))
)


# ---- by hand


@pytest.mark.parametrize(
    ("num_computed", "prefill_len", "num_tokens", "num_drafts", "kind", "as_decode"),
    [
        (0, 5, 5, 0, "prefill_end", False),
        (0, 5, 4, 0, "prefill", False),
        (0, 1, 1, 0, "prefill_end", False),  # one token, but no context: a prefill
        (1, 5, 1, 0, "prefill", True),  # one token over existing context computes like a decode
        (4, 5, 1, 0, "prefill_end", True),
        (4, 5, 3, 2, "prefill_end", True),  # drafts are not counted: 3 - 2 = 1
        (3, 5, 2, 0, "prefill_end", False),
        (5, 5, 1, 0, "decode", True),
        (5, 5, 3, 2, "decode_drafts", True),
        (6, 5, 1, 0, "decode", True),
    ],
)
def test_what_a_request_does(
    num_computed: int, prefill_len: int, num_tokens: int, num_drafts: int, kind: str, as_decode: bool
) -> None:
    counts = (num_computed, prefill_len, num_tokens, num_drafts)
    assert rules.kind_of_work(*counts) == kind
    assert rules.runs_as_decode(*counts) is as_decode
    assert rules.is_prefilling(num_computed, prefill_len) is kind.startswith("prefill")
    assert rules.is_unfinished(*counts) is (kind == "prefill")


def test_what_a_step_leaves_computed() -> None:
    """7 computed, 1 + 3 drafts scheduled, 2 sampled: one draft held, 2 did not; 7 + 4 - 2 = 9."""
    assert rules.num_rejected_tokens(3, 2, unfinished=False) == 2
    assert rules.num_computed_tokens_after(7, 4, 2) == 9
    assert rules.num_rejected_tokens(0, 0, unfinished=True) == 0  # a chunk samples nothing and rejects nothing


@pytest.mark.parametrize(
    ("num_computed", "window", "block_size", "num_null"),
    [
        (13, 4, 4, 2),  # the query at 13 sees 10 to 13: blocks 0 and 1 end at 7
        (6, 4, 4, 0),  # it sees 3 to 6: block 0 ends at 3
        (7, 4, 4, 1),  # it sees 4 to 7
        (11, 4, 4, 2),
        (10, 4, 4, 1),
        (0, 4, 4, 0),
        (100, 1, 4, 25),  # it sees itself alone
        (100, None, 4, 0),
    ],
)
def test_blocks_below_a_window(num_computed: int, window: int | None, block_size: int, num_null: int) -> None:
    assert rules.num_null_blocks(num_computed, window, block_size) == num_null


def test_tokens_of_a_rank() -> None:
    """Positions 0 to 8 dealt to 2 ranks, 2 at a time: 0 1 4 5 8 and 2 3 6 7."""
    assert [position for position in range(9) if rules.is_local_token(position, 2, 0, 2)] == [0, 1, 4, 5, 8]
    assert [rules.num_local_tokens(9, 2, rank, 2) for rank in (0, 1)] == [5, 4]


def test_tokens_of_a_block() -> None:
    assert [rules.num_tokens_within(9, index, 4) for index in range(4)] == [4, 4, 1, 0]
    assert [rules.num_blocks_for(num_tokens, 4) for num_tokens in (0, 1, 4, 5)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("prefill_len", "lcm_block_size", "most"),
    [(40, 16, 32), (12, 4, 8), (13, 4, 12), (24, 12, 12), (16, 16, 0), (1, 1, 0)],  # (prefill_len - 1) // size * size
)
def test_the_longest_hit_of_the_prefix_cache(prefill_len: int, lcm_block_size: int, most: int) -> None:
    assert rules.most_cached_tokens(prefill_len, lcm_block_size) == most


# ---- against the tensors


def test_no_slot_of_an_unknown_block_is_the_padding() -> None:
    """Of a block -1 of 16 slots, slot 15 would be -1 * 16 + 15 = -1, "write nowhere"."""
    for block_size in (1, 2, 16, 64, 16_384):
        offsets = torch.arange(block_size)
        assert not (rules.UNKNOWN_BLOCK * block_size + offsets == rules.PAD_SLOT_ID).any()
        table = BlockTable(GroupConfig(block_size, None, 1), ContextParallel(), 1, CPU)
        table.append_block_ids(0, [rules.UNKNOWN_BLOCK], overwrite=True)
        table.apply_staged_writes()
        slots = compute_slot_mapping(table, torch.zeros(block_size, dtype=torch.int64), offsets, block_size)
        assert (slots.slot_ids == rules.UNKNOWN_SLOT_ID).all()


@SOME
@given(st.one_of(st.none(), st.integers(1, 40)), st.integers(1, 20))
def test_null_blocks_of_tensors(window: int | None, block_size: int) -> None:
    counts = range(200)
    tensor = torch.tensor(counts, dtype=torch.int32)
    found = num_null_blocks(tensor, GroupConfig(block_size, window, 1), ContextParallel()).tolist()
    assert found == [rules.num_null_blocks(count, window, block_size) for count in counts]


@SOME
@given(parallels)
def test_tokens_of_a_rank_in_tensors(parallel: tuple[int, int, int]) -> None:
    size, rank, interleave = parallel
    cp = ContextParallel(size, rank, interleave)
    counts = torch.arange(150, dtype=torch.int32)
    expected = [rules.num_local_tokens(count, *parallel) for count in range(150)]
    assert get_dcp_local_seq_lens(counts, cp).tolist() == expected
    is_local = [rules.is_local_token(position, *parallel) for position in range(150)]
    assert is_local_token(counts, cp).tolist() == is_local
    assert expected == [sum(is_local[:count]) for count in range(150)]


@SOME
@given(st.integers(0, 4095), st.integers(2, 2**20))
def test_token_ids_in_tensors(request_idx: int, max_model_len: int) -> None:
    base = rules.token_id_base(request_idx, max_model_len)
    tokens = RequestTokens(
        base=base,
        prompt_len=max_model_len,
        prompt_token_ids=None,
        num_rule_outputs=0,
        initial_output_ids=(),
        num_sampled_tokens=0,
    )
    all_token_ids = AllTokenIds([tokens], 1, CPU)
    positions = torch.tensor([0, max_model_len // 2, max_model_len - 1])
    found = all_token_ids[torch.zeros(3, dtype=torch.int64), positions].tolist()
    assert found == [rules.rule_token_id(base, position) for position in positions.tolist()]


def test_the_steps_of_examples(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            follows_the_rules(examples()[name].scenario)


@SOME
@given(strategies.valid_scenarios())
def test_the_steps_of_strict_scenarios(scenario: Scenario) -> None:
    follows_the_rules(scenario)


@SOME
@given(strategies.valid_scenarios(strict=False))
def test_the_steps_of_lenient_scenarios(scenario: Scenario) -> None:
    follows_the_rules(scenario)


def follows_the_rules(scenario: Scenario) -> None:
    plan = load_plan(scenario)
    config = plan.scenario.config
    parallel = (config.context_parallel.size, config.context_parallel.rank, config.context_parallel.interleave)
    trace = trace_scenario(plan, CPU, lambda key, params: key)
    for step in trace["steps"]:
        spaces = {name: space["values"] for name, space in step["spaces"].items()}
        held_is_as_the_rules_say(spaces, plan.scenario.config.kv_cache_groups, parallel)
        if not step["num_reqs"]:
            continue
        for batch_idx, row in enumerate(spaces["idx_mapping"]):
            num_computed, prefill_len = spaces["num_computed_tokens"][row], spaces["prefill_len"][row]
            num_tokens, num_drafts = spaces["num_scheduled_tokens"][batch_idx], spaces["num_draft_tokens"][batch_idx]
            counts = (num_computed, prefill_len, num_tokens, num_drafts)
            num_sampled = spaces["num_sampled"][batch_idx]
            unfinished = rules.is_unfinished(*counts)
            num_rejected = rules.num_rejected_tokens(num_drafts, num_sampled, unfinished=unfinished)
            after = rules.num_computed_tokens_after(num_computed, num_tokens, num_rejected)
            assert bool(spaces["is_prefilling"][batch_idx]) is rules.is_prefilling(num_computed, prefill_len)
            assert (num_sampled == 0) is unfinished
            assert spaces["num_rejected"][batch_idx] == num_rejected
            assert spaces["num_computed_tokens_after"][batch_idx] == after
            assert spaces["seq_lens"][batch_idx] == num_computed + num_tokens
            if parallel[0] > 1:
                local = rules.num_local_tokens(num_computed + num_tokens, *parallel)
                assert spaces["dcp_local_seq_lens"][batch_idx] == local
            for index, group in enumerate(config.kv_cache_groups):
                length = spaces["num_blocks"][index][row]
                num_null = rules.num_null_blocks(num_computed, group.sliding_window, group.block_size)
                held = spaces["block_tables"][index][row][:length]
                gathered = spaces["input_block_tables"][index][batch_idx][:length]
                assert gathered == [rules.NULL_BLOCK] * min(num_null, length) + held[num_null:]
        if parallel[0] > 1:
            assert spaces["is_local"] == [rules.is_local_token(position, *parallel) for position in spaces["positions"]]


def held_is_as_the_rules_say(spaces: dict[str, Any], groups: Any, parallel: tuple[int, int, int]) -> None:
    """What each holder of a block has written, filled and may read of it."""
    batch_rows = {row: batch_idx for batch_idx, row in enumerate(spaces.get("idx_mapping", ()))}
    for entry, row in enumerate(spaces["kv_block_rows"]):
        group = groups[spaces["kv_block_groups"][entry]]
        index = spaces["kv_block_indices"][entry]
        before = spaces["num_computed_tokens"][row]
        written = after = before
        if row in batch_rows:
            written = spaces["seq_lens"][batch_rows[row]]
            after = spaces["num_computed_tokens_after"][batch_rows[row]]

        def slots(num_tokens: int, index: int = index, block_size: int = group.block_size) -> int:
            within = rules.num_tokens_within(num_tokens, index, block_size * parallel[0])
            return rules.num_local_tokens(within, *parallel)

        is_read = row in batch_rows and index >= rules.num_null_blocks(before, group.sliding_window, group.block_size)
        assert spaces["kv_block_num_filled"][entry] == slots(after)
        assert spaces["kv_block_num_written"][entry] == slots(written) - slots(before)
        assert spaces["kv_block_num_readable"][entry] == (slots(written) if is_read else 0)
