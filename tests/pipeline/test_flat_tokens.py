"""One flat sequence of tokens, worked out by hand."""

import torch

from app.pipeline.context_parallel import ContextParallel
from app.pipeline.cudagraph import BatchExecutionDescriptor
from app.pipeline.flat_tokens import TOKEN_SOURCES, FlatTokens, flatten
from app.pipeline.input_batch import prepare_batch
from tests.pipeline.pool import make_batch, make_pool

NO_GRAPH = BatchExecutionDescriptor("NONE", 3, 11)


def sources(flat: FlatTokens) -> list[str]:
    return [TOKEN_SOURCES[source] for source in flat.token_source.tolist()]


def test_rows_stand_one_behind_the_other(device: torch.device) -> None:
    states = make_pool(device)
    flat = flatten(states, make_batch(states), NO_GRAPH, ContextParallel())
    assert flat.query_start_loc.tolist() == [0, 3, 6, 11]  # A 3, C 3, B 5
    assert flat.seq_lens.tolist() == [7, 3, 5]  # 4 + 3, 0 + 3, 0 + 5
    assert flat.token_batch_idx.tolist() == [0] * 3 + [1] * 3 + [2] * 5
    assert flat.req_state_idx.tolist() == [3] * 3 + [1] * 3 + [2] * 5
    assert flat.positions.tolist() == [4, 5, 6, 0, 1, 2, 0, 1, 2, 3, 4]
    assert flat.input_ids.tolist() == [77, 8, 9, 3000, 3001, 3002, 2000, 2001, 2002, 2003, 2004]
    assert sources(flat) == ["sampled", "draft", "draft", *["prefill"] * 8]
    assert flat.dcp_local_seq_lens is None


def test_each_row_yields_logits_for_its_last_token_and_its_drafts(device: torch.device) -> None:
    states = make_pool(device)
    flat = flatten(states, make_batch(states), NO_GRAPH, ContextParallel())
    assert flat.cu_num_logits.tolist() == [0, 3, 4, 5]  # 1 + 2 of A, one of C and of B
    assert flat.logits_indices.tolist() == [0, 1, 2, 5, 10]
    assert flat.expanded_idx_mapping.tolist() == [3, 3, 3, 1, 2]
    assert flat.expanded_local_pos.tolist() == [0, 1, 2, 0, 0]


def test_padded_rows_have_no_tokens(device: torch.device) -> None:
    states = make_pool(device)
    flat = flatten(states, make_batch(states), BatchExecutionDescriptor("FULL", 5, 16), ContextParallel())
    assert flat.query_start_loc.tolist() == [0, 3, 6, 11, 11, 11]  # it must not fall
    assert flat.seq_lens.tolist() == [7, 3, 5, 0, 0]
    assert len(flat.positions) == 11


def test_a_rank_holds_its_share_of_each_sequence(device: torch.device) -> None:
    states = make_pool(device)
    flat = flatten(states, make_batch(states), NO_GRAPH, ContextParallel(size=2, rank=1))
    assert flat.dcp_local_seq_lens is not None
    assert flat.dcp_local_seq_lens.tolist() == [3, 1, 2]  # every second token of 7, 3 and 5, from the second on


def test_a_chunk_that_ends_the_prompt_keeps_its_last_token_before_the_drafts(device: torch.device) -> None:
    states = make_pool(device)
    row, places = torch.tensor([1, 1], device=device), torch.tensor([0, 1], device=device)
    states.set_draft_tokens(row, places, torch.tensor([31, 32], device=device))
    batch = prepare_batch(states, [("C", 5)], {"C": [31, 32]}, 2)  # its prompt of 3 and two drafts
    flat = flatten(states, batch, BatchExecutionDescriptor("NONE", 1, 5), ContextParallel())
    # 5 - (1 + 2) = 2 < 3 = prefill_len: no sampled token is combined.
    assert flat.input_ids.tolist() == [3000, 3001, 3002, 31, 32]
    assert sources(flat) == ["prefill", "prefill", "prefill", "draft", "draft"]
    assert flat.logits_indices.tolist() == [2, 3, 4]


def test_drafts_that_do_not_reach_past_the_prompt_are_not_read(device: torch.device) -> None:
    states = make_pool(device)
    batch = prepare_batch(states, [("C", 3)], {"C": [31]}, 2)  # seq_len 3 = prefill_len
    flat = flatten(states, batch, BatchExecutionDescriptor("NONE", 1, 3), ContextParallel())
    assert flat.input_ids.tolist() == [3000, 3001, 3002]
    assert sources(flat) == ["prefill"] * 3
