"""What the texts of a released study say, beside what the rows of their people show."""

from __future__ import annotations

import json
import re
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import NOTE_ROLES, SECRET, rows

from voile.core.errors import RequestError, VoileError
from voile.demo.notes import in_words
from voile.keys.pseudonyms import pseudonym
from voile.study.risk.measure import PartResidue, _chance_left
from voile.study.verbs import writing


def said_in(age, text):
    """Whether a text says an age as its row does; one year may stand in words."""
    return age in text or (age.isdecimal() and in_words(int(age)) in text)


def test_a_note_says_of_an_age_what_its_row_says(cohort, release):
    visits, _ = rows(release, "visits")
    shown = set(zip(visits["person_id"].to_pylist(), visits["age"].to_pylist(), strict=True))
    notes, numbers = rows(release, "notes")
    source = pq.read_table(cohort / "notes.parquet").take(numbers)
    found = 0
    for text, who in zip(notes["note"].to_pylist(), notes["person_id"].to_pylist(), strict=True):
        own = [age for one, age in shown if one == who and said_in(age, text)]
        found += bool(own) or "[AGE]" in text
    assert found == notes.num_rows
    birth = [s for x in source["spans"].to_pylist() for s in json.loads(x) if s["label"] == "DOB"]
    assert sum(text.count("[DOB]") for text in notes["note"].to_pylist()) == len(birth) > 0


def test_a_kit_that_sees_nothing_in_a_text_may_have_missed_it():
    """Of people: two mentions seen, none seen in a text, no text at all."""
    seen = {"a": Counter(AGE=2), "b": Counter()}
    part = PartResidue(seen, 0.1)
    assert _chance_left(["a", "b", "c"], [part], {"AGE"}).tolist() == pytest.approx([0.19, 0.1, 0])
    assert _chance_left(["b"], [PartResidue(seen, 1.0)], set()).tolist() == [1.0]


def test_a_proved_limit_is_of_the_types_that_readers_looked_for():
    """Of two parts: one is proved, the other is left as its kit was measured."""
    seen = {"a": Counter(AGE=2, SEX=1)}
    proved = PartResidue(seen, 1.0, 0.05, frozenset({"AGE"}))
    assert _chance_left(["a", "b"], [proved], {"AGE"}).tolist() == pytest.approx([0.05, 0])
    assert _chance_left(["a"], [proved], {"AGE", "SEX"}).tolist() == [1.0]
    both = [proved, PartResidue(seen, 0.1)]
    assert _chance_left(["a"], both, {"AGE"}).tolist() == pytest.approx([1 - 0.95 * 0.81])


def test_a_text_column_returns_in_its_own_row(change, folder):
    study = change(('source = "notes.parquet"', 'of = "visits"\ntext = "remark"'))
    study.fit(force=True)
    release = study.apply()
    table, numbers = rows(release, "visits")
    source = pq.read_table(folder / "visits.parquet").take(numbers)
    assert table.column_names[-1] == "remark"
    for text, age, diagnosis in zip(
        *(table[n].to_pylist() for n in ("remark", "age", "diagnosis")), strict=True
    ):
        assert said_in(age, text) or "[AGE]" in text or age == "any"
        assert diagnosis in text or "was well" in text or "Discharge" in text
    names = source["family_name"].to_pylist()
    left = [name in text for name, text in zip(names, table["remark"].to_pylist(), strict=True)]
    assert sum(left) <= 0.05 * len(left)


def test_texts_in_their_rows_are_not_counted_among_the_kept_columns(change, folder):
    roles = folder / "visits.toml"
    roles.write_text(roles.read_text().replace('visit_date = "keep" ', 'visit_date = "drop" '))
    study = change(('source = "notes.parquet"', 'of = "visits"\ntext = "remark"'))
    study.fit(force=True)
    release = study.apply()
    assert "remark" in pq.read_schema(release.path / "visits.parquet").names
    assert not [says for says, holds in study.verify() if holds is False]


@pytest.mark.parametrize(
    ("column", "said"),
    [("seen", "seen would be released with the texts: a date"), ("age", "age would be released")],
)
def test_columns_beside_notes_may_not_say_what_the_policy_hides(folder, change, column, said):
    roles = {**NOTE_ROLES["columns"], column: "keep"}
    (folder / "notes-roles.toml").write_text(
        'subject = "person_id"\n[columns]\n'
        + "".join(f'{n} = "{r}"\n' for n, r in roles.items() if isinstance(r, str))
        + 'note = { role = "text", spans = "spans" }\n'
    )
    notes, visits = (pq.read_table(folder / f"{n}.parquet") for n in ("notes", "visits"))
    more = visits[{"seen": "visit_date"}.get(column, column)]
    pq.write_table(notes.append_column(column, more), folder / "notes.parquet")
    study = change(("0.05 }", '0.05 }\napply = { roles = "notes-roles.toml" }'))
    study.fit(force=True)
    with pytest.raises(RequestError, match=said):
        study.apply()
    assert not list(folder.glob("*.release*"))


