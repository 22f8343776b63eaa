"""Generated Python code of a triangular map for one point at a time.

A Python loop over tables costs several times as much as the products. The sums are therefore
written out once for each map, in the order of `KnotheRosenblatt`, and so give the same bits. The
position of a column on the grid is looked up once, for all columns that depend on it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.steps import KnotheRosenblatt

Numbers: TypeAlias = tuple[float, ...]
Before: TypeAlias = Mapping[int, Sequence[int]]  # for each column, the columns it depends on


class TriangularMap:
    """The later columns of a Knothe-Rosenblatt map, given its first `known` columns.

    given : takes the first columns. Returns their z, and a shift and a scale for each other column.
        One call serves a point, even if its other columns are then mapped several times.
    forward, inverse : take the other columns, and the shifts and scales that `given` returned.
    """

    given: Callable[[Sequence[float]], tuple[Numbers, Numbers]]
    forward: Callable[[Sequence[float], Numbers], Numbers]
    inverse: Callable[[Sequence[float], Numbers], Numbers]

    def __init__(self, step: KnotheRosenblatt, known: int) -> None:
        before = before_each(step)
        made = {"bisect": bisect_right, **tables(step, before)}
        exec(text(before, known), made)
        self.given, self.forward, self.inverse = (
            made[name] for name in ("given", "forward", "inverse")
        )


def before_each(step: KnotheRosenblatt) -> Before:
    """Return the columns that each column depends on, both in the map's order."""
    order = [int(j) for j in step.order]
    return {j: [i for i in order[:place] if _depends(step, j, i)] for place, j in enumerate(order)}


def _depends(step: KnotheRosenblatt, j: int, i: int) -> bool:
    """Return whether column j depends on column i. Many do not, and need no look-up."""
    return bool(step.mean[j, i].any() or (step.scale[j, i] != 1).any())


def tables(step: KnotheRosenblatt, before: Before, s: str = "") -> dict[str, Any]:
    """Return the values that the code reads, by name. `s` is a suffix in the names of each step."""
    found: dict[str, Any] = {f"inner{s}": step.grid[1:-1].tolist()}
    found[f"low{s}"], found[f"high{s}"] = float(step.grid[0]), float(step.grid[-1])
    for j, curve in enumerate(step.curve):
        later = _after(before, j)
        parts = [part for k in later for part in (step.mean[k, j], step.scale[k, j])]
        found[f"there{s}{j}"] = pieces(step.grid, [curve])
        found[f"back{s}{j}"] = pieces(curve, [step.grid])
        found[f"inner{s}{j}"] = curve[1:-1].tolist()
        found[f"rows{s}{j}"] = pieces(step.grid, parts)
    return found


def pieces(x: Floats, functions: Iterable[Floats]) -> list[Numbers]:
    """Return for each piece its start, and each function's value and slope there."""
    columns: list[Floats] = [x[:-1]]
    for y in functions:
        columns += [y[:-1], (y[1:] - y[:-1]) / (x[1:] - x[:-1])]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def text(before: Before, known: int) -> str:
    """Return the source code of the functions, without its numbers.

    Column j given i has mean a with slope b. The reciprocal of its spread is c with slope d. Column
    i lies r into its piece of the grid.

    >>> print(text({0: [], 1: [0]}, 1))
    def given(v):
        v0, = v
        x = v0
        at, y, slope = there0[bisect(inner, x)]
        z0 = y + slope * (x - at)
        held = z0 if low <= z0 <= high else low if z0 < low else high
        at, a1_0, b1_0, c1_0, d1_0, = rows0[bisect(inner, held)]
        r0 = held - at
        return (z0,), ((0.0 + (a1_0 + b1_0 * r0)), ((c1_0 + d1_0 * r0)),)
    def forward(v, frames):
        v1, = v
        s1, t1, = frames
        x = (v1 - s1) * t1
        at, y, slope = there1[bisect(inner, x)]
        z1 = y + slope * (x - at)
        return z1,
    def inverse(z, frames):
        z1, = z
        s1, t1, = frames
        at, y, slope = back1[bisect(inner1, z1)]
        x = y + slope * (z1 - at)
        v1 = x / t1 + s1
        return v1,
    """
    first, others = list(before)[:known], list(before)[known:]
    lines = ["def given(v):", *_unpack_names("v", first), *one_way("z", first, before)]
    framed = [j for j in others if set(before[j]) & set(first)]
    frames = [part for j in framed for part in _sums(j, [i for i in before[j] if i in first])]
    lines.append(
        f"    return ({list_terms(f'z{j}' for j in sorted(first))}), ({list_terms(frames)})"
    )
    for head, source, target in (("forward", "v", "z"), ("inverse", "z", "v")):
        lines += [f"def {head}({source}, frames):", *_unpack_names(source, others)]
        lines += [f"    {list_terms(f's{j}, t{j}' for j in framed)} = frames"] if framed else []
        lines += one_way(target, others, before, framed)
        lines.append(f"    return {list_terms(f'{target}{j}' for j in sorted(others))}")
    return "\n".join(lines)


