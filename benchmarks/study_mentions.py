"""Mentions that are planted in notes, by form: which are found, and which are read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.study_joint import LEARN, NOTE_ROLES, OTHERS
from benchmarks.tables import save

import voile.documents
from voile.demo.county import make_county
from voile.demo.notes import in_words, make_notes
from voile.documents.patterns.pattern import find
from voile.study.adversary.readings import read_clues
from voile.study.readers import MentionFinder, MentionReader, reader_of

PEOPLE = 300
CITIES = {"Oakfield": "002", "New Elm": "003", "Port Hazel": "004"}
"""Made-up cities, and how the ZIP codes of each begin."""
CODES: dict[str, tuple[str, ...]] = {}
"""The ZIP codes of each city."""
DECADES = (
    *("teens", "twenties", "thirties", "forties", "fifties"),
    *("sixties", "seventies", "eighties", "nineties"),
)
JOBS = {"nurse": "care", "ward sister": "care", "welder": "trades", "roofer": "trades"}


@dataclass(frozen=True)
class Form:
    """A form of a mention: the sentence, what stands in it, and the cells that it leaves."""

    name: str
    label: str
    sentence: str
    said: Callable[[Mapping[str, Any]], str]
    cells: Callable[[Mapping[str, Any]], set[str]] | None


def _decade(row: Mapping[str, Any]) -> str:
    return DECADES[min(max(row["age"] // 10, 1), 9) - 1]


def _years(row: Mapping[str, Any]) -> set[str]:
    tens = min(max(row["age"] // 10, 1), 9)
    return {str(n) for n in range(13 if tens == 1 else 10 * tens, 10 * tens + 10)}


def _age(row: Mapping[str, Any]) -> set[str]:
    return {str(row["age"])}


def _digits(row: Mapping[str, Any]) -> str:
    return str(row["age"])


def _spelt(row: Mapping[str, Any]) -> str:
    return in_words(row["age"])


FORMS = (
    Form("digits: a 47-year-old", "AGE", "Known to be a {}-year-old .", _digits, _age),
    Form("digits: aged 47", "AGE", "Known , aged {} .", _digits, _age),
    Form("spelled out: aged forty-seven", "AGE", "Known , aged {} .", _spelt, _age),
    Form("spelled out: forty-seven years old", "AGE", "Is {} years old .", _spelt, _age),
    Form("turned 18", "AGE", "The patient turned {} in May .", _digits, _age),
    Form("turned forty-seven", "AGE", "The patient turned {} in May .", _spelt, _age),
    Form("47th birthday", "AGE", "Seen after the {}th birthday .", _digits, _age),
    Form("a decade: in the forties", "AGE", "A patient in the {} .", _decade, _years),
    Form("paraphrase: a forty-something", "AGE", "A {} from here .",
         lambda row: f"{_decade(row)[:-3]}y-something", None),
    Form("shorthand: 47F", "AGE", "{} , well .", lambda row: f"{row['age']}{row['sex']}", None),
    Form("implied: retired", "AGE", "The patient is {} .", lambda _: "retired", None),
    Form("implied: has grandchildren", "AGE", "Lives with {} .", lambda _: "grandchildren", None),
    Form("a ZIP code", "ZIP", "Moved from {} .", lambda row: row["zip"], lambda row: {row["zip"]}),
    Form("a ZIP code + 4", "ZIP", "Moved from {} .", lambda row: f"{row['zip']}-1234",
         lambda row: {row["zip"]}),
    Form("a city of a list", "CITY", "Back home in {} .", lambda row: _city(row),
         lambda row: set(CODES[_city(row)])),
    Form("a county of no list", "CITY", "From the county of {} .", lambda _: "Ashdown", None),
    Form("an occupation of a list", "JOB", "Works as a {} .", lambda row: _job(row),
         lambda row: {JOBS[_job(row)]}),
    Form("a pronoun", "SEX", "Now {} is well .", lambda row: "she" if row["sex"] == "F" else "he",
         lambda row: {row["sex"]}),
    Form("a noun", "SEX", "A pleasant {} .", lambda row: "woman" if row["sex"] == "F" else "man",
         lambda row: {row["sex"]}),
    Form("implied: a husband or wife", "SEX", "Came with the {} .",
         lambda row: "husband" if row["sex"] == "F" else "wife", None),
)  # fmt: skip


def _city(row: Mapping[str, Any]) -> str:
    return next((city for city, area in CITIES.items() if row["zip"].startswith(area)), "Oakfield")


def _job(row: Mapping[str, Any]) -> str:
    return list(JOBS)[row["age"] % len(JOBS)]


def main() -> None:
    county = make_county(people=40_000)
    people = sorted(county.patients["person_id"].unique().to_pylist())
    own, others = (
        county.patients.filter(pc.is_in(county.patients["person_id"], pa.array(some)))
        for some in (people[:PEOPLE], people[PEOPLE : PEOPLE + OTHERS])
    )
    kit = voile.documents.fit(make_notes(2, others), NOTE_ROLES, **LEARN)
    policy = kit.choose(max_relative_risk=0.02)
    readers = _readers(county.patients)
    rows = [(one.name, *measured(kit, policy, own, one, readers[one.label])) for one in FORMS]
    save(
        "study_mentions",
        f"One mention planted in a sentence at the end of each of {len(own):,} notes. Most "
        "forms are those that the readers were made for; the paraphrase, the shorthand and those "
        "that other people imply are not.",
        ("form", "found by the kit", "by the reader", "by either", "read rightly",
         "read by the adversary"),
        rows,
        f"The kit learnt from notes of {OTHERS} other people, with ages in digits and in\n"
        "words. *Found*: the mention is covered entirely. *Read rightly*: the reader leaves\n"
        "exactly the cells that the mention means. A dash means that it means none of one\n"
        "column, and becomes a mark if found. The adversary of `study attack` reads ages\n"
        "and words for a sex in the sentence as written. A mention that neither finds stays\n"
        "unchanged.",
    )  # fmt: skip


def _readers(patients: pa.Table) -> dict[str, MentionReader]:
    codes = set(patients["zip"].to_pylist())
    for city, area in CITIES.items():
        CODES[city] = tuple(sorted(code for code in codes if code.startswith(area))) or ("00000",)
    return {
        "AGE": reader_of("AGE"),
        "ZIP": reader_of("ZIP"),
        "SEX": reader_of("SEX", ["F", "M"]),
        "CITY": reader_of("CITY", (), CODES),
        "JOB": reader_of("JOB", ["care", "trades"], {job: (x,) for job, x in JOBS.items()}),
    }


def measured(kit, policy, own: pa.Table, form: Form, reader: MentionReader) -> tuple[str, ...]:
    rows = own.to_pylist()
    mentions = [form.said(row) for row in rows]
    planted = [form.sentence.format(one) for one in mentions]
    notes = make_notes(1, own)
    texts = [
        f"{note} {more}" for note, more in zip(notes["note"].to_pylist(), planted, strict=True)
    ]
    places = [
        len(text) - len(more) + form.sentence.index("{}")
        for text, more in zip(texts, planted, strict=True)
    ]
    by_kit = covered(kit, policy, notes.set_column(2, "note", pa.array(texts)), places, mentions)
    finder = MentionFinder(form.label, reader)
    by_reader = [
        any(x.start <= place and place + len(said) <= x.end for x in find(text, [finder]))
        for text, place, said in zip(texts, places, mentions, strict=True)
    ]
    either = [a or b for a, b in zip(by_kit, by_reader, strict=True)]
    right, adversary = "-", "-"
    if form.cells is not None:
        said = [
            (reader.read_mention(one), form.cells(row))
            for one, row in zip(mentions, rows, strict=True)
        ]
        right = _share([found is not None and set(found.cells) == cells for found, cells in said])
        what = {"AGE": "age", "SEX": "sex"}.get(form.label)
        if what:
            adversary = _share(
                [
                    any(
                        x.what == what and {c.upper() for c in x.cells} == cells
                        for x in read_clues(one)
                    )
                    for one, (_, cells) in zip(planted, said, strict=True)
                ]
            )
    return _share(by_kit), _share(by_reader), _share(either), right, adversary


def _share(found: list[bool]) -> str:
    return f"{sum(found) / len(found):.0%}"


def covered(kit, policy, table: pa.Table, places: list[int], mentions: list[str]) -> list[bool]:
    """Say which planted mentions a removal of the kit covers whole."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "notes.parquet", Path(folder) / "out.parquet"
        pq.write_table(table, source)
        kit.apply(policy, source, out, keep_order=True)
        removed = pq.read_table(f"{out}.private/removals.parquet").to_pylist()
    spans: dict[int, list[tuple[int, int]]] = {}
    for one in removed:
        spans.setdefault(one["row"], []).append((one["start"], one["end"]))
    return [
        any(a <= place and place + len(said) <= b for a, b in spans.get(row, ()))
        for row, (place, said) in enumerate(zip(places, mentions, strict=True))
    ]


if __name__ == "__main__":
    main()
