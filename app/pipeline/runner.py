"""One engine step on the worker, in order: pool, block tables, batch, flatten, gather, slots, post-update.

In: what the scheduler says (`SchedulerOutput`, strings and counts on the CPU). Out: a `StepRecord` with every intermediate
tensor. Mirrors `GPUModelRunner.execute_model` in vllm/v1/worker/gpu/model_runner.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from app.pipeline.block_tables import BlockTable, BlockTables, ContextParallel, GroupSlots
from app.pipeline.cudagraph import ConfiguredMode, CudaGraphDispatcher, Padding
from app.pipeline.input_batch import Batch, FlatTokens, flatten, prepare_batch
from app.pipeline.request_state import RequestState
from app.pipeline.token_ids import RequestTokens

BlockIds = Sequence[Sequence[int]]  # one list per KV-cache group; UNKNOWN_BLOCK where a log does not tell


@dataclass(frozen=True)
class NewRequest:
    """A request that gets a pool row: new, resumed after preemption, or there from the start."""

    req_id: str
    request_idx: int  # its place among the run's requests
    prompt_len: int
    prefill_len: int  # tokens handed in: the prompt, resumed also the output so far
    num_computed_tokens: int  # prefix-cache hit
    block_ids: BlockIds
    req_state_idx: int | None = None  # None: the pool chooses
    # Only for a request that is there from the start: outputs sampled before the run.
    num_output_tokens: int = 0
    last_sampled_token: int = 0


@dataclass(frozen=True)
class SchedulerOutput:
    """What one step does, as the scheduler would say it."""

    removed_req_ids: Sequence[str] = ()  # finished or preempted, sorted: fixes which row is recycled first
    new_requests: Sequence[NewRequest] = ()  # in the order they get their rows
    new_block_ids: Mapping[str, BlockIds] = field(default_factory=dict)  # of requests already in the pool
    num_scheduled_tokens: Sequence[tuple[str, int]] = ()
    draft_token_ids: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sampled_token_ids: Mapping[str, Sequence[int]] = field(default_factory=dict)  # what the forward pass will sample


@dataclass(frozen=True)
class GroupConfig:
    """One KV-cache group and how many columns its table needs in this run."""

    block_size: int
    sliding_window: int | None
    num_columns: int


@dataclass(frozen=True)
class RunnerConfig:
    """Sizes that are fixed for a run."""

    max_num_reqs: int
    num_speculative_tokens: int
    groups: Sequence[GroupConfig]
    cp: ContextParallel = field(default_factory=ContextParallel)
    cudagraph_mode: ConfiguredMode = "NONE"
    cudagraph_capture_sizes: Sequence[int] = ()


@dataclass(frozen=True)
class PoolSnapshot:
    """The state pool as the step's kernels see it, all [max_num_reqs] by req_state_idx."""

    prompt_len: Tensor
    prefill_len: Tensor
    total_len: Tensor
    num_computed_tokens: Tensor
    last_sampled_tokens: Tensor
    draft_tokens: Tensor  # [max_num_reqs, K]


@dataclass(frozen=True)
class Update:
    """The post-update, by batch_idx."""

    num_sampled: Tensor  # [num_reqs] int32
    num_rejected: Tensor  # [num_reqs] int32
    num_computed_tokens_after: Tensor  # [num_reqs] int32
    total_len_after: Tensor  # [num_reqs] int32


@dataclass(frozen=True)
class StepRecord:
    """Everything one engine step computed. `batch` and what follows from it is None where nothing was scheduled."""

    pool: PoolSnapshot
    batch: Batch | None = None
    padding: Padding | None = None
    flat: FlatTokens | None = None
    slots: tuple[GroupSlots, ...] = ()  # per group
    update: Update | None = None


