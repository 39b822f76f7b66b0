"""The gathered tables that attention reads, worked out by hand."""

from array import array

import pytest
import torch

from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.input_block_tables import InputBlockTable, num_null_blocks


def tables(
    device: torch.device, rows: dict[int, list[int]], *, window: int | None = None
) -> tuple[BlockTable, InputBlockTable]:
    """4 rows of 8 columns, block size 4, with these blocks."""
    table = BlockTable(GroupConfig(4, window, 8), ContextParallel(), 4, device)
    for row, ids in rows.items():
        table.append_block_ids(row, array("i", ids), overwrite=True)
    table.apply_staged_writes()
    return table, InputBlockTable(table)


def test_gathering_keeps_what_stands_behind_and_clears_rows_below(device: torch.device) -> None:
    _, gathered = tables(device, {3: [5, 6, 7], 2: [8], 1: [9, 10]})
    nothing_computed = torch.zeros(4, dtype=torch.int32, device=device)
    gathered.gather(torch.tensor([3, 1], device=device), nothing_computed, num_rows_cleared=2)
    assert gathered.input_block_table[:2, :4].tolist() == [[5, 6, 7, 0], [9, 10, 0, 0]]
    # One request now: batch row 0 shows row 2 over the old [5, 6, 7]; batch row 1, used before, becomes zeros.
    gathered.gather(torch.tensor([2], device=device), nothing_computed, num_rows_cleared=2)
    assert gathered.input_block_table[:2, :4].tolist() == [[8, 6, 7, 0], [0, 0, 0, 0]]
    assert gathered.written_columns[:2].tolist() == [3, 0]


def test_a_row_that_is_as_wide_as_the_table_reaches_into_no_other(device: torch.device) -> None:
    _, gathered = tables(device, {0: list(range(1, 9)), 3: list(range(11, 19))})
    rows = torch.tensor([3, 0], device=device)
    gathered.gather(rows, torch.zeros(4, dtype=torch.int32, device=device), num_rows_cleared=2)
    assert gathered.input_block_table.tolist() == [list(range(11, 19)), list(range(1, 9)), [0] * 8, [0] * 8]


def test_blocks_below_the_window_are_read_as_null_and_stay_in_the_pools_table(device: torch.device) -> None:
    table, gathered = tables(device, {3: [11, 12, 13, 14], 1: [15]}, window=6)
    num_computed = torch.tensor([0, 0, 0, 13], dtype=torch.int32, device=device)
    gathered.gather(torch.tensor([1, 3], device=device), num_computed, num_rows_cleared=2)
    # A query at position 13 sees 6 tokens, 8..13; (13 - (6 - 1)) // 4 = 2 whole blocks lie below.
    assert gathered.input_block_table[:2, :4].tolist() == [[15, 0, 0, 0], [0, 0, 13, 14]]
    assert table.block_table[3, :4].tolist() == [11, 12, 13, 14]


def test_no_more_blocks_are_null_than_the_row_has(device: torch.device) -> None:
    """A log may leave blocks out: 13 tokens computed, one block told."""
    _, gathered = tables(device, {3: [11]}, window=6)
    before = torch.tensor([[21, 22, 23, 24, 0, 0, 0, 0]], dtype=torch.int32, device=device)
    gathered.input_block_table[:1] = before
    num_computed = torch.tensor([0, 0, 0, 13], dtype=torch.int32, device=device)
    gathered.gather(torch.tensor([3], device=device), num_computed, num_rows_cleared=1)
    assert gathered.input_block_table[0].tolist() == [0, 22, 23, 24, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("window", "num_computed", "expected"),
    [
        # The next query stands at position num_computed and sees the `window` tokens that end there.
        (6, 0, 0),
        (6, 8, 0),  # sees 3..8: token 3 is the last one of block 0
        (6, 9, 1),  # sees 4..9: block 0 is below
        (6, 12, 1),  # sees 7..12: token 7 is the last one of block 1
        (6, 13, 2),  # sees 8..13
        (1, 3, 0),  # sees 3 alone
        (1, 4, 1),  # sees 4 alone
        (4, 6, 0),  # sees 3..6
        (4, 7, 1),  # sees 4..7
    ],
)
def test_the_edge_of_the_window(window: int, num_computed: int, expected: int) -> None:
    counts = torch.tensor([num_computed], dtype=torch.int32)
    assert num_null_blocks(counts, GroupConfig(4, window, 8), ContextParallel()).tolist() == [expected]


def test_nothing_is_below_where_there_is_no_window_or_several_ranks_share_a_request() -> None:
    counts = torch.tensor([100], dtype=torch.int32)
    assert num_null_blocks(counts, GroupConfig(4, None, 8), ContextParallel()).tolist() == [0]
    assert num_null_blocks(counts, GroupConfig(4, 6, 8), ContextParallel(size=2)).tolist() == [0]
