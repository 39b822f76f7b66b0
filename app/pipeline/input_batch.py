"""Batch and flatten: from the schedule to one flat sequence of tokens.

In: the state pool and who runs how many tokens. Out: `idx_mapping` (batch row -> pool row), `query_start_loc` (batch row ->
flat tokens), `positions`, `seq_lens`, `input_ids` and the logit rows. Mirrors vllm/v1/worker/gpu/input_batch.py and
`GPUModelRunner.prepare_inputs` in vllm/v1/worker/gpu/model_runner.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.block_tables import ContextParallel
from app.pipeline.cudagraph import BatchShape, Padding
from app.pipeline.request_state import RequestState

TOKEN_SOURCES = ("prefill", "sampled", "draft")  # token_source holds indices into this


@dataclass(frozen=True)
class Batch:
    """Who runs in this step, in the order of the batch rows."""

    req_ids: tuple[str, ...]  # batch_idx -> req_id
    schedule_idx: tuple[int, ...]  # batch_idx -> place in the schedule's own order
    sort_key: tuple[tuple[int, int, int], ...]  # batch_idx -> (has no drafts, scheduled != 1 + K, scheduled)
    num_scheduled: tuple[int, ...]  # batch_idx -> tokens
    num_drafts: tuple[int, ...]  # batch_idx -> draft tokens among them
    idx_mapping: Tensor  # [num_reqs] int64, batch_idx -> req_state_idx
    num_scheduled_tokens: Tensor  # [num_reqs] int32
    num_draft_tokens: Tensor  # [num_reqs] int32
    is_prefilling: Tensor  # [num_reqs] bool
    shape: BatchShape

    @property
    def num_reqs(self) -> int:
        return len(self.req_ids)

    @property
    def num_tokens(self) -> int:
        return sum(self.num_scheduled)


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

    def sort_key(entry: tuple[int, tuple[str, int]]) -> tuple[int, int, int]:
        _, (req_id, count) = entry
        return (int(not draft_token_ids.get(req_id)), int(count != query_len), count)

    order = sorted(enumerate(num_scheduled_tokens), key=sort_key)  # stable: ties keep the schedule's order
    req_ids = tuple(req_id for _, (req_id, _) in order)
    counts = tuple(count for _, (_, count) in order)
    drafts = tuple(len(draft_token_ids.get(req_id, ())) for req_id in req_ids)
    rows = [states.req_id_to_index[req_id] for req_id in req_ids]

    idx_mapping = torch.tensor(rows, dtype=torch.int64, device=states.device)  # [num_reqs]
    scheduled = torch.tensor(counts, dtype=torch.int32, device=states.device)  # [num_reqs]
    num_drafts = torch.tensor(drafts, dtype=torch.int32, device=states.device)  # [num_reqs]
    num_computed = states.num_computed_tokens[idx_mapping]  # [num_reqs]
    is_prefilling = num_computed < states.prefill_len[idx_mapping]  # [num_reqs]
    # One new prompt token over existing context computes like a decode, drafts not counted.
    runs_as_decode = ~is_prefilling | ((scheduled - num_drafts == 1) & (num_computed > 0))  # [num_reqs]
    shape = BatchShape(
        num_reqs=len(counts),
        num_tokens=sum(counts),
        uniform_query_len=counts[0] if len(set(counts)) == 1 else None,
        decode_graph_eligible=bool(runs_as_decode.all()),
    )
    return Batch(
        req_ids=req_ids,
        schedule_idx=tuple(place for place, _ in order),
        sort_key=tuple(sort_key(entry) for entry in order),
        num_scheduled=counts,
        num_drafts=drafts,
        idx_mapping=idx_mapping,
        num_scheduled_tokens=scheduled,
        num_draft_tokens=num_drafts,
        is_prefilling=is_prefilling,
        shape=shape,
    )


def flatten(states: RequestState, batch: Batch, padding: Padding, cp: ContextParallel) -> FlatTokens:
    """Lay the batch rows' tokens one behind the other and fill in what the model reads."""
    num_reqs, num_reqs_padded, num_tokens = batch.num_reqs, padding.num_reqs_padded, batch.num_tokens
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

    input_ids, token_source = prepare_input_ids(states, batch, query_start_loc, seq_lens, token_batch_idx, positions)
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
    positions: Tensor,
) -> tuple[Tensor, Tensor]:
    """Token ids in two passes, as vLLM's two kernels do: prompt tokens first, sampled and draft tokens over them.

    Mirrors `_prepare_prefill_inputs_kernel` and `_combine_sampled_and_draft_tokens_kernel`.

    Returns:
        input_ids [num_tokens] int32 and token_source [num_tokens] int8.
    """
    num_reqs = batch.num_reqs
    rows = batch.idx_mapping
    prefill_len = states.prefill_len[rows]  # [num_reqs]
    seq_len = seq_lens[:num_reqs]
    last = (query_start_loc[1 : num_reqs + 1] - 1).to(torch.int64)  # [num_reqs] last flat token of each row
    num_drafts = batch.num_draft_tokens

    # Pass 1: rows that still prefill take their prompt (or, resumed, their old output) from all_token_ids.
    input_ids = torch.zeros(len(positions), dtype=torch.int32, device=positions.device)  # [num_tokens]
    token_source = torch.zeros(len(positions), dtype=torch.int8, device=positions.device)  # [num_tokens]
    # Behind the prompt's end come drafts, which pass 2 writes: nothing is known there yet, so nothing is read.
    is_from_prompt = batch.is_prefilling[token_batch_idx] & (positions < prefill_len[token_batch_idx])  # [num_tokens]
    from_prompt = is_from_prompt.nonzero().squeeze(1)  # flat tokens
    input_ids[from_prompt] = states.all_token_ids[rows[token_batch_idx[from_prompt]], positions[from_prompt]]

    # Pass 2: rows that read past prefill_len end in their drafts, and before those in the last sampled token.
    combines = seq_len > prefill_len  # [num_reqs]
    takes_sampled = combines & (seq_len - (1 + num_drafts) >= prefill_len)  # a chunk that ends the prompt keeps its token
    sampled_at = (last - num_drafts)[takes_sampled]  # flat tokens
    input_ids[sampled_at] = states.last_sampled_tokens[rows[takes_sampled]]
    token_source[sampled_at] = TOKEN_SOURCES.index("sampled")
    if any(batch.num_drafts):
        counts = num_drafts * combines  # [num_reqs]
        draft_batch_idx = torch.repeat_interleave(torch.arange(num_reqs, device=rows.device), counts)  # [num_drafts]
        first = counts.cumsum(0) - counts  # [num_reqs]
        draft_idx = torch.arange(len(draft_batch_idx), device=rows.device) - first[draft_batch_idx]  # [num_drafts]
        draft_at = (last - num_drafts + 1)[draft_batch_idx] + draft_idx  # [num_drafts] flat tokens
        input_ids[draft_at] = states.draft_tokens[rows[draft_batch_idx], draft_idx]
        token_source[draft_at] = TOKEN_SOURCES.index("draft")
    return input_ids, token_source


def prepare_logits(batch: Batch, query_start_loc: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Which flat tokens yield logits: each row's last `1 + drafts`. Mirrors `_expand_idx_mapping_kernel`.

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


def get_dcp_local_seq_lens(seq_lens: Tensor, cp: ContextParallel) -> Tensor:
    """How many of each row's `seq_len` tokens this rank holds. [num_reqs_padded] int32.

    Mirrors vllm/v1/worker/gpu/cp_utils.py.
    """
    base = seq_lens // cp.interleave // cp.size * cp.interleave  # whole deals
    remainder = seq_lens - base * cp.size
    return base + (remainder - cp.rank * cp.interleave).clamp(0, cp.interleave)
