"""From a pipeline record to the values of the spaces.

Every space that `schema` declares gets its values here: nested lists that follow its dims, None where a log does not tell.
The innermost lists are numpy arrays where they can be, since those are encoded without making a Python object per value.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from app.pipeline.block_tables import PAD_SLOT_ID, UNKNOWN_BLOCK, BlockTable, is_local_token
from app.pipeline.input_batch import TOKEN_SOURCES
from app.pipeline.kv_cache import LAYOUTS, KVCacheLayout
from app.pipeline.runner import Runner, StepRecord
from app.scenario.plan.plan import PlannedStep
from app.trace.counts.kv_blocks import KVBlocks, kv_blocks
from app.trace.counts.pool_history import PoolHistory
from app.trace.schema import SPACES

Values = NDArray[Any] | list[int | None]

_DECLARED = {space.name: space for space in SPACES}


@dataclass(frozen=True)
class StepTensors:
    """One step as it is described: what ran, what was planned, and what follows from both."""

    runner: Runner
    record: StepRecord
    planned: PlannedStep
    layout: KVCacheLayout
    row_req_ids: Sequence[str | None]  # [max_num_reqs] whose data a row holds
    live_rows: Tensor  # [num_live] int64, rows that a request holds
    kv_blocks: KVBlocks
    stale_block_ids: Tensor  # [num_stale_blocks] int32
    stale_block_req_ids: Sequence[str]  # [num_stale_blocks]
    is_covered: tuple[Tensor | None, ...]  # per group: [num_tokens] bool, whether the row has the block; None: all have

    @property
    def tables(self) -> tuple[BlockTable, ...]:
        return self.runner.block_tables.groups


def prepare_step(
    runner: Runner,
    record: StepRecord,
    planned: PlannedStep,
    layout: KVCacheLayout,
    history: PoolHistory,
    is_strict: bool,
) -> StepTensors:
    """Derive what the spaces need beside the record. Call it before the runner's next step."""
    live_rows = torch.tensor(sorted(runner.states.req_id_to_index.values()), dtype=torch.int64, device=runner.device)
    num_computed = record.pool.num_computed_tokens.to(torch.int64)
    seq_lens, num_valid = num_computed.clone(), num_computed.clone()
    is_running = torch.zeros(len(num_computed), dtype=torch.bool, device=runner.device)
    is_covered: list[Tensor | None] = []
    if record.batch is not None and record.flat is not None and record.update is not None:
        is_running[record.batch.idx_mapping] = True
        seq_lens[record.batch.idx_mapping] += record.batch.num_scheduled_tokens
        num_valid[record.batch.idx_mapping] = record.update.num_computed_tokens_after.to(torch.int64)
        for table, slots in zip(runner.block_tables.groups, record.slots, strict=True):
            covered = slots.block_indices < table.num_blocks[record.flat.req_state_idx]
            is_covered.append(None if is_strict else covered)
    blocks = kv_blocks(runner.block_tables.groups, live_rows, is_running, num_computed, seq_lens, num_valid)
    stale_block_ids, stale_block_req_ids = history.stale_blocks.not_held(blocks.block_ids)
    return StepTensors(
        runner=runner,
        record=record,
        planned=planned,
        layout=layout,
        row_req_ids=history.row_req_ids,
        live_rows=live_rows,
        kv_blocks=blocks,
        stale_block_ids=stale_block_ids,
        stale_block_req_ids=stale_block_req_ids,
        is_covered=tuple(is_covered),
    )


def count_values(step: StepTensors) -> int:
    """How many values the spaces of a step will hold, without making them."""
    rows = step.runner.config.max_num_reqs
    num_groups = len(step.tables)
    count = rows * (7 + num_groups + step.record.pool.draft_tokens.shape[1])
    count += sum(int(table.written_columns.sum()) for table in step.tables) + 7 * len(step.kv_blocks.block_ids)
    count += 2 * len(step.stale_block_ids)
    record = step.record
    if record.batch is not None and record.padding is not None and record.flat is not None:
        count += 16 * record.batch.num_reqs + 3 * record.padding.num_reqs_padded
        count += sum(int(table.input_written_columns[: record.batch.num_reqs].sum()) for table in step.tables)
        count += record.batch.num_tokens * (5 + 6 * num_groups) + num_groups * record.padding.num_tokens_padded
        count += 4 * len(record.flat.logits_indices) + 2
    return count


