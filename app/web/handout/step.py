"""One step of a trace as a sheet of paper reads it: the text of a cell, what it is besides data, whose it is, its rule.

In: a step of a trace and the declarations of the spaces. Nothing is computed here but what the declarations say: a cell's
case by their `when`, its request by their coordinates, a rule by their formulas.
"""

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.i18n import Translate, group_digits
from app.trace.axes import axis as axis_of
from app.trace.expressions import Scope, Tree, evaluate
from app.trace.schema import describe

_KNOWN_TO_BE_NONE = {"none", "not_local", "missing", "unused"}

LONGEST_RULE = 112  # characters that fit one line of a sheet


class StepReader:
    """The spaces of one step, cell by cell."""

    def __init__(self, step: Mapping[str, Any], constants: Mapping[str, Any], translate: Translate) -> None:
        self.step = step
        self.spaces: Mapping[str, Any] = step["spaces"]
        self.num_groups = len(constants["group_names"])
        self._scope = Scope(step, constants)
        self._translate = translate

    def value(self, space: str, at: Sequence[int]) -> Any:
        return self._scope.cell(space, list(at))

    def values(self, space: str, group: int | None) -> Any:
        """All values, or those of a group."""
        values = self.spaces[space]["values"]
        return values if group is None else values[group]

    def state(self, space: str, at: Sequence[int], value: Any) -> str:
        """What a cell is besides data, "" for plain data: what the case says that explains it."""
        cases = _cases(space)
        if any(state for _, state in cases):
            variables = dict(zip(self.spaces[space]["dims"], at, strict=True)) | {"value": value}
            for when, state in cases:
                if when is None or evaluate(when, variables, self._scope):
                    return state or ("unknown" if value is None else "")
        return "unknown" if value is None else ""

    def text(self, space: str, value: Any, state: str) -> str:
        if value is None:
            return "–" if state in _KNOWN_TO_BE_NONE else "?"
        if isinstance(value, bool):
            return "true" if value else "false"
        if space == "row_status":
            return self._translate(f"value.row_status.{value}", {})
        return group_digits(value) if describe()["spaces"][space]["kind"] == "count" else str(value)

    def owner(self, axis: str, index: int) -> str | None:
        """The req_id that an index along an axis implies."""
        tag = axis_of(axis).tag
        if tag is not None:
            named = self.value(tag, [index])
            return named if isinstance(named, str) else None
        known: dict[str, Any] = {axis: index}
        for name, tree, needed in _coordinates():
            if name not in known and needed <= known.keys():
                value = evaluate(tree, known, self._scope)
                if value is not None:
                    known[name] = value
                if name == "req_id":
                    break
        return known.get("req_id")

    def rule(self, space: str) -> str | None:
        """`block_indices[t] = positions[t] // block_size`: the one formula that holds along a space.

        None where there are several or none, and where counts are copied.
        """
        formulas = []
        fixed = {"group": 0} if self.num_groups == 1 else {}
        for case in describe()["spaces"][space]["cases"]:
            holds = self._always(case["when"], fixed)
            if holds is False:
                continue
            if case["text"] is not None and _is_telling(case["text"]):
                formulas.append(_on_paper(case["text"], self.num_groups == 1))
            if holds:
                break
        dims = [axis_of(dim).letter for dim in self.spaces[space]["dims"] if dim != "group" or self.num_groups > 1]
        if len(set(formulas)) != 1:
            return None
        is_copy = describe()["spaces"][space]["holds"] is None and " " not in formulas[0]
        rule = f"{space}[{', '.join(dims)}] = {formulas[0]}"
        return None if is_copy or len(rule) > LONGEST_RULE else rule

    def _always(self, when: Tree, fixed: Mapping[str, Any]) -> bool | None:
        """Whether a condition holds for every cell of the scenario, or for none; None if that depends on the cell."""
        if when is None:
            return True
        try:
            return bool(evaluate(when, fixed, self._scope))
        except KeyError:
            return None


@functools.cache
def _cases(space: str) -> list[tuple[Tree, str]]:
    """Condition and state of each case of a space, "" for plain data."""
    cases = describe()["spaces"][space]["cases"]
    return [(case["when"], "" if case["state"] == "data" else case["state"]) for case in cases]


@functools.cache
def _coordinates() -> list[tuple[str, Tree, frozenset[str]]]:
    """Name, expression and the coordinates it needs, in the order in which they are tried."""
    found = []
    for coordinate in describe()["coordinates"]:
        tree = coordinate["expr"]
        found.append((coordinate["name"], tree, frozenset(_names(tree))))
    return found


def _names(tree: Tree) -> set[str]:
    """The variables of an expression."""
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, list):
        return set()
    operands = tree[2:] if tree[0] in {"@", "find", "bisect", "len"} else tree[1:]
    return set().union(*map(_names, operands)) if operands else set()


def _is_telling(formula: str) -> bool:
    """Whether a formula reads other cells by names that a reader of the sheet sees in its tables."""
    return "[" in formula and not re.search(r"\b(find|bisect|prev|length|all_token_ids)\b", formula)


@functools.cache
def _on_paper(formula: str, is_one_group: bool) -> str:
    """A formula with one-letter indices, the group left out where there is but one."""
    return ast.unparse(_OnPaper(is_one_group).visit(ast.parse(formula, mode="eval")))


class _OnPaper(ast.NodeTransformer):
    def __init__(self, is_one_group: bool) -> None:
        self._is_one_group = is_one_group

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(axis_of(node.id).letter)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        arguments = [self.visit(argument) for argument in node.args]
        return arguments[0] if node.func.id == "control" else ast.Call(node.func, arguments, [])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kept = [index for index in indices if not (self._is_one_group and _is_group(index))]
        if not kept:
            return node.value
        shown = [self.visit(index) for index in kept]
        return ast.Subscript(node.value, shown[0] if len(shown) == 1 else ast.Tuple(shown))


def _is_group(index: ast.expr) -> bool:
    """The group itself, or the group of a block in use."""
    if isinstance(index, ast.Subscript):
        return isinstance(index.value, ast.Name) and index.value.id == "kv_block_groups"
    return isinstance(index, ast.Name) and index.id == "group"
