"""The little language in which links are declared: Python expressions over cells, compiled to JSON trees.

`block_numbers[group, t] * block_size[group] + 1` becomes `["+", ["*", ["@", "block_numbers", "group", "t"], ["@",
"block_size", "group"]], 1]`: whoever holds a trace can evaluate a link, explain a cell with its numbers filled in, or follow
it. `evaluate` is the reference for other readers of the trees; the browser has its own.

Functions: `min`, `max`; `find(space, value)` the index at which a one-dimensional space holds a value;
`bisect(space, value)` the last index at which it is at most that value; `prev(expr)` the same in the previous engine step;
`length(space, index...)` of a ragged row; `control(expr)` the same value, marking its cells as ordering and control.
"""

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Tree = Any  # None, number, bool, name or a list whose first item is the operator

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
}
_SPACE_FUNCTIONS = {"find": "find", "bisect": "bisect", "length": "len"}
_FUNCTIONS = {"min", "max", "prev", "control"}


def compile_expression(text: str) -> Tree:
    """Compile one expression.

    Raises:
        ValueError: the text uses something that the language does not have.
    """
    return _compile(ast.parse(text, mode="eval").body)


def _compile(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=str() as text):
            return ["str", text]
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=ast.Name(id=space), slice=ast.Tuple(elts=indices)):
            return ["@", space, *map(_compile, indices)]
        case ast.Subscript(value=ast.Name(id=space), slice=index):
            return ["@", space, _compile(index)]
        case ast.BinOp(left=left, op=operator, right=right):
            return [_OPERATORS[type(operator)], _compile(left), _compile(right)]
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return [_OPERATORS[type(operator)], _compile(left), _compile(right)]
        case ast.BoolOp(op=operator, values=values):
            return [_OPERATORS[type(operator)], *map(_compile, values)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ["not", _compile(operand)]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ["if", _compile(test), _compile(body), _compile(orelse)]
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=space), *rest]) if name in _SPACE_FUNCTIONS:
            return [_SPACE_FUNCTIONS[name], space, *map(_compile, rest)]
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return [name, *map(_compile, arguments)]
    raise ValueError(f"not in the language of links: {ast.unparse(node)}")


def spaces_read(trees: Iterable[Tree], with_indices: bool = True) -> set[str]:
    """Names of the spaces whose cells expressions read, in this step: `control(...)` and `prev(...)` left out.

    Without indices only those whose values a result is made of, not those that merely say where to look.
    """
    names: set[str] = set()
    for tree in trees:
        match tree:
            case ["@" | "find" | "bisect" | "len" as operator, str(name), *operands]:
                names.add(name)
                if with_indices or operator in ("find", "bisect"):
                    names |= spaces_read(operands, with_indices)
            case ["control" | "prev" | "str", *_]:
                pass
            case [_, *operands]:
                names |= spaces_read(operands, with_indices)
    return names


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Scope:
    """What an expression can see: one step's spaces, the run's constants, the step before."""

    def __init__(self, step: Mapping[str, Any], constants: Mapping[str, Any], previous: "Scope | None" = None) -> None:
        self.arrays: dict[str, Any] = {name: space["values"] for name, space in step["spaces"].items()}
        self.arrays |= {name: value for name, value in constants.items() if isinstance(value, list)}
        self.scalars = {name: value for name, value in constants.items() if not isinstance(value, list)}
        self.scalars |= {name: step[name] for name in ("num_reqs", "num_tokens", "num_reqs_padded", "num_tokens_padded")}
        self.previous = previous

    def cell(self, space: str, indices: list[Any]) -> Any:
        """The value of a cell, None if there is no such cell."""
        node = self.arrays.get(space)
        for index in indices:
            if node is None or index is None or not 0 <= index < len(node):
                return None
            node = node[index]
        return node


def evaluate(tree: Tree, variables: Mapping[str, Any], scope: Scope) -> Any:
    """The value of an expression for a cell whose coordinates are `variables`. Arithmetic with None gives None."""
    match tree:
        case str():
            return variables[tree] if tree in variables else scope.scalars[tree]
        case ["str", text]:
            return text
        case ["@", space, *indices]:
            return scope.cell(space, [evaluate(index, variables, scope) for index in indices])
        case ["prev", inner]:
            return None if scope.previous is None else evaluate(inner, variables, scope.previous)
        case ["control", inner]:
            return evaluate(inner, variables, scope)
        case ["find", space, inner]:
            value, cells = evaluate(inner, variables, scope), scope.arrays.get(space, [])
            return cells.index(value) if value is not None and value in cells else None
        case ["bisect", space, inner]:
            value = evaluate(inner, variables, scope)
            return None if value is None else bisect_right(scope.arrays[space], value) - 1
        case ["len", space, *indices]:
            row = scope.cell(space, [evaluate(index, variables, scope) for index in indices])
            return None if row is None else len(row)
        case ["if", test, body, orelse]:
            return evaluate(body if evaluate(test, variables, scope) else orelse, variables, scope)
        case ["and", *terms]:
            return all(evaluate(term, variables, scope) for term in terms)
        case ["or", *terms]:
            return any(evaluate(term, variables, scope) for term in terms)
        case ["not", inner]:
            return not evaluate(inner, variables, scope)
        case [operator, *operands]:
            values = [evaluate(operand, variables, scope) for operand in operands]
            if operator in ("==", "!="):
                return (values[0] == values[1]) == (operator == "==")
            if None in values:
                return None
            if operator in ("min", "max"):
                return (min if operator == "min" else max)(values)
            return _ARITHMETIC[operator](*values)
    return tree
