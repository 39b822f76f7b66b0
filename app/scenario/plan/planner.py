"""From a scenario to its plan.

Walks the steps once over plain ints, as a scheduler on the CPU would: who is live, what each has computed, which blocks it
holds. Every step is checked against what the steps before it made true; all faults are collected. No tensor is touched, and
no loop runs over tokens.
"""

import dataclasses
from array import array
from collections.abc import Sequence
from typing import Any

from app.errors import Fault, ScenarioError, pointer, remove, replace
from app.scenario.format.limits import MAX_GIVEN_BLOCKS
from app.scenario.format.model import MAX_REQ_ID_LENGTH, Scenario, Step, num_given
from app.scenario.plan.block_pool import BlockPool
from app.scenario.plan.blocks import BlockLedger
from app.scenario.plan.initial import enter_initial
from app.scenario.plan.plan import Admission, Plan, PlannedRequest, PlannedStep, RequestFacts, Stopped
from app.scenario.plan.progress import RequestProgress, progress_of_requests
from app.scenario.plan.step_checks import count_faults, has_right_counts, hit_faults, sampled_faults
from app.scenario.plan.token_ids import draft_token_ids, sampled_token_ids


def plan_scenario(scenario: Scenario, known_faults: Sequence[Fault] = ()) -> Plan:
    """Check every step of a scenario and make it explicit.

    Args:
        scenario: what was sent.
        known_faults: what is wrong with it already. Requests that they name are not judged again.

    Raises:
        ScenarioError: with every fault found, the known ones first (422).
    """
    return _Planner(scenario, known_faults).run()