def test_a_mention_that_says_more_than_its_row_stops_the_release(folder, change, monkeypatch):
    """The certificate counts on what was written: it does not take the writer's word."""

    class Careless(writing.MentionRules):
        def write(self, subject, label, value):
            return value

    monkeypatch.setattr(writing, "MentionRules", Careless)
    with pytest.raises(VoileError, match="a mention of AGE says more than its person's row"):
        change().apply()
    assert not list(folder.glob("*.release*"))


def test_a_sex_that_is_merged_is_written_neutrally_and_measured(change):
    """No kit need learn it: its reader finds pronouns, titles and nouns by itself."""
    study = change(
        ("max_relative_risk = 0.2", "policy = 0"),
        ('SEX = { column = "sex", keep = true }', 'SEX = "sex"'),
    )
    study.fit(force=True)
    release = study.apply()
    notes, _ = rows(release, "notes")
    texts = " ".join(notes["note"].to_pylist())
    assert "They was seen" in texts
    assert not re.search(r"\b(She|He|Mrs|Mr)\b", texts)
    [found] = release.public["guesses"]
    assert found["column"] == "sex"
    assert found["low"] <= found["accuracy"] <= found["high"]
    assert any("guesses sex from the texts" in one for one in release.public["assumptions"])


def test_a_sex_that_texts_still_say_counts_as_known(change, folder):
    (folder / "allow.txt").write_text("She\nHe\n")
    study = change(
        ("max_relative_risk = 0.2", "policy = 0"),
        ("0.05 }", '0.05 }\napply = { allow = "allow.txt" }'),
        ('\nSEX = { column = "sex", keep = true }', ""),
    )
    study.fit(force=True)
    release = study.apply()
    [found] = release.public["guesses"]
    assert found["low"] > found["chance"]
    figures = release.private["figures"]
    assert figures["joint"] > figures["table"]


def test_a_race_that_texts_state_counts_as_known_of_these_people(change, folder):
    visits = pq.read_table(folder / "visits.parquet", columns=["person_id", "race"])
    race = dict(zip(*(x.to_pylist() for x in visits.columns), strict=True))
    notes = pq.read_table(folder / "notes.parquet")
    who = notes["person_id"].to_pylist()
    some = set(sorted(race)[::2])
    texts = [
        f"{text} A {race[one].lower()} patient ." if one in some else text
        for one, text in zip(who, notes["note"].to_pylist(), strict=True)
    ]
    at = notes.column_names.index("note")
    pq.write_table(notes.set_column(at, "note", pa.array(texts)), folder / "notes.parquet")
    study = change(("max_relative_risk = 0.2", "policy = 0"))
    study.fit(force=True)
    fitted = study.frontier.to_pylist()[0]
    assert fitted["joint"] > fitted["table"]
    release = study.apply()
    [found] = release.public["stated"]
    assert found["column"] == "race"
    assert found["share"] == pytest.approx(len(some) / len(race), abs=0.05)
    figures = release.private["figures"]
    assert figures["joint"] > figures["table"]
    assert any("the texts state race" in one for one in release.public["assumptions"])


def test_surrogate_dates_of_another_offset_are_refused(change):
    study = change(
        ("date_shift_days = 30", 'date_shift_days = 30\ndates = "weeks"'),
        ('DATE = "shift"\n', ""),
        ("0.05 }", '0.05 }\napply = { replace = "surrogate" }'),
    )
    study.fit(force=True)
    with pytest.raises(RequestError, match="surrogates of DATE would move by another offset"):
        study.apply()


def test_a_day_of_birth_is_marked_though_other_dates_get_surrogates(change, cohort):
    """A moved day of birth next to a moved visit reveals the age to the day."""
    study = change(('DOB = "drop"\n', ""), ("0.05 }", '0.05 }\napply = { replace = "surrogate" }'))
    study.fit(force=True)
    notes, numbers = rows(study.apply(), "notes")
    source = pq.read_table(cohort / "notes.parquet").take(numbers)
    born = [s for x in source["spans"].to_pylist() for s in json.loads(x) if s["label"] == "DOB"]
    marked = sum(text.count("[BIRTHDATE]") for text in notes["note"].to_pylist())
    assert marked == len(born) > 0


