"""What comes in: one engine step as the scheduler says it, in strings and counts on the CPU.

Mirrors `SchedulerOutput` and `NewRequestData` in vllm/v1/core/sched/output.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
