"""The mapping pipeline once more, in plain Python loops over ints: what PageWalk is tested against.

In: a scenario (the dict that the API takes, defaults left out or not). Out: for every engine step a dict of index spaces,
and the faults of a scenario that must be refused. Nothing here is fast and nothing is clever: one loop per request, one per
token, so that each line can be held against the rule it states. It imports nothing of PageWalk and no array library.

    normalise(scenario)  every default filled in
    run(scenario)        {"scenario", "summary", "steps", "stopped"}: the trace, each step with its "spaces"
    faults(scenario)     [(code, where), ...]: what a server must refuse; [] for a valid scenario

The section numbers in comments are those of the pipeline's rules: 1 state pool, 2 order of a step, 3 batch, 4 flatten,
5 padding, 6 block tables and slot mapping, 7 post-update, 8 KV cache, 9 block pool.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

PAD_SLOT_ID = -1
NULL_BLOCK = 0
MAX_INT32 = 2**31 - 1
ITEMSIZE = {"float32": 4, "float16": 2, "bfloat16": 2, "fp8": 1}

Scenario = dict[str, Any]
Fault = tuple[str, str]


# ---- the scenario, with every default filled in


def normalise(scenario: Scenario) -> Scenario:
    """The scenario with every default filled in, `num_scheduled_tokens` as pairs. Ids that nobody gave stay absent."""
    config = scenario.get("config", {})
    groups = config.get("kv_cache_groups", [{}])
    parallel = config.get("context_parallel", {})
    cudagraph = config.get("cudagraph", {})
    block_pool = config.get("block_pool", {})
    kv_cache = config.get("kv_cache", {})
    return {
        "version": scenario["version"],
        "title": scenario.get("title", ""),
        "description": scenario.get("description", ""),
        "start_step": scenario.get("start_step", 0),
        "strict": scenario.get("strict", True),
        "config": {
            "max_num_reqs": config.get("max_num_reqs", 8),
            "max_num_batched_tokens": config.get("max_num_batched_tokens", 64),
            "max_model_len": config.get("max_model_len", 128),
            "num_blocks": config.get("num_blocks", 128),
            "num_speculative_tokens": config.get("num_speculative_tokens", 0),
            "kv_cache_groups": [
                {
                    "name": group.get("name", "full"),
                    "block_size": group.get("block_size", 16),
                    "sliding_window": group.get("sliding_window"),
                }
                for group in groups
            ],
            "context_parallel": {
                "size": parallel.get("size", 1),
                "rank": parallel.get("rank", 0),
                "interleave": parallel.get("interleave", 1),
            },
            "cudagraph": {
                "mode": cudagraph.get("mode", "NONE"),
                "capture_sizes": list(cudagraph.get("capture_sizes", [])),
            },
            "block_pool": {"order": block_pool.get("order", "shuffled"), "seed": block_pool.get("seed", 0)},
            "kv_cache": {
                "num_layers": kv_cache.get("num_layers", 32),
                "num_kv_heads": kv_cache.get("num_kv_heads", 8),
                "head_size": kv_cache.get("head_size", 128),
                "dtype": kv_cache.get("dtype", "float16"),
                "layout": kv_cache.get("layout", "NHD"),
            },
        },
        "requests": copy.deepcopy(scenario.get("requests", [])),
        "steps": [
            {
                "num_scheduled_tokens": _pairs(step.get("num_scheduled_tokens", {})),
                "finished_req_ids": list(step.get("finished_req_ids", [])),
                "preempted_req_ids": list(step.get("preempted_req_ids", [])),
                "num_computed_tokens": dict(step.get("num_computed_tokens", {})),
                "new_block_ids": copy.deepcopy(step.get("new_block_ids", {})),
                "draft_token_ids": copy.deepcopy(step.get("draft_token_ids", {})),
                "sampled_token_ids": copy.deepcopy(step.get("sampled_token_ids", {})),
            }
            for step in scenario.get("steps", [])
        ],
    }


def _pairs(scheduled: Any) -> list[list[Any]]:
    if isinstance(scheduled, dict):
        return [[req_id, count] for req_id, count in scheduled.items()]
    return [list(pair) for pair in scheduled]


def prompt_len_of(request: dict[str, Any]) -> int:
    """Length of a request's prompt, whichever way it was given."""
    return len(request["prompt_token_ids"]) if "prompt_token_ids" in request else request["prompt_len"]


def count_of(ids_or_count: list[int] | int) -> int:
    """A list or a count, as a count."""
    return ids_or_count if isinstance(ids_or_count, int) else len(ids_or_count)


