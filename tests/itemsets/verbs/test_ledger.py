"""Sets of features that are safe alone and not together; the union is never below a real link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile.itemsets as vi
from voile.core.errors import InfeasibleError
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.sources import SourceRows
from voile.itemsets.verbs.judging import _KeyedFeatures
from voile.ledger.audience import LedgerAudience
from voile.ledger.ledger import Ledger, create, open_ledger
from voile.ledger.promise import LedgerPromise
from voile.release.archive import erase

ROLES = dict.fromkeys(("tea", "rum", "CANARY"), "items")


def baskets() -> pa.Table:
    """Ten of each item alone, ten of tea and rum; one person has rum and the canary."""
    rows = [(1, 0, 0)] * 10 + [(0, 1, 0)] * 10 + [(0, 0, 1)] * 10 + [(1, 1, 0)] * 10 + [(0, 1, 1)]
    return pa.table(dict(zip(ROLES, map(pa.array, np.array(rows).T), strict=True)))


@pytest.fixture
def how(tmp_path):
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(expected_matches=30), key)
    return {"ledger": tmp_path / "l", "key_file": key}


@pytest.fixture(scope="module")
def kit():
    return vi.fit(baskets(), ROLES, k=[5], auc="never", seed=1)


def of(kit, *features):
    chosen = kit.choose(policy=0)
    names = [f"{name}" for name in features]
    return replace(chosen, policy={"k": 5, "absences": False, "features": names}, number=None)


def test_two_sets_of_features_are_refused_together_and_one_again_is_not(kit, how, tmp_path):
    first = kit.apply(of(kit, "tea", "rum"), baskets(), tmp_path / "a.csv", **how)
    assert first.private["ledger"]["alone"]["k"] == 10
    with pytest.raises(InfeasibleError) as refused:
        kit.apply(of(kit, "tea", "CANARY"), baskets(), tmp_path / "b.csv", **how)
    said = str(refused.value)
    assert "a group of fewer than the 5 people promised" in said
    assert "by linking rows through the releases' common values" in said
    assert not list(tmp_path.glob("b.csv*"))
    kit.apply(of(kit, "rum"), baskets(), tmp_path / "c.csv", **how)
    assert "CANARY" not in how["ledger"].read_text()
    with pytest.raises(InfeasibleError, match="a release of other rows"):
        kit.apply(of(kit, "rum"), baskets().slice(1), tmp_path / "d.csv", **how)


def test_sets_of_features_to_recipients_that_cannot_collude_are_judged_apart(kit, how, tmp_path):
    apart = LedgerAudience((("Site A", "Site B"),))
    create(tmp_path / "m", LedgerPromise(expected_matches=30), how["key_file"], audience=apart)
    how["ledger"] = tmp_path / "m"
    kit.apply(of(kit, "tea", "rum"), baskets(), tmp_path / "a.csv", recipient="Site A", **how)
    kit.apply(of(kit, "tea", "CANARY"), baskets(), tmp_path / "b.csv", recipient="Site B", **how)
    with pytest.raises(InfeasibleError, match=r"out to Site [AB] and everybody"):
        kit.apply(of(kit, "rum", "CANARY"), baskets(), tmp_path / "c.csv", **how)


def test_pseudonyms_join_two_releases_row_by_row(how, tmp_path):
    people = baskets().append_column("who", [[f"CANARY{i}" for i in range(41)]])
    roles = {"columns": {**ROLES, "who": "identifier"}, "subject": "who"}
    kit = vi.fit(people, roles, k=[5], auc="never", seed=1)
    reason = {"override": "the board agreed"}
    for out, pseudonyms in (("a", False), ("b", True), ("c", True)):
        features = ("tea", "CANARY") if out == "b" else ("tea", "rum")
        path = tmp_path / f"{out}.csv"
        found = kit.apply(of(kit, *features), people, path, pseudonyms=pseudonyms, **how, **reason)
        joint = found.private["ledger"]
    assert joint["linked"]["matches"] == pytest.approx(joint["high"]["matches"])
    spaces = [
        line.content["disclosed"]["space"]
        for line in Ledger.read_file(how["ledger"]).released_lines
    ]
    assert spaces[0] is None
    assert spaces[1] == spaces[2]
    assert "CANARY" not in how["ledger"].read_text()


def test_a_reason_overrides_and_stays(kit, how, tmp_path):
    kit.apply(of(kit, "tea", "rum"), baskets(), tmp_path / "a.csv", **how)
    both = of(kit, "tea", "CANARY")
    kit.apply(both, baskets(), tmp_path / "b.csv", override="the board agreed", **how)
    line = Ledger.read_file(how["ledger"]).released_lines[-1]
    assert line.content["override"] == "the board agreed"
    with pytest.raises(InfeasibleError, match="breaks the ledger's promise"):
        kit.apply(of(kit, "rum"), baskets(), tmp_path / "c.csv", **how)


def test_where_people_were_erased_a_reason_is_needed(kit, how, tmp_path):
    with open_ledger(how["ledger"], how["key_file"]) as opened:
        erase(opened, ["someone"], "asked")
    with pytest.raises(InfeasibleError, match="take them out of the source"):
        kit.apply(of(kit, "tea"), baskets(), tmp_path / "a.csv", **how)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_what_linking_finds_is_between_the_best_release_and_the_union(seed, absences):
    rng = np.random.default_rng(seed)
    matrix = (rng.random((30, 6)) < 0.5).astype(int)
    labels = rng.choice(["a", "b"], 30)
    rows = SourceRows(Incidence.of(matrix), labels, np.arange(30))
    one, other = rng.random((2, 6)) < 0.5
    features, asked = _KeyedFeatures(rows, None), Constraint(1, None, absences)
    high = features.figures(one | other, asked).matches
    assert features.link_rows(one, other, asked) <= high + 1e-9
    assert features.figures(one, asked).matches <= high + 1e-9