def build_spaces(step: StepTensors) -> dict[str, dict[str, Any]]:
    """Values of every space of the step: `{name: {dims, dtype, values}}`."""
    values: dict[str, Any] = {**_schedule_values(step), **_pool_values(step)}
    if step.record.batch is not None:
        values |= {**_batch_values(step), **_flat_values(step), **_table_values(step), **_slot_values(step)}
        values |= _update_values(step)
    values |= _kv_cache_values(step)
    return {
        name: {"dims": space.dims, "dtype": space.dtype, "values": values[name]}
        for name, space in _DECLARED.items()
        if name in values
    }


def _schedule_values(step: StepTensors) -> dict[str, Any]:
    scheduled = step.planned.scheduled
    if not scheduled:
        return {}
    index = step.runner.states.req_id_to_index
    return {
        "schedule_req_ids": [request.req_id for request in scheduled],
        "schedule_num_tokens": [request.num_tokens for request in scheduled],
        "schedule_num_drafts": [request.num_drafts for request in scheduled],
        "schedule_req_state_idx": [index[request.req_id] for request in scheduled],
    }


def _pool_values(step: StepTensors) -> dict[str, Any]:
    pool = step.record.pool
    live = step.runner.states.req_id_to_index
    admitted = step.planned.admitted_req_ids
    status = ["unused" if req_id is None else "freed" for req_id in step.row_req_ids]
    for req_id, row in live.items():
        status[row] = "added" if req_id in admitted else "live"
    values: dict[str, Any] = {
        "row_req_ids": list(step.row_req_ids),
        "row_status": status,
        "prompt_len": _array(pool.prompt_len),
        "prefill_len": _array(pool.prefill_len),
        "total_len": _array(pool.total_len),
        "num_computed_tokens": _array(pool.num_computed_tokens),
        "last_sampled_tokens": _array(pool.last_sampled_tokens),
        "num_blocks": [_array(table.num_blocks.clone()) for table in step.tables],
        "block_tables": [_ragged(table.block_table, table.written_columns) for table in step.tables],
    }
    if pool.draft_tokens.shape[1]:
        values["draft_tokens"] = _array(pool.draft_tokens)
    return values


def _batch_values(step: StepTensors) -> dict[str, Any]:
    batch = step.record.batch
    assert batch is not None
    return {
        "sort_key": batch.sort_key,
        "schedule_idx": batch.schedule_idx,
        "num_scheduled_tokens": _array(batch.num_scheduled_tokens),
        "num_draft_tokens": _array(batch.num_draft_tokens),
        "idx_mapping": _array(batch.idx_mapping),
        "is_prefilling": _array(batch.is_prefilling),
    }


def _flat_values(step: StepTensors) -> dict[str, Any]:
    flat = step.record.flat
    assert flat is not None
    values = {
        "query_start_loc": _array(flat.query_start_loc),
        "seq_lens": _array(flat.seq_lens),
        "token_batch_idx": _array(flat.token_batch_idx),
        "positions": _array(flat.positions),
        "token_source": [TOKEN_SOURCES[source] for source in flat.token_source.tolist()],
        "input_ids": _array(flat.input_ids),
        "cu_num_logits": _array(flat.cu_num_logits),
        "logits_indices": _array(flat.logits_indices),
        "expanded_idx_mapping": _array(flat.expanded_idx_mapping),
        "expanded_local_pos": _array(flat.expanded_local_pos),
    }
    if flat.dcp_local_seq_lens is not None:
        values["dcp_local_seq_lens"] = _array(flat.dcp_local_seq_lens)
        cp = step.runner.config.cp
        values["is_local"] = _array(is_local_token(flat.positions, cp))
    return values


