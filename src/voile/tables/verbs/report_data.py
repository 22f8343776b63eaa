"""Gather a report's facts on a frontier and on the chosen policy, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from voile.core.rounding import StatingRules
from voile.gate.analysts import ReleasedLabels, count_query_error
from voile.gate.groups import PeopleAtRisk
from voile.gate.losses import PlacedRows
from voile.tables.people.superpopulation import estimate_uniques
from voile.tables.policies.comparison import in_words, most_different
from voile.tables.policies.family import AnyPolicy, KitPolicy, finest_cuts
from voile.tables.policies.loss_bound import LossBound
from voile.tables.policies.policy import Policy, intervals_of
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.published_boxes import AnyPublished, PublishedBoxes
from voile.tables.scoring.losses import CombinationGrouping, losses
from voile.tables.trees.person_policy import PersonPolicy

if TYPE_CHECKING:
    from voile.tables.people.counts import CombinationCounts
    from voile.tables.policies.counted_space import CountedSpace
    from voile.tables.verbs.content import TablesContent

STATING = StatingRules(
    at_least=frozenset(
        {
            *("entropy", "k", "k_all_rows", "k_map", "source_k", "source_k_map"),
            *("least_loss", "bound", "area", "floor"),
        }
    ),
    exact=frozenset({"groups", "runs"}),
    people=frozenset(
        {
            "sample_uniques",
            "source_sample_uniques",
            "unique_all_rows",
            "population_uniques",
            "source_population_uniques",
            "unique_with_kept",
            "people_under_11",
        }
    ),
)
POINTS, NOT_RELEASED = 600, -1
LEAST_SHOWN = 1e-6


def report_data(
    content: TablesContent,
    policy: KitPolicy | None = None,
    published: AnyPublished | None = None,
) -> dict[str, Any]:
    """Gather the facts that a report needs, so that it can be written later without the kit."""
    space, frontier = content.space, content.frontier
    source, bottom = space.without_constraints(), space.policy(space.bottom)
    data: dict[str, Any] = {
        "subjects": space.counts.subjects,
        "matches": space.matches,
        "policies": len(frontier),
        "promise": content.promise,
        "frontier": _thin_frontier(content),
        "measures": {kind: asdict(asked) for kind, asked in content.measures.items()},
        "outcomes": list(content.outcomes),
        "absent": dict(content.absent),
        "marks": {
            name: [score.risk, score.loss, score.matches]
            for name, score in content.mark_scores.items()
        },
        "mark_notes": {name: list(mark.notes) for name, mark in content.marks.items()},
        "beats": {name: _beats(content, name) for name in content.marks},
        "before": _finite(source.disclosure(bottom)),
        "strips": {name: _strips(mark) for name, mark in content.marks.items()},
        "public_strips": {name: _public_strips(mark) for name, mark in content.marks.items()},
        "population": space.population.how,
        "population_known": space.population.known,
        "assumptions": list(space.population.assumptions),
        "search": {**content.found, "bound": _encode_bound(content.bound)},
        "hold_out": content.hold_out.share,
        "may_be_empty": space.constraints.empty_boxes,
        "uniques_source": _uniques(source, bottom, content.fraction),
        "analysis": _describe_analysis(content, policy),
    }
    if content.bound is not None and not np.isnan(content.bound.bound).all():
        shown = np.array(data["frontier"]["risk"])
        floor = content.bound.least_loss(shown)
        data["frontier"]["floor"] = [shown.tolist(), floor.tolist()]
    if policy is not None:
        score = content.score(policy)
        data["chosen"] = [score.risk, score.loss, score.matches]
        if content.bound is not None:
            data["least_loss"] = float(content.bound.least_loss(score.risk))
        data["suppressed"] = score.suppressed
        for name, its in content.mark_scores.items():
            data["beats"][name]["chosen"] = score.beats(its)
        if isinstance(policy, PersonPolicy):
            data["lost"] = {**score.losses}
        else:
            data |= _of_rows(content, policy)
    if published is not None:
        if isinstance(published, PublishedBoxes):
            data["boxes"] = len(published.codebook.boxes)
            if space.constraints.empty_boxes:
                data["empty_boxes"] = _empty_boxes(space, published)
            published = published.finest
        data["strips"] = {"chosen": _published_strips(published), **data["strips"]}
    return data


def _describe_analysis(content: TablesContent, policy: KitPolicy | None) -> dict[str, Any] | None:
    """Return the analysis by risk, and the chosen policy or the nearest analysed one."""
    if content.analysis is None:
        return None
    tried, risk = [number for number, _ in content.analysis["policies"]], content.frontier.risk
    near = chosen = None
    if policy is not None:
        chosen = content.family.number_of(policy)
        if chosen is None:
            chosen = int(np.abs(risk - content.score(policy).risk).argmin())
        near = min(range(len(tried)), key=lambda i: abs(tried[i] - chosen))
    return {
        **content.analysis,
        "risk": [float(risk[number]) for number in tried],
        "near": near,
        "exact": near is not None and tried[near] == chosen,
    }


def _of_rows(content: TablesContent, policy: AnyPolicy) -> dict[str, Any]:
    """Return the figures of a policy by combinations of a row's values."""
    space = content.space
    return {
        "lost": loss_data(space, policy),
        "uniques_release": _uniques(space, policy, content.fraction),
        "estimated_matches": space.estimated_matches(policy),
        "estimated_uniques": space.estimated_uniques(policy),
        "after": _finite(space.disclosure(policy)),
    }


