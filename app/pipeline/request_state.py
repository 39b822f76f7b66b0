"""The state pool: one row (`req_state_idx`) per live request, kept from its arrival to its finish or preemption.

In: requests by name. Out: persistent tensors by `req_state_idx`. A row that is given back keeps its old content until the
next request overwrites it. Mirrors `RequestState` in vllm/v1/worker/gpu/states.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.token_ids import AllTokenIds, RequestTokens


@dataclass(frozen=True)
class _StagedRow:
    req_state_idx: int
    request_idx: int
    prompt_len: int
    prefill_len: int
    num_computed_tokens: int


class RequestState:
    """Persistent per-request state on the device.

    The CPU stages rows (`add_request`); `apply_staged_writes` brings them to the device in one go.
    """

    def __init__(
        self, requests: Sequence[RequestTokens], max_num_reqs: int, num_speculative_tokens: int, device: torch.device
    ) -> None:
        def per_row(dtype: torch.dtype = torch.int32) -> Tensor:
            return torch.zeros(max_num_reqs, dtype=dtype, device=device)

        self.device = device
        self.free_indices = list(range(max_num_reqs))  # a stack: the next request gets the last entry
        self.req_id_to_index: dict[str, int] = {}  # req_id -> req_state_idx
        self.prompt_len = per_row()  # [max_num_reqs]
        self.prefill_len = per_row()  # [max_num_reqs] tokens handed in by add_request
        self.total_len = per_row()  # [max_num_reqs] prefill_len + tokens sampled since
        self.num_computed_tokens = per_row()  # [max_num_reqs]
        self.last_sampled_tokens = per_row()  # [max_num_reqs]
        self.draft_tokens = torch.zeros(max_num_reqs, num_speculative_tokens, dtype=torch.int32, device=device)
        self.all_token_ids = AllTokenIds(requests, max_num_reqs, device)
        self._staged: list[_StagedRow] = []

    def add_request(
        self,
        req_id: str,
        request_idx: int,
        prompt_len: int,
        prefill_len: int,
        num_computed_tokens: int,
        req_state_idx: int | None = None,
    ) -> int:
        """Give a request a row: the last free one, or `req_state_idx` where the caller knows which it has. Return the row.

        `request_idx` is its place among the requests this pool was made for; `num_computed_tokens` its prefix-cache hit.
        """
        assert req_id not in self.req_id_to_index, f"{req_id!r} already has a row"
        assert self.free_indices, "no free row"
        if req_state_idx is None or req_state_idx == self.free_indices[-1]:
            req_state_idx = self.free_indices.pop()
        else:
            self.free_indices.remove(req_state_idx)
        self.req_id_to_index[req_id] = req_state_idx
        self._staged.append(_StagedRow(req_state_idx, request_idx, prompt_len, prefill_len, num_computed_tokens))
        return req_state_idx

    def remove_request(self, req_id: str) -> int:
        """Give the row of a request back: it is the next one handed out. Nothing in it is cleared. Return the row."""
        req_state_idx = self.req_id_to_index.pop(req_id)
        self.free_indices.append(req_state_idx)
        return req_state_idx

    def apply_staged_writes(self) -> None:
        """Write the staged rows.

        Draft tokens start as zeros. Of a request that brings computed tokens along, the last of them counts as sampled, so
        that a first decode would find its input; otherwise `last_sampled_tokens` keeps what was there.
        """
        if not self._staged:
            return
        staged = torch.tensor(
            [
                (row.req_state_idx, row.request_idx, row.prompt_len, row.prefill_len, row.num_computed_tokens)
                for row in self._staged
            ],
            dtype=torch.int64,
            device=self.device,
        )  # [num_staged, 5]
        req_state_idx, request_idx = staged[:, 0], staged[:, 1]
        prompt_len, prefill_len, num_computed_tokens = staged[:, 2:].to(torch.int32).unbind(1)
        self.prompt_len[req_state_idx] = prompt_len
        self.prefill_len[req_state_idx] = prefill_len
        self.total_len[req_state_idx] = prefill_len
        self.num_computed_tokens[req_state_idx] = num_computed_tokens
        self.draft_tokens[req_state_idx] = 0
        self.all_token_ids.bind(req_state_idx, request_idx)
        has_computed = (num_computed_tokens > 0) & (num_computed_tokens <= prefill_len)  # [num_staged]
        continued, last_position = req_state_idx[has_computed], staged[:, 4][has_computed] - 1
        self.last_sampled_tokens[continued] = self.all_token_ids[continued, last_position]
        self._staged.clear()

    def set_draft_tokens(self, req_state_idx: Tensor, draft_idx: Tensor, token_ids: Tensor) -> None:
        """Write the drafts proposed after the previous step: `draft_tokens[row, place] = id`, all [num_draft_tokens]."""
        self.draft_tokens[req_state_idx, draft_idx] = token_ids.to(torch.int32)

    def restore_outputs(self, req_state_idx: Tensor, total_len: Tensor, last_sampled_tokens: Tensor) -> None:
        """Set rows [n] that enter the pool with outputs already sampled (`total_len` and last id, both [n])."""
        self.total_len[req_state_idx] = total_len.to(torch.int32)
        self.last_sampled_tokens[req_state_idx] = last_sampled_tokens.to(torch.int32)
