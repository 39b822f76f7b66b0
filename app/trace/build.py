"""From a pipeline record to the values of the spaces.

Every space that `schema` declares gets its values here: nested lists that follow its dims, None where a log does not tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from app.pipeline.block_tables import PAD_SLOT_ID, UNKNOWN_BLOCK, BlockTable, is_local_token
from app.pipeline.input_batch import TOKEN_SOURCES
from app.pipeline.kv_cache import KVCacheLayout
from app.pipeline.runner import Runner, StepRecord
from app.scenario.plan import PlannedStep
from app.trace.kv_blocks import KVBlocks, kv_blocks
from app.trace.schema import SPACES

_DECLARED = {space.name: space for space in SPACES}


@dataclass(frozen=True)
class StepTensors:
    """One step as it is described: what ran, what was planned, and what follows from both."""

    runner: Runner
    record: StepRecord
    planned: PlannedStep
    layout: KVCacheLayout
    row_req_ids: Sequence[str | None]  # [max_num_reqs] whose data a row holds
    kv_blocks: KVBlocks
    is_covered: tuple[Tensor | None, ...]  # per group: [num_tokens] bool, whether the row has the block; None: all have

    @property
    def tables(self) -> tuple[BlockTable, ...]:
        return self.runner.block_tables.groups


def prepare_step(
    runner: Runner,
    record: StepRecord,
    planned: PlannedStep,
    layout: KVCacheLayout,
    row_req_ids: Sequence[str | None],
    is_strict: bool,
) -> StepTensors:
    """Derive what the spaces need beside the record. Call it before the runner's next step."""
    rows = torch.tensor(sorted(runner.states.req_id_to_index.values()), dtype=torch.int64, device=runner.device)
    is_live = torch.zeros(runner.config.max_num_reqs, dtype=torch.bool, device=runner.device)
    is_live[rows] = True
    num_computed = record.pool.num_computed_tokens.to(torch.int64)
    seq_lens, num_valid = num_computed.clone(), num_computed.clone()
    is_covered: list[Tensor | None] = []
    if record.batch is not None and record.flat is not None and record.update is not None:
        seq_lens[record.batch.idx_mapping] += record.batch.num_scheduled_tokens
        num_valid[record.batch.idx_mapping] = record.update.num_computed_tokens_after.to(torch.int64)
        for table, slots in zip(runner.block_tables.groups, record.slots, strict=True):
            covered = slots.block_indices < table.num_blocks[record.flat.req_state_idx]
            is_covered.append(None if is_strict else covered)
    blocks = kv_blocks(runner.block_tables.groups, is_live, num_computed, seq_lens, num_valid)
    return StepTensors(runner, record, planned, layout, row_req_ids, blocks, tuple(is_covered))


def count_values(step: StepTensors) -> int:
    """How many values the spaces of a step will hold, without making them."""
    rows = step.runner.config.max_num_reqs
    num_groups = len(step.tables)
    count = rows * (7 + num_groups + step.record.pool.draft_tokens.shape[1])
    count += sum(int(table.written_columns.sum()) for table in step.tables) + 6 * len(step.kv_blocks.block_ids)
    record = step.record
    if record.batch is not None and record.padding is not None and record.flat is not None:
        count += 16 * record.batch.num_reqs + 3 * record.padding.num_reqs_padded
        count += sum(int(table.input_written_columns[: record.batch.num_reqs].sum()) for table in step.tables)
        count += record.batch.num_tokens * (5 + 4 * num_groups) + num_groups * record.padding.num_tokens_padded
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
        "prompt_len": pool.prompt_len.tolist(),
        "prefill_len": pool.prefill_len.tolist(),
        "total_len": pool.total_len.tolist(),
        "num_computed_tokens": pool.num_computed_tokens.tolist(),
        "last_sampled_tokens": pool.last_sampled_tokens.tolist(),
        "num_blocks": [table.num_blocks.tolist() for table in step.tables],
        "block_tables": [_ragged(table.block_table, table.written_columns) for table in step.tables],
    }
    if pool.draft_tokens.shape[1]:
        values["draft_tokens"] = pool.draft_tokens.tolist()
    return values


def _batch_values(step: StepTensors) -> dict[str, Any]:
    batch = step.record.batch
    assert batch is not None
    return {
        "sort_key": batch.sort_key,
        "schedule_idx": batch.schedule_idx,
        "num_scheduled_tokens": batch.num_scheduled_tokens.tolist(),
        "num_draft_tokens": batch.num_draft_tokens.tolist(),
        "idx_mapping": batch.idx_mapping.tolist(),
        "is_prefilling": batch.is_prefilling.tolist(),
    }


