"""The plan: what a scenario amounts to, step by step, with every id filled in.

Walks the steps once over plain ints, as a scheduler on the CPU would: who is live, what each has computed, which blocks it
holds. Every step is checked against what the steps before it made true; all faults are collected. No tensor is touched, and
no loop runs over tokens.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.errors import Fault, ScenarioError, pointer, remove, replace
from app.scenario.block_pool import BlockPool
from app.scenario.blocks import BlockLedger, Holder
from app.scenario.model import Scenario, Step
from app.scenario.token_ids import draft_token_ids, sampled_token_ids, token_id_base


@dataclass(frozen=True)
class PlannedRequest:
    """One scheduled request of a step, with what is true of it before the step runs."""

    req_id: str
    num_tokens: int
    num_drafts: int
    num_computed_tokens: int
    prefill_len: int

    @property
    def seq_len(self) -> int:
        return self.num_computed_tokens + self.num_tokens

    @property
    def is_prefilling(self) -> bool:
        return self.num_computed_tokens < self.prefill_len


@dataclass(frozen=True)
class Admission:
    """A request that enters the pool in a step (or before step 0)."""

    req_id: str
    request_idx: int
    prompt_len: int
    prefill_len: int
    num_computed_tokens: int
    block_ids: "Sequence[array[int]]"  # per group; -1 unknown
    is_resumed: bool = False
    req_state_idx: int | None = None
    num_output_tokens: int = 0
    last_sampled_token: int = 0


@dataclass(frozen=True)
class PlannedStep:
    """One engine step with every id explicit."""

    removed: Sequence[tuple[str, str]]  # (req_id, "finished" or "preempted"), sorted by req_id
    admissions: Sequence[Admission]  # new ones first, then resumed ones
    new_block_ids: "Mapping[str, Sequence[array[int]]]"  # of every scheduled request that got some, admitted ones too
    scheduled: Sequence[PlannedRequest]  # in the schedule's own order
    draft_token_ids: Mapping[str, Sequence[int]]
    sampled_token_ids: Mapping[str, Sequence[int]]
    num_live: int
    num_used_blocks: int
    num_free_blocks: int  # left in the block pool

    @property
    def admitted_req_ids(self) -> frozenset[str]:
        return frozenset(admission.req_id for admission in self.admissions)


@dataclass(frozen=True)
class Stopped:
    """The block pool could not serve a step: it and what follows are not computed."""

    step: int
    needed: int  # blocks the step takes from the pool
    free: int  # blocks the pool has then


@dataclass(frozen=True)
class RequestFacts:
    """What the whole run says of one request's tokens."""

    base: int  # of the rule for ids that nobody gave
    prompt_len: int
    prompt_token_ids: Sequence[int] | None
    num_rule_outputs: int  # initial outputs given as a count
    initial_output_ids: Sequence[int]  # initial outputs given as ids
    num_sampled_tokens: int  # sampled in the steps of the run


@dataclass(frozen=True)
class Plan:
    """A scenario, checked and made explicit."""

    scenario: Scenario
    requests: Sequence[RequestFacts]
    initial: Sequence[Admission]
    steps: Sequence[PlannedStep]
    num_columns: Sequence[int]  # per group: columns of the block table that the run uses
    stopped: Stopped | None = None


@dataclass
class _Request(Holder):
    """Walking state of one request."""

    request_idx: int = 0
    base: int = 0
    prompt_len: int = 0
    prefill_len: int = 0
    total_len: int = 0
    num_sampled: int = 0
    was_admitted: bool = False
    is_live: bool = False
    is_finished: bool = False
    is_faulty: bool = False  # a fault was found: what follows from it is not reported
    initial_outputs: Sequence[int] | int = field(default=0)


def plan_scenario(scenario: Scenario) -> Plan:
    """Check every step of a scenario and make it explicit.

    Raises:
        ScenarioError: with every fault found (422).
    """
    planner = _Planner(scenario)
    plan = planner.run()
    if planner.faults:
        raise ScenarioError(planner.faults)
    return plan


