"""Who holds which block: ids that the scenario names are checked, the others come from the block pool.

Ids from the pool belong to one request by construction, so only named ids need an owner's register.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import Fault, remove
from app.scenario.block_pool import BlockPool
from app.scenario.model import Config

UNKNOWN_BLOCK = -1  # stands for a null in the scenario

Table = array  # of int32 block ids, one per column
Given = Sequence[Sequence[int | None]] | None


@dataclass
class Holder:
    """What the ledger needs to know of a request."""

    req_id: str
    num_computed_tokens: int = 0
    hit: int = 0  # computed tokens it brought when it was admitted
    tables: "list[array[int]]" = field(default_factory=list)  # per group
    has_named_blocks: bool = False


@dataclass(frozen=True)
class _Place:
    holder: Holder
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
        self.is_tracking = True  # false once the pool ran out: from then on tables are not known
        self.num_columns = [1 for _ in self.groups]  # per group: columns that tables or positions reach
        self.num_asked = 0
        self.no_blocks: list[array[int]] = [array("i") for _ in self.groups]
        self._strict = strict
        self._named_ids = named_ids
        self._num_pool_blocks = pool.num_free
        self._holders: dict[int, list[_Place]] = {}  # named block id -> who holds it where
        self._asked: list[tuple[Holder, list[int]]] = []
        self._new: dict[str, list[array[int]]] = {}

    @property
    def num_used_blocks(self) -> int:
        """Different blocks in the tables of live requests."""
        return self._num_pool_blocks - self.pool.num_free + len(self._holders)

    def begin(
        self,
        holder: Holder,
        given: Given,
        num_tokens: int,
        where: str,
        params: Mapping[str, Any],
        is_initial: bool = False,
    ) -> list[Fault]:
        """Start the tables of a request that gets a row. See `extend`."""
        holder.tables = [array("i") for _ in self.groups]
        holder.has_named_blocks = False
        return self.extend(holder, given, num_tokens, where, {**params, "is_initial": is_initial})

    def extend(self, holder: Holder, given: Given, num_tokens: int, where: str, params: Mapping[str, Any]) -> list[Fault]:
        """Let a request's tables cover `num_tokens` tokens: with the ids `given` per group, else from the pool.

        Returns the faults of what was given: `row_capacity`, and while strict `blocks_short`, `block_range`, `block_null`
        and `block_owned`. `where` is the pointer of the list of groups.
        """
        if not self.is_tracking:
            return [fault for fault in self._id_faults(holder, given or (), where, params) if fault.code == "block_range"]
        needed = [-(-num_tokens // self.config.tokens_per_block(group)) for group in self.groups]
        if given is None:
            missing = [max(count - len(table), 0) for count, table in zip(needed, holder.tables, strict=True)]
            self._asked.append((holder, missing))
            self.num_asked += sum(missing)
            self._new[holder.req_id] = []
            ends = [len(table) + count for table, count in zip(holder.tables, missing, strict=True)]
            self._reach(ends)
            return []

        faults = [*self._capacity_faults(holder, given, where, params)]
        if self._strict:
            faults += self._short_faults(holder, given, needed, where, params)
            faults += self._id_faults(holder, given, where, params)
        if not faults:
            self._take_named(holder, given)
            self._reach([max(len(table), count) for table, count in zip(holder.tables, needed, strict=True)])
        return faults

    def settle(self) -> "dict[str, list[array[int]]]":
        """Serve what was asked since the last call. Returns the new ids per request and group, where there are any."""
        if self.is_tracking:
            for holder, counts in self._asked:
                taken = [self.pool.take(count) for count in counts]
                for table, block_ids in zip(holder.tables, taken, strict=True):
                    table.extend(block_ids)
                self._new[holder.req_id] = taken
        new = {req_id: block_ids for req_id, block_ids in self._new.items() if any(block_ids)}
        self._asked, self._new, self.num_asked = [], {}, 0
        return new if self.is_tracking else {}

    def release(self, holder: Holder) -> None:
        """Take back the blocks of a request that leaves: pool blocks to the front, group by group, each table reversed."""
        if not self.is_tracking:
            return
        for table in holder.tables:
            if not holder.has_named_blocks:
                self.pool.give_back(table)
                continue
            own = array("i", (block_id for block_id in table if block_id > 0 and block_id not in self._named_ids))
            self.pool.give_back(own)
            for block_id in table:
                places = [place for place in self._holders.get(block_id, ()) if place.holder is not holder]
                if places:
                    self._holders[block_id] = places
                else:
                    self._holders.pop(block_id, None)
        holder.tables = []

    def _reach(self, ends: Sequence[int]) -> None:
        self.num_columns = [max(old, end) for old, end in zip(self.num_columns, ends, strict=True)]

    def _take_named(self, holder: Holder, given: Sequence[Sequence[int | None]]) -> None:
        holder.has_named_blocks = True
        new: list[array[int]] = []
        for group, (table, block_ids) in enumerate(zip(holder.tables, given, strict=True)):
            start = len(table)
            new.append(array("i", (UNKNOWN_BLOCK if block_id is None else block_id for block_id in block_ids)))
            table.extend(new[-1])
            for column, block_id in enumerate(block_ids, start):
                if block_id:
                    self._holders.setdefault(block_id, []).append(_Place(holder, group, column))
        self._new[holder.req_id] = new

    def _num_below_window(self, holder: Holder, group: int) -> int:
        """Leading columns that no query of the request can see any more."""
        window = self.groups[group].sliding_window
        if window is None:
            return 0
        return max(holder.num_computed_tokens - (window - 1), 0) // self.groups[group].block_size

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
        if not self._strict:
            return
        seen: dict[int, tuple[int, int]] = {}  # block id -> (group, column) among the ids given here
        for group, block_ids in enumerate(given):
            table = holder.tables[group] if holder.tables else ()
            below_window = self._num_below_window(holder, group) if self.config.context_parallel.size == 1 else 0
            is_leading = not any(table)  # only null blocks so far
            tokens_per_block = self.config.tokens_per_block(self.groups[group])
            for place, block_id in enumerate(block_ids):
                column = len(table) + place
                is_leading = is_leading and block_id == 0
                at = f"{where}/{group}/{place}"
                details = {**params, "group": group, "column": column, "block_id": block_id}
                is_readable = column >= below_window
                if block_id == 0 and not (is_leading and column < below_window):
                    details |= {"null_columns": below_window}
                    yield Fault(at, "block_null", "block_null", details, remove(where))
                elif block_id is not None and block_id >= self.config.num_blocks:
                    details |= {"num_blocks": self.config.num_blocks, "last": self.config.num_blocks - 1}
                    yield Fault(at, "block_range", "block_range", details, remove(where))
                elif block_id and is_readable and self.is_tracking:
                    owner = self._owner(holder, group, column, block_id, column_end=(column + 1) * tokens_per_block)
                    if owner is not None:
                        details |= {"owner": owner.holder.req_id, "owner_group": owner.group, "owner_column": owner.column}
                        own = owner.holder is holder
                        message = "block_owned.twice" if own else "block_owned"
                        yield Fault(at, "block_owned", message, details, remove(where))
                    elif block_id in seen:
                        details |= {"owner": holder.req_id, "owner_group": seen[block_id][0]}
                        details |= {"owner_column": seen[block_id][1]}
                        yield Fault(at, "block_owned", "block_owned.twice", details, remove(where))
                    seen.setdefault(block_id, (group, column))

    def _owner(self, holder: Holder, group: int, column: int, block_id: int, column_end: int) -> _Place | None:
        """Who else holds a block in a way that `holder` cannot share: None where it can have it."""
        for place in self._holders.get(block_id, ()):
            if place.column < self._num_below_window(place.holder, place.group):
                continue  # wholly below its window: no longer read
            is_shared_prefix = (
                place.holder is not holder and (place.group, place.column) == (group, column) and column_end <= holder.hit
            )
            if not is_shared_prefix:
                return place
        return None
