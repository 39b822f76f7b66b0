"""Hypothesis strategies for scenarios: valid ones of every kind, and invalid ones with one known fault.

    valid_scenarios()               a scenario that must be accepted; its block pool may run out
    valid_scenarios(strict=False)   one whose block ids may be short, out of range, null or owned
    invalid_scenarios()             (scenario, code): a valid scenario with one fault of that code put in
    invalid_scenarios("hit")        the same for one code

Valid scenarios are built by walking through the schedule with counts, so nothing is drawn and thrown away. A drawn number
seeds a `random.Random` for what does not matter much (token ids, the order of ids).
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests import reference

Scenario = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

REQ_IDS = (
    "A",
    "B",
    "C",
    "10",
    "9",
    "007",
    "-1",
    "请求-1",
    "émile",
    "a/b~c~1",
    "__proto__",
    "null",
    " ",
    "😀",
    "\uffee",  # after 😀 in UTF-16 order, before it in code point order
    "1e3",
    "chatcmpl-" + "x" * 119,
    "<b>&amp;",
)
MODES = ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
PARALLEL_SIZES = (1, 1, 1, 1, 2, 3, 4)
BLOCK_SIZES = (1, 2, 3, 4, 8, 16)


@cache
def _between(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@cache
def _one_of(options: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(options)


# ---- valid scenarios


@dataclass
class _Request:
    """A request as the builder walks with it."""

    req_id: str
    total_len: int  # prompt and outputs so far
    prefill_len: int = 0
    num_computed_tokens: int = 0
    table: list[list[int | None]] = field(default_factory=list)  # [group]; POOL where the pool gives the block


_POOL = -2


class _Builder:
    """Draws one scenario, request by request and step by step."""

    def __init__(self, draw: Draw, strict: bool) -> None:
        self.draw = draw
        self.strict = strict
        self.random = random.Random(draw(_between(0, 2**16)))

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(_between(low, high))) if low < high else low

    def chance(self, percent: int) -> bool:
        """True in about `percent` of 100 draws; shrinks to False."""
        return int(self.draw(_between(0, 99))) >= 100 - percent

    def choose(self, *options: Any) -> Any:
        return self.draw(_one_of(options))

    def token_ids(self, count: int) -> list[int]:
        return [self.random.choice((0, reference.MAX_INT32, self.random.randrange(60_000))) for _ in range(count)]

    def build(self) -> Scenario:
        config = self.config()
        full = reference.normalise({"version": 1, "config": config})["config"]
        self.groups = full["kv_cache_groups"]
        self.cp_size = full["context_parallel"]["size"]
        self.max_num_reqs = full["max_num_reqs"]
        self.max_num_batched_tokens = full["max_num_batched_tokens"]
        self.max_model_len = full["max_model_len"]
        self.num_blocks = full["num_blocks"]
        self.num_speculative_tokens = full["num_speculative_tokens"]
        self.uses_pool = self.integer(0, 3)  # 0: all blocks from the pool, 3: all explicit, else mixed
        self.after: list[tuple[_Request, int, int]] = []  # what the step's post-update will add
        self.live: dict[str, _Request] = {}
        self.away: dict[str, _Request] = {}  # preempted

        # ids that the scenario may name
        ids = list(range(1, min(self.num_blocks, 400)))
        if self.chance(70):
            self.random.shuffle(ids)
        self.nameable = ids[: max(1, len(ids) * 2 // 3)]

        requests = self.requests()
        self.waiting = [request for request in requests if "initial" not in request]
        scenario: Scenario = {"version": 1, "requests": requests}
        scenario["steps"] = [self.step() for _ in range(self.choose(2, 3, 4, 6, 9, 1, 0))]
        if config or self.chance(50):
            scenario["config"] = config
        if self.chance(10):
            scenario["title"] = "<i>A title</i> 标题"
            scenario["description"] = "two\nlines"
            scenario["start_step"] = max(0, len(scenario["steps"]) - 1)
        if not self.strict:
            scenario["strict"] = False
        elif self.chance(10):
            scenario["strict"] = True
        return scenario

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {}
        if self.chance(15):  # mostly defaults
            if self.chance(50):
                config["num_speculative_tokens"] = self.integer(0, 3)
            return config
        config["max_num_reqs"] = self.integer(1, 5)
        config["max_model_len"] = self.choose(40, 64, 24, 100, 2, 5)
        config["max_num_batched_tokens"] = self.integer(4, 48)
        config["num_blocks"] = self.integer(2, 24) if self.chance(30) else self.integer(200, 400)
        config["num_speculative_tokens"] = self.choose(0, 0, 1, 2, 3)
        size = self.choose(*PARALLEL_SIZES)
        groups = []
        for number in range(self.choose(1, 1, 2, 3)):
            group: dict[str, Any] = {"name": f"g{number}", "block_size": self.choose(4, *BLOCK_SIZES)}
            if size == 1 and self.chance(40):
                group["sliding_window"] = self.integer(1, 20)
            elif self.chance(20):
                group["sliding_window"] = None
            groups.append(group)
        config["kv_cache_groups"] = groups
        if size > 1:
            common = math.gcd(*(group["block_size"] for group in groups))
            divisors = tuple(divisor for divisor in range(1, common + 1) if common % divisor == 0)
            config["context_parallel"] = {
                "size": size,
                "rank": self.integer(0, size - 1),
                "interleave": self.draw(_one_of(divisors)),
            }
        if self.chance(70):
            budget = config["max_num_batched_tokens"]
            sizes = [self.integer(1, budget) for _ in range(self.integer(0, 5))]
            if self.chance(60):
                sizes += [power for power in (1, 2, 4, 8, 16) if power <= budget]
            config["cudagraph"] = {"mode": self.choose(*MODES), "capture_sizes": sizes}
        if self.chance(40):
            config["block_pool"] = {
                "order": self.choose("ascending", "shuffled"),
                "seed": self.choose(0, 1, 7, 2**32 - 1),
            }
        if self.chance(20):
            config["kv_cache"] = {
                "num_layers": self.integer(1, 4),
                "num_kv_heads": self.integer(1, 4),
                "head_size": self.choose(16, 64),
                "dtype": self.choose(*reference.ITEMSIZE),
                "layout": self.choose("NHD", "HND"),
            }
        for key in list(config):
            if self.random.random() < 0.1:
                trial = {other: value for other, value in config.items() if other != key}
                if _fits(trial):
                    config = trial
        return config

    def requests(self) -> list[dict[str, Any]]:
        names = list(REQ_IDS)
        if self.chance(60):
            self.random.shuffle(names)
        requests: list[dict[str, Any]] = []
        free_rows = list(range(self.max_num_reqs))
        for req_id in names[: self.integer(1, 6)]:
            limit = self.max_model_len - 1
            prompt_len = self.integer(1, min(limit, 40 if self.chance(30) else 12))
            request: dict[str, Any] = {"req_id": req_id, "prompt_len": prompt_len}
            if self.chance(40):
                del request["prompt_len"]
                request["prompt_token_ids"] = self.token_ids(prompt_len)
            if free_rows and self.chance(15):
                request["initial"] = self.initial(req_id, prompt_len, free_rows)
            requests.append(request)
        return requests

    def initial(self, req_id: str, prompt_len: int, free_rows: list[int]) -> dict[str, Any]:
        state: dict[str, Any] = {}
        num_outputs = 0
        if self.chance(60):
            num_outputs = self.integer(1, min(6, self.max_model_len - prompt_len))
        if num_outputs:
            num_computed = prompt_len + num_outputs - 1
            state["output_token_ids"] = num_outputs if self.chance(50) else self.token_ids(num_outputs)
        else:
            num_computed = self.integer(0, prompt_len - 1)
        state["num_computed_tokens"] = num_computed
        if self.chance(30):
            state["req_state_idx"] = self.draw(_one_of(tuple(free_rows)))
            free_rows.remove(state["req_state_idx"])
        else:
            free_rows.pop()
        request = _Request(req_id, prompt_len + num_outputs, prompt_len, num_computed, [[] for _ in self.groups])
        self.live[req_id] = request
        block_ids = self.new_blocks(request, num_computed, num_computed)
        if block_ids is not None:
            state["block_ids"] = block_ids
        return state

    def step(self) -> dict[str, Any]:
        step: dict[str, Any] = {}
        finished: list[str] = []
        preempted: list[str] = []
        for req_id in list(self.live):
            fate = self.integer(0, 11)
            if fate == 11:
                finished.append(req_id)
                del self.live[req_id]
            elif fate == 10:
                preempted.append(req_id)
                self.away[req_id] = self.live.pop(req_id)
        if finished or self.random.random() < 0.05:
            step["finished_req_ids"] = finished
        if preempted or self.random.random() < 0.05:
            step["preempted_req_ids"] = preempted

        candidates = [*self.live, *(request["req_id"] for request in self.waiting), *self.away]
        candidates = [req_id for req_id in candidates if req_id not in preempted]
        if self.chance(50):
            self.random.shuffle(candidates)
        budget = self.max_num_batched_tokens
        scheduled: dict[str, int] = {}
        idle = self.chance(6)
        for req_id in candidates:
            if budget == 0 or idle or not self.chance(85):
                continue
            if req_id not in self.live and len(self.live) >= self.max_num_reqs:
                continue
            budget -= self.schedule(req_id, budget, step, scheduled)
        step["num_scheduled_tokens"] = scheduled
        if self.random.random() < 0.5:
            step["num_scheduled_tokens"] = [[req_id, count] for req_id, count in scheduled.items()]
        if not scheduled and self.random.random() < 0.5:
            del step["num_scheduled_tokens"]
        for request, num_new, num_sampled in self.after:
            request.num_computed_tokens += num_new
            request.total_len += num_sampled
        self.after = []
        return step

    def schedule(self, req_id: str, budget: int, step: dict[str, Any], scheduled: dict[str, int]) -> int:
        """Schedules the request in this step if it can be; returns how many tokens it takes."""
        hit = 0
        added = req_id not in self.live
        if added:
            total_len = (
                self.away[req_id].total_len
                if req_id in self.away
                else next(reference.prompt_len_of(one) for one in self.waiting if one["req_id"] == req_id)
            )
            limit = min(total_len - 1, self.max_model_len - 2)
            if limit > 0 and self.chance(35):
                hit = self.integer(1, limit)
            request = _Request(req_id, total_len, total_len, hit, [[] for _ in self.groups])
        else:
            request = self.live[req_id]
        computed = request.num_computed_tokens
        room = min(budget, self.max_model_len - 1 - computed)  # tokens that still fit
        if room < 1:
            return 0

        num_drafts = 0
        missing = request.prefill_len - computed
        if missing > 0:
            num_tokens = min(missing, room)
            if self.chance(50):
                num_tokens = self.integer(1, num_tokens)
            unfinished = num_tokens < missing
            if not unfinished and self.num_speculative_tokens and self.chance(15):
                num_drafts = self.integer(0, min(self.num_speculative_tokens, room - num_tokens))
        else:
            num_tokens = 1
            unfinished = False
            most = min(self.num_speculative_tokens, room - 1)
            if most:
                num_drafts = self.choose(0, most, most, self.integer(0, most))
        num_tokens += num_drafts

        if added:
            self.away.pop(req_id, None)
            self.waiting = [one for one in self.waiting if one["req_id"] != req_id]
            self.live[req_id] = request
            if hit or self.random.random() < 0.05:
                step.setdefault("num_computed_tokens", {})[req_id] = hit
        scheduled[req_id] = num_tokens
        if num_drafts:
            if self.chance(50):
                drafts: Any = num_drafts
            else:
                drafts = self.token_ids(num_drafts)
                if self.random.random() < 0.3:
                    drafts[self.random.randrange(num_drafts)] = -1
            step.setdefault("draft_token_ids", {})[req_id] = drafts
        elif self.random.random() < 0.05:
            step.setdefault("draft_token_ids", {})[req_id] = self.random.choice((0, []))
        num_sampled = 0 if unfinished else 1 + num_drafts
        if not unfinished and self.chance(60):
            num_sampled = self.integer(1, 1 + num_drafts)
            sampled: Any = num_sampled if self.random.random() < 0.5 else self.token_ids(num_sampled)
            step.setdefault("sampled_token_ids", {})[req_id] = sampled
        elif unfinished and self.random.random() < 0.05:
            step.setdefault("sampled_token_ids", {})[req_id] = self.random.choice((0, []))
        block_ids = self.new_blocks(request, computed + num_tokens, hit)
        if block_ids is not None:
            step.setdefault("new_block_ids", {})[req_id] = block_ids
        num_rejected = 0 if unfinished else 1 + num_drafts - num_sampled
        self.after.append((request, num_tokens - num_rejected, num_sampled))
        return num_tokens

    # -- block ids

    def num_below(self, request: _Request, group: int) -> int:
        window = self.groups[group].get("sliding_window")
        if window is None:
            return 0
        return int(max(request.num_computed_tokens - (window - 1), 0) // self.groups[group]["block_size"])

    def held(self) -> set[int | None]:
        """Ids that live requests hold, those below a window not counted."""
        return {
            block_id
            for request in self.live.values()
            for group, column in enumerate(request.table)
            for block_id in column[self.num_below(request, group) :]
        }

    def new_blocks(self, request: _Request, seq_len: int, covered: int) -> list[list[int | None]] | None:
        """Explicit ids for the tokens up to `seq_len`, or None where the pool shall give them."""
        covers = [group["block_size"] * self.cp_size for group in self.groups]
        needs = [reference.ceil_div(seq_len, covers[g]) - len(request.table[g]) for g in range(len(self.groups))]
        explicit = self.uses_pool == 3 or (self.uses_pool > 0 and self.chance(50))
        if not explicit or (max(needs) <= 0 and not self.chance(10)):
            for group, need in enumerate(needs):
                request.table[group].extend([_POOL] * max(need, 0))
            return None

        unknown = self.chance(12)
        lenient = not self.strict and self.chance(40)
        given: list[list[int | None]] = []
        held = self.held()
        free = [block_id for block_id in self.nameable if block_id not in held]
        donors = [donor for donor in self.live.values() if donor is not request] if covered else []
        for group, need in enumerate(needs):
            width = reference.ceil_div(self.max_model_len, covers[group])
            count = max(need, 0)
            if self.random.random() < 0.2:  # surplus
                count = min(count + self.random.randrange(1, 4), width - len(request.table[group]))
            if lenient and count and self.random.random() < 0.4:
                count -= 1
            num_below = self.num_below(request, group)
            num_null = self.random.randint(0, num_below) if self.random.random() < 0.7 else 0
            column: list[int | None] = []
            for _ in range(count):
                block_index = len(request.table[group]) + len(column)
                block_id: int | None = None
                if block_index == len(column) and block_index < num_null:
                    block_id = reference.NULL_BLOCK
                elif lenient and self.random.random() < 0.25:
                    block_id = self.random.choice(
                        (0, self.num_blocks, reference.MAX_INT32, self.random.choice(self.nameable))
                    )
                elif unknown and self.random.random() < 0.5:
                    block_id = None
                else:
                    shareable = [
                        donor.table[group][block_index]
                        for donor in donors
                        if (block_index + 1) * covers[group] <= covered
                        and block_index < len(donor.table[group])
                        and (donor.table[group][block_index] or 0) > 0
                        and all(donor.table[group][block_index] not in column for column in [*given, column])
                        and not self.held_elsewhere(donor.table[group][block_index], group, block_index)
                    ]
                    if shareable and self.random.random() < 0.6:
                        block_id = shareable[0]
                        free = [free_id for free_id in free if free_id != block_id]
                    elif free:
                        block_id = free.pop(0)
                column.append(block_id)
            given.append(column)
        for group, column in enumerate(given):
            request.table[group].extend(column)
        return given

    def held_elsewhere(self, block_id: int | None, group: int, block_index: int) -> bool:
        """Whether a live request holds the id at another place than (group, block_index): it cannot be shared then."""
        return any(
            held_id == block_id and (holder_group, holder_index) != (group, block_index)
            for holder in self.live.values()
            for holder_group, column in enumerate(holder.table)
            for holder_index, held_id in enumerate(column)
        )


def _fits(config: dict[str, Any]) -> bool:
    """Whether a config still obeys its cross-field bounds when a field falls back to its default."""
    full = reference.normalise({"version": 1, "config": config})["config"]
    sizes = full["cudagraph"]["capture_sizes"]
    parallel = full["context_parallel"]
    return (
        all(size <= full["max_num_batched_tokens"] for size in sizes)
        and all(group["block_size"] % parallel["interleave"] == 0 for group in full["kv_cache_groups"])
        and (parallel["size"] == 1 or all(group["sliding_window"] is None for group in full["kv_cache_groups"]))
    )


@st.composite
def _valid(draw: Draw, strict: bool) -> Scenario:
    return _Builder(draw, strict).build()


@cache
def valid_scenarios(*, strict: bool = True) -> st.SearchStrategy[Scenario]:
    """Scenarios that must be accepted. With `strict=False` their blocks may break the rules that only strict ones keep."""
    return _valid(strict)


# ---- invalid scenarios

# Has a place for a fault of every code: decodes with and without drafts, an unfinished chunk, explicit blocks, an initial
# request, a step with a finish and a preemption.
RICH: Scenario = {
    "version": 1,
    "config": {
        "max_num_reqs": 4,
        "max_model_len": 64,
        "num_speculative_tokens": 2,
        "kv_cache_groups": [{"name": "g", "block_size": 4}],
    },
    "requests": [
        {"req_id": "A", "prompt_len": 9},
        {"req_id": "B", "prompt_len": 20},
        {"req_id": "I", "prompt_len": 6, "initial": {"num_computed_tokens": 7, "output_token_ids": 2}},
        {"req_id": "J", "prompt_len": 6, "initial": {"num_computed_tokens": 3}},
        {"req_id": "N", "prompt_len": 5},
    ],
    "steps": [
        {
            "num_scheduled_tokens": {"I": 3, "A": 9, "B": 8},
            "draft_token_ids": {"I": 2},
            "sampled_token_ids": {"I": 3},
            "new_block_ids": {"A": [[11, 12, 13]], "B": [[21, 22]]},
        },
        {"num_scheduled_tokens": {"A": 1, "B": 12, "J": 3}, "new_block_ids": {"B": [[23, 24, 25]]}},
        {
            "num_scheduled_tokens": [["B", 1], ["N", 5], ["A", 3]],
            "finished_req_ids": ["I"],
            "preempted_req_ids": ["J"],
            "draft_token_ids": {"A": 2},
            "sampled_token_ids": {"A": 1},
            "new_block_ids": {"B": [[26]], "N": [[31, 32]]},
        },
        {"num_scheduled_tokens": {"A": 1, "B": 3}, "draft_token_ids": {"B": [7, 8]}},
    ],
}


@dataclass(frozen=True)
class _Fact:
    """One request scheduled in one computed step, with what matters for putting in a fault."""

    step: int
    req_id: str
    num_scheduled: int
    num_drafts: int
    num_computed: int
    prefill_len: int
    added: bool
    needs: tuple[int, ...]  # [group] blocks to add so that the tokens are covered
    starts: tuple[int, ...]  # [group] first column to add
    below: tuple[int, ...]  # [group] columns below the window
    held: tuple[int, ...]  # named ids that other requests hold

    @property
    def is_prefilling(self) -> bool:
        return self.num_computed < self.prefill_len

    @property
    def is_unfinished(self) -> bool:
        return self.num_computed + self.num_scheduled - self.num_drafts < self.prefill_len


def _facts(base: Scenario, trace: dict[str, Any]) -> list[_Fact]:
    full = reference.normalise(base)
    groups = full["config"]["kv_cache_groups"]
    cp_size = full["config"]["context_parallel"]["size"]
    named = reference.named_block_ids(full)
    facts: list[_Fact] = []
    for index, step in enumerate(trace["steps"]):
        spaces = step["spaces"]
        plan = trace["scenario"]["steps"][index]
        added_ids = {event["req_id"] for event in step["events"] if event["kind"] == "add_request"}
        for batch_idx, req_id in enumerate(step["req_ids"]):
            row_idx = spaces["idx_mapping"][batch_idx]
            num_computed = spaces["num_computed_tokens"][row_idx]
            num_scheduled = spaces["num_scheduled_tokens"][batch_idx]
            new = plan["new_block_ids"].get(req_id, [[] for _ in groups])
            needs, starts, below = [], [], []
            for group, config in enumerate(groups):
                start = spaces["num_blocks"][group][row_idx] - len(new[group])
                covers = config["block_size"] * cp_size
                starts.append(start)
                needs.append(reference.ceil_div(num_computed + num_scheduled, covers) - start)
                window = config["sliding_window"]
                below.append(0 if window is None else max(num_computed - (window - 1), 0) // config["block_size"])
            held = sorted(
                block_id
                for other_id, other_row in step["req_id_to_index"].items()
                if other_id != req_id and other_id not in plan_names(plan)
                for group, config in enumerate(groups)
                if config["sliding_window"] is None
                for block_id in spaces["block_tables"][group][other_row][: spaces["num_blocks"][group][other_row]]
                if block_id in named and block_id
            )
            facts.append(
                _Fact(
                    index,
                    req_id,
                    num_scheduled,
                    spaces["num_draft_tokens"][batch_idx],
                    num_computed,
                    spaces["prefill_len"][row_idx],
                    req_id in added_ids,
                    tuple(needs),
                    tuple(starts),
                    tuple(below),
                    tuple(held),
                )
            )
    return facts


def plan_names(plan: dict[str, Any]) -> set[str]:
    """The requests that a normalised step schedules."""
    return {req_id for req_id, _ in plan["num_scheduled_tokens"]}


Mutation = Callable[[Scenario], None]


def _set_count(scenario: Scenario, fact: _Fact, count: int) -> None:
    schedule = scenario["steps"][fact.step]["num_scheduled_tokens"]
    if isinstance(schedule, dict):
        schedule[fact.req_id] = count
    else:
        next(pair for pair in schedule if pair[0] == fact.req_id)[1] = count


def _also_schedule(scenario: Scenario, index: int, req_id: str, count: int) -> None:
    schedule = scenario["steps"][index].setdefault("num_scheduled_tokens", {})
    if isinstance(schedule, dict):
        schedule[req_id] = count
    else:
        schedule.append([req_id, count])


def _put(scenario: Scenario, index: int, key: str, req_id: str, value: Any) -> None:
    """Sets `steps[index][key][req_id]`; None removes it."""
    entries = scenario["steps"][index].setdefault(key, {})
    if value is None:
        entries.pop(req_id, None)
    else:
        entries[req_id] = value


def _faulty_counts(code: str, fact: _Fact, num_speculative_tokens: int) -> list[Mutation]:
    """Mutations of one scheduled request's counts."""
    step, req_id, drafts = fact.step, fact.req_id, fact.num_drafts

    def count(value: int) -> Mutation:
        return lambda scenario: _set_count(scenario, fact, value)

    def put(key: str, value: Any) -> Mutation:
        return lambda scenario: _put(scenario, step, key, req_id, value)

    def both(*parts: Mutation) -> Mutation:
        def apply(scenario: Scenario) -> None:
            for part in parts:
                part(scenario)

        return apply

    plain = put("sampled_token_ids", None)
    if code == "chunk" and fact.is_prefilling:
        missing = fact.prefill_len - fact.num_computed
        return [both(plain, count(missing + drafts + more)) for more in (1, 2, 7)]
    if code == "decode" and not fact.is_prefilling:
        fewer = [both(plain, count(fact.num_scheduled - 1))] if drafts else []
        return [both(plain, count(fact.num_scheduled + 1)), *fewer]
    if code == "drafts":
        many = num_speculative_tokens + 1
        if fact.is_unfinished:
            return [
                both(plain, put("draft_token_ids", 1), count(fact.num_scheduled + 1)),
                both(plain, put("draft_token_ids", [5])),
            ]
        chunk = fact.num_scheduled - drafts
        ids = [-1] * many
        return [both(plain, put("draft_token_ids", value), count(chunk + many)) for value in (many, ids)]
    if code == "sampled":
        if fact.is_unfinished:
            return [put("sampled_token_ids", value) for value in (1, [5], 2)]
        return [put("sampled_token_ids", value) for value in (0, [], drafts + 2, [3] * (drafts + 2))]
    if code == "hit":
        if fact.added:
            return [put("num_computed_tokens", fact.prefill_len + more) for more in (0, 1, 5)]
        return [put("num_computed_tokens", 1)]
    return []


