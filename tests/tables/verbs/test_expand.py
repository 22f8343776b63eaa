"""Intervals expanded to values with weights, by what a recipient holds and nothing else."""

from __future__ import annotations

import datetime as dt
import shutil

import numpy as np
import pandas
import pyarrow as pa
import pytest

import voile
import voile.tables as vt
from voile.core.errors import RequestError, TamperedError
from voile.face.release import Release
from voile.modules import MODULES, find_module
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn
from voile.tables.recoding.possible import PossibleValues, expect_cells, widths
from voile.tables.verbs import expand as verb
from voile.tables.verbs.content import TablesContent

TOWNS = ("Ash", "Birch", "Cedar", "Elm")
ROLES = {"age": "quasi", "town": "quasi", "zip": "quasi", "ill": "sensitive"}
ZIPS = ("37010", "37011", "37012", "37013")


def people(rows=1_500, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": np.clip(rng.normal(45, 15, rows), 20, 79).astype(int),
            "town": rng.choice(TOWNS, rows),
            "zip": rng.choice(ZIPS, rows),
            "ill": rng.choice(["flu", "gout"], rows),
        }
    )


def census():
    """Return a population of every combination, so that every value is public and no end open."""
    ages, towns, zips = np.meshgrid(np.arange(20, 80), TOWNS, ZIPS, indexing="ij")
    cells = {"age": ages.ravel(), "town": towns.ravel(), "zip": zips.ravel()}
    return pa.table({**cells, "people": np.full(ages.size, 40)})


@pytest.fixture(scope="module", params=["tree", "global"])
def kit(request):
    how = {"family": request.param, "k": 5, "seed": 1}
    if request.param == "global":
        how["method"] = "steepest"
    return vt.fit(people(), ROLES, population=census(), **how)


def policy_of(kit):
    return kit.choose(least_loss=True)


@pytest.fixture(params=[False, True], ids=["labels", "bounds"])
def release(request, kit, tmp_path):
    made = kit.apply(policy_of(kit), people(), tmp_path / "out.csv", bounds=request.param)
    shutil.rmtree(made.folder)
    return voile.open_release(tmp_path / "out.csv")


VALUES = {
    "age": list(range(15, 90)),
    "town": list(TOWNS),
    "zip": [str(z) for z in range(37000, 37030)],
}


def naive(release, columns):
    """Return (row, values) -> weight, trying every value on every interval."""
    book = read_codebook(release.public["policy"])
    codes = book.released_codes(release.rows().read())
    fits = {}
    for column in book.columns:
        cells = pa.array([str(value) for value in VALUES[column.column]])
        held, place = column.membership(cells, blank_is_unknown=False)
        fits[column.column] = held[:, place]
    names = [column.column for column in book.columns]
    weights = {}
    for number, row in enumerate(codes):
        own = [((), 1.0)]
        for name in columns:
            may = np.flatnonzero(fits[name][row[names.index(name)]])
            own = [((*v, VALUES[name][i]), w / len(may)) for v, w in own for i in may]
        weights |= {(number, values): weight for values, weight in own}
    return weights


@pytest.mark.parametrize("columns", [["age"], ["town"], ["zip", "age"], ["age", "town", "zip"]])
def test_rows_and_weights_are_those_of_trying_every_value(release, columns):
    made = release.expand(columns)
    keys = zip(
        made["row"].to_pylist(),
        zip(*(made[c].to_pylist() for c in columns), strict=True),
        strict=True,
    )
    found = dict(zip(keys, made["weight"].to_pylist(), strict=True))
    assert len(found) == made.num_rows
    wanted = naive(release, columns)
    assert found.keys() == wanted.keys()
    assert [found[key] for key in wanted] == pytest.approx(list(wanted.values()))


def test_weights_sum_to_one_for_each_released_row(release):
    made = release.expand(["age", "town"])
    sums = np.bincount(made["row"].to_numpy(), made["weight"].to_numpy())
    assert sums == pytest.approx(np.ones(release.rows().read().num_rows))


