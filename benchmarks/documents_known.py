"""Known values in the forms in which notes write them, beside a prototype by hand."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import pyarrow as pa
from benchmarks.data import folder
from benchmarks.documents_data import enron
from benchmarks.known_prototype import Prototype
from benchmarks.tables import save

from voile.data import open_source
from voile.documents import Corpus, Document, Span
from voile.documents.replacements import Removal
from voile.documents.replacements.names import fold
from voile.documents.start.known import KnownValues
from voile.documents.words.tokens import tokenise

PATIENT = "NOMBRE_SUJETO_ASISTENCIA"
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
SPANISH = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre"),
    *("octubre", "noviembre", "diciembre"),
)
ENGLISH = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PHONE_DIGITS = 9
ROUNDS = 15
EACH = 8
"""The prototype takes its time, so that it is given every eighth note of a trial."""

Row = Mapping[str, str | None]
Name = tuple[str, str]  # given names, last names


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


def quoted(note: Document, label: str, before: str = "") -> list[str]:
    """Return the words of a note's spans of one type, behind a label if one is given."""
    return [
        note.text[span.start : span.end]
        for span in note.spans
        if span.label == label and note.text[: span.start].rstrip().endswith(before)
    ]


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
    names = {note.text[span.start : span.end] for note in notes for span in note.spans}
    return Setting(notes, [], {"name": sorted(one for one in names if " " in one)})


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


