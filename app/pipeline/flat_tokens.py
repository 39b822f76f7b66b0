"""Flatten: the tokens of all batch rows as one flat sequence.

In: a batch and what it is dispatched as. Out: `query_start_loc` (batch row -> flat tokens), `positions`, `seq_lens`,
`input_ids` and the logit rows. Mirrors the second half of `GPUModelRunner.prepare_inputs` in
vllm/v1/worker/gpu/model_runner.py and the kernels of vllm/v1/worker/gpu/input_batch.py.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.context_parallel import ContextParallel, get_dcp_local_seq_lens
from app.pipeline.cudagraph import BatchExecutionDescriptor
from app.pipeline.input_batch import Batch
from app.pipeline.ragged import runs
from app.pipeline.request_state import RequestState

TOKEN_SOURCES = ("prefill", "sampled", "draft")  # token_source holds indices into this


@dataclass(frozen=True)
class FlatTokens:
    """The step's one flat sequence."""

    query_start_loc: Tensor  # [num_reqs_padded + 1] int32, batch_boundary -> flat_token_idx
    seq_lens: Tensor  # [num_reqs_padded] int32, what attention may read; 0 for padding
    dcp_local_seq_lens: Tensor | None  # [num_reqs_padded] int32, this rank's share of seq_lens
    token_batch_idx: Tensor  # [num_tokens] int64, flat_token_idx -> batch_idx
    req_state_idx: Tensor  # [num_tokens] int64, flat_token_idx -> pool row
    positions: Tensor  # [num_tokens] int64
    token_source: Tensor  # [num_tokens] int8, index into TOKEN_SOURCES
    input_ids: Tensor  # [num_tokens] int32
    cu_num_logits: Tensor  # [num_reqs + 1] int32
    logits_indices: Tensor  # [num_logits] int64, logit_idx -> flat_token_idx
    expanded_idx_mapping: Tensor  # [num_logits] int64, logit_idx -> req_state_idx
    expanded_local_pos: Tensor  # [num_logits] int32, place among the request's logits


def flatten(states: RequestState, batch: Batch, batch_desc: BatchExecutionDescriptor, cp: ContextParallel) -> FlatTokens:
    """Lay the batch rows' tokens one behind the other and fill in what the model reads."""
    num_reqs, num_reqs_padded, num_tokens = batch.num_reqs, batch_desc.num_reqs_padded, batch.num_tokens
    device = states.device
    idx_mapping = batch.idx_mapping
    num_computed = states.num_computed_tokens[idx_mapping]  # [num_reqs]

    query_start_loc = torch.full((num_reqs_padded + 1,), num_tokens, dtype=torch.int32, device=device)
    query_start_loc[0] = 0
    query_start_loc[1 : num_reqs + 1] = batch.num_scheduled_tokens.cumsum(0)  # past the last request: num_tokens
    seq_lens = torch.zeros(num_reqs_padded, dtype=torch.int32, device=device)
    seq_lens[:num_reqs] = num_computed + batch.num_scheduled_tokens  # past tokens + this step's

    batch_rows = torch.arange(num_reqs, device=device)  # [num_reqs]
    flat_token_idx = torch.arange(num_tokens, device=device)  # [num_tokens]
    token_batch_idx = torch.repeat_interleave(batch_rows, batch.num_scheduled_tokens, output_size=num_tokens)
    req_state_idx = idx_mapping[token_batch_idx]  # [num_tokens]
    shift = num_computed - query_start_loc[:num_reqs]  # [num_reqs] from flat index to position
    positions = flat_token_idx + shift[token_batch_idx]  # [num_tokens] int64

    input_ids, token_source = prepare_input_ids(
        states, batch, query_start_loc, seq_lens, token_batch_idx, req_state_idx, positions
    )
    cu_num_logits, logits_indices, logit_batch_idx, local_pos = prepare_logits(batch, query_start_loc)
    return FlatTokens(
        query_start_loc=query_start_loc,
        seq_lens=seq_lens,
        dcp_local_seq_lens=get_dcp_local_seq_lens(seq_lens, cp) if cp.size > 1 else None,
        token_batch_idx=token_batch_idx,
        req_state_idx=req_state_idx,
        positions=positions,
        token_source=token_source,
        input_ids=input_ids,
        cu_num_logits=cu_num_logits,
        logits_indices=logits_indices,
        expanded_idx_mapping=idx_mapping[logit_batch_idx],
        expanded_local_pos=local_pos,
    )


