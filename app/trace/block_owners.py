"""Who holds the physical blocks, step by step: a map of the pool over time that stays small however large the pool is.

In: a `Plan`. Out: rows of block ids in rising order, and for each row the runs of steps in which nothing about it changes.
Where few blocks are ever held, each has a row of its own and the ids between them share one. Else all rows are ranges of
equally many ids.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from app.errors import Fault, ScenarioError
from app.scenario.plan import Plan
from app.trace.series import NULL_BLOCK

MAX_SINGLE_ROWS = 40  # rows of a map that gives each block its own
MAX_ROWS = 256
MAX_CELLS = 32_768  # rows x steps
MAX_MOVES = 2**22  # blocks that are handed out in all steps together


@dataclass(frozen=True)
class BlockRange:
    """One row: block ids `first..last`."""

    first: int
    last: int

    @property
    def num_blocks(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class RowState:
    """What the blocks of one row are after a step. Held, stale and the rest, which is free, add up to the row."""

    owner: int | None = None  # place in `scenario.requests` of the one that holds most of it; None: nobody holds any
    num_owned: int = 0  # blocks that this owner holds
    num_owners: int = 0  # requests that hold any of it
    num_held: int = 0  # blocks that somebody holds
    num_stale: int = 0  # blocks that nobody holds any more, and nobody was given since
    last_owner: int | None = None  # of a row of one stale block

    @property
    def kind(self) -> Literal["free", "stale", "several", "held"]:
        """What the row is, in a word: `held` where its owner has more than half of what is held."""
        if not self.num_held:
            return "stale" if self.num_stale else "free"
        return "held" if 2 * self.num_owned > self.num_held else "several"


@dataclass(frozen=True)
class Run:
    """Steps `first_step..last_step`, after each of which a row is the same."""

    row: int
    first_step: int
    last_step: int
    state: RowState


@dataclass(frozen=True)
class BlockMap:
    """Every row and step lies in exactly one run; the runs go row by row, then step by step."""

    rows: Sequence[BlockRange]
    runs: Sequence[Run]
    num_steps: int
    blocks_per_row: int | None  # None: every block that is ever held has its own row
    last_block: int  # of the pool: ids behind the last row are never held


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
    num_moves = sum(len(ids) for parts in taken for _, ids in parts)
    if num_moves > MAX_MOVES:
        params = {"num_moves": num_moves, "limit": MAX_MOVES}
        raise ScenarioError([Fault("", "response_too_large", "response_too_large.moves", params)], status=413)
    gathered = [_Blocks.gather(parts, last_block).ids for parts in taken]
    last_held = max((int(ids.max()) for ids in gathered if len(ids)), default=NULL_BLOCK)
    is_ever_held = torch.zeros(last_held + 1, dtype=torch.bool)
    for ids in gathered:
        is_ever_held[ids] = True
    rows = _single_rows(is_ever_held, last_block)
    blocks_per_row = None
    if rows is None:
        num_rows = min(MAX_ROWS, MAX_CELLS // max(len(plan.steps), 1))
        blocks_per_row = -(-(last_held + 1) // num_rows)
        starts = range(0, last_held + 1, blocks_per_row)
        rows = [BlockRange(start, min(start + blocks_per_row - 1, last_held)) for start in starts]
    removed = [[request_idx[req_id] for req_id, _ in step.removed] for step in plan.steps]
    follower = _Follower(rows, last_held, len(request_idx))
    follower.take(taken[0])
    return BlockMap(rows, list(follower.runs(removed, taken[1:])), len(plan.steps), blocks_per_row, last_block)


Part = tuple[int, "array[int]"]  # a request's place in the scenario, and ids that it gets or leaves


@dataclass(frozen=True)
class _Blocks:
    """Known blocks and who gets or leaves them, both [n] int64. Null blocks and unknown ids are left out."""

    ids: Tensor
    owners: Tensor

    @classmethod
    def gather(cls, parts: Sequence[Part], last: int) -> "_Blocks":
        """Put parts together; ids above `last` are left out."""
        contents = array("i")
        for _, block_ids in parts:
            contents.extend(block_ids)
        if not contents:
            return cls(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
        ids = torch.frombuffer(contents, dtype=torch.int32).to(torch.int64)
        lengths = torch.tensor([len(block_ids) for _, block_ids in parts])
        owners = torch.repeat_interleave(torch.tensor([owner for owner, _ in parts]), lengths)
        is_known = (ids > NULL_BLOCK) & (ids <= last)
        return cls(ids[is_known], owners[is_known])


def _single_rows(is_ever_held: Tensor, last_block: int) -> list[BlockRange] | None:
    """A row for the null block, for each block that is ever held, and for each gap; None where that is too many."""
    held = is_ever_held.nonzero().squeeze(1)  # [num_ever_held] rising
    if len(held) > MAX_SINGLE_ROWS:
        return None
    rows = [BlockRange(NULL_BLOCK, NULL_BLOCK)]
    for block_id in held.tolist():
        gap = BlockRange(rows[-1].last + 1, block_id - 1)
        if gap.num_blocks:
            rows.append(gap)
        rows.append(BlockRange(block_id, block_id))
    if rows[-1].last < last_block:
        rows.append(BlockRange(rows[-1].last + 1, last_block))
    return rows if len(rows) <= MAX_SINGLE_ROWS else None


class _Follower:
    """Counts of every row while the steps go by."""

    def __init__(self, rows: Sequence[BlockRange], last_held: int, num_requests: int) -> None:
        self.rows = rows
        self.last_held = last_held
        sizes = torch.tensor([min(row.last, last_held) - min(row.first - 1, last_held) for row in rows])  # [num_rows]
        self.row_of = torch.repeat_interleave(torch.arange(len(rows)), sizes)  # by block id, up to the last one held
        self.num_holders = torch.full_like(self.row_of, -1, dtype=torch.int32)  # by block id; -1: never held, 0: stale
        self.place = torch.zeros_like(self.num_holders)  # by block id: scratch of `_each_once`
        self.num_owned = torch.zeros(len(rows), max(num_requests, 1), dtype=torch.int32)
        self.num_held = torch.zeros(len(rows), dtype=torch.int64)
        self.num_stale = torch.zeros(len(rows), dtype=torch.int64)
        self.last_owner = torch.zeros(len(rows), dtype=torch.int64)  # means something in rows of one block
        self.is_changed = torch.ones(len(rows), dtype=torch.bool)
        self.tables: dict[int, list[Part]] = {}  # ids that a live request holds, as they came

    def runs(self, removed: Iterable[Iterable[int]], taken: Iterable[Sequence[Part]]) -> Iterator[Run]:
        """Go through all steps: first requests leave, then others get blocks."""
        done: list[list[Run]] = [[] for _ in self.rows]
        began: list[tuple[int, RowState]] = []
        num_steps = 0
        for index, (leaving, parts) in enumerate(zip(removed, taken, strict=True)):
            num_steps += 1
            self.leave(leaving)
            self.take(parts)
            for row, state in self._changes():
                if index == 0:
                    began.append((0, state))
                elif state != began[row][1]:
                    done[row].append(Run(row, began[row][0], index - 1, began[row][1]))
                    began[row] = (index, state)
        for row, (first_step, state) in enumerate(began):
            yield from done[row]
            yield Run(row, first_step, num_steps - 1, state)

    def take(self, parts: Sequence[Part]) -> None:
        """Requests get blocks."""
        blocks = _Blocks.gather(parts, self.last_held)
        if not len(blocks.ids):
            return
        for part in parts:
            self.tables.setdefault(part[0], []).append(part)
        ids = self._each_once(blocks.ids)
        before = self.num_holders[ids]
        self.num_stale -= self._per_row(ids[before == 0])
        self.num_held += self._per_row(ids[before <= 0])
        self.num_holders[ids] = before.clamp(min=0)
        self._hold(blocks, 1)

    def leave(self, request_idxs: Iterable[int]) -> None:
        """Requests leave all that they hold."""
        blocks = _Blocks.gather([part for idx in request_idxs for part in self.tables.pop(idx, [])], self.last_held)
        if not len(blocks.ids):
            return
        self._hold(blocks, -1)
        is_left = self.num_holders[blocks.ids] == 0
        self.last_owner[self.row_of[blocks.ids[is_left]]] = blocks.owners[is_left]
        per_row = self._per_row(self._each_once(blocks.ids[is_left]))
        self.num_stale += per_row
        self.num_held -= per_row

    def _hold(self, blocks: _Blocks, sign: int) -> None:
        signs = torch.full((len(blocks.ids),), sign, dtype=torch.int32)
        self.num_holders.index_add_(0, blocks.ids, signs)
        rows = self.row_of[blocks.ids]
        self.num_owned.view(-1).index_add_(0, rows * self.num_owned.shape[1] + blocks.owners, signs)
        self.is_changed[rows] = True

    def _each_once(self, ids: Tensor) -> Tensor:
        """The ids without repetitions: two requests may share a block."""
        places = torch.arange(len(ids), dtype=torch.int32)
        self.place[ids] = places
        return ids[self.place[ids] == places]

    def _per_row(self, ids: Tensor) -> Tensor:
        """How many of the ids lie in each row. [num_rows]"""
        return torch.bincount(self.row_of[ids], minlength=len(self.rows))

    def _changes(self) -> Iterator[tuple[int, RowState]]:
        """The rows that were touched since the last call, all of them in the first, and what they are now."""
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
        for row, place, owned, owners, held, stale, last in zip(*(column.tolist() for column in columns), strict=True):
            is_one_stale = stale and self.rows[row].num_blocks == 1
            yield row, RowState(place if owned else None, owned, owners, held, stale, last if is_one_stale else None)
