"""People with several rows: joined by pseudonym, by order or by what is kept, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.tables.verbs.rerelease.months import ROLES, K, county, release

import voile.tables as vt
from voile.core.errors import InfeasibleError, RequestError
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.release.manifest import StoredRelease


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("by", ["pseudonym", "order"])
def test_who_is_known_by_several_rows_is_counted_by_all_of_them(again, by, how, tmp_path):
    """A naive adversary joins a person's rows, and looks for others with the same set."""
    rng = np.random.default_rng(3)
    who = np.repeat([f"CANARY{i}" for i in range(60)], 2)
    rows = pa.table({"who": who, "age": rng.choice([20, 30, 40], 120), "job": ["cook"] * 120})
    how["override"] = "counted, not kept"
    if by == "order":
        how |= {"no_pseudonyms": True, "keep_order": True}
    if again:
        release(rows, tmp_path / "a.csv", **how)
    found = release(rows, tmp_path / "b.csv", **how)
    frame = StoredRelease.open(tmp_path / "b.csv").frame.to_pandas()
    person = frame["who"] if by == "pseudonym" else frame.index // 2  # two rows stand together
    sets = frame.groupby(person)["age"].agg(frozenset)
    alike = sets.map(sets.value_counts())
    high = found.private["ledger"]["high"]
    assert high["k"] == alike.min()
    assert high["matches"] == pytest.approx((1 / alike).sum())
    assert found.private["ledger"]["alone"] == high
    assert found.private["figures"]["k"] > alike.min()  # of shares, by one row of each


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("differ", [True, False])
def test_the_number_of_a_persons_rows_is_known_where_pseudonyms_join_them(
    again, differ, how, tmp_path
):
    """A naive adversary counts the rows of each group of a person, and looks for the same."""
    rng = np.random.default_rng(3)
    times = [1] * 30 + [2] * 20 + [3] * 9 + [7]
    who = np.repeat([f"CANARY{i}" for i in range(60)], times)
    age = rng.choice([20, 30], len(who) if differ else 60).repeat(1 if differ else times)
    rows = pa.table({"who": who, "age": age, "job": ["cook"] * len(who)})
    how["override"] = "counted, not kept"
    how["accept_risk"] = "counted, not kept"
    if again:
        release(rows, tmp_path / "a.csv", **how)
    found = release(rows, tmp_path / "b.csv", **how)
    frame = StoredRelease.open(tmp_path / "b.csv").frame.to_pandas()
    records = frame.groupby("who")["age"].agg(lambda own: tuple(sorted(own)))
    alike = records.map(records.value_counts())
    high = found.private["ledger"]["high"]
    assert high["k"] == alike.min() == 1
    assert high["matches"] == pytest.approx((1 / alike).sum())


@pytest.mark.parametrize("seed", range(4))
def test_rows_in_the_same_order_are_joined_row_by_row_within_a_person(seed, how, tmp_path):
    """A naive adversary knows the groups of each row in both releases, and whose rows these are."""
    rng = np.random.default_rng(seed)
    who = np.repeat([f"CANARY{i}" for i in range(40)], 2)
    ages, jobs = rng.choice([20, 30], 80), rng.choice([1, 2], 80)
    rows = pa.table({"who": who, "age": ages, "job": jobs})
    roles = {"columns": {**ROLES["columns"], "job": "quasi"}, "subject": "who"}
    apart = {"age": [["20", "20"], ["30", "30"]], "job": [["1", "1"], ["2", "2"]]}
    whole = {"age": [["20", "30"]], "job": [["1", "2"]]}
    how |= {"override": "counted, not kept", "no_pseudonyms": True, "keep_order": True}

    def high(name, table, **policy):
        kit = vt.fit(table, roles, family="global", method="exhaustive", seed=1)
        chosen = replace(kit.choose(policy=0), policy=policy, number=None)
        return kit.apply(chosen, table, tmp_path / name, **how).private["ledger"]["high"]

    high("a.csv", rows, **{**apart, "job": whole["job"]})
    joint = high("b.csv", rows, **{**apart, "age": whole["age"]})
    pairs = list(zip(ages.tolist(), jobs.tolist(), strict=True))
    each = Counter(frozenset(pairs[i : i + 2]) for i in range(0, 80, 2))
    assert joint["k"] == min(each.values())
    assert joint["matches"] == pytest.approx(len(each))
    more = {"who": [f"CANARY{i}" for i in range(40, 80)], "age": [20] * 40, "job": [1] * 40}
    next_month = pa.concat_tables([rows, pa.table(more)])
    assert high("c.csv", next_month, **whole)["matches"] >= len(each)


def test_one_of_a_kind_by_all_rows_is_refused_where_pseudonyms_join_them(how, tmp_path):
    rows = county((20, 0, 20), (30, 20, 40))
    both = pa.concat_tables([rows, county((20, 40, 46)), county((20, 41, 46), (30, 40, 41))])
    create(tmp_path / "k", LedgerPromise(k=K), how["key_file"])
    how["ledger"] = tmp_path / "k"
    with pytest.raises(InfeasibleError, match=r"fewer than the 5 people.*known by all of them"):
        release(both, tmp_path / "a.csv", **how)
    kit = vt.fit(both, ROLES, family="global", method="exhaustive", k=K, suppress=0.9, seed=1)
    after = {"after": how["ledger"], "key_file": how["key_file"]}
    with pytest.raises(
        RequestError, match="several different rows of a person identify the person"
    ):
        kit.choose(**after)
    chosen = kit.choose(**after, source=both)
    assert kit.apply(chosen, both, tmp_path / "a.csv", **how).private["ledger"]["high"]["k"] >= K


def test_rows_of_a_person_are_joined_one_by_one_next_month_too(how, tmp_path):
    """A kept number of each row links it: one of twelve has the ages at the other jobs."""
    two = [(f"CANARY{i}", age, job) for i in range(11) for age, job in ((20, 1), (30, 2))]
    two += [("CANARY11", 20, 2), ("CANARY11", 30, 1)]
    two += [(f"CANARY{12 + i}", 20 + 10 * (i % 2), 2 - i % 2) for i in range(10)]
    come = [(f"CANARY{50 + i}", 20, 2) for i in range(6)]
    columns = {**ROLES["columns"], "job": "quasi", "row": "keep"}
    age = {"age": [["20", "20"], ["30", "30"]], "job": [["1", "2"]]}
    job = {"age": [["20", "30"]], "job": [["1", "1"], ["2", "2"]]}
    for name, people, policy in (("a.csv", two, age), ("b.csv", two + come, job)):
        who, ages, jobs = zip(*people, strict=True)
        rows = pa.table({"who": who, "age": ages, "job": jobs, "row": range(len(people))})
        kit = vt.fit(rows, {**ROLES, "columns": columns}, family="global", method="exhaustive")
        chosen = replace(kit.choose(policy=0), policy=policy, number=None)
        found = kit.apply(chosen, rows, tmp_path / name, override="counted, not kept", **how)
        how["releases"] = tmp_path
    frames = [StoredRelease.open(tmp_path / name).frame.to_pandas() for name in ("a.csv", "b.csv")]
    both = frames[1].merge(frames[0][["row", "age"]], "left", "row", suffixes=("", "_then"))
    pairs = both["job"].astype(str) + both["age_then"].astype(str)
    sets = pairs.groupby(both["who"]).agg(frozenset)
    alike = sets.map(sets.value_counts())
    high = found.private["ledger"]["high"]
    assert (high["k"], alike.min()) == (1, 1)
    assert high["matches"] >= (1 / alike).sum() - 1e-9
