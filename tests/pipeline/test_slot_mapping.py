"""Slot mapping, worked out by hand."""

from array import array

import pytest
import torch

from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.slot_mapping import GroupSlots, compute_slot_mapping
from app.rules import PAD_SLOT_ID, UNKNOWN_BLOCK, UNKNOWN_SLOT_ID


def slots_of(
    device: torch.device,
    block_ids: list[int],
    positions: list[int],
    *,
    block_size: int = 4,
    cp: ContextParallel | None = None,
    num_tokens_padded: int | None = None,
) -> GroupSlots:
    """Slots of one request at pool row 3 of 4."""
    table = BlockTable(GroupConfig(block_size, None, 8), cp or ContextParallel(), 4, device)
    table.append_block_ids(3, array("i", block_ids), overwrite=True)
    table.apply_staged_writes()
    at = torch.tensor(positions, dtype=torch.int64, device=device)
    return compute_slot_mapping(table, torch.full_like(at, 3), at, num_tokens_padded or len(positions))


def test_slots_are_block_times_size_plus_offset(device: torch.device) -> None:
    slots = slots_of(device, [37, 12], [0, 3, 4])
    assert slots.block_indices.tolist() == [0, 0, 1]  # 0 // 4, 3 // 4, 4 // 4
    assert slots.block_offsets.tolist() == [0, 3, 0]  # 0 % 4, 3 % 4, 4 % 4
    assert slots.block_numbers.tolist() == [37, 37, 12]
    assert slots.slot_ids.tolist() == [148, 151, 48]  # 37 * 4, 37 * 4 + 3, 12 * 4
    assert slots.has_slot.tolist() == [True] * 3


def test_slot_ids_are_64_bits_wide(device: torch.device) -> None:
    slots = slots_of(device, [2**31 - 1], [5], block_size=16_384)
    assert slots.slot_ids.tolist() == [(2**31 - 1) * 16_384 + 5]


def test_behind_the_tokens_of_the_batch_nothing_is_written(device: torch.device) -> None:
    slots = slots_of(device, [37], [0, 1], num_tokens_padded=4)
    assert slots.slot_ids.tolist() == [148, 149, PAD_SLOT_ID, PAD_SLOT_ID]
    assert len(slots.block_numbers) == len(slots.is_known) == 2


def test_the_last_slot_of_an_unknown_block_is_not_write_nowhere(device: torch.device) -> None:
    """Were an unknown block -1 in the table, its slot at offset 15 would be -1 * 16 + 15 = -1 = PAD_SLOT_ID."""
    slots = slots_of(device, [UNKNOWN_BLOCK, 12], [14, 15, 16], block_size=16, num_tokens_padded=4)
    assert slots.block_offsets.tolist() == [14, 15, 0]
    assert slots.is_known.tolist() == [False, False, True]
    assert slots.is_local.tolist() == [True, True, True]
    assert slots.slot_ids.tolist() == [UNKNOWN_SLOT_ID, UNKNOWN_SLOT_ID, 192, PAD_SLOT_ID]  # 12 * 16


@pytest.mark.parametrize("block_size", [1, 2, 16, 16_384])
def test_arithmetic_on_an_unknown_block_gives_neither_of_the_two_ids(block_size: int) -> None:
    ids = {UNKNOWN_BLOCK * block_size + offset for offset in range(block_size)}
    assert not ids & {PAD_SLOT_ID, UNKNOWN_SLOT_ID}


def test_a_block_that_the_row_does_not_have_is_not_known(device: torch.device) -> None:
    """What stands behind a row's blocks is an earlier request's, or 0."""
    table = BlockTable(GroupConfig(4, None, 8), ContextParallel(), 4, device)
    table.append_block_ids(3, array("i", [5, 6]), overwrite=True)
    table.append_block_ids(3, array("i", [9]), overwrite=True)
    table.apply_staged_writes()
    positions = torch.tensor([3, 4, 8], device=device)
    slots = compute_slot_mapping(table, torch.full_like(positions, 3), positions, 3)
    assert slots.is_known.tolist() == [True, False, False]
    assert slots.slot_ids.tolist() == [39, UNKNOWN_SLOT_ID, UNKNOWN_SLOT_ID]  # 9 * 4 + 3


def test_context_parallel_ranks_share_a_virtual_block(device: torch.device) -> None:
    """Block size 4 on 2 ranks, dealt 2 at a time: positions 0 1 4 5 on rank 0, 2 3 6 7 on rank 1."""
    slot_ids = []
    for rank in range(2):
        slots = slots_of(device, [10, 20], list(range(9)), cp=ContextParallel(size=2, rank=rank, interleave=2))
        assert slots.block_indices.tolist() == [0] * 8 + [1]  # a virtual block covers 4 * 2 tokens
        assert slots.has_slot.tolist() == [slot_id != PAD_SLOT_ID for slot_id in slots.slot_ids.tolist()]
        slot_ids.append(slots.slot_ids.tolist())
    pad = PAD_SLOT_ID
    assert slot_ids[0] == [40, 41, pad, pad, 42, 43, pad, pad, 80]
    assert slot_ids[1] == [pad, pad, 40, 41, pad, pad, 42, 43, pad]


def test_a_token_of_another_rank_is_not_written_whether_its_block_is_known_or_not(device: torch.device) -> None:
    slots = slots_of(device, [UNKNOWN_BLOCK], [0, 1, 2, 3], cp=ContextParallel(size=2, rank=0, interleave=2))
    assert slots.is_local.tolist() == [True, True, False, False]
    assert slots.slot_ids.tolist() == [UNKNOWN_SLOT_ID, UNKNOWN_SLOT_ID, PAD_SLOT_ID, PAD_SLOT_ID]
    assert slots.has_slot.tolist() == [False] * 4
