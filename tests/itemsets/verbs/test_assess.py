"""Sparse rows of any origin are counted by what remains, and are refused where they are others'."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voile.itemsets as vi
from voile.core.errors import RequestError
from voile.itemsets import exposure
from voile.itemsets.verbs.lookup import ONE_LEFT

ROLES = {**{f"x{number}": "items" for number in range(8)}, "ill": "label"}


def people(rows=300, seed=0):
    """Make rows of eight items, of which the first are frequent."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"x{n}": (rng.random(rows) < 0.6 / (n + 1)).astype(int) for n in range(8)}
    )
    return frame.assign(ill=np.where(frame.x0 + rng.random(rows) > 1, "yes", "no"))


def test_what_remains_is_counted_as_exposure_counts_it():
    source = people()
    left = ["x0", "x2", "x1"]
    released = source[[*left, "ill"]].sample(frac=1, random_state=1)
    found = vi.assess(source, released, ROLES, seed=1, items=[1, 3])
    of_left = exposure(source[left].to_numpy())
    assert found.figures["anonymity"] == of_left.anonymity
    assert found.figures["unique_rows"] == of_left.unique_rows
    assert found.figures["features"] == 3
    assert (
        found.facts["before"]["anonymity"]
        == exposure(source.drop(columns="ill").to_numpy()).anonymity
    )
    assert {one.attack for one in found.evidence} == {"items", "absences", "label"}
    assert "In short" in found.report().html


def test_the_evidence_of_a_release_of_voiles_own_is_its_own():
    source = people()
    kit = vi.fit(source, ROLES, k=20, seed=1)
    own = kit.apply(kit.choose(least_loss=True), source, keep_order=True)
    asked = {"items": [1, 2], "targets": 10_000}
    theirs = {one.attack: one for one in own.attack(original=source, seed=2, **asked)}
    found = vi.assess(source, own.frame, ROLES, seed=2, **asked)
    assert found.figures["anonymity"] == own.private["figures"]["anonymity"]
    assert found.figures["unique_rows"] == own.private["figures"]["unique_rows"]
    mine = {one.attack: one for one in found.evidence}
    for name in ("items", "absences"):  # what is drawn at random is drawn for other rows
        alone = [
            [
                (one.rate.successes, one.rate.trials)
                for one in of.findings
                if one.quantity == ONE_LEFT and "most identifying" in one.at.values.values()
            ]
            for of in (mine[name], theirs[name])
        ]
        assert alone[0] == alone[1] != []


def test_rows_and_features_of_others_are_refused():
    source = people()
    other = source[["x0", "x1", "ill"]].assign(x0=1, x1=1)
    with pytest.raises(RequestError, match="released rows are not in the original"):
        vi.assess(source, other, ROLES, seed=1)
    with pytest.raises(RequestError, match="none of the columns of items"):
        vi.assess(source, source[["ill"]], ROLES, seed=1)
