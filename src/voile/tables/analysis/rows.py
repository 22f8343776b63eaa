"""Read once the rows on which a model is fitted, for the source and for every policy."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.tables.analysis.comparison import SCORE_NAMES, AnalysisEstimates, fit_model, groups_of
from voile.tables.analysis.features import Codes, Floats, ModelPredictor, design
from voile.tables.analysis.model import LinearModel
from voile.tables.domains.domain import OUTSIDE, ValueDomain, infer_parser

MOST_NAMES = 50
MOST_ROWS = 50_000
"""The target number of rows: from a larger source, a random sample of people is drawn."""


@dataclass(frozen=True, eq=False)
class ModelRows(BriefRepr):
    """The rows of a source in the columns that a model needs.

    Attributes
    ----------
    model : the fitted model.
    codes : (n, attributes) int32, positions in the domains of the quasi-identifiers.
    kept : (n, other predictors) int32, positions among the distinct values of columns released
        unchanged.
    predictors : the model's predictors, in the model's order.
    places : for each predictor its column in `codes`, or -1 minus its column in `kept`.
    outcome : (n,) float64.
    groups : (n,) int64, the jackknife groups from `groups_of`.
    """

    model: LinearModel
    codes: Codes
    kept: Codes
    predictors: tuple[ModelPredictor, ...]
    places: tuple[int, ...]
    outcome: Floats
    groups: NDArray[np.int64]

    @property
    def description(self) -> str:
        """Return a description of the model for a person."""
        model = self.model
        outcome = model.outcome if model.positive is None else f"{model.outcome} = {model.positive}"
        return f"{model.family} regression of {outcome} on {', '.join(model.predictors)}"

    @property
    def score_name(self) -> str:
        """Return the name of the score of the model's predictions."""
        return SCORE_NAMES[self.model.family]

    def fit_source(self) -> AnalysisEstimates:
        """Fit the model on the source's rows."""
        return self.fit_release(self.codes, self.codes, np.ones(len(self.outcome), np.bool_))

    def fit_release(
        self, first: Codes, last: Codes, released: NDArray[np.bool_]
    ) -> AnalysisEstimates:
        """Fit the model on the released rows, with intervals in place of the values.

        Parameters
        ----------
        first, last : (n, attributes) int32, the positions of each row's interval, both included.
        released : (n,) bool, the rows that are released.
        """
        terms = tuple(term for p in self.predictors for term in p.terms)
        return fit_model(
            self.model.family,
            terms,
            self._design(first, last),
            self.outcome,
            self.groups,
            judged=self._design(self.codes, self.codes),
            released=released,
        )

    def _design(self, first: Codes, last: Codes) -> Floats:
        whole = [np.hstack([ends, self.kept]) for ends in (first, last)]
        order = [p if p >= 0 else first.shape[1] - 1 - p for p in self.places]
        return design(self.predictors, whole[0][:, order], whole[1][:, order])


def read_rows(
    source: Source,
    model: LinearModel,
    domains: Sequence[ValueDomain],
    subject: str | None,
    rng: np.random.Generator,
) -> ModelRows:
    """Read the rows on which a model is fitted.

    A row is left out if its outcome is missing, a predictor released unchanged is missing, or a
    value is outside its domain. If there are more than `MOST_ROWS` rows, people are drawn at
    random, each with all rows. Cost: one pass. Memory grows with the batch and with `MOST_ROWS`.
    """
    quasi = [domain.column for domain in domains]
    others = [name for name in model.predictors if name not in quasi]
    table, people = draw(source, [*quasi, *others, model.outcome], subject, rng)
    codes = np.column_stack([d.codes(table.column(d.column)) for d in domains])
    whole = [pc.is_valid(table.column(name)).to_numpy() for name in (*others, model.outcome)]
    usable = np.logical_and.reduce([(codes != OUTSIDE).all(axis=1), *whole])
    table, codes, people = table.filter(pa.array(usable)), codes[usable], people[usable]
    described = [_describe_column(table.column(name), name) for name in others]
    predictors, places = [], []
    for name in model.predictors:
        if name in quasi:
            place = quasi.index(name)
            predictors.append(ModelPredictor.of(domains[place], codes[:, place]))
            places.append(place)
        else:
            places.append(-1 - others.index(name))
            predictors.append(described[others.index(name)][0])
    kept = [own for _, own in described] or [np.zeros((len(codes), 0), np.int32)]
    outcome = _outcome(table.column(model.outcome), model)
    groups = groups_of(people, rng)
    return ModelRows(
        model, codes, np.column_stack(kept), tuple(predictors), tuple(places), outcome, groups
    )


