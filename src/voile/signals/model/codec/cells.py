"""Generated Python code that finds the lattice cells of one reading at a time.

The functions apply to one value the same operations as `scalar.py`, and so give the same bits. They
omit operations without effect: a product with 1, or subtracting 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voile.signals.model.codec.lattice import MARGIN, OFF, ValueLattice
from voile.signals.model.codec.triangular import Numbers, list_terms


class ReadingCells:
    """Compiled functions that find the values of a reading on their lattices.

    rounded : takes a point and returns the position of each value's cell, as whole floats. Raises
        ValueError or OverflowError if a value is missing or infinite.
    on : takes positions and a reading; returns whether the positions have its values.
    values : takes positions and returns their values.
    moved : takes positions and an offset from each, in cells; returns the values there.
    hold : takes positions and a point. Returns whether the point lies in their cells, far enough
        from the boundaries that rounding errors do not matter.
    """

    rounded: Callable[[Sequence[float]], Numbers]
    on: Callable[[Sequence[float], Sequence[float]], bool]
    values: Callable[[Sequence[float]], Numbers]
    moved: Callable[[Sequence[float], Sequence[float]], Numbers]
    hold: Callable[[Sequence[float], Sequence[float]], bool]

    def __init__(self, lattices: Sequence[ValueLattice]) -> None:
        made: dict[str, Any] = {}
        exec(text(lattices), made)
        self.rounded, self.on, self.values, self.moved, self.hold = (
            made[name] for name in ("rounded", "on", "values", "moved", "hold")
        )


def text(lattices: Sequence[ValueLattice]) -> str:
    """Return the source code of the functions.

    >>> print(text([ValueLattice(1, 10), ValueLattice(2, 1, 1)]))
    def rounded(v):
        v0, v1, = v
        return float(round(v0 * 10.0)), float(round((v1 - 1.0) / 2.0)),
    def on(k, v):
        k0, k1, = k
        v0, v1, = v
        so = abs((0.0 + k0) / 10.0 - v0) <= 1e-07 and abs(k0) + 1.0 < 4503599627370496.0
        so = so and abs(1.0 + k1 * 2.0 - v1) <= 2e-06 and abs(k1) * 2.0 + 3.0 < 4503599627370496.0
        return so
    def values(k):
        k0, k1, = k
        return (0.0 + k0) / 10.0, 1.0 + k1 * 2.0,
    def moved(k, u):
        k0, k1, = k
        u0, u1, = u
        return (0.0 + (k0 + u0)) / 10.0, 1.0 + (k1 + u1) * 2.0,
    def hold(k, v):
        k0, k1, = k
        v0, v1, = v
        so = abs(v0 * 10.0 - k0) < 0.4999995231628418
        so = so and abs((v1 - 1.0) / 2.0 - k1) < 0.4999995231628418
        return so
    """
    k, u, v = ([f"{letter}{j}" for j in range(len(lattices))] for letter in "kuv")
    within = [f"({n} + {t})" for n, t in zip(k, u, strict=True)]
    places = [_place(one, name) for one, name in zip(lattices, v, strict=True)]
    there, moved = (
        [_at(one, name) for one, name in zip(lattices, names, strict=True)] for names in (k, within)
    )
    on, inside = [], []
    for one, n, x, place, at in zip(lattices, k, v, places, there, strict=True):
        reach = f"{_times(f'abs({n})', one.step)} + {float(one.step + one.offset)!r}"
        on.append(f"abs({at} - {x}) <= {OFF * one.resolution!r} and {reach} < {2.0**52!r}")
        inside.append(f"abs({place} - {n}) < {0.5 - MARGIN / 2!r}")
    functions = {
        "rounded(v)": ([v], [f"    return {list_terms(f'float(round({one}))' for one in places)}"]),
        "on(k, v)": ([k, v], _all(on)),
        "values(k)": ([k], [f"    return {list_terms(there)}"]),
        "moved(k, u)": ([k, u], [f"    return {list_terms(moved)}"]),
        "hold(k, v)": ([k, v], _all(inside)),
    }
    lines = []
    for head, (vectors, body) in functions.items():
        lines += [
            f"def {head}:",
            *(f"    {list_terms(one)} = {one[0][0]}" for one in vectors),
            *body,
        ]
    return "\n".join(lines)


def _place(lattice: ValueLattice, v: str) -> str:
    """Return the formula of a value's position in cells, like `scalar.place`."""
    cells = _times(v, lattice.per)
    if lattice.offset:
        cells = f"({cells} - {float(lattice.offset)!r})"
    return _over(cells, lattice.step)


def _at(lattice: ValueLattice, k: str) -> str:
    """Return the formula of the value at a position, like `scalar.at`."""
    whole = f"{float(lattice.offset)!r} + {_times(k, lattice.step)}"
    return whole if lattice.per == 1 else _over(f"({whole})", lattice.per)


def _times(one: str, number: int) -> str:
    return one if number == 1 else f"{one} * {float(number)!r}"


def _over(one: str, number: int) -> str:
    return one if number == 1 else f"{one} / {float(number)!r}"


def _all(conditions: Sequence[str]) -> list[str]:
    first, *rest = conditions
    return [f"    so = {first}", *(f"    so = so and {one}" for one in rest), "    return so"]