class _Planner:
    def __init__(self, scenario: Scenario, known_faults: Sequence[Fault]) -> None:
        self.scenario = scenario
        self.config = config = scenario.config
        self.faults = list(known_faults)
        self.requests = progress_of_requests(scenario, known_faults)
        self.num_live = 0
        self.num_given_blocks = 0
        self.named_block_ids = named_ids = _named_block_ids(scenario)
        pool = BlockPool(config.num_blocks, config.block_pool.order, config.block_pool.seed, named_ids)
        self.ledger = BlockLedger(config, pool, named_ids, scenario.strict)
        self.stopped: Stopped | None = None

    def run(self) -> Plan:
        initial = self._plan_initial()
        steps: list[PlannedStep] = []
        for index, step in enumerate(self.scenario.steps):
            planned = self._plan_step(index, step)
            if self.stopped is None:
                steps.append(planned)
        if self.faults:
            raise ScenarioError(self.faults)
        facts = [
            RequestFacts(
                base=state.base,
                prompt_len=state.prompt_len,
                prompt_token_ids=request.prompt_token_ids,
                num_rule_outputs=state.initial_outputs if isinstance(state.initial_outputs, int) else 0,
                initial_output_ids=() if isinstance(state.initial_outputs, int) else state.initial_outputs,
                num_sampled_tokens=state.num_sampled,
            )
            for request, state in zip(self.scenario.requests, self.requests.values(), strict=True)
        ]
        return Plan(self.scenario, facts, initial, steps, self.ledger.num_columns, self.named_block_ids, self.stopped)

    def _plan_initial(self) -> list[Admission]:
        admissions, faults = enter_initial(self.scenario, self.requests.values(), self.ledger)
        self.faults += faults
        self.num_live = sum(state.is_live for state in self.requests.values())
        block_ids = self._allocate(0)
        return [
            dataclasses.replace(admission, block_ids=block_ids.get(admission.req_id) or self.ledger.no_blocks)
            for admission in admissions
        ]

    def _plan_step(self, index: int, step: Step) -> PlannedStep:
        scheduled_names = {req_id for req_id, _ in step.num_scheduled_tokens}
        removed = self._remove(index, step, scheduled_names)
        self._check_names(index, step, scheduled_names)
        spare = self._check_budget(index, step)

        planned: list[PlannedRequest] = []
        fresh: list[RequestProgress] = []
        resumed: list[RequestProgress] = []
        drafts: dict[str, list[int]] = {}
        sampled: dict[str, list[int]] = {}
        for req_id, count in step.num_scheduled_tokens:
            state = self.requests.get(req_id)
            if state is None:
                where = pointer("steps", index, "num_scheduled_tokens", req_id)
                self.faults.append(self._unknown(index, where, req_id))
                continue
            is_new = not state.is_live
            if is_new:
                if not self._admit(index, state, step):
                    continue
                (resumed if state.was_admitted else fresh).append(state)
                state.was_admitted = True
            if state.is_faulty:
                continue
            request = _planned_request(step, state, count)
            if self._check_request(index, step, state, request, is_new, spare):
                planned.append(request)
                self._fill_token_ids(state, step, request, drafts, sampled)

        block_ids = self._allocate(index)
        admissions = [
            Admission(
                req_id=state.req_id,
                request_idx=state.request_idx,
                prompt_len=state.prompt_len,
                prefill_len=state.prefill_len,
                num_computed_tokens=state.num_computed_tokens,
                block_ids=block_ids.get(state.req_id) or self.ledger.no_blocks,
                is_resumed=is_resumed,
            )
            for group, is_resumed in ((fresh, False), (resumed, True))
            for state in group
        ]
        for request in planned:
            self._post_update(self.requests[request.req_id], request, sampled.get(request.req_id, ()))
        return PlannedStep(
            removed=removed,
            admissions=admissions,
            new_block_ids=block_ids,
            scheduled=planned,
            draft_token_ids=drafts,
            sampled_token_ids=sampled,
            num_live=self.num_live,
            num_used_blocks=self.ledger.num_used_blocks,
            num_free_blocks=self.ledger.num_free_blocks,
            num_table_entries=self.ledger.num_entries,
        )

    def _remove(self, index: int, step: Step, scheduled_names: set[str]) -> list[tuple[str, str]]:
        reasons: dict[str, str] = {}
        lists = (
            ("finished_req_ids", "finished", step.finished_req_ids),
            ("preempted_req_ids", "preempted", step.preempted_req_ids),
        )
        for name, reason, req_ids in lists:
            for place, req_id in enumerate(req_ids):
                at = pointer("steps", index, name, place)
                state = self.requests.get(req_id)
                params = {"step": index, "req_id": req_id, "reason": reason}
                if state is None:
                    self.faults.append(self._unknown(index, at, req_id))
                elif req_id in scheduled_names:
                    message = f"not_live.{reason}_and_scheduled"
                    self.faults.append(Fault(at, "not_live", message, params, remove(at)))
                    state.is_refused = state.is_refused or state.is_finished  # not to be said again of the schedule
                elif req_id in reasons:
                    self.faults.append(Fault(at, "not_live", "not_live.twice", params, remove(at)))
                elif state.is_live:
                    reasons[req_id] = reason
                elif not state.is_refused:
                    message = f"not_live.{reason}_not_in_pool"
                    self.faults.append(Fault(at, "not_live", message, params, remove(at)))
        removed = sorted(reasons.items())
        for req_id, reason in removed:
            state = self.requests[req_id]
            state.is_live = False
            state.is_finished = reason == "finished"
            self.num_live -= 1
            self.ledger.release(state)
        return removed

    def _check_names(self, index: int, step: Step, scheduled_names: set[str]) -> None:
        for name in ("num_computed_tokens", "new_block_ids", "draft_token_ids", "sampled_token_ids"):
            for req_id in getattr(step, name):
                where = pointer("steps", index, name, req_id)
                if req_id not in self.requests:
                    self.faults.append(self._unknown(index, where, req_id))
                elif req_id not in scheduled_names:
                    params = {"step": index, "req_id": req_id, "field": name}
                    self.faults.append(Fault(where, "unscheduled", "unscheduled", params, remove(where)))

    def _check_budget(self, index: int, step: Step) -> int:
        """How many tokens the budget of a step leaves over: less than none is a fault."""
        first_counts = dict(reversed(step.num_scheduled_tokens))  # of a name given twice
        total = sum(count for req_id, count in first_counts.items() if req_id in self.requests)
        limit = self.config.max_num_batched_tokens
        if total > limit:
            where = pointer("steps", index, "num_scheduled_tokens")
            params = {"step": index, "num_tokens": total, "limit": limit, "over": total - limit}
            self.faults.append(Fault(where, "budget", "budget", params, self._within_budget(index, step, total - limit)))
        return limit - total

    def _within_budget(self, index: int, step: Step, over: int) -> list[dict[str, Any]] | None:
        """A patch that takes the tokens too many from the last chunk of a prefill that has as many.

        None where a count is wrong for itself: what repairs that count keeps to the budget too.
        """
        patch: list[dict[str, Any]] | None = None
        for req_id, count in reversed(step.num_scheduled_tokens):
            state = self.requests.get(req_id)
            if state is None or state.is_faulty:
                continue
            request = _planned_request(step, state, count)
            if not has_right_counts(request, self.config):
                return None
            if patch is None and count > over and request.is_prefilling and not request.num_draft_tokens:
                patch = replace(pointer("steps", index, "num_scheduled_tokens", req_id), count - over)
        return patch

    def _admit(self, index: int, state: RequestProgress, step: Step) -> bool:
        """Bring a request into the pool: its prompt, and what it has sampled so far if it was there before."""
        if state.is_refused:
            return False
        params: dict[str, Any] = {"step": index, "req_id": state.req_id}
        message = "not_live.finished" if state.is_finished else ""
        if not state.is_finished and self.num_live >= self.config.max_num_reqs:
            message = "rows"
            params |= {"num_live": self.num_live + 1, "max_num_reqs": self.config.max_num_reqs}
        if message:
            where = pointer("steps", index, "num_scheduled_tokens", state.req_id)
            self.faults.append(Fault(where, message.partition(".")[0], message, params, remove(where)))
            state.is_refused = True
            return False
        state.is_live = True
        self.num_live += 1
        self.ledger.begin(state)
        state.prefill_len, state.num_computed_tokens = _when_admitted(state, step)
        state.hit = state.num_computed_tokens
        return True

    def _check_request(
        self, index: int, step: Step, state: RequestProgress, request: PlannedRequest, is_new: bool, spare: int
    ) -> bool:
        """Judge one scheduled request and let its tables grow. False where its counts cannot be: it does not run then."""
        req_id = state.req_id
        faults = list(hit_faults(index, step, req_id, state.prefill_len, is_new, self.config))
        if faults and is_new:  # what it would have computed is not known
            state.is_faulty = True
            state.num_computed_tokens = state.hit = state.prefill_len - 1
        else:
            room = request.num_tokens + spare
            counts = [*count_faults(index, step, request, self.config, room), *sampled_faults(index, step, request)]
            state.is_faulty = bool(counts)
            faults += counts
        # Of a request whose counts are wrong only the ids themselves can be judged, not how many it needs.
        num_tokens = 0 if state.is_faulty else request.seq_len
        given = step.new_block_ids.get(req_id)
        if given is None:
            self.ledger.ask(state, num_tokens)
        else:
            where = pointer("steps", index, "new_block_ids", req_id)
            faults += self.ledger.extend(state, given, num_tokens, where, {"step": index, "req_id": req_id})
        self.faults += faults
        return not state.is_faulty

    def _fill_token_ids(
        self,
        state: RequestProgress,
        step: Step,
        request: PlannedRequest,
        drafts: dict[str, list[int]],
        sampled: dict[str, list[int]],
    ) -> None:
        # The first sampled token takes the place behind the last token that is not a draft.
        position = request.seq_len - request.num_draft_tokens
        if not request.is_unfinished:
            given = step.sampled_token_ids.get(request.req_id, 1 + request.num_draft_tokens)
            sampled[request.req_id] = sampled_token_ids(state.base, position, given)
        if request.num_draft_tokens:
            drafts[request.req_id] = draft_token_ids(
                state.base, position, step.draft_token_ids[request.req_id], sampled.get(request.req_id, ())
            )

    def _allocate(self, index: int) -> "dict[str, list[array[int]]]":
        """Serve what was asked of the block pool, all or nothing."""
        needed, free = self.ledger.num_asked, self.ledger.pool.num_free
        self.num_given_blocks += needed
        if self.num_given_blocks > MAX_GIVEN_BLOCKS:
            where = pointer("steps", index)
            params = {"step": index, "count": self.num_given_blocks, "limit": MAX_GIVEN_BLOCKS}
            raise ScenarioError([*self.faults, Fault(where, "schema", "schema.given_blocks", params)])
        if needed > free and self.stopped is None:
            self.stopped = Stopped(index, needed, free)
            self.ledger.is_exhausted = True
        return self.ledger.settle()

    def _post_update(self, state: RequestProgress, request: PlannedRequest, sampled: Sequence[int]) -> None:
        state.num_computed_tokens = request.num_computed_tokens_after(len(sampled))
        state.total_len += len(sampled)
        state.num_sampled += len(sampled)

    def _unknown(self, index: int, where: str, req_id: str) -> Fault:
        shown = req_id if len(req_id) <= MAX_REQ_ID_LENGTH else req_id[: MAX_REQ_ID_LENGTH - 1] + "…"
        return Fault(where, "unknown_req_id", "unknown_req_id", {"step": index, "req_id": shown}, remove(where))


def _planned_request(step: Step, state: RequestProgress, num_tokens: int) -> PlannedRequest:
    """What a step asks of a request, also of one that is not in the pool yet."""
    num_drafts = num_given(step.draft_token_ids.get(state.req_id, 0))
    progress = (state.prefill_len, state.num_computed_tokens) if state.is_live else _when_admitted(state, step)
    prefill_len, num_computed_tokens = progress
    return PlannedRequest(state.req_id, num_tokens, num_drafts, num_computed_tokens, prefill_len)


def _when_admitted(state: RequestProgress, step: Step) -> tuple[int, int]:
    """`prefill_len` and `num_computed_tokens` of a request that a step admits: all its tokens so far, and its hit."""
    return state.total_len, step.num_computed_tokens.get(state.req_id, 0)


def _named_block_ids(scenario: Scenario) -> frozenset[int]:
    """Every block id that the scenario names itself."""
    tables = [request.initial.block_ids for request in scenario.requests if request.initial and request.initial.block_ids]
    tables += [block_ids for step in scenario.steps for block_ids in step.new_block_ids.values()]
    named: set[int | None] = set()
    for block_ids in tables:
        named.update(*block_ids)
    return frozenset(block_id for block_id in named if block_id is not None)
