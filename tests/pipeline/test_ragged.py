"""Rows of different lengths, worked out by hand."""

import torch

from app.pipeline.ragged import RaggedTable, runs


def test_runs_stand_one_behind_the_other(device: torch.device) -> None:
    starts = torch.tensor([10, 7, 3], device=device)
    assert runs(starts, torch.tensor([2, 0, 3], device=device)).tolist() == [10, 11, 3, 4, 5]
    assert runs(starts[:0], starts[:0]).tolist() == []


def test_a_copy_holds_the_used_part_of_each_row_and_nothing_else(device: torch.device) -> None:
    table = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 0]], dtype=torch.int32, device=device)
    copy = RaggedTable.copy(table, torch.tensor([2, 0, 3], dtype=torch.int32, device=device))
    assert copy.values.tolist() == [1, 2, 7, 8, 9]
    assert copy.bounds == [0, 2, 2, 5]
    assert copy.row_idx.tolist() == [0, 0, 2, 2, 2]
    assert copy.column_idx.tolist() == [0, 1, 0, 1, 2]
    assert copy.values.untyped_storage().nbytes() == 5 * 4
    table.fill_(-7)
    assert copy.values.tolist() == [1, 2, 7, 8, 9]
