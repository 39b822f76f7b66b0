"""One engine step on the worker: the stages, in order, over the buffers that persist from step to step.

In: what the scheduler says (`SchedulerOutput`). Out: a `StepRecord` with every intermediate tensor. Mirrors
`GPUModelRunner.execute_model` in vllm/v1/worker/gpu/model_runner.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from app.pipeline import flat_tokens, input_batch, sampled_tokens, slot_mapping
from app.pipeline.block_tables import BlockTable, GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.cudagraph import ConfiguredMode, CudaGraphDispatcher
from app.pipeline.input_block_tables import InputBlockTable
from app.pipeline.ragged import RaggedTable
from app.pipeline.record import PoolChanges, PoolSnapshot, RemovedRequest, StepContext, StepRecord, TableSnapshot
from app.pipeline.request_state import RequestState
from app.pipeline.scheduler_output import NewRequest, SchedulerOutput
from app.pipeline.token_ids import RequestTokens


@dataclass(frozen=True)
class RunnerConfig:
    """Sizes that are fixed for a run."""

    max_num_reqs: int
    num_speculative_tokens: int
    groups: Sequence[GroupConfig]
    cp: ContextParallel = field(default_factory=ContextParallel)
    cudagraph_mode: ConfiguredMode = "NONE"
    cudagraph_capture_sizes: Sequence[int] = ()


class Runner:
    """A worker: the persistent buffers, and the step that mutates them.

    `stages` is what a step goes through, `STAGES` if not told otherwise: give another order, or functions around its own, to
    run the same requests with something put between two stages.
    """

    def __init__(
        self,
        config: RunnerConfig,
        requests: Sequence[RequestTokens],
        device: torch.device,
        stages: Sequence["Stage"] | None = None,
    ) -> None:
        self.config = config
        self.device = device
        self.stages = STAGES if stages is None else stages
        self.states = RequestState(requests, config.max_num_reqs, config.num_speculative_tokens, device)
        self.block_tables = tuple(BlockTable(group, config.cp, config.max_num_reqs, device) for group in config.groups)
        self.input_block_tables = tuple(InputBlockTable(table) for table in self.block_tables)
        self.dispatcher = CudaGraphDispatcher(
            config.cudagraph_mode, config.cudagraph_capture_sizes, config.max_num_reqs, config.num_speculative_tokens
        )
        self.previous_num_reqs = 0  # of the last step that scheduled anything

    def enter_initial(self, requests: Sequence[NewRequest]) -> Mapping[str, int]:
        """Put requests that are there before step 0 into the pool, in order. Return the row of each."""
        step = StepContext(SchedulerOutput(new_requests=requests))
        add_requests(self, step)
        apply_staged_writes(self, step)
        with_outputs = [request for request in requests if request.num_output_tokens]
        if with_outputs:
            restored = [
                (step.added[request.req_id], request.prompt_len + request.num_output_tokens, request.last_sampled_token)
                for request in with_outputs
            ]
            self.states.restore_outputs(*torch.tensor(restored, dtype=torch.int64, device=self.device).unbind(1))
        return step.added

    def step(self, scheduled: SchedulerOutput) -> StepRecord:
        """Run one engine step and return all it computed."""
        return self._run(self.stages, scheduled).record()

    def advance(self, scheduled: SchedulerOutput) -> PoolChanges:
        """Run one engine step for its effect on the buffers alone: without the stages that leave those as they are."""
        return self._run([stage for stage in self.stages if stage not in READ_ONLY_STAGES], scheduled).changes

    def _run(self, stages: Sequence["Stage"], scheduled: SchedulerOutput) -> StepContext:
        step = StepContext(scheduled)
        for stage in stages:
            if step.is_over:
                break
            stage(self, step)
        return step


Stage = Callable[[Runner, StepContext], None]


def remove_requests(runner: Runner, step: StepContext) -> None:
    """Finished and preempted requests give their rows back. Mirrors `free_states`."""
    for req_id in step.scheduled.removed_req_ids:
        req_state_idx = runner.states.remove_request(req_id)
        block_ids = tuple(table.blocks_of(req_state_idx) for table in runner.block_tables)
        step.removed.append(RemovedRequest(req_id, req_state_idx, block_ids))


def add_requests(runner: Runner, step: StepContext) -> None:
    """New and resumed requests get rows, and their tables start over. Mirrors `add_requests`."""
    for request in step.scheduled.new_requests:
        req_state_idx = runner.states.add_request(
            request.req_id,
            request.request_idx,
            request.prompt_len,
            request.prefill_len,
            request.num_computed_tokens,
            request.req_state_idx,
        )
        step.added[request.req_id] = req_state_idx
        for table, block_ids in zip(runner.block_tables, request.block_ids, strict=True):
            table.append_block_ids(req_state_idx, block_ids, overwrite=True)


def append_block_ids(runner: Runner, step: StepContext) -> None:
    """Requests in the pool get more blocks. Mirrors `update_requests`."""
    for req_id, new_block_ids in step.scheduled.new_block_ids.items():
        for table, block_ids in zip(runner.block_tables, new_block_ids, strict=True):
            table.append_block_ids(runner.states.req_id_to_index[req_id], block_ids, overwrite=False)


def apply_staged_writes(runner: Runner, _: StepContext) -> None:
    """What the three stages before staged on the CPU is written to the device."""
    runner.states.apply_staged_writes()
    for table in runner.block_tables:
        table.apply_staged_writes()


def set_draft_tokens(runner: Runner, step: StepContext) -> None:
    """The drafts that were proposed after the previous step come in."""
    draft_tokens = [
        (runner.states.req_id_to_index[req_id], draft_idx, token_id)
        for req_id, token_ids in step.scheduled.draft_token_ids.items()
        for draft_idx, token_id in enumerate(token_ids)
    ]
    if draft_tokens:
        runner.states.set_draft_tokens(*torch.tensor(draft_tokens, dtype=torch.int64, device=runner.device).unbind(1))


def snapshot_pool(runner: Runner, step: StepContext) -> None:
    """Keep the pool and its tables as they are now: what the kernels of this step see."""
    step.pool = PoolSnapshot.of(runner.states)
    step.tables = tuple(TableSnapshot.of(table) for table in runner.block_tables)


def stop_if_nothing_is_scheduled(_: Runner, step: StepContext) -> None:
    """The stages behind need a batch."""
    step.is_over = not step.has_batch


def prepare_batch(runner: Runner, step: StepContext) -> None:
    """Who runs, in the order of the batch rows."""
    scheduled = step.scheduled
    step.batch = input_batch.prepare_batch(
        runner.states, scheduled.num_scheduled_tokens, scheduled.draft_token_ids, runner.config.num_speculative_tokens
    )


def dispatch(runner: Runner, step: StepContext) -> None:
    """Which captured CUDA graph the batch runs as, and what it is padded to."""
    step.batch_desc = runner.dispatcher.dispatch(step.batch.shape)


def flatten(runner: Runner, step: StepContext) -> None:
    """The batch rows' tokens, one behind the other."""
    step.flat = flat_tokens.flatten(runner.states, step.batch, step.batch_desc, runner.config.cp)


