"""The verbs together: what is promised is kept, or nothing is written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.measures.containment import anonymity, part_anonymity, row_exact_anonymity
from voile.itemsets.module import ITEMSETS
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.lookup import ItemKnowledge, fitting, look_up, map_features, people
from voile.itemsets.verbs.options import ApplyOptions, FitOptions
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice

NAMES = tuple("abcdef")
ROLES = Roles.model_validate({"columns": {**dict.fromkeys(NAMES, "items"), "y": "label"}})


@pytest.fixture(scope="module")
def bits():
    return np.random.default_rng(3).random((200, 6)) < [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]


def rows(bits):
    y = ["yes" if row[0] or row[3] else "no" for row in bits]
    return open_source(pa.table({n: bits[:, i] for i, n in enumerate(NAMES)} | {"y": y}))


def fitted(bits, **options):
    options = FitOptions.model_validate(options)
    return fit(rows(bits), ROLES, options, seed=1, progress=silent)


def applied(kit, chosen, bits, out):
    options = ApplyOptions()
    return ITEMSETS.apply(kit, chosen, rows(bits), out, options, force=False, progress=silent)


def test_every_policy_of_the_frontier_keeps_its_promise(bits):
    kit = fitted(bits)
    for number in range(kit.facts["policies"]):
        chosen = choose(kit, Choice(policy=number))
        own = [NAMES.index(name) for name in chosen.policy["features"]]
        found = anonymity(bits, own)
        assert found == chosen.figures["anonymity"] == round(1 / chosen.figures["risk"])
        assert found >= chosen.policy["k"]


def test_a_limited_adversary_is_promised_what_was_asked(bits):
    few = choose(fitted(bits, k=[20], m=2), Choice(max_risk=0.05)).policy
    assert part_anonymity(bits, 2, [NAMES.index(name) for name in few["features"]]) >= 20
    both = choose(fitted(bits, k=[20], absences=True), Choice(max_risk=0.05)).policy
    own = [NAMES.index(name) for name in both["features"]]
    assert row_exact_anonymity(bits, own).min() >= 20
    assert 0 < len(own) <= len(few["features"])


@pytest.mark.parametrize("how", [{"m": 2}, {"absences": True}, {"m": 2, "absences": True}])
def test_its_release_is_certified_and_verified(bits, tmp_path, how):
    kit = fitted(bits, k=[10], **how)
    release = applied(kit, choose(kit, Choice(max_risk=0.1)), bits, tmp_path / "r.parquet")
    assert release.private["figures"]["anonymity"] >= 10
    assert all(holds is not False for _, holds in verify(release))


def test_other_data_that_breaks_the_promise_is_withdrawn(bits, tmp_path):
    kit = fitted(bits, k=[5])
    chosen = choose(kit, Choice(max_risk=0.2))
    with pytest.raises(InfeasibleError, match="promises 5"):
        applied(kit, chosen, bits[:40], tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_edited_policy_is_certified_anew(bits, tmp_path):
    kit = fitted(bits, k=[5])
    chosen = choose(kit, Choice(max_risk=0.2))
    fewer = {**chosen.policy, "features": chosen.policy["features"][1:]}
    release = applied(kit, replace(chosen, policy=fewer), bits, tmp_path / "r.csv")
    assert release.private["chosen"]["number"] is None
    everything = {**chosen.policy, "features": list(NAMES)}
    assert anonymity(bits) < 5
    with pytest.raises(InfeasibleError):
        applied(kit, replace(chosen, policy=everything), bits, tmp_path / "all.csv")
    strange = {**chosen.policy, "features": ["sugar"]}
    with pytest.raises(RequestError, match="feature 1 of the policy is none of the kit's"):
        applied(kit, replace(chosen, policy=strange), bits, tmp_path / "all.csv")


def test_lists_are_not_written_where_they_would_be_text(tmp_path):
    source = open_source(pa.table({"items": [["tea"], ["tea", "milk"], ["tea"]]}))
    roles = Roles.model_validate({"columns": {"items": "items"}})
    kit = fit(source, roles, FitOptions(k=(2,)), seed=1, progress=silent)
    chosen = choose(kit, Choice(max_risk=0.5))
    for name in ("r.csv", "r.tsv"):
        with pytest.raises(RequestError, match="column items contains lists"):
            ITEMSETS.apply(
                kit,
                chosen,
                source,
                tmp_path / name,
                ApplyOptions(),
                force=False,
                progress=silent,
            )
    assert list(tmp_path.iterdir()) == []
    held = ITEMSETS.apply(kit, chosen, source, None, ApplyOptions(), force=False, progress=silent)
    assert held.frame["items"].to_pylist() == [["tea"]] * 3


def test_what_is_blocked_is_blocked_by_a_rare_itemset_that_occurs(bits):
    kit = fitted(bits, k=[5])
    told = kit.tables["blocked"].to_pylist()
    assert told
    for one in told:
        columns = [NAMES.index(name) for name in one["itemset"]]
        assert one["itemset"][0] == one["feature"]
        assert bits[:, columns].all(axis=1).sum() == one["support"]
        assert 0 < one["support"] < 5


@pytest.mark.parametrize("seed", range(40))
def test_a_look_up_equals_its_definition(table, seed):
    table = table(seed)
    rng = np.random.default_rng(seed)
    rows = table.incidence
    for absent in (False, True):
        known = rng.permutation(table.X.shape[1])[: rng.integers(0, 3)]
        wanted = table.matching(known, [int(not absent)] * len(known))
        patterns = fitting(rows, known, absent=absent)
        assert people(rows, patterns) == len(wanted)
        own = int(rows.pattern[0])
        sight = look_up(rows, known, absent=absent, own=own)
        assert sight.is_among == all(table.X[0, x] == (not absent) for x in known)


def test_the_most_telling_items_are_the_rarest_she_has():
    rows = Incidence.of(np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]]))
    rng = np.random.default_rng(0)
    assert ItemKnowledge(2, identifying=True, absent=False).of(rows, 0, rng).tolist() == [2, 1]
    assert ItemKnowledge(1, identifying=True, absent=True).of(rows, 2, rng).tolist() == [1]
    among = map_features(rows, rows.project([0, 1])) >= 0
    assert ItemKnowledge(1, identifying=True, absent=False).of(rows, 0, rng, among).tolist() == [1]
    random = ItemKnowledge(9, identifying=False, absent=False).of(rows, 0, rng)
    assert sorted(random.tolist()) == [0, 1, 2]


def test_a_subject_with_two_patterns_is_one_person():
    rows = Incidence.of(np.array([[1, 0], [0, 1], [1, 1]]), subjects=["a", "a", "b"])
    assert people(rows, np.array([0, 1])) == 1
