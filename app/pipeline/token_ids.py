"""`all_token_ids`: which token stands at a position of the request that holds a pool row.

vLLM keeps a dense `[max_num_reqs, max_model_len]` table (`RequestState.all_token_ids`). Here only the ids that somebody
gave or sampled are stored; the others follow a rule (`base + position`), so memory grows with what was said and not with
rows times `max_model_len`. Indexing looks the same: `all_token_ids[req_state_idx, positions]`.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.rules import TOKEN_ID_MODULUS


@dataclass(frozen=True)
class RequestTokens:
    """What is known of one request's tokens before the run.

    Positions `[0, prompt_len)` hold `prompt_token_ids`, or follow the rule if those are None. The next
    `num_rule_outputs` positions follow the rule. Behind them come `initial_output_ids`, then room for what will be sampled.
    """

    base: int  # the rule: the token at `position` is (base + position) mod TOKEN_ID_MODULUS
    prompt_len: int
    prompt_token_ids: Sequence[int] | None
    num_rule_outputs: int
    initial_output_ids: Sequence[int]
    num_sampled_tokens: int  # at most


class AllTokenIds:
    """Token ids by `(req_state_idx, position)`.

    A request's tokens never change once they are known, so they are stored per request and a pool row only points to
    its request: handing a row to another request moves no tokens.
    """

    def __init__(self, requests: Sequence[RequestTokens], max_num_reqs: int, device: torch.device) -> None:
        bases, head_lens, head_starts, tail_positions, tail_starts = [], [], [], [], []
        stored = array("i")
        for request in requests:
            head = request.prompt_token_ids or ()
            bases.append(request.base)
            head_lens.append(len(head))
            head_starts.append(len(stored))
            stored.extend(head)
            tail_positions.append(request.prompt_len + request.num_rule_outputs)
            tail_starts.append(len(stored))
            stored.extend(request.initial_output_ids)
            stored.frombytes(bytes(4 * request.num_sampled_tokens))

        def per_request(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        self._base = per_request(bases)  # [num_requests]
        self._head_len = per_request(head_lens)  # [num_requests] how many prompt ids are stored
        self._head_start = per_request(head_starts)  # [num_requests] where in _stored_ids
        self._tail_position = per_request(tail_positions)  # [num_requests] first position of the stored outputs
        self._tail_start = per_request(tail_starts)  # [num_requests] where in _stored_ids
        stored.append(0)  # never empty, so that a masked look-up has something to read
        self._stored_ids = torch.tensor(stored, dtype=torch.int32, device=device)
        self._request_idx = torch.zeros(max_num_reqs, dtype=torch.int64, device=device)  # req_state_idx -> request

    def bind(self, req_state_idx: Tensor, request_idx: Tensor) -> None:
        """Let pool rows `req_state_idx` [n] hold the tokens of requests `request_idx` [n]."""
        self._request_idx[req_state_idx] = request_idx

    def __getitem__(self, index: tuple[Tensor, Tensor]) -> Tensor:
        """Token ids [n] int32 at `(req_state_idx [n], positions [n])`."""
        req_state_idx, positions = index
        request_idx = self._request_idx.index_select(0, req_state_idx)  # [n]

        def of_request(values: Tensor) -> Tensor:
            return values.index_select(0, request_idx)  # [n]

        in_head = positions < of_request(self._head_len)  # [n]
        behind = positions - of_request(self._tail_position)  # [n] place among the stored outputs
        address = torch.where(in_head, of_request(self._head_start) + positions, of_request(self._tail_start) + behind)
        is_stored = in_head | (behind >= 0)  # [n]
        by_rule = (of_request(self._base) + positions) % TOKEN_ID_MODULUS  # [n]
        return torch.where(is_stored, self._stored_ids.index_select(0, address * is_stored), by_rule.to(torch.int32))

    def __setitem__(self, index: tuple[Tensor, Tensor], token_ids: Tensor) -> None:
        """Store sampled `token_ids` [n] at `(req_state_idx [n], positions [n])`, all of them output positions."""
        req_state_idx, positions = index
        request_idx = self._request_idx[req_state_idx]  # [n]
        behind = positions - self._tail_position[request_idx]  # [n]
        self._stored_ids[self._tail_start[request_idx] + behind] = token_ids.to(torch.int32)
