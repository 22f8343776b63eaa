"""The fast ways against naive ones."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from voile.data import open_source
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.model.start.known.owned import EVERYONE, NOBODY, OwnedKeys
from voile.documents.model.start.known.parts import code_of
from voile.documents.model.start.known.vocabulary import TYPO_FROM, ValueVocabulary
from voile.documents.replacements.names import fold
from voile.documents.text.document import Document

words = st.text("abcA", min_size=1, max_size=7)
owners = st.integers(EVERYONE, 3)
keys = st.integers(0, 5)


@given(
    entries=st.lists(st.tuples(owners, keys, st.integers(0, 4)), max_size=20),
    queries=st.lists(st.tuples(st.integers(NOBODY, 4), keys), max_size=12),
)
def test_a_query_meets_what_its_owner_and_everyone_have(entries, queries):
    whose, asked = np.array(queries, dtype=np.int64).reshape(-1, 2).T
    query, item = OwnedKeys([number for entry in entries for number in entry]).meet(whose, asked)
    naive = {
        (number, thing)
        for number, (who, key) in enumerate(queries)
        for owner, own, thing in set(entries)
        if key == own and owner in (who, EVERYONE)
    }
    assert set(zip(query.tolist(), item.tolist(), strict=True)) == naive


@given(
    known=st.lists(words, max_size=8),
    forms=st.lists(words, max_size=8, unique=True),
    small=st.sets(st.integers(0, 7)),
)
def test_a_form_is_a_word_or_one_typo_away_from_it(known, forms, small):
    vocabulary = ValueVocabulary()
    for word in known:
        vocabulary.number(fold(word))
    look = vocabulary.look(forms, small=[one for one in small if one < len(forms)])
    every = list(vocabulary)
    for number, form in enumerate(forms):
        part = slice(*look.first[number : number + 2])
        found = set(zip(look.word[part].tolist(), look.typo[part].tolist(), strict=True))
        exact = {(at, False) for at, word in enumerate(every) if word == fold(form)}
        near = {
            (at, True)
            for at, word in enumerate(every)
            if len(word) >= TYPO_FROM
            and len(form) >= TYPO_FROM - 1
            and (form[0].isupper() or number in small)
            and OSA.distance(word, fold(form)) == 1
        }
        camel = re.search("[a-z][A-Z]", form) is not None
        assert found == exact | near if not camel else found >= exact | near


@settings(max_examples=60, deadline=None)
@given(
    code=st.text("0123456789", min_size=5, max_size=12).filter(lambda c: len(c.lstrip("0")) > 4),
    zeros=st.integers(0, 3),
    cuts=st.lists(st.integers(1, 11), max_size=4),
    sign=st.sampled_from([" ", "-", ".", "/", " - "]),
    other=st.text("0123456789", min_size=1, max_size=14),
)
def test_a_number_is_found_in_any_groups_and_no_other_is(code, zeros, cuts, sign, other):
    table = pa.table({"pid": ["1"], "number": [code]})
    known = KnownValues.read(open_source(table), "pid", kinds={"number": "id"})
    written = "0" * zeros + code
    for cut in sorted({cut for cut in cuts if cut < len(written)}, reverse=True):
        written = f"{written[:cut]}{sign}{written[cut:]}"
    notes = [f"NHC: {text}, visto" for text in (written, other)]
    ours, others = known.propose([Document(note, subject="1") for note in notes])
    (found,) = ours
    assert code_of(notes[0][found.start : found.end]) == code_of(code)
    assert bool(others) == (code_of(other) == code_of(code))


def test_each_day_is_found_in_each_form_and_no_other_day_is():
    months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    spanish = (months + "diciembre").split()
    table = pa.table({"pid": ["1"], "born": ["1963-10-03"]})
    known = KnownValues.read(open_source(table), "pid")
    days, forms = [], []
    for year, month, day in product((1963, 1964), range(1, 13), (3, 4)):
        day_first = (
            f"{day}/{month}/{year}",
            f"{day:02}-{month:02}-{year}",
            f"{year}.{month}.{day}",
        )
        named = (
            f"{day} de {spanish[month - 1]} de {year}",
            f"{day}-{spanish[month - 1][:3]}-{year}",
        )
        for form in (*day_first, *named, f"{day:02}{month:02}{year}", f"{month}/{day}/{year}"):
            forms.append(form)
            days.append((year, month, day))
    notes = [Document(f"el {form}, sano", subject="1") for form in forms]
    found = known.propose(notes)
    wrong = [
        form
        for form, day, removals in zip(forms, days, found, strict=True)
        # in either order: the third of October is the tenth of March
        if bool(removals) != (day == (1963, 10, 3))
    ]
    assert wrong == []


def test_a_note_is_searched_alike_alone_and_among_others():
    table = pa.table(
        {"pid": ["1", "2"], "surname": ["May Ortega", "Quinn"], "city": ["Ourense", "Lugo"]}
    )
    known = KnownValues.read(open_source(table), "pid")
    texts = ["May may go to Ourense.", "Quinn, Quinm; QUINN in lugo", "May Ortega, Otrega, Lugo"]
    notes = [Document(text, subject=str(1 + number % 2)) for number, text in enumerate(texts * 3)]
    together = known.propose(notes)
    assert [known.propose([note])[0] for note in notes] == together
