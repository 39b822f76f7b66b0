"""Context parallelism: how the tokens of one request are dealt out to several ranks, and where this rank keeps its own.

In: positions, lengths and offsets as one GPU would have them. Out: which of them this rank holds, and where. Mirrors
vllm/v1/worker/gpu/cp_utils.py and the rank's part of `_compute_slot_mappings_kernel` in vllm/v1/worker/gpu/block_table.py.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class ContextParallel:
    """How the tokens of a request are dealt out to `size` ranks: `interleave` at a time, round robin."""

    size: int = 1
    rank: int = 0
    interleave: int = 1


def is_local_token(positions: Tensor, cp: ContextParallel) -> Tensor:
    """Whether this rank holds the token at each position [num_tokens]: bool."""
    return positions // cp.interleave % cp.size == cp.rank


def get_local_block_offsets(virtual_offsets: Tensor, cp: ContextParallel) -> Tensor:
    """Where a token lies inside its block on the rank that holds it, from its place in the virtual block. [num_tokens]

    A virtual block is one block on every rank, so it covers `block_size * size` tokens.
    """
    rounds = virtual_offsets // (cp.interleave * cp.size)  # [num_tokens] full deals before this token
    return rounds * cp.interleave + virtual_offsets % cp.interleave


def get_dcp_local_seq_lens(seq_lens: Tensor, cp: ContextParallel) -> Tensor:
    """How many of each row's `seq_len` tokens this rank holds. [num_reqs_padded] int32."""
    base = seq_lens // cp.interleave // cp.size * cp.interleave  # whole deals
    remainder = seq_lens - base * cp.size
    return base + (remainder - cp.rank * cp.interleave).clamp(0, cp.interleave)
