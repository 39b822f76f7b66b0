"""One line of numbers per engine step, for every step of a plan, without running it."""

from typing import Any

from app.pipeline.cudagraph import CudaGraphDispatcher
from app.pipeline.input_batch import BatchShape
from app.scenario.plan.plan import Plan, PlannedStep


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
    num_draft_tokens = sum(request.num_draft_tokens for request in scheduled)
    num_prefill_tokens = sum(request.num_new_tokens for request in scheduled if request.is_prefilling)
    summary = {
        "index": index,
        "num_reqs": len(scheduled),
        "num_tokens": num_tokens,
        "num_prefill_tokens": num_prefill_tokens,
        "num_decode_tokens": num_tokens - num_draft_tokens - num_prefill_tokens,
        "num_draft_tokens": num_draft_tokens,
        "num_reqs_padded": 0,
        "num_tokens_padded": 0,
        "cudagraph_mode": "NONE",
        "num_live": step.num_live,
        "num_used_blocks": step.num_used_blocks,
        "num_free_blocks": step.num_free_blocks,
        "kinds": [request.kind for request in scheduled],
    }
    if scheduled:
        counts = {request.num_tokens for request in scheduled}
        batch_desc = dispatcher.dispatch(
            BatchShape(
                num_reqs=len(scheduled),
                num_tokens=num_tokens,
                uniform_token_count=counts.pop() if len(counts) == 1 else None,
                decode_graph_eligible=all(request.runs_as_decode for request in scheduled),
            )
        )
        summary |= {
            "num_reqs_padded": batch_desc.num_reqs_padded,
            "num_tokens_padded": batch_desc.num_tokens_padded,
            "cudagraph_mode": batch_desc.cg_mode,
        }
    return summary
