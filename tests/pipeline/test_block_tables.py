"""Block tables and slot mapping, worked out by hand."""

from array import array

import torch

from app.pipeline.block_tables import BlockTable, ContextParallel
from app.rules import PAD_SLOT_ID


def block_table(
    device: torch.device, *, block_size: int = 4, window: int | None = None, cp: ContextParallel | None = None
) -> BlockTable:
    return BlockTable(block_size, window, 4, 8, cp or ContextParallel(), device)


def ints(values: list[int], device: torch.device) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64, device=device)


def test_slots_are_block_times_size_plus_offset(device: torch.device) -> None:
    table = block_table(device)
    table.append_block_ids(3, array("i", [37, 12]), overwrite=True)
    table.apply_staged_writes()
    slots = table.compute_slot_mapping(ints([3, 3, 3], device), ints([0, 3, 4], device))
    assert slots.block_indices.tolist() == [0, 0, 1]  # 0 // 4, 3 // 4, 4 // 4
    assert slots.block_offsets.tolist() == [0, 3, 0]  # 0 % 4, 3 % 4, 4 % 4
    assert slots.block_numbers.tolist() == [37, 37, 12]
    assert slots.slot_ids.tolist() == [148, 151, 48]  # 37 * 4, 37 * 4 + 3, 12 * 4


def test_slot_ids_are_64_bits_wide(device: torch.device) -> None:
    table = BlockTable(16_384, None, 1, 1, ContextParallel(), device)
    table.append_block_ids(0, array("i", [2**31 - 1]), overwrite=True)
    table.apply_staged_writes()
    slots = table.compute_slot_mapping(ints([0], device), ints([5], device))
    assert slots.slot_ids.tolist() == [(2**31 - 1) * 16_384 + 5]


def test_a_shorter_overwrite_leaves_a_stale_tail(device: torch.device) -> None:
    table = block_table(device)
    table.append_block_ids(2, array("i", [5, 6, 7]), overwrite=True)
    table.apply_staged_writes()
    table.append_block_ids(2, array("i", [9]), overwrite=True)
    table.apply_staged_writes()
    assert table.num_blocks.tolist() == [0, 0, 1, 0]
    assert table.block_table[2, :4].tolist() == [9, 6, 7, 0]
    assert table.written_columns.tolist() == [0, 0, 3, 0]


def test_appending_goes_behind_the_blocks_not_behind_the_stale_tail(device: torch.device) -> None:
    table = block_table(device)
    table.append_block_ids(2, array("i", [5, 6, 7]), overwrite=True)
    table.apply_staged_writes()
    table.append_block_ids(2, array("i", [9]), overwrite=True)
    table.append_block_ids(2, array("i", [8]), overwrite=False)
    table.apply_staged_writes()
    assert table.block_table[2, :4].tolist() == [9, 8, 7, 0]


def test_gathering_keeps_what_stands_behind_and_clears_rows_below(device: torch.device) -> None:
    table = block_table(device)
    for row, ids in ((3, [5, 6, 7]), (2, [8]), (1, [9, 10])):
        table.append_block_ids(row, array("i", ids), overwrite=True)
    table.apply_staged_writes()
    nothing_computed = torch.zeros(4, dtype=torch.int32, device=device)
    table.gather(ints([3, 1], device), nothing_computed, num_rows_cleared=2)
    assert table.input_block_table[:2, :4].tolist() == [[5, 6, 7, 0], [9, 10, 0, 0]]
    # One request now: batch row 0 shows row 2 over the old [5, 6, 7]; batch row 1, used before, becomes zeros.
    table.gather(ints([2], device), nothing_computed, num_rows_cleared=2)
    assert table.input_block_table[:2, :4].tolist() == [[8, 6, 7, 0], [0, 0, 0, 0]]
    assert table.input_written_columns[:2].tolist() == [3, 0]


def test_gathering_rows_one_by_one_gives_the_same(device: torch.device) -> None:
    """Tables of very uneven rows take another path."""
    table = BlockTable(1, 3, 64, 70_000, ContextParallel(), device)
    table.append_block_ids(9, array("i", range(1, 70_001)), overwrite=True)
    table.append_block_ids(4, array("i", [70_001, 70_002, 70_003]), overwrite=True)
    table.apply_staged_writes()
    num_computed = torch.zeros(64, dtype=torch.int32, device=device)
    num_computed[4] = 3  # 3 - (3 - 1) = 1 null block
    rows = [4, *[8] * 8, 9]
    table.gather(ints(rows, device), num_computed, num_rows_cleared=10)
    assert table.input_block_table[0, :4].tolist() == [0, 70_002, 70_003, 0]
    assert table.input_block_table[9, -2:].tolist() == [69_999, 70_000]
    assert table.input_block_table[1].count_nonzero() == 0


def test_blocks_below_the_window_are_read_as_null_and_still_written(device: torch.device) -> None:
    table = block_table(device, window=6)
    table.append_block_ids(3, array("i", [11, 12, 13, 14]), overwrite=True)
    table.apply_staged_writes()
    num_computed = torch.tensor([0, 0, 0, 13], dtype=torch.int32, device=device)
    table.gather(ints([3], device), num_computed, num_rows_cleared=1)
    # A query at position 13 sees 6 tokens, 8..13; (13 - (6 - 1)) // 4 = 2 whole blocks lie below.
    assert table.input_block_table[0, :4].tolist() == [0, 0, 13, 14]
    assert table.compute_slot_mapping(ints([3], device), ints([13], device)).slot_ids.tolist() == [14 * 4 + 1]


def test_context_parallel_ranks_share_a_virtual_block(device: torch.device) -> None:
    """Block size 4 on 2 ranks, dealt 2 at a time: positions 0 1 4 5 on rank 0, 2 3 6 7 on rank 1."""
    slot_ids = []
    for rank in range(2):
        table = block_table(device, cp=ContextParallel(size=2, rank=rank, interleave=2))
        table.append_block_ids(0, array("i", [10, 20]), overwrite=True)
        table.apply_staged_writes()
        slots = table.compute_slot_mapping(ints([0] * 9, device), ints(list(range(9)), device))
        assert slots.block_indices.tolist() == [0] * 8 + [1]  # a virtual block covers 4 * 2 tokens
        slot_ids.append(slots.slot_ids.tolist())
    pad = PAD_SLOT_ID
    assert slot_ids[0] == [40, 41, pad, pad, 42, 43, pad, pad, 80]
    assert slot_ids[1] == [pad, pad, 40, 41, pad, pad, 42, 43, pad]
