"""What one scheduled request of one step may be, given what it has computed.

Each function yields the faults it finds; pointers name scheduled counts by `req_id`, as if they had been sent as an object.
"""

from collections.abc import Iterator
from typing import Any

from app.errors import Fault, pointer, remove, replace
from app.scenario.format.model import Config, Step, num_given
from app.scenario.plan.plan import PlannedRequest


def hit_faults(index: int, step: Step, req_id: str, prefill_len: int, is_new: bool) -> Iterator[Fault]:
    """Whether a prefix-cache hit comes with an admission and leaves a token to compute."""
    hit = step.num_computed_tokens.get(req_id)
    if hit is None or (is_new and hit < prefill_len):
        return
    where = pointer("steps", index, "num_computed_tokens", req_id)
    params = {"step": index, "req_id": req_id, "hit": hit}
    if not is_new:
        yield Fault(where, "hit", "hit.already_in_pool", params, remove(where))
    else:
        params |= {"prefill_len": prefill_len, "limit": prefill_len - 1}
        yield Fault(where, "hit", "hit.too_long", params, replace(where, prefill_len - 1))


def count_faults(index: int, step: Step, request: PlannedRequest, config: Config) -> Iterator[Fault]:
    """Whether the scheduled count and the drafts fit what the request has computed."""
    drafts, max_drafts = request.num_drafts, config.num_speculative_tokens
    limit = config.max_model_len - 1
    chunk = request.num_tokens - drafts
    remaining = request.prefill_len - request.num_computed_tokens
    fits = chunk <= remaining if request.is_prefilling else chunk == 1
    is_unfinished = request.is_prefilling and chunk < remaining
    if fits and drafts <= max_drafts and not (drafts and is_unfinished) and request.seq_len <= limit:
        return

    where = pointer("steps", index, "num_scheduled_tokens", request.req_id)
    drafts_at = pointer("steps", index, "draft_token_ids", request.req_id)
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
    if not fits and request.is_prefilling:
        right = remaining + drafts
        message = "chunk.with_drafts" if drafts else "chunk"
        yield Fault(where, "chunk", message, params | {"right": right}, replace(where, right))
    elif not fits:
        message = "decode.with_drafts" if drafts else "decode"
        yield Fault(where, "decode", message, params | {"right": 1 + drafts}, replace(where, 1 + drafts))
    if drafts and is_unfinished:
        message = "drafts.unfinished_prefill" if chunk > 0 else "drafts.more_than_scheduled"
        without = chunk if chunk > 0 else min(request.num_tokens, remaining)
        yield Fault(drafts_at, "drafts", message, params, [*remove(drafts_at), *replace(where, without)])
    elif drafts > max_drafts:
        message = "drafts.too_many" if max_drafts else "drafts.none_allowed"
        fix = _with_drafts(step, request.req_id, drafts_at, max_drafts)
        if fits:  # the drafts taken away were scheduled too
            fix += replace(where, chunk + max_drafts)
        yield Fault(drafts_at, "drafts", message, params | {"limit": max_drafts}, fix)
    if request.seq_len > limit:
        right = limit - request.num_computed_tokens
        params |= {"seq_len": request.seq_len, "max_model_len": config.max_model_len, "limit": limit}
        yield Fault(where, "length", "length", params, _within_length(step, request, where, drafts_at, right, fits=fits))


def _within_length(
    step: Step, request: PlannedRequest, where: str, drafts_at: str, right: int, *, fits: bool
) -> list[dict[str, Any]] | None:
    """A patch that leaves a request the `right` tokens that still fit: fewer drafts, a shorter chunk, or none of it."""
    drafts = request.num_drafts
    if request.is_prefilling and not drafts and right > 0:
        return replace(where, right)
    if not fits:  # its count is wrong for another reason, which has a repair of its own
        return None
    num_drafts = right - (request.num_tokens - drafts)
    if drafts and num_drafts >= 0:
        return [*_with_drafts(step, request.req_id, drafts_at, num_drafts), *replace(where, right)]
    return remove(where) if right <= 0 else None


def sampled_faults(index: int, step: Step, request: PlannedRequest) -> Iterator[Fault]:
    """Whether what is sampled is what the step can yield."""
    given = step.sampled_token_ids.get(request.req_id)
    if given is None:
        return
    count, limit = num_given(given), 1 + request.num_drafts
    reached = request.seq_len - request.num_drafts
    is_unfinished = reached < request.prefill_len
    if count == 0 if is_unfinished else 1 <= count <= limit:  # saying that nothing is sampled is true of a chunk
        return
    where = pointer("steps", index, "sampled_token_ids", request.req_id)
    params = {
        "step": index,
        "req_id": request.req_id,
        "num_sampled": count,
        "num_drafts": request.num_drafts,
        "limit": limit,
        "reached": reached,
        "prefill_len": request.prefill_len,
    }
    if is_unfinished:
        yield Fault(where, "sampled", "sampled.unfinished_chunk", params, remove(where))
    elif count == 0:
        yield Fault(where, "sampled", "sampled.none", params, remove(where))
    else:
        message = "sampled.too_many" if request.num_drafts else "sampled.only_one"
        fix = replace(where, given[:limit] if isinstance(given, list) else limit)
        yield Fault(where, "sampled", message, params, fix)


def _with_drafts(step: Step, req_id: str, where: str, count: int) -> list[dict[str, Any]]:
    """A patch that leaves a request the first `count` of its drafts."""
    if not count:
        return remove(where)
    given = step.draft_token_ids[req_id]
    return replace(where, given[:count] if isinstance(given, list) else count)