def loss_data(space: CountedSpace, policy: AnyPolicy) -> dict[str, Any]:
    """Return a policy's losses on the fitted source, also with people counted by their weights."""
    made: dict[str, Any] = {**space.losses(policy)}
    weighted = space.weighted_counts
    if weighted is not None:
        grouping = space.grouping(policy)
        error = count_query_error(*grouped_rows(weighted, grouping))
        own = losses(weighted, grouping, importance=space.weights.importance)
        made["weighted"] = {**own, "query_error": error}
    return made


def grouped_rows(
    counts: CombinationCounts, grouping: CombinationGrouping
) -> tuple[PlacedRows, ReleasedLabels]:
    """Return counted combinations in the groups of a fit, in the form of the gate's placed rows.

    Each counted person has one combination.
    """
    held = counts.sample > 0
    group = np.where(grouping.kept, np.arange(len(grouping.kept)), NOT_RELEASED)[grouping.group]
    labels = ReleasedLabels(grouping.box, grouping.values)
    nobody = PeopleAtRisk(*(np.zeros(0),) * 3)
    rows = PlacedRows(
        counts.codes[held], counts.sample[held], group[held], labels.widths, counts.sizes, nobody
    )
    return rows, labels


def _empty_boxes(space: CountedSpace, published: PublishedBoxes) -> dict[str, float]:
    """Return the population's shares in leaves without a released record, if tables count it.

    The first is the share of all its people: they are provably not in the release. The second is
    the share of people outside the sample: no certificate covers them.
    """
    if not space.population.known:
        return {}
    counts = space.counts
    never = (published.codes_of(counts.codes) < 0).any(axis=1)
    unseen = np.maximum(counts.population - counts.sample, 0.0)
    return {
        "people": float(counts.population[never].sum() / max(counts.population.sum(), 1.0)),
        "unseen": float(unseen[never].sum() / max(unseen.sum(), 1.0)),
    }


def _thin_frontier(content: TablesContent) -> dict[str, list[Any]]:
    """Return as many points as a chart can show, evenly along the curve on both axes."""
    frontier = content.frontier
    step = np.zeros(len(frontier))
    for axis in (frontier.risk, frontier.loss, np.log10(np.maximum(frontier.risk, LEAST_SHOWN))):
        span = max(float(np.ptp(axis)), 1e-12)
        step[1:] += np.abs(np.diff(axis)) / span
    along = np.cumsum(step)
    wanted = np.linspace(0.0, along[-1], POINTS)
    numbers = np.unique(np.append(np.searchsorted(along, wanted), len(frontier) - 1))
    numbers = np.arange(len(frontier)) if len(frontier) <= POINTS else numbers
    figures = content.figures
    return {
        "number": numbers.tolist(),
        "risk": frontier.risk[numbers].tolist(),
        "loss": frontier.loss[numbers].tolist(),
        "found": figures.expected_matches[numbers].tolist(),
        "largest": figures.largest[numbers].tolist(),
        "suppressed": figures.suppressed[numbers].tolist(),
        "cuts": _cuts([finest_cuts(content.family.policy(n)) for n in numbers.tolist()]),
    }