def _faulty_blocks(code: str, fact: _Fact, full: Scenario) -> list[Mutation]:
    """Mutations of the blocks given to one scheduled request: unknown ids everywhere, but for one."""
    config = full["config"]
    groups = config["kv_cache_groups"]
    enough = [[None] * max(need, 0) for need in fact.needs]
    mutations: list[Mutation] = []

    def give(group: int, block_ids: list[Any]) -> None:
        table: list[list[Any]] = copy.deepcopy(enough)
        table[group] = block_ids
        mutations.append(lambda scenario: _put(scenario, fact.step, "new_block_ids", fact.req_id, table))

    for group in range(len(groups)):
        need, start = fact.needs[group], fact.starts[group]
        if code == "row_capacity":
            covers = groups[group]["block_size"] * config["context_parallel"]["size"]
            give(group, [None] * (reference.ceil_div(config["max_model_len"], covers) - start + 1))
        if need < 1:
            continue
        known = [None] * (need - 1)  # columns before the one that is wrong
        if code == "blocks_short":
            give(group, known)
        if code == "block_range":
            give(group, [*known, config["num_blocks"]])
            give(group, [reference.MAX_INT32, *known])
        if code == "block_null" and start + need - 1 >= fact.below[group]:
            give(group, [*known, reference.NULL_BLOCK])
        if code == "block_owned" and start + need - 1 >= fact.below[group]:
            if fact.held:
                give(group, [*known, fact.held[0]])
            if need >= 2 and start + need - 2 >= fact.below[group]:
                give(group, [*known[:-1], config["num_blocks"] - 1, config["num_blocks"] - 1])
    return mutations