def prepare_input_ids(
    states: RequestState,
    batch: Batch,
    query_start_loc: Tensor,
    seq_lens: Tensor,
    token_batch_idx: Tensor,
    req_state_idx: Tensor,
    positions: Tensor,
) -> tuple[Tensor, Tensor]:
    """Token ids in two passes, as vLLM's two kernels do: prompt tokens first, sampled and draft tokens over them.

    Mirrors `_prepare_prefill_inputs_kernel` and `_combine_sampled_and_draft_tokens_kernel`.

    Returns:
        input_ids [num_tokens] int32 and token_source [num_tokens] int8.
    """
    num_reqs = batch.num_reqs
    idx_mapping = batch.idx_mapping
    prefill_len = states.prefill_len[idx_mapping]  # [num_reqs]
    seq_len = seq_lens[:num_reqs]
    query_end = query_start_loc[1 : num_reqs + 1].to(torch.int64)  # [num_reqs] flat token behind each row's last one
    num_draft_tokens = batch.num_draft_tokens

    # Pass 1: rows that still prefill take their prompt (or, resumed, their old output) from all_token_ids.
    input_ids = torch.zeros(len(positions), dtype=torch.int32, device=positions.device)  # [num_tokens]
    token_source = torch.zeros(len(positions), dtype=torch.int8, device=positions.device)  # [num_tokens]
    # Behind prefill_len come drafts, which pass 2 writes: nothing is known there yet, so nothing is read.
    from_prompt = (positions < prefill_len[token_batch_idx]).nonzero().squeeze(1)  # flat tokens
    input_ids[from_prompt] = states.all_token_ids[req_state_idx[from_prompt], positions[from_prompt]]

    # Pass 2: rows that read past prefill_len end in their drafts, and before those in the last sampled token.
    combines = seq_len > prefill_len  # [num_reqs]
    # A chunk that ends the prompt keeps its last prompt token.
    takes_sampled = combines & (seq_len - (1 + num_draft_tokens) >= prefill_len)  # [num_reqs]
    sampled_at = (query_end - num_draft_tokens - 1)[takes_sampled]  # flat tokens
    input_ids[sampled_at] = states.last_sampled_tokens[idx_mapping[takes_sampled]]
    token_source[sampled_at] = TOKEN_SOURCES.index("sampled")
    counts = num_draft_tokens * combines  # [num_reqs]
    draft_batch_idx = torch.repeat_interleave(torch.arange(num_reqs, device=positions.device), counts)  # [num_draft_tokens]
    if len(draft_batch_idx):
        draft_idx = runs(torch.zeros_like(query_end), counts)  # [num_draft_tokens] place among the row's drafts
        draft_at = (query_end - num_draft_tokens)[draft_batch_idx] + draft_idx  # [num_draft_tokens] flat tokens
        input_ids[draft_at] = states.draft_tokens[idx_mapping[draft_batch_idx], draft_idx]
        token_source[draft_at] = TOKEN_SOURCES.index("draft")
    return input_ids, token_source


def prepare_logits(batch: Batch, query_start_loc: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Which flat tokens yield logits: each row's last `1 + num_draft_tokens`. Mirrors `_expand_idx_mapping_kernel`.

    Returns:
        cu_num_logits [num_reqs + 1], logits_indices, logit_batch_idx and expanded_local_pos, each [num_logits].
    """
    num_reqs = batch.num_reqs
    device = query_start_loc.device
    num_logits = batch.num_draft_tokens + 1  # [num_reqs]
    cu_num_logits = torch.zeros(num_reqs + 1, dtype=torch.int32, device=device)
    cu_num_logits[1:] = num_logits.cumsum(0)
    logit_batch_idx = torch.repeat_interleave(torch.arange(num_reqs, device=device), num_logits)  # [num_logits]
    logit_idx = torch.arange(len(logit_batch_idx), device=device)
    local_pos = logit_idx - cu_num_logits[logit_batch_idx]  # [num_logits]
    first_logit_token = query_start_loc[1 : num_reqs + 1] - num_logits  # [num_reqs]
    logits_indices = first_logit_token[logit_batch_idx] + local_pos  # [num_logits]
    return cu_num_logits, logits_indices, logit_batch_idx, local_pos.to(torch.int32)
