"""What the report tells of a frontier and of the policy chosen on it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voile.tables.content import Content
from voile.tables.counts import Constraints
from voile.tables.explain import in_words, most_different
from voile.tables.policy import Policy
from voile.tables.space import PolicySpace


def story_of(content: Content, policy: Policy | None) -> dict[str, Any]:
    """Gather it, so that a report can be written later without the kit.

    Parameters
    ----------
    policy : the one applied; None tells of the frontier alone.
    """
    space, frontier = content.space, content.frontier
    plain = PolicySpace.of(space.domains, space.counts, Constraints(), space.population)
    story: dict[str, Any] = {
        "subjects": space.evaluator.subjects,
        "matches": space.evaluator.matches,
        "frontier": {"risk": frontier.risk.tolist(), "loss": frontier.loss.tolist()},
        "marks": {name: list(scores) for name, scores in content.mark_scores.items()},
        "mark_notes": {name: list(mark.notes) for name, mark in content.marks.items()},
        "beats": {name: _beats(content, name) for name in content.marks},
        "before": _finite(plain.disclosure(space.policy(space.bottom))),
        "strips": {name: _strips(mark) for name, mark in content.marks.items()},
        "population": space.population.how,
        "assumptions": list(space.population.assumptions),
        "search": dict(content.found),
        "hold_out": content.hold_out.share,
    }
    if policy is not None:
        scores = space.evaluator.scores(policy.bits[None, :])
        story["chosen"] = [float(scores.risk[0]), float(scores.loss[0])]
        story["suppressed"] = float(scores.suppressed[0])
        story["after"] = _finite(space.disclosure(policy))
        story["strips"] = {"chosen": _strips(policy), **story["strips"]}
    return story


def _finite(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if np.isfinite(value)}


def _beats(content: Content, name: str) -> dict[str, Any]:
    """Say how many policies beat a mark, and describe the most different of them."""
    scores, mark = content.mark_scores[name], content.marks[name]
    frontier, space = content.frontier, content.space
    called = name.replace("-", " ").title()
    explained = []
    for number in most_different(frontier, scores).tolist():
        point = frontier.point(number)
        own = space.policy(point.policy)
        said = in_words(own, (point.risk, point.loss), mark, scores, called)
        explained.append({"number": number, "risk": point.risk, "loss": point.loss, "words": said})
    return {"count": len(frontier.dominating(*scores)), "explained": explained}


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
