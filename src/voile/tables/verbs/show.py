"""Implement `voile tables show`: the labels of one policy, and how many people share them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, name_kind
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.tables.people.counts import number_groups
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy, refuse_person_policy
from voile.tables.scoring.disclosure import EquivalenceClasses
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.content import KIND, TablesContent
from voile.tables.verbs.options import ShownPolicy, ShowOptions

SIZES = (1, 2, 3, 5, 11, 20, 50, 100)
"""The least number of people of each class of group sizes."""


def show_policy(options: ShowOptions, reporter: VerbReporter, *, kit: StoredKit | str) -> EndedVerb:
    opened = open_tables_kit(kit)
    content = TablesContent.of(opened)
    policy, number = find_policy(content, opened, options)
    space, counts = content.space, content.space.counts
    groups, classes, allowed = space.groups(policy)
    columns = list(_columns(space, policy, groups, classes, allowed))
    figures = content.figures_of_policy(policy)
    result = {
        "kit": opened.id,
        "number": number,
        "family": "tree" if isinstance(policy, TreePolicy) else "global",
        "figures": figures,
        "feasible": space.is_feasible(policy, figures["suppressed"]),
        "reference_policies": {n: s._asdict() for n, s in content.mark_scores.items()},
        "groups_before": list(_sizes(np.maximum(counts.sample, counts.population), counts.sample)),
        "groups": list(_sizes(classes.people[allowed], classes.sample[allowed])),
        "columns": columns,
    }
    if isinstance(policy, TreePolicy):
        result["leaves"] = list(_leaves(policy, groups, classes, columns))
    rows = [
        {
            "column": one["column"],
            "labels": len(one["labels"]),
            "widest": max(one["labels"], key=lambda label: label["share"])["label"],
            "expected_matches_without_it": one["expected_matches_without_it"],
        }
        for one in columns
    ]
    return EndedVerb(result, rows=rows)


def open_tables_kit(kit: StoredKit | str) -> StoredKit:
    if not isinstance(kit, StoredKit | str | os.PathLike):
        raise RequestError(
            f"{name_kind(kit)} is not a kit", where="kit", instead="give one or its path"
        )
    return kit if isinstance(kit, StoredKit) else StoredKit.load(Path(kit), KIND)


def find_policy(
    content: TablesContent, kit: StoredKit, asked: ShownPolicy
) -> tuple[AnyPolicy, int | None]:
    """Return the policy with a number or from a file, and its number if the kit lists it.

    Raises
    ------
    RequestError : not exactly one of both is given, or the kit has no such policy.
    """
    if (asked.number is None) == (asked.policy is None):
        raise RequestError("give a policy by --number or by --policy FILE, one of both")
    if asked.policy is not None:
        chosen = Chosen.read(asked.policy)
        chosen.check(kit)
        policy = refuse_person_policy(content.family.read_policy(chosen.policy))
        return policy, content.family.number_of(policy)
    assert asked.number is not None
    if asked.number >= len(content.family):
        raise RequestError(
            f"there is no policy {asked.number}",
            instead=f"they are numbered 0 to {len(content.family) - 1}",
        )
    return content.family.row_policy(asked.number), asked.number


def _sizes(people: NDArray[np.float64], of: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
    """Yield the number of subjects by size of their group, in people who look the same."""
    for first, after in zip(SIZES, (*SIZES[1:], np.inf), strict=True):
        inside = (people >= first - 1e-9) & (people < after - 1e-9)
        yield {
            "from": first,
            "to": None if after == np.inf else int(after) - 1,
            "people": float(of[inside].sum()),
        }


def _columns(
    space: CountedSpace,
    policy: AnyPolicy,
    groups: NDArray[np.int32],
    classes: EquivalenceClasses,
    allowed: NDArray[np.bool_],
) -> Iterator[dict[str, Any]]:
    shown, sets = policy.list_shown(groups)
    for place, domain in enumerate(space.domains):
        counted = np.bincount(shown[:, place], classes.sample, len(sets[place]))
        labels = domain.labels_of(sets[place])
        codes, sample = space.counts.codes[:, place], space.counts.sample
        yield {
            "column": domain.column,
            "ordered": not domain.free,
            "values": ["" if value is None else str(value) for value in domain.values],
            "people": np.bincount(codes, sample, len(domain)).tolist(),
            "labels": [
                {"label": label, "share": float(held.mean()), "people": float(people)}
                for label, held, people in zip(labels, sets[place], counted, strict=True)
            ],
            "of_group": shown[:, place].tolist() if isinstance(policy, TreePolicy) else None,
            "expected_matches_without_it": _matches_without(space, policy, place, allowed),
        }


def _leaves(
    policy: TreePolicy,
    groups: NDArray[np.int32],
    classes: EquivalenceClasses,
    columns: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield each leaf with people. `merges_into` is the node that would join it to others."""
    of_group = [one.pop("of_group") for one in columns]
    for at, box in enumerate(groups[:, 0].tolist()):
        node = int(policy.uncut[box])
        yield {
            "node": node,
            "merges_into": int(policy.tree.parents[node]),
            "people": float(classes.sample[at]),
            "population": float(classes.people[at]),
            "labels": [
                one["labels"][of[at]]["label"] for one, of in zip(columns, of_group, strict=True)
            ],
        }


def _matches_without(
    space: CountedSpace, policy: AnyPolicy, place: int, allowed: NDArray[np.bool_]
) -> float:
    """Return the people expected to be matched by an adversary who does not know one column."""
    counts = space.counts
    groups, group = space.number_combinations(policy)
    sample, population = (
        np.bincount(group, weight, len(groups)) for weight in (counts.sample, counts.population)
    )
    released = np.flatnonzero(sample > 0)[allowed]
    if isinstance(policy, TreePolicy):
        unknown = counts.codes.copy()
        unknown[:, place] = -1
        boxes = policy.pruned_tree.leaves[groups[released, 0]]
        alike, others = (
            policy.pruned_tree.add_up(unknown, weight.astype(np.float64))[boxes]
            for weight in (counts.sample, counts.population)
        )
    else:
        hidden = groups.copy()
        hidden[:, place] = 0
        _, among = number_groups(policy.keys_of(hidden))
        alike, others = (
            np.bincount(among, weight)[among[released]] for weight in (sample, population)
        )
    return float((sample[released] / np.maximum(np.maximum(alike, others), 1.0)).sum())
