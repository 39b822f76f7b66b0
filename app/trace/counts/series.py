"""Numbers over the steps of a plan: tokens by kind, and how well the pool is used.

In: a `Plan`. Out: one number per engine step and series. Nothing is run: the plan says what every step does, and each step
costs what it changes, not what it holds, so that long schedules over big pools stay quick.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.rules import NULL_BLOCK, num_local_tokens, num_tokens_within
from app.scenario.plan.plan import Plan, PlannedStep
from app.trace.counts.summary import summarise


@dataclass(frozen=True)
class TokenSeries:
    """Tokens of each step by kind, all [num_steps]."""

    prefill: Sequence[int]
    decode: Sequence[int]
    draft: Sequence[int]
    padding: Sequence[int]  # added so that a captured CUDA graph fits


@dataclass(frozen=True)
class GroupSeries:
    """Slots of one KV-cache group after each step on this rank, all [num_steps]. Counted as in `usage.measure_usage`: once
    each, however many requests share them.
    """

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
    follower = _Tables(plan)
    for admission in plan.initial:
        follower.enter(admission.req_id, admission.num_computed_tokens)
        follower.append(admission.req_id, admission.block_ids)
    filled: list[list[int]] = [[] for _ in groups]
    waste: list[list[int]] = [[] for _ in groups]
    for step in plan.steps:
        follower.run(step)
        for index, group in enumerate(groups):
            filled[index].append(follower.num_filled(index))
            waste[index].append(follower.num_blocks(index) * group.block_size - follower.num_filled(index))
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
    """One request's table in one group: how long it is, and which of its columns hold no block of the pool's."""

    length: int = 0
    gaps: list[int] = field(default_factory=list)  # rising: columns of null blocks, unknown ids and named blocks
    named: dict[int, int] = field(default_factory=dict)  # column -> the block that the scenario named for it

    @property
    def num_pool_blocks(self) -> int:
        return self.length - len(self.gaps)


@dataclass
class _Holding:
    num_tokens: int  # valid after the last step that ran it
    tables: list[_Table]


class _NamedBlocks:
    """Blocks of one group that the scenario names. Several tables may hold one: it is full as far as the fullest says."""

    def __init__(self) -> None:
        self.num_filled = 0
        self._levels: dict[int, Counter[int]] = {}  # block id -> filled slots by a table's account -> tables that say so
        self._fullest: dict[int, int] = {}  # block id -> the highest of its levels

    @property
    def num_blocks(self) -> int:
        return len(self._levels)

    def hold(self, block_id: int, num_filled: int) -> None:
        """One more table holds a block."""
        self._levels.setdefault(block_id, Counter())[num_filled] += 1
        self._settle(block_id, max(self._fullest.get(block_id, 0), num_filled))

    def fill(self, block_id: int, before: int, num_filled: int) -> None:
        """A table that holds a block has come further."""
        if num_filled != before:
            self.hold(block_id, num_filled)
            self.leave(block_id, before)

    def leave(self, block_id: int, num_filled: int) -> None:
        """A table holds a block no longer."""
        levels = self._levels[block_id]
        levels[num_filled] -= 1
        if levels[num_filled]:
            return
        del levels[num_filled]
        if num_filled == self._fullest[block_id]:
            self._settle(block_id, max(levels, default=0))
        if not levels:
            del self._levels[block_id], self._fullest[block_id]

    def _settle(self, block_id: int, fullest: int) -> None:
        self.num_filled += fullest - self._fullest.get(block_id, 0)
        self._fullest[block_id] = fullest


class _Tables:
    """Block tables of the live requests, and what they hold together per group.

    A block from the pool is in one table, so lengths are enough. Those that the scenario names are followed one by one.
    """

    def __init__(self, plan: Plan) -> None:
        self.config = plan.scenario.config
        num_groups = len(self.config.kv_cache_groups)
        self._named_block_ids = plan.named_block_ids
        self._tokens_per_block = [self.config.tokens_per_block(group) for group in self.config.kv_cache_groups]
        self._num_pool_blocks = [0] * num_groups
        self._num_filled = [0] * num_groups  # slots of those
        self._named = [_NamedBlocks() for _ in range(num_groups)]
        self._holdings: dict[str, _Holding] = {}

    def num_blocks(self, group: int) -> int:
        """Different blocks in a group's tables."""
        return self._num_pool_blocks[group] + self._named[group].num_blocks

    def num_filled(self, group: int) -> int:
        """Slots of those that hold valid tokens."""
        return self._num_filled[group] + self._named[group].num_filled

    def run(self, step: PlannedStep) -> None:
        """What a step does to the tables, and how far its requests have come when it is over."""
        for req_id, _ in step.removed:
            self._leave(self._holdings.pop(req_id))
        for admission in step.admissions:
            self.enter(admission.req_id, admission.num_computed_tokens)
        for req_id, block_ids in step.new_block_ids.items():
            self.append(req_id, block_ids)
        for request in step.scheduled:
            num_sampled = len(step.sampled_token_ids.get(request.req_id, ()))
            self._advance(self._holdings[request.req_id], request.num_computed_tokens_after(num_sampled))

    def enter(self, req_id: str, num_computed_tokens: int) -> None:
        """A request gets its row, and with it tables that are empty yet."""
        self._holdings[req_id] = _Holding(num_computed_tokens, [_Table() for _ in self.config.kv_cache_groups])

    def append(self, req_id: str, block_ids: Sequence[Sequence[int]]) -> None:
        """A request's tables grow by `block_ids`, per group."""
        holding = self._holdings[req_id]
        self._count(holding, -1)
        for group, (table, ids) in enumerate(zip(holding.tables, block_ids, strict=True)):
            if ids and (min(ids) <= NULL_BLOCK or not self._named_block_ids.isdisjoint(ids)):
                for column, block_id in enumerate(ids, table.length):
                    is_named = block_id > NULL_BLOCK and block_id in self._named_block_ids
                    if is_named:
                        table.named[column] = block_id
                        self._named[group].hold(block_id, self._level(group, column, holding.num_tokens))
                    if is_named or block_id <= NULL_BLOCK:
                        table.gaps.append(column)
            table.length += len(ids)
        self._count(holding, 1)

    def _advance(self, holding: _Holding, num_tokens: int) -> None:
        self._count(holding, -1)
        before, holding.num_tokens = holding.num_tokens, num_tokens
        self._count(holding, 1)
        for group, table in enumerate(holding.tables):
            if table.named:
                size = self._tokens_per_block[group]
                for column in range(before // size, min(num_tokens // size + 1, table.length)):
                    if column in table.named:
                        levels = (self._level(group, column, before), self._level(group, column, num_tokens))
                        self._named[group].fill(table.named[column], *levels)

    def _leave(self, holding: _Holding) -> None:
        self._count(holding, -1)
        for group, table in enumerate(holding.tables):
            for column, block_id in table.named.items():
                self._named[group].leave(block_id, self._level(group, column, holding.num_tokens))

    def _count(self, holding: _Holding, sign: int) -> None:
        """Add or take away what a request holds of the pool's own blocks."""
        for group, table in enumerate(holding.tables):
            self._num_pool_blocks[group] += sign * table.num_pool_blocks
            self._num_filled[group] += sign * self._filled(group, table, holding.num_tokens)

    def _filled(self, group: int, table: _Table, num_tokens: int) -> int:
        """Slots of a table's pool blocks that hold valid tokens."""
        block_size = self.config.kv_cache_groups[group].block_size
        tokens_per_block = self._tokens_per_block[group]
        num_tokens = min(num_tokens, table.length * tokens_per_block)
        num_filled = self._on_this_rank(num_tokens)
        if table.gaps:
            column, rest = divmod(num_tokens, tokens_per_block)  # the first one that is not full
            place = bisect_left(table.gaps, column)
            num_filled -= place * block_size
            if rest and place < len(table.gaps) and table.gaps[place] == column:
                num_filled -= self._on_this_rank(rest)
        return num_filled

    def _level(self, group: int, column: int, num_tokens: int) -> int:
        """Slots that a request's first tokens fill of the block in one column."""
        return self._on_this_rank(num_tokens_within(num_tokens, column, self._tokens_per_block[group]))

    def _on_this_rank(self, num_tokens: int) -> int:
        parallel = self.config.context_parallel
        return num_local_tokens(num_tokens, parallel.size, parallel.rank, parallel.interleave)
