"""Generated Python code for a sequence of steps on one point at a time.

Python calls and loops cost several times as much as the products of one point. Each line does the
same as the step in a batch, in the same order, and so gives the same bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from voile.signals.model.codec import triangular
from voile.signals.model.codec.steps import AffineMap, CodecStep, ColumnBend, KnotheRosenblatt

Written: TypeAlias = tuple[list[str], list[str], dict[str, Any]]  # forward, inverse, values


class WrittenSteps:
    """A sequence of steps of d columns and its inverse, O(d^2 + d log g)."""

    forward: Callable[[Sequence[float]], triangular.Numbers]
    inverse: Callable[[Sequence[float]], triangular.Numbers]

    def __init__(self, steps: Sequence[CodecStep], d: int) -> None:
        written = [_write_step(step, f"{number}_") for number, step in enumerate(steps)]
        made: dict[str, Any] = {"bisect": bisect_right}
        there: list[str] = []
        back: list[str] = []
        for on, off, read_here in written:
            there, back = [*there, *on], [*off, *back]
            made |= read_here
        v = triangular.list_terms(f"v{j}" for j in range(d))
        for name, lines in (("forward", there), ("inverse", back)):
            exec("\n".join([f"def {name}(v):", f"    {v} = v", *lines, f"    return {v}"]), made)
        self.forward, self.inverse = made["forward"], made["inverse"]


def _write_step(step: CodecStep, s: str) -> Written:
    """Return the forward and inverse code lines of a step, and their values.

    `s` is a suffix in the names of the values.

    >>> import numpy as np
    >>> print(*_write_step(AffineMap(np.array([[2.0]]), np.zeros(1)), "0_")[0])
        v0, = 0.0 + there0_0_0 * v0 + shift0_0,
    """
    if isinstance(step, AffineMap):
        return _affine(step, s)
    if isinstance(step, ColumnBend):
        return _bend(step, s)
    if isinstance(step, KnotheRosenblatt):
        return _triangular(step, s)
    raise TypeError(f"no step {step.kind!r}")


def _affine(step: AffineMap, s: str) -> Written:
    """Write sums term by term, without terms of 0."""
    matrices = {"there": step.matrix.tolist(), "back": step.invert_map().matrix.tolist()}
    made = {f"shift{s}{j}": shift for j, shift in enumerate(step.shift.tolist())}
    sums: dict[str, list[str]] = {}
    for way, rows in matrices.items():
        sums[way] = []
        for j, row in enumerate(rows):
            used = [i for i, weight in enumerate(row) if weight]
            made |= {f"{way}{s}{j}_{i}": row[i] for i in used}
            sums[way].append(" + ".join(["0.0", *(f"{way}{s}{j}_{i} * v{i}" for i in used)]))
    v = [f"v{j}" for j in range(len(step.shift))]
    shifts = [f"shift{s}{j}" for j in range(len(v))]
    shifted = [f"{total} + {shift}" for total, shift in zip(sums["there"], shifts, strict=True)]
    before = [f"{one} - {shift}" for one, shift in zip(v, shifts, strict=True)]
    to = f"    {triangular.list_terms(v)} ="
    return (
        [f"{to} {triangular.list_terms(shifted)}"],
        [f"{to} {triangular.list_terms(before)}", f"{to} {triangular.list_terms(sums['back'])}"],
        made,
    )


def _bend(step: ColumnBend, s: str) -> Written:
    there, back = [], []
    made: dict[str, Any] = {}
    for j, curve in enumerate(step.curves):
        on, off = triangular.pieces(curve.x, [curve.y]), triangular.pieces(curve.y, [curve.x])
        if len(on) == 1:  # a straight line, for example without a logarithm, needs no look-up
            there += _line(f"v{j}", *on[0])
            back += _line(f"v{j}", *off[0])
            continue
        there += triangular.write_curve_lookup(f"v{j}", f"v{j}", f"there{s}{j}", f"x{s}{j}")
        back += triangular.write_curve_lookup(f"v{j}", f"v{j}", f"back{s}{j}", f"y{s}{j}")
        made |= {f"there{s}{j}": on, f"x{s}{j}": curve.x[1:-1].tolist()}
        made |= {f"back{s}{j}": off, f"y{s}{j}": curve.y[1:-1].tolist()}
    return there, back, made


def _line(v: str, at: float, y: float, slope: float) -> list[str]:
    return [f"    {v} = {y!r} + {slope!r} * ({v} - {at!r})"]


def _triangular(step: KnotheRosenblatt, s: str) -> Written:
    before = triangular.before_each(step)
    there, back = (triangular.one_way(target, list(before), before, s=s) for target in "zv")
    v, z = (triangular.list_terms(f"{name}{j}" for j in before) for name in "vz")
    return [*there, f"    {v} = {z}"], [f"    {z} = {v}", *back], triangular.tables(step, before, s)
