"""Every table and column of an OMOP source is released by its rule, or listed with a reason."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import repeat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import SECRET

from voile.keys.pseudonyms import date_shift
from voile.study.carriers import OmopCarrier
from voile.study.carriers.carrier import NOT_RELEASED, FileTally, ReleasedStudy
from voile.study.carriers.omop_rules import ColumnRule, schema_of, table_rules
from voile.study.carriers.omop_writing import LINKS, NO_COST
from voile.tables.recoding.codebook import CodebookEntry

AS_OF, DAY = date(2013, 7, 1), date(2012, 5, 5)
CANARY, PEOPLE = "cAnArY", 6
SHOWN = {"age": CodebookEntry("40-49", "40", "49")}
WITHHELD = "6"
"""A person without a released row."""
NUMBERS = {"cost": (1, 2), "note": (1, 2, 3, 4, 5, 6)}
RULES = {
    "keep", "needed keep", "shift", "needed shift", "id", "person", "home", "->", "domain", "shown",
    "read", "spanned", "text", "drop",
}  # fmt: skip


def _cell(name: str, column: str, rule: ColumnRule, n: int):
    """Return a cell of row n: a canary where the rule drops it."""
    if column == "cost_domain_id":
        return "Visit"
    if rule.rule in ("person", "id", "home", "->"):
        return n
    if rule.type == pa.string():
        return CANARY
    if pa.types.is_date(rule.type):
        return DAY
    if pa.types.is_timestamp(rule.type):
        return datetime(2012, 5, 5, 11, 59)
    born = {"year_of_birth": 1970, "month_of_birth": 5, "day_of_birth": 5}
    return born.get(column, 987_654 if rule.rule == "drop" else 7)


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """A source with all tables of the model, with a value in every column, and two of its own."""
    folder = tmp_path_factory.mktemp("cdm")
    for name, rules in table_rules().items():
        rows = [
            {column: _cell(name, column, rule, n) for column, rule in rules.columns.items()}
            for n in range(1, PEOPLE + 1)
        ]
        table = pa.Table.from_pylist(rows, schema_of(name))
        own = pa.array([CANARY] * PEOPLE)
        pq.write_table(table.append_column("own_column", own), folder / f"{name}.parquet")
    for name in ("provider", "site_table"):
        pq.write_table(pa.table({"x": [CANARY, CANARY]}), folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def packed(export, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    return pack(export, folder)


def pack(export, folder):
    carrier = OmopCarrier(str(export), AS_OF)
    for name in ("in", "out", "scratch"):
        (folder / name).mkdir()
    carrier.unpack(folder / "in")

    def shown(who):
        return None if who == WITHHELD else SHOWN

    released = ReleasedStudy(SECRET, moved, AS_OF, shown, repeat("a text"))
    made = carrier.pack(released, folder / "out", folder / "scratch")
    return made, {path.stem: pq.read_table(path) for path in (folder / "out").iterdir()}


def moved(person, day):
    return day + timedelta(days=date_shift(SECRET, person, days=30))


def test_every_column_has_a_rule_that_is_known():
    assert len(table_rules()) == 21
    for name, rules in table_rules().items():
        for column, rule in rules.columns.items():
            assert rule.rule in RULES, (name, column)
            if rule.rule == "drop":
                assert rules.reason(column)
            if rule.rule == "->":
                assert rule.of in table_rules() or rule.of in rules.columns
        has_person = rules.person or name in ("cost", "location")
        assert has_person, name


def test_nothing_that_is_dropped_is_in_the_released_tables(packed):
    _, out = packed
    assert out.keys() == table_rules().keys()
    for name, table in out.items():
        assert CANARY not in str(table.to_pydict()), name
        for column, rule in table_rules()[name].columns.items():
            if rule.rule == "drop":
                assert table[column].null_count == len(table), (name, column)


def test_rows_in_are_rows_released_suppressed_and_rejected(packed):
    made, out = packed
    for name, tally in made.tallies.items():
        assert tally.read == PEOPLE
        assert tally.read == tally.released + tally.suppressed_rows + tally.rejected_rows, name
        if name != "location":
            assert len(out[name]) == tally.released == PEOPLE - 1
            assert tally.set_aside[NOT_RELEASED] == 1
    with pytest.raises(AssertionError, match="person: 3 rows were read, and 1 released"):
        FileTally(3, 1).check("person")


def test_kept_cells_days_and_links_follow_their_rules(packed):
    _, out = packed
    people = {x["person_source_value"]: x["person_id"] for x in out["person"].to_pylist()}
    assert len({*people.values()}) == PEOPLE - 1
    days = {moved(str(n), DAY) for n in range(1, PEOPLE)}
    for name, rules in table_rules().items():
        ids = out[name][rules.id].to_pylist() if rules.id and name != "location" else []
        assert len({*ids}) == len(ids), name
        for column, rule in rules.columns.items():
            cells = out[name][column].to_pylist()
            if rule.rule in ("keep", "needed keep"):
                assert {*cells} == {7}, (name, column)
            if rule.rule in ("shift", "needed shift"):
                assert {*cells} == days, (name, column)
            if rule.rule == "->":
                of = rule.of if rule.of in out else "visit_occurrence"
                there = out[of][table_rules()[of].id].to_pylist()
                assert {*cells} == {*there}, (name, column)


def test_a_link_leads_to_the_same_person(packed):
    _, out = packed
    visits = {x["visit_occurrence_id"]: x["person_id"] for x in out["visit_occurrence"].to_pylist()}
    for name, table in out.items():
        if name not in ("visit_occurrence", "cost") and "visit_occurrence_id" in table.column_names:
            for row in table.to_pylist():
                assert visits[row["visit_occurrence_id"]] == row["person_id"], name


def test_links_that_lead_nowhere_are_null_and_counted(export, tmp_path):
    (tmp_path / "cdm").mkdir()
    for path in export.iterdir():
        (tmp_path / "cdm" / path.name).write_bytes(path.read_bytes())
    drugs = tmp_path / "cdm" / "drug_exposure.parquet"
    rows = pq.read_table(drugs).to_pylist()
    rows[0]["visit_occurrence_id"], rows[1]["visit_occurrence_id"] = 99, 3  # nobody's, another's
    pq.write_table(pa.Table.from_pylist(rows), drugs)
    costs = tmp_path / "cdm" / "cost.parquet"
    rows = pq.read_table(costs).to_pylist()
    rows[0]["cost_event_id"], rows[1]["cost_domain_id"] = 99, "Nothing"
    pq.write_table(pa.Table.from_pylist(rows), costs)
    made, out = pack(tmp_path / "cdm", tmp_path)
    assert out["drug_exposure"]["visit_occurrence_id"].null_count == 2
    assert made.tallies["drug_exposure"].dropped[f"visit_occurrence_id: {LINKS}"] == 2
    assert made.tallies["cost"].set_aside == {NO_COST: 2, NOT_RELEASED: 1}


def test_links_between_rows_of_a_table_stay_where_both_are_released(export, tmp_path):
    (tmp_path / "cdm").mkdir()
    for path in export.iterdir():
        (tmp_path / "cdm" / path.name).write_bytes(path.read_bytes())
    visits = tmp_path / "cdm" / "visit_occurrence.parquet"
    first, *others = pq.read_table(visits).to_pylist()
    link, start = "preceding_visit_occurrence_id", "visit_start_date"
    more = [
        {**first, "visit_occurrence_id": 11, link: 12},  # refers to a row that comes later
        {**first, "visit_occurrence_id": 12, link: 13},
        {**first, "visit_occurrence_id": 13, link: 11, start: None},  # not released
    ]
    rows = [{**first, link: None}, *others, *more]
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(visits)), visits)
    made, out = pack(tmp_path / "cdm", tmp_path)
    released = out["visit_occurrence"].to_pylist()
    ids = {one["visit_occurrence_id"] for one in released}
    assert {one[link] for one in released} - {None} <= ids
    who = {one["visit_occurrence_id"]: one["person_id"] for one in released}
    linked = [one for one in released if one[link] is not None]
    assert all(who[one[link]] == one["person_id"] for one in linked)
    assert len(linked) == len(others) - 1 + 1  # those of released others, and 11 to 12
    assert made.tallies["visit_occurrence"].dropped[f"{link}: {LINKS}"] == 1


def test_everything_that_is_not_released_is_listed_with_its_rows(export):
    carrier = OmopCarrier(str(export), AS_OF, drop=frozenset({"device_exposure"}))
    found = {one.name: (one.rows, one.why) for one in carrier.list_uncovered()}
    assert found["provider"] == (2, "staff: no row is of a person")
    assert found["site_table"] == (2, "no rule: not a table of the model 5.4")
    assert found["device_exposure"] == (PEOPLE, "the plan drops it")
    assert found["drug_exposure.sig"] == (PEOPLE, "free text")
    assert found["drug_exposure.own_column"] == (PEOPLE, "not in the model 5.4")
    listed = {name.partition(".")[0] for name in found} | carrier.count_covered().keys()
    assert listed == {path.stem for path in export.iterdir()}
    for name in carrier.count_covered():
        rules = table_rules()[name].columns
        dropped = {column for column, rule in rules.items() if rule.rule == "drop"}
        assert dropped <= {one.removeprefix(f"{name}.") for one in found}


def test_an_acquaintance_knows_every_kept_cell(export):
    kinds = {}
    for event in OmopCarrier(str(export), AS_OF).events(written=False):
        kinds.setdefault(event.kind, []).append(event)
    for name, rules in table_rules().items():
        if rules.fact is not None:
            events = kinds[rules.fact]
            assert len(events) == PEOPLE, name
            assert {column for column, _ in events[0].fact} - {"died"} == {*rules.kept_columns}
            assert len(events[0].days) == len(rules.days)