def test_what_is_not_asked_for_is_expected_and_the_rest_as_released(release):
    made, rows = release.expand(), release.rows().read()
    assert made.column_names == ["age", "town", "zip", "ill", "weight", "row"]
    assert made["weight"].to_pylist() == [1.0] * rows.num_rows
    assert made["ill"].to_pylist() == rows["ill"].to_pylist()
    means = [[] for _ in range(rows.num_rows)]
    for (row, (age,)), weight in naive(release, ["age"]).items():
        means[row].append(age * weight)
    assert made["age"].to_pylist() == pytest.approx([sum(own) for own in means])
    if "town" in rows.column_names:
        assert made["town"].to_pylist() == rows["town"].to_pylist()


def test_counts_are_those_of_values_that_are_even_within_a_group(kit):
    release = kit.apply(policy_of(kit), people())
    content = TablesContent.of(kit)
    counts = content.space.counts
    grouping = content.space.grouping(content.family.read_policy(policy_of(kit).policy))
    held = np.bincount(grouping.group, counts.sample, len(grouping.kept))
    made = release.expand(["age", "town", "zip"])
    rng = np.random.default_rng(1)
    inside_of_queries = []
    for _ in range(20):
        inside, weight = held * grouping.kept, made["weight"].to_numpy()
        for place, domain in enumerate(content.space.domains):
            asked = np.isin(
                np.arange(len(domain)), np.arange(*sorted(rng.integers(len(domain), size=2)))
            )
            held_by, values = grouping.box[:, place], grouping.values[place]
            inside = inside * (values[:, asked].sum(axis=1) / values.sum(axis=1))[held_by]
            cells = made[domain.column].to_pylist()
            weight = weight * np.array([asked[domain.position[cell]] for cell in cells])
        assert weight.sum() == pytest.approx(inside.sum())
        inside_of_queries.append(inside.sum())
    assert max(inside_of_queries) > 0


def test_the_frame_is_of_the_kind_that_came_in(kit):
    release = kit.apply(policy_of(kit), people().to_pandas())
    assert isinstance(release.expand("age"), pandas.DataFrame)


def column(kind, *entries, by="day", released=("x",)):
    return CodedColumn("x", released, kind, by, (), (), entries)


def cells(coded):
    """Return what each interval may stand for."""
    possible = PossibleValues.of(coded)
    return [
        possible.cells(np.full(size, i, np.int32), np.arange(size)).to_pylist()
        for i, size in enumerate(possible.sizes)
    ]


def test_an_open_end_is_the_outermost_that_is_shown():
    ages = column(
        "integer",
        CodebookEntry("under 20", None, "19"),
        CodebookEntry("under 22", None, "21"),
        CodebookEntry("20-21", "20", "21"),
        CodebookEntry("22 and over", "22", None),
        CodebookEntry("*", None, None),
    )
    assert cells(ages) == [[19], [19, 20, 21], [20, 21], [22], [19, 20, 21, 22]]
    assert expect_cells(ages).to_pylist() == [19.0, 20.0, 20.5, 22.0, 20.5]


def test_an_interval_of_which_no_end_is_known_is_null():
    alone = column("integer", CodebookEntry("*", None, None))
    assert cells(alone) == [[None]]
    assert expect_cells(alone).to_pylist() == [None]


def test_a_missing_value_is_one_value_more_and_in_no_mean():
    ages = column(
        "integer",
        CodebookEntry("1-3|missing", "1", "3", missing=True),
        CodebookEntry("missing", None, None, missing=True),
    )
    assert cells(ages) == [[1, 2, 3, None], [None]]
    assert expect_cells(ages).to_pylist() == [2.0, None]
    towns = column(
        "text",
        CodebookEntry("Ash|missing", "Ash", "Ash", missing=True, values=("Ash",)),
        CodebookEntry('"a|b"', "a|b", "a|b", values=("a|b",)),
        CodebookEntry("missing", None, None, missing=True),
    )
    assert cells(towns) == [["Ash", None], ["a|b"], [None]]
    assert expect_cells(towns).to_pylist() == ["Ash|missing", "a|b", None]


