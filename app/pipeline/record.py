"""The record: all that one engine step computed, in tensors that no later step changes.

In: what the stages fill in while the step runs (`StepContext`). Out: a frozen `StepRecord`. Of the tables only what was ever
written is kept, so a history of records grows with what stands in them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.cudagraph import BatchExecutionDescriptor
from app.pipeline.flat_tokens import FlatTokens
from app.pipeline.input_batch import Batch
from app.pipeline.input_block_tables import num_null_blocks
from app.pipeline.ragged import RaggedTable
from app.pipeline.request_state import RequestState
from app.pipeline.sampled_tokens import PostUpdate
from app.pipeline.scheduler_output import SchedulerOutput
from app.pipeline.slot_mapping import GroupSlots


@dataclass(frozen=True)
class RemovedRequest:
    """A request that left its row, and what its tables named when it did."""

    req_id: str
    req_state_idx: int
    block_ids: tuple[Tensor, ...]  # per group: [num_blocks] int32


@dataclass(frozen=True)
class PoolChanges:
    """Who left the pool in a step and who came."""

    removed: Sequence[RemovedRequest]
    added: Mapping[str, int]  # req_id -> req_state_idx, in the order in which they got their rows


@dataclass(frozen=True)
class PoolSnapshot:
    """The state pool as the step's kernels see it, tensors by req_state_idx."""

    req_id_to_index: Mapping[str, int]  # req_id -> req_state_idx
    free_indices: Sequence[int]  # a stack: the next request gets the last entry
    prompt_len: Tensor  # [max_num_reqs] int32, as the next four
    prefill_len: Tensor
    total_len: Tensor
    num_computed_tokens: Tensor
    last_sampled_tokens: Tensor
    draft_tokens: Tensor  # [max_num_reqs, K] int32

    @classmethod
    def of(cls, states: RequestState) -> "PoolSnapshot":
        """Copy what stands in the pool."""
        return cls(
            req_id_to_index=dict(states.req_id_to_index),
            free_indices=tuple(states.free_indices),
            prompt_len=states.prompt_len.clone(),
            prefill_len=states.prefill_len.clone(),
            total_len=states.total_len.clone(),
            num_computed_tokens=states.num_computed_tokens.clone(),
            last_sampled_tokens=states.last_sampled_tokens.clone(),
            draft_tokens=states.draft_tokens.clone(),
        )


@dataclass(frozen=True)
class TableSnapshot:
    """The persistent table of one KV-cache group as the step's kernels see it."""

    group: GroupConfig
    cp: ContextParallel
    block_table: RaggedTable  # by req_state_idx, each row as far as it was ever written
    num_blocks: Tensor  # [max_num_reqs] int32; what a row has behind is stale

    @classmethod
    def of(cls, table: BlockTable) -> "TableSnapshot":
        """Copy what was ever written into a table."""
        rows = RaggedTable.copy(table.block_table, table.written_columns)
        return cls(table.group, table.cp, rows, table.num_blocks.clone())

    @property
    def block_size(self) -> int:
        return self.group.block_size

    @property
    def tokens_per_block(self) -> int:
        """Of a table entry: a block on every rank."""
        return self.group.block_size * self.cp.size

    def num_null_blocks(self, num_computed_tokens: Tensor) -> Tensor:
        """Leading blocks that no query can see any more, of rows with `num_computed_tokens` [n]."""
        return num_null_blocks(num_computed_tokens, self.group, self.cp)


@dataclass(frozen=True)
class StepRecord:
    """All that one engine step computed. `batch` and what follows from it is None, or empty, where nothing was scheduled."""

    changes: PoolChanges
    pool: PoolSnapshot
    tables: tuple[TableSnapshot, ...]  # per group
    batch: Batch | None = None
    batch_desc: BatchExecutionDescriptor | None = None
    flat: FlatTokens | None = None
    input_block_tables: tuple[RaggedTable, ...] = ()  # per group, by batch_idx, each row as far as it was ever written
    slots: tuple[GroupSlots, ...] = ()  # per group
    update: PostUpdate | None = None


@dataclass
class StepContext:
    """One engine step while it runs. Each stage fills what stands below what it reads; nothing is there before that."""

    scheduled: SchedulerOutput
    removed: list[RemovedRequest] = field(default_factory=list)
    added: dict[str, int] = field(default_factory=dict)
    is_over: bool = False  # no stage runs any more
    pool: PoolSnapshot = field(init=False)
    tables: tuple[TableSnapshot, ...] = field(init=False)
    batch: Batch = field(init=False)
    batch_desc: BatchExecutionDescriptor = field(init=False)
    flat: FlatTokens = field(init=False)
    input_block_tables: tuple[RaggedTable, ...] = field(init=False)
    slots: tuple[GroupSlots, ...] = field(init=False)
    update: PostUpdate = field(init=False)

    @property
    def has_batch(self) -> bool:
        """Whether the step schedules anything."""
        return len(self.scheduled.num_scheduled_tokens) > 0

    @property
    def changes(self) -> PoolChanges:
        return PoolChanges(tuple(self.removed), self.added)

    def record(self) -> StepRecord:
        """What the stages have filled in."""
        if not self.has_batch:
            return StepRecord(self.changes, self.pool, self.tables)
        return StepRecord(
            changes=self.changes,
            pool=self.pool,
            tables=self.tables,
            batch=self.batch,
            batch_desc=self.batch_desc,
            flat=self.flat,
            input_block_tables=self.input_block_tables,
            slots=self.slots,
            update=self.update,
        )
