"""Explaining cells by the declared links, for the tests: the way any reader of the API would do it."""

from collections.abc import Iterator
from typing import Any

from app.trace.expressions import Scope, evaluate
from app.trace.schema import describe

SCHEMA = describe()


def scopes(trace: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Scope]]:
    """Each step with the scope its links are evaluated in."""
    previous = None
    for step in trace["steps"]:
        previous = Scope(step, trace["constants"], previous)
        yield step, previous


def cells(values: Any, num_dims: int, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Every cell of nested lists with its place."""
    if num_dims == 0:
        yield at, values
        return
    for index, inner in enumerate(values):
        yield from cells(inner, num_dims - 1, (*at, index))


def explain(space: str, at: tuple[int, ...], value: Any, scope: Scope) -> tuple[dict[str, Any], Any]:
    """The case that explains a cell, and the value that its formula gives (None if it has none)."""
    declared = SCHEMA["spaces"][space]
    variables = {**dict(zip(declared["dims"], at, strict=True)), "value": value}
    for case in declared["cases"]:
        if case["when"] is None or evaluate(case["when"], variables, scope):
            result = None if case["formula"] is None else evaluate(case["formula"], variables, scope)
            return case, result
    raise AssertionError(f"no case of {space} explains {at}")


def reads_virtual_space(tree: Any) -> bool:
    """Whether an expression reads `all_token_ids`, which no trace holds."""
    return isinstance(tree, list) and (tree[:2] == ["@", "all_token_ids"] or any(map(reads_virtual_space, tree)))
