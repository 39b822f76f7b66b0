"""Rows of different lengths, one behind the other: how a table is copied as far as its rows are used, and no further.

A block table is a rectangle as wide as its longest row. Work and copies that follow the rectangle grow with rows times
columns; those here grow with what stands in the rows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


def runs(starts: Tensor, lengths: Tensor) -> Tensor:
    """The numbers `starts[n] .. starts[n] + lengths[n] - 1` of every n, one run behind the other.

    Args:
        starts: [num_runs] int64.
        lengths: [num_runs] int32 or int64.

    Returns:
        [sum(lengths)] int64.
    """
    first = lengths.cumsum(0) - lengths  # [num_runs] where each run begins among the results
    total = int(lengths.sum())
    shift = torch.repeat_interleave(starts - first, lengths, output_size=total)  # [total] from place to number
    return shift.add_(torch.arange(total, device=starts.device))


@dataclass(frozen=True)
class RaggedTable:
    """The used part of each row of a table."""

    values: Tensor  # [num_entries] int32, row by row
    lengths: Tensor  # [num_rows] int32

    @classmethod
    def copy(cls, table: Tensor, lengths: Tensor) -> "RaggedTable":
        """Copy the first `lengths` [num_rows] entries of each row of `table` [>= num_rows, num_columns]."""
        starts = torch.arange(len(lengths), device=table.device) * table.shape[1]  # [num_rows] address of column 0
        return cls(table.view(-1).index_select(0, runs(starts, lengths)), lengths.clone())

    @property
    def bounds(self) -> list[int]:
        """Where the rows begin and end among the entries: row n is `values[bounds[n] : bounds[n + 1]]`. [num_rows + 1]"""
        return [0, *self.lengths.cumsum(0).tolist()]

    @property
    def row_idx(self) -> Tensor:
        """Which row each entry stands in. [num_entries] int64."""
        num_rows = torch.arange(len(self.lengths), device=self.lengths.device)
        return torch.repeat_interleave(num_rows, self.lengths, output_size=len(self.values))

    @property
    def column_idx(self) -> Tensor:
        """Which column each entry stands in. [num_entries] int64."""
        return runs(torch.zeros_like(self.lengths, dtype=torch.int64), self.lengths)
