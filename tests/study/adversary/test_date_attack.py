"""The attack on dates against a naive twin, and what each choice of dates leaves of it."""

from __future__ import annotations

import tracemalloc
from datetime import date, datetime, timedelta
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from voile.gate.finding import figures_of
from voile.keys.date_rule import DateRule
from voile.keys.pseudonyms import Secret
from voile.study.adversary.acquaintance import by_knowledge
from voile.study.adversary.date_attack import attack_dates

PLAIN, WEEKS, MONTHS = DateRule(21), DateRule(21, weeks=True), DateRule(21, months=True)
SECRET = Secret(bytes(32))


def released(rule, people=60, seed=3, visits=3):
    """Return true and released days of people, as facts have them."""
    rng = np.random.default_rng(seed)
    found = {}
    for number in range(people):
        name = f"P{number}"
        weeks = rng.choice(20, visits, replace=False)
        true = np.sort(weeks * 7 + rng.integers(0, 5, visits))  # five weekdays of seven
        days = pa.array(true.astype("datetime64[D]"), pa.date32())
        moved = rule.move(SECRET, days, pa.array([name] * visits)).dates
        new = moved.cast(pa.int32()).to_pylist()
        own = [(a, b) for a, b in zip(true.tolist(), new, strict=True) if b is not None]
        found[name] = np.unique(np.array(own, np.int64).reshape(-1, 2), axis=0)
    return found


@cache
def written(day, rule):
    if not rule.months:
        return day
    return int(np.datetime64(int(day), "D").astype("M8[M]").astype("M8[D]").astype(int))


def twin(dates, rule):
    """Count the candidates of each person of whom three dates are known, day by day."""
    true = np.concatenate([own[:, 0] for own in dates.values()])
    first, last = true.min(), true.max()
    weekdays = {int(day) % 7 for day in true}
    steps = [o for o in range(-rule.days, rule.days + 1) if o and o % rule.step == 0]

    def possible(own, offset):
        for day in own[:, 1]:
            whole = range(day - 1, day + 32) if rule.months else [day]
            real = [d - offset for d in whole if written(d, rule) == day]
            if not any(first <= d <= last and d % 7 in weekdays for d in real):
                return False
        return True

    counts = []
    for known in dates.values():
        held = [
            any(
                possible(own, o) and {written(d + o, rule) for d in known[:, 0]} <= {*own[:, 1]}
                for o in steps
            )
            for own in dates.values()
        ]
        counts.append(sum(held))
    return counts


@pytest.mark.parametrize("rule", [PLAIN, WEEKS, MONTHS], ids=["days", "weeks", "months"])
def test_candidates_are_those_of_a_naive_twin(rule):
    dates = released(rule, 30)
    found = attack_dates(dates, rule, np.random.default_rng(1))
    three = by_knowledge(found)["3 true dates"]
    counts = twin(dates, rule)
    assert three["people_alone"].n == len(dates)
    assert three["expected_matches"].value == pytest.approx(sum(1 / n for n in counts))
    assert three["people_alone"].value == counts.count(1)


def test_months_leave_more_people_than_days_and_edges_hide_the_offset():
    def attacked(rule):
        return figures_of(attack_dates(released(rule, 200), rule, np.random.default_rng(1)))

    three = "expected_matches(3 true dates)"
    days, months = attacked(PLAIN), attacked(MONTHS)
    assert months[three] < 0.5 * days[three]
    wide = DateRule(120)
    true = np.concatenate([own[:, 0] for own in released(wide, 200).values()])
    first, last = (date.fromordinal(719163 + int(d)) for d in (true.min(), true.max()))
    cut = attacked(DateRule(120, first=first, last=last))
    kept = attacked(wide)
    assert cut["offset_guessed"] < kept["offset_guessed"]


def test_nobody_with_two_dates_is_not_attacked():
    assert attack_dates({"a": np.array([[1, 2]])}, PLAIN, np.random.default_rng(1)) == ()
    assert attack_dates({}, PLAIN, np.random.default_rng(1)) == ()


@pytest.mark.parametrize("days", [7, 8, 30, 365])
def test_whole_weeks_stay_within_the_days_and_never_stay(days):
    offsets = {DateRule(days, weeks=True).offset(SECRET, f"P{n}") for n in range(200)}
    assert all(offset % 7 == 0 and 0 < abs(offset) <= days for offset in offsets)
    assert len(offsets) > 1


def test_dates_outside_the_extract_are_left_out_and_not_set_aside():
    rule = DateRule(30, first=date(2013, 1, 1), last=date(2013, 12, 31))
    days = pa.array([date(2013, 1, 1), date(2013, 6, 15), date(2013, 12, 31), None])
    moved = rule.move(SECRET, days, pa.array(["A"] * 4))
    offset = rule.offset(SECRET, "A")
    assert not any(moved.set_aside.to_pylist())
    got = moved.dates.to_pylist()
    assert (got[1] - date(2013, 6, 15)).days == offset
    assert got[0 if offset < 0 else 2] is None
    assert got[2 if offset < 0 else 0] is not None


def test_a_date_far_from_all_others_takes_no_more_memory():
    dates = {**released(PLAIN), "odd": np.array([[-641_000, -640_990], [30, 40]])}
    tracemalloc.start()
    found = attack_dates(dates, PLAIN, np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[-1].n == len(dates)
    assert peak < 50 << 20


@pytest.mark.parametrize("zone", ["America/Asuncion", "America/Havana", "+05:30"])
def test_a_month_begins_where_clocks_change_at_its_midnight(zone):
    kind = pa.timestamp("us", tz=zone)
    noons = [datetime(2000, 1, 1, 12) + timedelta(days) for days in range(6000)]
    moments = pc.assume_timezone(pa.array(noons, pa.timestamp("us")), zone)
    rule = DateRule(1, months=True)
    moved = rule.move(SECRET, moments, pa.array(["A"] * len(moments)))
    assert not any(moved.set_aside.to_pylist())
    assert moved.dates.type == kind
    days = DateRule(1).move(SECRET, moments, pa.array(["A"] * len(moments))).dates
    firsts = [day.replace(day=1) for day in days.cast(pa.date32()).to_pylist()]
    assert moved.dates.cast(pa.date32()).to_pylist() == firsts
