"""Physical blocks in use: who owns them and how far they are filled.

In: the persistent block tables as a step saw them. Out: one entry per (block, group, row, column), by rising block id. A
block that the tables name twice (a shared prefix) has an entry for each of its owners.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.context_parallel import get_dcp_local_seq_lens
from app.pipeline.record import TableSnapshot
from app.rules import NULL_BLOCK


@dataclass(frozen=True)
class KVBlocks:
    """All [num_kv_blocks] int32, by kv_block_idx, but for `totals`."""

    block_ids: Tensor
    groups: Tensor
    rows: Tensor  # req_state_idx of the owner
    indices: Tensor  # logical block: the column of the table
    num_filled: Tensor  # slots that hold valid tokens after the step, on this rank
    num_written: Tensor  # slots written in the step, on this rank
    num_readable: Tensor  # slots that attention may read in the step, on this rank
    totals: Sequence[tuple[int, int, int, int]]  # per group: blocks, and the sums of the three counts above


def kv_blocks(
    tables: Sequence[TableSnapshot],
    live_rows: Tensor,
    is_running: Tensor,
    num_computed: Tensor,
    seq_lens: Tensor,
    num_valid: Tensor,
) -> KVBlocks:
    """List the known blocks in the tables of live rows, null blocks left out.

    Args:
        tables: one per group.
        live_rows: [num_live] int64, rows that a request holds.
        is_running: [max_num_reqs] bool, rows that the step schedules.
        num_computed: [max_num_reqs] tokens computed before the step.
        seq_lens: [max_num_reqs] tokens written once the step has run; `num_computed` for rows that do not run.
        num_valid: [max_num_reqs] tokens that count after the step, rejected drafts left out.
    """
    is_live = torch.zeros_like(is_running)  # [max_num_reqs]
    is_live[live_rows] = True
    parts: list[tuple[Tensor, ...]] = []
    for group, table in enumerate(tables):
        values, row_idx, column_idx = table.block_table.values, table.block_table.row_idx, table.block_table.column_idx
        is_held = is_live[row_idx] & (column_idx < table.num_blocks[row_idx]) & (values > NULL_BLOCK)  # [num_entries]
        entries = is_held.nonzero().squeeze(1)  # [n], row by row
        block_ids = values[entries]  # [n]
        rows = row_idx[entries]  # [n]
        indices = column_idx[entries].to(torch.int32)  # [n]
        num_filled = _slots_within(num_valid, rows, indices, table)
        written = _slots_within(seq_lens, rows, indices, table)
        num_written = written - _slots_within(num_computed, rows, indices, table)
        null_blocks = table.num_null_blocks(num_computed)  # [max_num_reqs] below the window: not read any more
        is_read = is_running[rows] & (indices >= null_blocks[rows])  # [n]
        num_readable = written * is_read
        group_of = torch.full_like(indices, group)
        parts.append((block_ids, group_of, rows.to(torch.int32), indices, num_filled, num_written, num_readable))
    columns = [torch.cat(part) for part in zip(*parts, strict=True)]  # seven of [num_kv_blocks]
    order = _order(columns[0])
    ids, group_of, rows, indices, num_filled, num_written, num_readable = (
        column.index_select(0, order) for column in columns
    )
    totals = [(len(part[0]), int(part[4].sum()), int(part[5].sum()), int(part[6].sum())) for part in parts]
    return KVBlocks(ids, group_of, rows, indices, num_filled, num_written, num_readable, totals)


def _slots_within(num_tokens: Tensor, rows: Tensor, indices: Tensor, table: TableSnapshot) -> Tensor:
    """How many of a row's first `num_tokens` tokens lie in its (virtual) block `indices`, on this rank. [n]"""
    tokens_per_block = table.tokens_per_block
    within = (num_tokens.to(torch.int32)[rows] - indices * tokens_per_block).clamp(0, tokens_per_block)
    return within if table.cp.size == 1 else get_dcp_local_seq_lens(within, table.cp)


def _order(block_ids: Tensor) -> Tensor:
    """Places in order of rising block id, ties as they stand. [n]"""
    num_entries = len(block_ids)
    largest = int(block_ids.max()) if num_entries else 0
    if largest <= 8 * num_entries + 65_536:
        # Ids are dense and mostly different: put each at its place.
        place_of = torch.full((largest + 1,), -1, dtype=torch.int64, device=block_ids.device)
        place_of[block_ids.to(torch.int64)] = torch.arange(num_entries, device=block_ids.device)
        order = place_of[place_of >= 0]
        if len(order) == num_entries:
            return order
    return block_ids.argsort(stable=True)
