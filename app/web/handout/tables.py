"""The tables of one step on paper: which spaces share one, how they are cut, and what is said about what is left out.

In: a `StepReader`. Out: a `Panel` for each stage that has something to show. Spaces with the same axis become one table:
entries run across (a strip) where they are tokens, boundaries or logits, down where they are rows or requests. A space that
this file has never heard of gets its line by its dims. No table is wider than a sheet of A4: what is, goes on below.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from app.i18n import Translate, catalogue
from app.trace.axes import axis as axis_of
from app.trace.schema import STAGES
from app.trace.space import Stage
from app.web.handout.fit import (
    BLANK_WIDTH,
    DIGIT,
    ROOM,
    SHEET_WIDTH,
    is_better_beside,
    request_width,
    text_width,
    word_width,
)
from app.web.handout.lines import Line, Selection
from app.web.handout.model import Cell, Head, Panel, Row, Table
from app.web.handout.step import StepReader
from app.web.identity import Identity

MAX_NAME = 16  # characters of a group's name beside a tensor's


class PanelMaker:
    """Makes the panels of one step."""

    def __init__(
        self,
        reader: StepReader,
        group_names: Sequence[str],
        requests: Mapping[str, Identity],
        blank: frozenset[str],
        translate: Translate,
    ) -> None:
        """`blank` names the spaces whose values are left out."""
        self._reader = reader
        self._selection = Selection(reader, translate)
        self._blank = blank
        self._cells: dict[tuple[Line, int, int | None], Cell] = {}
        self._group_names = [name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…" for name in group_names]
        self._requests = requests
        self._translate = translate

    def panels(self) -> list[Panel]:
        """A panel for each stage that has spaces in this step."""
        return [panel for number, stage in enumerate(STAGES, 1) if (panel := self._panel(stage, number)).tables]

    def _panel(self, stage: Stage, number: int) -> Panel:
        what = self._first_of(f"handout.{stage.name}.what", f"stage.{stage.name}.what")
        panel = Panel(stage.name, number, self._say(f"stage.{stage.name}"), what)
        names = self._selection.names(stage)
        for axis, lines in self._selection.lines_by_axis(names).items():
            entries = self._selection.entries(axis, lines, panel.notes)
            if not entries:
                continue
            make = self._strips if axis_of(axis).is_across else self._rows
            panel.tables += make(axis, entries, lines, panel.title)
        if panel.tables:
            panel.rules = [rule for name in names if (rule := self._reader.rule(name)) is not None]
            parts = [name for name in names if f"{name}.parts" in catalogue("en")]
            panel.notes += [name + self._say("list.colon") + self._say(f"{name}.parts") for name in parts]
            states = (cell.state for table in panel.tables for row in table.rows for cell in row.cells)
            panel.states = sorted({state for state in states if state})
            panel.is_narrow = is_better_beside(panel)
        return panel

    # ---- entries run across

    def _strips(self, axis: str, entries: Sequence[int], lines: Sequence[Line], title: str) -> Iterator[Table]:
        """One table, or several that go on where the sheet ends."""
        rows = [Row([self._name_of(line)], [self._cell(line, entry) for entry in entries]) for line in lines]
        names = max(text_width(head.text, head.note) for head in [_axis_head(axis), *(row.heads[0] for row in rows)])
        owners = [self._reader.owner(axis, entry) for entry in entries]
        requests = list(self._request_heads(axis, owners)) if any(owners) else []
        width = max(request_width(requests), *(self._width_of(row.cells) for row in rows))
        num_bands = -(-len(entries) // max(1, int((SHEET_WIDTH - names) / width)))
        per_band = -(-len(entries) // num_bands)  # about equally long ones
        for first in range(0, len(entries), per_band):
            band = slice(first, first + per_band)
            heads = [[_axis_head(axis), *(Head(str(entry)) for entry in entries[band])]]
            if requests:
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
        requests = self._row_requests(axis, entries)
        front = word_width(axis, _letter(axis))
        if requests:
            front += max(request_width(requests), text_width(self._say("table.request"), ""))
        for part, width in self._parts(entries, lines, SHEET_WIDTH - front):
            has_lists = any(len(line.columns or ()) > 1 or line.group is not None for line in part if line.columns)
            depth = 2 if has_lists else 1
            first = [_axis_head(axis, depth)]
            if requests:
                first.append(Head(self._say("table.request"), rows=depth))
            second = []
            for line in part:
                if line.columns is None or not has_lists:
                    first.append(self._name_of(line, rows=depth))
                else:
                    first.append(self._name_of(line, columns=len(line.columns)))
                    second += [Head(str(column)) for column in line.columns]
            rows = [
                Row([Head(str(entry)), *requests[place : place + 1]], list(self._row_cells(part, entry)))
                for place, entry in enumerate(entries)
            ]
            lines_of_heads = [first, second] if has_lists else [first]
            yield Table(self._caption(axis, title), lines_of_heads, rows, front + width, is_strip=False)

    def _row_requests(self, axis: str, entries: Sequence[int]) -> list[Head]:
        """Whose each row is; nothing where no row is anybody's."""
        owners = [self._reader.owner(axis, entry) for entry in entries]
        if not any(owners):
            return []
        return [Head("" if owner else self._nobody(axis), request=self._identity(owner)) for owner in owners]

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
        cells = [self._cell(line, entry, column) for entry in entries for column in columns]
        name = self._name_of(line)
        return max(self._width_of(cells) * len(columns), word_width(name.text, name.note))

    def _width_of(self, cells: Sequence[Cell]) -> float:
        """Of a column that holds these cells."""
        if any(cell.is_blank for cell in cells):
            return BLANK_WIDTH
        return max(2, *(len(cell.text) for cell in cells), 0) * DIGIT + ROOM

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
        key = (line, entry, column)
        if key not in self._cells:
            self._cells[key] = self._read(line, entry, column)
        return self._cells[key]

    def _read(self, line: Line, entry: int, column: int | None) -> Cell:
        values = self._reader.values(line.space, line.group)
        if entry >= len(values):
            return Cell()
        at = line.at(entry, column)
        is_padded_row = False
        if column is not None:
            is_padded_row = self._reader.spaces[line.space]["dims"][-2] == "batch_idx_padded" and not values[entry]
            if column >= len(values[entry]) and not is_padded_row:
                return Cell()
        if line.space in self._blank:
            return Cell(line.space, at, is_blank=True)
        if is_padded_row:  # the trace keeps no columns for it
            return Cell(line.space, at, "0", "padding")
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
        return title + self._say("list.colon") + self._say("table.along", {"axis": axis})

    def _first_of(self, *keys: str) -> str:
        return next(self._say(key) for key in keys if key in catalogue("en"))

    def _say(self, key: str, params: Mapping[str, Any] | None = None) -> str:
        return self._translate(key, params or {})


def _axis_head(axis: str, rows: int = 1) -> Head:
    return Head(axis, is_name=True, note=_letter(axis), rows=rows)


def _letter(axis: str) -> str:
    """The letter that formulas use for an index, "" where they use its name."""
    letter = axis_of(axis).letter
    return "" if letter == axis else letter
