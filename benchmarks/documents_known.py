"""Known values in the forms in which notes write them, beside a prototype by hand."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from benchmarks.data import folder
from benchmarks.documents_data import enron
from benchmarks.known_prototype import Prototype
from benchmarks.known_trials import (
    DATE_FORMS,
    DRAWS,
    ID_FORMS,
    NAME_FORMS,
    PATIENT,
    PHONE_FORMS,
    english_trials,
    name_trials,
    number_trials,
    quoted,
    read_day,
    read_number,
    read_phone,
)
from benchmarks.tables import save

from voile.data import open_source
from voile.documents import Corpus, Document
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.replacements.names import fold
from voile.documents.replacements.removal import TextRemoval
from voile.documents.words.tokens import tokenise

BESIDE = {  # columns of a note's subject: the type, and the label before it
    "nhc": ("ID_SUJETO_ASISTENCIA", "NHC:"),
    "nass": ("ID_ASEGURAMIENTO", "NASS:"),
    "nacimiento": ("FECHAS", "nacimiento:"),
    "domicilio": ("CALLE", "Domicilio:"),
    "localidad": ("TERRITORIO", "Provincia:"),
    "cp": ("TERRITORIO", "CP:"),
}
STAFF = {  # columns known to all notes
    "medico": "NOMBRE_PERSONAL_SANITARIO",
    "hospital": "HOSPITAL",
    "correo": "CORREO_ELECTRONICO",
    "telefono": "NUMERO_TELEFONO",
}
PRESIDIO = {
    "name": "PERSON",
    "address": "STREET_ADDRESS",
    "city": "GPE",
    "phone": "PHONE_NUMBER",
    "email": "EMAIL_ADDRESS",
}
ROUNDS = 15
EACH = 8
"""The prototype takes its time, so that it is given every eighth note of a trial."""

Row = Mapping[str, str | None]


@dataclass(frozen=True)
class Setting:
    """Notes, what is known beside them, and who looks for it."""

    notes: Corpus
    rows: Sequence[Row]  # of the notes' subjects, by the column "subject"
    people: Mapping[str, Sequence[str]]  # known to all notes, by column

    def known(self) -> KnownValues:
        patients = open_source(pa.Table.from_pylist(list(self.rows))) if self.rows else None
        size = max(map(len, self.people.values()), default=0)
        columns = {
            name: [*cells, *[None] * (size - len(cells))] for name, cells in self.people.items()
        }
        people = open_source(pa.table(columns)) if columns else None
        return KnownValues.read(patients, "subject" if patients else None, people=people)

    def prototype(self) -> Prototype:
        kinds = self.known().kinds
        named = {"name": "name", "id": "id", "phone": "phone", "date": "date"}
        own: dict[str | None, dict[str, list[str]]] = {}
        for row in self.rows:
            values = own.setdefault(row["subject"], {})
            for column, cell in row.items():
                if cell and column in kinds:
                    values.setdefault(named.get(kinds[column], "text"), []).extend(cell.split("; "))
        people: dict[str, list[str]] = {}
        for column, cells in self.people.items():
            people.setdefault(named.get(kinds[column], "text"), []).extend(cells)
        return Prototype(own, people, self.notes)


def spanish() -> Setting:
    """Return MEDDOCAN's notes with a table of patients, a row a note, and a list of staff."""
    splits = [
        Corpus.read(folder("meddocan") / f"{one}.jsonl.gz") for one in ("train", "dev", "test")
    ]
    found = (one for split in splits for one in split)
    notes = Corpus(replace(one, subject=str(number)) for number, one in enumerate(found))
    rows = []
    for note in notes:
        names = [*quoted(note, PATIENT)[:2], None, None]
        row = {"subject": note.subject, "nombre": names[0], "apellidos": names[1]}
        for column, (label, before) in BESIDE.items():
            row[column] = next(iter(quoted(note, label, before)), None)
        rows.append(row)
    people = {
        column: sorted({value for note in notes for value in quoted(note, label)})
        for column, label in STAFF.items()
    }
    return Setting(notes, rows, people)


def english() -> Setting:
    """Return Enron's threads, with the names of two words and more known to all of them."""
    notes = enron()
    names = {name for note in notes for name in quoted(note, "PER") if " " in name}
    return Setting(notes, [], {"name": sorted(name for name in names if "@" not in name)})


