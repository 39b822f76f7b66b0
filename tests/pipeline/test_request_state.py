"""Rows of the state pool: who gets which, and what stays in them."""

import torch

from app.pipeline.request_state import RequestState
from app.pipeline.token_ids import RequestTokens


def tokens(base: int, prompt_len: int) -> RequestTokens:
    return RequestTokens(base, prompt_len, None, 0, (), 4)


def test_rows_are_a_stack_from_the_end(device: torch.device) -> None:
    states = RequestState([tokens(1000, 5)] * 4, 4, 0, device)
    rows = [states.add_request(name, index, 5, 5, 0) for index, name in enumerate("abc")]
    assert rows == [3, 2, 1]
    assert states.remove_request("b") == 2
    assert states.free_indices == [0, 2]
    assert states.add_request("d", 3, 5, 5, 0) == 2


def test_a_row_keeps_its_content_until_it_is_overwritten(device: torch.device) -> None:
    states = RequestState([tokens(1000, 5), tokens(2000, 3)], 2, 1, device)
    states.add_request("a", 0, 5, 5, 0)
    states.apply_staged_writes()
    states.remove_request("a")
    states.apply_staged_writes()
    assert states.prompt_len.tolist() == [0, 5]
    states.add_request("b", 1, 3, 3, 2)
    states.apply_staged_writes()
    assert states.prompt_len.tolist() == [0, 3]
    assert states.num_computed_tokens.tolist() == [0, 2]


def test_token_ids_are_stored_where_given_and_follow_the_rule_elsewhere(device: torch.device) -> None:
    given = RequestTokens(9_000, 3, [70, 71, 72], num_rule_outputs=2, initial_output_ids=(), num_sampled_tokens=2)
    ruled = RequestTokens(2_000, 3, None, num_rule_outputs=0, initial_output_ids=(80, 81), num_sampled_tokens=1)
    states = RequestState([given, ruled], 2, 0, device)
    states.add_request("given", 0, 3, 3, 0)
    states.add_request("ruled", 1, 3, 3, 0)
    states.apply_staged_writes()

    def read(row: int, positions: list[int]) -> list[int]:
        at = torch.tensor(positions, device=device)
        return states.all_token_ids[torch.full_like(at, row), at].tolist()

    assert read(1, [0, 1, 2, 3, 4]) == [70, 71, 72, 9_003, 9_004]  # prompt, then outputs that only a count gave
    assert read(0, [0, 2, 3, 4]) == [2_000, 2_002, 80, 81]  # prompt by the rule, then ids
    row, position = torch.tensor([1, 1, 0], device=device), torch.tensor([5, 6, 5], device=device)
    states.all_token_ids[row, position] = torch.tensor([55, 56, 57], device=device)
    assert read(1, [4, 5, 6]) == [9_004, 55, 56]
    assert read(0, [4, 5]) == [81, 57]


def test_ids_by_the_rule_wrap_below_two_to_the_31(device: torch.device) -> None:
    states = RequestState([tokens(2**31 - 3, 9)], 1, 0, device)
    states.add_request("a", 0, 9, 9, 0)
    states.apply_staged_writes()
    at = torch.tensor([0, 1, 2, 3], device=device)
    assert states.all_token_ids[torch.zeros_like(at), at].tolist() == [2**31 - 3, 2**31 - 2, 0, 1]
