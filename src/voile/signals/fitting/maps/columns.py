"""The lattice or assignment of each column that a map is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.information.subjects import CheckedSubjects
from voile.signals.model.codec.columns import Scale
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.nominal import NOMINAL, ValueAssignment
from voile.signals.model.codec.place import ReadingPlace

if TYPE_CHECKING:
    from voile.signals.model.maps.fitted import ClassSample

Resolution: TypeAlias = "float | str | Sequence[float | str | None] | None"


def columns_of(
    table: NDArray[Any], codes: NDArray[np.intp], classes: int, resolution: Resolution
) -> tuple[Scale, ...]:
    return tuple(
        _column(table[:, j], codes, classes, one, ReadingPlace(j))
        for j, one in enumerate(resolutions(resolution, table.shape[1]))
    )


def resolutions(said: Resolution, d: int) -> list[float | str | None]:
    if said is None or isinstance(said, str | int | float):
        return [said] * d
    if len(said) != d:
        raise RequestError(f"there are {len(said)} resolutions for {d} columns")
    return list(said)


def _column(
    x: NDArray[Any],
    codes: NDArray[np.intp],
    classes: int,
    said: float | str | None,
    where: ReadingPlace,
) -> Scale:
    if said == NOMINAL or (said is None and any(isinstance(value, str) for value in x)):
        if not all(isinstance(value, str) for value in x):
            raise RequestError("a nominal value is missing or not text", where=where)
        return ValueAssignment.of(x.astype(str), codes, classes)
    if isinstance(said, str):
        raise RequestError(f"no resolution {said!r}", where=where, instead="a number or nominal")
    numbers = x.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int((~np.isfinite(numbers)).argmax())
        raise RequestError(
            "a reading is missing or infinite",
            where=where.at(row),
            instead="set such rows aside",
        )
    for k in range(classes):
        if np.ptp(numbers[codes == k]) == 0:
            raise RequestError(
                "the readings of a class are all the same", where=where, instead="leave it out"
            )
    found = ValueLattice.find_coarsest(numbers, where) if said is None else None
    return found or ValueLattice.from_resolution(float(said or 0), numbers, where)


def sample_of(
    table: NDArray[Any], columns: Sequence[Scale], codes: NDArray[np.intp], known: CheckedSubjects
) -> ClassSample:
    """Return the numeric columns, with each reading moved to the nearest lattice value."""
    from voile.signals.model.maps.fitted import ClassSample

    lattices = [(j, column) for j, column in enumerate(columns) if isinstance(column, ValueLattice)]
    on = np.empty((len(table), len(lattices)))
    for place, (j, lattice) in enumerate(lattices):
        on[:, place] = lattice.nearest(table[:, j].astype(np.float64))
    cells = np.array([lattice.resolution for _, lattice in lattices])
    beliefs = None
    if known.beliefs is not None:
        beliefs = known.distinct(codes, known.beliefs.shape[1])
    return ClassSample(on, codes, known.whose, cells, beliefs)


def base_sample(sample: ClassSample, lift: RelationLift) -> ClassSample:
    """Return the base columns of a sample, which the class's map takes after the lift."""
    return replace(sample, X=sample.X[:, lift.base], cells=sample.cells[lift.base], lift=lift)