@pytest.mark.parametrize(
    ("kind", "by", "ends", "values", "mean"),
    [
        ("date", "day", ("2020-02-28", "2020-03-01"), ["2020-02-28", "2020-02-29", "2020-03-01"],
         dt.datetime(2020, 2, 29)),
        ("date", "month", ("2019-12", "2020-01"), ["2019-12", "2020-01"],
         dt.datetime(2019, 12, 31, 12)),
        ("date", "month", ("9999-12", "9999-12"), ["9999-12"], dt.datetime(9999, 12, 16)),
        ("date", "year", ("1999", "2000"), [1999, 2000], 1999.5),
        ("time", "hour", ("9", "11"), [9, 10, 11], 10.0),
        ("time", "minute", ("09:59", "10:01"), ["09:59", "10:00", "10:01"], 10.0),
        ("text", "day", ("00501", "00503"), ["00501", "00502", "00503"], "00501-00503"),
    ],
)  # fmt: skip
def test_every_kind_has_its_values_and_its_mean(kind, by, ends, values, mean):
    coded = column(kind, CodebookEntry("-".join(ends), *ends), by=by)
    assert cells(coded) == [values]
    assert expect_cells(coded).to_pylist() == [mean]


def test_decimals_have_a_mean_and_no_list():
    weights = column(
        "decimal",
        CodebookEntry("1.5 to below 2.5", "1.5", None, "2.5"),
        CodebookEntry("7.25", "7.25", "7.25"),
    )
    assert expect_cells(weights).to_pylist() == [2.0, 7.25]
    with pytest.raises(RequestError, match="column x: decimals have no list of values; leave"):
        PossibleValues.of(weights)


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        ("integer", 2**63, 2**64),
        ("integer", -(10**30), 10**30),
        ("integer", -(2**62) - 9, 2**62 + 9),
        ("text", 10**25, 10**26 - 1),
    ],
)
def test_numbers_that_64_bits_cannot_hold_have_a_width_and_no_list(kind, first, last):
    ends = [(str(first), str(first + 9)), (str(first + 10), str(last))]
    coded = column(kind, *(CodebookEntry("-".join(own), *own) for own in ends))
    assert widths(coded).tolist() == [10.0, float(last - first - 9)]
    with pytest.raises(
        RequestError, match=r"column x: numbers beyond 2\^63 have no list of values"
    ):
        PossibleValues.of(coded)


def test_numbers_that_64_bits_cannot_hold_are_expanded_to_means():
    numbers = [2**63 + 7 * (i % 60) for i in range(300)]
    table = pa.table({"n": pa.array(numbers, pa.uint64()), "sex": ["f", "m"] * 150})
    kit = vt.fit(table, {"n": "quasi", "sex": "quasi"}, k=5, family="tree", seed=1)
    release = kit.apply(kit.choose(least_loss=True), table)
    assert max(abs(one - 2**63) for one in release.expand("sex")["n"].to_pylist()) < 10_000
    with pytest.raises(RequestError, match="column n: numbers beyond"):
        release.expand("n")


def test_codes_of_several_widths_have_no_list():
    with pytest.raises(RequestError, match="column x: codes of several widths"):
        PossibleValues.of(column("text", CodebookEntry("01-123", "01", "123")))


def test_what_cannot_be_expanded_is_refused(release, monkeypatch):
    with pytest.raises(RequestError, match="generalises no column agee; did you mean age"):
        release.expand("agee")
    with pytest.raises(RequestError, match="has a column ill of its own"):
        release.expand(weight="ill")
    made = release.expand("age").num_rows
    monkeypatch.setattr(verb, "LARGEST", made - 1)
    with pytest.raises(RequestError, match=f"age would make {made:,} rows, and .* is the most"):
        release.expand("age")
    monkeypatch.setattr(verb, "LARGEST", made)
    assert release.expand("age").num_rows == made


def test_a_release_of_other_bytes_is_not_expanded(release):
    with open(release.path, "a") as file:
        file.write("1,2,3,4\n")
    with pytest.raises(TamperedError):
        release.expand()


@pytest.mark.parametrize("kind", sorted(MODULES.keys() - {"tables"}))
def test_other_kinds_have_no_intervals(kind, tmp_path):
    with pytest.raises(RequestError, match=f"release of {kind} has no intervals to expand"):
        Release(tmp_path / "out.csv", {"kind": kind}, module=find_module(kind)).expand()
