"""Ages that are planted in notes, by form: which a notes' kit finds, and which the reader reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.study_joint import LEARN, NOTE_ROLES, OTHERS
from benchmarks.tables import save

import voile.documents
from voile.demo.county import make_county
from voile.demo.notes import in_words, make_notes
from voile.study.adversary.readings import read
from voile.study.text.mentions import find_value

PEOPLE = 300
FORMS = {
    "digits: a {n}-year-old": ("Known to be a {}-year-old .", "{n}"),
    "digits: aged {n}": ("Known , aged {} .", "{n}"),
    "spelled out: aged forty-seven": ("Known , aged {} .", "{w}"),
    "spelled out: forty-seven years old": ("The patient is {} years old .", "{w}"),
    "turned {n}": ("The patient turned {} in May .", "{n}"),
    "turned forty-seven": ("The patient turned {} in May .", "{w}"),
    "{n}th birthday": ("Seen after the {}th birthday .", "{n}"),
    "a decade: in the forties": ("A patient in the {} .", "forties"),
    "implied: retired": ("The patient is {} .", "retired"),
}


def main() -> None:
    county = make_county(people=40_000)
    people = sorted(county.patients["person_id"].unique().to_pylist())
    own, others = (
        county.patients.filter(pc.is_in(county.patients["person_id"], pa.array(some)))
        for some in (people[:PEOPLE], people[PEOPLE : PEOPLE + OTHERS])
    )
    kit = voile.documents.fit(make_notes(2, others), NOTE_ROLES, **LEARN)
    policy = kit.choose(max_relative_risk=0.02)
    rows = [(form, *measured(kit, policy, own, *FORMS[form])) for form in FORMS]
    save(
        "study_mentions",
        f"One age planted in a sentence at the end of each of {len(own):,} notes, by form.",
        ("form", "found by the kit", "read into the table's domain", "read by the adversary"),
        rows,
        f"The kit learnt from notes of {OTHERS} other people, whose ages stand in digits and in "
        "words. Found: some removal covers it. Read: `find_value` of the mention alone; what it "
        "does not read is marked where it was found. The adversary reads the sentence as written.",
    )


def measured(kit, policy, own: pa.Table, sentence: str, said: str) -> tuple[str, str, str]:
    ages = own["age"].to_pylist()
    mentions = [said.format(n=age, w=in_words(age)) for age in ages]
    planted = [sentence.format(one) for one in mentions]
    notes = make_notes(1, own)
    texts = [
        f"{note} {more}" for note, more in zip(notes["note"].to_pylist(), planted, strict=True)
    ]
    places = [text.rindex(one) for text, one in zip(texts, mentions, strict=True)]
    table = notes.set_column(2, "note", pa.array(texts))
    found = covered(kit, policy, table, places, mentions)
    into = sum(
        (value := find_value("AGE", one)) is not None and value[2] == str(age)
        for one, age in zip(mentions, ages, strict=True)
    )
    reads = sum(
        any(x.what == "age" and x.cell == str(age) for x in read(one))
        for one, age in zip(planted, ages, strict=True)
    )
    return tuple(f"{n / len(ages):.0%}" for n in (found, into, reads))


def covered(kit, policy, table: pa.Table, places: list[int], mentions: list[str]) -> int:
    """Count the planted mentions that a removal of the kit covers whole."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "notes.parquet", Path(folder) / "out.parquet"
        pq.write_table(table, source)
        kit.apply(policy, source, out, keep_order=True)
        removed = pq.read_table(f"{out}.private/removals.parquet").to_pylist()
    spans: dict[int, list[tuple[int, int]]] = {}
    for one in removed:
        spans.setdefault(one["row"], []).append((one["start"], one["end"]))
    return sum(
        any(a <= place and place + len(said) <= b for a, b in spans.get(row, ()))
        for row, (place, said) in enumerate(zip(places, mentions, strict=True))
    )


if __name__ == "__main__":
    main()
