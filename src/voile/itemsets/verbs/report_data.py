"""The report's data on a frontier and its chosen policy, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voile.core.rounding import StatingRules
from voile.itemsets.verbs.content import ItemsetsContent

STATING = StatingRules(
    at_least=frozenset(
        {"k", "anonymity", "exact_anonymity", "label_diversity", "auc_svm", "utility"}
    )
)
SHOWN = (
    "number",
    "risk",
    "loss",
    "loss_low",
    "loss_high",
    "utility_lost",
    "k",
    "features",
    "auc_svm",
    "auc_logistic",
    "unique_share",
    "empty_share",
)
OF_FOLDS = frozenset(
    {"loss_low", "loss_high", "auc_svm", "auc_svm_low", "auc_svm_high", "auc_logistic"}
)
MOST = 40


def report_data(content: ItemsetsContent, number: int | None) -> dict[str, Any]:
    figures = content.figures.to_pydict()
    best = [_best_published(content, number) for number in range(len(content.frontier))]
    names = [[name for name, *_ in rows] for rows in best]
    data: dict[str, Any] = {
        "frontier": {name: figures[name] for name in SHOWN if name in figures} | {"names": names},
        "before": dict(content.before),
        "found": dict(content.found),
        "adversary": {"m": content.adversary.m, "absences": content.adversary.absences},
    }
    if number is not None:
        row = content.figures.slice(number, 1).to_pylist()[0]
        data["chosen"] = row
        data["kept"] = best[number]
        blocked = content.blocked.to_pylist()
        data["blocked"] = [one for one in blocked if one["number"] == number]
    return data


def _best_published(content: ItemsetsContent, number: int) -> list[list[Any]]:
    """Return the published features of the largest weight, with weight and support."""
    kept = np.flatnonzero(content.frontier.policies[number])
    table = content.features
    weights = table.column("weight").to_numpy()
    worth = np.where(np.isnan(weights), 0.0, weights)[kept]
    best = kept[np.argsort(-worth, kind="stable")][:MOST]
    taken = table.take(best).to_pydict()
    return [list(row) for row in zip(*taken.values(), strict=True)]


def by_utility(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with the lost share of utility as the loss, instead of the lost share of AUC.

    One more or fewer person changes the folds and the chosen features. An adversary who knows
    everybody else could find that person from the AUC of a few policies, even if it is rounded.
    """
    if data.get("found", {}).get("loss") != "auc":
        return dict(data)
    frontier = {name: of for name, of in data["frontier"].items() if name not in OF_FOLDS}
    out = {**data, "frontier": frontier, "found": {**data["found"], "loss": "utility"}}
    frontier["loss"] = frontier["utility_lost"]
    if "chosen" in data:
        chosen = {name: one for name, one in data["chosen"].items() if name not in OF_FOLDS}
        out["chosen"] = {**chosen, "loss": chosen["utility_lost"]}
    return out
