"""The pool that the tests of batch, flatten and post-update share: a decode with drafts and two prompts.

K = 2, 4 rows. A, at row 3, has a prompt of 4 tokens and one output, 77, which is not computed yet. B, at row 2, has a prompt
of 6, and C, at row 1, one of 3; nothing of theirs is computed. Their tokens are 1000, 2000 and 3000 plus the position.
"""

import torch

from app.pipeline.input_batch import Batch, prepare_batch
from app.pipeline.request_state import RequestState
from app.pipeline.token_ids import RequestTokens

SCHEDULE = [("B", 5), ("C", 3), ("A", 3)]  # B's prompt is longer; C's ends; A runs one token and two drafts
DRAFTS = {"A": [8, 9]}


def make_pool(device: torch.device) -> RequestState:
    requests = [
        RequestTokens(1_000, 4, None, 0, (77,), 3),
        RequestTokens(2_000, 6, None, 0, (), 1),
        RequestTokens(3_000, 3, None, 0, (), 1),
    ]
    states = RequestState(requests, 4, 2, device)
    states.add_request("A", 0, prompt_len=4, prefill_len=4, num_computed_tokens=4)
    states.add_request("B", 1, prompt_len=6, prefill_len=6, num_computed_tokens=0)
    states.add_request("C", 2, prompt_len=3, prefill_len=3, num_computed_tokens=0)
    states.apply_staged_writes()

    def ints(*values: int) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64, device=device)

    states.restore_outputs(ints(3), total_len=ints(5), last_sampled_tokens=ints(77))
    states.set_draft_tokens(ints(3, 3), ints(0, 1), ints(8, 9))
    return states


def make_batch(states: RequestState) -> Batch:
    return prepare_batch(states, SCHEDULE, DRAFTS, num_speculative_tokens=2)
