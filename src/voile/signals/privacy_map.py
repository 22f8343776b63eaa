"""`PrivacyMap`: learn from readings of known classes the map that hides the class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.errors import RequestError, nearest
from voile.random import Protective, RandomState
from voile.signals.codec import Codec, Column, as_given, as_labels, as_subjects, as_table
from voile.signals.lattice import Lattice
from voile.signals.nominal import Assignment

if TYPE_CHECKING:
    from voile.signals.methods import Fitted, Method
    from voile.signals.steps import Step

LEAST = 20
FEW = 100
NOMINAL = "nominal"
Resolution: TypeAlias = "float | str | Sequence[float | str | None] | None"


class SignalsWarning(UserWarning):
    """A map was fitted, but promises less than it seems to."""


class PrivacyMap:
    """Learn one injective map per private class, after which all classes look alike.

    The story: a patient's device sends readings to a clinic that knows her condition, the class.
    Someone overhears them, knows every map and has as many readings of each class as she likes,
    and guesses the class. The clinic decodes every reading exactly; the guess should be no better
    than one made without the readings.

    Parameters
    ----------
    method : `transport`; the closed forms `normal`, `exponential`, `gamma` and `uniform`
        (Theorems 2 to 5); the paper's learned `affine`; or a method with parameters of its own.
    base : what overheard values look like: `normal`, `uniform`, or `barycentre`, which keeps the
        source's units. It changes no risk.
    strength : 0 (nothing is hidden) to 1; injective throughout.
    resolution : of each column, or one for all: a decimal number; `nominal`; None to find it.
    random_state : of the fit: its folds, starts and dither. What is sent is dithered by
        protective randomness, which no seed gives.

    Attributes
    ----------
    classes_ : (k,) the classes, sorted.
    codec_ : all that encoding and decoding needs, `voile.signals.codec.Codec`.
    fitted_ : frames and layers per class, from which codecs of any base and strength are made.

    Guarantee: decoding is exact, proved for each value as it is encoded. Privacy is measured, not
    proved: perfect only where the readings are of the method's family.

    Source: Aranki, Bajcsy, *Private Disclosure of Information in Health Tele-monitoring*, 2015.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> c = rng.choice(["ill", "well"], 400)
    >>> weight = np.round(rng.normal(np.where(c == "ill", 50, 80), 9), 1)
    >>> map = PrivacyMap(method="normal", base="barycentre").fit(weight, c)
    >>> sent = map.encode(weight, c)
    >>> bool((map.decode(sent, c) == weight).all())
    True
    >>> bool(abs(sent[c == "ill"].mean() - sent[c == "well"].mean()) < 1)
    True
    """

    def __init__(
        self,
        method: str | Method = "transport",
        base: str = "normal",
        strength: float = 1.0,
        resolution: Resolution = None,
        random_state: RandomState = None,
    ) -> None:
        self.method = method
        self.base = base
        self.strength = strength
        self.resolution = resolution
        self.random_state = random_state

    def fit(self, X: ArrayLike, c: ArrayLike, subjects: ArrayLike | None = None) -> PrivacyMap:
        """Learn the map.

        Parameters
        ----------
        X : (n, d) readings, or (n,); d up to about 10. Missing values are refused.
        c : (n,) strings or whole numbers.
        subjects : (n,) whose reading each is; None: each a person's only one. Class sizes and
            folds count subjects.

        Returns
        -------
        self

        Raises
        ------
        RequestError : an unknown method or base, a strength outside 0..1, a missing reading, no
            resolution found, a class of under 20 subjects, a column constant within a class, or
            readings that the method does not stand for.

        Warns
        -----
        SignalsWarning : a class of under 100 subjects.
        """
        method = self._method()
        table, labels = as_table(X), as_labels(np.asarray(c))
        if labels.shape != (len(table),):
            raise RequestError(f"there are {len(table)} readings and {len(labels)} classes")
        classes, codes = np.unique(labels, return_inverse=True)
        whose = as_subjects(subjects, len(table))
        check_sizes(classes, codes, whose)
        kinds = columns_of(table, codes, len(classes), self.resolution)
        numeric = [j for j, kind in enumerate(kinds) if isinstance(kind, Lattice)]
        self.fitted_ = None
        if numeric:
            self.fitted_ = _fit(method, table, kinds, numeric, codes, whose, self.random_state)
        self._kinds = kinds
        self._sent: set[object] = set()
        self.classes_ = classes
        self.codec_ = self.codec(base=self.base, strength=self.strength)
        return self

    def codec(self, *, base: str, strength: float) -> Codec:
        """Make the codec of another base or strength from the same fit."""
        from voile.signals.bases import class_steps

        _check_looks(base, strength)
        nothing: tuple[tuple[Step, ...], ...] = ((),) * len(self.classes_)
        if strength == 0:
            plain = (k.plain() if isinstance(k, Assignment) else k for k in self._kinds)
            return Codec(self.classes_, tuple(plain), nothing)
        steps = class_steps(self.fitted_, base, strength) if self.fitted_ else nothing
        return Codec(self.classes_, self._kinds, steps)

    def encode(
        self,
        X: ArrayLike,
        c: ArrayLike,
        subjects: ArrayLike | None = None,
        *,
        protective: Protective | None = None,
    ) -> NDArray[Any]:
        """Return what is sent for readings of known classes; see `Codec.encode`.

        Parameters
        ----------
        subjects : (n,) whose reading each is; None: each a person's only one.

        Warns
        -----
        SignalsWarning : a subject has a second reading, here or in an earlier call of this map:
            each is hidden by itself, but many tell the class by and by.
        """
        sent = self._codec().encode(X, c, protective=protective)
        if subjects is not None:
            self._count(as_given(subjects, len(sent)))
        return sent

    def _count(self, subjects: NDArray[Any]) -> None:
        """Remember whose readings were sent, and warn of those who had one sent before."""
        once = set(subjects.tolist())
        again = len(subjects) - len(once - self._sent)
        self._sent |= once
        if again:
            note = f"{again} readings are not their subject's first: use a Session"
            warnings.warn(note, SignalsWarning, stacklevel=3)

    def decode(self, Z: ArrayLike, c: ArrayLike) -> NDArray[Any]:
        """Return the readings again; see `Codec.decode`."""
        return self._codec().decode(Z, c)

    def outside(self, X: ArrayLike, c: ArrayLike) -> NDArray[np.bool_]:
        """Flag the readings beyond those the map was fitted to; see `Codec.outside`."""
        return self._codec().outside(X, c)

    def _codec(self) -> Codec:
        if not hasattr(self, "codec_"):
            raise RequestError("the map is not fitted", instead="call fit first")
        return self.codec_

    def _method(self) -> Method:
        """Return the method meant, all that can be checked without readings being right."""
        from voile.signals.methods import METHODS

        _check_looks(self.base, self.strength)
        if not isinstance(self.method, str):
            return self.method
        if self.method not in METHODS:
            raise RequestError(f"no method {self.method!r}", instead=nearest(self.method, METHODS))
        return METHODS[self.method]


def _check_looks(base: str, strength: float) -> None:
    from voile.signals.bases import BASES

    if base not in BASES:
        raise RequestError(f"no base {base!r}", instead=nearest(base, BASES))
    if not 0 <= strength <= 1:
        raise RequestError("the strength must lie between 0 and 1")


def check_sizes(classes: NDArray[Any], codes: NDArray[np.intp], whose: NDArray[np.intp]) -> None:
    """Refuse classes too small to hide, warn of small ones."""
    if not len(codes):
        raise RequestError("there are no readings")
    if len(classes) == len(codes) > 1:
        raise RequestError("every reading has a class of its own", where="c")
    pairs = np.unique(np.stack([codes, whose]), axis=1)[0]
    sizes = np.bincount(pairs)
    if sizes.min() < LEAST:
        raise RequestError(
            f"a class has {sizes.min()} subjects, fewer than {LEAST}",
            where="c",
            instead="merge it with another",
        )
    if sizes.min() < FEW:
        note = f"a class has only {sizes.min()} subjects: the map hides it less well"
        warnings.warn(note, SignalsWarning, stacklevel=3)


def columns_of(
    table: NDArray[Any], codes: NDArray[np.intp], classes: int, resolution: Resolution
) -> tuple[Column, ...]:
    """Return each column's lattice or assignment."""
    return tuple(
        _column(table[:, j], codes, classes, one, f"column {j}")
        for j, one in enumerate(_resolutions(resolution, table.shape[1]))
    )


