"""Orders: each is a permutation, keeps together what it promises, and says what it lacks."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.ordering import order_domain
from voile.tables.domains.parser import CellParser
from voile.tables.domains.settings import QuasiSettings
from voile.tables.domains.zip_areas import count_areas, explain_off_lattice
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.safe_harbor import SafeHarborWarning, safe_harbor

PEOPLE = {  # areas 036 and 720 are small; 370 and 385 are not
    "03601": 900, "37010": 9_000, "37011": 40_000, "37012": 20, "38501": 7_000,
    "38502": 14_000, "72001": 5, "72002": 300,
}  # fmt: skip
NUMBER = dict(zip(PEOPLE, (31, 12, 55, 47, 12, 80, 9, 70), strict=True))
LONGITUDE = dict(zip(PEOPLE, (-10, -5, -1, -9, -3, -8, -2, -7), strict=True))


def write(path, *rows):
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    rows = [("zip", "number", "latitude", "longitude")]
    rows += [(z, NUMBER[z], 36, LONGITUDE[z]) for z in reversed(PEOPLE)]
    return write(tmp_path / "zips.csv", *rows, ("99999", "n/a", "", ""))


def ordered(order, people=PEOPLE, *, column="zip", population=True, values=None):
    """Return the domain that a roles file's order makes of the values of a column."""
    values = list(people if values is None else values)
    natural = ValueDomain(column, tuple(sorted(v for v in values if v)), CellParser("text"))
    if None in values:
        natural = ValueDomain(column, (*natural.values, None), natural.parser)
    counted = np.array([people.get(value, 0) for value in natural.values], dtype=float)
    wanted = QuasiSettings.check_settings(column, {"order": order})
    return order_domain(
        natural, np.ones(len(natural)), counted if population else None, wanted.order
    )


def codes(order, **more):
    return [int(v) for v in ordered(order, **more).values]


def test_zip3_population_goes_by_people_within_areas_and_small_areas_come_last():
    assert codes("zip3") == [37010, 37011, 37012, 38501, 38502, 3601, 72001, 72002]
    assert codes("zip3-population") == [37011, 37010, 37012, 38502, 38501, 3601, 72002, 72001]
    assert codes("population") == [37011, 38502, 37010, 38501, 3601, 72002, 37012, 72001]


def test_a_number_orders_least_first_and_equal_ones_as_they_were(files):
    by = {"by": files, "column": "number"}
    assert codes(by) == [72001, 37010, 38501, 3601, 37012, 37011, 72002, 38502]
    within = codes(by | {"within": "zip3"})
    assert within == [37010, 37012, 37011, 38501, 38502, 3601, 72001, 72002]


def test_equal_values_keep_their_natural_order():
    people = {f"37{i:03d}": [9_000, 12][i % 2] for i in range(60)}
    many, few = ([int(z) for z, n in people.items() if n == m] for m in (9_000, 12))
    assert codes("population", people=people) == many + few
    assert codes("common", people=people) == sorted(map(int, people))


def test_common_goes_by_subjects_whatever_their_area():
    zips = ValueDomain("zip", ("37010", "37011", "38501"), CellParser("text"))
    counted = order_domain(zips, np.array([1.0, 5.0, 3.0]), np.full(3, 30_000.0), "common")
    assert counted.values == ("37011", "38501", "37010")


def test_distance_puts_places_on_one_line_in_its_order(files):
    line = [3601, 37012, 38502, 72002, 37010, 38501, 72001, 37011]
    assert codes({"near": files}) in (line, line[::-1])
    within = codes({"near": files, "within": "zip3"})
    assert within[:3] in ([37011, 37010, 37012], [37012, 37010, 37011])
    assert within[3:5] == ([38502, 38501] if within[2] == 37012 else [38501, 38502])
    assert within[5] == 3601
    assert within[6:] == [72002, 72001]


@st.composite
def places(draw):
    """ZIP codes of a few areas, null at times, each with people, a number and coordinates."""
    zips = draw(st.sets(st.integers(0, 399), min_size=2, max_size=25))
    people = {f"{370 + z // 50}{z % 50:02d}": draw(st.integers(0, 15_000)) for z in zips}
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    rows = [(z, rng.integers(5), rng.uniform(-90, 90), rng.uniform(-180, 180)) for z in people]
    return people, rows, draw(st.booleans())


PROMISED = ("zip3", "zip3-population", ("by", "zip3"), ("near", "zip3"))
FREE = ("natural", "common", "population", ("by", None), ("near", None))


def setting(order, path):
    if not isinstance(order, tuple):
        return order
    table = {order[0]: path} | ({"column": "number"} if order[0] == "by" else {})
    return table | ({"within": order[1]} if order[1] else {})


