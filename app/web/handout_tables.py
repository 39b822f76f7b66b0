"""The tables of one step on paper: which spaces share one, how they are cut, and what is said about what is left out.

In: a `StepReader`. Out: a `Panel` for each stage that has something to show. Spaces with the same axis become one table:
entries run across (a strip) where they are tokens, boundaries or logits, down where they are rows or requests. A space that
this file has never heard of gets its line by its dims. No table is wider than a sheet of A4: what is, goes on below.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.i18n import Translate, catalogue
from app.trace.schema import SPACES
from app.trace.space import Space
from app.web.handout_model import Cell, Head, Panel, Row, Table
from app.web.handout_step import INDEX_LETTERS, TAGS, StepReader
from app.web.identity import Identity

MAX_ACROSS = 64  # tokens, boundaries or logits of a step
MAX_ROWS = 24  # rows of a table
MAX_LIST = 12  # columns of a block table

STAGES = tuple(dict.fromkeys(space.stage for space in SPACES))
_ACROSS = {"flat_token_idx", "batch_boundary", "logits_boundary", "logit_idx"}
_SAME_AXIS = {"flat_token_idx_padded": "flat_token_idx", "batch_idx_padded": "batch_idx"}
# `slot_byte_offsets` are those of the layout that the cache has; marks stand in front of the rows.
_NOT_SHOWN = {"byte_offsets_nhd", "byte_offsets_hnd", *TAGS.values()}

SHEET_WIDTH = 706.0  # CSS pixels between the margins of A4
_NOTES_WIDTH = 260.0  # the least that formulas take beside a table
_DIGIT, _ROOM = 5.8, 7.0  # of one character, and around a number, at the size of print
_REQUEST_WIDTH = 50.0
_LETTER, _LINE, _GAP = 5.4, 12.5, 12.0  # of words; of a row and of a line of words; between tables
SHORT_NAME = 9  # characters of a name that stays on one line


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


class PanelMaker:
    """Makes the panels of one step."""

    def __init__(
        self, reader: StepReader, group_names: Sequence[str], requests: Mapping[str, Identity], translate: Translate
    ) -> None:
        self._reader = reader
        self._group_names = group_names
        self._requests = requests
        self._translate = translate

    def panels(self) -> list[Panel]:
        """A panel for each stage that has spaces in this step."""
        return [panel for number, stage in enumerate(STAGES, 1) if (panel := self._panel(stage, number)).tables]

    def _panel(self, stage: str, number: int) -> Panel:
        panel = Panel(
            stage, number, self._say(f"stage.{stage}"), self._first_of(f"handout.{stage}.what", f"stage.{stage}.what")
        )
        names = self._names(stage)
        tables = self._lines_by_axis(names)
        for axis, lines in sorted(tables.items(), key=self._place):
            entries = self._entries(axis, lines, panel)
            if not entries:
                continue
            make = self._strips if axis in _ACROSS else self._rows
            panel.tables += make(axis, entries, lines, panel.title)
        if panel.tables:
            panel.rules = [rule for name in names if (rule := self._reader.rule(name)) is not None]
            panel.notes += [f"{name}: {self._say(f'{name}.parts')}" for name in names if f"{name}.parts" in catalogue("en")]
            states = (cell.state for table in panel.tables for row in table.rows for cell in row.cells)
            panel.states = sorted({state for state in states if state})
            panel.is_narrow = _is_better_beside(panel)
        return panel

    # ---- what is shown

    def _names(self, stage: str) -> list[str]:
        hidden = _NOT_SHOWN | ({"kv_block_groups"} if self._reader.num_groups == 1 else set())
        return [space.name for space in SPACES if self._is_shown(space, stage) and space.name not in hidden]

    def _is_shown(self, space: Space, stage: str) -> bool:
        return space.stage == stage and space.name in self._reader.spaces

    def _lines_by_axis(self, names: Sequence[str]) -> dict[str, list[Line]]:
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
                    tables.setdefault(_SAME_AXIS.get(axis, axis), []).append(Line(name, group, columns))
        return {
            axis: sorted(lines, key=lambda line: -1 if line.group is None else line.group) for axis, lines in tables.items()
        }

    def _place(self, table: tuple[str, Sequence[Line]]) -> tuple[bool, int]:
        """Tokens first, then the higher tables, so that what stands in one row is about equally high."""
        axis, lines = table
        height = len(lines) if axis in _ACROSS else max(len(self._values(line.space, line.group)) for line in lines)
        return axis != "flat_token_idx", -height

    def _columns(self, name: str, group: int | None) -> tuple[int, ...]:
        """Which columns of a list are shown: all, or the first ones and those that this step's tokens write into."""
        values = self._values(name, group)
        width = max(map(len, values), default=0)
        widest = max((len(str(value)) for row in values[:256] for value in row[:256]), default=1)
        most = max(3, min(MAX_LIST, int((SHEET_WIDTH - 2 * _REQUEST_WIDTH) / (widest * _DIGIT + _ROOM))))
        if width <= most:
            return tuple(range(width))
        written = (
            self._values("block_indices", group) if "block_indices" in self._reader.spaces and group is not None else []
        )
        wanted = [0, *sorted({index for index in written if index < width}), width - 1]
        chosen = set(dict.fromkeys(wanted[:most]))
        for column in range(width):
            if len(chosen) == most:
                break
            chosen.add(column)
        return tuple(sorted(chosen))

    def _entries(self, axis: str, lines: Sequence[Line], panel: Panel) -> list[int]:
        """Which entries of an axis are shown; what is left out is said."""
        count = max(len(self._values(line.space, line.group)) for line in lines)
        if axis == "req_state_idx":
            entries, most = self._pool_rows(count, panel), MAX_ROWS
        else:
            entries, most = list(range(count)), MAX_ACROSS if axis in _ACROSS else MAX_ROWS
        for line in lines:
            values = self._values(line.space, line.group)
            width = max(map(len, values), default=0) if line.columns is not None else 0
            if line.columns is not None and len(line.columns) < width:
                params = {"space": line.space, "n": width - len(line.columns), "all": width}
                panel.notes.append(self._say("handout.cut.columns", params))
        if len(entries) > most:
            params = {"axis": axis, "shown": most, "n": len(entries) - most, "all": len(entries)}
            panel.notes.append(self._say("handout.cut.pool" if axis == "req_state_idx" else "handout.cut", params))
        return entries[:most]

    def _pool_rows(self, count: int, panel: Panel) -> list[int]:
        """Rows in the order they are handed out, those never used left out; if there are many, first those of the batch."""
        free = set(self._reader.step["free_indices"])
        used = [row for row in range(count - 1, -1, -1) if row not in free or self._reader.owner("req_state_idx", row)]
        rest = sorted(set(range(count)) - set(used))
        if not used:
            used = rest[-1:]  # an empty pool: the row that is handed out next
            rest = rest[:-1]
        if rest:
            key = "pool.rest.one" if len(rest) == 1 else "pool.rest"
            panel.notes.append(self._say(key, {"n": len(rest), "rows": _runs(rest)}))
        if len(used) > MAX_ROWS:
            batch = self._reader.spaces.get("idx_mapping", {"values": []})["values"][:MAX_ROWS]
            used = sorted(batch, reverse=True) + [row for row in used if row not in set(batch)]
        return used

    def _values(self, name: str, group: int | None) -> Any:
        values = self._reader.spaces[name]["values"]
        return values if group is None else values[group]

    # ---- entries run across

    def _strips(self, axis: str, entries: Sequence[int], lines: Sequence[Line], title: str) -> Iterator[Table]:
        """One table, or several that go on where the sheet ends."""
        rows = [Row([self._name_of(line)], [self._cell(line, entry) for entry in entries]) for line in lines]
        longest = max(len(cell.text) for row in rows for cell in row.cells)
        labels = [_text_width(head.text, head.note) for row in rows for head in row.heads]
        names = max(*labels, _text_width(axis, INDEX_LETTERS.get(axis, "")))
        width = max(longest, 2) * _DIGIT + _ROOM
        per_band = max(1, int((SHEET_WIDTH - names) / width))
        owners = [self._reader.owner(axis, entry) for entry in entries]
        for first in range(0, len(entries), per_band):
            band = slice(first, first + per_band)
            heads = [[_axis_head(axis), *(Head(str(entry)) for entry in entries[band])]]
            if any(owners):
                heads.insert(0, [Head(self._say("table.request")), *self._request_heads(axis, owners[band])])
            body = [Row(row.heads, row.cells[band]) for row in rows]
            yield Table(self._caption(axis, title), heads, body, names + width * len(entries[band]), is_strip=True)

    def _request_heads(self, axis: str, owners: Sequence[str | None]) -> Iterator[Head]:
        for owner, run in groupby(owners):
            columns = len(list(run))
            yield Head("" if owner else self._nobody(axis), request=self._identity(owner), columns=columns)

    # ---- entries run down

    def _rows(self, axis: str, entries: Sequence[int], lines: Sequence[Line], title: str) -> Iterator[Table]:
        """Tables of some of the lines each; lists of a group are tables of their own."""
        owners = [self._reader.owner(axis, entry) for entry in entries]
        has_requests = any(owners)
        front = _word_width(axis, INDEX_LETTERS.get(axis, "")) + has_requests * _REQUEST_WIDTH
        for part, width in self._parts(entries, lines, SHEET_WIDTH - front):
            has_lists = any(len(line.columns or ()) > 1 or line.group is not None for line in part if line.columns)
            depth = 2 if has_lists else 1
            first = [_axis_head(axis, depth)]
            if has_requests:
                first.append(Head(self._say("table.request"), rows=depth))
            second = []
            for line in part:
                if line.columns is None or not has_lists:
                    first.append(self._name_of(line, rows=depth))
                else:
                    first.append(self._name_of(line, columns=len(line.columns)))
                    second += [Head(str(column)) for column in line.columns]
            rows = []
            for entry, owner in zip(entries, owners, strict=True):
                heads = [Head(str(entry))]
                if has_requests:
                    heads.append(Head("" if owner else self._nobody(axis), request=self._identity(owner)))
                rows.append(Row(heads, list(self._row_cells(part, entry))))
            lines_of_heads = [first, second] if has_lists else [first]
            yield Table(self._caption(axis, title), lines_of_heads, rows, front + width, is_strip=False)

    def _parts(self, entries: Sequence[int], lines: Sequence[Line], room: float) -> Iterator[tuple[list[Line], float]]:
        """Lines that fit beside each other, and how wide they are."""
        part: list[Line] = []
        used = 0.0
        was_own = False
        for line in lines:
            width = self._line_width(line, entries)
            if part and (used + width > room or line.is_own or was_own):
                yield part, used
                part, used = [], 0.0
            part.append(line)
            used += width
            was_own = line.is_own
        if part:
            yield part, used

    def _line_width(self, line: Line, entries: Sequence[int]) -> float:
        columns = line.columns or (None,)
        longest = max(len(self._cell(line, entry, column).text) for entry in entries for column in columns)
        name = self._name_of(line)
        return max((max(longest, 2) * _DIGIT + _ROOM) * len(columns), _word_width(name.text, name.note))

    def _row_cells(self, lines: Sequence[Line], entry: int) -> Iterator[Cell]:
        for line in lines:
            for column in line.columns or (None,):
                yield self._cell(line, entry, column)

    def _nobody(self, axis: str) -> str:
        words = {
            "batch_idx": "state.padding",
            "flat_token_idx": "state.padding",
            "batch_boundary": "handout.end",
            "req_state_idx": "pool.free",
        }
        return self._say(words.get(axis, "handout.nobody"))

    # ---- parts of tables

    def _cell(self, line: Line, entry: int, column: int | None = None) -> Cell:
        values = self._values(line.space, line.group)
        if entry >= len(values):
            return Cell()
        at = line.at(entry, column)
        if column is not None:
            is_padded_row = self._reader.spaces[line.space]["dims"][-2] == "batch_idx_padded" and not values[entry]
            if is_padded_row:  # the trace keeps no columns for it
                return Cell(line.space, at, "0", "padding")
            if column >= len(values[entry]):
                return Cell()
        value = self._reader.value(line.space, at)
        state = self._reader.state(line.space, at, value)
        return Cell(line.space, at, self._reader.text(line.space, value, state), state)

    def _name_of(self, line: Line, rows: int = 1, columns: int = 1) -> Head:
        has_groups = line.group is not None and self._reader.num_groups > 1
        note = self._group_names[line.group] if has_groups and line.group is not None else ""
        return Head(line.space, is_name=True, note=note, rows=rows, columns=columns)

    def _identity(self, req_id: str | None) -> Identity | None:
        return None if req_id is None else self._requests.get(req_id)

    def _caption(self, axis: str, title: str) -> str:
        return f"{title}: {self._say('table.along', {'axis': axis})}"

    def _first_of(self, *keys: str) -> str:
        return next(self._say(key) for key in keys if key in catalogue("en"))

    def _say(self, key: str, params: Mapping[str, Any] | None = None) -> str:
        return self._translate(key, params or {})