def typo(word: str, rng: random.Random) -> str:
    """Return a word with a letter left out, put in, replaced or swapped with the next."""
    at, letter = rng.randrange(len(word) - 1), rng.choice(LETTERS)
    new = (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[rng.randrange(4)]
    new = new[:1].upper() + new[1:] if word[0].isupper() else new
    return typo(word, rng) if fold(new) == fold(word) else new


def one_typo(name: str, rng: random.Random) -> str:
    """Return a name with a typo in one of its words of four letters and more."""
    words = name.split()
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if long:
        at = rng.choice(long)
        words[at] = typo(words[at], rng)
    return " ".join(words)


def one_word(name: str, rng: random.Random) -> str:
    """Return one of the words of a name, no particle."""
    return rng.choice(
        [word for word in name.split() if len(word) > 3 and word[0].isupper()] or [name]
    )


def bare(text: str) -> str:
    return "".join(fold(one).upper() if one.isupper() else fold(one) for one in text)


NAME_FORMS: Mapping[str, Callable[[Name, random.Random], str]] = {
    "as they are": lambda n, r: " ".join(n),
    "capitals": lambda n, r: " ".join(n).upper(),
    "small letters": lambda n, r: " ".join(n).lower(),
    "possessive": lambda n, r: f"{n[1]}'s",
    "without accents": lambda n, r: bare(" ".join(n)),
    "Last, First": lambda n, r: f"{n[1]}, {n[0]}",
    "initials and last name": lambda n, r: f"{'. '.join(w[0] for w in n[0].split())}. {n[1]}",
    "first name alone": lambda n, r: n[0],
    "last names alone": lambda n, r: n[1],
    "one of the last names": lambda n, r: one_word(n[1], r),
    "hyphenated": lambda n, r: f"{n[0]} {n[1].replace(' ', '-')}",
    "one typo in the whole name": lambda n, r: one_typo(" ".join(n), r),
    "one typo in the last names": lambda n, r: one_typo(n[1], r),
    "one typo, one word alone": lambda n, r: one_typo(one_word(n[1], r), r),
}
PHONE_FORMS: Sequence[Callable[[str], str]] = (
    str,
    lambda d: f"{d[:3]} {d[3:6]} {d[6:]}",
    lambda d: f"{d[:3]}-{d[3:6]}-{d[6:]}",
    lambda d: f"{d[:2]} {d[2:5]} {d[5:7]} {d[7:]}",
    lambda d: f"+34 {d}",
    lambda d: f"({d[:2]}) {d[2:5]}.{d[5:]}",
)
DATE_FORMS: Sequence[Callable[[date], str]] = (
    lambda d: f"{d:%d/%m/%Y}",
    lambda d: f"{d:%d-%m-%y}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d:%Y-%m-%d}",
    lambda d: f"{d.day} de {SPANISH[d.month - 1]} de {d.year}",
    lambda d: f"{d.day}-{SPANISH[d.month - 1][:3]}-{d.year}",
    lambda d: f"{ENGLISH[d.month - 1]} {d.day}, {d.year}",
)
ID_FORMS: Sequence[Callable[[str], str]] = (
    str,
    lambda t: f"00{t}",
    lambda t: " ".join(t[at : at + 3] for at in range(0, len(t), 3)),
    lambda t: "-".join(t[at : at + 4] for at in range(0, len(t), 4)),
    lambda t: t.lstrip("0"),
)


def rewritten(note: Document, label: str, value: str, form: str) -> Document:
    """Return a note with a form in the place of a value's first mention, and its span alone."""
    span = next(s for s in note.spans if (s.label, note.text[s.start : s.end]) == (label, value))
    text = note.text[: span.start] + form + note.text[span.end :]
    end = span.start + len(form.removesuffix("'s"))
    return replace(note, text=text, spans=(Span(span.start, end, label),))


def name_trials(notes: Corpus, form: str) -> Iterator[Document]:
    for number, note in enumerate(notes):
        names = quoted(note, PATIENT)[:2]
        if len(names) == 2:
            written = NAME_FORMS[form]((names[0], names[1]), random.Random(number))
            yield rewritten(note, PATIENT, names[1], written)


def english_trials(notes: Corpus, label: str, form: str) -> Iterator[Document]:
    """Yield each text with its first name of two words in some form."""
    for number, note in enumerate(notes):
        names = [one for one in quoted(note, label) if len(one.split()) == 2 and "." not in one]
        if names:
            first, last = names[0].split()
            written = NAME_FORMS[form]((first, last), random.Random(number))
            yield rewritten(note, label, names[0], written)


def number_trials(
    notes: Corpus, label: str, before: str, read: Callable[[str], object], forms: Sequence[Callable]
) -> Iterator[Document]:
    """Yield each note with a value in each form, where it can be read."""
    for note in notes:
        for value in quoted(note, label, before)[:1]:
            if what := read(value):
                for form in forms:
                    yield rewritten(note, label, value, form(what))


def read_day(value: str) -> date | None:
    match = re.fullmatch(r"(\d\d?)[/-](\d\d?)[/-](\d{4})", value)
    if match is None or int(match[2]) > 12:
        return None
    return date(int(match[3]), int(match[2]), int(match[1]))


def read_phone(value: str) -> str | None:
    digits = re.sub(r"\D", "", value.removeprefix("+34"))
    return digits if len(digits) == PHONE_DIGITS else None


def read_number(value: str) -> str | None:
    return value if value.isdecimal() else None


def recall(trials: Sequence[Document], found: Sequence[Sequence[Removal]]) -> float:
    """Return the share of forms of which all letters and digits go."""
    gone = [{at for one in part for at in range(one.start, one.end)} for part in found]
    whole = [
        all(at in places for at in range(span.start, span.end) if note.text[at].isalnum())
        for note, places in zip(trials, gone, strict=True)
        for span in note.spans
    ]
    return sum(whole) / len(whole)


def sure(found: Sequence[Sequence[Removal]]) -> list[list[Removal]]:
    return [[one for one in part if KnownValues.sure(one)] for part in found]


def false_hits(notes: Corpus, found: Sequence[Sequence[Removal]]) -> list[str]:
    """Return the words of removals that touch nothing that was annotated."""
    return [
        note.text[one.start : one.end]
        for note, part in zip(notes, found, strict=True)
        for one in part
        if not any(span.start < one.end and one.start < span.end for span in note.spans)
    ]


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
    hits = (
        false_hits(setting.notes, one) for one in (sure(ours), ours, by_hand.propose(setting.notes))
    )
    yield (
        "**false hits per 1,000 words**",
        f"{words:,} words",
        *(f"{1000 * len(one) / words:.3f}" for one in hits),
    )


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
        f"Words a second on one core, the best of {ROUNDS} rounds: {found:,.0f}; with reading\n"
        f"the tables and learning the notes' ordinary words {first:,.0f}; splitting into tokens\n"
        f"alone {alone:,.0f}; the prototype {rival:,.0f}, {found / rival:,.0f} times slower."
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
        "Each form stands in the place of one annotated value of a note; it is found if all its\n"
        "letters and digits are. MEDDOCAN: a table of each note's patient (name, birth date,\n"
        "address, town, numbers), and a list of all staff, hospitals, e-mails and phones, known\n"
        "to each note. False hits touch no annotation.",
        columns,
        rows,
        f"The prototype had every eighth of these notes.\n{speeds}",
    )


if __name__ == "__main__":
    main()
