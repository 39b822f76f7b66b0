"""Sampled tokens: what came out of the forward pass, and what that makes of the pool.

In: the batch and the sampled ids. Out: the pool's counts by batch row, and the pool itself brought up to date. Mirrors
`get_num_sampled_and_rejected` and `_post_update_kernel` in vllm/v1/worker/gpu/input_batch.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.input_batch import Batch
from app.pipeline.ragged import runs
from app.pipeline.request_state import RequestState


@dataclass(frozen=True)
class PostUpdate:
    """The pool after the step, by batch_idx."""

    num_sampled: Tensor  # [num_reqs] int32
    num_rejected: Tensor  # [num_reqs] int32
    num_computed_tokens_after: Tensor  # [num_reqs] int32
    total_len_after: Tensor  # [num_reqs] int32


def post_update(states: RequestState, batch: Batch, sampled_token_ids: Mapping[str, Sequence[int]]) -> PostUpdate:
    """Take in what was sampled. What a chunk samples that does not reach `prefill_len` is thrown away."""
    device, idx_mapping = states.device, batch.idx_mapping
    seq_lens = states.num_computed_tokens[idx_mapping] + batch.num_scheduled_tokens  # [num_reqs]
    is_unfinished = seq_lens < states.prefill_len[idx_mapping]  # [num_reqs]
    sampled = [
        () if thrown_away else sampled_token_ids.get(req_id, ())
        for req_id, thrown_away in zip(batch.req_ids, is_unfinished.tolist(), strict=True)
    ]
    num_sampled = torch.tensor([len(token_ids) for token_ids in sampled], dtype=torch.int32, device=device)  # [num_reqs]
    num_rejected = (batch.num_draft_tokens + 1 - num_sampled).masked_fill(is_unfinished, 0)  # [num_reqs]

    total_len = states.total_len[idx_mapping]  # [num_reqs]
    sampled_flat = [token_id for token_ids in sampled for token_id in token_ids]
    if sampled_flat:
        token_ids = torch.tensor(sampled_flat, dtype=torch.int32, device=device)  # [num_sampled_tokens]
        req_state_idx = torch.repeat_interleave(idx_mapping, num_sampled)  # [num_sampled_tokens] each token's pool row
        positions = runs(total_len.to(torch.int64), num_sampled)  # [num_sampled_tokens] behind what is there
        states.all_token_ids[req_state_idx, positions] = token_ids
        has_sampled = num_sampled > 0  # [num_reqs]
        sampled_end = num_sampled.cumsum(0)  # [num_reqs] behind each row's last one among the sampled tokens
        states.last_sampled_tokens[idx_mapping[has_sampled]] = token_ids[sampled_end[has_sampled] - 1]
    total_len = total_len + num_sampled
    num_computed = states.num_computed_tokens[idx_mapping] + batch.num_scheduled_tokens - num_rejected  # [num_reqs]
    states.total_len[idx_mapping] = total_len
    states.num_computed_tokens[idx_mapping] = num_computed
    return PostUpdate(num_sampled, num_rejected, num_computed, total_len)
