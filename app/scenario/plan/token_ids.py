"""Ids of sampled tokens and of drafts: those given, or readable ones where only a count is (`app.rules`)."""

from collections.abc import Sequence

from app.rules import rejected_draft_id, rule_token_id


def sampled_token_ids(base: int, position: int, given: Sequence[int] | int) -> list[int]:
    """Ids of sampled tokens, the first of which takes `position`: those given, or by the rule where only a count is."""
    if isinstance(given, int):
        return [rule_token_id(base, position + place) for place in range(given)]
    return list(given)


def draft_token_ids(base: int, position: int, given: Sequence[int] | int, sampled: Sequence[int]) -> list[int]:
    """Ids of drafts, the first of which stands at `position`.

    Where only a count is given, an accepted draft is what was sampled in its place. All sampled tokens but the last accept a
    draft.
    """
    if not isinstance(given, int):
        return list(given)
    num_accepted = min(max(len(sampled) - 1, 0), given)
    rejected = [rejected_draft_id(base, position + place) for place in range(num_accepted, given)]
    return [*sampled[:num_accepted], *rejected]
