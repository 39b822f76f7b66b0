"""What must hold in every step, tested on the tensors that ran.

In: the tensors of a step. Out: named verdicts, with the cells that violate them. A strict scenario was refused before it
could violate any; an imported dump or a scenario that is not strict can.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from app.rules import NULL_BLOCK
from app.trace.counts.pool_history import RowHistory
from app.trace.step import StepTensors

MAX_CELLS = 100  # violating cells that a check lists

Cell = tuple[str, tuple[int, ...]]  # space and place in it


@dataclass(frozen=True)
class Check:
    """One invariant. `params` are the numbers in its sentence (`check.<name>.holds` or `.violated`)."""

    name: str
    params: Mapping[str, Any]
    cells: list[Cell] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.cells


def check_step(step: StepTensors, history: RowHistory, num_blocks: int) -> list[Check]:
    """All invariants of a step, those of the batch only where something was scheduled."""
    checks = [*_block_checks(step, history, num_blocks)]
    if step.record.batch is not None:
        checks = [*_batch_checks(step), *_slot_checks(step), *checks]
    return checks


def _batch_checks(step: StepTensors) -> Iterator[Check]:
    batch, flat, pool = step.batch, step.flat, step.record.pool
    rows = batch.idx_mapping
    num_reqs = batch.num_reqs

    live = set(step.req_id_to_index.values())
    seen: set[int] = set()
    strangers: list[Cell] = []
    for batch_idx, row in enumerate(rows.tolist()):
        if row in seen or row not in live:
            strangers.append(("idx_mapping", (batch_idx,)))
        seen.add(row)
    yield Check("rows_distinct", {"num_reqs": num_reqs}, strangers)

    starts = flat.query_start_loc
    falls = (starts[1:] < starts[:-1]).nonzero().squeeze(1).tolist()
    ends = int(starts[-1]) == batch.num_tokens and int(starts[0]) == 0
    cells: list[Cell] = [("query_start_loc", (boundary + 1,)) for boundary in falls]
    if not ends:
        cells.append(("query_start_loc", (len(starts) - 1,)))
    yield Check("query_start_loc", {"num_tokens": batch.num_tokens, "num_boundaries": len(starts)}, cells)

    wrong = flat.seq_lens[:num_reqs] - batch.num_scheduled_tokens != pool.num_computed_tokens[rows]
    yield Check("seq_lens", {"num_reqs": num_reqs}, [("seq_lens", (index,)) for index in _places(wrong)])

    short: list[Cell] = []
    for group, table in enumerate(step.tables):
        tokens = table.num_blocks[rows] * (table.block_size * table.cp.size)
        short += [("num_blocks", (group, int(rows[index]))) for index in _places(tokens < flat.seq_lens[:num_reqs])]
    yield Check("table_covers_seq_len", {"num_reqs": num_reqs, "num_groups": len(step.tables)}, short)


def _slot_checks(step: StepTensors) -> Iterator[Check]:
    repeated: list[Cell] = []
    num_slots = 0
    num_unknown = 0
    for group, slots in enumerate(step.slots):
        places = slots.has_slot.nonzero().squeeze(1)
        slot_ids = slots.slot_ids[places]
        num_slots += len(slot_ids)
        num_unknown += int(slots.is_local.sum()) - len(slot_ids)
        order = slot_ids.argsort(stable=True)
        in_order = slot_ids[order]
        same = in_order[1:] == in_order[:-1]  # with the slot before
        is_repeated = torch.zeros(len(slot_ids), dtype=torch.bool, device=slot_ids.device)
        is_repeated[order[1:]] |= same
        is_repeated[order[:-1]] |= same
        repeated += [("slot_mappings", (group, token)) for token in places[is_repeated].tolist()]
    yield Check("slots_unique", {"num_slots": num_slots, "num_unknown": num_unknown}, repeated)


def _block_checks(step: StepTensors, history: RowHistory, num_blocks: int) -> Iterator[Check]:
    """Ids in the tables of live rows: in range, not the null block, owned once."""
    outside: list[Cell] = []
    null: list[Cell] = []
    num_computed = step.record.pool.num_computed_tokens  # [max_num_reqs]
    is_live = torch.zeros_like(num_computed, dtype=torch.bool)  # [max_num_reqs]
    is_live[step.live_rows] = True
    for group, table in enumerate(step.tables):
        block_ids = table.block_table.values  # [num_entries], as the next five
        rows, columns = table.block_table.row_idx, table.block_table.column_idx
        is_held = is_live[rows] & (columns < table.num_blocks[rows])
        is_below_window = columns < table.num_null_blocks(num_computed)[rows]
        for cells, is_wrong in (
            (outside, is_held & (block_ids >= num_blocks)),
            (null, is_held & (block_ids == NULL_BLOCK) & ~is_below_window),
        ):
            places = zip(rows[is_wrong].tolist(), columns[is_wrong].tolist(), strict=True)
            cells += [("block_tables", (group, row, column)) for row, column in places]
    yield Check("block_ids_in_range", {"num_blocks": num_blocks, "last": num_blocks - 1}, outside)
    yield Check("null_block_unowned", {}, null)
    ids = step.kv_blocks.block_ids  # sorted
    num_owned = int((ids[1:] != ids[:-1]).sum()) + (1 if len(ids) else 0)
    yield Check("blocks_owned_once", {"num_blocks": num_owned}, _owned_twice(step, history))
    if step.kv_blocks.has_loaded:
        yield Check("hit_loaded", {"num_slots": sum(total.num_loaded for total in step.kv_blocks.totals)})


def _owned_twice(step: StepTensors, history: RowHistory) -> list[Cell]:
    """Cells that name a block which somebody else holds, where that is not a shared prefix.

    A block wholly below its row's sliding window is not read any more and no longer counts.
    """
    blocks, num_computed = step.kv_blocks, step.record.pool.num_computed_tokens
    same = blocks.block_ids[1:] == blocks.block_ids[:-1]
    is_repeated = torch.zeros(len(blocks.block_ids), dtype=torch.bool, device=same.device)
    is_repeated[1:] |= same
    is_repeated[:-1] |= same
    entries = torch.stack([blocks.block_ids, blocks.groups, blocks.rows, blocks.indices])[:, is_repeated]
    by_block: dict[int, list[tuple[int, int, int]]] = {}
    for block_id, group, row, column in entries.t().tolist():
        if column < int(step.tables[group].num_null_blocks(num_computed[row])):
            continue
        by_block.setdefault(block_id, []).append((group, row, column))
    cells: list[Cell] = []
    for places in by_block.values():
        places.sort(key=lambda place: history.arrivals[place[1]])
        first_group, first_row, first_column = places[0]
        for group, row, column in places[1:]:
            table = step.tables[group]
            end = (column + 1) * table.block_size * table.cp.size
            is_shared = row != first_row and (group, column) == (first_group, first_column) and end <= history.hits[row]
            if not is_shared:
                cells += [
                    ("block_tables", place) for place in ((first_group, first_row, first_column), (group, row, column))
                ]
    return list(dict.fromkeys(cells))


def _places(mask: Tensor) -> list[int]:
    places: list[int] = mask.nonzero().squeeze(1).tolist()
    return places