def sentences() -> Setting:
    """Return made-up English texts, each of a subject of its own whose names and more are known."""
    found = Corpus.read(folder("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz")
    notes = Corpus(replace(one, subject=str(number)) for number, one in enumerate(found))
    rows = [
        {"subject": note.subject}
        | {column: "; ".join(quoted(note, label)) for column, label in PRESIDIO.items()}
        for note in notes
    ]
    return Setting(notes, rows, {})


def recall(trials: Sequence[Document], found: Sequence[Sequence[TextRemoval]]) -> float:
    """Return the share of forms of which all letters and digits go."""
    gone = [{at for one in part for at in range(one.start, one.end)} for part in found]
    whole = [
        all(at in places for at in range(span.start, span.end) if note.text[at].isalnum())
        for note, places in zip(trials, gone, strict=True)
        for span in note.spans
    ]
    return sum(whole) / len(whole)


def sure(found: Sequence[Sequence[TextRemoval]]) -> list[list[TextRemoval]]:
    return [[one for one in part if KnownValues.sure(one)] for part in found]


def false_hits(notes: Corpus, found: Sequence[Sequence[TextRemoval]]) -> list[tuple[Document, str]]:
    """Return the notes and words of removals that touch nothing that was annotated."""
    return [
        (note, note.text[one.start : one.end])
        for note, part in zip(notes, found, strict=True)
        for one in part
        if not any(span.start < one.end and one.start < span.end for span in note.spans)
    ]


def letters_of(value: str) -> frozenset[str]:
    """Return the words of a value, numbers aside."""
    return frozenset(re.findall(r"[^\W\d_]+", fold(value)))


def not_in_full(setting: Setting, hits: Sequence[tuple[Document, str]]) -> int:
    """Return how many hits lack some word of each value of two words and more.

    A hit with all words of a value that its note may hold is one that the annotators left.
    """
    everyone = {letters_of(cell) for cells in setting.people.values() for cell in cells}
    own: dict[str | None, set[frozenset[str]]] = {}
    for row in setting.rows:
        cells = (cell for column, cell in row.items() if cell and column != "subject")
        own[row["subject"]] = {letters_of(one) for cell in cells for one in cell.split("; ")}
    values = {note.subject: everyone | own.get(note.subject, set()) for note, _ in hits}
    return sum(
        not any(len(one) > 1 and one <= letters_of(hit) for one in values[note.subject])
        for note, hit in hits
    )


def compare(
    setting: Setting, trials: Mapping[str, Sequence[Document]]
) -> Iterator[tuple[str, ...]]:
    """Yield recall by form, and false hits: ours if sure, ours in all, the prototype's."""
    learnt, by_hand = setting.known(), setting.prototype()
    ours = learnt.propose(setting.notes)
    words = sum(len(note.text.split()) for note in setting.notes)
    for name, part in trials.items():
        found = KnownValues.from_table(learnt.to_table()).propose(part)
        rival = recall(part[::EACH], by_hand.propose(part[::EACH]))
        shares = (recall(part, sure(found)), recall(part, found), rival)
        yield (name, f"{len(part):,}", *(f"{share:.3f}" for share in shares))
    hits = [
        false_hits(setting.notes, one) for one in (sure(ours), ours, by_hand.propose(setting.notes))
    ]
    for name, counts in (
        ("**false hits per 1,000 words**", map(len, hits)),
        ("**of them no known value in full**", (not_in_full(setting, one) for one in hits)),
    ):
        yield (name, f"{words:,} words", *(f"{1000 * count / words:.3f}" for count in counts))


def seconds(run: Callable[[], object]) -> float:
    """Return the least processor time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        run()
        times.append(time.process_time() - begun)
    return min(times)


def speed(setting: Setting) -> str:
    """Say how many words a second one core goes through."""
    notes = setting.notes
    words = sum(len(note.text.split()) for note in notes)
    learnt = setting.known()
    first = words / seconds(lambda: setting.known().propose(notes))
    found = words / seconds(lambda: learnt.propose(notes))
    alone = words / seconds(lambda: tokenise(note.text for note in notes))
    few = notes.subset(range(0, len(notes), 10))
    some = sum(len(note.text.split()) for note in few)
    by_hand = setting.prototype()
    begun = time.process_time()
    by_hand.propose(few)
    rival = some / (time.process_time() - begun)
    return (
        f"Words a second on one core, the best of {ROUNDS} rounds: {found:,.0f}. With\n"
        f"reading the tables and learning the notes' ordinary words: {first:,.0f}. Splitting\n"
        f"into tokens alone: {alone:,.0f}. The prototype: {rival:,.0f}, {found / rival:,.0f}\n"
        "times slower."
    )


def main() -> None:
    spain = spanish()
    speeds = speed(spain)  # before the trials fill the memory
    notes = spain.notes
    trials = {f"name: {form}": list(name_trials(notes, form)) for form in NAME_FORMS}
    trials |= {
        "birth dates, 7 forms": list(
            number_trials(notes, *BESIDE["nacimiento"], read_day, DATE_FORMS)
        ),
        "phones, 6 forms": list(
            number_trials(notes, STAFF["telefono"], "", read_phone, PHONE_FORMS)
        ),
        "record numbers, 5 forms": list(
            number_trials(notes, *BESIDE["nhc"], read_number, ID_FORMS)
        ),
    }
    columns = ("MEDDOCAN, 1,000 notes", "n", "sure", "sure or possible", "prototype")
    rows = list(compare(spain, trials))
    for name, setting, label in (
        ("presidio-synthetic, 1,500 texts", sentences(), "PERSON"),
        ("Enron, 46 threads, people known to all", english(), "PER"),
    ):
        trials = {
            f"name: {form}": list(english_trials(setting.notes, label, form))
            for form in NAME_FORMS
            if form not in ("without accents", "hyphenated", "one of the last names")
        }
        rows += [(f"**{name}**", "", "", "", ""), *compare(setting, trials)]
    save(
        "documents_known",
        "Each form replaces one annotated value of a note. It is found if all its letters\n"
        "and digits are. MEDDOCAN has a table of each note's patient (name, birth date,\n"
        "address, town, numbers). It also has a list of all staff, hospitals, e-mails and\n"
        "phones, known to each note. Each name of two words of an English text is tried.\n"
        f"Each name with a word of four letters has {DRAWS} typos. False hits touch no\n"
        "annotation. A known value in full has two words or more.",
        columns,
        rows,
        f"The prototype had every eighth of these notes.\n{speeds}",
    )


if __name__ == "__main__":
    main()