def _faulty_steps(code: str, full: Scenario, trace: dict[str, Any]) -> list[Mutation]:
    """Mutations of who is named where, of the config and of the requests."""
    mutations: list[Mutation] = []
    everybody = [request["req_id"] for request in full["requests"]]
    finished: list[str] = []

    def leave(index: int, key: str, req_id: str) -> Mutation:
        return lambda scenario: scenario["steps"][index].setdefault(key, []).append(req_id)

    def put(index: int, key: str, req_id: str, value: Any) -> Mutation:
        return lambda scenario: _put(scenario, index, key, req_id, value)

    def also(index: int, req_id: str) -> Mutation:
        return lambda scenario: _also_schedule(scenario, index, req_id, 1)

    for index, step in enumerate(trace["steps"]):
        plan = full["steps"][index]
        scheduled = plan_names(plan)
        leaving = plan["finished_req_ids"] + plan["preempted_req_ids"]
        if code == "not_live":
            mutations += [also(index, req_id) for req_id in finished]
            for key in ("finished_req_ids", "preempted_req_ids"):
                mutations += [leave(index, key, req_id) for req_id in leaving]
                mutations += [leave(index, key, req_id) for req_id in scheduled]
                absent = [req_id for req_id in everybody if req_id not in step["req_id_to_index"]]
                mutations += [leave(index, key, req_id) for req_id in absent]
        if code == "unscheduled":
            for req_id in everybody:
                if req_id not in scheduled:
                    block_ids = [[] for _ in full["config"]["kv_cache_groups"]]
                    mutations.append(put(index, "new_block_ids", req_id, block_ids))
                    mutations.append(put(index, "draft_token_ids", req_id, 1))
                    mutations.append(put(index, "sampled_token_ids", req_id, [4]))
                    mutations.append(put(index, "num_computed_tokens", req_id, 1))
        if code == "unknown_req_id":
            mutations += [leave(index, "finished_req_ids", "ghost"), leave(index, "preempted_req_ids", "ghost")]
            mutations += [also(index, "ghost"), put(index, "sampled_token_ids", "ghost", 1)]
            mutations += [put(index, "num_computed_tokens", "ghost", 1), put(index, "draft_token_ids", "ghost", 1)]
        if code == "unknown_key":
            mutations.append(lambda scenario, index=index: scenario["steps"][index].update(colour="red"))
        if code == "schema":
            mutations.append(lambda scenario, index=index: scenario["steps"][index].update(finished_req_ids="A"))
            for req_id in scheduled:
                for value in ("8", 8.0, True, 0, -1, None, 2**70):
                    mutations.append(
                        lambda scenario, index=index, req_id=req_id, value=value: _also_schedule_raw(
                            scenario, index, req_id, value
                        )
                    )
        if code == "duplicate_key":
            for req_id in scheduled:
                mutations.append(
                    lambda scenario, index=index, pairs=plan["num_scheduled_tokens"], req_id=req_id: scenario["steps"][
                        index
                    ].update(num_scheduled_tokens=[*map(list, pairs), [req_id, 1]])
                )
        finished += plan["finished_req_ids"]

    if code == "duplicate_req_id":
        for req_id in everybody:
            mutations.append(
                lambda scenario, req_id=req_id: scenario["requests"].append({"req_id": req_id, "prompt_len": 1})
            )
    if code == "unknown_key":
        mutations.append(lambda scenario: scenario["requests"][0].update(colour="red"))
        mutations.append(lambda scenario: scenario.setdefault("config", {}).update(max_num_seqs=4))
    if code == "schema":
        mutations.append(lambda scenario: scenario.update(version=2))
        mutations.append(lambda scenario: scenario.update(start_step=len(full["steps"]) + 1))
        mutations.append(lambda scenario: scenario["requests"].append({"req_id": "", "prompt_len": 1}))
        too_long = full["config"]["max_model_len"]
        mutations.append(lambda scenario: scenario["requests"].append({"req_id": "long", "prompt_len": too_long}))
        mutations.append(lambda scenario: scenario["requests"].append({"req_id": "none", "prompt_token_ids": []}))
    if code == "initial":
        mutations += _faulty_initial(full)
    if code in ("budget", "rows", "length"):
        mutations += _tight_config(code, full, trace)
    return mutations