@pytest.mark.parametrize("order", [*PROMISED, *FREE], ids=str)
@given(made=places())
def test_every_order_is_a_permutation_and_keeps_what_it_promises(tmp_path_factory, order, made):
    people, rows, null = made
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    write(path, ("zip", "number", "latitude", "longitude"), *rows)
    values = [*people, None] if null else [*people]
    domain = ordered(setting(order, str(path)), people, values=values)
    again = ordered(setting(order, str(path)), people, values=values[::-1])
    assert domain == again
    assert sorted(map(str, domain.values)) == sorted(map(str, values))
    assert domain.nullable == null
    counted = np.array([people.get(v, 0) for v in domain.values], dtype=float)
    kept = explain_off_lattice(domain, count_areas(domain, counted)) is None
    assert kept == naively_kept(domain.values, people)
    if order in PROMISED:
        assert kept
        areas = [v[:3] for v in domain.values if v is not None]
        runs = [a for a, b in zip(areas, [None, *areas], strict=False) if a != b]
        assert len(runs) == len(set(runs))


def naively_kept(values, people):
    """Whether each group of Safe Harbor's takes up places next to each other."""
    total = {}
    for value, count in people.items():
        total[value[:3]] = total.get(value[:3], 0) + count
    where = {}
    for i, value in enumerate(values):
        area = value and ("small" if total[value[:3]] <= 20_000 else value[:3])
        where.setdefault(area, []).append(i)
    return all(at[-1] - at[0] + 1 == len(at) for at in where.values())


@pytest.mark.parametrize("order", [*PROMISED, None], ids=str)
def test_safe_harbor_scores_the_same_under_every_order_that_keeps_it(files, order):
    rng = np.random.default_rng(4)
    sample = pa.table({"zip": rng.choice([*PEOPLE], 60), "sex": rng.choice(["f", "m"], 60)})
    population = pa.table(
        {
            "zip": [z for z in PEOPLE for _ in "fm"],
            "sex": ["f", "m"] * len(PEOPLE),
            "people": [n + extra for n in PEOPLE.values() for extra in (60, 100)],
        }
    )
    settings = {"zip": {"order": setting(order, files)}}
    space = PolicySpace.of(sample, population, ["zip", "sex"], settings=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SafeHarborWarning)
        figures = space.disclosure(safe_harbor(space))
    area = {z: "000" if z[:3] in ("036", "720") else z[:3] for z in PEOPLE}
    groups = Counter()
    for row in population.to_pylist():
        groups[area[row["zip"]], row["sex"]] += row["people"]
    risks = [1 / groups[area[row["zip"]], row["sex"]] for row in sample.to_pylist()]
    assert figures["expected_matches"] == pytest.approx(sum(risks))


@pytest.mark.parametrize("order", FREE[2:], ids=str)
def test_an_order_that_does_not_keep_it_says_so_and_what_to_take_instead(files, order):
    table = pa.table({"zip": [*PEOPLE], "people": [*PEOPLE.values()]})
    space = PolicySpace.of(
        table, table, ["zip"], settings={"zip": {"order": setting(order, files)}}
    )
    said = r"column zip: .* this order of ZIP codes tears \d of 4 .* apart.*zip3-population"
    with pytest.raises(RequestError, match=said):
        safe_harbor(space)


def test_people_are_asked_for_where_they_order():
    for order in ("population", "zip3-population"):
        with pytest.raises(RequestError, match=r"column zip: no population table .* \"common\""):
            ordered(order, population=False)
    last = codes("zip3", population=False)[-1]
    assert last == 3601  # small in the census of 2010; 720 is on no list


def test_a_list_names_a_value_once(tmp_path):
    listed = tmp_path / "order.txt"
    listed.write_text("37010\n37011\n37010\n")
    for order in (["37010", "37011", "37010"], str(listed)):
        with pytest.raises(RequestError, match="column zip: the order contains a value twice"):
            ordered(order, values=["37010", "37011"])
    with pytest.raises(RequestError, match="fewer than two values; name every value of the data"):
        ordered(["37010"], values=["37010", "37011"])


def test_areas_are_not_read_off_numbers():
    numbers = ValueDomain("zip", (501, 37010), CellParser("integer"))
    with pytest.raises(RequestError, match=r"column zip: .* not text; write ZIP codes as text"):
        order_domain(numbers, np.ones(2), np.ones(2), "zip3")


