"""Sparse 0/1 rows. Equal rows are stored once, and never as a dense matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.data.frames import frame_kind
from voile.itemsets.rows.matrices import frame_matrix

if TYPE_CHECKING:
    from voile.itemsets.kernels.groups import SubjectGroups

Starts = NDArray[np.int64]
Items = NDArray[np.int32]
Features = Sequence[str] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Incidence:
    """The features of each row, in sparse form. Create one with `Incidence.of`.

    Equal rows form one *pattern*. Rows are compared item by item. The support of a row is the
    number of distinct subjects with at least one row that contains it. Every k counts subjects in
    this way. The rows of a subject are not joined: an item of one row and an item of another do not
    occur together. Without subjects, every row is a subject of its own.

    Parameters
    ----------
    features : the names, distinct.
    starts, items : (patterns + 1,) int64 and (ones,) int32, the features of each pattern, rising
        (CSR).
    column_starts, holders : (features + 1,) int64 and (ones,) int32, the patterns with each
        feature, rising (CSC).
    pattern, subject : (rows,) the pattern of each row, and the number of its subject or None.
    own : (patterns,) int64, the number of subjects who have this pattern and no other.
    shared_starts, shared : (patterns + 1,) int64 and int32, the numbers of the subjects who have
        other patterns too. There are `n_shared` of them.
    n_subjects : the number of distinct subjects.
    """

    features: tuple[str, ...]
    starts: Starts
    items: Items
    column_starts: Starts
    holders: Items
    pattern: Items
    subject: Starts | None
    own: Starts
    shared_starts: Starts
    shared: Items
    n_shared: int
    n_subjects: int

    @classmethod
    def of(
        cls, X: Any, features: Sequence[str] | None = None, subjects: ArrayLike | None = None
    ) -> Incidence:
        """Read a matrix of zeros and ones, in O(rows + features + ones) time and memory.

        Parameters
        ----------
        X : (rows, features) SciPy sparse matrix, NumPy array, or pandas, Polars or Arrow frame, of
            0 and 1 or booleans. An Incidence is returned as it is.
        features : a name for each column. None for the names of the frame, or x0, x1, ...
        subjects : (rows,) the subject of each row. If None, each row is a subject of its own.

        Raises
        ------
        RequestError : the matrix is empty, or two names are equal. A value is neither 0 nor 1: the
            message contains the number of such values and the position of the first, never the
            value. A subject is missing, or the number of subjects is not the number of rows.

        >>> data = Incidence.of(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]))
        >>> data
        Incidence(3 rows, 3 features, 5 ones, 2 patterns)
        >>> data.supports.tolist()
        [2, 1, 2]
        """
        if isinstance(X, cls):
            if features is not None or subjects is not None:
                raise RequestError("an Incidence has its features and subjects already")
            return X
        if frame_kind(X) is not None:
            X, names = frame_matrix(X)
            features = names if features is None else features
        starts, items, width = _binary_rows(X, features)
        names = _names(features, width)
        return _group_rows(starts, items, names, _number_subjects(subjects, len(starts) - 1))

    def __repr__(self) -> str:
        sizes = np.diff(self.starts)
        ones = int(sizes[self.pattern].sum())
        return (
            f"Incidence({len(self.pattern):,} rows, {len(self.features):,} features,"
            f" {ones:,} ones, {len(self.own):,} patterns)"
        )

    @property
    def n_rows(self) -> int:
        """The number of rows, including repeated rows."""
        return len(self.pattern)

    def subjects_of(self, rows: NDArray[np.intp]) -> list[int]:
        """Return the number of the subject of each given row."""
        numbers: list[int] = self.person[rows].tolist()
        return numbers

    @cached_property
    def person(self) -> NDArray[np.int64]:
        """(rows,) number of the subject of each row.

        Without subjects, it is the number of the row.
        """
        return np.arange(self.n_rows) if self.subject is None else self.subject

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """(features,) number of subjects with each feature."""
        from voile.itemsets.kernels.groups import supports

        return supports(self.groups)

    @property
    def sharing(self) -> NDArray[np.int64]:
        """(patterns,) number of subjects with each pattern."""
        return self.own + np.diff(self.shared_starts)

    @property
    def longest_first(self) -> NDArray[np.intp]:
        """(patterns,) numbers of the patterns, sorted by falling number of features."""
        return np.argsort(-np.diff(self.starts), kind="stable")

    @property
    def groups(self) -> SubjectGroups:
        """The arrays in the form that the kernels require."""
        from voile.itemsets.kernels.groups import SubjectGroups

        return SubjectGroups(*(getattr(self, name) for name in SubjectGroups._fields))

    def project(self, features: Features) -> Incidence:
        """Return the rows with only some features, in the order of the columns, in O(rows + ones).

        `features` are names, numbers, or one boolean for each feature. An empty selection is
        allowed, and makes all rows empty.
        """
        from voile.itemsets.kernels.rows import distinct, take

        kept = self.numbers(features)
        place = np.full(len(self.features), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        patterns = np.arange(len(self.own))
        starts, items = take(self.starts, self.items, patterns, place)
        merged, first = distinct(starts, items)
        starts, items = take(starts, items, first, np.arange(len(kept), dtype=np.int32))
        names = tuple(self.features[x] for x in kept)
        return _build_incidence(starts, items, names, merged[self.pattern], self.subject)

    def among(self, rows: NDArray[np.bool_]) -> Incidence:
        """Return some of the rows, with every feature, in O(rows + ones)."""
        from voile.itemsets.kernels.rows import take

        kept, pattern = np.unique(self.pattern[rows], return_inverse=True)
        every = np.arange(len(self.features), dtype=np.int32)
        starts, items = take(self.starts, self.items, kept.astype(np.int64), every)
        subject = (
            None if self.subject is None else _number_subjects(self.subject[rows], int(rows.sum()))
        )
        return _build_incidence(starts, items, self.features, pattern.astype(np.int32), subject)

    def arrange_features(self, order: NDArray[np.intp]) -> Incidence:
        """Return the same rows with the features in another order.

        `order` contains each feature once.
        """
        from voile.itemsets.kernels.rows import columns

        held = [self.holders[slice(*self.column_starts[x : x + 2])] for x in order]
        begins, holders = np.cumsum([0, *map(len, held)], dtype=np.int64), np.concatenate(held)
        starts, items = columns(begins, holders, len(self.own))
        return replace(
            self,
            features=tuple(self.features[x] for x in order),
            starts=starts,
            items=items,
            column_starts=begins,
            holders=holders,
        )

    def numbers(self, features: Features) -> NDArray[np.intp]:
        """Return the numbers of the features in rising order. `features` is as in `project`."""
        if len(features) and isinstance(features[0], str):
            place = {name: x for x, name in enumerate(self.features)}
            for name in features:
                if name not in place:
                    raise RequestError(f"no feature {name}")
            return np.unique([place[name] for name in features])
        numbers = np.asarray(features)
        if numbers.dtype == np.bool_:
            if numbers.shape != (len(self.features),):
                raise RequestError(f"a mask of features must be {len(self.features)} booleans")
            return np.flatnonzero(numbers)
        if not len(numbers):
            return np.zeros(0, dtype=np.intp)
        whole = np.issubdtype(numbers.dtype, np.integer)
        if not whole or numbers.min() < 0 or numbers.max() >= len(self.features):
            raise RequestError(
                "a feature is none of the matrix's",
                instead=f"give names, or numbers from 0 to {len(self.features) - 1}",
            )
        return np.unique(numbers).astype(np.intp)


def _binary_rows(X: Any, features: Sequence[str] | None) -> tuple[Starts, Items, int]:
    """Return the row offsets, the rising items and the number of columns of a matrix.

    Raises RequestError if the matrix is empty, or if a value is neither 0 nor 1.
    """
    from scipy import sparse

    matrix = X.tocsr() if sparse.issparse(X) else sparse.csr_array(_two_dimensional(X))
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        rows, columns = matrix.shape
        raise RequestError(f"the matrix is empty: {rows} rows, {columns} features")
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    wrong = np.flatnonzero(matrix.data != 1)
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        column = int(matrix.indices[wrong[0]])
        name = column if features is None or column >= len(features) else features[column]
        cells = "1 value is" if len(wrong) == 1 else f"{len(wrong):,} values are"
        raise RequestError(
            f"{cells} neither 0 nor 1",
            where=f"row {row}, column {name}",
            instead="binarise the column, or leave it out",
        )
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), int(matrix.shape[1])


def _two_dimensional(X: Any) -> NDArray[Any]:
    array = np.asarray(X)
    if array.ndim != 2:
        raise RequestError(f"a matrix has two dimensions, not {array.ndim}")
    if array.dtype.kind not in "biuf":
        raise RequestError(f"a matrix of zeros and ones is not of type {array.dtype}")
    return array


def _names(features: Sequence[str] | None, width: int) -> tuple[str, ...]:
    if features is None:
        return tuple(f"x{x}" for x in range(width))
    names = tuple(str(name) for name in features)
    if len(names) != width:
        raise RequestError(f"{len(names)} names for {width} features")
    if len(set(names)) != width:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RequestError("two features have the same name", where=f"column {twice}")
    return names


def _number_subjects(subjects: ArrayLike | None, rows: int) -> Starts | None:
    if subjects is None:
        return None
    values = np.asarray(subjects)
    if values.shape != (rows,):
        raise RequestError(f"subjects of shape {values.shape} for {rows} rows")
    number, absent = number_values(values)
    if len(absent):
        raise RequestError(f"{len(absent)} subjects are missing", where=f"row {absent[0]}")
    return number


def number_values(values: NDArray[Any]) -> tuple[Starts, NDArray[np.intp]]:
    """Return the place of each value among the distinct values, and where values are missing.

    Objects are compared as text. None, NaN and the missing values of pandas are missing. If there
    are any, the places are undefined.
    """
    if values.dtype != object:
        return _places(values), np.flatnonzero(values != values)
    try:
        texts = pa.array(values, pa.large_string(), from_pandas=True).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        absent = [v is None or type(v).__name__ == "NAType" or v != v for v in values]
        return _places(values.astype(str)), np.flatnonzero(absent)
    lack = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
    places = _places(np.array(texts.dictionary.to_pylist(), dtype=str))
    indices = texts.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return (places[indices] if len(places) else indices.astype(np.int64)), lack


def _places(values: NDArray[Any]) -> Starts:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _group_rows(
    starts: Starts, items: Items, names: tuple[str, ...], subject: Starts | None
) -> Incidence:
    from voile.itemsets.kernels.rows import distinct, take

    pattern, first = distinct(starts, items)
    if len(first) < len(pattern):
        starts, items = take(starts, items, first, np.arange(len(names), dtype=np.int32))
    return _build_incidence(starts, items, names, pattern, subject)


def _build_incidence(
    starts: Starts, items: Items, names: tuple[str, ...], pattern: Items, subject: Starts | None
) -> Incidence:
    from voile.itemsets.kernels.rows import columns

    patterns = len(starts) - 1
    column_starts, holders = columns(starts, items, len(names))
    if subject is None:
        own = np.bincount(pattern, minlength=patterns).astype(np.int64)
        shared_starts, shared = np.zeros(patterns + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        n_shared, n_subjects = 0, len(pattern)
    else:
        n_subjects = int(subject.max()) + 1
        own, shared_starts, shared, n_shared = _shares(pattern, subject, patterns, n_subjects)
    return Incidence(
        features=names,
        starts=starts,
        items=items,
        column_starts=column_starts,
        holders=holders,
        pattern=pattern,
        subject=subject,
        own=own,
        shared_starts=shared_starts,
        shared=shared,
        n_shared=n_shared,
        n_subjects=n_subjects,
    )


def _shares(
    pattern: Items, subject: Starts, patterns: int, n_subjects: int
) -> tuple[Starts, Starts, Items, int]:
    """Separate the subjects with one pattern, who can be added up, from those with several."""
    pairs = np.unique(pattern.astype(np.int64) * n_subjects + subject)
    patterns_of, subject_of = np.divmod(pairs, n_subjects)
    several = np.bincount(subject_of, minlength=n_subjects) > 1
    alone = ~several[subject_of]
    own = np.bincount(patterns_of[alone], minlength=patterns).astype(np.int64)
    per_pattern = np.bincount(patterns_of[~alone], minlength=patterns)
    number = np.cumsum(several) - 1
    starts = np.concatenate([[0], np.cumsum(per_pattern)]).astype(np.int64)
    return own, starts, number[subject_of[~alone]].astype(np.int32), int(several.sum())
