"""The persistent block tables, worked out by hand."""

from array import array

import pytest
import torch

from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel


def block_table(device: torch.device) -> BlockTable:
    """4 rows of 8 columns, block size 4."""
    return BlockTable(GroupConfig(4, None, 8), ContextParallel(), 4, device)


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


def test_several_rows_are_written_in_one_go(device: torch.device) -> None:
    table = block_table(device)
    for row, ids in ((3, [5, 6, 7]), (0, []), (1, [9])):
        table.append_block_ids(row, array("i", ids), overwrite=True)
    assert table.block_table.count_nonzero() == 0  # nothing is written before it is applied
    table.apply_staged_writes()
    assert table.block_table[:, :4].tolist() == [[0, 0, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0], [5, 6, 7, 0]]
    assert table.num_blocks.tolist() == [0, 1, 0, 3]


def test_a_row_that_is_full_is_no_place_for_more(device: torch.device) -> None:
    table = block_table(device)
    table.append_block_ids(1, array("i", range(1, 9)), overwrite=True)
    with pytest.raises(AssertionError, match="row 1 is full"):
        table.append_block_ids(1, array("i", [9]), overwrite=False)


def test_the_blocks_of_a_row_are_copied_without_its_stale_tail(device: torch.device) -> None:
    table = block_table(device)
    table.append_block_ids(2, array("i", [5, 6, 7]), overwrite=True)
    table.append_block_ids(2, array("i", [9, 8]), overwrite=True)
    table.apply_staged_writes()
    blocks = table.blocks_of(2)
    table.block_table.fill_(1)
    assert blocks.tolist() == [9, 8]
