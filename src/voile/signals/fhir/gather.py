"""Assemble readings from values at several places in a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from voile.core.errors import RequestError
from voile.data.fhir.fields import read_moment, read_number
from voile.data.fhir.marks import MarkTag, ReadingMark
from voile.data.fhir.observations import ObservationElement
from voile.data.fhir.reading_fields import (
    MOST_DECIMALS,
    Decimals,
    ReadingField,
    is_decimals,
    write_number,
)
from voile.signals.fhir.schemes import HidingScheme, SentReading
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.limits import ReadingLimits
from voile.signals.model.codec.scalar import on_lattice
from voile.signals.model.sequences.messages import LATEST, is_sound

Key: TypeAlias = tuple[str, str, int]  # a subject; a time or a session; the number within these
TIME = re.compile(r"-?\d{1,16}")


class _GatheredRows:
    """Values grouped by reading, and the order of the values in the file."""

    def __init__(self, columns: Sequence[str], scheme: HidingScheme) -> None:
        self.columns, self.scheme = tuple(columns), scheme
        self.spots: list[tuple[Key, int]] = []
        self.rows: dict[Key, dict[int, float]] = {}
        self.places: dict[Key, str] = {}
        self._known: set[str] = set()

    @property
    def subjects(self) -> int:
        return len({key[0] for key in self.rows})

    def put_value(self, key: Key, j: int, v: float, place: str) -> None:
        if not key[0]:
            raise RequestError("the Observation names no subject", where=place)
        if key[0] not in self._known:
            self._check_class(key[0], place)
        self.rows.setdefault(key, {})[j] = v
        self.places.setdefault(key, place)
        self.spots.append((key, j))

    def _check_class(self, subject: str, place: str) -> None:
        try:
            self.scheme.class_of(subject)
        except RequestError as error:
            raise RequestError(error.what, where=place, instead=error.instead) from None
        self._known.add(subject)

    def point(self, key: Key, without: frozenset[int] = frozenset()) -> tuple[float, ...]:
        """Return the values of a reading, with NaN for the columns in `without`.

        Raises
        ------
        RequestError : the reading lacks another column.
        """
        row = self.rows[key]
        for j, name in enumerate(self.columns):
            if j not in row and j not in without:
                remedy = "take it out, or fit a map without that column"
                raise RequestError(
                    f"a reading lacks {name}", where=self.places[key], instead=remedy
                )
        return tuple(row.get(j, nan) for j in range(len(self.columns)))


class ReadingRows(_GatheredRows):
    def __init__(
        self, fields: Sequence[ReadingField], scheme: HidingScheme, *, canonical: bool = False
    ) -> None:
        super().__init__([one.column for one in fields], scheme)
        self._fields, self._canonical = fields, canonical
        self._decimals = [
            places_of(lattice) if one.decimals is None else one.decimals
            for one, lattice in zip(fields, scheme.lattices, strict=True)
        ]
        self._seen: Counter[tuple[str, str, int]] = Counter()
        self._moments: dict[Key, float | None] = {}
        self._fixed: dict[str, dict[int, float]] = {}

    def add(self, element: ObservationElement, j: int) -> None:
        span, place = element.find_reading(self._fields[j]), element.place
        number = element.text[span.start : span.end]
        element.check_narrative(number)
        v = on_lattice(self.scheme.lattices[j], float(number), place)
        if write_number(v, self._decimals[j]) != number and not self._canonical:
            raise RequestError(
                f"{self.columns[j]} is not written with decimals: {self._decimals[j]}",
                where=place,
                instead="declare how all its values are written, or give --canonical-numbers",
            )
        if j in self.scheme.once:
            if self._fixed.setdefault(element.subject, {}).setdefault(j, v) != v:
                raise RequestError("an invariant has changed", where=place)
            self.spots.append(((element.subject, "", 0), j))
            return
        which = (element.subject, element.time or place, j)
        self._seen[which] += 1
        key = (*which[:2], self._seen[which])
        self._moments[key] = read_moment(element.time, place) if element.time else None
        self.put_value(key, j, v, place)

    def encode_all(self) -> Iterator[tuple[float, MarkTag]]:
        """Encode all readings. Return the value to send for each value, in file order."""
        if not self.rows:
            raise RequestError("no value has a code of a field", where="the source")
        for key, row in self.rows.items():
            row.update(self._fixed.get(key[0], {}))
        keys = sorted(self.rows, key=lambda key: (key[0], self._moments[key] or 0.0))
        points = np.array([self.point(key) for key in keys])
        moments = [self._moments[key] for key in keys]
        hidden = self.scheme.hide([key[0] for key in keys], points, moments)
        sent = dict(zip(keys, hidden, strict=True))
        first = {key[0]: sent[key] for key in reversed(keys)}
        if self._fixed.keys() - first.keys():
            raise RequestError("a subject has readings that never change, and no others")
        spots = [
            (first[key[0]] if j in self.scheme.once else sent[key], j) for key, j in self.spots
        ]
        return iter([(one.values[j], self._tag(one, j)) for one, j in spots])

    def _tag(self, sent: SentReading, j: int) -> MarkTag:
        own: MarkTag = {"field": self.columns[j], "map": self.scheme.mark, "number": sent.number}
        steps: dict[str, str | int] = {"session": sent.session} if sent.session else {}
        steps |= {"check": sent.check} if sent.check or sent.session else {}
        # as text, since FHIR's integers end in 2038 in seconds
        time: MarkTag = {} if sent.time is None else {"time": str(sent.time)}
        return {**own, **steps, **time, "decimals": self._decimals[j]}


class DecodedReading(NamedTuple):
    values: list[str | None]
    set_aside: list[dict[str, Any]]


class MessageRows(_GatheredRows):
    def __init__(self, columns: Sequence[ReadingLimits], scheme: HidingScheme) -> None:
        super().__init__([column.name for column in columns], scheme)
        self._limits = columns
        self._steps: dict[Key, tuple[str, int | None]] = {}  # digest and time
        self._decimals: list[Decimals] = []

    def add(self, element: ObservationElement, mark: ReadingMark) -> None:
        facts, place = mark.facts, element.place
        if facts.get("map") != self.scheme.mark:
            raise RequestError("a value is of another map", where=place)
        number, decimals = facts.get("number"), facts.get("decimals")
        z = read_number(element.get("valueQuantity"))
        if (
            not isinstance(number, int)
            or z is None
            or not is_sound([z])
            or not is_decimals(decimals)
            or facts.get("field") not in self.columns
        ):
            raise RequestError("what marks a value is damaged", where=place)
        j = self.columns.index(facts["field"])
        key = (element.subject, str(facts.get("session", "")), number)
        known = self.rows.get(key, {}).get(j)
        if known is not None and (j not in self.scheme.once or known != z):
            raise RequestError("two values are of one reading", where=place)
        step = str(facts.get("check", "")), _time(facts.get("time"), place)
        if self._steps.setdefault(key, step) != step:
            raise RequestError("a value is out of step", where=place)
        self.put_value(key, j, float(z), place)
        self._decimals.append(decimals)

    def decode_all(self) -> DecodedReading:
        """Decode all readings. Reject those outside the map's range or their columns' bounds."""
        if not self.rows:
            raise RequestError("no value is marked as encoded", where="the source")
        keys, sent = list(self.rows), []
        for key in keys:
            point = self.point(key, self.scheme.once if key[2] > 1 else frozenset())
            sent.append(SentReading(key[2], point, key[1], *self._steps[key]))
        X, outside = self.scheme.show([key[0] for key in keys], sent)
        for column, values in zip(self._limits, X.T, strict=True):
            outside = outside | column.is_outside(values)
        points = dict(zip(keys, X.tolist(), strict=True))
        aside = {keys[at]: self._line(keys[at], points[keys[at]]) for at in np.flatnonzero(outside)}
        spots = zip(self.spots, self._decimals, strict=True)
        values = [
            None if key in aside else write_number(points[key][j], decimals)
            for (key, j), decimals in spots
        ]
        return DecodedReading(values, list(aside.values()))

    def _line(self, key: Key, point: Sequence[float]) -> dict[str, Any]:
        pairs = zip(self._limits, point, strict=True)
        shown = {column.name: column.write_value(value) for column, value in pairs}
        own = {"subject": key[0], "session": key[1], "number": key[2]}
        return {"place": self.places[key], **own, "decoded": shown}


def _time(held: object, place: str) -> int | None:
    """Return the time in a mark, in the map's units."""
    if held is None:
        return None
    if not isinstance(held, str) or not TIME.fullmatch(held) or abs(int(held)) > LATEST:
        raise RequestError("what marks a value is damaged", where=place)
    return int(held)


def places_of(lattice: ValueLattice) -> int:
    """Return the number of decimal places of a lattice's values.

    >>> places_of(ValueLattice(1, 10)), places_of(ValueLattice(1, 4)), places_of(ValueLattice(5, 1))
    (1, 2, 0)
    """
    return next(places for places in range(MOST_DECIMALS + 1) if 10**places % lattice.per == 0)
