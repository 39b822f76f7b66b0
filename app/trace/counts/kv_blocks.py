"""Physical blocks in use: who holds them and how far they are filled.

In: the persistent block tables as a step saw them. Out: one entry per (block, group, row, column), by rising block id. A
block that several tables name (a shared prefix) has an entry for each of its holders, and counts once in the totals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.record import TableSnapshot
from app.rules import NULL_BLOCK
from app.trace.counts.loaded import LoadedSlots, slots_within


@dataclass(frozen=True)
class GroupTotals:
    """What the tables of one group hold together: every block and every slot counts once, however many name it."""

    num_blocks: int
    num_filled: int
    num_loaded: int
    num_written: int
    num_readable: int


@dataclass(frozen=True)
class KVBlocks:
    """All [num_kv_blocks] int32, by kv_block_idx, but for `is_first_holder` (bool) and `totals`."""

    block_ids: Tensor
    groups: Tensor
    rows: Tensor  # req_state_idx of the holder
    indices: Tensor  # logical block: the column of the table
    num_filled: Tensor  # slots that hold valid tokens after the step, on this rank
    num_written: Tensor  # slots written in the step, on this rank
    num_readable: Tensor  # slots that attention may read in the step, on this rank
    num_holders: Tensor  # cells of the group's tables that name the block
    is_first_holder: Tensor  # whether the entry stands for its block: true for one of the holders
    computed_begin: Tensor  # offset of the first slot that a request of the scenario computed
    computed_end: Tensor  # offset behind the last one
    num_loaded: Tensor  # filled slots that lie outside: no request of the scenario computed them
    totals: Sequence[GroupTotals]  # per group

    @property
    def has_shared(self) -> bool:
        """Whether several tables name one block."""
        return not bool(self.is_first_holder.all())

    @property
    def has_loaded(self) -> bool:
        return any(total.num_loaded for total in self.totals)


def kv_blocks(
    tables: Sequence[TableSnapshot],
    live_rows: Tensor,
    is_running: Tensor,
    num_computed: Tensor,
    seq_lens: Tensor,
    num_valid: Tensor,
    loaded: LoadedSlots,
) -> KVBlocks:
    """List the known blocks in the tables of live rows, null blocks left out.

    Args:
        tables: one per group.
        live_rows: [num_live] int64, rows that a request holds.
        is_running: [max_num_reqs] bool, rows that the step schedules.
        num_computed: [max_num_reqs] tokens computed before the step.
        seq_lens: [max_num_reqs] tokens written once the step has run; `num_computed` for rows that do not run.
        num_valid: [max_num_reqs] tokens that count after the step, rejected drafts left out.
        loaded: has followed the steps up to this one.
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
        group_of = torch.full_like(indices, group)
        num_filled = _slots_within(num_valid, rows, indices, table)
        before = _slots_within(num_computed, rows, indices, table)
        written = _slots_within(seq_lens, rows, indices, table)
        null_blocks = table.num_null_blocks(num_computed)  # [max_num_reqs] below the window: not read any more
        is_read = is_running[rows] & (indices >= null_blocks[rows])  # [n]
        num_readable = written * is_read
        begin, end = loaded.computed(group, block_ids, indices)
        num_loaded = num_filled - (torch.minimum(end, num_filled) - torch.minimum(begin, num_filled))
        part = (block_ids, group_of, rows.to(torch.int32), indices, num_filled, before, written, num_readable)
        parts.append((*part, begin, end, num_loaded))
    columns = [torch.cat(part) for part in zip(*parts, strict=True)]  # of [num_kv_blocks]
    order = _order(columns[0])
    ids, group_of, rows, indices, num_filled, before, written, num_readable, begin, end, num_loaded = (
        column.index_select(0, order) for column in columns
    )
    is_first_holder = torch.ones_like(ids, dtype=torch.bool)
    is_first_holder[1:] = (ids[1:] != ids[:-1]) | (group_of[1:] != group_of[:-1])
    block = is_first_holder.cumsum(0) - 1  # [num_kv_blocks] which of the different blocks of a group each entry is of
    of_blocks = (
        _most(num_filled, block),
        _most(num_loaded, block),
        _union(before, written, block),
        _most(num_readable, block),
    )
    return KVBlocks(
        block_ids=ids,
        groups=group_of,
        rows=rows,
        indices=indices,
        num_filled=num_filled,
        num_written=written - before,
        num_readable=num_readable,
        num_holders=torch.bincount(block).to(torch.int32)[block],
        is_first_holder=is_first_holder,
        computed_begin=begin,
        computed_end=end,
        num_loaded=num_loaded,
        totals=_totals(group_of[is_first_holder], of_blocks, len(tables)),
    )


def _slots_within(num_tokens: Tensor, rows: Tensor, indices: Tensor, table: TableSnapshot) -> Tensor:
    """How many of a row's first `num_tokens` tokens lie in its (virtual) block `indices`, on this rank. [n]"""
    return slots_within(num_tokens.to(torch.int32)[rows], indices, table.tokens_per_block, table.cp)


def _most(num_slots: Tensor, block: Tensor) -> Tensor:
    """Slots of each block that any of its holders counts: all count from offset 0. [num_blocks] int64"""
    num_blocks = int(block[-1]) + 1 if len(block) else 0
    return torch.zeros(num_blocks, dtype=torch.int64, device=block.device).scatter_reduce_(
        0, block, num_slots.to(torch.int64), "amax"
    )


def _union(begin: Tensor, end: Tensor, block: Tensor) -> Tensor:
    """Slots of each block that lie in `begin .. end - 1` of any of its holders. [num_blocks] int64"""
    num_blocks = int(block[-1]) + 1 if len(block) else 0
    new = (end - begin).to(torch.int64)  # [num_kv_blocks] slots that no entry before has
    if num_blocks < len(block):
        # All blocks on one line, one behind the other; from left to right, how far the entries so far reach.
        room = int(end.max()) + 1
        first, last = block * room + begin, block * room + end
        order = first.argsort()
        first, last, block = first[order], last[order], block[order]
        reach = last.cummax(0).values.roll(1)
        reach[0] = 0
        new = (last - torch.maximum(first, reach)).clamp(min=0)
    return torch.zeros(num_blocks, dtype=torch.int64, device=block.device).index_add_(0, block, new)


def _totals(group_of: Tensor, of_blocks: Sequence[Tensor], num_groups: int) -> list[GroupTotals]:
    """Sums over the blocks of each group; `group_of` and all of `of_blocks` are [num_blocks]."""
    num_blocks = torch.bincount(group_of, minlength=num_groups).tolist()
    sums = [torch.zeros(num_groups, dtype=torch.int64, device=group_of.device) for _ in of_blocks]
    columns = [total.index_add_(0, group_of, counts).tolist() for total, counts in zip(sums, of_blocks, strict=True)]
    return [GroupTotals(*values) for values in zip(num_blocks, *columns, strict=True)]


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