def ceil_div(numerator: int, denominator: int) -> int:
    """Smallest integer at least numerator / denominator."""
    return -(-numerator // denominator)


# ---- ids that nobody gave


def synthetic_token_id(request_number: int, position: int, max_model_len: int) -> int:
    """The readable token id at `position` of request number `request_number`: 2016 is the second request's token 16."""
    digits = max(3, len(str(max_model_len - 1)))
    return ((request_number + 1) * 10**digits + position) % MAX_INT32


def rejected_draft_id(request_number: int, position: int, max_model_len: int) -> int:
    """The id of a draft that will be rejected: far from the id its position would have."""
    return MAX_INT32 - synthetic_token_id(request_number, position, max_model_len)


def pool_order(num_blocks: int, order: str, seed: int) -> list[int]:
    """Section 9: every block id from 1, in the order in which an untouched pool hands them out."""
    ids = list(range(1, min(num_blocks - 1, 65_535) + 1))
    if order == "shuffled":
        mask = 2**64 - 1
        state = seed
        for last in range(len(ids) - 1, 0, -1):  # Fisher-Yates, from the end
            state = (state + 0x9E3779B97F4A7C15) & mask  # splitmix64
            mixed = state
            mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
            mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
            mixed = mixed ^ (mixed >> 31)
            other = mixed % (last + 1)
            ids[last], ids[other] = ids[other], ids[last]
    return ids + list(range(len(ids) + 1, num_blocks))


def named_block_ids(scenario: Scenario) -> set[int]:
    """Every block id that a normalised scenario names anywhere: the pool never hands these out."""
    named: set[int] = set()
    tables = [request["initial"].get("block_ids", []) for request in scenario["requests"] if "initial" in request]
    for step in scenario["steps"]:
        tables.extend(step["new_block_ids"].values())
    for table in tables:
        for block_ids in table:
            named.update(block_id for block_id in block_ids if block_id is not None)
    return named


# ---- one engine


@dataclass
class Row:
    """Section 1: one row of the state pool, all its buffers. A freed row keeps its content."""

    req_id: str | None = None  # whose data the row holds; None: never used
    status: str = "unused"  # unused, added, live, freed
    prompt_len: int = 0
    prefill_len: int = 0
    total_len: int = 0
    num_computed_tokens: int = 0
    last_sampled_token: int = 0
    draft_tokens: list[int] = field(default_factory=list)  # [K]
    all_token_ids: dict[int, int] = field(default_factory=dict)  # position -> token id
    tables: list[list[int | None]] = field(default_factory=list)  # [group], up to the last column ever written
    num_blocks: list[int] = field(default_factory=list)  # [group]


class Engine:
    """The worker's persistent buffers, the free list of blocks, and what one step does to them."""

    def __init__(self, scenario: Scenario) -> None:
        """`scenario` is normalised. Its `initial` requests are put into the pool."""
        config = scenario["config"]
        self.scenario = scenario
        self.max_num_reqs: int = config["max_num_reqs"]
        self.max_model_len: int = config["max_model_len"]
        self.num_speculative_tokens: int = config["num_speculative_tokens"]
        self.groups: list[dict[str, Any]] = config["kv_cache_groups"]
        self.cp_size: int = config["context_parallel"]["size"]
        self.cp_rank: int = config["context_parallel"]["rank"]
        self.interleave: int = config["context_parallel"]["interleave"]

        self.requests = {request["req_id"]: request for request in scenario["requests"]}
        self.request_number = {request["req_id"]: number for number, request in enumerate(scenario["requests"])}
        self.tokens_of: dict[str, list[int]] = {}  # prompt and outputs so far, as the scheduler knows them
        for req_id, request in self.requests.items():
            prompt = request.get("prompt_token_ids")
            self.tokens_of[req_id] = (
                list(prompt)
                if prompt is not None
                else [self.synthetic(req_id, position) for position in range(request["prompt_len"])]
            )

        # 1: rows are popped from the end of the free list and appended to it
        self.free_indices = list(range(self.max_num_reqs))
        self.rows = [
            Row(
                draft_tokens=[0] * self.num_speculative_tokens,
                tables=[[] for _ in self.groups],
                num_blocks=[0] * len(self.groups),
            )
            for _ in range(self.max_num_reqs)
        ]
        self.req_id_to_index: dict[str, int] = {}
        self.seen: set[str] = set()  # requests that have been in the pool at some time

        # 6: input_block_tables is a buffer too: rows up to the last column written since they were last zeroed
        self.input_tables: list[list[list[int | None]]] = [[[] for _ in self.rows] for _ in self.groups]
        self.previous_num_reqs = 0  # of the last step that scheduled anything

        # 9: the free list, and which blocks of it each request holds
        pool = config["block_pool"]
        named = named_block_ids(scenario)
        self.free_blocks = [b for b in pool_order(config["num_blocks"], pool["order"], pool["seed"]) if b not in named]
        self.pool_blocks: dict[str, list[list[int]]] = {}  # req_id -> [group] -> ids, in table order

        self.stale_blocks: dict[int, str] = {}  # block id -> who held it last, until somebody gets it

        self.stopped: dict[str, Any] | None = None
        self.add_initial_requests()

    # -- names and small rules

    def synthetic(self, req_id: str, position: int) -> int:
        return synthetic_token_id(self.request_number[req_id], position, self.max_model_len)

    def blocks_for(self, num_tokens: int, group: int) -> int:
        """How many blocks `num_tokens` tokens need: a virtual block covers block_size * C tokens."""
        return ceil_div(num_tokens, self.groups[group]["block_size"] * self.cp_size)

    def num_null_blocks(self, num_computed_tokens: int, group: int) -> int:
        """6: blocks wholly below the sliding window of the next query, which no query can see any more."""
        window = self.groups[group]["sliding_window"]
        if window is None or self.cp_size > 1:
            return 0
        return max(num_computed_tokens - (window - 1), 0) // int(self.groups[group]["block_size"])

    # -- the state pool

    def add_initial_requests(self) -> None:
        """2: requests that were in the pool before step 0, in list order."""
        initial = [request for request in self.scenario["requests"] if "initial" in request]
        wants: list[tuple[str, int, int]] = []
        for request in initial:
            state = request["initial"]
            outputs = state.get("output_token_ids", 0)
            prompt_len = len(self.tokens_of[request["req_id"]])
            computed = prompt_len + count_of(outputs) - 1 if count_of(outputs) else 0
            state["num_computed_tokens"] = state.get("num_computed_tokens", computed)
            if "block_ids" not in state:
                wants += [
                    (request["req_id"], group, self.blocks_for(state["num_computed_tokens"], group))
                    for group in range(len(self.groups))
                ]
        taken = self.take_blocks(0, wants)
        if self.stopped:
            return
        for request in initial:
            req_id, state = request["req_id"], request["initial"]
            outputs = state.get("output_token_ids", 0)
            prompt_len = len(self.tokens_of[req_id])
            if isinstance(outputs, int):
                outputs = [self.synthetic(req_id, prompt_len + place) for place in range(outputs)]
            state["output_token_ids"] = outputs
            state["block_ids"] = state.get("block_ids", taken.get(req_id))
            row_idx = state.get("req_state_idx")
            if row_idx is not None:
                self.free_indices.remove(row_idx)
            self.add_request(req_id, state["num_computed_tokens"], state["block_ids"], row_idx)
            row = self.rows[self.req_id_to_index[req_id]]
            row.status = "live"
            for token_id in outputs:  # outputs are appended behind the prompt; prefill_len stays the prompt
                row.all_token_ids[row.total_len] = token_id
                row.total_len += 1
                row.last_sampled_token = token_id
                self.tokens_of[req_id].append(token_id)

    def add_request(
        self, req_id: str, num_computed_tokens: int, block_ids: list[list[int | None]], row_idx: int | None = None
    ) -> int:
        """1: a row for `req_id`; its table is overwritten from column 0. Returns the row."""
        if row_idx is None:
            row_idx = self.free_indices.pop()
        self.req_id_to_index[req_id] = row_idx
        self.seen.add(req_id)
        row = self.rows[row_idx]
        row.req_id = req_id
        row.status = "added"
        row.prompt_len = prompt_len_of(self.requests[req_id])
        row.prefill_len = len(self.tokens_of[req_id])  # the prompt, and the output so far of a resumed request
        row.total_len = row.prefill_len
        row.num_computed_tokens = num_computed_tokens
        for position, token_id in enumerate(self.tokens_of[req_id]):
            row.all_token_ids[position] = token_id
        if num_computed_tokens > 0:
            # vLLM seeds it with the last computed token; without a hit the old value stays. Nothing reads it before
            # the first sampling.
            row.last_sampled_token = row.all_token_ids.get(num_computed_tokens - 1, 0)
        row.draft_tokens = [0] * self.num_speculative_tokens
        for group in range(len(self.groups)):
            row.num_blocks[group] = 0  # overwrite: append from column 0, the old ids behind stay
        self.append_block_ids(row_idx, block_ids)
        return row_idx

    def append_block_ids(self, row_idx: int, block_ids: list[list[int | None]]) -> None:
        """1: write each group's ids at `num_blocks`."""
        row = self.rows[row_idx]
        for group, group_ids in enumerate(block_ids):
            for block_id in group_ids:
                block_index = row.num_blocks[group]
                assert block_index < self.blocks_for(self.max_model_len, group), "a write past the row is an error"
                if block_id is not None:
                    self.stale_blocks.pop(block_id, None)
                if block_index < len(row.tables[group]):
                    row.tables[group][block_index] = block_id
                else:
                    row.tables[group].append(block_id)
                row.num_blocks[group] += 1

    def remove_request(self, req_id: str) -> int:
        """1, 9: the row goes to the end of the free list, its pool blocks to the front of theirs. Returns the row."""
        row_idx = self.req_id_to_index.pop(req_id)
        row = self.rows[row_idx]
        row.status = "freed"
        for group in range(len(self.groups)):
            for block_id in row.tables[group][: row.num_blocks[group]]:
                if block_id is not None and block_id != NULL_BLOCK:
                    self.stale_blocks[block_id] = req_id
        self.free_indices.append(row_idx)
        for group_ids in self.pool_blocks.pop(req_id, []):  # group by group, each reversed as one run
            self.free_blocks = group_ids[::-1] + self.free_blocks
        return row_idx

    def take_blocks(self, step_index: int, wants: list[tuple[str, int, int]]) -> dict[str, list[list[int | None]]]:
        """9: blocks from the front of the free list for each (req_id, group, count), or `stopped`."""
        needed = sum(count for _, _, count in wants)
        if needed > len(self.free_blocks):
            self.stopped = {
                "step": step_index,
                "code": "pool_exhausted",
                "needed": needed,
                "free": len(self.free_blocks),
            }
            return {}
        taken: dict[str, list[list[int | None]]] = {}
        for req_id, group, count in wants:
            taken.setdefault(req_id, [[] for _ in self.groups])
            self.pool_blocks.setdefault(req_id, [[] for _ in self.groups])
            for _ in range(count):
                block_id = self.free_blocks.pop(0)
                taken[req_id][group].append(block_id)
                self.pool_blocks[req_id][group].append(block_id)
        return taken

    # -- one step

    def step(self, index: int) -> dict[str, Any] | None:
        """Section 2. The step's trace, or None if the block pool ran out (`stopped` says so)."""
        plan = self.scenario["steps"][index]
        schedule: dict[str, int] = dict(plan["num_scheduled_tokens"])  # in the schedule's own order
        events: list[dict[str, Any]] = []
        for row in self.rows:
            if row.status == "added":
                row.status = "live"

        # 2.1: finished and preempted requests leave, one set in sorted order
        for req_id in sorted(set(plan["finished_req_ids"]) | set(plan["preempted_req_ids"])):
            reason = "finished" if req_id in plan["finished_req_ids"] else "preempted"
            row_idx = self.remove_request(req_id)
            events.append({"kind": "remove_request", "req_id": req_id, "req_state_idx": row_idx, "reason": reason})

        # 9: blocks that nobody gave, request by request in schedule order, group by group
        wants = []
        for req_id, num_scheduled in schedule.items():
            if req_id in plan["new_block_ids"]:
                continue
            if req_id in self.req_id_to_index:
                row = self.rows[self.req_id_to_index[req_id]]
                num_computed, held = row.num_computed_tokens, row.num_blocks
            else:
                num_computed, held = plan["num_computed_tokens"].get(req_id, 0), [0] * len(self.groups)
            for group in range(len(self.groups)):
                count = max(self.blocks_for(num_computed + num_scheduled, group) - held[group], 0)
                if count:
                    wants.append((req_id, group, count))
        taken = self.take_blocks(index, wants)
        if self.stopped:
            return None
        plan["new_block_ids"].update(taken)
        new_block_ids: dict[str, list[list[int | None]]] = plan["new_block_ids"]

        # 2.2: requests that are not in the pool: first the ones never seen, then the resumed ones
        absent = [req_id for req_id in schedule if req_id not in self.req_id_to_index]
        new = [req_id for req_id in absent if req_id not in self.seen]
        resumed = [req_id for req_id in absent if req_id in self.seen]
        for req_id in new + resumed:
            hit = plan["num_computed_tokens"].get(req_id, 0)
            row_idx = self.add_request(req_id, hit, new_block_ids.get(req_id, [[] for _ in self.groups]))
            events.append({"kind": "add_request", "req_id": req_id, "req_state_idx": row_idx, "num_computed_tokens": hit})

        # 2.3: new blocks of requests that were in the pool already
        for req_id in schedule:
            block_ids = new_block_ids.get(req_id, [])
            if req_id not in absent and any(block_ids):
                row_idx = self.req_id_to_index[req_id]
                self.append_block_ids(row_idx, block_ids)
                events.append(
                    {"kind": "append_block_ids", "req_id": req_id, "req_state_idx": row_idx, "block_ids": block_ids}
                )

        # 2.4 (staged writes) has just been done at once. The drafts to verify are in the pool when the batch is built.
        drafts, sampled = self.resolve_tokens(plan, schedule)
        for req_id, draft_ids in drafts.items():
            self.rows[self.req_id_to_index[req_id]].draft_tokens[: len(draft_ids)] = draft_ids

        result: dict[str, Any] = {
            "index": index,
            "num_reqs": len(schedule),
            "num_tokens": sum(schedule.values()),
            "num_reqs_padded": 0,
            "num_tokens_padded": 0,
            "cudagraph_mode": "NONE",
            "req_ids": [],
            "req_id_to_index": dict(self.req_id_to_index),
            "free_indices": list(self.free_indices),
            "events": events,
            "spaces": self.pool_spaces(),
        }
        num_computed = [row.num_computed_tokens for row in self.rows]  # before the step
        if schedule:  # 2.5: a step that schedules nothing stops here
            self.forward(result, schedule, drafts, sampled)
        result["spaces"] |= self.kv_blocks(num_computed, schedule)
        return result

    def resolve_tokens(
        self, plan: dict[str, Any], schedule: dict[str, int]
    ) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """Draft and sampled token ids of every scheduled request, those given as counts made readable."""
        drafts: dict[str, list[int]] = {}
        sampled: dict[str, list[int]] = {}
        for req_id, num_scheduled in schedule.items():
            row = self.rows[self.req_id_to_index[req_id]]
            seq_len = row.num_computed_tokens + num_scheduled
            given_drafts = plan["draft_token_ids"].get(req_id, 0)
            num_drafts = count_of(given_drafts)

            # "1, or 1 + drafts"; nothing is sampled from an unfinished chunk
            given_sampled = plan["sampled_token_ids"].get(req_id, 0 if seq_len < row.prefill_len else 1 + num_drafts)
            if isinstance(given_sampled, int):
                sampled[req_id] = [self.synthetic(req_id, row.total_len + place) for place in range(given_sampled)]
            else:
                sampled[req_id] = list(given_sampled)

            if isinstance(given_drafts, int):
                drafts[req_id] = []
                num_accepted = len(sampled[req_id]) - 1
                for place in range(num_drafts):
                    position = seq_len - num_drafts + place
                    if place < num_accepted:
                        drafts[req_id].append(sampled[req_id][place])
                    else:
                        drafts[req_id].append(rejected_draft_id(self.request_number[req_id], position, self.max_model_len))
            else:
                drafts[req_id] = list(given_drafts)
        plan["draft_token_ids"] = {req_id: ids for req_id, ids in drafts.items() if ids}
        plan["sampled_token_ids"] = {req_id: ids for req_id, ids in sampled.items() if ids}
        return drafts, sampled

    def pool_spaces(self) -> dict[str, Any]:
        """Section 1: the raw buffers, as the step's kernels see them."""
        num_groups = len(self.groups)
        spaces: dict[str, Any] = {
            "row_req_ids": [row.req_id for row in self.rows],
            "row_status": [row.status for row in self.rows],
            "prompt_len": [row.prompt_len for row in self.rows],
            "prefill_len": [row.prefill_len for row in self.rows],
            "total_len": [row.total_len for row in self.rows],
            "num_computed_tokens": [row.num_computed_tokens for row in self.rows],
            "last_sampled_tokens": [row.last_sampled_token for row in self.rows],
            "num_blocks": [[row.num_blocks[group] for row in self.rows] for group in range(num_groups)],
            "block_tables": [[list(row.tables[group]) for row in self.rows] for group in range(num_groups)],
        }
        if self.num_speculative_tokens > 0:
            spaces["draft_tokens"] = [list(row.draft_tokens) for row in self.rows]
        return spaces

    def forward(
        self,
        result: dict[str, Any],
        schedule: dict[str, int],
        drafts: dict[str, list[int]],
        sampled: dict[str, list[int]],
    ) -> None:
        """Sections 3 to 7 for a step that schedules something: fills `result`."""
        spaces = result["spaces"]
        num_tokens = result["num_tokens"]
        spaces["schedule_req_ids"] = list(schedule)
        spaces["schedule_req_state_idx"] = [self.req_id_to_index[req_id] for req_id in schedule]
        spaces["schedule_num_tokens"] = list(schedule.values())
        spaces["schedule_num_drafts"] = [len(drafts[req_id]) for req_id in schedule]

        # 3: drafts first, then uniform decodes, then ascending count; sorted() is stable
        def sort_key(req_id: str) -> list[int]:
            has_no_drafts = 0 if drafts[req_id] else 1
            not_uniform = 0 if schedule[req_id] == 1 + self.num_speculative_tokens else 1
            return [has_no_drafts, not_uniform, schedule[req_id]]

        req_ids = sorted(schedule, key=sort_key)
        row_idxs = [self.req_id_to_index[req_id] for req_id in req_ids]
        num_reqs = len(req_ids)
        result["req_ids"] = req_ids
        spaces["sort_key"] = [sort_key(req_id) for req_id in req_ids]
        spaces["schedule_idx"] = [list(schedule).index(req_id) for req_id in req_ids]
        spaces["num_draft_tokens"] = [len(drafts[req_id]) for req_id in req_ids]
        spaces["num_scheduled_tokens"] = [schedule[req_id] for req_id in req_ids]
        spaces["idx_mapping"] = row_idxs
        spaces["is_prefilling"] = [
            self.rows[row_idx].num_computed_tokens < self.rows[row_idx].prefill_len for row_idx in row_idxs
        ]

        # 5: the graph, from the batch's shape alone
        mode, num_reqs_padded, num_tokens_padded = self.dispatch(spaces)
        result["cudagraph_mode"] = mode
        result["num_reqs_padded"] = num_reqs_padded
        result["num_tokens_padded"] = num_tokens_padded

        self.flatten(spaces, req_ids, num_reqs_padded, num_tokens, drafts)
        self.gather_block_tables(spaces, row_idxs, num_reqs_padded)
        self.compute_slot_mappings(spaces, row_idxs, num_tokens_padded)
        self.previous_num_reqs = num_reqs
        self.post_update(result, req_ids, schedule, drafts, sampled)

    def flatten(
        self,
        spaces: dict[str, Any],
        req_ids: list[str],
        num_reqs_padded: int,
        num_tokens: int,
        drafts: dict[str, list[int]],
    ) -> None:
        """Section 4."""
        query_start_loc = [0]
        for num_scheduled in spaces["num_scheduled_tokens"]:
            query_start_loc.append(query_start_loc[-1] + num_scheduled)
        while len(query_start_loc) < num_reqs_padded + 1:
            query_start_loc.append(num_tokens)  # must not decrease

        seq_lens = [0] * num_reqs_padded  # padded rows: 0
        token_batch_idx, positions, input_ids, token_source = [], [], [], []
        cu_num_logits, logits_indices, expanded_idx_mapping, expanded_local_pos = [0], [], [], []
        for batch_idx, req_id in enumerate(req_ids):
            row_idx = spaces["idx_mapping"][batch_idx]
            row = self.rows[row_idx]
            num_scheduled = spaces["num_scheduled_tokens"][batch_idx]
            seq_len = row.num_computed_tokens + num_scheduled  # what attention may read
            seq_lens[batch_idx] = seq_len
            num_drafts = len(drafts[req_id])

            for flat_token_idx in range(query_start_loc[batch_idx], query_start_loc[batch_idx + 1]):
                position = row.num_computed_tokens + (flat_token_idx - query_start_loc[batch_idx])
                token_batch_idx.append(batch_idx)
                positions.append(position)
                # first pass: a prefilling row copies its tokens; a decode's tokens all come from the second
                input_ids.append(row.all_token_ids.get(position, 0) if spaces["is_prefilling"][batch_idx] else 0)
                token_source.append("prefill")

            # second pass: the last `num_drafts` tokens are the drafts, the one before them the last sampled token
            if seq_len > row.prefill_len:
                end = query_start_loc[batch_idx + 1]
                for place in range(num_drafts):
                    input_ids[end - num_drafts + place] = row.draft_tokens[place]
                    token_source[end - num_drafts + place] = "draft"
                # a chunk that ends the prompt keeps its last prompt token
                if seq_len - (1 + num_drafts) >= row.prefill_len:
                    input_ids[end - num_drafts - 1] = row.last_sampled_token
                    token_source[end - num_drafts - 1] = "sampled"

            num_logits = 1 + num_drafts
            cu_num_logits.append(cu_num_logits[-1] + num_logits)
            for local_pos in range(num_logits):
                logits_indices.append(query_start_loc[batch_idx + 1] - num_logits + local_pos)
                expanded_idx_mapping.append(row_idx)
                expanded_local_pos.append(local_pos)

        spaces["query_start_loc"] = query_start_loc
        spaces["seq_lens"] = seq_lens
        spaces["token_batch_idx"] = token_batch_idx
        spaces["positions"] = positions
        spaces["input_ids"] = input_ids
        spaces["token_source"] = token_source
        spaces["cu_num_logits"] = cu_num_logits
        spaces["logits_indices"] = logits_indices
        spaces["expanded_idx_mapping"] = expanded_idx_mapping
        spaces["expanded_local_pos"] = expanded_local_pos

        if self.cp_size > 1:  # 6, context parallelism: how much of each sequence this rank holds
            spaces["dcp_local_seq_lens"] = []
            for seq_len in seq_lens:
                base = seq_len // self.interleave // self.cp_size * self.interleave
                rem = seq_len - base * self.cp_size
                extra = min(max(rem - self.cp_rank * self.interleave, 0), self.interleave)
                spaces["dcp_local_seq_lens"].append(base + extra)

    def dispatch(self, spaces: dict[str, Any]) -> tuple[str, int, int]:
        """Section 5: (mode, num_reqs_padded, num_tokens_padded)."""
        counts: list[int] = spaces["num_scheduled_tokens"]
        num_reqs, num_tokens = len(counts), sum(counts)
        mode = self.scenario["config"]["cudagraph"]["mode"]
        sizes = sorted(set(self.scenario["config"]["cudagraph"]["capture_sizes"]))
        query_len = 1 + self.num_speculative_tokens

        full: list[tuple[int, int]] = []  # (tokens, requests)
        if mode in ("FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"):
            for size in sizes:
                tokens = ceil_div(size, query_len) * query_len
                if tokens // query_len <= self.max_num_reqs and tokens <= max(sizes):
                    full.append((tokens, tokens // query_len))
        if mode == "FULL":
            full = [(size, min(size, self.max_num_reqs)) for size in sizes]
        piecewise = sizes if mode in ("PIECEWISE", "FULL_AND_PIECEWISE") else []

        uniform = True
        for batch_idx, row_idx in enumerate(spaces["idx_mapping"]):
            row = self.rows[row_idx]
            new_tokens = counts[batch_idx] - spaces["num_draft_tokens"][batch_idx]
            runs_as_decode = new_tokens == 1 and row.num_computed_tokens > 0  # one new token over existing context
            if counts[batch_idx] != query_len or (spaces["is_prefilling"][batch_idx] and not runs_as_decode):
                uniform = False

        # only the smallest graph that holds the tokens is considered; FULL before PIECEWISE
        fitting = [(tokens, requests) for tokens, requests in full if tokens >= num_tokens]
        if fitting:
            tokens, requests = min(fitting)
            if requests >= num_reqs and (mode == "FULL" or uniform):
                return "FULL", requests, tokens
        fitting_sizes = [size for size in piecewise if size >= num_tokens]
        if fitting_sizes:
            return "PIECEWISE", num_reqs, min(fitting_sizes)
        return "NONE", num_reqs, num_tokens

    def gather_block_tables(self, spaces: dict[str, Any], row_idxs: list[int], num_reqs_padded: int) -> None:
        """Section 6, reading."""
        num_reqs = len(row_idxs)
        for group in range(len(self.groups)):
            buffer = self.input_tables[group]
            for batch_idx, row_idx in enumerate(row_idxs):
                row = self.rows[row_idx]
                num_null = self.num_null_blocks(row.num_computed_tokens, group)
                for block_index in range(row.num_blocks[group]):
                    block_id = NULL_BLOCK if block_index < num_null else row.tables[group][block_index]
                    if block_index < len(buffer[batch_idx]):
                        buffer[batch_idx][block_index] = block_id
                    else:
                        buffer[batch_idx].append(block_id)
                # columns behind keep what an earlier step left
            for batch_idx in range(num_reqs, max(num_reqs_padded, self.previous_num_reqs)):
                buffer[batch_idx] = []  # zeroed whole
        spaces["input_block_tables"] = [
            [list(columns) for columns in self.input_tables[group][:num_reqs_padded]] for group in range(len(self.groups))
        ]

    def compute_slot_mappings(self, spaces: dict[str, Any], row_idxs: list[int], num_tokens_padded: int) -> None:
        """Section 6, writing, and the byte offsets of section 8."""
        kv_cache = self.scenario["config"]["kv_cache"]
        content = 2 * kv_cache["head_size"] * ITEMSIZE[kv_cache["dtype"]]  # bytes: K and V of one head
        bytes_per_slot = kv_cache["num_kv_heads"] * content
        names = ("block_indices", "block_offsets", "block_numbers", "slot_mappings", "byte_offsets_nhd", "byte_offsets_hnd")
        for name in names:
            spaces[name] = [[] for _ in self.groups]
        for group, config in enumerate(self.groups):
            block_size = config["block_size"]
            for batch_idx, position in zip(spaces["token_batch_idx"], spaces["positions"], strict=True):
                row = self.rows[row_idxs[batch_idx]]
                block_index = position // (block_size * self.cp_size)
                virtual_offset = position % (block_size * self.cp_size)
                is_local = virtual_offset // self.interleave % self.cp_size == self.cp_rank
                offset = (
                    virtual_offset // (self.interleave * self.cp_size) * self.interleave + virtual_offset % self.interleave
                )
                # the persistent table, through the pool row; a column that was given no block is not known
                known = block_index < row.num_blocks[group]
                block_number = row.tables[group][block_index] if known else None
                slot_id = None if block_number is None else block_number * block_size + offset
                nhd = hnd = None
                if slot_id is not None and block_number is not None:
                    nhd = slot_id * bytes_per_slot
                    hnd = (block_number * kv_cache["num_kv_heads"] * block_size + offset) * content  # of head 0
                spaces["block_indices"][group].append(block_index)
                spaces["block_offsets"][group].append(offset if is_local else None)
                spaces["block_numbers"][group].append(block_number if is_local else None)
                spaces["slot_mappings"][group].append(slot_id if is_local else PAD_SLOT_ID)
                spaces["byte_offsets_nhd"][group].append(nhd if is_local else None)
                spaces["byte_offsets_hnd"][group].append(hnd if is_local else None)
            while len(spaces["slot_mappings"][group]) < num_tokens_padded:
                spaces["slot_mappings"][group].append(PAD_SLOT_ID)
        spaces["slot_byte_offsets"] = spaces["byte_offsets_nhd" if kv_cache["layout"] == "NHD" else "byte_offsets_hnd"]
        if self.cp_size > 1:
            # the same for every group, since the interleave divides every block size
            spaces["is_local"] = [
                position // self.interleave % self.cp_size == self.cp_rank for position in spaces["positions"]
            ]

    def post_update(
        self,
        result: dict[str, Any],
        req_ids: list[str],
        schedule: dict[str, int],
        drafts: dict[str, list[int]],
        sampled: dict[str, list[int]],
    ) -> None:
        """Section 7."""
        spaces = result["spaces"]
        names = ("sampled_token_ids", "num_sampled", "num_rejected", "num_computed_tokens_after", "total_len_after")
        for name in names:
            spaces[name] = []
        for req_id in req_ids:
            row_idx = self.req_id_to_index[req_id]
            row = self.rows[row_idx]
            sampled_ids = sampled[req_id]
            if row.num_computed_tokens + schedule[req_id] < row.prefill_len:
                sampled_ids = []  # an unfinished chunk: what was sampled is discarded
                num_rejected = 0
            else:
                num_rejected = 1 + len(drafts[req_id]) - len(sampled_ids)
            for token_id in sampled_ids:
                row.all_token_ids[row.total_len] = token_id
                row.total_len += 1
                row.last_sampled_token = token_id
                self.tokens_of[req_id].append(token_id)
            row.num_computed_tokens += schedule[req_id] - num_rejected
            spaces["sampled_token_ids"].append(list(sampled_ids))
            spaces["num_sampled"].append(len(sampled_ids))
            spaces["num_rejected"].append(num_rejected)
            spaces["num_computed_tokens_after"].append(row.num_computed_tokens)
            spaces["total_len_after"].append(row.total_len)
            result["events"].append(
                {
                    "kind": "post_update",
                    "req_id": req_id,
                    "req_state_idx": row_idx,
                    "num_computed_tokens": row.num_computed_tokens,
                }
            )

    def num_slots(self, num_tokens: int, block_index: int, group: int) -> int:
        """How many of a request's first `num_tokens` tokens lie in its block `block_index`, on this rank."""
        covers = self.groups[group]["block_size"] * self.cp_size
        positions = range(block_index * covers, min((block_index + 1) * covers, num_tokens))
        return sum(position // self.interleave % self.cp_size == self.cp_rank for position in positions)

    def kv_blocks(self, num_computed: list[int], schedule: dict[str, int]) -> dict[str, Any]:
        """Section 8: every block that a live request's table names, and those that nobody holds any more.

        `num_computed` is that of the rows before the step; the rows themselves have been updated.
        """
        entries = []  # (block id, group, row, column)
        for row_idx in self.req_id_to_index.values():
            row = self.rows[row_idx]
            for group in range(len(self.groups)):
                for block_index, block_id in enumerate(row.tables[group][: row.num_blocks[group]]):
                    if block_id is not None and block_id != NULL_BLOCK:
                        entries.append((block_id, group, row_idx, block_index))
        entries.sort()
        counts: dict[str, list[int]] = {"filled": [], "written": [], "readable": []}
        for _, group, row_idx, block_index in entries:
            row = self.rows[row_idx]
            assert row.req_id is not None
            before = self.num_slots(num_computed[row_idx], block_index, group)
            reach = self.num_slots(num_computed[row_idx] + schedule.get(row.req_id, 0), block_index, group)
            is_hidden = block_index < self.num_null_blocks(num_computed[row_idx], group)
            counts["filled"].append(self.num_slots(row.num_computed_tokens, block_index, group))
            counts["written"].append(reach - before)
            counts["readable"].append(reach if row.req_id in schedule and not is_hidden else 0)
        spaces: dict[str, Any] = {
            f"kv_block_{name}": [entry[place] for entry in entries]
            for place, name in enumerate(("ids", "groups", "rows", "indices"))
        }
        spaces |= {f"kv_block_num_{name}": values for name, values in counts.items()}
        blocks = [(block_id, group) for block_id, group, _, _ in entries]
        num_holders = [blocks.count(block) for block in blocks]
        if any(number > 1 for number in num_holders):
            spaces["kv_block_num_holders"] = num_holders
            spaces["kv_block_is_first_holder"] = [blocks.index(block) == place for place, block in enumerate(blocks)]
        held = {block_id for block_id, _ in blocks}
        stale = {block_id: self.stale_blocks[block_id] for block_id in sorted(self.stale_blocks) if block_id not in held}
        return {**spaces, "stale_block_ids": list(stale), "stale_block_req_ids": list(stale.values())}

    def summary(self, result: dict[str, Any]) -> dict[str, Any]:
        """One line of the trace's `summary`."""
        spaces = result["spaces"]
        sources = spaces.get("token_source", [])
        used: set[int] = set()
        for row_idx in result["req_id_to_index"].values():
            for group in range(len(self.groups)):
                for block_id in spaces["block_tables"][group][row_idx][: spaces["num_blocks"][group][row_idx]]:
                    if block_id is not None and block_id != NULL_BLOCK:
                        used.add(block_id)
        return {
            "index": result["index"],
            "num_reqs": result["num_reqs"],
            "num_tokens": result["num_tokens"],
            "num_prefill_tokens": sources.count("prefill"),
            "num_decode_tokens": sources.count("sampled"),
            "num_draft_tokens": sources.count("draft"),
            "num_reqs_padded": result["num_reqs_padded"],
            "num_tokens_padded": result["num_tokens_padded"],
            "cudagraph_mode": result["cudagraph_mode"],
            "num_live": len(result["req_id_to_index"]),
            "num_used_blocks": len(used),
        }


def run(scenario: Scenario) -> dict[str, Any]:
    """The trace of a scenario that has no `faults`: `{"scenario", "summary", "steps", "stopped"}`.

    A step has the trace's fields and `spaces`: name -> nested lists of values. In the returned scenario every block, draft
    and sampled id of the steps that were computed is explicit. `stopped` has no message.
    """
    engine = Engine(normalise(scenario))
    steps: list[dict[str, Any]] = []
    for index in range(len(engine.scenario["steps"])):
        result = None if engine.stopped else engine.step(index)
        if result is None:
            break
        steps.append(result)
    return {
        "scenario": engine.scenario,
        "summary": [engine.summary(step) for step in steps],
        "steps": steps,
        "stopped": engine.stopped,
    }


# ---- what is refused

STRICT_ONLY = {"blocks_short", "block_range", "block_null", "block_owned"}
SEMANTIC_CODES = STRICT_ONLY | {
    "duplicate_req_id",
    "unknown_req_id",
    "initial",
    "chunk",
    "decode",
    "drafts",
    "sampled",
    "hit",
    "length",
    "budget",
    "rows",
    "not_live",
    "unscheduled",
    "row_capacity",
}

POOL = -2  # stands in a table for a block that the pool will give: never named, so never shared or out of range


@dataclass
class Live:
    """What the refusals need to know of a request that is in the pool."""

    prefill_len: int
    total_len: int
    num_computed_tokens: int
    covered: int  # tokens that were computed before it entered: its hit, or an initial request's computed count
    table: list[list[int | None]]  # [group], without stale tails


class Validator:
    """Walks the schedule with counts only.

    A request whose counts were wrong, or that found no row, is spoilt: what would follow from that is not reported. Faults
    that leave its counts as they are (block ids, names in the wrong list) spoil nothing.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.sent = scenario
        self.scenario = normalise(scenario)
        config = self.scenario["config"]
        self.config = config
        self.groups: list[dict[str, Any]] = config["kv_cache_groups"]
        self.cp_size: int = config["context_parallel"]["size"]
        self.found: list[Fault] = []
        self.requests: dict[str, dict[str, Any]] = {}
        self.live: dict[str, Live] = {}
        self.total_len: dict[str, int] = {}  # of every request, live or not: prompt and outputs so far
        self.finished: set[str] = set()
        self.spoilt: set[str] = set()
        # the block pool as a number: where it runs out, the trace ends
        config_pool = pool_order(config["num_blocks"], "ascending", 0)
        self.num_free = len(set(config_pool) - named_block_ids(self.scenario))
        self.num_wanted = 0
        self.exhausted_at: int | None = None  # step, -1: already by the initial requests

    def fault(self, code: str, *path: Any) -> None:
        """Notes a fault at the JSON Pointer made of `path`."""
        if code in STRICT_ONLY and not self.scenario["strict"]:
            return
        pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
        self.found.append((code, pointer))

    def width(self, group: int) -> int:
        """Columns of a table row."""
        return ceil_div(self.config["max_model_len"], self.groups[group]["block_size"] * self.cp_size)

    def num_below_window(self, num_computed_tokens: int, group: int) -> int:
        """Columns that hold nothing any query can see."""
        window = self.groups[group]["sliding_window"]
        if window is None:
            return 0
        return max(num_computed_tokens - (window - 1), 0) // int(self.groups[group]["block_size"])

    def validate(self) -> list[Fault]:
        for number, request in enumerate(self.scenario["requests"]):
            if request["req_id"] in self.requests:
                self.fault("duplicate_req_id", "requests", number, "req_id")
                continue
            self.requests[request["req_id"]] = request
            self.total_len[request["req_id"]] = prompt_len_of(request)
        self.initial_requests()
        self.take_blocks(-1)
        for index in range(len(self.scenario["steps"])):
            self.step(index)
            self.take_blocks(index)
        return self.found

    def take_blocks(self, index: int) -> None:
        if self.num_wanted > self.num_free and self.exhausted_at is None:
            self.exhausted_at = index
        self.num_free -= self.num_wanted
        self.num_wanted = 0

    def initial_requests(self) -> None:
        free_rows = list(range(self.config["max_num_reqs"]))
        for number, request in enumerate(self.scenario["requests"]):
            if "initial" not in request or self.requests[request["req_id"]] is not request:
                continue
            req_id, state = request["req_id"], request["initial"]
            prompt_len = prompt_len_of(request)
            num_outputs = count_of(state.get("output_token_ids", 0))
            fitting = prompt_len + num_outputs - 1 if num_outputs else 0
            num_computed = state.get("num_computed_tokens", fitting)
            where = ("requests", number, "initial")

            # "popped like any other unless req_state_idx says which": strictly in list order
            if "req_state_idx" in state:
                if state["req_state_idx"] in free_rows:
                    free_rows.remove(state["req_state_idx"])
                else:
                    self.fault("initial", *where, "req_state_idx")
                    self.spoilt.add(req_id)
            elif free_rows:
                free_rows.pop()
            else:
                self.fault("rows", *where)
                self.spoilt.add(req_id)

            counts_fit = num_computed == fitting if num_outputs else num_computed < prompt_len
            if not counts_fit:
                place = ("num_computed_tokens",) if "num_computed_tokens" in state else ()
                self.fault("initial", *where, *place)
                self.spoilt.add(req_id)
            elif num_computed > self.config["max_model_len"] - 1:
                self.fault("length", *where, "num_computed_tokens")
                self.spoilt.add(req_id)
            self.total_len[req_id] = prompt_len + num_outputs
            live = Live(prompt_len, prompt_len + num_outputs, num_computed, num_computed, [[] for _ in self.groups])
            self.live[req_id] = live
            if req_id not in self.spoilt:
                self.blocks(req_id, live, state.get("block_ids"), num_computed, (*where, "block_ids"))

    def step(self, index: int) -> None:
        step = self.scenario["steps"][index]
        sent_schedule = self.sent["steps"][index].get("num_scheduled_tokens", {})
        as_object = isinstance(sent_schedule, dict)
        here = ("steps", index)

        schedule: dict[str, tuple[int, tuple[Any, ...]]] = {}  # req_id -> (count, where the count is)
        for place, (req_id, count) in enumerate(step["num_scheduled_tokens"]):
            name_path = (*here, "num_scheduled_tokens", req_id) if as_object else (*here, "num_scheduled_tokens", place, 0)
            count_path = name_path if as_object else (*name_path[:-1], 1)
            if req_id in schedule:
                self.fault("duplicate_key", *name_path)
            elif req_id not in self.requests:
                self.fault("unknown_req_id", *name_path)
            else:
                schedule[req_id] = (count, count_path)

        # leaving
        leaving: list[str] = []
        flagged: set[str] = set()  # scheduled although it finishes in this very step: said once
        for key in ("finished_req_ids", "preempted_req_ids"):
            for place, req_id in enumerate(step[key]):
                if req_id not in self.requests:
                    self.fault("unknown_req_id", *here, key, place)
                elif req_id in schedule:
                    self.fault("not_live", *here, key, place)
                    flagged.add(req_id)
                elif req_id in leaving:
                    self.fault("not_live", *here, key, place)
                elif req_id not in self.live:
                    if req_id not in self.spoilt:
                        self.fault("not_live", *here, key, place)
                else:
                    leaving.append(req_id)
                    if key == "finished_req_ids":
                        self.finished.add(req_id)
        for req_id in leaving:
            self.num_free += sum(column.count(POOL) for column in self.live[req_id].table)
            del self.live[req_id]

        # what is said of requests that this step does not schedule
        for key in ("num_computed_tokens", "new_block_ids", "draft_token_ids", "sampled_token_ids"):
            for req_id in step[key]:
                if req_id not in self.requests:
                    self.fault("unknown_req_id", *here, key, req_id)
                elif req_id not in schedule:
                    self.fault("unscheduled", *here, key, req_id)

        if sum(count for count, _ in schedule.values()) > self.config["max_num_batched_tokens"]:
            self.fault("budget", *here, "num_scheduled_tokens")

        after: list[tuple[Live, int, int]] = []
        for req_id, (num_scheduled, path) in schedule.items():
            if req_id in self.finished:
                if req_id not in flagged:
                    self.fault("not_live", *path)
                continue
            hit_path = (*here, "num_computed_tokens", req_id)
            if req_id in self.live:
                if req_id in step["num_computed_tokens"]:
                    self.fault("hit", *hit_path)
            elif req_id in self.spoilt:
                continue
            else:
                if len(self.live) >= self.config["max_num_reqs"]:
                    self.fault("rows", *path)
                    self.spoilt.add(req_id)
                    continue
                hit = step["num_computed_tokens"].get(req_id, 0)
                prefill_len = self.total_len[req_id]
                self.live[req_id] = Live(prefill_len, prefill_len, hit, hit, [[] for _ in self.groups])
                if hit > prefill_len - 1:
                    self.fault("hit", *hit_path)
                    self.spoilt.add(req_id)
            if req_id in self.spoilt:
                continue

            live = self.live[req_id]
            drafts = step["draft_token_ids"].get(req_id, 0)
            num_sampled = self.counts(req_id, live, num_scheduled, count_of(drafts), step, path, here)
            block_path = (*here, "new_block_ids", req_id)
            given = step["new_block_ids"].get(req_id)
            # where the counts are wrong only the ids can be judged, not how many are needed
            seq_len = 0 if req_id in self.spoilt else live.num_computed_tokens + num_scheduled
            self.blocks(req_id, live, given, seq_len, block_path)
            if req_id in self.spoilt:
                continue
            after.append((live, num_scheduled - (1 + count_of(drafts) - num_sampled if num_sampled else 0), num_sampled))
            self.total_len[req_id] += num_sampled

        for live, num_new, num_sampled in after:
            live.num_computed_tokens += num_new
            live.total_len += num_sampled

    def counts(
        self,
        req_id: str,
        live: Live,
        num_scheduled: int,
        num_drafts: int,
        step: dict[str, Any],
        path: tuple[Any, ...],
        here: tuple[Any, ...],
    ) -> int:
        """The refusals about how many tokens, drafts and samples. Returns how many tokens are sampled."""
        before = len(self.found)
        chunk = num_scheduled - num_drafts
        prefilling = live.num_computed_tokens < live.prefill_len
        reached = live.num_computed_tokens + chunk
        unfinished = prefilling and reached < live.prefill_len

        if prefilling and reached > live.prefill_len:
            self.fault("chunk", *path)
        if not prefilling and num_scheduled != 1 + num_drafts:
            self.fault("decode", *path)
        if num_drafts > self.config["num_speculative_tokens"] or (num_drafts > 0 and unfinished):
            self.fault("drafts", *here, "draft_token_ids", req_id)
        if live.num_computed_tokens + num_scheduled > self.config["max_model_len"] - 1:
            self.fault("length", *path)
        num_sampled = count_of(step["sampled_token_ids"].get(req_id, 0 if unfinished else 1 + num_drafts))
        sampled_fits = num_sampled == 0 if unfinished else 1 <= num_sampled <= 1 + num_drafts
        if not sampled_fits:
            self.fault("sampled", *here, "sampled_token_ids", req_id)
        if len(self.found) > before:
            self.spoilt.add(req_id)
        return num_sampled

    def blocks(
        self, req_id: str, live: Live, given: list[list[int | None]] | None, seq_len: int, path: tuple[Any, ...]
    ) -> None:
        """The refusals about block ids: `given` is appended to the request's table, or the pool fills it up."""
        for group, config in enumerate(self.groups):
            table = live.table[group]
            covers = config["block_size"] * self.cp_size  # tokens per block
            if given is None:
                missing = max(ceil_div(seq_len, covers) - len(table), 0)
                table.extend([POOL] * missing)
                self.num_wanted += missing
                continue
            num_below = self.num_below_window(live.num_computed_tokens, group)
            for place, block_id in enumerate(given[group]):
                block_index = len(table)
                if block_id == NULL_BLOCK:
                    leading = all(earlier == NULL_BLOCK for earlier in table)
                    if not (leading and block_index < num_below):
                        self.fault("block_null", *path, group, place)
                elif block_id is not None:
                    if block_id >= self.config["num_blocks"]:  # no block at all, so nobody's
                        self.fault("block_range", *path, group, place)
                    elif block_index >= num_below and self.is_owned(req_id, live, group, block_index, block_id):
                        self.fault("block_owned", *path, group, place)
                table.append(block_id)
            if len(table) > self.width(group):
                self.fault("row_capacity", *path, group)
            if len(table) * covers < seq_len:
                self.fault("blocks_short", *path, group)

    def is_owned(self, req_id: str, live: Live, group: int, block_index: int, block_id: int) -> bool:
        """Whether somebody holds the block in a way that `req_id` may not share at (group, block_index)."""
        for holder_id, holder in self.live.items():
            for holder_group, held in enumerate(holder.table):
                num_below = self.num_below_window(holder.num_computed_tokens, holder_group)
                for holder_index, held_id in enumerate(held):
                    if held_id != block_id or holder_index < num_below:
                        continue
                    covers = self.groups[group]["block_size"] * self.cp_size
                    same_place = holder_group == group and holder_index == block_index
                    covered = (block_index + 1) * covers <= live.covered
                    if holder_id == req_id or not (same_place and covered):
                        return True
        return False


def faults(scenario: Scenario) -> list[Fault]:
    """What a server must refuse, as (code, JSON Pointer into the scenario as sent); [] for a valid scenario.

    The scenario's form must be right (types, bounds, keys); only what a schema cannot see is judged here.
    """
    return Validator(scenario).validate()


def exhausted_at(scenario: Scenario) -> int | None:
    """The step in which the block pool runs out, -1 if the initial requests exhaust it already, None if it lasts."""
    validator = Validator(scenario)
    validator.validate()
    return validator.exhausted_at
