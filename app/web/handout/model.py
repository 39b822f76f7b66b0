"""What a handout is made of: steps, panels (one for each stage), tables of heads and cells. The template only walks it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.web.identity import Identity

SHORT_LINES = 24


@dataclass(frozen=True)
class Cell:
    """One value, or room to write it in; a cell without a space is where there is no value."""

    space: str = ""
    at: tuple[int, ...] = ()
    text: str = ""
    state: str = ""
    is_blank: bool = False

    @property
    def key(self) -> str:
        """As in addresses: `slot_mappings.0.3`."""
        return ".".join((self.space, *map(str, self.at)))


@dataclass(frozen=True)
class Head:
    """A heading of columns or of a row: a tensor's or index's name, a number, a request, or words."""

    text: str = ""
    is_name: bool = False
    note: str = ""  # behind a name: the KV-cache group, the letter that formulas use
    request: Identity | None = None
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True)
class Row:
    heads: Sequence[Head]
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    caption: str
    heads: Sequence[Sequence[Head]]
    rows: Sequence[Row]
    width: float  # about, on paper
    is_strip: bool  # entries run across, tensors down

    @property
    def num_cells(self) -> int:
        return sum(len(row.cells) for row in self.rows)

    @property
    def num_lines(self) -> int:
        return len(self.heads) + len(self.rows)


@dataclass
class Panel:
    """One stage of a step."""

    stage: str
    number: int
    title: str
    what: str
    is_narrow: bool = False  # its words fit beside its tables
    tables: list[Table] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    @property
    def is_short(self) -> bool:
        """Whether it is better moved to the next page than broken."""
        return sum(table.num_lines for table in self.tables) <= SHORT_LINES


@dataclass(frozen=True)
class Verdict:
    """A violated check, in words."""

    name: str
    message: str


@dataclass(frozen=True)
class StepSheet:
    """One step on paper."""

    index: int
    title: str
    lines: Sequence[str]  # who left, what graph was picked, that nothing is scheduled
    panels: Sequence[Panel]
    num_holding: int  # checks that hold
    violated: Sequence[Verdict]

    @property
    def num_cells(self) -> int:
        return sum(table.num_cells for panel in self.panels for table in panel.tables)
