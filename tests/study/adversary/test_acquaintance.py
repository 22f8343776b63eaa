"""The acquaintance against a naive twin."""

from __future__ import annotations

import numpy as np
import pytest

from voile.study.adversary.acquaintance import Index, reaches
from voile.study.adversary.people import PartFacts


def parts(people, seed=1):
    rng = np.random.default_rng(seed)
    names = [f"P{n}" for n in range(people)]
    return {
        part: PartFacts(
            {one: frozenset((part, x) for x in rng.integers(0, 3, 2).tolist()) for one in names},
            {},
            dict.fromkeys(names, 1),
        )
        for part in ("rows", "drugs")
    }


def test_matches_are_those_of_a_naive_twin():
    given = parts(40)
    found = {one.knows: one for one in reaches(given)}
    names = sorted(given["rows"].rows)

    def has_all(other, one):
        return all(part.facts[one] <= part.facts[other] for part in given.values())

    left = [sum(has_all(other, one) for other in names) for one in names]
    assert found["all parts"].matches == pytest.approx(sum(1 / n for n in left))
    assert found["all parts"].alone == left.count(1)


def test_candidates_are_counted_once_for_people_of_the_same_facts(monkeypatch):
    looked = []
    own = Index.candidates
    monkeypatch.setattr(Index, "candidates", lambda *given: looked.append(given) or own(*given))
    reaches(parts(2000))
    assert len(looked) < 300