def _table_values(step: StepTensors) -> dict[str, Any]:
    batch, padding = step.record.batch, step.record.padding
    assert batch is not None and padding is not None
    padded: list[Values] = [[]] * (padding.num_reqs_padded - batch.num_reqs)
    return {
        "input_block_tables": [
            _ragged(table.input_block_table[: batch.num_reqs], table.input_written_columns[: batch.num_reqs]) + padded
            for table in step.tables
        ]
    }


def _slot_values(step: StepTensors) -> dict[str, Any]:
    padding, flat = step.record.padding, step.record.flat
    assert padding is not None and flat is not None
    names = ("block_indices", "block_offsets", "block_numbers", "slot_mappings")
    values: dict[str, list[Values]] = {name: [] for name in names}
    for table, slots, is_covered in zip(step.tables, step.record.slots, step.is_covered, strict=True):
        is_unknown = slots.block_numbers == UNKNOWN_BLOCK
        if is_covered is not None:
            is_unknown = is_unknown | ~is_covered
        is_elsewhere = ~is_local_token(flat.positions, table.cp)
        is_unknown = is_unknown & ~is_elsewhere
        num_padding = padding.num_tokens_padded - len(slots.slot_ids)
        slot_mapping = torch.nn.functional.pad(slots.slot_ids, (0, num_padding), value=PAD_SLOT_ID)
        values["block_indices"].append(_array(slots.block_indices))
        values["block_offsets"].append(_masked(slots.block_offsets, is_elsewhere))
        values["block_numbers"].append(_masked(slots.block_numbers, is_elsewhere | is_unknown))
        values["slot_mappings"].append(_masked(slot_mapping, is_unknown))
        for order in LAYOUTS:
            layout = dataclasses.replace(step.layout, order=order)
            byte_offsets = layout.byte_offsets(slots.block_numbers, slots.block_offsets, table.block_size)
            byte_values = values.setdefault(f"byte_offsets_{order.lower()}", [])
            byte_values.append(_masked(byte_offsets, is_elsewhere | is_unknown))
    values["slot_byte_offsets"] = values[f"byte_offsets_{step.layout.order.lower()}"]
    return values


def _kv_cache_values(step: StepTensors) -> dict[str, Any]:
    blocks = step.kv_blocks
    return {
        "kv_block_ids": _array(blocks.block_ids),
        "kv_block_groups": _array(blocks.groups),
        "kv_block_rows": _array(blocks.rows),
        "kv_block_indices": _array(blocks.indices),
        "kv_block_num_filled": _array(blocks.num_filled),
        "kv_block_num_written": _array(blocks.num_written),
        "kv_block_num_readable": _array(blocks.num_readable),
        "stale_block_ids": _array(step.stale_block_ids),
        "stale_block_req_ids": list(step.stale_block_req_ids),
    }


def _update_values(step: StepTensors) -> dict[str, Any]:
    batch, update = step.record.batch, step.record.update
    assert batch is not None and update is not None
    sampled: Mapping[str, Sequence[int]] = step.planned.sampled_token_ids
    return {
        "sampled_token_ids": [list(sampled.get(req_id, ())) for req_id in batch.req_ids],
        "num_sampled": _array(update.num_sampled),
        "num_rejected": _array(update.num_rejected),
        "num_computed_tokens_after": _array(update.num_computed_tokens_after),
        "total_len_after": _array(update.total_len_after),
    }


def _array(tensor: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.cpu().numpy()
    return array


def _ragged(table: Tensor, lengths: Tensor) -> list[Values]:
    """Rows of a table, each up to its length, unknown ids as None."""
    widths = lengths.tolist()
    used = _array(table[:, : max(widths, default=0)].clone())  # the buffer changes with the next step
    rows = [row[:width] for row, width in zip(used, widths, strict=True)]
    if (used == UNKNOWN_BLOCK).any():
        return [[None if block_id == UNKNOWN_BLOCK else block_id for block_id in row.tolist()] for row in rows]
    return [*rows]


def _masked(values: Tensor, is_hidden: Tensor) -> Values:
    """Values with None where hidden; `is_hidden` may be shorter."""
    hidden = is_hidden.nonzero().squeeze(1).tolist()
    if not hidden:
        return _array(values)
    shown: list[int | None] = values.tolist()
    for index in hidden:
        shown[index] = None
    return shown