def _resolutions(said: Resolution, d: int) -> list[float | str | None]:
    """Return what was declared for each column."""
    if said is None or isinstance(said, str | int | float):
        return [said] * d
    if len(said) != d:
        raise RequestError(f"there are {len(said)} resolutions for {d} columns")
    return list(said)


def _column(
    x: NDArray[Any], codes: NDArray[np.intp], classes: int, said: float | str | None, where: str
) -> Column:
    if said == NOMINAL or (said is None and any(isinstance(value, str) for value in x)):
        if not all(isinstance(value, str) for value in x):
            raise RequestError("a nominal value is missing or not text", where=where)
        return Assignment.of(x.astype(str), codes, classes)
    if isinstance(said, str):
        raise RequestError(f"no resolution {said!r}", where=where, instead="a number or nominal")
    numbers = x.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int((~np.isfinite(numbers)).argmax()) + 1
        raise RequestError(
            "a reading is missing or infinite",
            where=f"{where}, row {row}",
            instead="set such rows aside",
        )
    for k in range(classes):
        if np.ptp(numbers[codes == k]) == 0:
            raise RequestError(
                "the readings of a class are all the same", where=where, instead="leave it out"
            )
    found = Lattice.found(numbers, where) if said is None else None
    return found or Lattice.declared(float(said or 0), numbers, where)


def _fit(
    method: Method,
    table: NDArray[Any],
    kinds: Sequence[Column],
    numeric: Sequence[int],
    codes: NDArray[np.intp],
    whose: NDArray[np.intp],
    random_state: RandomState,
) -> Fitted:
    """Fit the method to the numeric columns, each reading moved onto its lattice."""
    from voile.signals.methods import Sample

    lattices = [kind for kind in kinds if isinstance(kind, Lattice)]
    X = table[:, numeric].astype(np.float64)
    on = np.stack([lat.nearest(x) for lat, x in zip(lattices, X.T, strict=True)], axis=1)
    cells = np.array([lattice.resolution for lattice in lattices])
    return method.fit(Sample(on, codes, whose, cells), random_state)
