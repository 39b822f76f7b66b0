"""What of a request lies on which rank, worked out by hand: 2 ranks, dealt 2 tokens at a time."""

import torch

from app.pipeline.context_parallel import (
    ContextParallel,
    get_dcp_local_seq_lens,
    get_local_block_offsets,
    is_local_token,
)

RANKS = [ContextParallel(size=2, rank=rank, interleave=2) for rank in range(2)]


def test_positions_are_dealt_out_round_robin() -> None:
    positions = torch.arange(9)
    assert [position for position in range(9) if is_local_token(positions, RANKS[0])[position]] == [0, 1, 4, 5, 8]
    assert [position for position in range(9) if is_local_token(positions, RANKS[1])[position]] == [2, 3, 6, 7]


def test_offsets_count_the_tokens_that_a_rank_has_before() -> None:
    # Tokens 0 1 4 5 of a virtual block are the block of rank 0, tokens 2 3 6 7 that of rank 1.
    expected = [0, 1, 0, 1, 2, 3, 2, 3]
    assert get_local_block_offsets(torch.arange(8), RANKS[0]).tolist() == expected
    assert get_local_block_offsets(torch.arange(8), RANKS[1]).tolist() == expected
    # 3 ranks, 2 tokens at a time, blocks of 4: tokens 0 1 6 7, 2 3 8 9 and 4 5 10 11.
    three = ContextParallel(size=3, rank=1, interleave=2)
    assert get_local_block_offsets(torch.arange(12), three).tolist() == [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]
    # 2 ranks, 4 tokens at a time: 0..3 and 4..7.
    four = ContextParallel(size=2, rank=0, interleave=4)
    assert get_local_block_offsets(torch.arange(8), four).tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_local_lengths_are_the_tokens_that_a_rank_holds() -> None:
    seq_lens = torch.arange(10, dtype=torch.int32)
    for cp in RANKS:
        counted = [int(is_local_token(torch.arange(int(seq_len)), cp).sum()) for seq_len in seq_lens]
        assert get_dcp_local_seq_lens(seq_lens, cp).tolist() == counted
    assert get_dcp_local_seq_lens(seq_lens, RANKS[0]).tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 4, 5]
