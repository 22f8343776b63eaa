"""What surrogates guarantee over whole documents."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements.kinds import KINDS
from voile.documents.replacements.names import NameLists, fold, name_words
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document, Span
from voile.keys.secret import Secret

SECRET = Secret(bytes(range(32)))
PLACES = ("Ashford", "Bexley", "Corby", "Dover", "Exeter", "Great Ayton")
REPLACER = Surrogates(SECRET, date_order="dmy", lists={"place": PLACES}, ages="mark")


def document(
    *values: tuple[str, str], subject: str | None = "17"
) -> tuple[Document, list[TextRemoval]]:
    """Return a document of these (label, value), each removed, with a word before each."""
    text, removals = "", []
    for label, value in values:
        text += " so "
        removals.append(TextRemoval(len(text), len(text) + len(value), label))
        text += value
    return Document(text, subject=subject), removals


def surrogates(*values, subject="17", replacer=REPLACER):
    """Return what came in the place of each value."""
    made = replacer(*document(*values, subject=subject))
    return [made.text[edit.start : edit.end] for edit in made.edits]


VALUES = st.tuples(
    st.sampled_from(KINDS),
    st.one_of(
        st.text(min_size=1, max_size=12),
        st.text("Aaé0 -/.,'@", min_size=1, max_size=10),
        st.sampled_from(["Anna Smith", "12 March 1999", "Dover", "a@b.c", "10.0.0.1", "75", "Mrs"]),
        st.dates().map(str),
    ),
)


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_nothing_that_is_removed_stays_in_its_place(values):
    found, removals = document(*values)
    made = REPLACER(found, removals)
    done = source = 0
    for edit, removal in zip(made.edits, removals, strict=True):
        assert made.text[done : edit.start] == found.text[source : removal.start]
        old, new = found.text[removal.start : removal.end], made.text[edit.start : edit.end]
        assert new
        assert fold(new) != fold(old)
        if re.search(r"[^\W\d_]{3}", old):
            assert fold(old) not in fold(new)
        done, source = edit.end, removal.end
    assert made.text[done:] == found.text[source:]


@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(VALUES, max_size=3))
def test_a_value_of_a_subject_becomes_the_same_in_another_document(values, others):
    alone, together = surrogates(*values), surrogates(*others, *values)[len(others) :]
    taken = {word for _, value in others for word in name_words(value)}
    for (kind, value), one, two in zip(values, alone, together, strict=True):
        forced = taken & set(name_words(one)) or kind == "place"
        initials = any(len(word) == 1 for word in name_words(value))
        assert one == two or forced or initials, (kind, value)


def test_kinds_have_their_surrogates():
    found = surrogates(
        ("NAME", "Mrs ANNA SMITH"),
        ("DATE", "12 March 1999"),
        ("AGE", "93"),
        ("PHONE", "0113 496 0101"),
        ("EMAIL", "anna@clinic.test"),
        ("CITY", "LEEDS"),
        ("ZIP", "00123"),
        ("STREET", "12 High Street"),
        ("ODD_LABEL", "Anna"),
    )
    patterns = [r"Mrs [A-Z]+ [A-Z]+", r"\d\d? [A-Z][a-z]+ \d{4}", r"90\+", r"0\d{3} \d{3} \d{4}"]
    patterns += [r"[a-z2-7]{12}@example\.org", "|".join(PLACES).upper(), r"00[1-9]\d\d"]
    patterns += [r"\d\d [A-Z][\w']+ Street", r"[A-Z][\w '-]+"]
    for new, pattern in zip(found, patterns, strict=True):
        assert re.fullmatch(pattern, new), (new, pattern)


def test_ages_are_kept_unless_they_are_to_be_marked():
    assert surrogates(("AGE", "45"), replacer=Surrogates(SECRET)) == ["45"]
    assert surrogates(("AGE", "45")) == ["[AGE]"]


def test_a_label_means_what_the_user_says():
    own = Surrogates(SECRET, kinds={"WHO": "name", "CITY": "other"}, lists={"place": PLACES})
    who, city = surrogates(("WHO", "Anna"), ("CITY", "Leeds"), replacer=own)
    assert who.isalpha()
    assert city not in {*PLACES, "Leeds"}


def test_a_list_never_gives_what_the_document_removes():
    cities = ["Leeds", *PLACES[1:]]
    found = surrogates(*(("CITY", city) for city in cities))
    assert found.count(PLACES[0]) == 1  # all that is left of the list; the rest are voile's own
    assert len(set(found)) == len(found)
    assert not set(found) & set(cities)
    assert surrogates(("CITY", "Leeds"))[0] in PLACES


def test_dates_of_one_subject_move_together_and_others_otherwise():
    from voile.keys.pseudonyms import date_shift

    by = {}
    for subject in map(str, range(40)):
        first, second = surrogates(("DATE", "2001-01-01"), ("DATE", "2001-01-31"), subject=subject)
        by[subject] = days(first) - days("2001-01-01")
        assert days(second) - days(first) == 30
        assert by[subject] == date_shift(SECRET, subject)
    assert len(set(by.values())) > 30


def days(text: str) -> int:
    from datetime import date

    return date.fromisoformat(text).toordinal()


def test_a_document_without_a_subject_is_one_of_its_own():
    named = [Document("Anna", id=str(n)) for n in range(30)]
    plain = [Document("Anna" + " " * n) for n in range(30)]
    for documents in (named, plain):
        found = [REPLACER(one, [TextRemoval(0, 4, "NAME")]).text.strip() for one in documents]
        again = [REPLACER(one, [TextRemoval(0, 4, "NAME")]).text.strip() for one in documents]
        assert found == again
        assert len(set(found)) > 15


def test_a_blank_subject_is_refused():
    with pytest.raises(RequestError, match="the subject is blank"):
        surrogates(("NAME", "Anna"), subject=" ")


def test_another_secret_gives_other_surrogates():
    other = Surrogates(Secret(bytes(32)), date_order="dmy", lists={"place": PLACES}, ages="mark")
    value = [("NAME", "Anna Smith"), ("DATE", "12 March 1999"), ("PHONE", "0113 496 0101")]
    assert not set(surrogates(*value)) & set(surrogates(*value, replacer=other))


PINNED = """
from voile.documents.text.document import Document
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.keys.secret import Secret
text = "Anna Smith, 12 March 1999, 0113 496 0101, anna@clinic.test"
removals = [TextRemoval(0, 10, "NAME"), TextRemoval(12, 25, "DATE"), TextRemoval(27, 40, "PHONE"),
            TextRemoval(42, 58, "EMAIL")]
print(Surrogates(Secret(bytes(range(32))))(Document(text, subject="17"), removals).text)
"""


def test_the_same_secret_gives_the_same_bytes_in_every_process():
    runs = {
        subprocess.run(
            [sys.executable, "-c", PINNED],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    assert b"Anna" not in runs.pop()


def test_spans_that_were_missed_are_where_they_moved_to():
    text = "Anna Smith and her sister Berta."
    made = REPLACER(Document(text, subject="17"), [TextRemoval(0, 10, "NAME")])
    (left,) = made.carry_spans([Span(0, 10, "NAME"), Span(26, 31, "NAME")])
    assert made.text[left.start : left.end] == "Berta"


def test_no_removal_changes_nothing():
    made = REPLACER(Document("Nobody.", subject="17"), [])
    assert (made.text, made.edits) == ("Nobody.", ())


def test_lists_of_names_can_be_the_users_own():
    own = NameLists(("Ada", "Bea"), ("Cai", "Dov"), ("Ek", "Falk"))
    replacer = Surrogates(SECRET, names=[own])
    assert surrogates(("NAME", "Ada Ek"), replacer=replacer) == ["Bea Falk"]