def one_way(
    target: str, columns: Sequence[int], before: Before, framed: Sequence[int] = (), s: str = ""
) -> list[str]:
    """Return the code lines that map columns to z, or back to v. `framed` columns have frames."""
    lines: list[str] = []
    for j in columns:
        start = (f"s{j}", f"t{j}") if j in framed else ()
        frame = _sums(j, [i for i in before[j] if i in columns], start)
        lines += [
            *(_there if target == "z" else _back)(j, frame, s),
            *_look_up_column(j, before, s),
        ]
    return lines


def write_curve_lookup(target: str, source: str, rows: str, inner: str) -> list[str]:
    """Return the code lines that evaluate a curve."""
    return [
        f"    at, y, slope = {rows}[bisect({inner}, {source})]",
        f"    {target} = y + slope * ({source} - at)",
    ]


def list_terms(terms: Iterable[str]) -> str:
    return "".join(f"{term}, " for term in terms).rstrip(" ")


def _unpack_names(name: str, columns: Sequence[int]) -> list[str]:
    return [f"    {list_terms(f'{name}{j}' for j in sorted(columns))} = {name}"] if columns else []


def _after(before: Before, i: int) -> list[int]:
    """Return the columns that depend on column i, in order."""
    return [j for j, columns in before.items() if i in columns]


def _sums(j: int, columns: Sequence[int], start: Sequence[str] = ()) -> Sequence[str]:
    """Return expressions of a column's shift and scale, or an empty list if it has none."""
    if not columns:
        return start
    shifts = [f"(a{j}_{i} + b{j}_{i} * r{i})" for i in columns]
    scales = [f"(c{j}_{i} + d{j}_{i} * r{i})" for i in columns]
    shift, scale = " + ".join([*(start[:1] or ["0.0"]), *shifts]), " * ".join([*start[1:], *scales])
    return f"({shift})", f"({scale})"


def _there(j: int, frame: Sequence[str], s: str) -> list[str]:
    """Return the code lines that map a column to its z."""
    framed = f"    x = (v{j} - {frame[0]}) * {frame[1]}" if frame else f"    x = v{j}"
    return [framed, *write_curve_lookup(f"z{j}", "x", f"there{s}{j}", f"inner{s}")]


def _back(j: int, frame: Sequence[str], s: str) -> list[str]:
    """Return the code lines that map a column back from its z."""
    framed = f"    v{j} = x / {frame[1]} + {frame[0]}" if frame else f"    v{j} = x"
    return [*write_curve_lookup("x", f"z{j}", f"back{s}{j}", f"inner{s}{j}"), framed]


def _look_up_column(i: int, before: Before, s: str) -> list[str]:
    """Return the code lines that look up a column's effect on others; constant off the grid."""
    parts = [f"{letter}{j}_{i}" for j in _after(before, i) for letter in "abcd"]
    if not parts:
        return []
    z, low, high = f"z{i}", f"low{s}", f"high{s}"
    return [
        f"    held = {z} if {low} <= {z} <= {high} else {low} if {z} < {low} else {high}",
        f"    at, {list_terms(parts)} = rows{s}{i}[bisect(inner{s}, held)]",
        f"    r{i} = held - at",
    ]
