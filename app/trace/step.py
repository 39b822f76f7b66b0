"""One step as it is described: what ran, what was planned, and what follows from both.

In: a pipeline record, the planned step, the history of the pool. Out: `StepTensors`, which the declarations of the spaces
(`app.trace.stages`) take their values from, and how many entries every dim has.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from app.pipeline.block_tables import BlockTable, ContextParallel, is_local_token
from app.pipeline.cudagraph import Padding
from app.pipeline.input_batch import Batch, FlatTokens
from app.pipeline.kv_cache import KVCacheLayout
from app.pipeline.runner import Runner, StepRecord, Update
from app.rules import PAD_SLOT_ID, UNKNOWN_BLOCK
from app.scenario.format.model import Scenario
from app.scenario.plan.plan import PlannedStep
from app.trace.counts.kv_blocks import KVBlocks, kv_blocks
from app.trace.counts.pool_history import PoolHistory

Values = NDArray[Any] | list[int | None]


@dataclass(frozen=True)
class SlotView:
    """The slot mapping of one group, and what of it is not known or not here."""

    block_indices: Tensor  # [num_tokens]
    block_offsets: Tensor  # [num_tokens]
    block_numbers: Tensor  # [num_tokens]
    slot_ids: Tensor  # [num_tokens_padded]
    block_size: int
    is_elsewhere: Tensor  # [num_tokens] bool: another rank holds the token
    is_unknown: Tensor  # [num_tokens] bool: the table does not say which block


@dataclass(frozen=True)
class StepTensors:
    """One step: what ran, what was planned, and what follows from both."""

    runner: Runner
    record: StepRecord
    planned: PlannedStep
    layout: KVCacheLayout
    group_names: Sequence[str]
    row_req_ids: Sequence[str | None]  # [max_num_reqs] whose data a row holds
    live_rows: Tensor  # [num_live] int64, rows that a request holds
    kv_blocks: KVBlocks
    stale_block_ids: Tensor  # [num_stale_blocks] int32
    stale_block_req_ids: Sequence[str]  # [num_stale_blocks]
    is_covered: tuple[Tensor | None, ...]  # per group: [num_tokens] bool, whether the row has the block; None: all have

    @property
    def tables(self) -> tuple[BlockTable, ...]:
        return self.runner.block_tables.groups

    @property
    def req_id_to_index(self) -> Mapping[str, int]:
        return self.runner.states.req_id_to_index

    @property
    def free_indices(self) -> Sequence[int]:
        """Rows that nobody holds, the next one handed out last."""
        return self.runner.states.free_indices

    @property
    def cp(self) -> ContextParallel:
        return self.runner.config.cp

    @property
    def has_batch(self) -> bool:
        """Whether the step scheduled anything. The properties below are for steps that did."""
        return self.record.batch is not None

    @property
    def batch(self) -> Batch:
        assert self.record.batch is not None
        return self.record.batch

    @property
    def padding(self) -> Padding:
        assert self.record.padding is not None
        return self.record.padding

    @property
    def flat(self) -> FlatTokens:
        assert self.record.flat is not None
        return self.record.flat

    @property
    def update(self) -> Update:
        assert self.record.update is not None
        return self.record.update

    @functools.cached_property
    def slots(self) -> tuple[SlotView, ...]:
        """Per group."""
        views = []
        for table, slots, is_covered in zip(self.tables, self.record.slots, self.is_covered, strict=True):
            is_elsewhere = ~is_local_token(self.flat.positions, table.cp)
            is_unknown = slots.block_numbers == UNKNOWN_BLOCK
            if is_covered is not None:
                is_unknown = is_unknown | ~is_covered
            num_padding = self.padding.num_tokens_padded - len(slots.slot_ids)
            views.append(
                SlotView(
                    slots.block_indices,
                    slots.block_offsets,
                    slots.block_numbers,
                    torch.nn.functional.pad(slots.slot_ids, (0, num_padding), value=PAD_SLOT_ID),
                    table.block_size,
                    is_elsewhere,
                    is_unknown & ~is_elsewhere,
                )
            )
        return tuple(views)

    @functools.cached_property
    def _sizes(self) -> dict[str, int]:
        """Entries of every dim that is as long wherever it stands."""
        sizes = {
            "group": len(self.tables),
            "req_state_idx": len(self.row_req_ids),
            "draft_idx": self.record.pool.draft_tokens.shape[1],
            "kv_block_idx": len(self.kv_blocks.block_ids),
            "stale_block_idx": len(self.stale_block_ids),
            "schedule_idx": len(self.planned.scheduled),
        }
        if self.has_batch:
            sizes |= {
                "batch_idx": self.batch.num_reqs,
                "batch_idx_padded": self.padding.num_reqs_padded,
                "batch_boundary": self.padding.num_reqs_padded + 1,
                "sort_key_part": len(self.batch.sort_key[0]),
                "flat_token_idx": self.batch.num_tokens,
                "flat_token_idx_padded": self.padding.num_tokens_padded,
                "logit_idx": len(self.flat.logits_indices),
                "logits_boundary": self.batch.num_reqs + 1,
            }
        return sizes

    @functools.cached_property
    def _ragged_sizes(self) -> dict[tuple[str, ...], int]:
        """Values of dims whose last one differs from row to row."""
        sizes: dict[tuple[str, ...], int] = {
            ("group", "req_state_idx", "block_index"): sum(int(table.written_columns.sum()) for table in self.tables)
        }
        if self.has_batch:
            gathered = (table.input_written_columns[: self.batch.num_reqs] for table in self.tables)
            sizes["group", "batch_idx_padded", "block_index"] = sum(int(columns.sum()) for columns in gathered)
            sampled = self.planned.sampled_token_ids
            sizes["batch_idx", "sample_idx"] = sum(len(sampled.get(req_id, ())) for req_id in self.batch.req_ids)
        return sizes

    def size(self, dims: tuple[str, ...]) -> int:
        """How many values a space of these dims holds."""
        if dims in self._ragged_sizes:
            return self._ragged_sizes[dims]
        return math.prod(self._sizes[dim] for dim in dims)


def prepare_step(
    runner: Runner,
    record: StepRecord,
    planned: PlannedStep,
    scenario: Scenario,
    layout: KVCacheLayout,
    history: PoolHistory,
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
            is_covered.append(None if scenario.strict else covered)
    blocks = kv_blocks(runner.block_tables.groups, live_rows, is_running, num_computed, seq_lens, num_valid)
    stale_block_ids, stale_block_req_ids = history.stale_blocks.not_held(blocks.block_ids)
    return StepTensors(
        runner=runner,
        record=record,
        planned=planned,
        layout=layout,
        group_names=[group.name for group in scenario.config.kv_cache_groups],
        row_req_ids=history.row_req_ids,
        live_rows=live_rows,
        kv_blocks=blocks,
        stale_block_ids=stale_block_ids,
        stale_block_req_ids=stale_block_req_ids,
        is_covered=tuple(is_covered),
    )


def array(tensor: Tensor) -> NDArray[Any]:
    """Values of a space from a tensor of its shape."""
    values: NDArray[Any] = tensor.cpu().numpy()
    return values


def ragged(table: Tensor, lengths: Tensor) -> list[Values]:
    """Rows of a table, each up to its length, unknown ids as None."""
    widths = lengths.tolist()
    used = array(table[:, : max(widths, default=0)].clone())  # the buffer changes with the next step
    rows = [row[:width] for row, width in zip(used, widths, strict=True)]
    if (used == UNKNOWN_BLOCK).any():
        return [[None if block_id == UNKNOWN_BLOCK else block_id for block_id in row.tolist()] for row in rows]
    return [*rows]


def masked(values: Tensor, is_hidden: Tensor) -> Values:
    """Values with None where hidden; `is_hidden` may be shorter."""
    hidden = is_hidden.nonzero().squeeze(1).tolist()
    if not hidden:
        return array(values)
    shown: list[int | None] = values.tolist()
    for index in hidden:
        shown[index] = None
    return shown
