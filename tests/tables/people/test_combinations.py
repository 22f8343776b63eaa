"""Domains and counts are gathered from tables by the settings of the roles file."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.tables.domains.settings import KeptSettings, QuasiSettings
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.combinations import (
    check_quasi,
    count_population,
    count_sample,
    count_sensitive,
    encode,
)
from voile.tables.people.counts import SensitiveColumn, distinct_rows, row_keys, value_order
from voile.tables.people.domain_building import build_domains


def domain(values, population=None, type_=None, **settings):
    """Build the one domain of a column x."""
    table = pa.table({"x": pa.array(values, type_)})
    sample = count_sample(open_source(table), ["x"], None)
    tables = []
    if population is not None:
        counted = pa.table({"x": population, "people": [1] * len(population)})
        tables = [count_population(open_source(counted), ["x"], "people")]
    return build_domains(["x"], sample, tables, {"x": settings})[0]


def test_sample_and_population_make_one_domain():
    assert domain([30, 31], [29, 30, 31, 33]).values == (29, 30, 31, 32, 33)
    assert domain(["30", "31", None], [29, 30]).values == (29, 30, 31, None)
    assert domain(["00501", "37010"], ["37010", "90210"]).values == ("00501", "37010", "90210")


def test_an_order_is_a_list_or_a_file(tmp_path):
    order = ["low", "middle", "high"]
    path = tmp_path / "order.txt"
    path.write_text("low\nmiddle\nhigh\n", encoding="utf-8-sig")
    for given in (order, str(path)):
        made = domain(["high", "low", None], order=given)
        assert made.values == ("low", "middle", "high", None)
        assert made.parser.kind == "listed"


def test_an_order_that_lacks_a_value_is_refused_without_the_value():
    with pytest.raises(RequestError, match="column x: 1 values of the data are not in") as caught:
        domain(["high", "hush"], order=["low", "high"])
    assert "hush" not in str(caught.value)
    with pytest.raises(RequestError, match="x: 2 values of the data are not in the order"):
        domain(["high", "hush"], ["high", "hush", "none"], order=["low", "high"])


def test_an_order_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no such order file"):
        domain(["a", "b"], order=str(tmp_path / "none.txt"))
    with pytest.raises(SourceError, match="cannot be read"):
        domain(["a", "b"], order=str(tmp_path))
    (tmp_path / "order").write_bytes(b"\xff\n")
    with pytest.raises(SourceError, match="byte 0"):
        domain(["a", "b"], order=str(tmp_path / "order"))
    with pytest.raises(RequestError, match="contains a value twice"):
        domain(["a", "b"], order=["a", "b", "a"])


def test_a_hierarchy_orders_the_leaves(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("3;odd;*\n4;even;*\n5;odd;*\n")
    made = domain([5, 3, None], hierarchy=str(path))
    assert made.values == ("3", "5", "4", None)
    assert made.levels[1] == (False, True, True)
    with pytest.raises(RequestError, match="1 values of the data"):
        domain([5, 6], hierarchy=str(path))


def test_dates_are_asked_for_by_what_one_is():
    days = [dt.date(1999, 12, 31), dt.date(2000, 1, 1)]
    assert domain(days, by="month").values == ("1999-12", "2000-01")
    assert domain(["1999-12-31", "2000-01-01"], by="year").values == (1999, 2000)
    assert domain(["12/1999", "01/2000"], by="year", form="%m/%Y").values == (1999, 2000)
    assert domain(["1999-12", "2000-01"], by="month").parser.kind == "date"
    with pytest.raises(RequestError, match="cannot be read as date"):
        domain(["a", "b"], by="year")


def test_another_kind_can_be_asked_for():
    assert domain(["10", "9"], kind="text").values == ("10", "9")
    assert domain(["10.5", "9"], kind="decimal").values[0] == 9
    assert domain([1, 5], fill=True).values == (1, 2, 3, 4, 5)
    with pytest.raises(RequestError, match="column x: 1 distinct value cannot be read"):
        domain(["7", "?"], kind="integer")


@pytest.mark.parametrize(
    "settings",
    [{"ordr": ["a"]}, {"kind": "float"}, {"by": "week"}, {"keep_cuts": 5}],
)
def test_a_setting_that_is_not_known_is_refused_by_its_place(settings):
    with pytest.raises(RequestError, match=f"roles, column x: {next(iter(settings))}"):
        QuasiSettings.check_settings("x", settings)


def test_a_kept_column_shifts_dates_and_knows_nothing_else():
    assert KeptSettings.check_settings("x", {"date_shift_days": 30}).date_shift_days == 30
    for wrong in ({"date_shift_day": 30}, {"date_shift_days": 0}, {"date_shift_days": "a lot"}):
        with pytest.raises(RequestError, match="roles, column x: date_shift_day"):
            KeptSettings.check_settings("x", wrong)


def test_small_areas_come_last_where_that_keeps_safe_harbor():
    zips = ["36901", "37010", "38001", "39001"]
    people = pa.table({"x": zips, "people": [5, 30_000, 7, 30_000]})
    sample = count_sample(open_source(pa.table({"x": zips})), ["x"], None)
    counted = count_population(open_source(people), ["x"], "people")
    made = build_domains(["x"], sample, [counted], {})[0]
    assert made.values == ("37010", "39001", "36901", "38001")
    asked = build_domains(["x"], sample, [counted], {"x": {"order": zips}})[0]
    assert asked.values == tuple(zips)


@pytest.mark.parametrize(
    ("quasi", "said"),
    [
        ([], "no quasi-identifier"),
        (["agee"], "agee is not a column; did you mean age?"),
        (["age", "age"], "named twice"),
    ],
)
def test_quasi_identifiers_are_checked(quasi, said):
    source = open_source(pa.table({"age": [1], "weight": [1.5]}))
    with pytest.raises(RequestError, match=said.replace("?", r"\?")):
        check_quasi(source, quasi)


def test_a_population_without_counts_or_columns_is_refused():
    population = open_source(pa.table({"age": [1], "people": [2]}))
    with pytest.raises(RequestError, match="no column n that counts people"):
        count_population(population, ["age"], "n")
    with pytest.raises(RequestError, match="none of the quasi-identifiers"):
        count_population(population, ["zip"], "people")
    with pytest.raises(RequestError, match="negative"):
        count_population(open_source(pa.table({"age": [1], "people": [-2]})), ["age"], "people")


def test_domains_may_multiply_to_more_than_a_number_holds():
    """Six columns of 2,000 values are 6.4e19 combinations, of which 2,000 occur."""
    columns = {f"c{i}": [*range(2000), 1999, 0] for i in range(6)}
    table = pa.table(columns)
    sample = count_sample(open_source(table), list(columns), None)
    domains = build_domains(list(columns), sample, [], {})
    codes, count = encode(domains, sample)
    assert (codes == np.arange(2000)[:, None]).all()
    assert count.tolist() == [2.0, *[1.0] * 1998, 2.0]
    space = PolicySpace.of(table, pa.table({**columns, "people": [1] * 2002}), list(columns))
    assert space.counts.population.tolist() == count.tolist()
    with pytest.raises(RequestError, match=r"6\.4e\+19 combinations of values"):
        space.evaluate(space.top[None])


def test_cells_that_read_as_one_value_are_counted_together():
    table = pa.table({"x": ["7", "007", " 7", "8", None], "y": ["a", "a", "a", "b", "a"]})
    sample = count_sample(open_source(table), ["x", "y"], None)
    domains = build_domains(["x", "y"], sample, [], {"x": {"kind": "integer"}})
    codes, count = encode(domains, sample)
    assert codes.tolist() == [[0, 0], [1, 1], [2, 0]]
    assert count.tolist() == [3.0, 1.0, 1.0]


def test_rows_are_numbered_in_lexicographic_order():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, size=(60, 3)).astype(np.int32)
    keys = row_keys(codes, [4, 4, 4])
    assert [tuple(codes[i]) for i in np.argsort(keys, kind="stable")] == sorted(map(tuple, codes))
    distinct, total = distinct_rows(codes, np.ones(60), [4, 4, 4])
    assert total.sum() == 60
    assert [tuple(row) for row in distinct] == sorted(set(map(tuple, codes)))


def test_sensitive_values_are_counted_by_combination_and_by_subject():
    table = pa.table(
        {"who": [1, 1, 2, 3], "x": ["a", "a", "a", "b"], "ill": ["flu", "flu", None, "flu"]}
    )
    source = open_source(table)
    sample = count_sample(source, ["x"], "who")
    domains = build_domains(["x"], sample, [], {})
    codes, count = encode(domains, sample)
    found, columns = count_sensitive(source, domains, codes, ["ill"], "who")
    assert columns == (SensitiveColumn(2),)
    assert count.tolist() == [2.0, 1.0]
    assert sorted(found[0].tolist()) == [1.0, 1.0]
    assert sorted(found[1].tolist()) == [0.0, 1.0]
    assert count_sensitive(source, domains, codes, [], None)[0].shape == (2, 0)
    with pytest.raises(RequestError, match="did you mean ill"):
        count_sensitive(source, domains, codes, ["il"], None)


def test_numbers_are_counted_in_their_order_and_null_last():
    table = pa.table(
        {"x": ["a", "a", "b", "b"], "pay": ["9", None, "10", "10"], "ill": list("cabb")}
    )
    source = open_source(table)
    sample = count_sample(source, ["x"], None)
    domains = build_domains(["x"], sample, [], {})
    codes, _ = encode(domains, sample)
    found, columns = count_sensitive(source, domains, codes, ["pay", "ill"], None)
    assert columns == (SensitiveColumn(3, ordered=True), SensitiveColumn(3))
    assert found[:, :3].tolist() == [[1, 0, 1], [0, 2, 0]]
    assert sorted(map(tuple, found[:, 3:].T.tolist())) == [(0, 2), (1, 0), (1, 0)]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["2", "10"], True),
        ([2, None], True),
        ([Decimal("1.5"), Decimal("-2")], True),
        (["007", "12"], False),
        (["1", "n.k."], False),
        ([True, False], False),
        (["nan", "1"], False),
        ([None], False),
        ([], False),
    ],
)
def test_numbers_are_told_from_names_and_codes(values, numbers):
    assert value_order(values)[1] is numbers
