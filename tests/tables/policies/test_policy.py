"""Policies form a lattice; they are described by intervals and come back equal from TOML."""

from __future__ import annotations

import datetime as dt
import tomllib
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
import tomli_w
from hypothesis import assume, given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain, build_domain
from voile.tables.domains.parser import CellParser
from voile.tables.policies.policy import Policy

AGE = ValueDomain("age", tuple(range(6)), CellParser("integer"))
SEX = ValueDomain("sex", ("F", "M", None), CellParser("text"))
N = 7


def policy(bits):
    return Policy((AGE, SEX), np.array(bits, dtype=np.bool_))


BITS = st.lists(st.booleans(), min_size=N, max_size=N).map(policy)


def test_a_policy_is_described_by_its_intervals():
    assert policy([0, 0, 1, 0, 0, 0, 1]).describe() == "age 0 to 2 3 to 5\nsex F|M missing"
    assert policy([0] * N).intervals["sex"][0].width == 3


def test_bits_of_another_length_or_kind_are_refused():
    for wrong in (np.zeros(N - 1, np.bool_), np.zeros(N, np.int8)):
        with pytest.raises(ValueError, match="bits must be 7 booleans"):
            Policy((AGE, SEX), wrong)


def test_a_policy_keeps_its_own_bits():
    bits = np.zeros(N, dtype=np.bool_)
    made = Policy((AGE, SEX), bits)
    bits[0] = True
    assert not made.bits[0]
    with pytest.raises(ValueError, match="read-only"):
        made.bits[0] = True


@given(BITS, BITS, BITS)
def test_at_least_as_general_is_a_partial_order(a, b, c):
    assert a <= a
    assert not (a <= b and b <= a) or a == b
    assert not (a <= b and b <= c) or a <= c
    assert (a <= b) == (b >= a)


@given(BITS, BITS, BITS)
def test_more_general_is_a_strict_order(a, b, c):
    """Definition 3.3, from its two quantifiers."""
    pairs = list(zip(a.bits, b.bits, strict=True))
    assert (a < b) == (all(y for x, y in pairs if x) and any(not x and y for x, y in pairs))
    assert not a < a
    assert not (a < b and b < a)
    assert not (a < b and b < c) or a < c
    assert (a <= b) == (a < b or a == b)
    assert (a < b) == (b > a)


@given(BITS, BITS, BITS)
def test_covering_is_what_the_paper_calls_a_greatest_lower_bound(a, b, between):
    """Definition 3.4: one cut differs, kept by b alone; so nothing lies between the two."""
    differ = np.flatnonzero(a.bits != b.bits)
    assert b.covers(a) == (len(differ) == 1 and bool(b.bits[differ[0]]))
    assert not b.covers(a) or not (a < between and between < b)
    if a < b and not b.covers(a):
        one_more = a.bits.copy()
        one_more[differ[0]] = True
        assert a < Policy(a.domains, one_more) < b


@given(BITS, BITS, BITS)
def test_and_is_the_meet_of_the_lattice(a, b, c):
    meet = a & b
    assert meet <= a
    assert meet <= b
    assert not (c <= a and c <= b) or c <= meet
    assert a & b == b & a
    assert a & a == a
    assert (a & b) & c == a & (b & c)


@given(st.permutations(range(N)))
def test_adding_cuts_one_by_one_is_a_maximal_chain(order):
    bits = np.zeros(N, dtype=np.bool_)
    chain = [Policy((AGE, SEX), bits)]
    for cut in order:
        bits[cut] = True
        chain.append(Policy((AGE, SEX), bits))
    for lower, higher in pairwise(chain):
        assert lower <= higher
        assert not higher <= lower
        assert higher.covers(lower)
    assert chain[0] == policy([0] * N)
    assert chain[-1] == policy([1] * N)


@given(BITS)
def test_intervals_cover_each_domain_in_order(made):
    for domain in made.domains:
        positions = [p for i in made.intervals[domain.column] for p in range(i.first, i.last + 1)]
        assert positions == list(range(len(domain)))
        numbers = made.interval_of(domain)
        for number, interval in enumerate(made.intervals[domain.column]):
            assert set(numbers[interval.first : interval.last + 1]) == {number}


texts = st.text(st.characters(codec="utf-8"), max_size=5)
KINDS = {
    "integer": st.integers(-(10**20), 10**20),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False, places=6),
    "text": texts | st.sampled_from(["", '""', '"', "00501", "missing"]),
    "listed": texts | st.sampled_from(["", '""', '"', "00501", "missing"]),
    "day": st.dates().map(str),
    "month": st.dates().map(str),
    "year": st.dates(dt.date(1, 1, 1)).map(str),
    "bins": st.floats(allow_nan=False, allow_infinity=False, width=32),
}
BINS = CellParser("decimal", edges=(Decimal("-1.5"), Decimal(0), Decimal(12)))


@st.composite
def domains(draw, column):
    kind = draw(st.sampled_from(sorted(KINDS)))
    dated = kind in ("day", "month", "year")
    parser = CellParser("date", kind) if dated else BINS if kind == "bins" else CellParser(kind)
    raw = draw(st.lists(st.none() | KINDS[kind], min_size=2, max_size=9))
    assume(len({parser(value) for value in raw}) > 1)
    if kind == "listed":
        known = list(dict.fromkeys(value for value in raw if value is not None))
        return ValueDomain(column, (*known, *((None,) if None in raw else ())), parser)
    return build_domain(column, raw, parser, fill=False)


@st.composite
def policies(draw):
    made = tuple(draw(domains(column)) for column in ("a", "the second"))
    n = sum(len(domain) - 1 for domain in made)
    return Policy(made, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_))


@given(policies())
def test_a_policy_of_any_kind_comes_back_equal_from_toml(made):
    data = tomllib.loads(tomli_w.dumps({"policy": made.to_data()}))["policy"]
    assert Policy.from_data(made.domains, data) == made


GOOD = {"age": [["0", "2"], ["3", "5"]], "sex": [["F", "M"], ["", ""]]}


def test_a_policy_can_be_written_by_hand():
    assert Policy.from_data((AGE, SEX), GOOD) == policy([0, 0, 1, 0, 0, 0, 1])
    by_number = {**GOOD, "age": [[0, 2], [3, 5]]}
    assert Policy.from_data((AGE, SEX), by_number) == policy([0, 0, 1, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("age", "said"),
    [
        ([["0", "2"], ["4", "5"]], "interval 2 does not go on"),
        ([["0", "2"], ["2", "5"]], "interval 2 does not go on"),
        ([["0", "2"]], "end before the domain does"),
        ([["1", "5"]], "interval 1 does not go on"),
        ([["0", "2"], ["5", "3"]], "interval 2 does not go on"),
        ([["0", "105"]], "interval 1 does not go on"),
        ([], "no intervals"),
        (None, "no intervals"),
        ("0-5", "pairs"),
        ([["0", "2", "5"]], "pairs"),
        ([7], "pairs"),
    ],
)
def test_intervals_that_leave_a_gap_or_overlap_are_refused(age, said):
    with pytest.raises(RequestError, match=rf"policy, column age: .*{said}"):
        Policy.from_data((AGE, SEX), {**GOOD, "age": age})


def test_an_unknown_column_is_refused():
    with pytest.raises(RequestError, match="names weight, which is not"):
        Policy.from_data((AGE, SEX), {**GOOD, "weight": []})
    with pytest.raises(RequestError, match="does not give each column"):
        Policy.from_data((AGE, SEX), [])
