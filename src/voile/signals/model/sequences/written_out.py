"""Generated Python code for the course of a direction and for matrix products.

Python loops over coefficients cost several times as much as the products. So does a call for each
part of a sum. The sums are written out once for each number of coefficients, in the loop's order,
and so give the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any, TypeAlias

Row: TypeAlias = Sequence[float]
Numbers: TypeAlias = tuple[float, ...]

LARGEST = 16  # coefficients; the code grows with their square


@cache
def times(size: int) -> Callable[[Row, Row], Numbers]:
    """Return the function that multiplies a matrix (K K,), in row order, by a vector (K,)."""
    made: dict[str, Any] = {}
    exec(product(size), made)
    found: Callable[[Row, Row], Numbers] = made["times"]
    return found


@cache
def steps(size: int, *, drifts: bool) -> CodeType:
    """Return the code of `forecast` and `learn` for 1 to `LARGEST` coefficients."""
    return compile(text(size, drifts=drifts), "<a direction>", "exec")


def product(size: int) -> str:
    """Return the source code of `times`.

    >>> print(product(2))
    def times(p, a):
        p0, p1, p2, p3, = p
        a0, a1, = a
        return 0.0 + p0 * a0 + p1 * a1, 0.0 + p2 * a0 + p3 * a1,
    """
    (a,), p = _vectors(size, "a"), _matrix(size, "p")
    lines = ["def times(p, a):", *_unpack_vectors(p, a)]
    return "\n".join([*lines, f"    return {_list_terms(_products(p, a))}"])


def text(size: int, *, drifts: bool) -> str:
    """Return the source code of `forecast` and `learn`, without the law's numbers.

    The coefficients have mean c and covariance p. The latest score is y. The forecast has mean m
    and spread s. The surprise is u, and its learnt share is h.

    >>> print(text(2, drifts=True))
    def forecast(state, time, a, b, held=True):
        if state is None:
            c, p, y, k = mean, prior, 0.0, 0.0
        else:
            c, p, y, _, at, _ = state
            gap = time - at
            k = kept if gap == 1 else power(kept, gap)
        a0, a1, = a
        b0, b1, = b
        c0, c1, = c
        x0, x1, = a0 - b0 * k, a1 - b1 * k,
        m = k * y + (0.0 + x0 * c0 + x1 * c1)
        if not held and state is not None:
            return new(Forecast, (m, nan, (), ()))
        p0, p1, p2, p3, = p
        if state is not None:
            q0, q1, q2, q3, = prior
            t = drift * gap
            p = p0, p1, p2, p3, = p0 + q0 * t, p1 + q1 * t, p2 + q2 * t, p3 + q3 * t,
        g0, g1, = 0.0 + p0 * x0 + p1 * x1, 0.0 + p2 * x0 + p3 * x1,
        s = sqrt(0.0 + g0 * x0 + g1 * x1 + swing * (1 - k * k))
        return new(Forecast, (m, s, (g0, g1,), p))
    def learn(state, time, forecast, score):
        m, s, g, p = forecast
        u = (score - m) / s
        h = 1.0
        if state is None:
            c, since = mean, time
        else:
            c, _, _, before, _, since = state
            if -clear <= before <= clear:
                h = share_of(u)
        c0, c1, = c
        p0, p1, p2, p3, = p
        g0, g1, = g
        t = h * u / s
        c = c0 + g0 * t, c1 + g1 * t,
        t = h / (s * s)
        h0, h1, = g0 * t, g1 * t,
        p = p0 - h0 * g0, p1 - h0 * g1, p2 - h1 * g0, p3 - h1 * g1,
        return new(State, (c, p, m + h * u * s, 0.0 if state is None else u, time, since))
    """
    a, b, c, g, h, x = _vectors(size, "abcghx")
    p, q = _matrix(size, "p"), _matrix(size, "q")
    drifted = [
        "    if state is not None:",
        f"        {_list_terms(q)} = prior",
        "        t = drift * gap",
        f"        p = {_list_terms(p)} = {_list_terms(_combine_vectors(p, '+', q, ' * t'))}",
    ]
    outer = _combine_vectors(p, "-", [f"{one} * {other}" for one in h for other in g])
    lines = [
        "def forecast(state, time, a, b, held=True):",
        "    if state is None:",
        "        c, p, y, k = mean, prior, 0.0, 0.0",
        "    else:",
        "        c, p, y, _, at, _ = state",
        "        gap = time - at",
        "        k = kept if gap == 1 else power(kept, gap)",
        *_unpack_vectors(a, b, c),
        f"    {_list_terms(x)} = {_list_terms(_combine_vectors(a, '-', b, ' * k'))}",
        f"    m = k * y + ({_dot(x, c)})",
        "    if not held and state is not None:",
        "        return new(Forecast, (m, nan, (), ()))",
        *_unpack_vectors(p),
        *(drifted if drifts else []),
        f"    {_list_terms(g)} = {_list_terms(_products(p, x))}",
        f"    s = sqrt({_dot(g, x)} + swing * (1 - k * k))",
        f"    return new(Forecast, (m, s, ({_list_terms(g)}), p))",
        "def learn(state, time, forecast, score):",
        "    m, s, g, p = forecast",
        "    u = (score - m) / s",
        "    h = 1.0",
        "    if state is None:",
        "        c, since = mean, time",
        "    else:",
        "        c, _, _, before, _, since = state",
        "        if -clear <= before <= clear:",
        "            h = share_of(u)",
        *_unpack_vectors(c, p, g),
        "    t = h * u / s",
        f"    c = {_list_terms(_combine_vectors(c, '+', g, ' * t'))}",
        "    t = h / (s * s)",
        f"    {_list_terms(h)} = {_list_terms([f'{one} * t' for one in g])}",
        f"    p = {_list_terms(outer)}",
        "    return new(State, (c, p, m + h * u * s, 0.0 if state is None else u, time, since))",
    ]
    return "\n".join(lines)


def _vectors(size: int, letters: str) -> list[list[str]]:
    return [[f"{letter}{i}" for i in range(size)] for letter in letters]


def _matrix(size: int, letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(size * size)]


def _unpack_vectors(*vectors: Sequence[str]) -> list[str]:
    """Return the code lines that unpack vectors, each named by its letter."""
    return [f"    {_list_terms(one)} = {one[0][0]}" for one in vectors]


def _list_terms(terms: Sequence[str]) -> str:
    return ", ".join(terms) + ","


def _combine_vectors(a: Sequence[str], sign: str, b: Sequence[str], more: str = "") -> list[str]:
    return [f"{x} {sign} {y}{more}" for x, y in zip(a, b, strict=True)]


def _products(p: Sequence[str], a: Sequence[str]) -> list[str]:
    """Return the terms of a matrix-vector product."""
    return [_dot(p[i : i + len(a)], a) for i in range(0, len(p), len(a))]


def _dot(a: Sequence[str], b: Sequence[str]) -> str:
    return " + ".join(["0.0", *(f"{x} * {y}" for x, y in zip(a, b, strict=True))])
