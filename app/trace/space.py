"""What a declaration of a stage and of its index spaces is made of.

A *space* is a tensor with named dims, declared together with the function that takes its values from a step. Its *cases* say
how a cell follows from other cells and how it looks: the first case whose `when` is true explains it, by a `formula` (see
`expressions`) or, where it was given or carried over, by a `note` alone. A *stage* is a part of the pipeline.

Tables, stepping, arrows, formulas, the inspector, worksheets and exports all read these declarations, here and in the
browser. To add a tensor, compute it in the pipeline and declare it in the file of its stage.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.i18n import Translate
from app.trace.expressions import compile_expression

if TYPE_CHECKING:
    from app.trace.step import StepTensors

Exactness = Literal["exact", "simplified", "illustrative"]
# What the values are. Counts (lengths and bytes too) get thousands separators; ids and indices are printed as they are.
Kind = Literal["count", "id", "index", "flag", "text"]
# What a cell is besides plain data, each with a look of its own.
State = Literal[
    "data",
    "stale",  # left by an earlier step or request; not read
    "freed",  # of a row that nobody holds any more
    "unused",  # of a row that nobody has had yet
    "null",  # the null block
    "padding",
    "unknown",  # a log does not tell
    "missing",  # the table has no block for it
    "not_local",  # of another rank
    "rejected",
    "none",  # there is nothing to say: no slot, so no byte
]


@dataclass(frozen=True)
class Case:
    """How a cell follows from others, for the cells where `when` is true (None: always).

    `note` names the sentence about it (`note.<note>` in app/locales). The cells read by `formula` and `inputs` are its
    direct inputs, those under `control(...)` and in `control` only order it.
    """

    note: str
    formula: str | None = None
    when: str | None = None
    inputs: Sequence[str] = ()
    control: Sequence[str] = ()
    source: "Source | None" = None  # where other lines than the space's own compute these cells
    state: State = "data"

    def describe(self) -> dict[str, Any]:
        return {
            "note": self.note,
            "state": self.state,
            "when": None if self.when is None else compile_expression(self.when),
            "formula": None if self.formula is None else compile_expression(self.formula),
            "text": self.formula,
            "inputs": [compile_expression(text) for text in self.inputs],
            "control": [compile_expression(text) for text in self.control],
            "source": None if self.source is None else self.source.describe(),
        }


@dataclass(frozen=True)
class Source:
    """The function that computes a space and the text that marks its lines."""

    function: Callable[..., Any]
    marks: Sequence[str]

    @functools.cached_property
    def _lines(self) -> tuple[list[str], int]:
        return inspect.getsourcelines(self.function)

    @property
    def symbol(self) -> str:
        """Name of the function in its module."""
        return self.function.__qualname__

    def describe(self) -> dict[str, Any]:
        """Which lines of the function, counted from its first, compute the space."""
        lines, _ = self._lines
        marked = [index for index, line in enumerate(lines) if any(mark in line for mark in self.marks)]
        assert marked, f"no line of {self.symbol} has {self.marks}"
        return {"symbol": self.symbol, "mark": marked}

    def describe_function(self) -> dict[str, Any]:
        """The function itself: file, first line and text."""
        lines, first_line = self._lines
        return {
            "file": self.function.__module__.replace(".", "/") + ".py",
            "first_line": first_line,
            "lines": [line.rstrip("\n") for line in lines],
        }


def _always(_: "StepTensors") -> bool:
    return True


@dataclass(frozen=True)
class Space:
    """One tensor: what its axes are, what its values mean, where it comes from.

    `values` takes them from a step: nested lists that follow `dims`, None where a log does not tell. The innermost lists may
    be numpy arrays, which are encoded without an object per value.
    """

    name: str
    dims: tuple[str, ...]
    dtype: Literal["int32", "int64", "bool", "str"]
    kind: Kind
    cases: Sequence[Case]
    source: Source
    vllm: tuple[str, str] | None  # file and symbol of vLLM 0.33.0
    values: "Callable[[StepTensors], Any]"
    holds: str | None = None  # the index space that its values lie in, None if they are counts, ids or flags
    exactness: Exactness = "exact"
    is_key: bool = False  # its line stays when its stage is not the one at hand
    is_own: bool = False  # vLLM keeps it in another form: the name is ours; so it is where `vllm` is None
    is_answer: bool = False  # a class works it out by hand: a worksheet leaves it blank
    is_detail: bool = False  # no line of its own in the tables of its stage
    exists: "Callable[[StepTensors], bool]" = _always  # whether a step has it

    @property
    def sources(self) -> list[Source]:
        """All functions that compute cells of the space."""
        return [self.source, *(case.source for case in self.cases if case.source is not None)]

    def describe(self) -> dict[str, Any]:
        """Everything but the stage, as JSON-like data."""
        return {
            "dims": list(self.dims),
            "dtype": self.dtype,
            "kind": self.kind,
            "holds": self.holds,
            "exactness": self.exactness,
            "is_key": self.is_key,
            "is_detail": self.is_detail,
            "is_own": self.is_own or self.vllm is None,
            "source": self.source.describe(),
            "vllm": None if self.vllm is None else {"file": self.vllm[0], "symbol": self.vllm[1]},
            "cases": [case.describe() for case in self.cases],
        }


@dataclass(frozen=True)
class Stage:
    """One part of the pipeline. Its spaces stand in the order in which a table lists them.

    Its texts are `stage.<name>`, `stage.<name>.what` and `.why` in app/locales.
    """

    name: str
    spaces: Sequence[Space]
    sentence: "Callable[[StepTensors, Translate], str] | None" = None  # what it did in a step, with the step's own numbers
    tier: int | None = None  # stages of one tier stand side by side on the board; None: it has its own place above the board
    elements: tuple[str, str] | None = None  # the space whose cells stand for its elements, the index they are counted by
    asks: str | None = None  # the space that it finds out, kept back while a class is asked
    needs_batch: bool = True  # a step that schedules nothing does not have it

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "tier": self.tier,
            "elements": None if self.elements is None else {"space": self.elements[0], "axis": self.elements[1]},
            "asks": self.asks,
        }
