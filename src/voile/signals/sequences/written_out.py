"""Sums over a direction's coefficients, written out: plain Python.

A loop costs Python several times what the products in it do. Written out once for each number of
coefficients, they are summed in the loop's order, and so to the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = Sequence[float]
Numbers: TypeAlias = tuple[float, ...]

LARGEST = 16  # coefficients: the text grows as their square


class Sums(NamedTuple):
    """Functions of vectors (K,) and of matrices (K K,), row after row."""

    plus: Callable[[Row, Row, float], Numbers]  # a + b t
    plus_all: Callable[[Row, Row, float], Numbers]  # the same of matrices
    dot: Callable[[Row, Row], float]
    times: Callable[[Row, Row], Numbers]  # a matrix times a vector
    plus_outer: Callable[[Row, Row, Row], Numbers]  # p + a b', a matrix


@cache
def sums_of(size: int) -> Sums:
    """Return the functions of vectors of a size, 1 to `LARGEST`."""
    made: dict[str, Any] = {}
    exec(text(size), made)
    return Sums(*(made[name] for name in Sums._fields))


def text(size: int) -> str:
    """Return the text of the functions, which a number alone determines.

    >>> print(text(2))
    def plus(a, b, t):
        a0, a1, = a
        b0, b1, = b
        return a0 + b0 * t, a1 + b1 * t,
    def plus_all(p, q, t):
        p0, p1, p2, p3, = p
        q0, q1, q2, q3, = q
        return p0 + q0 * t, p1 + q1 * t, p2 + q2 * t, p3 + q3 * t,
    def dot(a, b):
        a0, a1, = a
        b0, b1, = b
        return 0.0 + a0 * b0 + a1 * b1
    def times(p, a):
        p0, p1, p2, p3, = p
        a0, a1, = a
        return 0.0 + p0 * a0 + p1 * a1, 0.0 + p2 * a0 + p3 * a1,
    def plus_outer(p, a, b):
        p0, p1, p2, p3, = p
        a0, a1, = a
        b0, b1, = b
        return p0 + a0 * b0, p1 + a0 * b1, p2 + a1 * b0, p3 + a1 * b1,
    """
    a, b = ([f"{letter}{i}" for i in range(size)] for letter in "ab")
    p, q = ([f"{letter}{i}" for i in range(size * size)] for letter in "pq")
    rows = [p[i : i + size] for i in range(0, len(p), size)]
    outer = [f"{x} * {y}" for x in a for y in b]
    functions = {
        "plus(a, b, t)": ((a, b), _listed(_plus(a, [f"{y} * t" for y in b]))),
        "plus_all(p, q, t)": ((p, q), _listed(_plus(p, [f"{y} * t" for y in q]))),
        "dot(a, b)": ((a, b), _dot(a, b)),
        "times(p, a)": ((p, a), _listed([_dot(row, a) for row in rows])),
        "plus_outer(p, a, b)": ((p, a, b), _listed(_plus(p, outer))),
    }
    lines = []
    for head, (vectors, returned) in functions.items():
        taken = [f"    {_listed(one)} = {one[0][0]}" for one in vectors]
        lines += [f"def {head}:", *taken, f"    return {returned}"]
    return "\n".join(lines)


def _listed(terms: Sequence[str]) -> str:
    return ", ".join(terms) + ","


def _plus(a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [f"{x} + {y}" for x, y in zip(a, b, strict=True)]


def _dot(a: Sequence[str], b: Sequence[str]) -> str:
    return " + ".join(["0.0", *(f"{x} * {y}" for x, y in zip(a, b, strict=True))])