def _flat_values(step: StepTensors) -> dict[str, Any]:
    flat = step.record.flat
    assert flat is not None
    values = {
        "query_start_loc": flat.query_start_loc.tolist(),
        "seq_lens": flat.seq_lens.tolist(),
        "token_batch_idx": flat.token_batch_idx.tolist(),
        "positions": flat.positions.tolist(),
        "token_source": [TOKEN_SOURCES[source] for source in flat.token_source.tolist()],
        "input_ids": flat.input_ids.tolist(),
        "cu_num_logits": flat.cu_num_logits.tolist(),
        "logits_indices": flat.logits_indices.tolist(),
        "expanded_idx_mapping": flat.expanded_idx_mapping.tolist(),
        "expanded_local_pos": flat.expanded_local_pos.tolist(),
    }
    if flat.dcp_local_seq_lens is not None:
        values["dcp_local_seq_lens"] = flat.dcp_local_seq_lens.tolist()
        cp = step.runner.config.cp
        values["is_local"] = is_local_token(flat.positions, cp).tolist()
    return values


def _table_values(step: StepTensors) -> dict[str, Any]:
    batch, padding = step.record.batch, step.record.padding
    assert batch is not None and padding is not None
    padded: list[list[int]] = [[]] * (padding.num_reqs_padded - batch.num_reqs)
    return {
        "input_block_tables": [
            _ragged(table.input_block_table[: batch.num_reqs], table.input_written_columns[: batch.num_reqs]) + padded
            for table in step.tables
        ]
    }


def _slot_values(step: StepTensors) -> dict[str, Any]:
    padding = step.record.padding
    assert padding is not None
    names = ("block_indices", "block_offsets", "block_numbers", "slot_mappings", "slot_byte_offsets")
    values: dict[str, list[list[int | None]]] = {name: [] for name in names}
    for table, slots, is_covered in zip(step.tables, step.record.slots, step.is_covered, strict=True):
        is_unknown = slots.block_numbers == UNKNOWN_BLOCK
        if is_covered is not None:
            is_unknown = is_unknown | ~is_covered
        is_elsewhere = slots.slot_ids == PAD_SLOT_ID if table.cp.size > 1 else torch.zeros_like(is_unknown)
        is_unknown = is_unknown & ~is_elsewhere
        nowhere: list[int | None] = [PAD_SLOT_ID] * (padding.num_tokens_padded - len(slots.slot_ids))
        byte_offsets = step.layout.byte_offsets(slots.block_numbers, slots.block_offsets, table.block_size)
        values["block_indices"].append(slots.block_indices.tolist())
        values["block_offsets"].append(_masked(slots.block_offsets, is_elsewhere))
        values["block_numbers"].append(_masked(slots.block_numbers, is_elsewhere | is_unknown))
        values["slot_mappings"].append(_masked(slots.slot_ids, is_unknown) + nowhere)
        values["slot_byte_offsets"].append(_masked(byte_offsets, is_elsewhere | is_unknown))
    return values


def _kv_cache_values(step: StepTensors) -> dict[str, Any]:
    blocks = step.kv_blocks
    return {
        "kv_block_ids": blocks.block_ids.tolist(),
        "kv_block_groups": blocks.groups.tolist(),
        "kv_block_rows": blocks.rows.tolist(),
        "kv_block_indices": blocks.indices.tolist(),
        "kv_block_num_filled": blocks.num_filled.tolist(),
        "kv_block_num_written": blocks.num_written.tolist(),
    }


def _update_values(step: StepTensors) -> dict[str, Any]:
    batch, update = step.record.batch, step.record.update
    assert batch is not None and update is not None
    sampled: Mapping[str, Sequence[int]] = step.planned.sampled_token_ids
    return {
        "sampled_token_ids": [list(sampled.get(req_id, ())) for req_id in batch.req_ids],
        "num_sampled": update.num_sampled.tolist(),
        "num_rejected": update.num_rejected.tolist(),
        "num_computed_tokens_after": update.num_computed_tokens_after.tolist(),
        "total_len_after": update.total_len_after.tolist(),
    }


def _ragged(table: Tensor, lengths: Tensor) -> list[list[int | None]]:
    """Rows of a table, each up to its length, unknown ids as None."""
    widths = lengths.tolist()
    used = table[:, : max(widths, default=0)]
    rows = [row[:width] if width else [] for row, width in zip(used.tolist(), widths, strict=True)]
    if bool((used == UNKNOWN_BLOCK).any()):
        return [[None if block_id == UNKNOWN_BLOCK else block_id for block_id in row] for row in rows]
    return rows


def _masked(values: Tensor, is_hidden: Tensor) -> list[int | None]:
    """Values as a list, None where hidden."""
    shown: list[int | None] = values.tolist()
    for index in is_hidden.nonzero().squeeze(1).tolist():
        shown[index] = None
    return shown
