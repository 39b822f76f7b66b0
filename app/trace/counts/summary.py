"""One line of numbers per engine step, for every step of a plan, without running it."""

from typing import Any

from app.pipeline.cudagraph import CudaGraphDispatcher
from app.pipeline.input_batch import BatchShape
from app.scenario.plan.plan import Plan, PlannedRequest, PlannedStep


def summarise(plan: Plan) -> list[dict[str, Any]]:
    """Counts of every computed step, and the kind of work of each request in the order of `num_scheduled_tokens`.

    Draft tokens are counted apart from the prefill and decode tokens beside them.
    """
    config = plan.scenario.config
    graphs = config.cudagraph
    dispatcher = CudaGraphDispatcher(graphs.mode, graphs.capture_sizes, config.max_num_reqs, config.num_speculative_tokens)
    return [_summarise_step(index, step, dispatcher) for index, step in enumerate(plan.steps)]


def _summarise_step(index: int, step: PlannedStep, dispatcher: CudaGraphDispatcher) -> dict[str, Any]:
    scheduled = step.scheduled
    num_tokens = sum(request.num_tokens for request in scheduled)
    num_drafts = sum(request.num_drafts for request in scheduled)
    num_prefill = sum(request.num_tokens - request.num_drafts for request in scheduled if request.is_prefilling)
    summary = {
        "index": index,
        "num_reqs": len(scheduled),
        "num_tokens": num_tokens,
        "num_prefill_tokens": num_prefill,
        "num_decode_tokens": num_tokens - num_drafts - num_prefill,
        "num_draft_tokens": num_drafts,
        "num_reqs_padded": 0,
        "num_tokens_padded": 0,
        "cudagraph_mode": "NONE",
        "num_live": step.num_live,
        "num_used_blocks": step.num_used_blocks,
        "num_free_blocks": step.num_free_blocks,
        "kinds": [_kind(request) for request in scheduled],
    }
    if scheduled:
        counts = {request.num_tokens for request in scheduled}
        padding = dispatcher.dispatch(
            BatchShape(
                num_reqs=len(scheduled),
                num_tokens=num_tokens,
                uniform_token_count=counts.pop() if len(counts) == 1 else None,
                decode_graph_eligible=all(
                    not request.is_prefilling
                    or (request.num_tokens - request.num_drafts == 1 and request.num_computed_tokens > 0)
                    for request in scheduled
                ),
            )
        )
        summary |= {
            "num_reqs_padded": padding.num_reqs_padded,
            "num_tokens_padded": padding.num_tokens_padded,
            "cudagraph_mode": padding.cg_mode,
        }
    return summary


def _kind(request: PlannedRequest) -> str:
    """What a scheduled request does: a chunk of its prefill with more to come, the chunk that ends it, or a decode."""
    if not request.is_prefilling:
        return "decode_drafts" if request.num_drafts else "decode"
    return "prefill_end" if request.seq_len - request.num_drafts >= request.prefill_len else "prefill"
