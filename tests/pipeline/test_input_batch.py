"""Who runs, in which order, worked out by hand."""

import torch

from app.pipeline.input_batch import BatchShape, prepare_batch
from tests.pipeline.pool import make_batch, make_pool


def test_drafts_come_first_then_uniform_counts_then_the_others_by_count(device: torch.device) -> None:
    batch = make_batch(make_pool(device))
    assert batch.req_ids == ("A", "C", "B")
    assert batch.schedule_idx == (2, 1, 0)
    # A has drafts; C runs 1 + K = 3 tokens; B runs 5.
    assert batch.sort_key == ((0, 0, 3), (1, 0, 3), (1, 1, 5))
    assert batch.idx_mapping.tolist() == [3, 1, 2]
    assert batch.num_scheduled_tokens.tolist() == [3, 3, 5]
    assert batch.num_draft_tokens.tolist() == [2, 0, 0]
    assert batch.is_prefilling.tolist() == [False, True, True]
    assert batch.shape == BatchShape(num_reqs=3, num_tokens=11, uniform_token_count=None, decode_graph_eligible=False)


def test_ties_keep_the_order_of_the_schedule(device: torch.device) -> None:
    states = make_pool(device)
    assert prepare_batch(states, [("C", 2), ("B", 2)], {}, 2).req_ids == ("C", "B")
    assert prepare_batch(states, [("B", 2), ("C", 2)], {}, 2).req_ids == ("B", "C")


def test_one_prompt_token_over_existing_context_passes_for_a_decode(device: torch.device) -> None:
    states = make_pool(device)
    drafts = {"A": [8]}
    for num_computed, num_tokens, eligible in ((5, 1, True), (0, 1, False), (4, 2, False)):
        states.num_computed_tokens[2] = num_computed  # of B, whose prompt has 6 tokens
        batch = prepare_batch(states, [("A", 2), ("B", num_tokens)], drafts, 2)
        assert batch.shape.decode_graph_eligible is eligible, (num_computed, num_tokens)
    # Drafts behind it do not count: one new token and two drafts.
    states.num_computed_tokens[2] = 5
    assert prepare_batch(states, [("B", 3)], {"B": [1, 2]}, 2).shape == BatchShape(1, 3, 3, decode_graph_eligible=True)
