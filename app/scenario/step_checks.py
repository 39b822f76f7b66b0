"""What one scheduled request of one step may be, given what it has computed.

Each function yields the faults it finds; pointers name scheduled counts by `req_id`, as if they had been sent as an object.
"""

from collections.abc import Iterator
from typing import Any

from app.errors import Fault, pointer, remove, replace
from app.scenario.model import Config, Step, num_given
from app.scenario.plan import PlannedRequest


def initial_faults(
    req_id: str, prompt_len: int, num_computed: int, num_outputs: int, max_model_len: int, where: str
) -> Iterator[Fault]:
    """Whether the computed and output counts of an `initial` request fit each other. `where` points to it."""
    params = {
        "req_id": req_id,
        "prompt_len": prompt_len,
        "num_outputs": num_outputs,
        "num_computed_tokens": num_computed,
    }
    at = where + "/num_computed_tokens"
    if not num_outputs:
        right = prompt_len - 1
        if num_computed > right:
            message = "initial.computed_without_outputs"
            yield Fault(at, "initial", message, params | {"right": right}, replace(at, right))
        return
    right = prompt_len + num_outputs - 1
    if num_computed != right:
        yield Fault(at, "initial", "initial.computed_with_outputs", params | {"right": right}, replace(at, right))
    elif num_computed > max_model_len - 1:
        yield Fault(at, "length", "length.initial", params | {"limit": max_model_len - 1})


def hit_faults(index: int, step: Step, req_id: str, prefill_len: int, is_new: bool) -> Iterator[Fault]:
    """Whether a prefix-cache hit comes with an admission and leaves a token to compute."""
    hit = step.num_computed_tokens.get(req_id)
    if hit is None:
        return
    where = pointer("steps", index, "num_computed_tokens", req_id)
    params = {"step": index, "req_id": req_id, "hit": hit}
    if not is_new:
        yield Fault(where, "hit", "hit.already_in_pool", params, remove(where))
    elif hit > prefill_len - 1:
        params |= {"prefill_len": prefill_len, "limit": prefill_len - 1}
        yield Fault(where, "hit", "hit.too_long", params, replace(where, prefill_len - 1))


def count_faults(index: int, request: PlannedRequest, config: Config) -> Iterator[Fault]:
    """Whether the scheduled count and the drafts fit what the request has computed."""
    where = pointer("steps", index, "num_scheduled_tokens", request.req_id)
    drafts_at = pointer("steps", index, "draft_token_ids", request.req_id)
    drafts, computed, prefill_len = request.num_drafts, request.num_computed_tokens, request.prefill_len
    chunk = request.num_tokens - drafts
    params: dict[str, Any] = {
        "step": index,
        "req_id": request.req_id,
        "num_scheduled_tokens": request.num_tokens,
        "num_drafts": drafts,
        "num_computed_tokens": computed,
        "prefill_len": prefill_len,
        "remaining": prefill_len - computed,
        "chunk": chunk,
    }
    max_drafts = config.num_speculative_tokens
    if drafts > max_drafts:
        fix = replace(drafts_at, max_drafts) if max_drafts else remove(drafts_at)
        yield Fault(drafts_at, "drafts", "drafts.too_many", params | {"limit": max_drafts}, fix)
    if not request.is_prefilling:
        if chunk != 1:
            message = "decode.with_drafts" if drafts else "decode"
            right = 1 + drafts
            yield Fault(where, "decode", message, params | {"right": right}, replace(where, right))
    elif computed + chunk > prefill_len:
        right = prefill_len - computed + drafts
        yield Fault(where, "chunk", "chunk", params | {"right": right}, replace(where, right))
    elif drafts and computed + chunk < prefill_len:
        yield Fault(drafts_at, "drafts", "drafts.unfinished_prefill", params, remove(drafts_at))
    limit = config.max_model_len - 1
    if request.seq_len > limit:
        right = limit - computed
        shorter = replace(where, right) if right > drafts else None
        params |= {"seq_len": request.seq_len, "max_model_len": config.max_model_len, "limit": limit}
        yield Fault(where, "length", "length", params, shorter)


def sampled_faults(index: int, step: Step, request: PlannedRequest) -> Iterator[Fault]:
    """Whether what is sampled is what the step can yield."""
    given = step.sampled_token_ids.get(request.req_id)
    if given is None:
        return
    where = pointer("steps", index, "sampled_token_ids", request.req_id)
    count, limit = num_given(given), 1 + request.num_drafts
    params = {
        "step": index,
        "req_id": request.req_id,
        "num_sampled": count,
        "num_drafts": request.num_drafts,
        "limit": limit,
        "seq_len": request.seq_len,
        "prefill_len": request.prefill_len,
    }
    if request.seq_len < request.prefill_len:
        if count:  # saying that nothing is sampled is true
            yield Fault(where, "sampled", "sampled.unfinished_chunk", params, remove(where))
    elif count == 0:
        yield Fault(where, "sampled", "sampled.none", params, remove(where))
    elif count > limit:
        fix = replace(where, given[:limit] if isinstance(given, list) else limit)
        yield Fault(where, "sampled", "sampled.too_many", params, fix)
