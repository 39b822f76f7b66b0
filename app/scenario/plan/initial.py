"""Requests that are in the pool before step 0: their rows, what they have computed and sampled, and their blocks."""

from collections.abc import Iterable, Iterator

from app.errors import Fault, pointer, remove, replace
from app.rules import rule_token_id
from app.scenario.format.model import Initial, Scenario, num_given
from app.scenario.plan.blocks import BlockLedger
from app.scenario.plan.plan import Admission
from app.scenario.plan.progress import RequestProgress


def enter_initial(
    scenario: Scenario, requests: Iterable[RequestProgress], ledger: BlockLedger
) -> tuple[list[Admission], list[Fault]]:
    """Let the requests that have an `initial` enter, in list order, and ask the ledger for their blocks.

    The admissions have no blocks yet: those are known once the ledger has settled. Of a request with a fault only the row is
    taken.
    """
    free_rows = list(range(scenario.config.max_num_reqs))
    num_entering = sum(request.initial is not None for request in scenario.requests)
    admissions: list[Admission] = []
    faults: list[Fault] = []
    for state in requests:
        initial = scenario.requests[state.request_idx].initial
        if initial is None:
            continue
        where = pointer("requests", state.request_idx, "initial")
        found: list[Fault] = []
        if not state.is_faulty:
            found += _count_faults(state, initial, scenario.config.max_model_len, where)
        found += _row_faults(state, initial.req_state_idx, free_rows, scenario.config.max_num_reqs, num_entering, where)
        faults += found
        state.is_faulty = state.is_faulty or bool(found)
        row = initial.req_state_idx
        if row is None:
            if not free_rows:
                state.is_refused = True
                continue
            row = free_rows.pop()
        elif row in free_rows:
            free_rows.remove(row)
        state.was_admitted = state.is_live = True
        ledger.begin(state)
        if not state.is_faulty:
            admissions.append(_enter(state, initial, row))
            if initial.block_ids is None:
                ledger.ask(state, state.num_computed_tokens)
            else:
                at, params = where + "/block_ids", {"req_id": state.req_id}
                faults += ledger.extend(state, initial.block_ids, state.num_computed_tokens, at, params)
    return admissions, faults


def _enter(state: RequestProgress, initial: Initial, row: int) -> Admission:
    outputs, num_outputs = initial.output_token_ids, num_given(initial.output_token_ids)
    state.initial_outputs = outputs
    state.total_len = state.prompt_len + num_outputs
    state.num_computed_tokens = state.hit = _num_computed(state, initial)
    last_sampled_token = 0
    if isinstance(outputs, list):
        last_sampled_token = outputs[-1] if outputs else 0
    elif num_outputs:
        last_sampled_token = rule_token_id(state.base, state.total_len - 1)
    return Admission(
        req_id=state.req_id,
        request_idx=state.request_idx,
        prompt_len=state.prompt_len,
        prefill_len=state.prefill_len,
        num_computed_tokens=state.num_computed_tokens,
        block_ids=(),
        req_state_idx=row,
        num_output_tokens=num_outputs,
        last_sampled_token=last_sampled_token,
    )


def _num_computed(state: RequestProgress, initial: Initial) -> int:
    """As given; else none without outputs, and with outputs all tokens but the last."""
    if initial.num_computed_tokens is not None:
        return initial.num_computed_tokens
    num_outputs = num_given(initial.output_token_ids)
    return state.prompt_len + num_outputs - 1 if num_outputs else 0


def _count_faults(state: RequestProgress, initial: Initial, max_model_len: int, where: str) -> Iterator[Fault]:
    """Whether the computed and output counts fit each other."""
    outputs, prompt_len = initial.output_token_ids, state.prompt_len
    num_outputs, num_computed = num_given(outputs), _num_computed(state, initial)
    params = {
        "req_id": state.req_id,
        "prompt_len": prompt_len,
        "num_outputs": num_outputs,
        "num_computed_tokens": num_computed,
    }
    at, outputs_at = where + "/num_computed_tokens", where + "/output_token_ids"
    if not num_outputs:
        right = prompt_len - 1
        if num_computed > right:
            message = "initial.computed_without_outputs"
            yield Fault(at, "initial", message, params | {"right": right}, replace(at, right))
        return
    right, limit = prompt_len + num_outputs - 1, max_model_len - 1
    if num_computed != right:
        fix = replace(at, min(right, limit))
        yield Fault(at, "initial", "initial.computed_with_outputs", params | {"right": right}, fix)
    if right > limit:
        most = max_model_len - prompt_len  # the last one is never computed
        fix = replace(outputs_at, outputs[:most] if isinstance(outputs, list) else most)
        if initial.num_computed_tokens is not None:
            fix += replace(at, limit)
        params |= {"num_computed_tokens": right, "limit": limit, "max_model_len": max_model_len, "right": most}
        yield Fault(at if initial.num_computed_tokens == right else outputs_at, "length", "length.initial", params, fix)


def _row_faults(
    state: RequestProgress, row: int | None, free_rows: list[int], max_num_reqs: int, num_entering: int, where: str
) -> Iterator[Fault]:
    """Whether the row asked for, or any, is to be had."""
    params = {"req_id": state.req_id, "max_num_reqs": max_num_reqs}
    if row is None:
        if not free_rows:
            yield Fault(where, "rows", "rows.initial", params | {"num_live": num_entering}, remove(where))
    elif row not in free_rows:
        at = where + "/req_state_idx"
        message = "initial.row_range" if row >= max_num_reqs else "initial.row_taken"
        yield Fault(at, "initial", message, params | {"row": row, "last": max_num_reqs - 1}, remove(at))
