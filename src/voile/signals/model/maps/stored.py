"""Fitted maps in the kit's form: plain arrays that give codecs of any strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.columns import Scale
from voile.signals.model.codec.conditional import ConditionalFrame, MapStep
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.nominal import ValueAssignment
from voile.signals.model.codec.side import SideColumn
from voile.signals.model.codec.steps import (
    AffineMap,
    Arrays,
    CodecStep,
    KnotheRosenblatt,
    PieceCurve,
)
from voile.signals.model.maps.bases import class_steps, show_lift
from voile.signals.model.maps.fitted import FittedLaws, SideFrames

TEXT = "text"


@dataclass(frozen=True, eq=False)
class StoredMap(BriefRepr):
    """A fitted map in its parts. Another strength or base needs no new fit."""

    shows = (
        "base",
        "strength",
    )

    classes_: NDArray[Any]  # (k,) sorted
    columns: tuple[Scale, ...]  # for each column its lattice or assignment
    fitted_: FittedLaws | None  # of the numeric columns, or None without numeric columns
    side: tuple[SideColumn, ...] = ()  # side columns that the map depends on
    base: str = "normal"
    strength: float = 1.0
    lift: RelationLift | None = None  # relations among the numeric columns

    def at(self, base: str, strength: float) -> StoredMap:
        return replace(self, base=base, strength=strength)

    @cached_property
    def codec_(self) -> Codec:
        """The codec at the map's base and strength."""
        return self.codec(base=self.base, strength=self.strength)

    def codec(
        self,
        *,
        base: str,
        strength: float,
        personal: Sequence[AffineMap] | None = None,
        places: int | None = None,
    ) -> Codec:
        nothing: tuple[tuple[MapStep, ...], ...] = ((),) * len(self.classes_)
        if strength == 0:
            plain = (
                one.plain() if isinstance(one, ValueAssignment) else one for one in self.columns
            )
            return Codec(self.classes_, tuple(plain), nothing, side=self.side)
        steps = class_steps(self.fitted_, base, strength, personal) if self.fitted_ else nothing
        lift = self.lift and show_lift(self.lift, base)
        return Codec(self.classes_, self.columns, steps, places, self.side, lift)

    @property
    def spans(self) -> tuple[bool, ...]:
        """Whether each column is numeric."""
        return tuple(isinstance(column, ValueLattice) for column in self.columns)

    def to_arrays(self) -> Arrays:
        nothing = ((),) * len(self.classes_)
        bare = Codec(self.classes_, self.columns, nothing, side=self.side, lift=self.lift)
        arrays = bare.to_arrays()
        return arrays if self.fitted_ is None else {**arrays, **_arrays_of(self.fitted_)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> StoredMap:
        """Rebuild a map from plain arrays.

        Raises
        ------
        RequestError : the arrays are not a map of voile.
        """
        codec = Codec.from_arrays(arrays)
        fitted = _fitted_of(arrays) if "fitted.shares" in arrays else None
        return cls(codec.classes, codec.columns, fitted, codec.side, lift=codec.lift)


def _arrays_of(fitted: FittedLaws) -> Arrays:
    arrays: Arrays = {"fitted.shares": fitted.shares, "fitted.law": fitted.law}
    if fitted.epsilon is not None:
        arrays["fitted.epsilon"] = np.array(fitted.epsilon)
    for which, (frame, layers) in enumerate(zip(fitted.frames, fitted.layers, strict=True)):
        parts: dict[str, CodecStep] = {"frame": frame}
        parts |= {f"layer.{k}": layer for k, layer in enumerate(layers)}
        for place, step in parts.items():
            for name, array in step.to_arrays().items():
                arrays[f"fitted.{which}.{place}.{name}"] = array
    if fitted.side is not None:
        arrays |= _arrays_of_side(fitted.side)
    for j, curve in enumerate(fitted.coordinates):
        arrays[f"fitted.coordinate.{j}.x"], arrays[f"fitted.coordinate.{j}.y"] = curve.x, curve.y
    return arrays


def _arrays_of_side(side: SideFrames) -> Arrays:
    parts: dict[str, CodecStep | ConditionalFrame] = {
        "shared": side.shared,
        "typical": side.typical,
    }
    parts |= {f"own.{which}": one for which, one in enumerate(side.own) if one is not None}
    arrays: Arrays = {"fitted.side.in_clear": np.array(int(side.in_clear))}
    for place, step in parts.items():
        for name, array in step.to_arrays().items():
            arrays[f"fitted.side.{place}.{name}"] = array
    return arrays


def _fitted_of(arrays: Mapping[str, NDArray[Any]]) -> FittedLaws:
    def part(place: str) -> dict[str, Any]:
        start = f"fitted.{place}."
        return {key[len(start) :]: x for key, x in arrays.items() if key.startswith(start)}

    def layers(which: int) -> tuple[KnotheRosenblatt, ...]:
        found: list[KnotheRosenblatt] = []
        while tables := part(f"{which}.layer.{len(found)}"):
            found.append(KnotheRosenblatt(**tables))
        return tuple(found)

    def side(classes: range) -> SideFrames | None:
        if "fitted.side.in_clear" not in arrays:
            return None
        own = [part(f"side.own.{which}") for which in classes]
        return SideFrames(
            ConditionalFrame(**part("side.shared")),
            tuple(ConditionalFrame(**one) if one else None for one in own),
            AffineMap(**part("side.typical")),
            bool(arrays["fitted.side.in_clear"]),
        )

    try:
        shares, law = arrays["fitted.shares"], arrays["fitted.law"]
        classes = range(len(shares))
        return FittedLaws(
            np.asarray(shares, dtype=np.float64),
            tuple(AffineMap(**part(f"{which}.frame")) for which in classes),
            tuple(layers(which) for which in classes),
            np.asarray(law, dtype=np.float64),
            tuple(PieceCurve(**part(f"coordinate.{j}")) for j in range(len(law))),
            float(arrays["fitted.epsilon"]) if "fitted.epsilon" in arrays else None,
            side(classes),
        )
    except (LookupError, ValueError, TypeError) as wrong:
        raise RequestError("these arrays are not a fitted map") from wrong


def mark_of(codec: Codec) -> str:
    """Return an identifier of a codec, 16 hexadecimal digits.

    A codec only decodes messages that carry its own identifier.
    """
    digest, arrays = sha256(), codec.to_arrays()
    for key in sorted(arrays):
        array = arrays[key]
        digest.update(f"{key} {array.dtype.kind} {array.shape} ".encode())
        text = array.dtype.kind == "U"
        digest.update("\0".join(array.tolist()).encode() if text else _plain(array).tobytes())
    return digest.hexdigest()[:16]


def to_table(maps: Mapping[str, Arrays]) -> pa.Table:
    """Return arrays as table rows: map, array, type, shape, and numbers or texts."""
    rows = [(name, key, array) for name, arrays in maps.items() for key, array in arrays.items()]
    texts = [array.ravel().tolist() if array.dtype.kind == "U" else None for *_, array in rows]
    kinds = [TEXT if array.dtype.kind == "U" else _plain(array).dtype.str for *_, array in rows]
    raw = [
        None if text is not None else _plain(array).tobytes()
        for (*_, array), text in zip(rows, texts, strict=True)
    ]
    return pa.table(
        {
            "map": pa.array([name for name, *_ in rows], pa.string()),
            "array": pa.array([key for _, key, _ in rows], pa.string()),
            "type": pa.array(kinds, pa.string()),
            "shape": pa.array([list(array.shape) for *_, array in rows], pa.list_(pa.int64())),
            "numbers": pa.array(raw, pa.binary()),
            "texts": pa.array(texts, pa.list_(pa.string())),
        }
    )


def from_table(table: pa.Table) -> dict[str, Arrays]:
    maps: dict[str, Arrays] = {}
    for row in table.to_pylist():
        if row["type"] == TEXT:
            array: NDArray[Any] = np.array(row["texts"], dtype=np.str_)
        else:
            array = np.frombuffer(row["numbers"], dtype=_number(row["type"])).copy()
        maps.setdefault(row["map"], {})[row["array"]] = array.reshape(row["shape"])
    return maps


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as little-endian numbers of eight bytes."""
    return np.ascontiguousarray(array, dtype="<f8" if array.dtype.kind == "f" else "<i8")


def _number(kind: str) -> str:
    if kind not in ("<f8", "<i8"):
        raise RequestError("the kit's maps are of another version of voile")
    return kind
