"""How far each request has come while the steps of a scenario are walked."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import Fault
from app.rules import token_id_base
from app.scenario.format.model import Scenario
from app.scenario.plan.blocks import Holder


@dataclass
class RequestProgress(Holder):
    """One request between two steps. See `Holder` for its blocks and what it has computed."""

    request_idx: int = 0  # its place among the scenario's requests
    base: int = 0  # of the rule for ids that nobody gave
    prompt_len: int = 0
    prefill_len: int = 0
    total_len: int = 0
    num_sampled: int = 0  # in the steps so far
    was_admitted: bool = False
    is_live: bool = False
    is_finished: bool = False
    is_faulty: bool = False  # its counts are wrong: what follows from them is not reported
    is_refused: bool = False  # it should have got a row and could not: said once
    initial_outputs: Sequence[int] | int = 0


def progress_of_requests(scenario: Scenario, known_faults: Sequence[Fault]) -> dict[str, RequestProgress]:
    """The requests by name before anything happens; those that `known_faults` name are not judged again."""
    blamed = {fault.params.get("req_id") for fault in known_faults}
    requests: dict[str, RequestProgress] = {}
    for index, request in enumerate(scenario.requests):
        if request.req_id in requests:
            continue  # the first of its name is meant
        is_faulty = request.req_id in blamed
        prompt_len = 1 if is_faulty else request.num_prompt_tokens
        requests[request.req_id] = RequestProgress(
            req_id=request.req_id,
            request_idx=index,
            base=token_id_base(index, scenario.config.max_model_len),
            prompt_len=prompt_len,
            prefill_len=prompt_len,
            total_len=prompt_len,
            is_faulty=is_faulty,
        )
    return requests
