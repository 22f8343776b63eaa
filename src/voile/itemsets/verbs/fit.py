"""Find the best features for each k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.core.interruption import ctrl_c
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.measures.classification import AucLost, RocArea, figures, intervals
from voile.itemsets.measures.containment import exposure, row_anonymity
from voile.itemsets.measures.feasibility import FeasibleSet
from voile.itemsets.rows.forms import ColumnForm
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.sources import RowReader, SourceRows
from voile.itemsets.searches.joint import bits_added
from voile.itemsets.searches.picking import ClassSums
from voile.itemsets.selection import Selection
from voile.itemsets.verbs.content import ItemsetsContent
from voile.itemsets.verbs.family import ItemsetsFamily, ItemsetsPoint, to_try
from voile.itemsets.verbs.intervals import IntervalLayers, with_intervals
from voile.itemsets.verbs.options import FitOptions
from voile.keys.random import streams
from voile.release.kit import StoredKit

Features = NDArray[np.int32]

BLOCKED = 30
LEADING = "logistic"
"""The classifier with the AUC that defines the loss."""
FIRST = (
    "loss_low",
    "loss_high",
    "utility_lost",
    "k",
    "k_reached",
    "features",
    *figures(None),
    "anonymity",
    "exact_anonymity",
    "unique_share",
    "utility",
    "bound",
)
SIZES = (1, 2, 5, 11, 50, 200)
"""The lower bounds of the size classes of containment groups: 1, 2 to 4, 5 to 10, ..."""
COUNTED = 2**18
"""The approximate number of sampled rows for group counts, if there are more than twice as many."""


def fit(
    source: Source, roles: Roles, options: FitOptions, *, seed: int | None, progress: ProgressHook
) -> StoredKit:
    """Find the features with the largest utility for each k, and measure the risk of each choice.

    Reads the source twice. Memory: O(rows + ones). The kit contains no rows, but rare itemsets.
    """
    drawn = streams(seed, "hold-out", "search", "folds")
    data = EncodedSource.of(source, roles, options, rng=drawn[0], progress=progress)
    family = ItemsetsFamily.of(data.rows, options, options.m, rng=drawn[2], layers=data.layers)
    found = list(family.search(drawn[1], progress))
    points = list(family.points(found))
    return _content(family, points, found, data=data, progress=progress).to_kit()


@dataclass(frozen=True, eq=False)
class EncodedSource:
    """The input of a fit: the rows of the source, column forms, and intervals for each k."""

    reader: RowReader
    rows: SourceRows
    forms: tuple[ColumnForm, ...]
    layers: IntervalLayers

    @classmethod
    def of(
        cls,
        source: Source,
        roles: Roles,
        options: FitOptions,
        *,
        rng: np.random.Generator,
        progress: ProgressHook,
    ) -> EncodedSource:
        """Read the rows that are not held out, and divide numeric columns for each k.

        Two passes over the source. Memory: O(rows + ones).
        """
        hold_out = HoldOut(options.hold_out, rng.bytes(32), roles.subject)
        reader = RowReader(roles, hold_out, "drop" if options.drop_unlabelled else "refuse")
        reader.check(source)
        progress("reading the columns", 0)
        reader = reader.with_target(source, options.target_bins)
        forms = reader.learn(source)
        progress("reading the rows", 0)
        rows = reader.read_rows(source, forms)
        progress("cutting columns of numbers", 0)
        ks = to_try(options, rows.incidence.n_subjects)
        return cls(reader, *with_intervals(rows, forms, ks))


def _content(
    family: ItemsetsFamily,
    points: list[ItemsetsPoint],
    found: list[Selection],
    *,
    data: EncodedSource,
    progress: ProgressHook,
) -> ItemsetsContent:
    incidence, weights = family.incidence, family.worth.weights
    everything = family.layers.open(1).astype(np.int32)
    whole = [(everything, None)]
    (before, *measured), finished = _measure_all(
        family, whole + [(p.features, p.without) for p in points], progress
    )
    lost = [_share_lost(point, one, before) for point, one in zip(points, measured, strict=True)]
    by_auc = all("loss_low" in one for one in lost)
    losses = [one["loss" if by_auc else "utility_lost"] for one in lost]
    frontier = Frontier.of([p.risk for p in points], losses, np.arange(len(points)))
    kept = [points[x] for x in frontier.policies]
    shown = [{**measured[x].figures, **lost[x], "loss": losses[x]} for x in frontier.policies]
    masks = np.zeros((len(kept), len(incidence.features)), dtype=np.bool_)
    for mask, point in zip(masks, kept, strict=True):
        mask[point.features] = True
    unseen = all(one.without is not None for one in found)
    stopped = found[-1].stopped if found else "finished"
    return ItemsetsContent(
        forms=data.forms,
        reader=data.reader,
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
        figures=_figures(family, kept, shown),
        blocked=_list_blocking(family, kept),
        adversary=family.adversary,
        before=before.figures,
        found={
            "method": found[0].method if found else family.options.method,
            "utility": family.worth.name,
            "evaluations": sum(one.evaluations for one in found),
            "stopped": stopped if finished else "interrupted",
            "loss": "auc" if by_auc else "utility",
            "sizes_of_one_in": one_in(incidence),
            "auc_on": "unseen" if unseen else "seen",
        },
    )


def _figures(
    family: ItemsetsFamily, points: list[ItemsetsPoint], measured: list[dict[str, Any]]
) -> pa.Table:
    rows = []
    for number, (point, found) in enumerate(zip(points, measured, strict=True)):
        known = {
            "loss_low": None,
            "loss_high": None,
            "k": point.k,
            "k_reached": round(1 / point.risk),
            "utility": point.utility,
            "bound": point.bound,
            **found,
            **_left_out(family, point),
        }
        first = {name: known[name] for name in FIRST if name in known}
        rows.append({"number": number, "risk": point.risk, "loss": found["loss"], **first, **known})
    types = {"bound": pa.float64(), "label_diversity": pa.int64()}
    types |= dict.fromkeys([*figures(None), *intervals(None)], pa.float64())
    types |= {"loss_low": pa.float64(), "loss_high": pa.float64()}
    return pa.table(
        {name: pa.array([row[name] for row in rows], types.get(name)) for name in rows[0]}
    )


@dataclass(frozen=True, eq=False)
class MeasuredSet:
    """The figures of a set of features, and the AUC of each tested classifier."""

    figures: dict[str, Any]
    tried: Mapping[str, RocArea]


def _share_lost(
    point: ItemsetsPoint, measured: MeasuredSet, before: MeasuredSet
) -> dict[str, float]:
    """Return the lost share of utility and, if it was measured, of the AUC above chance."""
    lost = None
    if measured.tried and before.tried:
        lost = AucLost.of(measured.tried[LEADING], before.tried[LEADING])
    if lost is None:
        return {"utility_lost": point.lost}
    names = {"loss": lost.value, "loss_low": lost.low, "loss_high": lost.high}
    shares = {name: min(max(value, 0.0), 1.0) for name, value in names.items()}
    return {**shares, "utility_lost": point.lost}


def _measure_all(
    family: ItemsetsFamily,
    sets: list[tuple[Features, tuple[Features, ...] | None]],
    progress: ProgressHook,
) -> tuple[list[MeasuredSet], bool]:
    """Measure each set of features, and its AUC.

    If features were chosen without each fold, the AUC is that of these features. Ctrl-C ends only
    the cross-validation.
    """
    measured, finished = [], True
    for place, (features, without) in enumerate(sets):
        progress("measuring each policy", place, len(sets))
        projected = family.incidence.project(features)
        found, tried = _measure(projected, family.worth.labels), None
        if family.classifying is not None:
            try:
                with ctrl_c():
                    tried = _classify_release(family, projected, without) if finished else None
            except KeyboardInterrupt:
                finished = False
            found |= {**figures(tried), **intervals(tried)}
        measured.append(MeasuredSet(found, tried or {}))
    return measured, finished


def _classify_release(
    family: ItemsetsFamily, shown: Incidence, without: tuple[Features, ...] | None
) -> dict[str, RocArea]:
    assert family.classifying is not None
    if without is None:
        return family.classifying(shown)
    return family.classifying.measure_auc([family.incidence.project(one) for one in without])


def one_in(rows: Incidence) -> int:
    """Return n, if one of n rows is counted by group size: 1 for fewer than 2 * `COUNTED` rows."""
    return max(1, rows.n_rows // COUNTED)


def _measure(rows: Incidence, labels: Any) -> dict[str, Any]:
    """Return the exposure of some features, and the share of rows by size of containment group."""
    found = exposure(rows, y=labels)
    counted = np.arange(0, rows.n_rows, one_in(rows))
    bins = np.searchsorted(SIZES, row_anonymity(rows, rows=counted), side="right") - 1
    return {
        "features": found.features,
        "anonymity": found.anonymity,
        "exact_anonymity": found.exact_anonymity,
        "unique_share": found.unique_rows / found.rows,
        "empty_share": found.empty_rows / found.rows,
        "label_diversity": found.label_diversity,
        "subjects": found.subjects,
        "sizes": (np.bincount(bins, minlength=len(SIZES)) / len(counted)).tolist(),
    }


def _left_out(family: ItemsetsFamily, point: ItemsetsPoint) -> dict[str, int]:
    """Count the features that are left out, by reason: absent, rare, worthless or blocked."""
    out = np.zeros(len(family.incidence.features), dtype=np.bool_)
    out[family.layers.open(point.k)] = True
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


def _adds(
    family: ItemsetsFamily, state: FeasibleSet, features: NDArray[np.intp]
) -> list[float | None]:
    """Return the bits per row that each feature would add to the published ones.

    None without labels.
    """
    if family.worth.labels is None:
        return [None] * len(features)
    table = family.worth.table
    added = bits_added(state, table, ClassSums(state, table)(), features)
    return [float(bits) / family.incidence.n_rows for bits in added]


def _list_blocking(family: ItemsetsFamily, points: list[ItemsetsPoint]) -> pa.Table:
    """Return, for each policy, the rare itemsets that block its best unpublished features."""
    names, supports = family.incidence.features, family.incidence.supports
    worth = supports if family.worth.weights is None else family.worth.weights
    rows: list[dict[str, Any]] = []
    for number, point in enumerate(points):
        if not len(point.features):
            continue
        constraint = replace(family.adversary, k=point.k)
        state = FeasibleSet(family.incidence, constraint)
        state.extend(point.features)
        some = family.layers.open(point.k)
        out = np.setdiff1d(some[(supports[some] >= point.k) & (worth[some] > 0)], point.features)
        best = out[np.argsort(-worth[out], kind="stable")][:BLOCKED]
        for feature, adds in zip(best.tolist(), _adds(family, state, best), strict=True):
            found = state.blocker(feature)
            if found is not None:
                rows.append(
                    {
                        "number": number,
                        "feature": names[feature],
                        "worth": float(worth[feature]),
                        "adds": adds,
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
            ("adds", pa.float64()),
            ("itemset", pa.list_(pa.string())),
            ("present", pa.list_(pa.bool_())),
            ("support", pa.int64()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)