def draw(
    source: Source, columns: Sequence[str], subject: str | None, rng: np.random.Generator
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Draw people at random by a keyed hash.

    Returns
    -------
    table : the rows of the drawn people.
    people : (rows,) int64, each row's person as a number.
    """
    key, limit, first = rng.bytes(16), 2**63 - 1, 0
    parts: list[pa.Table] = []
    for batch in source.batches(dict.fromkeys([*columns, *([subject] if subject else [])])):
        token = _tokens(batch, subject, first, key)
        part = pa.Table.from_batches([batch]).append_column("\0person", pa.array(token))
        parts.append(part.filter(pa.array(token <= limit)))
        first += len(batch)
        while sum(map(len, parts)) > 2 * MOST_ROWS and limit:
            limit //= 2
            parts = [p.filter(pc.less_equal(p.column("\0person"), limit)) for p in parts]
    table = pa.concat_tables(parts)
    return table.drop_columns("\0person"), table.column("\0person").to_numpy()


def _tokens(
    batch: pa.RecordBatch, subject: str | None, first: int, key: bytes
) -> NDArray[np.int64]:
    def token(name: str) -> int:
        digest = hashlib.blake2b(name.encode(), key=key, digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 1

    rows = [f"r{row}" for row in range(first, first + len(batch))]
    if subject is None:
        return np.array([token(row) for row in rows], dtype=np.int64)
    people = batch.column(subject).cast(pa.string()).to_pylist()
    names = [row if own is None else f"s{own}" for row, own in zip(rows, people, strict=True)]
    return np.array([token(name) for name in names], dtype=np.int64)


def _describe_column(column: pa.ChunkedArray, name: str) -> tuple[ModelPredictor, Codes]:
    """Return the predictor and the codes of a column that is released unchanged.

    A column of numbers is one feature. A column of text has one indicator for each value except the
    most frequent one.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    number = infer_parser(column.type, column.unique().to_pylist()).kind in ("integer", "decimal")
    cells = column.cast(pa.float64() if number else pa.string()).to_numpy()
    values, codes = np.unique(cells, return_inverse=True)
    own = codes.astype(np.int32)
    if number:
        return ModelPredictor(name, (name,), values[:, None]), own
    if len(values) > MOST_NAMES:
        raise RequestError(
            f"the predictor has {len(values):,} different texts, and a model takes {MOST_NAMES}",
            where=f"model, column {name}",
            instead="take a coarser column",
        )
    rest = np.flatnonzero(np.arange(len(values)) != np.bincount(own).argmax())
    lookup = np.eye(len(values))[:, rest]
    return ModelPredictor(name, tuple(f"{name} {values[i]}" for i in rest), lookup), own


def _outcome(column: pa.ChunkedArray, model: LinearModel) -> Floats:
    if model.family == "logistic":
        outcome: Floats = (column.cast(pa.string()).to_numpy() == model.positive).astype(float)
        if outcome.min() == outcome.max():
            raise RequestError(
                "every row's outcome is positive, or none is",
                where=f"model, column {model.outcome}",
                instead="give positive a value of the column",
            )
        return outcome
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        raise RequestError(
            f"the outcome of a {model.family} model is a number",
            where=f"model, column {model.outcome}",
        ) from None
