"""The wing's first two verbs: fit finds the best features for each k, choose picks one set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.errors import InfeasibleError, RequestError
from voile.frontier import Frontier
from voile.hold_out import HoldOut
from voile.io import Source
from voile.itemsets.containment import (
    exposure,
    part_anonymity,
    row_anonymity,
    row_exact_anonymity,
)
from voile.itemsets.content import KIND, Content
from voile.itemsets.feasible import Constraint, Feasible
from voile.itemsets.incidence import Incidence
from voile.itemsets.options import FitOptions
from voile.itemsets.searches import METHODS, Selection, select
from voile.itemsets.searches.run import Worth
from voile.itemsets.sources import Reading, Rows
from voile.kit import Choice, Chosen, Kit
from voile.progress import Progress
from voile.random import streams
from voile.roles import Roles

SMALL_K = (2, 3, 5, 8, 11)
GROWTH = 2
MANY_ONES, FEW_SETS = 2**17, 8
BLOCKED = 30
SIZES = (1, 2, 5, 11, 50, 200)
"""Where containment groups are told apart by size: 1, 2 to 4, 5 to 10, ..."""


def fit(
    source: Source, roles: Roles, options: FitOptions, *, seed: int | None, progress: Progress
) -> Kit:
    """Find for each k the features that are worth most, and what each choice tells.

    Reads the source twice; memory O(rows + ones). The kit keeps no row, but rare itemsets.

    Raises
    ------
    RequestError : roles, columns, values or labels that do not fit; k above the subjects.
    InfeasibleError : no feature meets a k that was asked for.
    """
    drawn = streams(seed, "hold-out", "search")
    hold_out = HoldOut(options.hold_out, drawn[0].bytes(32), roles.subject)
    reading = Reading(roles, hold_out, "drop" if options.drop_unlabelled else "refuse")
    reading.check(source)
    progress("learning", 0)
    forms = reading.learn(source)
    progress("reading", 0)
    family = _Family.of(reading.read(source, forms), options)
    found = list(family.search(drawn[1], progress))
    progress("counting", 0)
    return _content(
        family, list(family.points(found)), found, forms=forms, reading=reading
    ).to_kit()


@dataclass(frozen=True, eq=False)
class _Point:
    """A set of features with its risk, its loss, and the k that it was searched for."""

    features: NDArray[np.int32]
    k: int
    utility: float
    bound: float | None
    risk: float
    loss: float


@dataclass(frozen=True, eq=False)
class _Family:
    """What all policies of one fit share."""

    rows: Rows
    options: FitOptions
    adversary: Constraint
    worth: Worth
    everything: float
    nothing: float

    @classmethod
    def of(cls, rows: Rows, options: FitOptions) -> _Family:
        default = "coverage" if rows.labels is None else "mutual-information"
        name = METHODS[options.method].utility or options.utility or default
        worth = Worth.of(name, rows.incidence, rows.labels)
        whole = np.arange(len(rows.incidence.features))
        everything, nothing = worth(whole), worth(whole[:0])
        if not everything > nothing:
            raise RequestError(
                f"by {name} no feature is worth anything", instead="use the utility coverage"
            )
        exact = METHODS[options.method].exact
        adversary = Constraint(1, None if exact else options.m, options.absences or exact)
        return cls(rows, options, adversary, worth, everything, nothing)

    @property
    def incidence(self) -> Incidence:
        return self.rows.incidence

    @property
    def asked(self) -> list[int]:
        """The k asked for; 1 asks nothing, and needs no search."""
        return sorted(set(self.options.k) - {1})

    def points(self, found: list[Selection]) -> Iterator[_Point]:
        """Yield the sets found, beside nothing and, unless a k was asked for, everything."""
        yield self.empty()
        if not self.options.k or 1 in self.options.k:
            yield self.untouched()
        yield from map(self.point, found)

    def search(self, rng: np.random.Generator, progress: Progress) -> Iterator[Selection]:
        """Yield the best set for each k; where no k was asked for, as far as one is met."""
        ks = self.asked or list(_grid(self.incidence.n_subjects))
        for place, k in enumerate(ks):
            progress("searching", place, len(ks))
            try:
                found = select(
                    self.incidence,
                    self.rows.labels,
                    constraint=replace(self.adversary, k=k),
                    method=self.options.method,
                    utility=self.worth.name,
                    evaluations=self._evaluations(),
                    seconds=self.options.seconds,
                    random_state=rng,
                )
            except InfeasibleError:
                if self.asked:
                    raise
                return
            yield found
            if found.stopped == "interrupted":
                return

    def _evaluations(self) -> int | None:
        """Return how many sets a search may build: a few, where it has much to look at."""
        quick = self.options.evaluations is None and self.options.seconds is None
        if quick and self.options.method in ("best", "greedy"):
            return FEW_SETS if self.incidence.supports.sum() > MANY_ONES else None
        return self.options.evaluations

    def untouched(self) -> _Point:
        """Return the policy of every feature that is worth something; nothing is promised."""
        weights = self.worth.weights
        good = self.incidence.supports > 0 if weights is None else weights > 0
        features = np.flatnonzero(good).astype(np.int32)
        worth = self.worth(features)
        return self._scored(features, k=1, utility=worth, bound=worth)

    def empty(self) -> _Point:
        """Return the policy that publishes nothing: everybody looks alike."""
        nobody = np.zeros(0, dtype=np.int32)
        subjects = self.incidence.n_subjects
        return _Point(nobody, subjects, self.nothing, self.nothing, 1 / subjects, 1.0)

    def point(self, found: Selection) -> _Point:
        """Score a set that was found."""
        return self._scored(
            found.features, k=found.constraint.k, utility=found.utility, bound=found.bound
        )

    def _scored(
        self, features: NDArray[np.int32], *, k: int, utility: float, bound: float | None
    ) -> _Point:
        risk = 1 / least_anonymity(self.incidence.project(features), self.adversary)
        lost = (self.everything - utility) / (self.everything - self.nothing)
        return _Point(features, k, utility, bound, risk, min(max(lost, 0.0), 1.0))


def least_anonymity(rows: Incidence, adversary: Constraint) -> int:
    """Return how many subjects at least share whatever she may know of a row."""
    if adversary.m is None and adversary.absences:
        return int(row_exact_anonymity(rows).min())
    if adversary.m is None:
        return int(row_anonymity(rows).min())
    return part_anonymity(rows, adversary.m, absences=adversary.absences)


def _grid(subjects: int) -> Iterator[int]:
    """Yield the k to try: the usual ones, then ever larger steps."""
    yield from (k for k in SMALL_K if k <= subjects)
    k = SMALL_K[-1]
    while (k := k * GROWTH) <= subjects:
        yield k


def _content(
    family: _Family, points: list[_Point], found: list[Selection], *, forms: Any, reading: Reading
) -> Content:
    """Keep the policies that no other beats, and count what each tells."""
    frontier = Frontier.of(
        [p.risk for p in points], [p.loss for p in points], np.arange(len(points))
    )
    kept = [points[x] for x in frontier.policies]
    incidence = family.incidence
    masks = np.zeros((len(kept), len(incidence.features)), dtype=np.bool_)
    for mask, point in zip(masks, kept, strict=True):
        mask[point.features] = True
    weights = family.worth.weights
    return Content(
        forms=forms,
        reading=reading,
        features=pa.table(
            {
                "feature": pa.array(incidence.features, pa.string()),
                "support": incidence.supports,
                "weight": pa.array(
                    [None] * len(incidence.features) if weights is None else weights, pa.float64()
                ),
            }
        ),
        frontier=Frontier(frontier.risk, frontier.loss, masks),
        figures=_figures(family, kept),
        blocked=_blocked(family, kept),
        adversary=family.adversary,
        before=_told(incidence, family.rows.labels),
        found={
            "method": family.options.method,
            "utility": family.worth.name,
            "evaluations": sum(one.evaluations for one in found),
            "stopped": found[-1].stopped if found else "finished",
        },
    )


def _figures(family: _Family, points: list[_Point]) -> pa.Table:
    """Return a row for each policy: what it promises, keeps and tells."""
    rows = []
    for number, point in enumerate(points):
        projected = family.incidence.project(point.features)
        rows.append(
            {
                "number": number,
                "risk": point.risk,
                "loss": point.loss,
                "k": point.k,
                **_told(projected, family.rows.labels),
                "utility": point.utility,
                "bound": point.bound,
                **_left_out(family, point),
            }
        )
    types = {"bound": pa.float64(), "label_diversity": pa.int64()}
    return pa.table(
        {name: pa.array([row[name] for row in rows], types.get(name)) for name in rows[0]}
    )


def _told(rows: Incidence, labels: Any) -> dict[str, Any]:
    """Return what some features tell of the people, and how large containment groups are."""
    told = exposure(rows, y=labels)
    bins = np.searchsorted(SIZES, row_anonymity(rows), side="right") - 1
    return {
        "features": told.features,
        "anonymity": told.anonymity,
        "exact_anonymity": told.exact_anonymity,
        "unique_share": told.unique_rows / told.rows,
        "empty_share": told.empty_rows / told.rows,
        "label_diversity": told.label_diversity,
        "subjects": told.subjects,
        "sizes": (np.bincount(bins, minlength=len(SIZES)) / told.rows).tolist(),
    }


def _left_out(family: _Family, point: _Point) -> dict[str, int]:
    """Count the features left out by why: nobody has them, too few have, worth nothing, blocked."""
    out = np.ones(len(family.incidence.features), dtype=np.bool_)
    out[point.features] = False
    supports, weights = family.incidence.supports, family.worth.weights
    rare = out & (supports > 0) & (supports < point.k)
    useless = out & (supports >= point.k)
    useless &= np.zeros_like(out) if weights is None else weights <= 0
    return {
        "absent": int((out & (supports == 0)).sum()),
        "rare": int(rare.sum()),
        "worthless": int(useless.sum()),
        "blocked": int((out & (supports >= point.k) & ~useless).sum()),
    }


def _blocked(family: _Family, points: list[_Point]) -> pa.Table:
    """Name, for each policy, the rare itemset that keeps out the features worth most."""
    names, supports = family.incidence.features, family.incidence.supports
    worth = supports if family.worth.weights is None else family.worth.weights
    rows: list[dict[str, Any]] = []
    for number, point in enumerate(points):
        if not len(point.features):
            continue
        constraint = replace(family.adversary, k=point.k)
        state = Feasible(family.incidence, constraint)
        state.extend(point.features)
        out = np.setdiff1d(np.flatnonzero((supports >= point.k) & (worth > 0)), point.features)
        for feature in out[np.argsort(-worth[out], kind="stable")][:BLOCKED].tolist():
            found = state.blocker(feature)
            if found is not None:
                rows.append(
                    {
                        "number": number,
                        "feature": names[feature],
                        "worth": float(worth[feature]),
                        "itemset": [names[x] for x in found.features],
                        "present": list(found.present),
                        "support": found.support,
                    }
                )
    schema = pa.schema(
        [
            ("number", pa.int64()),
            ("feature", pa.string()),
            ("worth", pa.float64()),
            ("itemset", pa.list_(pa.string())),
            ("present", pa.list_(pa.bool_())),
            ("support", pa.int64()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def choose(kit: Kit, choice: Choice) -> Chosen:
    """Pick one policy of a kit's frontier, with what it tells and keeps.

    Raises
    ------
    InfeasibleError : no policy is within the limit.
    RequestError : there is no policy of that number or name.
    """
    content = Content.of(kit)
    number = _pick(content.frontier, choice)
    figures = content.figures_of(number)
    return Chosen(KIND, kit.id, number, str(choice), figures, content.policy(number).to_data())


def _pick(frontier: Frontier, choice: Choice) -> int:
    if choice.policy is not None:
        if not 0 <= choice.policy < len(frontier):
            raise RequestError(
                f"there is no policy {choice.policy}",
                instead=f"they are numbered 0 to {len(frontier) - 1}",
            )
        return choice.policy
    if choice.beats is not None:
        raise RequestError(f"no policy is called {choice.beats}", instead="choose by risk or loss")
    if choice.knee:
        return frontier.knee().index
    if choice.max_risk is not None:
        return frontier.at(risk=choice.max_risk).index
    return frontier.at(loss=choice.max_loss).index
