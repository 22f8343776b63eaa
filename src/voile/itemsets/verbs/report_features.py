"""The section on published and unpublished features, and the display of feature names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.itemsets.verbs.report_data import MOST
from voile.report.sections import Grid, Prose, Section

BY_FIT = "as the fit counted them"
LONGEST = 80
"""The largest number of printed characters of a feature's name."""


def features_section(data: Mapping[str, Any], published: Sequence[str]) -> Section:
    """Return the section. Its tables contain small counts, and are only for the data holder."""
    kept = tuple(
        (_shorten_name(name), f"{support:,}", "–" if weight is None else f"{weight:.4g}")
        for name, support, weight in data["kept"]
    )
    left = tuple(
        (
            _shorten_name(one["feature"]),
            f"{one['worth']:.4g}",
            "–" if one.get("adds") is None else f"{one['adds']:.4g}",  # early kits have none
            _itemset(one["itemset"], one["present"]),
            f"{one['support']:,}",
        )
        for one in data["blocked"]
    )
    blocked = ("left out", "utility", "bits it would add", "rare itemset that blocks it", "people")
    more = f" and {len(published) - MOST:,} more" * (len(published) > MOST)
    blocks = (
        Prose(
            (
                f"Published: {list_features(published[:MOST]) or 'no feature'}{more}.",
                (
                    "A feature is left out if it would complete, with the published features, an "
                    "itemset that too few people share. The table lists its own utility. It also "
                    "lists the bits per row that it would add to the published features' "
                    "information about the label. If these bits are few, little is lost."
                ),
            )
        ),
        Grid(
            ("feature", "people", "utility"),
            kept,
            f"Features published, {BY_FIT}",
            (1, 2),
            "internal",
        ),
        Grid(blocked, left, f"Best features left out, {BY_FIT}", (1, 2, 4), "internal"),
    )
    return Section("features", "Features published and left out", blocks)


def list_features(names: Sequence[str]) -> str:
    """Join the names of features. A feature of a column of 0 and 1 is named by its column alone.

    >>> list_features(["bread=", "area=north"])
    'bread, area=north'
    """
    return ", ".join(map(_shorten_name, names))


def _shorten_name(name: str) -> str:
    """Return the name of a feature, shortened if it is long.

    >>> _shorten_name("bread="), _shorten_name("x" * 5_000)[-21:]
    ('bread', 'x… (5,000 characters)')
    """
    name = name.removesuffix("=")
    return name[:LONGEST] + f"… ({len(name):,} characters)" * (len(name) > LONGEST)


def _itemset(names: Sequence[str], present: Sequence[bool]) -> str:
    """Return the items that a row has and lacks as text.

    >>> _itemset(["tea", "milk"], [True, False])
    'tea, not milk'
    """
    pairs = zip(names, present, strict=True)
    return list_features([n if has else f"not {n}" for n, has in pairs])
