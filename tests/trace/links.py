"""Explaining cells by the declared links, for the tests: the way any reader of the API would do it."""

from collections.abc import Iterator
from typing import Any

from app.trace.expressions import Scope, evaluate
from app.trace.schema import describe

SCHEMA = describe()
Cell = tuple[Any, ...]  # the name of a space, then where in it


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


def variables_of(space: str, at: tuple[int, ...], value: Any) -> dict[str, Any]:
    """What a cell's formulas may name: its own coordinates and its value."""
    return {**dict(zip(SCHEMA["spaces"][space]["dims"], at, strict=True)), "value": value}


def case_of(space: str, variables: dict[str, Any], scope: Scope) -> int:
    """Which case explains a cell."""
    for index, case in enumerate(SCHEMA["spaces"][space]["cases"]):
        if case["when"] is None or evaluate(case["when"], variables, scope):
            return index
    raise AssertionError(f"no case of {space} explains {variables}")


def inputs_and_controls(case: dict[str, Any], variables: dict[str, Any], scope: Scope) -> tuple[set[Cell], set[Cell]]:
    """The cells of the same step that a cell was computed from, and those that only order it."""
    found: tuple[set[Cell], set[Cell]] = (set(), set())
    for tree in (case["formula"], *case["inputs"]):
        for cell, is_control in _reads(tree, variables, scope, False):
            found[is_control].add(cell)
    for tree in case["control"]:
        found[True].update(cell for cell, _ in _reads(tree, variables, scope, True))
    return found


def _reads(tree: Any, variables: dict[str, Any], scope: Scope, is_control: bool) -> Iterator[tuple[Cell, bool]]:
    """Every cell of the step that is looked at on the way to the value of an expression, and whether only for an order."""
    match tree:
        case ["str", _] | ["prev", _]:
            return
        case ["control", inner]:
            yield from _reads(inner, variables, scope, True)
        case ["@", space, *indices]:
            for index in indices:
                yield from _reads(index, variables, scope, is_control)
            at = [evaluate(index, variables, scope) for index in indices]
            if space in SCHEMA["spaces"] and _exists(scope.arrays.get(space, []), at):
                yield (space, *at), is_control
        case ["find" | "bisect" | "len", _, *inner]:
            for index in inner:
                yield from _reads(index, variables, scope, is_control)
        case ["if", test, body, orelse]:
            yield from _reads(test, variables, scope, is_control)
            yield from _reads(body if evaluate(test, variables, scope) else orelse, variables, scope, is_control)
        case ["and" | "or" as operator, *terms]:
            for term in terms:
                yield from _reads(term, variables, scope, is_control)
                if bool(evaluate(term, variables, scope)) == (operator == "or"):
                    return
        case [_, *operands]:
            for operand in operands:
                yield from _reads(operand, variables, scope, is_control)


def _exists(node: Any, at: list[Any]) -> bool:
    for index in at:
        if index is None or not 0 <= index < len(node):
            return False
        node = node[index]
    return True


def coordinates(space: str, at: tuple[int, ...], value: Any, scope: Scope) -> dict[str, Any]:
    """Every coordinate that a cell has, holds, or implies. A negative id points nowhere."""
    declared = SCHEMA["spaces"][space]
    known = dict(zip(declared["dims"], at, strict=True))
    held = declared["holds"]
    if held in _COORDINATES and held not in known and (isinstance(value, str) or (value is not None and value >= 0)):
        known[held] = value
    before = -1
    while before < len(known):
        before = len(known)
        for entry in SCHEMA["coordinates"]:
            if entry["name"] in known or not _names(entry["expr"]) <= known.keys():
                continue
            derived = evaluate(entry["expr"], known, scope)
            if derived is not None and (isinstance(derived, str) or derived >= 0):
                known[entry["name"]] = derived
    return known


def _names(tree: Any) -> set[str]:
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, list):
        return set()
    return set().union(*map(_names, tree[2:] if tree[0] in ("@", "find", "bisect", "len") else tree[1:]))


_COORDINATES = {name for space in SCHEMA["spaces"].values() for name in space["dims"]} | {
    entry["name"] for entry in SCHEMA["coordinates"]
}


def reads_virtual_space(tree: Any) -> bool:
    """Whether an expression reads `all_token_ids`, which no trace holds."""
    return isinstance(tree, list) and (tree[:2] == ["@", "all_token_ids"] or any(map(reads_virtual_space, tree)))
