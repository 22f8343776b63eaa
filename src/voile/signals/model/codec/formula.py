"""Formulas of columns, such as weight / height ** 2, with NumPy only.

The operations are +, -, *, /, whole powers and square roots. IEEE 754 fixes their last bit, so
client and server compute the same value. No other name or operation is ever evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from voile.core.errors import RequestError
from voile.signals.model.codec.pieces import Floats

LONGEST = 5_000  # characters
HIGHEST = 8  # largest power
OPERATIONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


@dataclass(frozen=True)
class ColumnFormula:
    """A formula of named columns. Quote a name that is not a Python identifier.

    >>> ColumnFormula("weight / 'body height' ** 2").names
    ('weight', 'body height')
    """

    text: str

    def __post_init__(self) -> None:
        _check(self._tree)
        if not self.names:
            raise RequestError(f"the relation {self.text!r} contains no column", where="relation")

    @cached_property
    def _tree(self) -> ast.expr:
        try:
            if len(self.text) > LONGEST:
                raise ValueError
            return ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise _refuse(self.text) from None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names, in the order of their first use."""
        found = (_name(node) for node in _nodes(self._tree))
        return tuple(dict.fromkeys(name for name in found if name))

    def rename_columns(self, names: Mapping[str, str]) -> ColumnFormula:
        """Return the same formula with other column names, all of them identifiers."""
        tree = ast.parse(self.text, mode="eval").body
        return ColumnFormula(ast.unparse(_NameRenaming(names).visit(tree)))

    def evaluate(self, columns: Mapping[str, Floats]) -> Floats:
        """Return the value in each row, NaN or infinite where it is undefined."""
        with np.errstate(all="ignore"):
            return np.asarray(_value(self._tree, columns, np.sqrt), dtype=np.float64)

    def evaluate_one(self, columns: Mapping[str, float]) -> float:
        """Return the value of one row as a Python float, equal to that of `evaluate`.

        Raises
        ------
        ArithmeticError, ValueError : Python has no value for an operation, such as a division by 0.
        """
        return float(_value(self._tree, columns, sqrt))


class _NameRenaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(one) for one in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names[node.id], ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        name = _name(node)
        return ast.Name(self.names[name], ast.Load()) if name else node


def _nodes(tree: ast.expr) -> list[ast.expr]:
    """Return the operands in the order of the text."""
    if isinstance(tree, ast.BinOp):
        return [*_nodes(tree.left), *_nodes(tree.right)]
    if isinstance(tree, ast.UnaryOp):
        return _nodes(tree.operand)
    return _nodes(tree.args[0]) if isinstance(tree, ast.Call) else [tree]


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text and isinstance(node, ast.Constant) else None


def _check(tree: ast.AST) -> None:
    """Refuse everything except arithmetic of columns and numbers."""
    match tree:
        case ast.BinOp(left, ast.Pow(), right):
            _check(left)
            _power(right)
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
            _check(left)
            _check(right)
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            _check(operand)
        case ast.Call(ast.Name("sqrt"), [one], []):
            _check(one)
        case ast.Name() | ast.Constant(int() | float() | str()) if not isinstance(
            getattr(tree, "value", None), bool
        ):
            pass
        case _:
            raise _refuse(ast.unparse(tree))


def _power(node: ast.expr) -> int:
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(value, ast.Constant) and type(value.value) is int and value.value <= HIGHEST:
        return -value.value if isinstance(node, ast.UnaryOp) else value.value
    raise RequestError(
        f"the power {ast.unparse(node)} is no whole number up to {HIGHEST}", where="relation"
    )


def _refuse(text: str) -> RequestError:
    return RequestError(
        f"{text!r} is no relation",
        where="relation",
        instead="use columns, numbers, + - * /, whole powers and sqrt()",
    )


def _value(tree: ast.AST, columns: Mapping[str, Any], root: Callable[[Any], Any]) -> Any:
    match tree:
        case ast.BinOp(left, ast.Pow(), right):
            return _raise(_value(left, columns, root), _power(right))
        case ast.BinOp(left, operation, right):
            pair = _value(left, columns, root), _value(right, columns, root)
            return OPERATIONS[type(operation)](*pair)
        case ast.UnaryOp(sign, operand):
            value = _value(operand, columns, root)
            return -value if isinstance(sign, ast.USub) else value
        case ast.Call(_, [one], _):
            return root(_value(one, columns, root))
    name = _name(tree)
    return columns[name] if name else float(tree.value)  # type: ignore[attr-defined]


def _raise(base: Any, power: int) -> Any:
    """Compute a power by repeated products, without a library function."""
    product = 1.0
    for _ in range(abs(power)):
        product = product * base
    return 1.0 / product if power < 0 else product
