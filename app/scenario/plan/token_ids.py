"""Readable ids for tokens that nobody gave.

The token at position `p` of request number `k` is `((k + 1) * 10**d + p) mod (2**31 - 1)`: with `max_model_len` 128, 2016 is
the second request's token 16.
"""

from collections.abc import Sequence

TOKEN_ID_MODULUS = 2**31 - 1


def token_id_base(request_idx: int, max_model_len: int) -> int:
    """What is added to a position to name its token; `request_idx` counts from 0."""
    digits = max(3, len(str(max_model_len - 1)))
    return (request_idx + 1) * int(10**digits)


def rule_token_id(base: int, position: int) -> int:
    """The id of the token at `position` by the rule."""
    return (base + position) % TOKEN_ID_MODULUS


def sampled_token_ids(base: int, position: int, given: Sequence[int] | int) -> list[int]:
    """Ids of sampled tokens, the first of which takes `position`: those given, or by the rule where only a count is."""
    if isinstance(given, int):
        return [rule_token_id(base, position + place) for place in range(given)]
    return list(given)


def draft_token_ids(base: int, position: int, given: Sequence[int] | int, sampled: Sequence[int]) -> list[int]:
    """Ids of drafts, the first of which stands at `position`.

    Where only a count is given, an accepted draft is what was sampled in its place, and a rejected one mirrors the rule's id
    so that it cannot be mistaken for it. All sampled tokens but the last accept a draft.
    """
    if not isinstance(given, int):
        return list(given)
    num_accepted = min(max(len(sampled) - 1, 0), given)
    rejected = [TOKEN_ID_MODULUS - rule_token_id(base, position + place) for place in range(num_accepted, given)]
    return [*sampled[:num_accepted], *rejected]
