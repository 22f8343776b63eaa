"""Notes with a known value written in another form, by which recall is measured."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from voile.documents import Corpus, Document, Span
from voile.documents.replacements.names import fold

PATIENT = "NOMBRE_SUJETO_ASISTENCIA"
SPANISH = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre"),
    *("octubre", "noviembre", "diciembre"),
)
ENGLISH = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = r"[^\s\d@.,]+"
TWO_WORDS = re.compile(
    rf"(?P<first>{WORD}) (?P<last>{WORD})|(?P<family>{WORD}) ?, (?P<given>{WORD})"
)
PHONE_DIGITS = 9
DRAWS = 5
"""Typos of each name; in the rows without one each name stands once."""

Name = tuple[str, str]  # given names, last names


def quoted(note: Document, label: str, before: str = "") -> list[str]:
    """Return the words of a note's spans of one type, behind a label if one is given."""
    return [
        note.text[span.start : span.end]
        for span in note.spans
        if span.label == label and note.text[: span.start].rstrip().endswith(before)
    ]


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
    """Return a name with a typo in one of its words of four letters and more; "" if none has."""
    words = name.split()
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return ""
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


def forms_of(name: Name, form: str, number: int) -> Iterator[str]:
    """Yield a name in some form, with a typo several times."""
    rng = random.Random(number)
    for _ in range(DRAWS if "typo" in form else 1):
        if written := NAME_FORMS[form](name, rng):
            yield written


def name_trials(notes: Corpus, form: str) -> Iterator[Document]:
    for number, note in enumerate(notes):
        names = quoted(note, PATIENT)[:2]
        if len(names) == 2:
            for written in forms_of((names[0], names[1]), form, number):
                yield rewritten(note, PATIENT, names[1], written)


def english_trials(notes: Corpus, label: str, form: str) -> Iterator[Document]:
    """Yield each text with each of its names of two words in some form."""
    names = [(note, name) for note in notes for name in dict.fromkeys(quoted(note, label))]
    for number, (note, name) in enumerate(names):
        if parts := TWO_WORDS.fullmatch(name):
            first, last = parts["first"] or parts["given"], parts["last"] or parts["family"]
            for written in forms_of((first, last), form, number):
                yield rewritten(note, label, name, written)


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