def _also_schedule_raw(scenario: Scenario, index: int, req_id: str, value: Any) -> None:
    schedule = scenario["steps"][index]["num_scheduled_tokens"]
    if isinstance(schedule, dict):
        schedule[req_id] = value
    else:
        schedule[0][1] = value


def _faulty_initial(full: Scenario) -> list[Mutation]:
    """Counts that do not fit each other, rows that do not exist or are taken."""
    mutations: list[Mutation] = []
    rows: list[int] = []
    free_rows = list(range(full["config"]["max_num_reqs"]))
    for number, request in enumerate(full["requests"]):
        if "initial" not in request:
            continue
        prompt_len = reference.prompt_len_of(request)
        num_outputs = reference.count_of(request["initial"].get("output_token_ids", 0))
        changes: list[dict[str, Any]] = [
            {"num_computed_tokens": prompt_len + max(num_outputs - 1, 0) + 1},
            {"output_token_ids": 0, "num_computed_tokens": prompt_len},
            {"req_state_idx": full["config"]["max_num_reqs"]},
            *({"req_state_idx": row} for row in rows),
        ]
        mutations += [_update_initial(number, change) for change in changes]
        row = request["initial"].get("req_state_idx")
        if row is None:
            row = free_rows.pop()
        else:
            free_rows.remove(row)
        rows.append(row)
    return mutations


