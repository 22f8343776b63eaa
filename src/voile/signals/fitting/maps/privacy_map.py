"""`PrivacyMap` learns the map that hides the class, from readings of known classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError, nearest
from voile.core.estimator import EstimatorParameters
from voile.core.warn import warn
from voile.keys.random import ProtectiveRandom, RandomState
from voile.signals.fitting.maps.columns import (
    Resolution,
    base_sample,
    columns_of,
    sample_of,
)
from voile.signals.information.subjects import CheckedSubjects, Whose
from voile.signals.model.codec.codec import MOST_PLACES, Codec
from voile.signals.model.codec.columns import Scale
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.given import as_given, as_labels, as_table
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.maps.checks import SignalsWarning, check_looks, check_sizes

if TYPE_CHECKING:
    from voile.signals.fitting.maps.levels import SubjectLevels
    from voile.signals.model.codec.posterior import ClassPosterior
    from voile.signals.model.maps.fitted import ClassSample, MapMethod

COARSEST = 0.1  # in cells; with a coarser rounding, message counts would reveal the lattice


@dataclass(eq=False, repr=False)
class PrivacyMap(EstimatorParameters):
    """A learned injective map per private class, after which all classes look alike.

    A patient's device sends readings to a clinic that knows the condition, the class. An adversary
    overhears the messages, knows every map, has any number of readings of each class, and guesses
    the class. The clinic decodes every reading exactly. The guess should be no better than a guess
    without the readings.

    Parameters
    ----------
    method : `transport`, a closed form (Theorems 2 to 5), the paper's learned `affine`, or a method
        object with parameters. The closed forms are `normal`, `exponential`, `gamma` and `uniform`.
    base : the distribution of messages: `normal`, `uniform`, or `barycentre`, which keeps the
        source's units. It does not change the risk.
    strength : from 0 (nothing is hidden) to 1. The map is injective for every strength.
    resolution : for each column, or one for all: a decimal number, `nominal`, or None to estimate
        it.
    random_state : seed of the fit: its folds, starting points and dither. The dither of messages
        uses secure randomness without a seed.
    places : decimal places of messages, 0 to 12. None: full float64 precision. `fit` refuses
        `places` if some of its readings would not decode exactly, or if their cells contain too few
        such decimals.
    side_resolution : like `resolution`, for side columns. Text is nominal.
    relations : by column, a formula of the numeric columns `x0`, `x1`, ... and the side columns
        `k0`, `k1`, ...: `{2: "x0 / x1 ** 2"}`. The fit finds other relations itself. None: no
        relation is removed.
    in_clear : whether side columns are sent with messages. `barycentre` then depends on them, and
        messages look like readings of such people. Otherwise it is one law for all their values.

    Attributes
    ----------
    classes_ : (k,) the classes, sorted.
    codec_ : the codec for encoding and decoding, `voile.signals.model.codec.codec.Codec`.
    fitted_ : frames and layers per class, from which codecs of any base and strength are made.
    lift_ : the removed relations and the heaped last digits, or None without any.
    levels_ : each subject's levels if p(x | c, s) is the subjects' own; else None.

    scikit-learn can clone the map and set its parameters. It is a codec and not a transformer for a
    pipeline, since encoding needs the class of each reading.

    Guarantee: decoding is exact, and each value is checked when it is encoded. Privacy is measured,
    not proved. It is perfect only if the readings are of the method's family.

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

    method: str | MapMethod = "transport"
    base: str = "normal"
    strength: float = 1.0
    resolution: Resolution = None
    random_state: RandomState = None
    places: int | None = None
    side_resolution: Resolution = None
    in_clear: bool = False
    relations: Mapping[int, str] | None = field(default_factory=dict)
    levels_: SubjectLevels | None = field(default=None, init=False)
    lift_: RelationLift | None = field(default=None, init=False)

    def fit(
        self,
        X: ArrayLike,
        c: ArrayLike,
        subjects: Whose = None,
        *,
        known: ArrayLike | None = None,
    ) -> PrivacyMap:
        """Fit the map to readings of known classes.

        Parameters
        ----------
        X : (n, d) readings, or (n,); d up to about 10. Missing values are refused.
        c : (n,) strings or whole numbers.
        subjects : (n,) the subject of each reading. None: each reading belongs to a different
            person. Class sizes and folds count subjects. With `Subjects`, weights and beliefs set
            each class's share in the barycentre and in the search of `affine`. Use `own` laws for
            classes that change within a subject. They give each subject its own codec in addition
            to the common codec. It protects against adversaries who know how this subject's
            readings differ.
        known : (n, q) or (n,) side columns K, such as age and sex: numbers or names, with None, NaN
            or blank text for missing values. The map then hides the class from an adversary who
            knows them: I(Z; C | S, K). Encoding and decoding need them.

        Returns
        -------
        self

        Raises
        ------
        RequestError : the method or base is unknown, or the strength is outside 0..1. A reading is
            missing, or no resolution is found. A class has fewer than 20 subjects, or a column is
            constant within a class. The method is not suitable for the readings.

        Warns
        -----
        SignalsWarning : a class has fewer than 100 subjects.
        """
        from voile.signals.fitting.maps.side_columns import beside, check_conditional, pooled_note

        method = self._method()
        table, labels = as_table(X), as_labels(np.asarray(c))
        if labels.shape != (len(table),):
            raise RequestError(f"there are {len(table)} readings and {len(labels)} classes")
        classes, codes = np.unique(labels, return_inverse=True)
        people = CheckedSubjects.of(subjects, len(table), len(classes))
        check_sizes(classes, codes, people.whose)
        kinds = columns_of(table, codes, len(classes), self.resolution)
        sample = sample_of(table, kinds, codes, people)
        if known is not None:
            check_conditional(method, people)
            sample = beside(sample, known, self.side_resolution, len(kinds))
            if note := pooled_note(sample, len(classes)):
                warn(note, SignalsWarning)
        self.lift_ = None if people.own else self._find_lift(sample, kinds)
        base = sample if self.lift_ is None else base_sample(sample, self.lift_)
        self.fitted_ = method.fit(base, self.random_state) if len(base.cells) else None
        if self.fitted_ is not None and self.fitted_.side is not None:
            side = replace(self.fitted_.side, in_clear=self.in_clear)
            self.fitted_ = replace(self.fitted_, side=side)
        self._kinds, self._side = kinds, sample.side
        self._sent: set[object] = set()
        self._to_scores: Codec | None = None
        self.classes_ = classes
        self.levels_ = None
        if people.own:
            self.levels_ = self._levels(sample, people)
        self.codec_ = self.codec(base=self.base, strength=self.strength)
        if self.places is not None:
            self._check_places(table, labels, known, sample)
        return self

    def _find_lift(self, sample: ClassSample, kinds: Sequence[Scale]) -> RelationLift | None:
        """Return the relations among the numeric columns, and the heaped digits."""
        from voile.signals.fitting.maps.relations import find_lift

        if self.relations is None or not len(sample.cells):
            return None
        lattices = [one for one in kinds if isinstance(one, ValueLattice)]
        declared = {column: ColumnFormula(text) for column, text in self.relations.items()}
        known = None if sample.levels is None else sample.levels.values
        places = [j for j, one in enumerate(kinds) if isinstance(one, ValueLattice)]
        return find_lift(sample.X, sample.c, lattices, known, declared=declared, places=places)

    def _levels(self, sample: ClassSample, known: CheckedSubjects) -> SubjectLevels:
        """Fit each subject's levels of the dithered scores."""
        from voile.signals.fitting.maps.levels import pool_levels
        from voile.signals.model.maps.fitted import SCORES

        if self.fitted_ is None or (self.fitted_.law != SCORES).any():
            remedy = "use transport or normal"
            raise RequestError("own laws need normal scores", where="subjects", instead=remedy)
        scores = self.codec(base="normal", strength=1.0)
        X = sample.add_dither(self.random_state).X.T
        Y = np.empty_like(X)
        for which in range(len(self.classes_)):
            own = sample.c == which
            Y[:, own] = scores.forward(np.ascontiguousarray(X[:, own]), which)
        return pool_levels(Y, sample.c, known.whose, known.names)

    def _check_places(
        self,
        table: NDArray[Any],
        labels: NDArray[Any],
        known: ArrayLike | None,
        sample: ClassSample,
    ) -> None:
        levels = self.codec_.levels(known, len(table))

        def carries(codec: Codec) -> bool:
            for which in range(len(self.classes_)):
                rows = np.flatnonzero(sample.c == which)
                own, at = np.ascontiguousarray(sample.X[rows].T), levels.take(rows)
                apart = codec.reach(own, which, at)
                if codec.steps[which] and (apart.mean(axis=1) > COARSEST).any():
                    return False
            try:
                codec.encode(table, labels, known=known)
            except RequestError:
                return False
            return True

        if not carries(self.codec_):
            more = range((self.codec_.places or 0) + 1, MOST_PLACES + 1)
            enough = (one for one in more if carries(replace(self.codec_, places=one)))
            raise RequestError(
                f"{self.places} decimal places are too few to carry the readings",
                where="places",
                instead=f"send {next(enough, MOST_PLACES)} or more, or float64",
            )

    def codec(self, *, base: str, strength: float, subject: object = None) -> Codec:
        """Return the codec of another base or strength from the same fit, or of one subject.

        A subject without its own law gets the common codec.
        """
        from voile.signals.model.maps.stored import StoredMap

        check_looks(base, strength)
        own = None if self.levels_ is None else self.levels_.steps(subject)
        map = StoredMap(self.classes_, self._kinds, self.fitted_, self._side, lift=self.lift_)
        return map.codec(base=base, strength=strength, personal=own, places=self.places)

    def encode(
        self,
        X: ArrayLike,
        c: ArrayLike,
        subjects: ArrayLike | None = None,
        *,
        known: ArrayLike | None = None,
        protective: ProtectiveRandom | None = None,
    ) -> NDArray[Any]:
        """Return the messages of readings with known classes; see `Codec.encode`.

        Parameters
        ----------
        subjects : (n,) the subject of each reading. None: each reading belongs to a different
            person. If laws are the subjects' own, each subject has its own codec, and decoding
            needs `subjects`.
        known : the side columns that the map was fitted with, one row per reading.

        Warns
        -----
        SignalsWarning : a subject has a second reading, here or in an earlier call of this map.
            Each reading is hidden by itself, but several gradually reveal the class.
        """

        def encode(codec: Codec, X: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
            return codec.encode(X, c, known=known, protective=protective)

        if subjects is None:
            return self._codec().encode(X, c, known=known, protective=protective)
        sent = self._each(encode, X, c, subjects)
        self._count(as_given(subjects, len(sent)))
        return sent

    def _each(
        self,
        work: Callable[[Codec, NDArray[Any], NDArray[Any]], NDArray[Any]],
        X: ArrayLike,
        c: ArrayLike,
        subjects: ArrayLike,
    ) -> NDArray[Any]:
        """Apply `work` with each subject's codec, or with the common codec without own laws."""
        codec, table = self._codec(), np.asarray(X)
        whose = as_given(subjects, len(table))
        labels = np.asarray(c)
        if self.levels_ is None:
            return work(codec, table, labels)
        labels = np.full(len(table), labels) if labels.ndim == 0 else labels
        mixed = len(codec.numeric) < len(codec.columns)
        out = np.empty(table.shape, dtype=object if mixed else np.float64)
        for name in np.unique(whose):
            own = whose == name
            mine = self.codec(base=self.base, strength=self.strength, subject=name)
            out[own] = work(mine, table[own], labels[own])
        return out

    def _count(self, subjects: NDArray[Any]) -> None:
        """Record the subjects of encoded readings, and warn about their second readings."""
        once = set(subjects.tolist())
        again = len(subjects) - len(once - self._sent)
        self._sent |= once
        if again:
            note = f"{again} readings are not their subject's first: use a Session"
            warn(note, SignalsWarning)

    def decode(
        self,
        Z: ArrayLike,
        c: ArrayLike,
        subjects: ArrayLike | None = None,
        *,
        known: ArrayLike | None = None,
        farthest: float | None = None,
    ) -> NDArray[Any]:
        """Return the readings of messages; see `Codec.decode`. `subjects` is for own laws only.

        Every number decodes to some reading, even a forged number, or one of another class or other
        side columns. If the side columns of client and server may differ, send a `KnownMac` of each
        message. With `farthest`, readings beyond this normal score of their class are refused. The
        live channel limits readings to 8, which one in 10^15 exceeds. With None, all readings given
        to `encode` decode exactly, however extreme.
        """

        def decode(codec: Codec, Z: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
            return codec.decode(Z, c, known=known)

        if subjects is None:
            readings = self._codec().decode(Z, c, known=known)
        else:
            readings = self._each(decode, Z, c, subjects)
        if farthest is not None:
            self._check_plausible(readings, c, known, farthest)
        return readings

    def _check_plausible(
        self, readings: NDArray[Any], c: ArrayLike, known: ArrayLike | None, farthest: float
    ) -> None:
        """Refuse readings beyond the normal score `farthest`."""
        outside = self._scores().outside(readings, c, farthest, known=known)
        outside = outside.reshape(len(readings), -1)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise RequestError(
                f"{outside.any(axis=1).sum()} messages decode to readings that are impossible in "
                "their class. This is the first of them",
                where=ReadingPlace(int(column), int(row)),
                instead="set them aside: they may be forged, or of another class",
            )

    def posterior(
        self,
        Z: ArrayLike,
        prior: ArrayLike,
        subject: object = None,
        *,
        known: ArrayLike | None = None,
    ) -> ClassPosterior:
        """Return the possible readings of messages of uncertain class; see `Codec.posterior`."""
        self._codec()
        codec, model = (
            self.codec(base=base, strength=strength, subject=subject)
            for base, strength in ((self.base, self.strength), ("normal", 1.0))
        )
        return codec.posterior(Z, prior, model, known=known)

    def outside(
        self, X: ArrayLike, c: ArrayLike, *, known: ArrayLike | None = None
    ) -> NDArray[np.bool_]:
        """Flag readings that are rarer in their class than 1 in 40,000; see `Codec.outside`."""
        return self._scores().outside(X, c, known=known)

    def _scores(self) -> Codec:
        """Return the codec that maps to normal scores, which measure how extreme a reading is."""
        self._codec()
        if self._to_scores is None:
            self._to_scores = self.codec(base="normal", strength=1.0)
        return self._to_scores

    def _codec(self) -> Codec:
        if not hasattr(self, "codec_"):
            raise RequestError("the map is not fitted", instead="call fit first")
        return self.codec_

    def _method(self) -> MapMethod:
        """Return the chosen method, after all checks that need no readings."""
        from voile.signals.fitting.maps.registry import METHODS

        check_looks(self.base, self.strength)
        if not isinstance(self.method, str):
            return self.method
        if self.method not in METHODS:
            raise RequestError(f"no method {self.method!r}", instead=nearest(self.method, METHODS))
        return METHODS[self.method]
