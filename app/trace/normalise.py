"""The scenario as it was understood: every default filled in, and every id of the window explicit."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.scenario.format.model import Request, Step
from app.scenario.plan.plan import Plan, PlannedStep


def normalise(plan: Plan, first: int, last: int) -> dict[str, Any]:
    """The scenario with its defaults; steps `first..last` have explicit block, draft and sampled ids, others are as sent.

    Where the window holds a step, blocks and rows of initial requests are explicit too. Prompts stay as they were sent.
    """
    document: dict[str, Any] = plan.scenario.model_dump(mode="python", exclude={"requests", "steps"})
    document["requests"] = [_request(request) for request in plan.scenario.requests]
    has_window = first <= last
    for admission in plan.initial:
        initial = document["requests"][admission.request_idx]["initial"]
        initial["num_computed_tokens"] = admission.num_computed_tokens
        if has_window:
            initial["req_state_idx"] = admission.req_state_idx
            if initial["block_ids"] is None:
                initial["block_ids"] = _from_pool(admission.block_ids)
    document["steps"] = [
        _explicit_step(step, plan.steps[index]) if first <= index <= last else _step(step)
        for index, step in enumerate(plan.scenario.steps)
    ]
    return document


def _request(request: Request) -> dict[str, Any]:
    document: dict[str, Any] = {"req_id": request.req_id}
    if request.prompt_token_ids is None:
        document["prompt_len"] = request.prompt_len
    else:
        document["prompt_token_ids"] = request.prompt_token_ids
    if request.initial is not None:
        document["initial"] = dict(request.initial)
    return document


def _step(step: Step) -> dict[str, Any]:
    document = dict(step)
    document["num_scheduled_tokens"] = [list(pair) for pair in step.num_scheduled_tokens]
    return document


def _explicit_step(step: Step, planned: PlannedStep) -> dict[str, Any]:
    document = _step(step)
    from_pool = {req_id: ids for req_id, ids in planned.new_block_ids.items() if req_id not in step.new_block_ids}
    document["new_block_ids"] = step.new_block_ids | {req_id: _from_pool(ids) for req_id, ids in from_pool.items()}
    document["draft_token_ids"] = _lists(planned.draft_token_ids)
    document["sampled_token_ids"] = _lists(planned.sampled_token_ids)
    return document


def _lists(ids: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    return {req_id: list(token_ids) for req_id, token_ids in ids.items()}


def _from_pool(block_ids: "Sequence[array[int]]") -> list[NDArray[np.int32]]:
    """Ids per group as numpy arrays: they are encoded without making an object per id."""
    return [np.frombuffer(ids, dtype=np.int32) for ids in block_ids]