def _update_initial(number: int, change: dict[str, Any]) -> Mutation:
    return lambda scenario: scenario["requests"][number]["initial"].update(change)


def _tight_config(code: str, full: Scenario, trace: dict[str, Any]) -> list[Mutation]:
    """A limit one lower than the scenario needs."""

    def limit(key: str, value: int) -> Mutation:
        def apply(scenario: Scenario) -> None:
            config = scenario.setdefault("config", {})
            config[key] = value
            if key == "max_num_batched_tokens" and "cudagraph" in config:
                sizes = config["cudagraph"].get("capture_sizes", [])
                config["cudagraph"]["capture_sizes"] = [size for size in sizes if size <= value]

        return apply

    steps = trace["steps"]
    if code == "budget":
        most = max((step["num_tokens"] for step in steps), default=0)
        return [limit("max_num_batched_tokens", most - 1)] if most > 1 else []
    if code == "rows":
        if any("req_state_idx" in request.get("initial", {}) for request in full["requests"]):
            return []
        most = max((len(step["req_id_to_index"]) for step in steps), default=0)
        return [limit("max_num_reqs", most - 1)] if most > 1 else []
    longest = max((seq_len for step in steps for seq_len in step["spaces"].get("seq_lens", [])), default=0)
    prompts = max(reference.prompt_len_of(request) for request in full["requests"])
    return [limit("max_model_len", longest)] if longest > prompts else []