class Runner:
    """A worker: the persistent buffers and the step that mutates them.

    `states` and `block_tables` stay readable between steps; they are live buffers, so copy what must outlast the next
    `step`.
    """

    def __init__(self, config: RunnerConfig, requests: Sequence[RequestTokens], device: torch.device) -> None:
        self.config = config
        self.device = device
        self.states = RequestState(requests, config.max_num_reqs, config.num_speculative_tokens, device)
        self.block_tables = BlockTables(
            [
                BlockTable(group.block_size, group.sliding_window, config.max_num_reqs, group.num_columns, config.cp, device)
                for group in config.groups
            ]
        )
        self.dispatcher = CudaGraphDispatcher(
            config.cudagraph_mode,
            config.cudagraph_capture_sizes,
            config.max_num_reqs,
            config.num_speculative_tokens,
        )
        self._previous_num_reqs = 0  # of the last step that scheduled anything

    def enter_initial(self, requests: Sequence[NewRequest]) -> None:
        """Put requests that are there before step 0 into the pool, in order."""
        self._add_requests(requests)
        self.states.apply_staged_writes()
        self.block_tables.apply_staged_writes()
        with_outputs = [request for request in requests if request.num_output_tokens]
        if with_outputs:
            rows = self._rows([request.req_id for request in with_outputs])
            total_len = [request.prompt_len + request.num_output_tokens for request in with_outputs]
            last = [request.last_sampled_token for request in with_outputs]
            self.states.restore_outputs(rows, self._ints(total_len), self._ints(last))

    def step(self, scheduled: SchedulerOutput) -> StepRecord:
        """Run one engine step and return all it computed."""
        self.update_pool(scheduled)
        states = self.states
        pool = PoolSnapshot(
            prompt_len=states.prompt_len.clone(),
            prefill_len=states.prefill_len.clone(),
            total_len=states.total_len.clone(),
            num_computed_tokens=states.num_computed_tokens.clone(),
            last_sampled_tokens=states.last_sampled_tokens.clone(),
            draft_tokens=states.draft_tokens.clone(),
        )
        if not scheduled.num_scheduled_tokens:
            return StepRecord(pool)

        batch = prepare_batch(
            states, scheduled.num_scheduled_tokens, scheduled.draft_token_ids, self.config.num_speculative_tokens
        )
        padding = self.dispatcher.dispatch(batch.shape)
        flat = flatten(states, batch, padding, self.config.cp)
        self._gather_block_tables(batch, padding)
        slots = self.block_tables.compute_slot_mappings(flat.req_state_idx, flat.positions)
        update = self.post_update(batch, flat.seq_lens[: batch.num_reqs], scheduled.sampled_token_ids)
        return StepRecord(pool, batch, padding, flat, slots, update)

    def advance(self, scheduled: SchedulerOutput) -> None:
        """Run one engine step for its effect on the buffers alone: what `step` does, without flattening the tokens."""
        self.update_pool(scheduled)
        if not scheduled.num_scheduled_tokens:
            return
        batch = prepare_batch(
            self.states, scheduled.num_scheduled_tokens, scheduled.draft_token_ids, self.config.num_speculative_tokens
        )
        self._gather_block_tables(batch, self.dispatcher.dispatch(batch.shape))
        seq_lens = self.states.num_computed_tokens[batch.idx_mapping] + batch.num_scheduled_tokens
        self.post_update(batch, seq_lens, scheduled.sampled_token_ids)

    def update_pool(self, scheduled: SchedulerOutput) -> None:
        """Remove, add, append: the pool and the block tables as the step's kernels see them."""
        for req_id in scheduled.removed_req_ids:
            self.states.remove_request(req_id)
        self._add_requests(scheduled.new_requests)
        for req_id, block_ids in scheduled.new_block_ids.items():
            self.block_tables.append_block_ids(self.states.req_id_to_index[req_id], block_ids, overwrite=False)
        self.states.apply_staged_writes()
        self.block_tables.apply_staged_writes()
        drafts = [
            (self.states.req_id_to_index[req_id], place, token_id)
            for req_id, token_ids in scheduled.draft_token_ids.items()
            for place, token_id in enumerate(token_ids)
        ]
        if drafts:
            self.states.set_draft_tokens(*torch.tensor(drafts, dtype=torch.int64, device=self.device).unbind(1))

    def _add_requests(self, requests: Sequence[NewRequest]) -> None:
        for request in requests:
            req_state_idx = self.states.add_request(
                request.req_id,
                request.request_idx,
                request.prompt_len,
                request.prefill_len,
                request.num_computed_tokens,
                request.req_state_idx,
            )
            self.block_tables.append_block_ids(req_state_idx, request.block_ids, overwrite=True)

    def _gather_block_tables(self, batch: Batch, padding: Padding) -> None:
        num_rows_cleared = max(padding.num_reqs_padded, self._previous_num_reqs)
        self.block_tables.gather_block_tables(batch.idx_mapping, self.states.num_computed_tokens, num_rows_cleared)
        self._previous_num_reqs = batch.num_reqs

    def post_update(self, batch: Batch, seq_lens: Tensor, sampled_token_ids: Mapping[str, Sequence[int]]) -> Update:
        """Take in what was sampled. Mirrors `get_num_sampled_and_rejected` and `_post_update_kernel`.

        `seq_lens` is [num_reqs]; `sampled_token_ids` holds nothing for a chunk that does not reach `prefill_len`: the
        token sampled there is thrown away.
        """
        states, rows = self.states, batch.idx_mapping
        sampled = [sampled_token_ids.get(req_id, ()) for req_id in batch.req_ids]
        is_unfinished = seq_lens < states.prefill_len[rows]  # [num_reqs]
        num_sampled = self._ints([len(token_ids) for token_ids in sampled]).to(torch.int32)  # [num_reqs]
        num_sampled = num_sampled.masked_fill(is_unfinished, 0)
        num_rejected = (batch.num_draft_tokens + 1 - num_sampled).masked_fill(is_unfinished, 0)  # [num_reqs]

        total_len = states.total_len[rows]  # [num_reqs]
        sampled_flat = self._ints([token_id for token_ids in sampled for token_id in token_ids])  # [num_sampled_tokens]
        if len(sampled_flat):
            owner = torch.repeat_interleave(torch.arange(len(rows), device=self.device), num_sampled)  # batch_idx
            first = num_sampled.cumsum(0) - num_sampled  # [num_reqs]
            place = torch.arange(len(sampled_flat), device=self.device) - first[owner]  # among the request's own
            states.all_token_ids[rows[owner], total_len[owner] + place] = sampled_flat
            has_sampled = num_sampled > 0
            last = sampled_flat[(num_sampled.cumsum(0) - 1)[has_sampled]].to(torch.int32)
            states.last_sampled_tokens[rows[has_sampled]] = last
        total_len = total_len + num_sampled
        num_computed = states.num_computed_tokens[rows] + batch.num_scheduled_tokens - num_rejected  # [num_reqs]
        states.total_len[rows] = total_len
        states.num_computed_tokens[rows] = num_computed
        return Update(num_sampled, num_rejected, num_computed, total_len)

    def _rows(self, req_ids: Sequence[str]) -> Tensor:
        return self._ints([self.states.req_id_to_index[req_id] for req_id in req_ids])

    def _ints(self, values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.device)