class _Planner:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.config = config = scenario.config
        self.faults: list[Fault] = []
        self.requests = {
            request.req_id: _Request(
                req_id=request.req_id,
                request_idx=index,
                base=token_id_base(index, config.max_model_len),
                prompt_len=request.num_prompt_tokens,
                prefill_len=request.num_prompt_tokens,
                total_len=request.num_prompt_tokens,
            )
            for index, request in enumerate(scenario.requests)
        }
        self.num_live = 0
        named_ids = _named_block_ids(scenario)
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
        return Plan(self.scenario, facts, initial, steps, self.ledger.num_columns, self.stopped)

    # Requests that are there before step 0

    def _plan_initial(self) -> list[Admission]:
        free_rows = list(range(self.config.max_num_reqs))
        admissions: list[Admission] = []
        entering = [request for request in self.scenario.requests if request.initial is not None]
        for request in entering:
            state, initial = self.requests[request.req_id], request.initial
            assert initial is not None
            where = pointer("requests", state.request_idx, "initial")
            outputs = initial.output_token_ids
            num_outputs = outputs if isinstance(outputs, int) else len(outputs)
            num_computed = initial.num_computed_tokens
            if num_computed is None:
                num_computed = state.prompt_len + num_outputs - 1 if num_outputs else 0
            faults = list(self._initial_faults(state, where, num_computed, num_outputs))
            row = initial.req_state_idx
            if row is not None and row not in free_rows:
                params = {"req_id": state.req_id, "row": row, "max_num_reqs": self.config.max_num_reqs}
                message = "initial.row_range" if row >= self.config.max_num_reqs else "initial.row_taken"
                fix = remove(where + "/req_state_idx")
                faults.append(Fault(where + "/req_state_idx", "initial", message, params, fix))
            elif not free_rows:
                params = {"req_id": state.req_id, "max_num_reqs": self.config.max_num_reqs, "num_live": len(entering)}
                faults.append(Fault(where, "rows", "rows.initial", params))
            elif row is None:
                row = free_rows.pop()
            else:
                free_rows.remove(row)
            state.was_admitted = state.is_live = True
            self.num_live += 1
            if faults:
                self._blame(state, faults)
                continue
            state.initial_outputs = outputs
            state.total_len = state.prompt_len + num_outputs
            state.num_computed_tokens = state.hit = num_computed
            at = pointer("requests", state.request_idx, "initial", "block_ids")
            params = {"req_id": state.req_id}
            found = self.ledger.begin(state, initial.block_ids, num_computed, at, params, is_initial=True)
            self._blame(state, found)
            if num_outputs:
                last = (state.base + state.total_len - 1) % (2**31 - 1) if isinstance(outputs, int) else outputs[-1]
            admissions.append(
                Admission(
                    req_id=state.req_id,
                    request_idx=state.request_idx,
                    prompt_len=state.prompt_len,
                    prefill_len=state.prefill_len,
                    num_computed_tokens=num_computed,
                    block_ids=(),
                    req_state_idx=row,
                    num_output_tokens=num_outputs,
                    last_sampled_token=last if num_outputs else 0,
                )
            )
        block_ids = self._allocate(0)
        return [
            _with_blocks(admission, block_ids.get(admission.req_id) or self.ledger.no_blocks) for admission in admissions
        ]

    def _initial_faults(self, state: _Request, where: str, num_computed: int, num_outputs: int) -> Iterator[Fault]:
        params = {
            "req_id": state.req_id,
            "prompt_len": state.prompt_len,
            "num_outputs": num_outputs,
            "num_computed_tokens": num_computed,
        }
        at = where + "/num_computed_tokens"
        limit = self.config.max_model_len - 1
        if num_outputs:
            right = state.prompt_len + num_outputs - 1
            if num_computed != right:
                params["right"] = right
                yield Fault(at, "initial", "initial.computed_with_outputs", params, replace(at, right))
            elif num_computed > limit:
                yield Fault(at, "length", "length.initial", params | {"limit": limit})
        elif num_computed >= state.prompt_len:
            params["right"] = state.prompt_len - 1
            yield Fault(at, "initial", "initial.computed_without_outputs", params, replace(at, state.prompt_len - 1))

    # One step

    def _plan_step(self, index: int, step: Step) -> PlannedStep:
        scheduled_names = {req_id for req_id, _ in step.num_scheduled_tokens}
        removed = self._remove(index, step, scheduled_names)
        self._check_names(index, step, scheduled_names)
        self._check_budget(index, step)

        planned: list[PlannedRequest] = []
        fresh: list[_Request] = []
        resumed: list[_Request] = []
        drafts: dict[str, list[int]] = {}
        sampled: dict[str, list[int]] = {}
        for req_id, count in step.num_scheduled_tokens:
            state = self.requests.get(req_id)
            at = pointer("steps", index, "num_scheduled_tokens", req_id)
            if state is None:
                self.faults.append(self._unknown(index, at, req_id))
                continue
            if state.is_finished and not state.is_faulty:
                params = {"step": index, "req_id": req_id}
                self._blame(state, [Fault(at, "not_live", "not_live.finished", params)])
            is_new = not state.is_live
            if is_new:
                self._admit(index, state, step, at)
                (resumed if state.was_admitted else fresh).append(state)
                state.was_admitted = state.is_live = True
            if state.is_faulty:
                continue
            request = PlannedRequest(
                req_id,
                count,
                _length(step.draft_token_ids.get(req_id, 0)),
                state.num_computed_tokens,
                state.prefill_len,
            )
            self._blame(state, [*self._hit_faults(index, step, state, is_new), *self._count_faults(index, request, at)])
            self._blame(state, self._sampled_faults(index, step, request))
            if state.is_faulty:
                continue
            where = pointer("steps", index, "new_block_ids", req_id)
            given = step.new_block_ids.get(req_id)
            named = {"step": index, "req_id": req_id}
            claim = self.ledger.begin if is_new else self.ledger.extend
            self._blame(state, claim(state, given, request.seq_len, where, named))
            if state.is_faulty:
                continue
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
            num_free_blocks=self.ledger.pool.num_free,
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
                    self.faults.append(self._unknown(index, at, req_id, remove(at)))
                elif req_id in reasons:
                    self.faults.append(Fault(at, "not_live", "not_live.twice", params, remove(at)))
                elif req_id in scheduled_names:
                    fault = Fault(at, "not_live", f"not_live.{reason}_and_scheduled", params, remove(at))
                    self._blame(state, [fault])
                elif not state.is_live and state.is_faulty:
                    continue
                elif not state.is_live:
                    self._blame(state, [Fault(at, "not_live", f"not_live.{reason}_not_in_pool", params, remove(at))])
                else:
                    reasons[req_id] = reason
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
                    self.faults.append(self._unknown(index, where, req_id, remove(where)))
                elif req_id not in scheduled_names:
                    params = {"step": index, "req_id": req_id, "field": name}
                    self.faults.append(Fault(where, "unscheduled", "unscheduled", params, remove(where)))

    def _check_budget(self, index: int, step: Step) -> None:
        total = sum(count for _, count in step.num_scheduled_tokens)
        limit = self.config.max_num_batched_tokens
        if total > limit:
            where = pointer("steps", index, "num_scheduled_tokens")
            params = {"step": index, "num_tokens": total, "limit": limit, "over": total - limit}
            self.faults.append(Fault(where, "budget", "budget", params))

    def _admit(self, index: int, state: _Request, step: Step, where: str) -> None:
        """Bring a request into the pool: its prompt, and what it has sampled so far if it was there before."""
        self.num_live += 1
        if self.num_live > self.config.max_num_reqs:
            params = {
                "step": index,
                "req_id": state.req_id,
                "num_live": self.num_live,
                "max_num_reqs": self.config.max_num_reqs,
            }
            self._blame(state, [Fault(where, "rows", "rows", params)])
        state.prefill_len = state.total_len
        state.num_computed_tokens = state.hit = step.num_computed_tokens.get(state.req_id, 0)

    def _hit_faults(self, index: int, step: Step, state: _Request, is_new: bool) -> Iterator[Fault]:
        hit = step.num_computed_tokens.get(state.req_id)
        if hit is None:
            return
        where = pointer("steps", index, "num_computed_tokens", state.req_id)
        params = {"step": index, "req_id": state.req_id, "hit": hit}
        if not is_new:
            yield Fault(where, "hit", "hit.already_in_pool", params, remove(where))
        elif hit > state.prefill_len - 1:
            params |= {"prefill_len": state.prefill_len, "limit": state.prefill_len - 1}
            yield Fault(where, "hit", "hit.too_long", params, replace(where, state.prefill_len - 1))

    def _count_faults(self, index: int, request: PlannedRequest, where: str) -> Iterator[Fault]:
        """Whether the scheduled count and the drafts fit what the request has computed."""
        drafts, computed, prefill_len = request.num_drafts, request.num_computed_tokens, request.prefill_len
        chunk = request.num_tokens - drafts
        params = {
            "step": index,
            "req_id": request.req_id,
            "num_scheduled_tokens": request.num_tokens,
            "num_drafts": drafts,
            "num_computed_tokens": computed,
            "prefill_len": prefill_len,
            "remaining": prefill_len - computed,
            "chunk": chunk,
        }
        drafts_at = pointer("steps", index, "draft_token_ids", request.req_id)
        max_drafts = self.config.num_speculative_tokens
        if drafts > max_drafts:
            fix = replace(drafts_at, max_drafts) if max_drafts else remove(drafts_at)
            yield Fault(drafts_at, "drafts", "drafts.too_many", params | {"limit": max_drafts}, fix)
        if computed > prefill_len - 1:
            if chunk != 1:
                message = "decode.with_drafts" if drafts else "decode"
                right = 1 + drafts
                yield Fault(where, "decode", message, params | {"right": right}, replace(where, right))
        elif computed + chunk > prefill_len:
            right = prefill_len - computed + drafts
            yield Fault(where, "chunk", "chunk", params | {"right": right}, replace(where, right))
        elif drafts and computed + chunk < prefill_len:
            yield Fault(drafts_at, "drafts", "drafts.unfinished_prefill", params, remove(drafts_at))
        limit = self.config.max_model_len - 1
        if request.seq_len > limit:
            right = limit - computed
            fix = replace(where, right) if right > drafts else None
            params |= {"seq_len": request.seq_len, "max_model_len": self.config.max_model_len, "limit": limit}
            yield Fault(where, "length", "length", params, fix)

    def _sampled_faults(self, index: int, step: Step, request: PlannedRequest) -> Iterator[Fault]:
        given = step.sampled_token_ids.get(request.req_id)
        if given is None:
            return
        where = pointer("steps", index, "sampled_token_ids", request.req_id)
        count = _length(given)
        params = {
            "step": index,
            "req_id": request.req_id,
            "num_sampled": count,
            "num_drafts": request.num_drafts,
            "limit": 1 + request.num_drafts,
            "seq_len": request.seq_len,
            "prefill_len": request.prefill_len,
        }
        if request.seq_len < request.prefill_len:
            # An explicit nothing says what is so anyway.
            if count:
                yield Fault(where, "sampled", "sampled.unfinished_chunk", params, remove(where))
        elif count == 0:
            yield Fault(where, "sampled", "sampled.none", params, remove(where))
        elif count > 1 + request.num_drafts:
            fix = replace(where, given[: 1 + request.num_drafts] if isinstance(given, list) else 1 + request.num_drafts)
            yield Fault(where, "sampled", "sampled.too_many", params, fix)

    def _fill_token_ids(
        self,
        state: _Request,
        step: Step,
        request: PlannedRequest,
        drafts: dict[str, list[int]],
        sampled: dict[str, list[int]],
    ) -> None:
        # The first sampled token takes the place behind the last token that is not a draft.
        position = request.seq_len - request.num_drafts
        if request.seq_len >= request.prefill_len:
            given = step.sampled_token_ids.get(request.req_id, 1 + request.num_drafts)
            sampled[request.req_id] = sampled_token_ids(state.base, position, given)
        if request.num_drafts:
            drafts[request.req_id] = draft_token_ids(
                state.base, position, step.draft_token_ids[request.req_id], sampled.get(request.req_id, ())
            )

    def _allocate(self, index: int) -> "dict[str, list[array[int]]]":
        """Serve what was asked of the block pool, all or nothing."""
        needed, free = self.ledger.num_asked, self.ledger.pool.num_free
        if needed > free and self.stopped is None:
            self.stopped = Stopped(index, needed, free)
            self.ledger.is_tracking = False
        return self.ledger.settle()

    def _post_update(self, state: _Request, request: PlannedRequest, sampled: Sequence[int]) -> None:
        num_rejected = 1 + request.num_drafts - len(sampled) if request.seq_len >= request.prefill_len else 0
        state.num_computed_tokens = request.seq_len - num_rejected
        state.total_len += len(sampled)
        state.num_sampled += len(sampled)

    def _unknown(
        self, index: int, where: str, req_id: str, fix: Sequence[Mapping[str, object]] | None = None
    ) -> Fault:
        return Fault(where, "unknown_req_id", "unknown_req_id", {"step": index, "req_id": req_id}, fix)

    def _blame(self, state: _Request, faults: Sequence[Fault] | Iterator[Fault]) -> None:
        found = list(faults)
        if found:
            self.faults.extend(found)
            state.is_faulty = True


def _with_blocks(admission: Admission, block_ids: "Sequence[array[int]]") -> Admission:
    return Admission(**{**admission.__dict__, "block_ids": block_ids})


def _length(ids_or_count: Sequence[int] | int) -> int:
    return ids_or_count if isinstance(ids_or_count, int) else len(ids_or_count)


def _named_block_ids(scenario: Scenario) -> frozenset[int]:
    """Every block id that the scenario names itself."""
    named: Counter[int] = Counter()
    tables = [request.initial.block_ids for request in scenario.requests if request.initial and request.initial.block_ids]
    tables += [block_ids for step in scenario.steps for block_ids in step.new_block_ids.values()]
    for block_ids in tables:
        for group_ids in block_ids:
            named.update(block_id for block_id in group_ids if block_id is not None)
    return frozenset(named)