def _is_better_beside(panel: Panel) -> bool:
    """Whether words and formulas to the left of the tables take less of the sheet than above and beside them. Roughly."""
    room = SHEET_WIDTH - sum(table.width + _GAP for table in panel.tables)
    if room < _NOTES_WIDTH:
        return False
    height = max(table.num_lines for table in panel.tables) * _LINE
    words, notes = f"{panel.title}    {panel.what}", [*panel.rules, *panel.notes, *panel.states]
    beside = max(height, _height([words], room) + _height(notes, room))
    above = _height([words], SHEET_WIDTH) + max(height, _height(notes, room))
    return beside <= above


def _height(texts: Sequence[str], width: float) -> float:
    widths = [sum(_LETTER if letter.isascii() else 2 * _LETTER for letter in text) for text in texts]
    return _LINE * sum(1 + int(text_width / width) for text_width in widths)


def _axis_head(axis: str, rows: int = 1) -> Head:
    return Head(axis, is_name=True, note=INDEX_LETTERS.get(axis, ""), rows=rows)


def _text_width(name: str, note: str) -> float:
    return (len(name) + (len(note) + 1 if note else 0)) * _DIGIT + _ROOM


def _word_width(name: str, note: str) -> float:
    """Of a name on as many lines as the head of a column gives it."""
    return max(_text_width(lines, "") for lines in [*name_lines(f"{name} {note}".strip())])


def name_lines(name: str) -> list[str]:
    """A long name on two lines of about one length, broken behind an underscore."""
    breaks = [place + 1 for place, letter in enumerate(name) if letter == "_"]
    if len(name) <= SHORT_NAME or not breaks:
        return [name]
    best = min(breaks, key=lambda place: max(place, len(name) - place))
    return [name[:best], name[best:]]


def _runs(numbers: Sequence[int]) -> str:
    """[0, 1, 2, 5] -> "0–2, 5", as in static/js/core/i18n.js."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    shown = ["–".join(map(str, part)) for part in parts[:4]]
    return ", ".join(shown) + (", …" if len(parts) > 4 else "")
