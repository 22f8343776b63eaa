"""Columns of numbers, counts and dates, from fit to verify, and who is alone in their intervals."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.itemsets.verbs.clinic import (
    CATEGORIES,
    NUMBERS,
    PEOPLE,
    ROLES,
    clinic,
    fitted,
    released,
)

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.attack import attack
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.options import ApplyOptions, AttackOptions
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice


def test_a_release_shows_intervals_of_numbers_counts_and_dates(tmp_path):
    table = clinic()
    release, shown = released(fitted(table, ROLES, 5), table, tmp_path / "r.csv", risk=0.2)
    assert {"age", "visits"} <= shown.keys()
    for name, own in shown.items():
        assert None not in own or name == "ward"
        for value in set(own) - {None} if name in ("age", "visits", "weight") else ():
            words = value.split()
            assert (
                words[0] == "below" or words[-1] == "above" or float(words[0]) <= float(words[-1])
            )
    at = {
        value: [int(a) for a, s in zip(table["age"], shown["age"], strict=True) if s == value]
        for value in set(shown["age"])
    }
    spans = sorted((min(ages), max(ages)) for ages in at.values())
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert all(check.holds for check in verify(release) if check.holds is not None)


def test_dates_are_cut_at_months_and_say_so(tmp_path):
    table = clinic()
    late = [day[6:] >= "2019" for day in table["first"]]
    table["grade"] = ["late" if one else "soon" for one in late]
    _, shown = released(fitted(table, ROLES, 5), table, tmp_path / "r.csv", risk=0.2)
    assert set(shown["first"]) == {"before 2019-01", "2019-01 and after"}


@st.composite
def small(draw):
    rows = draw(
        st.lists(
            st.tuples(
                st.one_of(st.none(), st.integers(0, 60)),
                st.one_of(st.none(), st.sampled_from(["0.5", "1.25", "2.5", "7", "9.75"])),
                st.sampled_from("ab"),
                st.sampled_from(["0", "1"]),
                st.sampled_from("xyz"),
                st.integers(0, 12),
            ),
            min_size=12,
            max_size=40,
        )
    )
    rows = rows * draw(st.integers(1, 3))
    names = ("n", "x", "c", "b", "y", "who")
    table = {name: list(own) for name, own in zip(names, zip(*rows, strict=True), strict=True)}
    table["who"] = [str(one) for one in table["who"]]
    if not draw(st.booleans()):
        table["who"] = [str(place) for place in range(len(rows))]
    return table


SMALL = {
    "n": NUMBERS,
    "x": NUMBERS,
    "c": CATEGORIES,
    "b": "items",
    "y": "label",
    "who": "identifier",
}


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    small(),
    st.integers(2, 4),
    st.sampled_from([{}, {"m": 1}, {"absences": True}, {"method": "joint"}]),
)
def test_nobody_is_in_a_small_group_by_numbers_nor_by_numbers_and_items(
    tmp_path_factory, table, k, options
):
    out = tmp_path_factory.mktemp("r") / "r.csv"
    try:
        kit = fitted(table, SMALL, k, subject="who", **options)
    except (RequestError, InfeasibleError):
        reject()  # nothing to learn from, or nothing that k people share
    for policy in range(kit.policies):
        if choose(kit, Choice(policy=policy)).policy["k"] != k:
            continue
        _, shown = released(kit, table, out, policy=policy)
        numbers = [name for name in ("n", "x") if name in shown]
        assert smallest(numbers, [], shown, table["who"]) >= k
        items = [name for name in ("c", "b") if name in shown]
        if not options.get("m"):
            for size in range(len(items) + 1):
                for known in combinations(items, size):
                    assert smallest(numbers, known, shown, table["who"]) >= k


def smallest(numbers, items, shown, who):
    """Return the fewest people who fit what is known of a row: its numbers, and items it has."""
    rows = range(len(who))
    least = len(set(who))
    for one in rows:
        has = [name for name in items if shown[name][one] not in (None, "0", 0)]
        fits = {
            who[row]
            for row in rows
            if all(shown[name][row] == shown[name][one] for name in (*numbers, *has))
        }
        least = min(least, len(fits))
    return least


def test_rows_without_a_number_are_with_the_lowest_or_of_their_own(tmp_path):
    table = clinic()
    few = {**table, "age": ["", *table["age"][1:]]}
    _, shown = released(fitted(few, ROLES, 5), few, tmp_path / "a.csv", risk=0.2)
    assert re.fullmatch(r"below \d+ or not known", shown["age"][0])
    many = {**table, "age": [""] * 40 + table["age"][40:]}
    many["grade"] = ["lost"] * 40 + table["grade"][40:]
    _, shown = released(fitted(many, ROLES, 5), many, tmp_path / "b.csv", risk=0.2)
    assert shown["age"][:40] == ["not known"] * 40
    assert "not known" not in shown["age"][40:]


def test_a_row_whose_number_is_missing_later_is_set_aside(tmp_path):
    table = clinic()
    kit = fitted(table, ROLES, 5)
    later = {**table, "age": ["", *table["age"][1:]]}
    release, _ = released(kit, later, tmp_path / "r.csv", risk=0.2)
    assert release.private["counts"]["set_aside"] == 1


def test_other_people_in_too_small_a_group_by_numbers_withdraw_the_release(tmp_path):
    table = clinic()
    kit = fitted(table, {**ROLES, "ward": "drop"}, 5, m=1)
    _, shown = released(kit, table, tmp_path / "r.csv", risk=0.2)
    groups = Counter(zip(shown["age"], shown["visits"], strict=True))
    rare = min(groups, key=groups.get)
    within = [
        n for n, one in enumerate(zip(shown["age"], shown["visits"], strict=True)) if one == rare
    ]
    kept = [n for n in range(PEOPLE) if n not in within[1:]]
    other = {name: [own[n] for n in kept] for name, own in table.items()}
    with pytest.raises(InfeasibleError, match="smallest group by all numbers counts 1,"):
        released(kit, other, tmp_path / "s.csv", risk=0.2)
    assert not (tmp_path / "s.csv").exists()


def test_a_policy_of_a_part_of_the_intervals_is_refused(tmp_path):
    table = clinic()
    kit = fitted(table, ROLES, 5)
    chosen = choose(kit, Choice(max_risk=0.2))
    ages = [name for name in chosen.policy["features"] if name.startswith("age=")]
    less = [name for name in chosen.policy["features"] if name != ages[1]]
    edited = replace(chosen, policy={**chosen.policy, "features": less})
    with pytest.raises(RequestError, match="column age: the policy's intervals overlap, or leave"):
        ITEMSETS.apply(
            kit,
            edited,
            open_source(pa.table(table)),
            tmp_path / "r.csv",
            ApplyOptions(),
            force=False,
            progress=silent,
        )


def test_whoever_knows_all_numbers_and_items_of_a_person_finds_nobody_alone(tmp_path):
    table = clinic()
    release, _ = released(fitted(table, ROLES, 5), table, tmp_path / "r.csv", risk=0.2)
    truth = open_source(pa.table(table))
    found = attack(release, truth, AttackOptions(targets=200), seed=1, progress=silent)
    (numbers,) = [one for one in found if one.attack == "numbers"]
    alone = [one for one in numbers.findings if one.quantity == "one person left"]
    assert len(alone) == 12
    assert not any(one.rate.successes for one in alone)


def test_without_numbers_there_is_no_attack_by_numbers(tmp_path):
    table = clinic()
    roles = {**dict.fromkeys(table, "drop"), "ward": "items", "grade": "label"}
    release, _ = released(fitted(table, roles, 5), table, tmp_path / "r.csv", risk=0.2)
    found = attack(release, open_source(pa.table(table)), AttackOptions(), seed=1, progress=silent)
    assert "numbers" not in [one.attack for one in found]


def test_a_constant_column_and_one_of_nothing_stay_home(tmp_path):
    table = {**clinic(), "age": ["40"] * PEOPLE, "weight": [None] * PEOPLE}
    table["weight"] = pa.array(table["weight"], pa.float64())
    _, shown = released(fitted(table, ROLES, 5), table, tmp_path / "r.csv", risk=0.2)
    assert not {"age", "weight"} & shown.keys()


def test_fewer_people_than_k_are_refused():
    table = {name: own[:4] for name, own in clinic().items()}
    with pytest.raises(RequestError, match="k is 5, and there are 4 subjects"):
        fitted(table, ROLES, 5)


def test_numbers_that_cannot_be_cut_are_refused_where_there_is_nothing_else():
    table = {"age": ["40"] * 9 + ["41"], "grade": ["a", "b"] * 5}
    with pytest.raises(RequestError, match="column age: no column can be cut"):
        fitted(table, {"age": NUMBERS, "grade": "label"}, 5)


def test_every_policy_of_a_kit_publishes_one_k_s_intervals(tmp_path):
    table = clinic()
    kit = fitted(table, ROLES)
    for policy in range(kit.policies):
        chosen = choose(kit, Choice(policy=policy))
        if chosen.policy["features"]:
            _, shown = released(kit, table, tmp_path / "r.csv", policy=policy)
            numbers = [name for name in ("age", "weight", "visits", "first") if name in shown]
            who = list(range(PEOPLE))
            assert smallest(numbers, [], shown, who) >= chosen.policy["k"]


@pytest.mark.parametrize("method", ["paper-hamdist", "cm-greedy"])
def test_a_search_that_stops_early_publishes_every_interval(tmp_path, method):
    table = clinic()
    _, shown = released(
        fitted(table, ROLES, 25, method=method), table, tmp_path / "r.csv", policy=1
    )
    assert "age" in shown
    assert None not in shown["age"]


def test_without_a_label_columns_are_cut_as_well(tmp_path):
    table = clinic()
    roles = {**ROLES, "grade": "drop"}
    _, shown = released(fitted(table, roles, 5), table, tmp_path / "r.csv", risk=0.2)
    assert {"age", "weight"} <= shown.keys()


def test_nothing_finer_than_the_step_moves_a_cut():
    table = clinic()
    table["grade"] = ["heavy" if one > 80 else "light" for one in table["weight"]]
    roles = {**ROLES, "weight": {**NUMBERS, "step": 5}, "visits": "drop"}
    moved = np.floor(np.array(table["weight"]) / 5) * 5
    moved += np.random.default_rng(0).random(PEOPLE) * 4.9
    kits = [fitted({**table, "weight": own}, roles, 5) for own in (table["weight"], moved.tolist())]
    features, others = (kit.tables["features"].column("feature").to_pylist() for kit in kits)
    assert features == others
    assert any(name.startswith("weight=") for name in features)
