"""Who holds which block: ids that the scenario names are checked, the others come from the block pool.

Ids from the pool belong to one request by construction, so only named ids need an owner's register.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from app.errors import MAX_FAULTS, Fault, remove
from app.rules import NULL_BLOCK, UNKNOWN_BLOCK, num_blocks_for, num_null_blocks
from app.scenario.format.model import Config
from app.scenario.plan.block_pool import BlockPool


@dataclass
class Holder:
    """What the ledger needs to know of a request."""

    req_id: str
    num_computed_tokens: int = 0
    hit: int = 0  # computed tokens it brought when it was admitted
    tables: "list[array[int]]" = field(default_factory=list)  # per group
    has_named_blocks: bool = False
    has_faulty_blocks: bool = False  # some given to it were wrong: their number is not judged again


@dataclass(frozen=True)
class _Place:
    """A cell of a block table."""

    req_id: str
    group: int
    column: int


class BlockLedger:
    """Block tables of the live requests, as ids, while a plan is made.

    A step first says what every scheduled request needs (`begin`, `extend`), then serves it (`settle`): either the pool has
    blocks for the whole step or nobody gets any.
    """

    def __init__(self, config: Config, pool: BlockPool, named_ids: Collection[int], strict: bool) -> None:
        self.config = config
        self.groups = config.kv_cache_groups
        self.pool = pool
        self.is_exhausted = False  # the pool ran out: from then on its blocks are placeholders
        self.num_columns = [1 for _ in self.groups]  # per group: columns that tables or positions reach
        self.num_asked = 0
        self.no_blocks: list[array[int]] = [array("i") for _ in self.groups]
        self._tokens_per_block = [config.tokens_per_block(group) for group in self.groups]
        self._strict = strict
        self._patience = MAX_FAULTS  # ids that may be wrong before the others are not judged: no more are reported anyway
        self._named_ids = named_ids
        self._num_pool_blocks = pool.num_free
        self.num_entries = 0  # in the tables of live requests, all groups
        self._num_cells: dict[int, int] = {}  # named block id -> cells of live tables that hold it
        self._num_outside = 0  # named ids in live tables that are no block of the pool
        # While strict: named block id -> (group, column) -> the requests by name that hold it there and may still read it.
        self._readers: dict[int, dict[tuple[int, int], dict[str, Holder]]] = {}
        self._asked: list[tuple[Holder, list[int]]] = []
        self._new: dict[str, list[array[int]]] = {}

    @property
    def num_used_blocks(self) -> int:
        """Different blocks in the tables of live requests."""
        return self._num_pool_blocks - self.pool.num_free + len(self._num_cells)

    @property
    def num_free_blocks(self) -> int:
        """Blocks that nobody holds, also those that the scenario names and the pool therefore never hands out."""
        return self.config.num_blocks - 1 - (self.num_used_blocks - self._num_outside)

    def begin(self, holder: Holder) -> None:
        """Start the tables of a request that gets a row."""
        holder.tables = [array("i") for _ in self.groups]
        holder.has_named_blocks = holder.has_faulty_blocks = False

    def ask(self, holder: Holder, num_tokens: int) -> None:
        """Let a request's tables cover `num_tokens` tokens with blocks from the pool."""
        sizes = self._tokens_per_block
        missing = [
            max(num_blocks_for(num_tokens, size) - len(table), 0) for size, table in zip(sizes, holder.tables, strict=True)
        ]
        if not any(missing):
            return
        self._asked.append((holder, missing))
        self.num_asked += sum(missing)
        self._reach([len(table) + count for table, count in zip(holder.tables, missing, strict=True)])

    def extend(
        self,
        holder: Holder,
        given: Sequence[Sequence[int | None]],
        num_tokens: int,
        where: str,
        params: Mapping[str, Any],
    ) -> list[Fault]:
        """Append the ids `given` per group to a request's tables, which then should cover `num_tokens` tokens.

        Returns the faults of what was given: `row_capacity`, and while strict `blocks_short`, `block_range`, `block_null`
        and `block_owned`. `where` is the pointer of the list of groups. Faulty ids are held like others, so that whoever
        names them too is told.
        """
        needed = [num_blocks_for(num_tokens, size) for size in self._tokens_per_block]
        faults: list[Fault] = []
        if not holder.has_faulty_blocks:
            faults += self._capacity_faults(holder, given, where, params)
        if self._strict:
            if not holder.has_faulty_blocks:
                faults += self._short_faults(holder, given, needed, where, {**params, "num_tokens": num_tokens})
            id_faults = [*islice(self._id_faults(holder, given, where, params), self._patience)]
            self._patience -= len(id_faults)
            faults += id_faults
        holder.has_faulty_blocks = holder.has_faulty_blocks or bool(faults)
        self._take_named(holder, given)
        self._reach([max(len(table), count) for table, count in zip(holder.tables, needed, strict=True)])
        return faults

    def settle(self) -> "dict[str, list[array[int]]]":
        """Serve what was asked since the last call. Returns the new ids per request and group, where there are any."""
        for holder, counts in self._asked:
            if self.is_exhausted:
                taken = [array("i", [UNKNOWN_BLOCK]) * count for count in counts]
            else:
                taken = [self.pool.take(count) for count in counts]
            for table, block_ids in zip(holder.tables, taken, strict=True):
                table.extend(block_ids)
                self.num_entries += len(block_ids)
            self._new[holder.req_id] = taken
        new = {req_id: block_ids for req_id, block_ids in self._new.items() if any(block_ids)}
        self._asked, self._new, self.num_asked = [], {}, 0
        return {} if self.is_exhausted else new

    def release(self, holder: Holder) -> None:
        """Take back the blocks of a request that leaves: pool blocks to the front, group by group, each table reversed."""
        for group, table in enumerate(holder.tables):
            self.num_entries -= len(table)
            own = table
            if holder.has_named_blocks:
                own = array(
                    "i", (block_id for block_id in table if block_id > NULL_BLOCK and block_id not in self._named_ids)
                )
                self._let_go(holder, group, table)
            if not self.is_exhausted:
                self.pool.give_back(own)
        holder.tables = []

    def _reach(self, ends: Sequence[int]) -> None:
        if not self.is_exhausted:
            self.num_columns = [max(old, end) for old, end in zip(self.num_columns, ends, strict=True)]

    def _take_named(self, holder: Holder, given: Sequence[Sequence[int | None]]) -> None:
        holder.has_named_blocks = True
        new: list[array[int]] = []
        for group, (table, block_ids) in enumerate(zip(holder.tables, given, strict=True)):
            start = len(table)
            new.append(array("i", (UNKNOWN_BLOCK if block_id is None else block_id for block_id in block_ids)))
            table.extend(new[-1])
            self.num_entries += len(block_ids)
            for column, block_id in enumerate(block_ids, start):
                if block_id is None or block_id == NULL_BLOCK:
                    continue
                if block_id not in self._num_cells:
                    self._num_outside += block_id >= self.config.num_blocks
                self._num_cells[block_id] = self._num_cells.get(block_id, 0) + 1
                if self._strict:
                    self._readers.setdefault(block_id, {}).setdefault((group, column), {})[holder.req_id] = holder
        self._new[holder.req_id] = new

    def _let_go(self, holder: Holder, group: int, table: "array[int]") -> None:
        for column, block_id in enumerate(table):
            if block_id not in self._num_cells:  # unknown, null or the pool's
                continue
            self._num_cells[block_id] -= 1
            if not self._num_cells[block_id]:
                del self._num_cells[block_id]
                self._num_outside -= block_id >= self.config.num_blocks
                self._readers.pop(block_id, None)
            elif self._strict:
                self._readers[block_id].get((group, column), {}).pop(holder.req_id, None)

    def _num_below_window(self, holder: Holder, group: int) -> int:
        """Leading columns that no query of the request can see any more."""
        config = self.groups[group]
        return num_null_blocks(holder.num_computed_tokens, config.sliding_window, config.block_size)

    def _capacity_faults(
        self, holder: Holder, given: Sequence[Sequence[int | None]], where: str, params: Mapping[str, Any]
    ) -> Iterator[Fault]:
        for group, block_ids in enumerate(given):
            limit = self.config.num_columns(self.groups[group])
            count = len(holder.tables[group]) + len(block_ids)
            if count > limit:
                details = {**params, "group": group, "count": count, "limit": limit, "held": len(holder.tables[group])}
                yield Fault(f"{where}/{group}", "row_capacity", "row_capacity", details, remove(where))

    def _short_faults(
        self,
        holder: Holder,
        given: Sequence[Sequence[int | None]],
        needed: Sequence[int],
        where: str,
        params: Mapping[str, Any],
    ) -> Iterator[Fault]:
        for group, block_ids in enumerate(given):
            count = len(holder.tables[group]) + len(block_ids)
            if count < needed[group]:
                details = {**params, "group": group, "count": count, "needed": needed[group]}
                details["missing"] = needed[group] - count
                yield Fault(f"{where}/{group}", "blocks_short", "blocks_short", details, remove(where))

    def _id_faults(
        self, holder: Holder, given: Sequence[Sequence[int | None]], where: str, params: Mapping[str, Any]
    ) -> Iterator[Fault]:
        num_blocks = self.config.num_blocks
        seen: dict[int, _Place] = {}  # block id -> its first place among the ids given here
        for group, block_ids in enumerate(given):
            table = holder.tables[group]
            below_window = self._num_below_window(holder, group)
            is_leading = not any(table)  # only null blocks so far
            for column, block_id in enumerate(block_ids, len(table)):
                is_leading = is_leading and block_id == NULL_BLOCK
                details: dict[str, Any] = {}
                if block_id is None:
                    continue
                if block_id == NULL_BLOCK:
                    if is_leading and column < below_window:
                        continue
                    code, message = "block_null", "block_null" if column >= below_window else "block_null.not_leading"
                    message = message if below_window else "block_null.nowhere"
                    details = {"null_columns": below_window, "last": num_blocks - 1}
                elif block_id >= num_blocks:
                    code = message = "block_range"
                    details = {"num_blocks": num_blocks, "last": num_blocks - 1}
                elif column < below_window:
                    continue  # no query reads it
                else:
                    owner = self._owner(holder, group, column, block_id) or seen.get(block_id)
                    seen.setdefault(block_id, _Place(holder.req_id, group, column))
                    if owner is None:
                        continue
                    code = "block_owned"
                    details = {"owner": owner.req_id, "owner_group": owner.group, "owner_column": owner.column}
                    message = "block_owned.twice" if owner.req_id == holder.req_id else "block_owned"
                    if owner.req_id != holder.req_id and (owner.group, owner.column) == (group, column):
                        message = "block_owned.not_computed"
                        details |= {"hit": holder.hit, "needed_hit": (column + 1) * self._tokens_per_block[group]}
                details = {**params, "group": group, "column": column, "block_id": block_id, **details}
                yield Fault(f"{where}/{group}/{column - len(table)}", code, message, details, remove(where))

    def _owner(self, holder: Holder, group: int, column: int, block_id: int) -> _Place | None:
        """Who else holds a block in a way that `holder` cannot share: None where it can have it."""
        readers = self._readers.get(block_id)
        if not readers:
            return None
        is_computed = (column + 1) * self._tokens_per_block[group] <= holder.hit
        unread: list[tuple[int, int]] = []
        found: _Place | None = None
        for place, others in readers.items():
            if place == (group, column) and is_computed:
                continue  # a shared prefix
            reader = self._first_reader(others, *place)
            if reader is not None:
                found = _Place(reader, *place)
                break
            unread.append(place)
        for place in unread:
            del readers[place]
        return found

    def _first_reader(self, others: dict[str, Holder], group: int, column: int) -> str | None:
        """The first that can still read the column; those for which it has fallen below their window are forgotten."""
        while others:
            req_id, other = next(iter(others.items()))
            if column >= self._num_below_window(other, group):
                return req_id
            del others[req_id]
        return None
