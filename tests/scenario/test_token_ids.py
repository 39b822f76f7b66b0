"""Ids that nobody gave: the rule by position, what is sampled by it, and drafts that are accepted or rejected."""

import pytest

from app.rules import TOKEN_ID_MODULUS, rule_token_id, token_id_base
from app.scenario.plan.token_ids import draft_token_ids, sampled_token_ids
from tests.reference import rejected_draft_id, synthetic_token_id


def test_an_id_shows_its_request_and_position() -> None:
    """max_model_len 128: 3 digits. The second request (number 1) at position 16: (1 + 1) * 1000 + 16."""
    assert rule_token_id(token_id_base(1, 128), 16) == 2016
    assert rule_token_id(token_id_base(0, 128), 31) == 1031


@pytest.mark.parametrize(
    ("max_model_len", "base"),
    [
        (2, 1_000),  # 1 has one digit, but there are at least three
        (128, 1_000),
        (1_000, 1_000),  # 999 is the last position
        (1_001, 10_000),  # 1000 has four digits
        (4_096, 10_000),
        (100_001, 1_000_000),
        (2**20, 10_000_000),  # 1,048,575 has seven
    ],
)
def test_digits(max_model_len: int, base: int) -> None:
    assert token_id_base(0, max_model_len) == base
    assert token_id_base(2, max_model_len) == 3 * base


def test_ids_wrap_at_2_to_31_minus_1() -> None:
    """Request 214 of a million positions: 215 * 10^7 = 2,150,000,000, and 2^31 - 1 = 2,147,483,647."""
    base = token_id_base(214, 2**20)
    assert rule_token_id(base, 0) == 2_150_000_000 - 2_147_483_647 == 2_516_353
    assert rule_token_id(base, 5) == 2_516_358
    assert TOKEN_ID_MODULUS == 2**31 - 1
    for request_idx in (0, 213, 214, 4095):
        for position in (0, 1, 2**20 - 2):
            expected = synthetic_token_id(request_idx, position, 2**20)
            assert rule_token_id(token_id_base(request_idx, 2**20), position) == expected
            assert 0 <= expected < 2**31 - 1


def test_sampled_ids_are_named_by_the_position_they_take() -> None:
    assert sampled_token_ids(1000, 24, 3) == [1024, 1025, 1026]
    assert sampled_token_ids(1000, 24, 0) == []
    assert sampled_token_ids(1000, 24, [7, 2**31 - 1]) == [7, 2**31 - 1]


def test_accepted_drafts_are_what_is_sampled_in_their_place() -> None:
    """Drafts at 25, 26 and 27 behind the last sampled token at 24; three tokens are sampled, so two drafts were right."""
    sampled = sampled_token_ids(1000, 25, 3)  # 1025, 1026, and 1027 as the model's own
    drafts = draft_token_ids(1000, 25, 3, sampled)
    assert drafts == [1025, 1026, 2**31 - 1 - 1027]
    assert drafts[2] == rejected_draft_id(0, 27, 128)


def test_accepted_drafts_follow_explicit_samples() -> None:
    assert draft_token_ids(1000, 25, 2, [7, 8]) == [7, 2**31 - 1 - 1026]  # one accepted, one not
    assert draft_token_ids(1000, 25, 2, [7, 8, 9]) == [7, 8]  # both accepted; 9 is the model's own


def test_rejected_drafts() -> None:
    assert draft_token_ids(1000, 25, 2, [1025]) == [2**31 - 1 - 1025, 2**31 - 1 - 1026]
    assert draft_token_ids(1000, 25, 0, [1025]) == []
    assert draft_token_ids(0, 0, 1, [5]) == [2**31 - 1]  # the rule's id 0 mirrored is still an id


def test_drafts_that_were_given_stay_as_they_are() -> None:
    assert draft_token_ids(1000, 25, [-1, 4], [9, 9, 9]) == [-1, 4]
    assert draft_token_ids(1000, 25, [], [9]) == []
