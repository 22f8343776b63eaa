"""Known values in the forms in which notes write them, beside the prototype by hand."""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import pyarrow as pa
from benchmarks.data import folder
from benchmarks.known_prototype import Prototype
from benchmarks.tables import save

from voile.data import open_source
from voile.documents import Corpus, Document, Span
from voile.documents.replacements import Removal
from voile.documents.replacements.names import fold
from voile.documents.start.known import KnownValues

PATIENT, STAFF = "NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"
LABELLED = {
    "nhc": ("ID_SUJETO_ASISTENCIA", "NHC:"),
    "nass": ("ID_ASEGURAMIENTO", "NASS:"),
    "nacimiento": ("FECHAS", "nacimiento:"),
    "domicilio": ("CALLE", "Domicilio:"),
    "localidad": ("TERRITORIO", "Provincia:"),
    "cp": ("TERRITORIO", "CP:"),
}
OF_STAFF = {
    "medico": STAFF,
    "hospital": "HOSPITAL",
    "correo": "CORREO_ELECTRONICO",
    "telefono": "NUMERO_TELEFONO",
}
MONTHS = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
).split()
ENGLISH = (
    "January February March April May June July August September October November December"
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def notes(*splits: str) -> Corpus:
    """Return the notes of MEDDOCAN, each of a subject of its own."""
    found = (one for name in splits for one in Corpus.read(folder("meddocan") / f"{name}.jsonl.gz"))
    return Corpus(replace(one, subject=str(number)) for number, one in enumerate(found))


def quoted(note: Document, label: str, before: str = "") -> list[str]:
    """Return the words of a note's spans of one type, behind a label if one is given."""
    return [
        note.text[span.start : span.end]
        for span in note.spans
        if span.label == label and note.text[: span.start].rstrip().endswith(before)
    ]


def patients(corpus: Corpus) -> pa.Table:
    """Return what a hospital's export would hold of each subject."""
    rows = []
    for note in corpus:
        row: dict[str, str | None] = {"paciente": note.subject}
        names = quoted(note, PATIENT)
        row["nombre"], row["apellidos"] = (names[:2] + [None, None])[:2]
        for column, (label, before) in LABELLED.items():
            row[column] = next(iter(quoted(note, label, before)), None)
        rows.append(row)
    return pa.Table.from_pylist(rows)


def staff(corpus: Corpus) -> pa.Table:
    """Return a list of staff, with what is beside their names."""
    found = {name: sorted({v for n in corpus for v in quoted(n, label)}) for name, label in OF_STAFF.items()}
    longest = max(map(len, found.values()))
    return pa.table({name: values + [None] * (longest - len(values)) for name, values in found.items()})


def typo(word: str, rng: random.Random) -> str:
    """Return a word with one letter left out, doubled up, replaced or swapped with the next."""
    at = rng.randrange(len(word) - 1)
    kind = rng.randrange(4)
    letter = rng.choice(LETTERS)
    return (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + (letter if letter != word[at].lower() else "x") + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[kind]


def one_typo(name: str, rng: random.Random) -> str:
    """Return a name with a typo in one of its words of four letters or more."""
    words = name.split()
    places = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if places:
        at = rng.choice(places)
        while (new := typo(words[at], rng)).lower() == words[at].lower():
            pass
        words[at] = new[:1].upper() + new[1:]
    return " ".join(words)


def long_words(name: str) -> list[str]:
    """Return the words of a name that are no particle."""
    return [word for word in name.split() if len(word) > 3 and word[0].isupper()] or [name]


def initials(name: Sequence[str]) -> str:
    return " ".join(f"{word[0]}." for word in name[0].split() if word[0].isupper())


Name = tuple[str, str]  # given names, surnames
NAME_FORMS: Mapping[str, Callable[[Name, random.Random], str]] = {
    "as it is": lambda n, r: " ".join(n),
    "capitals": lambda n, r: " ".join(n).upper(),
    "small letters": lambda n, r: " ".join(n).lower(),
    "possessive": lambda n, r: f"{n[1]}'s",
    "without accents": lambda n, r: bare(" ".join(n)),
    "Last, First": lambda n, r: f"{n[1]}, {n[0]}",
    "initials and last name": lambda n, r: f"{initials(n)} {n[1]}",
    "first name alone": lambda n, r: n[0],
    "last name alone": lambda n, r: n[1],
    "one of the last names": lambda n, r: r.choice(long_words(n[1])),
    "hyphenated": lambda n, r: f"{n[0]} {n[1].replace(' ', '-')}",
    "one typo": lambda n, r: one_typo(" ".join(n), r),
    "one typo, last name alone": lambda n, r: one_typo(n[1], r),
    "one typo, one word": lambda n, r: one_typo(r.choice(long_words(n[1])), r),
}
PHONE_FORMS = ("{0}{1}{2}", "{0} {1} {2}", "{0}-{1}-{2}", "{0}.{1}.{2}", "+34 {0} {1} {2}", "({0}) {1}{2}")
ID_FORMS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "leading zeros": lambda t: f"00{t}",
    "blanks": lambda t: " ".join(t[at : at + 3] for at in range(0, len(t), 3)),
    "dashes": lambda t: "-".join(t[at : at + 4] for at in range(0, len(t), 4)),
    "without leading zeros": lambda t: t.lstrip("0"),
}


def bare(text: str) -> str:
    return "".join(fold(one).upper() if one.isupper() else fold(one) for one in text)


def date_forms(day: date) -> list[str]:
    """Return seven ways to write a day, and English month names."""
    return [
        f"{day:%d/%m/%Y}",
        f"{day:%d-%m-%Y}",
        f"{day.day}/{day.month}/{day:%y}",
        f"{day:%Y-%m-%d}",
        f"{day:%d.%m.%Y}",
        f"{day.day} de {MONTHS[day.month - 1]} de {day.year}",
        f"{day.day}-{MONTHS[day.month - 1][:3]}-{day.year}",
        f"{ENGLISH[day.month - 1]} {day.day}, {day.year}",
    ]


@dataclass(frozen=True)
class Trial:
    """A note in which a value stands in some form."""

    note: Document  # its spans: where the form stands
    whole: Document  # its spans: all that was annotated


def rewritten(note: Document, label: str, values: Sequence[str], form: str) -> Document | None:
    """Return the note with a form in the place of a value's first mention, and its span alone."""
    for span in note.spans:
        if span.label == label and note.text[span.start : span.end] in values:
            text = note.text[: span.start] + form + note.text[span.end :]
            return replace(note, text=text, spans=(Span(span.start, span.start + len(form.removesuffix("'s")), label),))
    return None


def name_trials(corpus: Corpus, form: str) -> Iterator[Document]:
    for number, note in enumerate(corpus):
        rng = random.Random(number)
        names = quoted(note, PATIENT)
        if len(names) >= 2:
            # the last names are behind the first names' field: their place is any name's
            written = NAME_FORMS[form]((names[0], names[1]), rng)
            one = rewritten(note, PATIENT, [names[1]], written)
            if one:
                yield one


def date_trials(corpus: Corpus, form: int) -> Iterator[Document]:
    for note in corpus:
        for value in quoted(note, *LABELLED["nacimiento"])[:1]:
            match = re.fullmatch(r"(\d\d?)[/-](\d\d?)[/-](\d{4})", value)
            if match and int(match[2]) <= 12:
                day, month, year = map(int, match.groups())
                one = rewritten(note, "FECHAS", [value], date_forms(date(year, month, day))[form])
                if one:
                    yield one


def id_trials(corpus: Corpus, form: str) -> Iterator[Document]:
    for note in corpus:
        for value in quoted(note, *LABELLED["nhc"])[:1]:
            if value.isdecimal():
                one = rewritten(note, LABELLED["nhc"][0], [value], ID_FORMS[form](value))
                if one:
                    yield one


def phone_trials(corpus: Corpus, form: str) -> Iterator[Document]:
    for note in corpus:
        for value in quoted(note, "NUMERO_TELEFONO")[:1]:
            digits = re.sub(r"\D", "", value.removeprefix("+34"))
            if len(digits) == 9:
                written = form.format(digits[:3], digits[3:6], digits[6:])
                one = rewritten(note, "NUMERO_TELEFONO", [value], written)
                if one:
                    yield one


def recall(trials: Sequence[Document], found: Sequence[Sequence[Removal]]) -> tuple[float, float]:
    """Return the share of forms of which all letters and digits go, sure and in all."""
    sure = every = 0
    for trial, removals in zip(trials, found, strict=True):
        (span,) = trial.spans
        sure += _covered(trial.text, span, [one for one in removals if KnownValues.sure(one)])
        every += _covered(trial.text, span, removals)
    return sure / len(trials), every / len(trials)


def _covered(text: str, span: Span, removals: Sequence[Removal]) -> bool:
    gone = {at for one in removals for at in range(one.start, one.end)}
    return all(at in gone or not text[at].isalnum() for at in range(span.start, span.end))


def false_hits(corpus: Corpus, found: Sequence[Sequence[Removal]]) -> Iterator[tuple[Document, Removal]]:
    """Yield the removals that touch nothing that was annotated."""
    for note, removals in zip(corpus, found, strict=True):
        for one in removals:
            if not any(s.start < one.end and one.start < s.end for s in note.spans):
                yield note, one
