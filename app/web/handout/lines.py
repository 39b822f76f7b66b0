"""What of a step is shown on paper: which spaces along which axis, which entries of it, and what is left out.

In: a `StepReader`. Out: lines (a tensor, of one group) by axis, entries of an axis, and sentences about those left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.i18n import Translate
from app.trace.axes import axis as axis_of
from app.trace.schema import SPACES
from app.trace.space import Stage
from app.trace.words import runs
from app.web.handout.fit import DIGIT, ROOM, SHEET_WIDTH
from app.web.handout.step import StepReader

MAX_ACROSS = 64  # tokens, boundaries or logits of a step
MAX_ROWS = 24  # rows of a table
MAX_LIST = 12  # columns of a block table

# What is no line of its own: details, and the requests' marks, which stand in front of the rows.
NOT_SHOWN = {space.name for space in SPACES if space.is_detail or space.name in {axis_of(dim).tag for dim in space.dims}}


@dataclass(frozen=True)
class Line:
    """One tensor of a table, of one group: a row of a strip, or a column of rows; several where each entry holds a list."""

    space: str
    group: int | None
    columns: tuple[int, ...] | None = None  # of the list: those that are shown

    @property
    def is_own(self) -> bool:
        """Whether it is a table of its own: a list, group by group."""
        return self.columns is not None and self.group is not None

    def at(self, entry: int, column: int | None = None) -> tuple[int, ...]:
        head = (entry,) if self.group is None else (self.group, entry)
        return head if column is None else (*head, column)


class Selection:
    """Chooses for the tables of one step."""

    def __init__(self, reader: StepReader, translate: Translate) -> None:
        self._reader = reader
        self._translate = translate

    def names(self, stage: Stage) -> list[str]:
        """The stage's spaces that this step has; which group a value is of is not said where there is but one."""
        spaces = [space for space in stage.spaces if space.name in self._reader.spaces and space.name not in NOT_SHOWN]
        return [space.name for space in spaces if self._reader.num_groups > 1 or space.holds != "group"]

    def lines_by_axis(self, names: Sequence[str]) -> dict[str, list[Line]]:
        """Axis -> its lines, those without a group first, then group by group."""
        tables: dict[str, list[Line]] = {}
        for name in names:
            space = self._reader.spaces[name]
            dims = space["dims"]
            is_grouped = dims[0] == "group" and len(dims) > 1
            axis = dims[1] if is_grouped else dims[0]
            groups: Sequence[int | None] = range(len(space["values"])) if is_grouped else [None]
            is_list = len(dims) > (2 if is_grouped else 1)
            for group in groups:
                columns = self._columns(name, group) if is_list else None
                if columns != ():
                    tables.setdefault(axis_of(axis).along, []).append(Line(name, group, columns))
        for lines in tables.values():
            lines.sort(key=lambda line: (line.is_own, -1 if line.group is None else line.group))
        return dict(sorted(tables.items(), key=self._place))

    def _place(self, table: tuple[str, Sequence[Line]]) -> tuple[bool, int]:
        """Tokens first, then the higher tables, so that what stands in one row is about equally high."""
        axis, lines = table
        height = (
            len(lines)
            if axis_of(axis).is_across
            else max(len(self._reader.values(line.space, line.group)) for line in lines)
        )
        return axis != "flat_token_idx", -height

    def _columns(self, name: str, group: int | None) -> tuple[int, ...]:
        """Which columns of a list are shown: all, or the first ones and those that this step's tokens write into."""
        values = self._reader.values(name, group)
        width = max(map(len, values), default=0)
        widest = max((len(str(value)) for row in values[:256] for value in row[:256]), default=1)
        most = max(3, min(MAX_LIST, int((SHEET_WIDTH - 180) / (widest * DIGIT + ROOM))))
        if width <= most:
            return tuple(range(width))
        has_written = group is not None and "block_indices" in self._reader.spaces
        written = self._reader.values("block_indices", group) if has_written else []
        wanted = [0, *sorted({index for index in written if index < width}), width - 1]
        chosen = set(dict.fromkeys(wanted[:most]))
        for column in range(width):
            if len(chosen) == most:
                break
            chosen.add(column)
        return tuple(sorted(chosen))

    def entries(self, axis: str, lines: Sequence[Line], notes: list[str]) -> list[int]:
        """Which entries of an axis are shown; what is left out is said."""
        count = max(len(self._reader.values(line.space, line.group)) for line in lines)
        if axis == "req_state_idx":
            entries, most = self._pool_rows(count, notes), MAX_ROWS
        else:
            entries, most = list(range(count)), MAX_ACROSS if axis_of(axis).is_across else MAX_ROWS
        for line in lines:
            values = self._reader.values(line.space, line.group)
            width = max(map(len, values), default=0) if line.columns is not None else 0
            if line.columns is not None and len(line.columns) < width:
                params = {"space": line.space, "n": width - len(line.columns), "all": width}
                notes.append(self._translate("handout.cut.columns", params))
        if len(entries) > most:
            params = {"axis": axis, "shown": most, "n": len(entries) - most, "all": len(entries)}
            notes.append(self._translate("handout.cut.pool" if axis == "req_state_idx" else "handout.cut", params))
        return entries[:most]

    def _pool_rows(self, count: int, notes: list[str]) -> list[int]:
        """Rows in the order they are handed out, those never used left out; if there are many, first those of the batch."""
        free = set(self._reader.step["free_indices"])
        used = [row for row in range(count - 1, -1, -1) if row not in free or self._reader.owner("req_state_idx", row)]
        rest = sorted(set(range(count)) - set(used))
        if not used:
            used = rest[-1:]  # an empty pool: the row that is handed out next
            rest = rest[:-1]
        if rest:
            key = "pool.rest.one" if len(rest) == 1 else "pool.rest"
            notes.append(self._translate(key, {"n": len(rest), "rows": runs(rest, self._translate)}))
        if len(used) > MAX_ROWS:
            batch = self._reader.spaces.get("idx_mapping", {"values": []})["values"][:MAX_ROWS]
            used = sorted(batch, reverse=True) + [row for row in used if row not in set(batch)]
        return used
