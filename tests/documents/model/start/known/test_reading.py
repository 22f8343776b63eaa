"""Columns and cells: which kind of value a column holds, and what a cell holds of it."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import DamagedError, RequestError
from voile.data import open_source
from voile.documents.model.start.known.known_values import KnownValues, KnownValuesWarning
from voile.documents.text.document import Document


def read(table: pa.Table, by: str | None = "pid", **more) -> KnownValues:
    return KnownValues.read(open_source(table), by, **more)


def proposed(known: KnownValues, text: str, subject: str | None = "1") -> list[str]:
    return [
        text[one.start : one.end] for one in known.propose([Document(text, subject=subject)])[0]
    ]


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("surname", ["Qwertz", "Asdf"], "name"),
        ("apellidos", ["De la Cruz", None], "name"),
        ("attending", ["Quux, Zed", "Xyzzy, F"], "name"),
        ("contact_person", ["Maria Garcia", "John Smith", "Ana Lopez"], "name"),
        ("x1", ["212-555-0147", "(212) 555-0199"], "phone"),
        ("mobile", ["5550147", "5550199"], "phone"),
        ("x2", ["a@b.org", "c@d.org"], "email"),
        ("email_address", ["a@b.org", "c@d.org"], "email"),
        ("x3", ["1963-10-03", "1970-02-01"], "date"),
        ("x4", [dt.date(1963, 10, 3), dt.date(1970, 2, 1)], "date"),
        ("dob", ["19631003", "19700201"], "date"),
        ("dob", [19631003, None], "date"),
        ("mobile", [34612345678.0, None], "phone"),
        ("mrn", ["0012", "A-77123"], "id"),
        ("folio", [f"28 28 {n}" for n in range(20_943, 20_960)], "id"),
        ("street", ["12 Elm Street", "Calle Mayor 3"], "address"),
        ("home_addr", ["12 Elm Street", "Calle Mayor 3"], "address"),
        ("city", ["Madrid", "Ourense"], "place"),
        ("hospital name", ["Hospital del Mar", "General"], "organisation"),
        ("sex", ["f", "m"], None),
        ("age", [51, 32], None),
        ("weight", [71.5, 80.25], None),
        ("mrn", [71.5, 80.0], None),
        ("drug_name", ["Aspirin", "Ibuprofen"], None),
        ("diagnosis", ["asthma", "gout"], None),
        ("note", [None, None], None),
    ],
)
def test_a_columns_kind_is_proposed_by_its_name_and_values(column, values, kind):
    people = [str(number) for number in range(len(values))]
    known = read(pa.table({"pid": people, "first": ["Zoe"] * len(values), column: values}))
    assert known.kinds.get(column) == kind


def test_what_a_user_says_of_a_column_holds():
    table = pa.table({"pid": ["1"], "ward": ["Quartz"], "first": ["Zoe"]})
    known = read(table, kinds={"ward": "place", "first": "none"})
    assert known.kinds == {"ward": "place"}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"wrad": "place"}, "there is no column wrad"),
        ({"ward": "plaice"}, "no kind of known value is called plaice; use name, date, phone"),
    ],
)
def test_a_kind_or_column_that_is_none_is_refused(said, sentence):
    with pytest.raises(RequestError, match=sentence):
        read(pa.table({"pid": ["1"], "ward": ["Quartz"]}), kinds=said)


def test_a_table_of_patients_needs_the_column_that_links_it():
    table = pa.table({"pid": ["1"], "first": ["Zoe"]})
    with pytest.raises(RequestError, match="no column gives the subject of each row"):
        read(table, None)
    with pytest.raises(RequestError, match="there is no column patient"):
        read(table, "patient")


def test_a_table_without_rows_is_refused():
    table = pa.table({"pid": ["1"], "first": ["Zoe"]})
    with pytest.raises(RequestError, match="the table of known columns has no rows"):
        read(table.slice(0, 0))


def test_a_table_without_known_values_is_refused():
    with pytest.raises(RequestError, match="no column contains names, dates or numbers of people"):
        read(pa.table({"who": ["1"], "sex": ["f"]}), "who")


@pytest.mark.parametrize("whose", [["1", "2"], [1, 2], [1.0, None], [" 1", "2 "], ["1.0", None]])
def test_subjects_are_linked_however_the_table_writes_them(whose):
    known = read(pa.table({"pid": whose, "surname": ["Quinn", "Ortega"]}))
    assert proposed(known, "Quinn and Ortega") == ["Quinn"]


@pytest.mark.parametrize(
    ("column", "value", "written"),
    [
        ("mobile", 34612345678.0, "612 345 678"),
        ("mobile", "34612345678.0", "+34 612 345 678"),
        ("mobile", 34612345678, "612-34-56-78"),
        ("mrn", 36850.0, "0036850"),
        ("dob", "19631003", "3 October 1963"),
        ("dob", "19631003120500", "10/3/63"),
        ("dob", 19631003.0, "3.10.1963"),
    ],
)
def test_numbers_and_days_are_found_however_software_exports_them(column, value, written):
    table = pa.table({"pid": ["1", "2"], "surname": ["Quinn", None], column: [value, None]})
    assert proposed(read(table), f"Noted: {written}.") == [written]


def test_the_number_that_links_a_row_is_looked_for_as_well():
    known = read(pa.table({"mrn": [4417702, 4417703], "sex": ["f", "m"]}), "mrn")
    assert proposed(known, "NHC 44-17702 and 4417703.", "4417702") == ["44-17702"]


def test_a_frame_is_a_table():
    known = KnownValues.read(open_source(pd.DataFrame({"pid": [1], "surname": ["Quinn"]})), "pid")
    assert proposed(known, "Quinn came.") == ["Quinn"]


def test_placeholders_and_what_is_in_every_note_are_looked_for_nowhere():
    cells = [None, "", " ", "n/a", "Unknown", "desconocido", "-", "X", "12", "Quinn" * 100_000]
    known = read(pa.table({"pid": ["1"] * len(cells), "surname": cells, "mrn": cells}))
    assert proposed(known, "Unknown X of 12, n/a: - desconocido. Quinn.") == []


def test_a_cell_may_hold_several_values_and_a_value_several_columns():
    table = pa.table(
        {"pid": ["1", "1"], "mail": ["a@b.org; c@d.org", None], "surname": ["Quinn", "Quinn"]}
        | {"full name": ["Zoe Quinn", "Zoe Quinn"]}
    )
    known = read(table)
    note = Document("Zoe, Quinn: c@d.org", subject="1")
    (found,) = known.propose([note])
    assert [str(reason) for reason in found[0].by] == ["known full name", "known surname"]
    assert proposed(known, "a@b.org or C@D.org") == ["a@b.org", "C@D.org"]


@pytest.mark.parametrize(("between", "found"), [("; ", ["Zoe Quartz"]), ("\n", []), (" ", [])])
def test_a_long_list_is_a_list_and_a_long_text_is_none(between, found):
    family = between.join(
        [*(f"Wyx{'abcdefghijklmnopqrstuv'[n]} Vluth" for n in range(20)), "Zoe Quartz"]
    )
    known = read(
        pa.table({"pid": ["1", "2"], "family_name": [family, "Bo Ruiz"]}),
        kinds={"family_name": "name"},
    )
    assert proposed(known, "seen with Zoe Quartz today") == found


def test_people_known_to_all_notes_are_looked_for_in_all():
    staff = open_source(pa.table({"surname": ["Ortega Ruiz"], "given": ["Eva"]}))
    known = KnownValues.read(None, people=staff)
    assert proposed(known, "Dr. Ortega and Eva Ruiz", None) == ["Ortega", "Eva Ruiz"]
    both = read(pa.table({"pid": ["1"], "surname": ["Quinn"]}), people=staff)
    assert proposed(both, "Quinn saw Eva Ortega", "1") == ["Quinn", "Eva Ortega"]
    assert set(both.kinds) == {"surname", "arrow frame: surname", "given"}


@pytest.mark.parametrize("texts", [[], [""], ["", "Quinn", ""], ["\n"], ["."]])
def test_few_and_empty_notes_are_searched(texts):
    known = read(pa.table({"pid": ["1"], "surname": ["Quinn"], "born": ["1963-10-03"]}))
    found = known.propose([Document(text, subject="1") for text in texts])
    assert [len(removals) for removals in found] == [int(text == "Quinn") for text in texts]


def test_columns_say_how_many_notes_they_meet():
    table = pa.table({"pid": ["1"], "surname": ["Quinn"], "phone": ["212-555-0147"]})
    known = read(table)
    known.propose([Document("Quinn", subject="1"), Document("Quinn", subject="2")])
    assert known.hits == {"phone": 0, "surname": 1}
    with pytest.warns(
        KnownValuesWarning, match="meet no note: phone; [^;]*meet: surname 1; 1 of 2 notes"
    ):
        known.check()


def test_the_number_that_links_rows_to_notes_need_not_stand_in_one(recwarn):
    known = read(pa.table({"record number": ["100712"], "surname": ["Quinn"]}), "record number")
    known.propose([Document("Quinn", subject="100712")])
    assert known.hits == {"record number": 0, "surname": 1}
    known.check("record number")
    assert not [one for one in recwarn if one.category is KnownValuesWarning]


def test_columns_that_meet_no_note_at_all_are_refused_in_one_sentence():
    known = read(pa.table({"pid": ["1"], "surname": ["Quinn"], "phone": ["212-555-0147"]}))
    known.propose([Document("Quinn 212-555-0147", subject="p1")])
    with pytest.raises(RequestError) as error:
        known.check()
    assert str(error.value) == (
        "the known columns meet no note (phone 0, surname 0); 0 of 1 notes have a subject in the "
        "table; check --by, --subject or --subject-pattern, and --known-kind"
    )


def test_a_table_holds_all_that_is_needed(tmp_path):
    table = pa.table({"pid": ["1", "2"], "surname": ["May", "Quinn"], "born": ["3/10/1963", None]})
    known = read(table)
    notes = [
        Document("May I see May? Ms. May, 3 October 1963.", subject="1"),
        Document("She may. They may. Quinn, Quinm.", subject="2"),
    ]
    expected = known.propose(notes)
    pq.write_table(known.to_table(), tmp_path / "known.parquet")
    again = KnownValues.from_table(pq.read_table(tmp_path / "known.parquet"))
    assert [again.propose([note])[0] for note in notes] == expected
    assert again.to_table().equals(known.to_table())


@pytest.mark.parametrize("column", ["surname", "born"])
def test_a_table_of_one_kind_that_searched_no_note_is_read_back(column):
    table = pa.table({"pid": ["1"], column: ["Quinn" if column == "surname" else "3/10/1963"]})
    again = KnownValues.from_table(read(table).to_table())
    assert len(proposed(again, "Quinn, born 3 October 1963.")) == 1


def test_a_table_of_another_form_is_refused():
    known = read(pa.table({"pid": ["1"], "born": ["1963-10-03"]}))
    whole = known.to_table()
    others = {"kind": "trick", "value": "none", "column": None}
    damaged = [
        whole.set_column(whole.column_names.index(name), name, pa.array([other], pa.string()))
        for name, other in others.items()
    ]
    for table in (whole.drop_columns("kind"), *damaged):
        with pytest.raises(DamagedError, match="the known values are not whole"):
            KnownValues.from_table(table)
