"""One step as it is described: what ran, what was planned, and what follows from both.

In: a pipeline record, the planned step, the history of the pool. Out: `StepTensors`, which the declarations of the spaces
(`app.trace.stages`) take their values from, and how many entries every dim has.
"""

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from app.pipeline.context_parallel import ContextParallel
from app.pipeline.cudagraph import BatchExecutionDescriptor
from app.pipeline.flat_tokens import FlatTokens
from app.pipeline.input_batch import Batch
from app.pipeline.kv_cache import KVCacheLayout
from app.pipeline.ragged import RaggedTable
from app.pipeline.record import StepRecord, TableSnapshot
from app.pipeline.sampled_tokens import PostUpdate
from app.pipeline.slot_mapping import GroupSlots
from app.rules import UNKNOWN_BLOCK
from app.scenario.format.model import Scenario
from app.scenario.plan.plan import PlannedStep
from app.trace.counts.kv_blocks import KVBlocks, kv_blocks
from app.trace.counts.pool_history import PoolHistory

Values = NDArray[Any] | list[int | None]


@dataclass(frozen=True)
class StepTensors:
    """One step: what ran, what was planned, and what follows from both."""

    record: StepRecord
    planned: PlannedStep
    layout: KVCacheLayout
    group_names: Sequence[str]
    row_req_ids: Sequence[str | None]  # [max_num_reqs] whose data a row holds
    live_rows: Tensor  # [num_live] int64, rows that a request holds
    kv_blocks: KVBlocks
    stale_block_ids: Tensor  # [num_stale_blocks] int32
    stale_block_req_ids: Sequence[str]  # [num_stale_blocks]

    @property
    def tables(self) -> tuple[TableSnapshot, ...]:
        """Per group."""
        return self.record.tables

    @property
    def req_id_to_index(self) -> Mapping[str, int]:
        return self.record.pool.req_id_to_index

    @property
    def free_indices(self) -> Sequence[int]:
        """Rows that nobody holds, the next one handed out last."""
        return self.record.pool.free_indices

    @property
    def cp(self) -> ContextParallel:
        return self.tables[0].cp

    @property
    def has_batch(self) -> bool:
        """Whether the step scheduled anything. The properties below are for steps that did."""
        return self.record.batch is not None

    @property
    def batch(self) -> Batch:
        assert self.record.batch is not None
        return self.record.batch

    @property
    def batch_desc(self) -> BatchExecutionDescriptor:
        assert self.record.batch_desc is not None
        return self.record.batch_desc

    @property
    def flat(self) -> FlatTokens:
        assert self.record.flat is not None
        return self.record.flat

    @property
    def update(self) -> PostUpdate:
        assert self.record.update is not None
        return self.record.update

    @property
    def slots(self) -> tuple[GroupSlots, ...]:
        """Per group."""
        return self.record.slots

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
                "batch_idx_padded": self.batch_desc.num_reqs_padded,
                "batch_boundary": self.batch_desc.num_reqs_padded + 1,
                "sort_key_part": len(self.batch.sort_key[0]),
                "flat_token_idx": self.batch.num_tokens,
                "flat_token_idx_padded": self.batch_desc.num_tokens_padded,
                "logit_idx": len(self.flat.logits_indices),
                "logits_boundary": self.batch.num_reqs + 1,
            }
        return sizes

    @functools.cached_property
    def _ragged_sizes(self) -> dict[tuple[str, ...], int]:
        """Values of dims whose last one differs from row to row."""
        sizes: dict[tuple[str, ...], int] = {
            ("group", "req_state_idx", "block_index"): sum(len(table.block_table.values) for table in self.tables)
        }
        if self.has_batch:
            gathered = self.record.input_block_tables
            sizes["group", "batch_idx_padded", "block_index"] = sum(len(table.values) for table in gathered)
            sampled = self.planned.sampled_token_ids
            sizes["batch_idx", "sample_idx"] = sum(len(sampled.get(req_id, ())) for req_id in self.batch.req_ids)
        return sizes

    def size(self, dims: tuple[str, ...]) -> int:
        """How many values a space of these dims holds."""
        if dims in self._ragged_sizes:
            return self._ragged_sizes[dims]
        return math.prod(self._sizes[dim] for dim in dims)


def prepare_step(
    record: StepRecord, planned: PlannedStep, scenario: Scenario, layout: KVCacheLayout, history: PoolHistory
) -> StepTensors:
    """Derive what the spaces need beside the record."""
    num_computed = record.pool.num_computed_tokens.to(torch.int64)
    live_rows = torch.tensor(sorted(record.pool.req_id_to_index.values()), dtype=torch.int64, device=num_computed.device)
    seq_lens, num_valid = num_computed.clone(), num_computed.clone()
    is_running = torch.zeros(len(num_computed), dtype=torch.bool, device=num_computed.device)
    if record.batch is not None and record.update is not None:
        is_running[record.batch.idx_mapping] = True
        seq_lens[record.batch.idx_mapping] += record.batch.num_scheduled_tokens
        num_valid[record.batch.idx_mapping] = record.update.num_computed_tokens_after.to(torch.int64)
    blocks = kv_blocks(record.tables, live_rows, is_running, num_computed, seq_lens, num_valid, history.loaded)
    stale_block_ids, stale_block_req_ids = history.stale_blocks.not_held(blocks.block_ids)
    return StepTensors(
        record=record,
        planned=planned,
        layout=layout,
        group_names=[group.name for group in scenario.config.kv_cache_groups],
        row_req_ids=tuple(history.row_req_ids),
        live_rows=live_rows,
        kv_blocks=blocks,
        stale_block_ids=stale_block_ids,
        stale_block_req_ids=stale_block_req_ids,
    )


def array(tensor: Tensor) -> NDArray[Any]:
    """Values of a space from a tensor of its shape."""
    values: NDArray[Any] = tensor.cpu().numpy()
    return values


def ragged(table: RaggedTable) -> list[Values]:
    """Rows of a table, unknown ids as None."""
    values = masked(table.values, table.values == UNKNOWN_BLOCK)
    return [values[start:end] for start, end in itertools.pairwise(table.bounds)]


def masked(values: Tensor, is_hidden: Tensor) -> Values:
    """Values with None where hidden; `is_hidden` may be shorter."""
    hidden = is_hidden.nonzero().squeeze(1).tolist()
    if not hidden:
        return array(values)
    shown: list[int | None] = values.tolist()
    for index in hidden:
        shown[index] = None
    return shown