def _cuts(policies: Sequence[Policy]) -> list[dict[str, Any]]:
    """Return how each policy divides each column, with numbered intervals listed once."""
    columns = []
    for place, domain in enumerate(policies[0].domains if policies else ()):
        known: dict[bytes, str] = {}
        intervals: dict[tuple[str, float], int] = {}
        rows = []
        for policy in policies:
            _, cuts = list(policy.cuts())[place]
            if cuts.tobytes() not in known:
                own = (
                    intervals.setdefault((one.label, one.width / len(domain)), len(intervals))
                    for one in intervals_of(domain, cuts)
                )
                known[cuts.tobytes()] = " ".join(map(str, own))
            rows.append(known[cuts.tobytes()])
        parts = [list(one) for one in intervals]
        columns.append({"column": domain.column, "intervals": parts, "policies": rows})
    return columns


def _encode_bound(bound: LossBound | None) -> dict[str, Any] | None:
    """Return a bound as JSON data, with None for a weight without a bound."""
    if bound is None:
        return None
    columns = {
        name: [None if np.isnan(value) else value for value in column.tolist()]
        for name, column in bound.frame().items()
    }
    return {**columns, "area": bound.area, "hull": bound.hull, "staircase": bound.staircase}


def _uniques(space: CountedSpace, policy: AnyPolicy, fraction: float | None) -> list[float] | None:
    """Estimate the people unique in the population, if only a sampling fraction is known."""
    if fraction is None:
        return None
    _, classes, kept = space.groups(policy)
    if not kept.any():
        return None
    found = estimate_uniques(classes.sample[kept], fraction, random_state=0)
    return [found.value, found.low, found.high]


def _finite(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if np.isfinite(value)}


def _beats(content: TablesContent, name: str) -> dict[str, Any]:
    """Return how many policies beat a reference policy, and the most different global ones."""
    score, mark = content.mark_scores[name], content.marks[name]
    scores = (score.risk, score.loss)
    called, beating = name.replace("-", " ").title(), content.beating(name)
    frontier, numbers = content.global_frontier
    explained = []
    for place in most_different(frontier, np.flatnonzero(np.isin(numbers, beating))).tolist():
        point = frontier.point(place)
        own = content.space.policy(point.policy)
        said = in_words(own, (point.risk, point.loss), mark, scores, called)
        found, number = content.score(own).matches, int(numbers[place])
        explained.append({"number": number, "found": found, "loss": point.loss, "words": said})
    return {"count": len(beating), "explained": explained}


def _strips(policy: Policy) -> list[dict[str, Any]]:
    return [
        {
            "column": domain.column,
            "intervals": [
                [interval.label, interval.width / len(domain)]
                for interval in policy.intervals[domain.column]
            ],
        }
        for domain in policy.domains
    ]


def _public_strips(policy: Policy) -> list[dict[str, Any]]:
    declared = [domain.is_declared for domain in policy.domains]
    return [
        one for one in _published_strips(PublishedPolicy.of(policy, declared)) if one["intervals"]
    ]


def _published_strips(published: PublishedPolicy) -> list[dict[str, Any]]:
    """Return the intervals that the release shows. Their widths count only shown values."""
    columns = zip(published.codebook.columns, published.widths, strict=True)
    return [
        {
            "column": coded.column,
            "intervals": [
                [entry.label, width]
                for entry, width in zip(coded.entries, widths.tolist(), strict=True)
            ],
        }
        for coded, widths in columns
    ]
