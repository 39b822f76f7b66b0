"""Gathered block tables: the copy by batch row that attention walks, for **reading**.

In: the persistent tables and who runs. Out: `input_block_tables`, a buffer of each KV-cache group by batch row. Mirrors
`BlockTables.gather_block_tables` in vllm/v1/worker/gpu/block_table.py.
"""

import torch
from torch import Tensor

from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.ragged import runs
from app.rules import NULL_BLOCK


class InputBlockTable:
    """The table of one KV-cache group that attention reads."""

    def __init__(self, table: BlockTable) -> None:
        self._table = table
        self.input_block_table = torch.zeros_like(table.block_table)  # [max_num_reqs, num_columns] by batch_idx
        # How far each batch row was written since it was last cleared: [max_num_reqs] int32.
        self.written_columns = torch.zeros_like(table.written_columns)

    def gather(self, idx_mapping: Tensor, num_computed_tokens: Tensor, num_rows_cleared: int) -> None:
        """Copy the blocks of the batch's pool rows.

        Columns behind a row's `num_blocks` keep what an earlier step left. Rows `[num_reqs, num_rows_cleared)` become 0.

        Args:
            idx_mapping: [num_reqs] pool row of each batch row.
            num_computed_tokens: [max_num_reqs] by pool row.
            num_rows_cleared: this step's `num_reqs_padded` or the previous step's `num_reqs`, whichever is larger.
        """
        table, num_columns = self._table, self._table.group.num_columns
        num_reqs = len(idx_mapping)
        batch_rows = torch.arange(num_reqs, device=idx_mapping.device)  # [num_reqs]
        num_blocks = table.num_blocks[idx_mapping]  # [num_reqs]
        source = runs(idx_mapping * num_columns, num_blocks)  # [num_entries] addresses in the pool's table
        block_ids = table.block_table.view(-1).index_select(0, source)  # [num_entries]
        shift = (batch_rows - idx_mapping) * num_columns  # [num_reqs] to the same columns in the batch's table
        destination = source.add_(torch.repeat_interleave(shift, num_blocks, output_size=len(source)))  # [num_entries]
        self.input_block_table.view(-1).scatter_(0, destination, block_ids)
        if table.group.sliding_window is not None:
            null_blocks = num_null_blocks(num_computed_tokens[idx_mapping], table.group, table.cp)  # [num_reqs]
            hidden = runs(batch_rows * num_columns, torch.minimum(null_blocks, num_blocks))  # addresses
            self.input_block_table.view(-1)[hidden] = NULL_BLOCK
        written = self.written_columns
        written[:num_reqs] = torch.maximum(written[:num_reqs], num_blocks)
        self.input_block_table[num_reqs:num_rows_cleared] = NULL_BLOCK
        written[num_reqs:num_rows_cleared] = 0


def num_null_blocks(num_computed_tokens: Tensor, group: GroupConfig, cp: ContextParallel) -> Tensor:
    """How many leading blocks no query of this step can see: they may already belong to somebody else. [num_reqs]"""
    if group.sliding_window is None or cp.size > 1:
        return torch.zeros_like(num_computed_tokens)
    return (num_computed_tokens - (group.sliding_window - 1)).clamp(min=0) // group.block_size
