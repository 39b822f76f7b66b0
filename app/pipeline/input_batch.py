"""Batch: who runs in this step, in the order of the batch rows.

In: the state pool and who runs how many tokens. Out: `idx_mapping` (batch row -> pool row) and the counts by batch row.
Mirrors the first half of `GPUModelRunner.prepare_inputs` in vllm/v1/worker/gpu/model_runner.py, and the `InputBatch` of
vllm/v1/worker/gpu/input_batch.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.request_state import RequestState


@dataclass(frozen=True)
class BatchShape:
    """What decides which CUDA graph a batch can run as."""

    num_reqs: int
    num_tokens: int
    uniform_token_count: int | None  # the count all rows share, None if they differ
    decode_graph_eligible: bool  # no row prefills, except rows that prefill one new token over existing context


@dataclass(frozen=True)
class Batch:
    """Who runs in this step, in the order of the batch rows."""

    req_ids: tuple[str, ...]  # batch_idx -> req_id
    schedule_idx: tuple[int, ...]  # batch_idx -> place in the schedule's own order
    sort_key: tuple[tuple[int, int, int], ...]  # batch_idx -> (has no drafts, scheduled != 1 + K, scheduled)
    idx_mapping: Tensor  # [num_reqs] int64, batch_idx -> req_state_idx
    num_scheduled_tokens: Tensor  # [num_reqs] int32
    num_draft_tokens: Tensor  # [num_reqs] int32, among the scheduled ones
    is_prefilling: Tensor  # [num_reqs] bool
    shape: BatchShape

    @property
    def num_reqs(self) -> int:
        return self.shape.num_reqs

    @property
    def num_tokens(self) -> int:
        return self.shape.num_tokens


def prepare_batch(
    states: RequestState,
    num_scheduled_tokens: Sequence[tuple[str, int]],
    draft_token_ids: Mapping[str, Sequence[int]],
    num_speculative_tokens: int,
) -> Batch:
    """Order the scheduled requests and map each batch row to its pool row.

    Args:
        states: the pool, with this step's requests in it.
        num_scheduled_tokens: `(req_id, count)` in the schedule's own order, not empty.
        draft_token_ids: the drafts of the requests that have some.
        num_speculative_tokens: K.
    """
    query_len = 1 + num_speculative_tokens
    sort_keys = [
        (int(not draft_token_ids.get(req_id)), int(count != query_len), count) for req_id, count in num_scheduled_tokens
    ]
    order = sorted(range(len(sort_keys)), key=sort_keys.__getitem__)  # stable: ties keep the schedule's order
    req_ids = tuple(num_scheduled_tokens[place][0] for place in order)
    counts = [num_scheduled_tokens[place][1] for place in order]
    draft_counts = [len(draft_token_ids.get(req_id, ())) for req_id in req_ids]
    req_state_idx = [states.req_id_to_index[req_id] for req_id in req_ids]

    idx_mapping = torch.tensor(req_state_idx, dtype=torch.int64, device=states.device)  # [num_reqs]
    scheduled = torch.tensor(counts, dtype=torch.int32, device=states.device)  # [num_reqs]
    num_draft_tokens = torch.tensor(draft_counts, dtype=torch.int32, device=states.device)  # [num_reqs]
    num_computed = states.num_computed_tokens[idx_mapping]  # [num_reqs]
    is_prefilling = num_computed < states.prefill_len[idx_mapping]  # [num_reqs]
    # One new prompt token over existing context computes like a decode, drafts not counted.
    runs_as_decode = ~is_prefilling | ((scheduled - num_draft_tokens == 1) & (num_computed > 0))  # [num_reqs]
    return Batch(
        req_ids=req_ids,
        schedule_idx=tuple(order),
        sort_key=tuple(sort_keys[place] for place in order),
        idx_mapping=idx_mapping,
        num_scheduled_tokens=scheduled,
        num_draft_tokens=num_draft_tokens,
        is_prefilling=is_prefilling,
        shape=BatchShape(
            num_reqs=len(counts),
            num_tokens=sum(counts),
            uniform_token_count=counts[0] if len(set(counts)) == 1 else None,
            decode_graph_eligible=bool(runs_as_decode.all()),
        ),
    )
