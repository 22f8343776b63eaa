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
    """Functions of vectors (K,) and of matrices (K K,), row after row: p and q."""

    times: Callable[[Row, Row], Numbers]  # p a
    plus: Callable[[Row, Row, float], Numbers]  # p + q t
    mean: Callable[[Row, Row, float, Row], float]  # c x, where x = a - b t
    forecast: Callable[[Row, Row, float, Row, Row], tuple[float, Numbers, float]]  # c x, p x, x p x
    learn: Callable[[Row, Row, Row, float, float], tuple[Numbers, Numbers]]  # c + g t, p - g g' s


@cache
def sums_of(size: int) -> Sums:
    """Return the functions of vectors of a size, from 1 on; of coefficients to `LARGEST`."""
    made: dict[str, Any] = {}
    exec(text(size), made)
    return Sums(*(made[name] for name in Sums._fields))


def text(size: int) -> str:
    """Return the text of the functions, which a number alone determines.

    >>> print(text(2))
    def times(p, a):
        p0, p1, p2, p3, = p
        a0, a1, = a
        return 0.0 + p0 * a0 + p1 * a1, 0.0 + p2 * a0 + p3 * a1,
    def plus(p, q, t):
        p0, p1, p2, p3, = p
        q0, q1, q2, q3, = q
        return p0 + q0 * t, p1 + q1 * t, p2 + q2 * t, p3 + q3 * t,
    def mean(a, b, t, c):
        a0, a1, = a
        b0, b1, = b
        c0, c1, = c
        x0, x1, = a0 - b0 * t, a1 - b1 * t,
        return 0.0 + x0 * c0 + x1 * c1
    def forecast(a, b, t, c, p):
        a0, a1, = a
        b0, b1, = b
        c0, c1, = c
        p0, p1, p2, p3, = p
        x0, x1, = a0 - b0 * t, a1 - b1 * t,
        g0, g1, = 0.0 + p0 * x0 + p1 * x1, 0.0 + p2 * x0 + p3 * x1,
        return 0.0 + x0 * c0 + x1 * c1, (g0, g1,), 0.0 + g0 * x0 + g1 * x1
    def learn(c, p, g, t, s):
        c0, c1, = c
        p0, p1, p2, p3, = p
        g0, g1, = g
        c0, c1, = c0 + g0 * t, c1 + g1 * t,
        h0, h1, = g0 * s, g1 * s,
        return (c0, c1,), (p0 - h0 * g0, p1 - h0 * g1, p2 - h1 * g0, p3 - h1 * g1,)
    """
    a, b, c, g, h, x = ([f"{letter}{i}" for i in range(size)] for letter in "abcghx")
    p, q = ([f"{letter}{i}" for i in range(size * size)] for letter in "pq")
    rows = [p[i : i + size] for i in range(0, len(p), size)]
    apart = f"    {_listed(x)} = {_listed(_joined(a, '-', b, ' * t'))}"
    gain = f"    {_listed(g)} = {_listed([_dot(row, x) for row in rows])}"
    moved = f"    {_listed(c)} = {_listed(_joined(c, '+', g, ' * t'))}"
    share = f"    {_listed(h)} = {_listed([f'{one} * s' for one in g])}"
    outer = _listed(_joined(p, "-", [f"{one} * {other}" for one in h for other in g]))
    functions = {
        "times(p, a)": ((p, a), [], _listed([_dot(row, a) for row in rows])),
        "plus(p, q, t)": ((p, q), [], _listed(_joined(p, "+", q, " * t"))),
        "mean(a, b, t, c)": ((a, b, c), [apart], _dot(x, c)),
        "forecast(a, b, t, c, p)": (
            (a, b, c, p),
            [apart, gain],
            f"{_dot(x, c)}, ({_listed(g)}), {_dot(g, x)}",
        ),
        "learn(c, p, g, t, s)": (
            (c, p, g),
            [moved, share],
            f"({_listed(c)}), ({outer})",
        ),
    }
    lines = []
    for head, (vectors, between, returned) in functions.items():
        taken = [f"    {_listed(one)} = {one[0][0]}" for one in vectors]
        lines += [f"def {head}:", *taken, *between, f"    return {returned}"]
    return "\n".join(lines)


def _listed(terms: Sequence[str]) -> str:
    return ", ".join(terms) + ","


def _joined(a: Sequence[str], sign: str, b: Sequence[str], more: str = "") -> list[str]:
    return [f"{x} {sign} {y}{more}" for x, y in zip(a, b, strict=True)]


def _dot(a: Sequence[str], b: Sequence[str]) -> str:
    return " + ".join(["0.0", *(f"{x} * {y}" for x, y in zip(a, b, strict=True))])