def test_whole_numbers_are_ordered_without_the_values_between_them(tmp_path):
    path = write(tmp_path / "by.csv", ("site", "beds"), (1, 30), ("03", 10), (4, 20))
    sample = pa.table({"site": [1, 3, 4, None]})
    settings = {"site": {"order": {"by": path}}}
    space = PolicySpace.of(sample, quasi=["site"], settings=settings)
    assert space.domains[0].values == ("3", "4", "1", None)
    assert space.counts.sample.tolist() == [1, 1, 1, 1]


BAD = [
    ("zip,n\n03601,1\n37010,2\n", "the file lacks 6 of the 8 values of the data; add a line"),
    ("zip,n\n" + "".join(f"{z},\n" for z in PEOPLE), "the file lacks 8 of the 8 values"),
    ("zip,n\n03601,1\n03601,1\n", "row 3 names a value again"),
    ("zip,n\n37010,2\n03601,x\n", "row 3, column n: not a number"),
    ("zip,n\n03601,nan\n", "row 2, column n: not a number"),
    ("zip,n\n03601,inf\n", "row 2, column n: not a number"),
    ("zip,n\n03601\n", "row 2 has 1 cells, the header has 2"),
    ("zip,n,m\n03601,1,1\n", "has 2 columns in addition to the values; name the one"),
    ("zip\n03601\n", "has 0 columns in addition to the values"),
    ("", "the order file is empty"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_file_of_numbers_that_does_not_fit_is_refused_in_one_sentence(tmp_path, text, said):
    path = tmp_path / "by.csv"
    path.write_text(text)
    with pytest.raises(RequestError, match=said) as caught:
        ordered({"by": str(path)})
    assert not any(value in str(caught.value) for value in PEOPLE)


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("zip,latitude,longitude", "03601,91,0", r"column latitude: outside \[-90, 90\]"),
        ("zip,latitude,longitude", "03601,9,-180.5", r"longitude: outside \[-180, 180\]"),
        ("zip,latitude,longitude", "03601,9,here", "row 2, column longitude: not a number"),
        ("zip,latitude,longitude", "03601,9,", "the file lacks 8 of the 8 values"),
        ("zip,latitude,longitude,latitude", "03601,9,9,9", "has 2 columns latitude"),
        ("zip,latitud,longitude", "03601,9,9", "no column latitude; did you mean latitud"),
    ],
)
def test_a_file_of_places_that_does_not_fit_is_refused(tmp_path, header, row, said):
    path = tmp_path / "near.csv"
    path.write_text(f"{header}\n{row}\n")
    with pytest.raises(RequestError, match=said):
        ordered({"near": str(path)})


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for order in ({"by": "none.csv"}, {"near": "none.csv"}):
        with pytest.raises(SourceError, match=r"none.csv: no such order file"):
            ordered(order)
    with pytest.raises(SourceError, match=r"orders that need no file are natural, .*zip3-pop"):
        ordered("zip3-poplation")


def test_values_stand_in_the_column_of_their_name_else_in_the_first(tmp_path):
    rows = [("number", "zip"), *((NUMBER[z], z) for z in PEOPLE)]
    named = codes({"by": write(tmp_path / "named.csv", *rows)})
    rows = [("place", "number"), *((z, NUMBER[z]) for z in PEOPLE)]
    assert codes({"by": write(tmp_path / "first.csv", *rows)}) == named


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"by": "a.csv", "colum": "x"}, r"zip: order.by.colum: is not known here$"),
        ({"near": "a.csv", "column": "x"}, r"zip: order.near.column: is not known here$"),
        ({"near": 3}, r"zip: order.near.near: input is not a valid path$"),
        *((order, r"zip: order: give a name, a file, a list .*by or near$") for order in ({}, 3)),
        ({"near": "a.csv", "within": "county"}, r"zip: order.near.within: must be 'zip3'$"),
    ],
)
def test_a_table_that_is_no_order_is_refused_by_its_place(order, said):
    with pytest.raises(RequestError, match=said):
        QuasiSettings.check_settings("zip", {"order": order})


def test_values_are_ordered_once():
    with pytest.raises(RequestError, match=r"column x: order and parents each order .* give one$"):
        QuasiSettings.check_settings("x", {"order": "common", "parents": "a.csv"})


@pytest.mark.parametrize("order", [{"order": "common"}, {"parents": "a.csv"}])
@pytest.mark.parametrize("other", [{"by": "month"}, {"form": "%d.%m.%Y"}])
def test_dates_that_are_read_otherwise_keep_their_own_order(order, other):
    with pytest.raises(RequestError, match=r"column x: by and form .* leave the order out"):
        QuasiSettings.check_settings("x", order | other)
    QuasiSettings.check_settings("x", other | {"order": "natural"})
