"""What one scheduled request of one step may be, given what it has computed.

Each function yields the faults it finds; pointers name scheduled counts by `req_id`, as if they had been sent as an object.
Of the faults of one count the first carries a repair that satisfies every rule at once, and the others carry none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.errors import Fault, pointer, remove, replace
from app.rules import most_cached_tokens
from app.scenario.format.model import Config, Step, num_given
from app.scenario.plan.plan import PlannedRequest

Patch = list[dict[str, Any]]


def hit_faults(index: int, step: Step, req_id: str, prefill_len: int, is_new: bool, config: Config) -> Iterator[Fault]:
    """Whether a prefix-cache hit comes with an admission and leaves a token to compute.

    A hit may end inside a block, since a KV connector loads such; the repair is what vLLM's own cache would hit.
    """
    hit = step.num_computed_tokens.get(req_id)
    if hit is None or (is_new and hit < prefill_len):
        return
    where = pointer("steps", index, "num_computed_tokens", req_id)
    params = {"step": index, "req_id": req_id, "hit": hit}
    if not is_new:
        yield Fault(where, "hit", "hit.already_in_pool", params, remove(where))
        return
    limit = prefill_len - 1
    right = most_cached_tokens(prefill_len, config.lcm_block_size)
    params |= {"prefill_len": prefill_len, "limit": limit, "right": right}
    if not right:
        yield Fault(where, "hit", "hit.no_whole_block" if limit else "hit.too_long", params, remove(where))
    else:
        yield Fault(where, "hit", "hit.too_long" if right == limit else "hit.whole_blocks", params, replace(where, right))


@dataclass(frozen=True)
class _Counts:
    """A scheduled count and the drafts within it."""

    num_tokens: int
    num_draft_tokens: int


def has_right_counts(request: PlannedRequest, config: Config) -> bool:
    """Whether the count and the drafts of a request are what its own progress and the configuration allow."""
    return _right_counts(request, config, room=config.max_model_len) == _Counts(request.num_tokens, request.num_draft_tokens)


def count_faults(index: int, step: Step, request: PlannedRequest, config: Config, room: int) -> Iterator[Fault]:
    """Whether the scheduled count and the drafts fit what the request has computed.

    `room` is what the step's budget leaves it beside the others. Too little of it is no fault of the request's, but a repair
    asks for no more than that, or for one token.
    """
    right = _right_counts(request, config, room)
    if has_right_counts(request, config):
        return
    where = pointer("steps", index, "num_scheduled_tokens", request.req_id)
    drafts_at = pointer("steps", index, "draft_token_ids", request.req_id)
    drafts, max_drafts = request.num_draft_tokens, config.num_speculative_tokens
    limit = config.max_model_len - 1
    chunk = request.num_new_tokens
    remaining = request.prefill_len - request.num_computed_tokens
    fits = chunk <= remaining if request.is_prefilling else chunk == 1
    params: dict[str, Any] = {
        "step": index,
        "req_id": request.req_id,
        "num_scheduled_tokens": request.num_tokens,
        "num_drafts": drafts,
        "num_computed_tokens": request.num_computed_tokens,
        "prefill_len": request.prefill_len,
        "remaining": remaining,
        "chunk": chunk,
        "reached": request.num_computed_tokens + chunk,
    }
    repair = iter([_repair(step, request, right, where, drafts_at)])

    if not fits and request.is_prefilling:
        has_drafts = drafts > 0 and right.num_tokens == remaining + drafts
        message = "chunk.with_drafts" if has_drafts else "chunk"
        yield Fault(where, "chunk", message, params | {"right": right.num_tokens}, next(repair, None))
    elif not fits:
        message = "decode.with_drafts" if drafts else "decode"
        yield Fault(where, "decode", message, params | {"right": 1 + drafts}, next(repair, None))
    if drafts and request.is_prefilling and chunk < remaining:
        message = "drafts.unfinished_prefill" if chunk > 0 else "drafts.more_than_scheduled"
        yield Fault(drafts_at, "drafts", message, params, next(repair, None))
    elif drafts > max_drafts:
        message = "drafts.too_many" if max_drafts else "drafts.none_allowed"
        yield Fault(drafts_at, "drafts", message, params | {"limit": max_drafts}, next(repair, None))
    if request.seq_len > limit:
        params |= {"seq_len": request.seq_len, "max_model_len": config.max_model_len, "limit": limit}
        yield Fault(where, "length", "length", params, next(repair, None))


def _right_counts(request: PlannedRequest, config: Config, room: int) -> _Counts:
    """The counts nearest to what was scheduled that satisfy every rule; no tokens where the request is as long as can be.

    A chunk takes what was asked, what is left of the prefill, what fits below `max_model_len` and the `room` of the budget,
    whichever is least; a decode takes one token. Drafts stand behind either where they fit too, but not behind a chunk that
    leaves its prefill unfinished.
    """
    room = max(room, 1)
    left = config.max_model_len - 1 - request.num_computed_tokens
    if left < 1:
        return _Counts(0, 0)
    drafts = min(request.num_draft_tokens, config.num_speculative_tokens)
    if not request.is_prefilling:
        drafts = min(drafts, left - 1, room - 1)
        return _Counts(1 + drafts, drafts)
    remaining = request.prefill_len - request.num_computed_tokens
    if request.num_new_tokens < 1:  # nothing but drafts was scheduled: they go, since a chunk comes first
        return _Counts(min(request.num_tokens, remaining, left, room), 0)
    chunk = min(request.num_new_tokens, remaining, left, room)
    drafts = min(drafts, left - chunk, room - chunk) if chunk == remaining else 0
    return _Counts(chunk + drafts, drafts)


def _repair(step: Step, request: PlannedRequest, right: _Counts, where: str, drafts_at: str) -> Patch:
    """A patch that leaves a request the `right` counts: fewer drafts, another count, or nothing to run."""
    patch: Patch = []
    if right.num_draft_tokens != request.num_draft_tokens:
        given = step.draft_token_ids[request.req_id]
        num_kept = right.num_draft_tokens
        kept = given[:num_kept] if isinstance(given, list) else num_kept
        patch += replace(drafts_at, kept) if num_kept else remove(drafts_at)
    if not right.num_tokens:
        return [*patch, *remove(where)]
    if right.num_tokens != request.num_tokens:
        patch += replace(where, right.num_tokens)
    return patch


def sampled_faults(index: int, step: Step, request: PlannedRequest) -> Iterator[Fault]:
    """Whether what is sampled is what the step can yield."""
    given = step.sampled_token_ids.get(request.req_id)
    if given is None:
        return
    count, limit = num_given(given), 1 + request.num_draft_tokens
    if count == 0 if request.is_unfinished else 1 <= count <= limit:  # saying that nothing is sampled is true of a chunk
        return
    where = pointer("steps", index, "sampled_token_ids", request.req_id)
    params = {
        "step": index,
        "req_id": request.req_id,
        "num_sampled": count,
        "num_drafts": request.num_draft_tokens,
        "limit": limit,
        "reached": request.num_computed_tokens + request.num_new_tokens,
        "prefill_len": request.prefill_len,
    }
    if request.is_unfinished:
        yield Fault(where, "sampled", "sampled.unfinished_chunk", params, remove(where))
    elif count == 0:
        yield Fault(where, "sampled", "sampled.none", params, remove(where))
    else:
        message = "sampled.too_many" if request.num_draft_tokens else "sampled.only_one"
        fix = replace(where, given[:limit] if isinstance(given, list) else limit)
        yield Fault(where, "sampled", message, params, fix)
