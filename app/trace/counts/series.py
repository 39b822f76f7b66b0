"""Numbers over the steps of a plan: tokens by kind, and how well the pool is used.

In: a `Plan`. Out: one number per engine step and series. Nothing is run: the plan says what every step does, and each step
costs what it changes, not what it holds, so that long schedules over big pools stay quick.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.scenario.format.model import Config
from app.scenario.plan.plan import Plan, PlannedStep
from app.trace.counts.summary import summarise

NULL_BLOCK = 0


@dataclass(frozen=True)
class TokenSeries:
    """Tokens of each step by kind, all [num_steps]."""

    prefill: Sequence[int]
    decode: Sequence[int]
    draft: Sequence[int]
    padding: Sequence[int]  # added so that a captured CUDA graph fits


@dataclass(frozen=True)
class GroupSeries:
    """Slots of one KV-cache group after each step on this rank, all [num_steps]. Counted as in `usage.measure_usage`."""

    name: str
    filled: Sequence[int]  # slots that hold valid tokens
    waste: Sequence[int]  # the others of the same blocks


@dataclass(frozen=True)
class PoolSeries:
    """The pool after each step, all [num_steps]."""

    num_blocks: int  # that requests can have: block 0 is nobody's
    used_blocks: Sequence[int]  # different blocks in the tables of live requests
    reserved_blocks: Sequence[int]  # what `max_model_len` for every live request would take
    reserved_slots: Sequence[int]  # the slots of those
    groups: Sequence[GroupSeries]

    @property
    def filled_slots(self) -> list[int]:
        """Of all groups together. [num_steps]"""
        return [sum(values) for values in zip(*(group.filled for group in self.groups), strict=True)]

    @property
    def waste_slots(self) -> list[int]:
        """Of all groups together. [num_steps]"""
        return [sum(values) for values in zip(*(group.waste for group in self.groups), strict=True)]


def token_series(plan: Plan) -> TokenSeries:
    """How many tokens each step runs; drafts are counted apart, padding is what a graph adds to them."""
    summary = summarise(plan)
    return TokenSeries(
        prefill=[step["num_prefill_tokens"] for step in summary],
        decode=[step["num_decode_tokens"] for step in summary],
        draft=[step["num_draft_tokens"] for step in summary],
        padding=[step["num_tokens_padded"] - step["num_tokens"] for step in summary],
    )


def pool_series(plan: Plan) -> PoolSeries:
    """Follow the tables of the live requests through the steps, as lengths."""
    config = plan.scenario.config
    groups = config.kv_cache_groups
    follower = _Tables(config)
    for admission in plan.initial:
        follower.enter(admission.req_id, admission.num_computed_tokens)
        follower.append(admission.req_id, admission.block_ids)
    filled: list[list[int]] = [[] for _ in groups]
    waste: list[list[int]] = [[] for _ in groups]
    for step in plan.steps:
        follower.run(step)
        for index, group in enumerate(groups):
            filled[index].append(follower.num_filled[index])
            waste[index].append(follower.num_blocks[index] * group.block_size - follower.num_filled[index])
    columns = [config.num_columns(group) for group in groups]
    slots = sum(count * group.block_size for count, group in zip(columns, groups, strict=True))
    return PoolSeries(
        num_blocks=config.num_blocks - 1,
        used_blocks=[step.num_used_blocks for step in plan.steps],
        reserved_blocks=[step.num_live * sum(columns) for step in plan.steps],
        reserved_slots=[step.num_live * slots for step in plan.steps],
        groups=[GroupSeries(group.name, *values) for group, *values in zip(groups, filled, waste, strict=True)],
    )


@dataclass
class _Table:
    """One request's table in one group: how long it is, and which of its columns hold no known block."""

    length: int = 0
    gaps: list[int] = field(default_factory=list)  # rising: columns of null blocks and of ids that a log does not tell

    @property
    def num_blocks(self) -> int:
        return self.length - len(self.gaps)


@dataclass
class _Holding:
    num_tokens: int  # valid after the last step that ran it
    tables: list[_Table]


class _Tables:
    """Block tables of the live requests, and what they hold together per group."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.num_blocks = [0] * len(config.kv_cache_groups)  # a shared block counts for each of its owners
        self.num_filled = [0] * len(config.kv_cache_groups)
        self._holdings: dict[str, _Holding] = {}

    def run(self, step: PlannedStep) -> None:
        """What a step does to the tables, and how far its requests have come when it is over."""
        for req_id, _ in step.removed:
            self._count(self._holdings.pop(req_id), -1)
        for admission in step.admissions:
            self.enter(admission.req_id, admission.num_computed_tokens)
        for req_id, block_ids in step.new_block_ids.items():
            self.append(req_id, block_ids)
        for request in step.scheduled:
            num_rejected = 0
            if request.seq_len >= request.prefill_len:
                num_rejected = request.num_draft_tokens + 1 - len(step.sampled_token_ids[request.req_id])
            holding = self._holdings[request.req_id]
            self._count(holding, -1)
            holding.num_tokens = request.seq_len - num_rejected
            self._count(holding, 1)

    def enter(self, req_id: str, num_computed_tokens: int) -> None:
        """A request gets its row, and with it tables that are empty yet."""
        self._holdings[req_id] = _Holding(num_computed_tokens, [_Table() for _ in self.config.kv_cache_groups])

    def append(self, req_id: str, block_ids: Sequence[Sequence[int]]) -> None:
        """A request's tables grow by `block_ids`, per group."""
        holding = self._holdings[req_id]
        self._count(holding, -1)
        for table, ids in zip(holding.tables, block_ids, strict=True):
            if ids and min(ids) <= NULL_BLOCK:
                table.gaps += [column for column, block_id in enumerate(ids, table.length) if block_id <= NULL_BLOCK]
            table.length += len(ids)
        self._count(holding, 1)

    def _count(self, holding: _Holding, sign: int) -> None:
        for index, table in enumerate(holding.tables):
            self.num_blocks[index] += sign * table.num_blocks
            self.num_filled[index] += sign * self._filled(index, table, holding.num_tokens)

    def _filled(self, group: int, table: _Table, num_tokens: int) -> int:
        """Slots of a table's known blocks that hold valid tokens."""
        block_size = self.config.kv_cache_groups[group].block_size
        tokens_per_block = self.config.tokens_per_block(self.config.kv_cache_groups[group])
        num_tokens = min(num_tokens, table.length * tokens_per_block)
        num_filled = self._on_this_rank(num_tokens)
        if table.gaps:
            column, rest = divmod(num_tokens, tokens_per_block)  # the first one that is not full
            place = bisect_left(table.gaps, column)
            num_filled -= place * block_size
            if rest and place < len(table.gaps) and table.gaps[place] == column:
                num_filled -= self._on_this_rank(rest)
        return num_filled

    def _on_this_rank(self, num_tokens: int) -> int:
        """How many of a request's first tokens this rank holds: `get_dcp_local_seq_lens` for one number."""
        parallel = self.config.context_parallel
        deals, rest = divmod(num_tokens, parallel.size * parallel.interleave)
        mine = min(max(rest - parallel.rank * parallel.interleave, 0), parallel.interleave)
        return deals * parallel.interleave + mine
