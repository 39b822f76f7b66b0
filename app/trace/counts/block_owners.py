"""Who holds the physical blocks, step by step: a map of the pool over time that stays small however large the pool is.

In: a `Plan`. Out: the block ids cut into parts, and for each part the runs of steps in which nothing about it changes. Where
few blocks are ever held, each is a part of its own and the ids between them are another. Else all parts are equally large: a
power of two, 1 where that is few enough.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from app.errors import Fault, ScenarioError
from app.rules import NULL_BLOCK
from app.scenario.plan.plan import Plan

MAX_SINGLE_PARTS = 40  # where each block that is ever held is one
MAX_PARTS = 4_096
# In a picture of the map parts lie side by side, line after line, once for each step.
GOOD_LINES = 64
MAX_LINES = 128
MAX_COLUMNS = 256  # parts of one line, all steps together
MAX_CELLS = 32_768  # parts x steps
MAX_MOVES = 2**22  # blocks that are handed out in all steps together


@dataclass(frozen=True)
class BlockRange:
    """One part: block ids `first..last`."""

    first: int
    last: int

    @property
    def num_blocks(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class PartState:
    """What the blocks of one part are after a step. Held, stale and the rest, which is free, add up to the part."""

    owner: int | None = None  # place in `scenario.requests` of the one that holds most of it; None: nobody holds any
    num_owned: int = 0  # blocks that this owner holds
    num_owners: int = 0  # requests that hold any of it
    num_held: int = 0  # blocks that somebody holds
    num_stale: int = 0  # blocks that nobody holds any more, and nobody was given since
    last_owner: int | None = None  # of a part of one stale block

    @property
    def kind(self) -> Literal["free", "stale", "several", "held"]:
        """What the part is, in a word: `held` where its owner has more than half of what is held."""
        if not self.num_held:
            return "stale" if self.num_stale else "free"
        return "held" if 2 * self.num_owned > self.num_held else "several"


@dataclass(frozen=True)
class Run:
    """Steps `first_step..last_step`, after each of which a part is the same."""

    part: int
    first_step: int
    last_step: int
    state: PartState


@dataclass(frozen=True)
class BlockMap:
    """Every part and step lies in exactly one run; the runs go part by part, then step by step."""

    parts: Sequence[BlockRange]
    runs: Sequence[Run]
    num_steps: int
    blocks_per_part: int | None  # None: every block that is ever held has its own part
    last_block: int  # of the pool: ids behind the last part are never held

    @property
    def parts_per_line(self) -> int:
        """How many parts lie side by side in a picture: a power of two that leaves a good number of lines."""
        return min(power_of_two(-(-len(self.parts) // GOOD_LINES)), _most_per_line(self.num_steps))


def block_map(plan: Plan) -> BlockMap:
    """Follow the blocks of a plan. Ids outside the pool, which only a lenient scenario has, are left out.

    Raises:
        ScenarioError: `response_too_large` (413) where more than MAX_MOVES blocks are handed out.
    """
    last_block = plan.scenario.config.num_blocks - 1
    request_idx = {request.req_id: index for index, request in enumerate(plan.scenario.requests)}
    taken = [[(admission.request_idx, ids) for admission in plan.initial for ids in admission.block_ids]]
    taken += [
        [(request_idx[req_id], ids) for req_id, tables in step.new_block_ids.items() for ids in tables]
        for step in plan.steps
    ]
    num_moves = sum(len(ids) for grants in taken for _, ids in grants)
    if num_moves > MAX_MOVES:
        params = {"num_moves": num_moves, "limit": MAX_MOVES}
        raise ScenarioError([Fault("", "response_too_large", "response_too_large.moves", params)], status=413)
    gathered = [_Blocks.gather(grants, last_block).ids for grants in taken]
    last_held = max((int(ids.max()) for ids in gathered if len(ids)), default=NULL_BLOCK)
    is_ever_held = torch.zeros(last_held + 1, dtype=torch.bool)
    for ids in gathered:
        is_ever_held[ids] = True
    parts = _single_parts(is_ever_held, last_block)
    blocks_per_part = None
    if parts is None:
        num_steps = max(len(plan.steps), 1)
        num_parts = min(MAX_PARTS, MAX_LINES * _most_per_line(num_steps), MAX_CELLS // num_steps)
        blocks_per_part = power_of_two(-(-(last_held + 1) // num_parts))
        starts = range(0, last_held + 1, blocks_per_part)
        parts = [BlockRange(start, min(start + blocks_per_part - 1, last_held)) for start in starts]
    removed = [[request_idx[req_id] for req_id, _ in step.removed] for step in plan.steps]
    follower = _Follower(parts, last_held, len(request_idx))
    follower.take(taken[0])
    return BlockMap(parts, list(follower.runs(removed, taken[1:])), len(plan.steps), blocks_per_part, last_block)


def power_of_two(least: int) -> int:
    """The smallest one that is at least `least`."""
    return 1 << max(least - 1, 0).bit_length()


def _most_per_line(num_steps: int) -> int:
    """The largest power of two that keeps a line short enough, or 1."""
    return max(power_of_two(MAX_COLUMNS // max(num_steps, 1) + 1) // 2, 1)


Grant = tuple[int, "array[int]"]  # a request's place in the scenario, and ids that it gets or leaves


@dataclass(frozen=True)
class _Blocks:
    """Known blocks and who gets or leaves them, both [n] int64. Null blocks and unknown ids are left out."""

    ids: Tensor
    owners: Tensor

    @classmethod
    def gather(cls, grants: Sequence[Grant], last: int) -> "_Blocks":
        """Put grants together; ids above `last` are left out."""
        contents = array("i")
        for _, block_ids in grants:
            contents.extend(block_ids)
        if not contents:
            return cls(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
        ids = torch.frombuffer(contents, dtype=torch.int32).to(torch.int64)
        lengths = torch.tensor([len(block_ids) for _, block_ids in grants])
        owners = torch.repeat_interleave(torch.tensor([owner for owner, _ in grants]), lengths)
        is_known = (ids > NULL_BLOCK) & (ids <= last)
        return cls(ids[is_known], owners[is_known])


def _single_parts(is_ever_held: Tensor, last_block: int) -> list[BlockRange] | None:
    """A part for the null block, for each block that is ever held, and for each gap; None where that is too many."""
    held = is_ever_held.nonzero().squeeze(1)  # [num_ever_held] rising
    if len(held) > MAX_SINGLE_PARTS:
        return None
    parts = [BlockRange(NULL_BLOCK, NULL_BLOCK)]
    for block_id in held.tolist():
        gap = BlockRange(parts[-1].last + 1, block_id - 1)
        if gap.num_blocks:
            parts.append(gap)
        parts.append(BlockRange(block_id, block_id))
    if parts[-1].last < last_block:
        parts.append(BlockRange(parts[-1].last + 1, last_block))
    return parts if len(parts) <= MAX_SINGLE_PARTS else None


class _Follower:
    """Counts of every part while the steps go by."""

    def __init__(self, parts: Sequence[BlockRange], last_held: int, num_requests: int) -> None:
        self.parts = parts
        self.last_held = last_held
        sizes = torch.tensor([min(part.last, last_held) - min(part.first - 1, last_held) for part in parts])  # [num_parts]
        self.part_of = torch.repeat_interleave(torch.arange(len(parts)), sizes)  # by block id, up to the last one held
        self.num_holders = torch.full_like(self.part_of, -1, dtype=torch.int32)  # by block id; -1: never held, 0: stale
        self.place = torch.zeros_like(self.num_holders)  # by block id: scratch of `_each_once`
        self.num_owned = torch.zeros(len(parts), max(num_requests, 1), dtype=torch.int32)
        self.num_held = torch.zeros(len(parts), dtype=torch.int64)
        self.num_stale = torch.zeros(len(parts), dtype=torch.int64)
        self.last_owner = torch.zeros(len(parts), dtype=torch.int64)  # means something in parts of one block
        self.is_changed = torch.ones(len(parts), dtype=torch.bool)
        self.tables: dict[int, list[Grant]] = {}  # ids that a live request holds, as they came

    def runs(self, removed: Iterable[Iterable[int]], taken: Iterable[Sequence[Grant]]) -> Iterator[Run]:
        """Go through all steps: first requests leave, then others get blocks."""
        done: list[list[Run]] = [[] for _ in self.parts]
        began: list[tuple[int, PartState]] = []
        num_steps = 0
        for index, (leaving, grants) in enumerate(zip(removed, taken, strict=True)):
            num_steps += 1
            self.leave(leaving)
            self.take(grants)
            for part, state in self._changes():
                if index == 0:
                    began.append((0, state))
                elif state != began[part][1]:
                    done[part].append(Run(part, began[part][0], index - 1, began[part][1]))
                    began[part] = (index, state)
        for part, (first_step, state) in enumerate(began):
            yield from done[part]
            yield Run(part, first_step, num_steps - 1, state)

    def take(self, grants: Sequence[Grant]) -> None:
        """Requests get blocks."""
        blocks = _Blocks.gather(grants, self.last_held)
        if not len(blocks.ids):
            return
        for grant in grants:
            self.tables.setdefault(grant[0], []).append(grant)
        ids = self._each_once(blocks.ids)
        before = self.num_holders[ids]
        self.num_stale -= self._per_part(ids[before == 0])
        self.num_held += self._per_part(ids[before <= 0])
        self.num_holders[ids] = before.clamp(min=0)
        self._hold(blocks, 1)

    def leave(self, request_idxs: Iterable[int]) -> None:
        """Requests leave all that they hold."""
        blocks = _Blocks.gather([grant for idx in request_idxs for grant in self.tables.pop(idx, [])], self.last_held)
        if not len(blocks.ids):
            return
        self._hold(blocks, -1)
        is_left = self.num_holders[blocks.ids] == 0
        self.last_owner[self.part_of[blocks.ids[is_left]]] = blocks.owners[is_left]
        per_part = self._per_part(self._each_once(blocks.ids[is_left]))
        self.num_stale += per_part
        self.num_held -= per_part

    def _hold(self, blocks: _Blocks, sign: int) -> None:
        signs = torch.full((len(blocks.ids),), sign, dtype=torch.int32)
        self.num_holders.index_add_(0, blocks.ids, signs)
        parts = self.part_of[blocks.ids]
        self.num_owned.view(-1).index_add_(0, parts * self.num_owned.shape[1] + blocks.owners, signs)
        self.is_changed[parts] = True

    def _each_once(self, ids: Tensor) -> Tensor:
        """The ids without repetitions: two requests may share a block."""
        places = torch.arange(len(ids), dtype=torch.int32)
        self.place[ids] = places
        return ids[self.place[ids] == places]

    def _per_part(self, ids: Tensor) -> Tensor:
        """How many of the ids lie in each part. [num_parts]"""
        return torch.bincount(self.part_of[ids], minlength=len(self.parts))

    def _changes(self) -> Iterator[tuple[int, PartState]]:
        """The parts that were touched since the last call, all of them in the first, and what they are now."""
        changed = self.is_changed.nonzero().squeeze(1)  # [num_changed]
        self.is_changed.zero_()
        num_owned = self.num_owned[changed]  # [num_changed, num_requests]
        num_owners = (num_owned > 0).sum(1)
        most, owner = num_owned.max(1)
        columns = (
            changed,
            owner,
            most,
            num_owners,
            self.num_held[changed],
            self.num_stale[changed],
            self.last_owner[changed],
        )
        for part, place, owned, owners, held, stale, last in zip(*(column.tolist() for column in columns), strict=True):
            is_one_stale = stale and self.parts[part].num_blocks == 1
            yield part, PartState(place if owned else None, owned, owners, held, stale, last if is_one_stale else None)
