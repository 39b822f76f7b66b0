"""Slot mapping: from `(req_state_idx, position)` to the slot that a token's K and V are written to.

In: the flat tokens' pool rows and positions, and the **persistent** table. Out: the slot of each token. Mirrors
`BlockTables.compute_slot_mappings` in vllm/v1/worker/gpu/block_table.py.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.block_tables import BlockTable
from app.pipeline.context_parallel import get_local_block_offsets, is_local_token
from app.rules import PAD_SLOT_ID, UNKNOWN_BLOCK, UNKNOWN_SLOT_ID


@dataclass(frozen=True)
class GroupSlots:
    """Slot mapping of one KV-cache group, step by step."""

    block_indices: Tensor  # [num_tokens] int64 logical block
    block_offsets: Tensor  # [num_tokens] int64 offset inside the block, on the rank that holds the token
    block_numbers: Tensor  # [num_tokens] int64 physical block, where `is_known`
    is_local: Tensor  # [num_tokens] bool, whether this rank holds the token
    is_known: Tensor  # [num_tokens] bool, whether the row's table says which block it is
    # [num_tokens_padded] int64: PAD_SLOT_ID for padding and for a token of another rank, else UNKNOWN_SLOT_ID where the
    # block is not known
    slot_ids: Tensor

    @property
    def has_slot(self) -> Tensor:
        """Whether the token is written on this rank, to a slot that is known. [num_tokens] bool"""
        return self.is_local & self.is_known


def compute_slot_mapping(table: BlockTable, req_state_idx: Tensor, positions: Tensor, num_tokens_padded: int) -> GroupSlots:
    """The slot of each token, looked up through its pool row.

    Args:
        table: the persistent table of the group.
        req_state_idx: [num_tokens] pool row of each token.
        positions: [num_tokens] int64.
        num_tokens_padded: how many slots a step that is dispatched as a CUDA graph has.
    """
    if table.cp.size > 1:
        return compute_local_slot_mapping(table, req_state_idx, positions, num_tokens_padded)
    block_size = table.group.block_size
    block_indices = positions // block_size  # [num_tokens] which logical block
    block_offsets = positions % block_size  # [num_tokens] where inside it
    block_numbers = table.block_table[req_state_idx, block_indices].to(torch.int64)  # [num_tokens] physical block
    slot_ids = block_numbers * block_size + block_offsets  # [num_tokens] linear KV slot
    is_known = is_known_block(table, req_state_idx, block_indices, block_numbers)  # [num_tokens]
    slot_ids = torch.where(is_known, slot_ids, UNKNOWN_SLOT_ID)  # [num_tokens]
    is_local = torch.ones_like(is_known)  # [num_tokens] there is no other rank
    return GroupSlots(
        block_indices, block_offsets, block_numbers, is_local, is_known, pad_slot_mapping(slot_ids, num_tokens_padded)
    )


def compute_local_slot_mapping(
    table: BlockTable, req_state_idx: Tensor, positions: Tensor, num_tokens_padded: int
) -> GroupSlots:
    """The same where several ranks share a request: a table entry is a virtual block, one block on every rank."""
    block_size, cp = table.group.block_size, table.cp
    virtual_size = block_size * cp.size  # a virtual block: one block on every rank
    block_indices = positions // virtual_size  # [num_tokens] which virtual block
    virtual_offsets = positions % virtual_size  # [num_tokens] where inside it
    block_offsets = get_local_block_offsets(virtual_offsets, cp)  # [num_tokens] offset on its rank
    block_numbers = table.block_table[req_state_idx, block_indices].to(torch.int64)  # [num_tokens]
    slot_ids = block_numbers * block_size + block_offsets  # [num_tokens]
    is_known = is_known_block(table, req_state_idx, block_indices, block_numbers)  # [num_tokens]
    slot_ids = torch.where(is_known, slot_ids, UNKNOWN_SLOT_ID)  # [num_tokens]
    is_local = is_local_token(virtual_offsets, cp)  # [num_tokens]
    slot_ids = torch.where(is_local, slot_ids, PAD_SLOT_ID)  # [num_tokens] another rank writes the others
    return GroupSlots(
        block_indices, block_offsets, block_numbers, is_local, is_known, pad_slot_mapping(slot_ids, num_tokens_padded)
    )


def is_known_block(table: BlockTable, req_state_idx: Tensor, block_indices: Tensor, block_numbers: Tensor) -> Tensor:
    """Whether a token's row has a block at `block_indices`, and one that somebody told. [num_tokens] bool."""
    return (block_indices < table.num_blocks.index_select(0, req_state_idx)) & (block_numbers != UNKNOWN_BLOCK)


def pad_slot_mapping(slot_ids: Tensor, num_tokens_padded: int) -> Tensor:
    """Slots from `num_tokens` on say "write nowhere". [num_tokens_padded] int64."""
    num_padding = num_tokens_padded - len(slot_ids)
    return torch.nn.functional.pad(slot_ids, (0, num_padding), value=PAD_SLOT_ID)
