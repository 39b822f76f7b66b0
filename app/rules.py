"""The rules of a step for plain numbers: what decodes, what is rejected, what a window hides, which tokens a rank holds.

Each rule stands here once. The plan, the numbers over all steps and the checks ask here; `app.pipeline` follows the same
rules for whole tensors at a time, and the tests compare the two cell by cell. Nothing of ours is imported.
"""

from typing import Literal

NULL_BLOCK = 0  # nobody's block: it pads rows of block tables and stands for blocks below a sliding window
PAD_SLOT_ID = -1  # write nowhere
# A block id that a log does not tell; never one of vLLM's. It is not -1: slot 15 of a block -1 of 16 slots would be
# -1 * 16 + 15 = -1, "write nowhere". From -2 no slot comes near that: -2 * block_size + block_size - 1 < -1.
UNKNOWN_BLOCK = -2
UNKNOWN_SLOT_ID = -(2**63)  # of a block that is not known: no block and offset can give it

TOKEN_ID_MODULUS = 2**31 - 1

Kind = Literal["prefill", "prefill_end", "decode", "decode_drafts"]


# What a request does in a step


def is_prefilling(num_computed_tokens: int, prefill_len: int) -> bool:
    """Whether a request still has tokens to compute of those it was handed in with."""
    return num_computed_tokens < prefill_len


def is_unfinished(num_computed_tokens: int, prefill_len: int, num_tokens: int, num_draft_tokens: int) -> bool:
    """Whether a step leaves the prefill of a request unfinished: then no token is sampled."""
    return num_computed_tokens + num_tokens - num_draft_tokens < prefill_len


def kind_of_work(num_computed_tokens: int, prefill_len: int, num_tokens: int, num_draft_tokens: int) -> Kind:
    """A chunk of a prefill with more to come, the chunk that ends it, or a decode without or with drafts."""
    if not is_prefilling(num_computed_tokens, prefill_len):
        return "decode_drafts" if num_draft_tokens else "decode"
    if is_unfinished(num_computed_tokens, prefill_len, num_tokens, num_draft_tokens):
        return "prefill"
    return "prefill_end"


def runs_as_decode(num_computed_tokens: int, prefill_len: int, num_tokens: int, num_draft_tokens: int) -> bool:
    """Whether a graph captured for uniform decodes may replay a request.

    One new token over existing context computes like a decode, also where it belongs to the prompt. Drafts are not counted.
    """
    if not is_prefilling(num_computed_tokens, prefill_len):
        return True
    return num_tokens - num_draft_tokens == 1 and num_computed_tokens > 0


def num_rejected_tokens(num_draft_tokens: int, num_sampled: int, *, unfinished: bool) -> int:
    """How many of the drafts did not hold. All sampled tokens but the last accept one."""
    return 0 if unfinished else num_draft_tokens + 1 - num_sampled


def num_computed_tokens_after(num_computed_tokens: int, num_tokens: int, num_rejected: int) -> int:
    """Tokens that count as computed once the step is over."""
    return num_computed_tokens + num_tokens - num_rejected


# Blocks


def num_blocks_for(num_tokens: int, tokens_per_block: int) -> int:
    """How many blocks so many tokens take."""
    return -(-num_tokens // tokens_per_block)


def num_tokens_within(num_tokens: int, block_index: int, tokens_per_block: int) -> int:
    """How many of a request's first `num_tokens` tokens lie in its logical block `block_index`."""
    return min(max(num_tokens - block_index * tokens_per_block, 0), tokens_per_block)


def num_null_blocks(num_computed_tokens: int, sliding_window: int | None, block_size: int) -> int:
    """How many leading blocks no query of a step can see any more.

    The first query stands at position `num_computed_tokens` and sees itself and `sliding_window - 1` positions before it.
    """
    if sliding_window is None:
        return 0
    return max(num_computed_tokens - (sliding_window - 1), 0) // block_size


def most_cached_tokens(prefill_len: int, lcm_block_size: int) -> int:
    """The longest hit that vLLM's own prefix cache can give: whole blocks of every group, and a token left to compute."""
    return (prefill_len - 1) // lcm_block_size * lcm_block_size


# Context parallelism: `size` ranks share every request, its tokens dealt out `interleave` at a time


def is_local_token(position: int, size: int, rank: int, interleave: int) -> bool:
    """Whether `rank` holds the token at a position."""
    return position // interleave % size == rank


def num_local_tokens(num_tokens: int, size: int, rank: int, interleave: int) -> int:
    """How many of a request's first `num_tokens` tokens `rank` holds."""
    deals, rest = divmod(num_tokens, size * interleave)
    return deals * interleave + min(max(rest - rank * interleave, 0), interleave)


# Token ids that nobody gave


def token_id_base(request_idx: int, max_model_len: int) -> int:
    """What is added to a position to name its token; `request_idx` counts from 0."""
    digits = max(3, len(str(max_model_len - 1)))
    return (request_idx + 1) * int(10**digits)


def rule_token_id(base: int, position: int) -> int:
    """The readable id of the token at `position`: with `max_model_len` 128, 2016 is the second request's token 16."""
    return (base + position) % TOKEN_ID_MODULUS


def rejected_draft_id(base: int, position: int) -> int:
    """The id of a draft that does not hold: it cannot be mistaken for the token that takes its place."""
    return TOKEN_ID_MODULUS - rule_token_id(base, position)
