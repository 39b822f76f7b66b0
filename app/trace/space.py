"""What a declaration of an index space is made of.

A *space* is a tensor with named dims. Its *cases* say how a cell follows from other cells: the first case whose `when` is
true explains it, by a `formula` (see `expressions`) or, where it was given or carried over, by a `note` alone. Hovering,
arrows, formulas, the inspector and exports all read these declarations; to add a tensor, compute it in the pipeline, put its
values into the trace in `build`, and declare it in `spaces`.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.trace.expressions import compile_expression

Stage = Literal["schedule", "state-pool", "batch", "flatten", "block-tables", "slot-mapping", "kv-cache", "update"]
Exactness = Literal["exact", "simplified", "illustrative"]


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

    def describe(self) -> dict[str, Any]:
        return {
            "note": self.note,
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


@dataclass(frozen=True)
class Space:
    """One tensor: what its axes are, what its values mean, where it comes from.

    `holds` names the index space its values lie in, None if they are counts, lengths, ids or flags.
    """

    name: str
    dims: tuple[str, ...]
    dtype: Literal["int32", "int64", "bool", "str"]
    stage: Stage
    cases: Sequence[Case]
    source: Source
    vllm: tuple[str, str] | None  # file and symbol of vLLM 0.33.0
    holds: str | None = None
    exactness: Exactness = "exact"

    @property
    def sources(self) -> list[Source]:
        """All functions that compute cells of the space."""
        return [self.source, *(case.source for case in self.cases if case.source is not None)]

    def describe(self) -> dict[str, Any]:
        return {
            "dims": list(self.dims),
            "dtype": self.dtype,
            "stage": self.stage,
            "holds": self.holds,
            "exactness": self.exactness,
            "source": self.source.describe(),
            "vllm": None if self.vllm is None else {"file": self.vllm[0], "symbol": self.vllm[1]},
            "cases": [case.describe() for case in self.cases],
        }
