"""Every unreleased value of a person goes from the person's texts, whatever its header."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.data import open_source
from voile.documents.text.document import Document
from voile.study.plan.entries import MentionEntry
from voile.study.text.lookups import BORN, PersonLookups, unreleased_of

PEOPLE = 40
LETTERS = "bcdfghklmnprst"


def made_word(rng) -> str:
    return "".join(rng.choice(list(LETTERS), 4)).capitalize() + "".join(
        rng.choice(list("aeiou"), 3)
    )


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    words = [made_word(rng) for _ in range(2 * PEOPLE)]
    return pa.table(
        {
            "pid": [str(n) for n in range(PEOPLE)],
            "q1": words[:PEOPLE],
            "q2": [f"{one}{100 + n}" for n, one in enumerate(words[PEOPLE:])],
            "q3": [f"AB-{rng.integers(10**6, 10**7)}" for _ in range(PEOPLE)],
            "q4": [f"19{40 + n}-03-{1 + n % 28:02}" for n in range(PEOPLE)],
            "group": ["Northern" if n % 2 else "Southern" for n in range(PEOPLE)],
            "shown": [made_word(rng) for _ in range(PEOPLE)],
        }
    )


ROLES = {"pid": "identifier", "q1": "drop", "q2": "identifier", "q4": "quasi", "group": "quasi",
         "shown": "keep"}  # fmt: skip


def find(people, text, mentions=None):
    """Return the remaining text of each person, where `text` is made of the person's row."""
    documents = [Document(text(row), subject=row["pid"]) for row in people.to_pylist()]
    table = unreleased_of("people", open_source(people), "pid", ROLES)
    lookups = PersonLookups.of([table], mentions or {}, documents)
    left = []
    for document, own in zip(documents, lookups(documents), strict=True):
        said = document.text
        for one in reversed(own):
            said = f"{said[: one.start]}[{one.label}]{said[one.end :]}"
        left.append(said)
    return left


def test_names_of_two_columns_without_a_header_go(people):
    left = find(people, lambda row: f"Seen today: {row['q1']} {row['q2']}, with cough.")
    assert set(left) == {"Seen today: [NAME], with cough."}


def test_one_name_goes_and_one_without_its_digits(people):
    left = find(people, lambda row: f"Spoke to {row['q1']}; {row['q2'].rstrip('0123456789')} left.")
    assert set(left) == {"Spoke to [NAME]; [NAME] left."}


def test_a_column_that_no_role_names_is_dropped_and_goes(people):
    left = find(people, lambda row: f"Code {row['q3'].replace('-', ' ')} on file.")
    assert set(left) == {"Code [ID] on file."}


def test_a_generalised_day_goes_under_the_type_that_the_plan_drops(people):
    def text(row):
        year, month, day = row["q4"].split("-")
        return f"Came on {day}/{month}/{year}."

    assert set(find(people, text)) == {f"Came on [{BORN}]."}
    assert set(find(people, text, {"DOB": MentionEntry()})) == {"Came on [DOB]."}
    shifted = {"DATE": MentionEntry(shift=True)}
    assert set(find(people, text, shifted)) == {f"Came on [{BORN}]."}


def test_shared_and_released_values_and_those_that_a_text_may_keep_stay(people):
    left = find(people, lambda row: f"From {row['group']} {row['shown']}.")
    assert left == [f"From {x['group']} {x['shown']}." for x in people.to_pylist()]
    kept = find(
        people, lambda row: f"On {row['q4']}.", {"DAY": MentionEntry(column="q4", keep=True)}
    )
    assert kept == [f"On {x['q4']}." for x in people.to_pylist()]


def test_another_persons_value_stays(people):
    other = people.column("q1")[1].as_py()
    left = find(people, lambda _: f"Referred by {other}.")
    assert [x == "Referred by [NAME]." for x in left] == [n == 1 for n in range(PEOPLE)]


def test_a_study_removes_the_values_of_a_dropped_column_of_another_part(change, folder):
    """No kit learnt such words, and the column's header says nothing."""
    visits = pq.read_table(folder / "visits.parquet")
    rng = np.random.default_rng(7)
    who = visits["person_id"].to_pylist()
    words = {one: made_word(rng) for one in sorted(set(who))}
    pq.write_table(
        visits.append_column("x9", pa.array([words[one] for one in who])),
        folder / "visits.parquet",
    )
    notes = pq.read_table(folder / "notes.parquet")
    texts = [
        f"{text} Also known as {words[one]} ."
        for one, text in zip(*(notes[n].to_pylist() for n in ("person_id", "note")), strict=True)
    ]
    at = notes.column_names.index("note")
    pq.write_table(notes.set_column(at, "note", pa.array(texts)), folder / "notes.parquet")
    (folder / "visits.toml").write_text((folder / "visits.toml").read_text() + 'x9 = "drop"\n')
    study = change()
    study.fit(force=True)
    release = study.apply()
    written = (release.path / "notes.parquet").read_bytes()
    left = " ".join(pq.read_table(release.path / "notes.parquet")["note"].to_pylist())
    assert written
    assert not any(word in left for word in words.values())
