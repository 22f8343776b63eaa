"""OMOP tables there and back, and the same people through OMOP and through FHIR."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import date, timedelta
from itertools import repeat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.postgres.conftest import running, server  # noqa: F401, fixtures
from tests.study.made import SECRET, prepare_export

from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.fhir import person_id
from voile.demo.omop import omop_tables, write_omop
from voile.keys.pseudonyms import date_shift, pseudonym
from voile.study import Study
from voile.study.carriers import OmopCarrier
from voile.study.carriers.carrier import ABOVE_MOST, ReleasedStudy
from voile.study.carriers.omop_rules import schema_of, table_rules
from voile.study.carriers.omop_sending import send
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.init import init
from voile.study.verbs.naming import made_up_names
from voile.tables.recoding.codebook import CodebookEntry

SHOWN = {
    "age": CodebookEntry("40-49", "40", "49"),
    "sex": CodebookEntry("F", "F", "F"),
    "race": CodebookEntry("Black", None, None, values=("Black",)),
    "zip": CodebookEntry("00201-00299", "00201", "00299"),
}
EIGHT = {
    "location", "person", "observation_period", "visit_occurrence", "condition_occurrence",
    "measurement", "note", "death",
}  # fmt: skip


@pytest.fixture(scope="module")
def out(omop_release):
    return {p.stem: pq.read_table(p) for p in (omop_release.path / "export").iterdir()}


@pytest.fixture(scope="module")
def whose(out):
    """The pseudonym of each new person_id."""
    people = out["person"]
    return dict(
        zip(*(people[n].to_pylist() for n in ("person_id", "person_source_value")), strict=True)
    )


def moved(person: int, day: date) -> date:
    return day + timedelta(days=date_shift(SECRET, str(person), days=30))


def name_of(person: int) -> str:
    return pseudonym(SECRET, str(person))


def test_eight_tables_have_all_columns_of_the_model_and_no_source_value(out):
    assert out.keys() == EIGHT
    for name, table in out.items():
        assert table.schema.equals(schema_of(name))
        for column in table.column_names:
            null = column.endswith(("_source_value", "_datetime", "_time")) or column in (
                "note_title", "month_of_birth", "day_of_birth", "address_1"
            )  # fmt: skip
            if null and column != "person_source_value":
                assert table[column].null_count == len(table), column


def test_one_pseudonym_and_one_offset_of_each_person_in_every_table(clinic, out, whose):
    there = {one.number for one in clinic.people if name_of(one.number) in set(whose.values())}
    visits = [one for one in clinic.visits if one.person in there]
    assert len(there) > 100

    def written(table, column):
        columns = (out[table]["person_id"], out[table][column])
        pairs = zip(*(x.to_pylist() for x in columns), strict=True)
        return Counter((whose[person], day) for person, day in pairs)

    starts = Counter((name_of(v.person), moved(v.person, v.start)) for v in visits)
    ends = Counter((name_of(v.person), moved(v.person, v.end)) for v in visits)
    assert written("visit_occurrence", "visit_start_date") == starts
    assert written("visit_occurrence", "visit_end_date") == ends
    assert written("condition_occurrence", "condition_start_date") == starts
    assert written("measurement", "measurement_date") == starts + starts
    assert written("note", "note_date") == ends
    died = [one for one in clinic.people if one.death and one.number in there]
    assert written("death", "death_date") == Counter(
        (name_of(one.number), moved(one.number, one.death)) for one in died
    )


def test_observation_periods_span_what_is_released_of_each_person(out):
    days = defaultdict(list)
    for name in ("visit_occurrence", "condition_occurrence", "measurement", "note", "death"):
        for row in out[name].to_pylist():
            days[row["person_id"]] += [x for x in row.values() if isinstance(x, date)]
    periods = {
        row["person_id"]: (row["observation_period_start_date"], row["observation_period_end_date"])
        for row in out["observation_period"].to_pylist()
    }
    assert periods == {person: (min(own), max(own)) for person, own in days.items()}


def test_every_id_is_there_once_and_every_reference_resolves(out):
    people = {*out["person"]["person_id"].to_pylist()}
    visits = {
        row["visit_occurrence_id"]: row["person_id"] for row in out["visit_occurrence"].to_pylist()
    }
    assert people == {*range(1, len(out["person"]) + 1)}
    homes = {*out["location"]["location_id"].to_pylist(), None}
    assert {*out["person"]["location_id"].to_pylist()} <= homes
    for name, table in out.items():
        own = table.column(0).to_pylist()
        assert len(own) == len(set(own)), name
        for row in table.to_pylist() if name not in ("location", "person") else ():
            assert row["person_id"] in people
            if row.get("visit_occurrence_id") is not None:
                assert visits[row["visit_occurrence_id"]] == row["person_id"]
    assert out["condition_occurrence"]["visit_occurrence_id"].null_count == 0


def test_notes_are_the_released_texts(out, whose, omop_release):
    released = pq.read_table(omop_release.path / "notes.parquet")
    pairs = zip(*(released[n].to_pylist() for n in ("person_id", "note")), strict=True)
    found = [(whose[x["person_id"]], x["note_text"]) for x in out["note"].to_pylist()]
    assert Counter(found) == Counter(pairs)


def test_a_person_shows_what_the_released_row_shows(out, omop_release):
    rows = pq.read_table(omop_release.path / "people.parquet").to_pylist()
    people = {row["person_id"]: row for row in rows}
    homes = {x["location_id"]: x["zip"] for x in out["location"].to_pylist()}
    for one in out["person"].to_pylist():
        row = people[one["person_source_value"]]
        assert one["gender_concept_id"] == {"F": 8532, "M": 8507}[row["sex"]]
        age = AS_OF.year - one["year_of_birth"]
        ends = [int(end) for end in re.findall("[0-9]+", row["age"])]  # 16-29, 16 to 29, 16
        assert row["age"] == "any" or ends[0] <= age <= ends[-1]
        code = homes.get(one["location_id"])
        assert row["zip"].startswith(code) if code else not row["zip"].isdigit()


def test_the_same_people_through_omop_and_through_fhir(clinic, omop_release, fhir_release):
    """The same joint risk, and the same people released."""
    for name in ("subjects", "table", "joint", "joint_at_recall", "left_named"):
        figures = [x.private["figures"][name] for x in (fhir_release, omop_release)]
        assert figures[1] == pytest.approx(figures[0], rel=1e-12), name
    through = [pq.read_table(x.path / "people.parquet") for x in (fhir_release, omop_release)]
    names = [{*table["person_id"].to_pylist()} for table in through]
    by_fhir = {
        x.number for x in clinic.people if pseudonym(SECRET, person_id(x.number)) in names[0]
    }
    by_omop = {x.number for x in clinic.people if name_of(x.number) in names[1]}
    assert by_fhir == by_omop
    columns = [[t[n].to_pylist() for n in ("age", "sex", "race", "zip")] for t in through]
    assert Counter(zip(*columns[0], strict=True)) == Counter(zip(*columns[1], strict=True))


def test_known_facts_come_to_the_same_through_omop_and_through_fhir(omop_release, fhir_release):
    """Figures of all parts differ: OMOP has no prescriptions here."""
    informed = [
        {(x["part"], x["facts"]): (x["alone"], x["matches"]) for x in one.private["informed"]}
        for one in (fhir_release, omop_release)
    ]
    assert {part for part, _ in informed[0]} == {
        "people", "notes", "diagnoses", "readings", "prescriptions", "visits", "deaths", "days",
        "all parts", "DocumentReference",
    }  # fmt: skip
    both = ("people", "notes", "diagnoses", "readings", "visits", "deaths", "days")
    for key in ((name, facts) for name in both for facts in (1, 2, 3, None)):
        assert informed[0][key] == pytest.approx(informed[1][key]), key


# The carrier alone, without a kit or a table.


@pytest.fixture(scope="module")
def small():
    return make_clinic(3, 40)


def shift(person, day):
    return day + timedelta(days=date_shift(SECRET, person, days=30))


def carried(place, tmp_path, shown=lambda _: SHOWN, **asked):
    carrier = OmopCarrier(str(place), AS_OF, **asked)
    for name in ("in", "out", "scratch"):
        (tmp_path / name).mkdir()
    carrier.unpack(tmp_path / "in")
    released = ReleasedStudy(SECRET, shift, AS_OF, shown, repeat("a text"))
    return carrier.pack(released, tmp_path / "out", tmp_path / "scratch"), tmp_path / "out"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_of_files_returns_as_files_of_their_kind(small, tmp_path, form):
    (tmp_path / "export").mkdir()
    write_omop(small, tmp_path / "export", form)
    packed, out = carried(tmp_path / "export", tmp_path)
    assert {path.suffix for path in out.iterdir()} == {f".{form}"}
    for path in out.iterdir():
        assert open_source(path).read().num_rows == packed.rows[path.name]
    people = open_source(tmp_path / "in" / "people.parquet").read()
    in_order = sorted(small.people, key=lambda one: str(one.number))
    assert people["age"].to_pylist() == [one.age for one in in_order]


def test_the_order_of_rows_does_not_choose_those_of_a_person(small, tmp_path):
    found = []
    for seed in range(3):
        place = tmp_path / f"{seed}"
        (place / "export").mkdir(parents=True)
        for name, table in omop_tables(small).items():
            mixed = np.random.default_rng(seed).permutation(len(table))
            pq.write_table(table.take(mixed), place / "export" / f"{name}.parquet")
        packed, out = carried(place / "export", place, most_rows={"measurement": 1})
        assert packed.tallies["measurement"].set_aside[ABOVE_MOST] > 0
        people = pq.read_table(out / "person.parquet").to_pylist()
        names = {one["person_id"]: one["person_source_value"] for one in people}
        rows = pq.read_table(out / "measurement.parquet").to_pylist()
        columns = ("measurement_concept_id", "measurement_date", "value_as_number")
        found.append(sorted(repr([names[x["person_id"]], *map(x.get, columns)]) for x in rows))
        assert len({x["person_id"] for x in rows}) == len(rows)
    assert found[0] == found[1] == found[2]


def test_without_stays_all_days_of_a_row_are_its_first(small, tmp_path):
    (tmp_path / "export").mkdir()
    write_omop(small, tmp_path / "export", "parquet")
    before = OmopCarrier(str(tmp_path / "export"), AS_OF)
    assert any(len({*one.days}) > 1 for one in before.events(written=False))
    _, out = carried(tmp_path / "export", tmp_path, drops_stays=True)
    events = [*OmopCarrier(str(out), AS_OF).events(written=True)]
    stays = [one for one in events if one.type != "observation_period"]
    assert any(len(one.days) > 1 for one in stays)
    assert all(len({*one.days}) <= 1 for one in stays)


def test_a_canary_in_every_unlisted_column_reaches_nothing(small, tmp_path):
    (tmp_path / "export").mkdir()
    for name, table in omop_tables(small).items():
        for column, one in table_rules()[name].columns.items():
            dropped = one.rule == "drop" and pa.types.is_string(one.type)
            if dropped or column == "person_source_value":
                others = [name for name in table.column_names if name != column]
                canary = pa.array(["cAnArY"] * len(table))
                table = table.select(others).append_column(column, canary)
        table = table.append_column("own_column", pa.array(["cAnArY"] * len(table)))
        pq.write_table(table, tmp_path / "export" / f"{name}.parquet")
    pq.write_table(
        pa.table({"provider_name": ["cAnArY"]}), tmp_path / "export" / "provider.parquet"
    )
    _, out = carried(tmp_path / "export", tmp_path, form="csv")
    assert not any("canary" in path.read_text().lower() for path in out.iterdir())


def spoilt(tables, name, column, value):
    table = tables[name]
    at = table.schema.get_field_index(column)
    cells = table[column].to_pylist()
    cells[0] = value
    tables[name] = table.set_column(at, column, pa.array(cells))


@pytest.mark.parametrize(
    ("name", "column", "value", "error", "said"),
    [
        ("note", "person_id", None, RequestError, "note, row 1: a note without a subject"),
        ("measurement", "person_id", 10**6, RequestError,
         "measurement, row 1: refers to a person that the table person does not have"),
        ("person", "month_of_birth", 13, SourceError,
         "person, row 1: has a day of birth that is not a date"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_in_one_sentence(small, tmp_path, name, column, value, error, said):
    tables = dict(omop_tables(small))
    spoilt(tables, name, column, value)
    (tmp_path / "export").mkdir()
    for one, table in tables.items():
        pq.write_table(table, tmp_path / "export" / f"{one}.parquet")
    with pytest.raises(error) as caught:
        carried(tmp_path / "export", tmp_path)
    assert str(caught.value).startswith(said)


def test_a_cell_of_a_wrong_type_and_no_people_are_refused(small, tmp_path):
    (tmp_path / "export").mkdir()
    write_omop(small, tmp_path / "export", "csv")
    path = tmp_path / "export" / "measurement.csv"
    path.write_text(path.read_text().replace("3004249", "Anna"))
    with pytest.raises(
        SourceError, match=r"^measurement: column measurement_concept_id holds values that are not"
    ):
        carried(tmp_path / "export", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="there is no table person, or nobody in it"):
        OmopCarrier(str(tmp_path / "empty"), AS_OF).unpack(tmp_path)


def test_an_undated_visit_is_set_aside_and_nothing_refers_to_it(small, tmp_path):
    tables = dict(omop_tables(small))
    spoilt(tables, "visit_occurrence", "visit_end_date", None)
    (tmp_path / "export").mkdir()
    for one, table in tables.items():
        pq.write_table(table, tmp_path / "export" / f"{one}.parquet")
    packed, out = carried(tmp_path / "export", tmp_path)
    assert packed.tallies["visit_occurrence"].set_aside.total() == 1
    assert pq.read_table(out / "note.parquet")["visit_occurrence_id"].null_count == 1


@pytest.mark.whole
def test_a_schema_of_postgresql_there_and_back(small, tmp_path, server):  # noqa: F811
    pytest.importorskip("adbc_driver_postgresql")
    server.sql("CREATE SCHEMA cdm; CREATE SCHEMA released")
    (tmp_path / "sent").mkdir()
    for name, table in omop_tables(small).items():
        rows = pa.Table.from_pylist(table.to_pylist(), schema_of(name))
        pq.write_table(rows, tmp_path / "sent" / f"{name}.parquet")
    with send(server.address("cdm"), tmp_path / "sent", force=False) as publish:
        publish()
    packed, out = carried(server.address("cdm"), tmp_path)
    with send(server.address("released"), out, force=False):
        pass  # a run that stops here leaves nothing
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'released'"
    assert server.sql(tables) == "0"
    with send(server.address("released"), out, force=False) as publish:
        publish()
    for name, rows in packed.rows.items():
        table = name.removesuffix(".parquet")
        assert server.sql(f"SELECT count(*) FROM released.{table}") == str(rows)
    assert server.sql("SELECT count(*) FROM released.note WHERE note_text <> 'a text'") == "0"
    with (
        pytest.raises(RequestError, match=r"--force"),
        send(server.address("released"), out, force=False),
    ):
        pass
    with send(server.address("released"), out, force=True) as publish:
        publish()
    server.sql("COMMENT ON TABLE released.note IS NULL")
    with pytest.raises(RequestError), send(server.address("released"), out, force=True):
        pass


@pytest.mark.whole
def test_a_study_reads_one_schema_and_releases_into_another(
    base,
    clinic,
    omop_release,
    tmp_path,
    server,  # noqa: F811
):
    pytest.importorskip("adbc_driver_postgresql")
    server.sql("CREATE SCHEMA source; CREATE SCHEMA target")
    (tmp_path / "sent").mkdir()
    for name, table in omop_tables(clinic).items():
        rows = pa.Table.from_pylist(table.to_pylist(), schema_of(name))
        pq.write_table(rows, tmp_path / "sent" / f"{name}.parquet")
    with send(server.address("source"), tmp_path / "sent", force=False) as publish:
        publish()
    folder = prepare_export(base, tmp_path / "study", "omop", lambda _: None)
    plan = folder / "study.toml"
    there = f'source = "{server.address("source")}"\nto = "{server.address("target")}"'
    plan.write_text(plan.read_text().replace('source = "export"', there))
    study = Study.open(plan)
    study.fit()
    release = study.apply()
    assert release.private["figures"] == pytest.approx(omop_release.private["figures"], rel=1e-9)
    for name, one in release.public["export"]["files"].items():
        table = name.removesuffix(".parquet")
        assert server.sql(f"SELECT count(*) FROM target.{table}") == str(one["rows"])
    left = "SELECT count(*) FROM target.person WHERE gender_source_value IS NOT NULL"
    assert server.sql(left) == "0"
    assert init(server.address("source"), tmp_path / "found.toml").plan.is_file()
    assert StudyPlan.read_file(tmp_path / "found.toml").export.as_of == max(
        x.start for x in clinic.visits
    )


def test_notes_of_omop_have_made_up_names_of_a_table_of_names(omop, clinic):
    """The model has no names: those of the notes come from a list beside it."""
    plan = omop / "named.toml"
    plan.write_text(
        (omop / "study.toml")
        .read_text()
        .replace("[mentions]", '[names]\nsource = "names.csv"\n\n[mentions]')
    )
    (omop / "names.csv").write_text(
        "person_id,given_name,family_name\n"
        + "".join(f"{one.number},{one.given},{one.family}\n" for one in clinic.people)
    )
    study = Study.open(plan)
    study.fit()
    release = study.apply()
    made = made_up_names(StudyPlan.read_file(plan)).names
    assert len(set(made.values())) == len(clinic.people)
    own = {name_of(one.number): made[str(one.number)].family for one in clinic.people}
    out = {p.stem: pq.read_table(p) for p in (release.path / "export").iterdir()}
    names = dict(
        zip(
            out["person"]["person_id"].to_pylist(),
            out["person"]["person_source_value"].to_pylist(),
            strict=True,
        )
    )
    found = [own[names[row["person_id"]]] in row["note_text"] for row in out["note"].to_pylist()]
    assert sum(found) >= 0.95 * len(found)


def test_omop_without_a_table_of_names_is_refused(omop, tmp_path):
    plan = tmp_path / "study.toml"
    text = (omop / "study.toml").read_text()
    plan.write_text(text.replace("[mentions]", "[names]\n\n[mentions]"))
    with pytest.raises(RequestError, match="OMOP has no names: name a table that has them"):
        StudyPlan.read_file(plan)
