"""What a step makes of the pool, worked out by hand."""

import torch

from app.pipeline.sampled_tokens import post_update
from tests.pipeline.pool import make_batch, make_pool


def test_sampled_tokens_go_behind_what_is_there(device: torch.device) -> None:
    states = make_pool(device)
    update = post_update(states, make_batch(states), {"A": [8, 55], "B": [99], "C": [66]})
    # A: draft 8 is accepted, 55 sampled in place of draft 9. C's prompt ends. B's does not: its token is thrown away.
    assert update.num_sampled.tolist() == [2, 1, 0]
    assert update.num_rejected.tolist() == [1, 0, 0]  # 1 + 2 - 2, 1 + 0 - 1, unfinished
    assert update.num_computed_tokens_after.tolist() == [6, 3, 5]  # 4 + 3 - 1, 0 + 3, 0 + 5
    assert update.total_len_after.tolist() == [7, 4, 6]  # 5 + 2, 3 + 1, 6
    assert states.num_computed_tokens.tolist() == [0, 3, 5, 6]  # rows of nobody, C, B, A
    assert states.total_len.tolist() == [0, 4, 6, 7]
    assert states.last_sampled_tokens.tolist() == [0, 66, 0, 55]
    row, positions = torch.tensor([3, 3, 3, 1], device=device), torch.tensor([4, 5, 6, 3], device=device)
    assert states.all_token_ids[row, positions].tolist() == [77, 8, 55, 66]


def test_a_step_that_samples_nothing_moves_the_computed_tokens_alone(device: torch.device) -> None:
    states = make_pool(device)
    batch = make_batch(states)
    states.prefill_len[:] = 100  # nobody's chunk ends its prompt
    update = post_update(states, batch, {})
    assert update.num_sampled.tolist() == update.num_rejected.tolist() == [0, 0, 0]
    assert update.num_computed_tokens_after.tolist() == [7, 3, 5]
    assert states.last_sampled_tokens.tolist() == [0, 0, 0, 77]


def test_what_was_recorded_is_not_what_the_next_step_writes(device: torch.device) -> None:
    states = make_pool(device)
    batch = make_batch(states)
    first = post_update(states, batch, {"A": [8, 55], "C": [66]})
    post_update(states, batch, {"A": [8, 55], "C": [66]})
    assert first.num_computed_tokens_after.tolist() == [6, 3, 5]
    assert first.total_len_after.tolist() == [7, 4, 6]