COUNT_CODES = ("chunk", "decode", "drafts", "sampled", "hit")
BLOCK_CODES = ("row_capacity", "blocks_short", "block_range", "block_null", "block_owned")
OTHER_CODES = ("initial", "length", "budget", "rows", "not_live", "unscheduled", "unknown_req_id", "duplicate_req_id")
FORM_CODES = ("schema", "unknown_key", "duplicate_key")
INVALID_CODES = COUNT_CODES + BLOCK_CODES + OTHER_CODES + FORM_CODES


def mutations(code: str, base: Scenario) -> list[Mutation]:
    """Every way in which a fault of `code` can be put into the valid scenario `base`; each changes a copy in place."""
    full = reference.normalise(base)
    trace = reference.run(base)
    if code in OTHER_CODES or code in FORM_CODES:
        return _faulty_steps(code, full, trace)
    found: list[Mutation] = []
    for fact in _facts(base, trace):
        if code in BLOCK_CODES:
            found += _faulty_blocks(code, fact, full)
        else:
            found += _faulty_counts(code, fact, full["config"]["num_speculative_tokens"])
    return found


@st.composite
def _invalid(draw: Draw, code: str | None) -> tuple[Scenario, str]:
    chosen = draw(_one_of(INVALID_CODES)) if code is None else code
    base = draw(valid_scenarios())
    found = mutations(chosen, base)
    if not found:  # no place for it in this scenario
        base = RICH
        found = mutations(chosen, base)
    scenario = copy.deepcopy(base)
    found[draw(_between(0, len(found) - 1)) if len(found) > 1 else 0](scenario)
    return scenario, chosen


@cache
def invalid_scenarios(code: str | None = None) -> st.SearchStrategy[tuple[Scenario, str]]:
    """(scenario, code): a valid scenario with one fault of that code put in, of `code` or of any of `INVALID_CODES`."""
    return _invalid(code)