def gather_block_tables(runner: Runner, step: StepContext) -> None:
    """The tables that attention reads, by batch row."""
    num_rows_cleared = max(step.batch_desc.num_reqs_padded, runner.previous_num_reqs)
    for table in runner.input_block_tables:
        table.gather(step.batch.idx_mapping, runner.states.num_computed_tokens, num_rows_cleared)
    runner.previous_num_reqs = step.batch.num_reqs


def snapshot_input_block_tables(runner: Runner, step: StepContext) -> None:
    """Keep the gathered tables as attention reads them in this step."""
    num_reqs = step.batch.num_reqs
    step.input_block_tables = tuple(
        RaggedTable.copy(table.input_block_table, table.written_columns[:num_reqs]) for table in runner.input_block_tables
    )


def compute_slot_mappings(runner: Runner, step: StepContext) -> None:
    """The slot that each token is written to, per group."""
    step.slots = tuple(
        slot_mapping.compute_slot_mapping(
            table, step.flat.req_state_idx, step.flat.positions, step.batch_desc.num_tokens_padded
        )
        for table in runner.block_tables
    )


def post_update(runner: Runner, step: StepContext) -> None:
    """What the forward pass sampled comes into the pool."""
    step.update = sampled_tokens.post_update(runner.states, step.batch, step.scheduled.sampled_token_ids)


STAGES: tuple[Stage, ...] = (
    remove_requests,
    add_requests,
    append_block_ids,
    apply_staged_writes,
    set_draft_tokens,
    snapshot_pool,
    stop_if_nothing_is_scheduled,
    prepare_batch,
    dispatch,
    flatten,
    gather_block_tables,
    snapshot_input_block_tables,
    compute_slot_mappings,
    post_update,
)

# They compute what is shown and change no buffer.
READ_ONLY_STAGES = frozenset({snapshot_pool, flatten, snapshot_input_block_tables, compute_slot_mappings})