def test_names_in_columns_and_in_texts_become_the_same(change, folder):
    study = change(("[mentions]", "[names]\n\n[mentions]"))
    study.fit(force=True)
    release = study.apply()
    visits, numbers = rows(release, "visits")
    source = pq.read_table(folder / "visits.parquet").take(numbers)
    made = {}
    for who, old, *new in zip(
        *(source[n].to_pylist() for n in ("person_id", "family_name")),
        *(visits[n].to_pylist() for n in ("given_name", "family_name")),
        strict=True,
    ):
        assert made.setdefault(who, tuple(new)) == tuple(new)
        assert old != new[1]
    assert len(set(made.values())) == len(made)
    notes, numbers = rows(release, "notes")
    source = pq.read_table(folder / "notes.parquet").take(numbers)
    found = [
        made[who][1] in text
        for who, text in zip(
            source["person_id"].to_pylist(), notes["note"].to_pylist(), strict=True
        )
    ]
    assert sum(found) >= 0.95 * len(found)
    assert [one.says for one in study.verify() if one.holds is False] == []


def test_names_that_would_join_parts_are_refused(change):
    with pytest.raises(RequestError, match="a made-up name joins the parts"):
        change(("seed = 1", "seed = 1\njoin = false"), ("[mentions]", "[names]\n\n[mentions]"))


def test_a_city_of_a_list_is_written_as_the_rows_codes_or_marked(change, folder):
    """No kit learnt cities: those of the list are found in every text."""
    notes = pq.read_table(folder / "notes.parquet")
    texts = [f"{text} Back home in Oakfield ." for text in notes["note"].to_pylist()]
    at = notes.schema.get_field_index("note")
    pq.write_table(notes.set_column(at, "note", pa.array(texts)), folder / "notes.parquet")
    codes = sorted(set(pq.read_table(folder / "visits.parquet")["zip"].to_pylist()))
    rows_of_city = "".join(f"Oakfield,{code}\n" for code in codes[: len(codes) // 2])
    (folder / "cities.csv").write_text(f"words,zip\n{rows_of_city}")
    study = change(('ZIP = "zip"', 'ZIP = "zip"\nCITY = { column = "zip", words = "cities.csv" }'))
    study.fit(force=True)
    release = study.apply()
    notes, _ = rows(release, "notes")
    visits, _ = rows(release, "visits")
    shown = dict(zip(visits["person_id"].to_pylist(), visits["zip"].to_pylist(), strict=True))
    ends = Counter()
    for text, who in zip(notes["note"].to_pylist(), notes["person_id"].to_pylist(), strict=True):
        end = text.rpartition("Back home in ")[2].removesuffix(" .")
        ends[end == "[CITY]"] += 1
        says_less = shown[who] in codes[: len(codes) // 2]  # than the one code of the row
        assert end == ("Oakfield" if says_less else shown[who]) or end == "[CITY]"
    assert ends[True] > 0
    assert ends[False] > 0
    assert release.public["mentions"]["notes"]["recognised"]["CITY"] == notes.num_rows


def test_values_of_a_column_are_looked_for_in_texts(change, folder):
    notes = pq.read_table(folder / "notes.parquet").slice(0, 1)
    whose = notes["person_id"][0].as_py()
    visits = pq.read_table(folder / "visits.parquet").to_pylist()
    own = next(one["race"] for one in visits if one["person_id"] == whose)
    other = next(one["race"] for one in visits if one["race"] != own)
    at = notes.column_names.index("note")
    said = pa.array([f"{notes['note'][0].as_py()} A {own} person , not {other.upper()} ."])
    pq.write_table(notes.set_column(at, "note", said), folder / "notes.parquet")
    study = change(('ZIP = "zip"', 'ZIP = "zip"\nRACE = { column = "race", values = true }'))
    study.fit(force=True)
    made = study.apply()
    [text] = pq.read_table(made.path / "notes.parquet")["note"].to_pylist()
    rows = pq.read_table(made.path / "visits.parquet").to_pylist()
    shown = {one["race"] for one in rows if one["person_id"] == pseudonym(SECRET, whose)}
    assert other.upper() not in text
    assert any(one in text for one in {*shown, "[RACE]"})


def test_a_list_of_words_without_its_column_is_refused(change, folder):
    (folder / "cities.csv").write_text("city,zip\nOakfield,00214\n")
    study = change(('ZIP = "zip"', 'ZIP = "zip"\nCITY = { column = "zip", words = "cities.csv" }'))
    study.fit(force=True)
    with pytest.raises(RequestError, match=r"cities\.csv: the list of words has no column words"):
        study.apply()
    assert not list(folder.glob("*.release*"))


def test_recall_of_planted_mentions_is_stated_by_form(release):
    found = {(x["label"], x["form"]): x["found"] for x in release.public["planted"]["notes"]}
    assert {x["of"] for x in release.public["planted"]["notes"]} == {50}
    for form in ("digits", "turned 18", "a decade", "implied: retired", "spelled out"):
        assert found["AGE", form] == 50
    assert found["AGE", "paraphrase: forty-something"] == 50  # the whole unit goes with forty
    assert found["ZIP", "a ZIP code + 4"] == 50
    assert not any(label == "SEX" for label, _ in found)  # which the texts are to keep
