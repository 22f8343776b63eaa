"""A policy at work on documents: repeats, lists, what fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.flow import kit_of
from tests.documents.made import Told

from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.model.committee.removals import TokenRemovals
from voile.documents.model.committee.repeats import NameWords, find_mentions
from voile.documents.model.committee.worker import DocumentWorker, RemovalRecipe
from voile.documents.model.content import DocumentsContent
from voile.documents.patterns import patterns_of
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text import document as texts_read
from voile.documents.text.document import Document
from voile.documents.words.tokens import TokenNumbers, tokenise

LABELS = ("NAME", "AGE", "DOCTOR")
SAYS, DENIED = RemovalReason("pass", "says", 1), RemovalReason("list", "deny-list")
TEXT = "Patient Ana Ruiz came on foot with May , and was well ."


def recipe(**changes):
    """Remove Ana and Ruiz in a first pass, Eva and an age in a second."""
    content = DocumentsContent.of(kit_of())
    space = content.committee(content.policy(0)).space
    told = (Told({"Ana": 1, "Ruiz": 1}, 3), Told({"Eva": 1, "34": 2}, 3))
    members = tuple(CommitteeMember("says", one, None, "accuracy") for one in told)
    committee = TokenCommittee(LABELS, np.ones(3), space, members)
    made = RemovalRecipe(committee, (), None, frozenset({"NAME"}), LabelMarks())
    return replace(made, **changes)


NAMED = np.array([False, True])


def removed_of(texts, types):
    """Return tokens of texts, removed as the types that words have, unless they begin with ``=``.

    ``types`` : form -> type; ``=Ana`` is Ana left where she stands.
    """
    tokens = tokenise([text.replace("=", "") for text in texts])
    words = [word for text in texts for word in text.split()]
    assert [word.replace("=", "") for word in words] == [tokens.forms[n] for n in tokens.form]
    found = np.array([types.get(word, 0) for word in words], dtype=np.int16)
    return TokenRemovals(
        tokens, found, np.where(found > 0, 0, -1).astype(np.int16), found > 0
    ), words


def naive(texts, types, names):
    """Say of each token what it repeats, by the words of the docstring."""
    found = []
    for text in texts:
        words = text.split()
        gone = [(word, types[word]) for word in words if types.get(word) and names[types[word]]]
        for word in words:
            plain = word.replace("=", "")
            like = [
                kind
                for form, kind in gone
                if _same(form, plain, [one.replace("=", "") for one in words])
            ]
            found.append(like[0] if like and not types.get(word) else 0)
    return found


def _same(gone, left, document):
    """Say whether what is left is a mention of what is gone."""
    left, _, scan = left.partition("_")
    if len(gone) == 2:
        return gone == left == gone.capitalize() and gone.lower() not in document
    if min(len(gone), len(left)) < 3 or not gone.isalpha() or not left.isalpha():
        return False
    if gone.islower() or (left.islower() and not scan):
        return False
    return PLAIN.get(gone, gone).lower() == PLAIN.get(left, left).lower()


PLAIN = {"Añá": "Ana", "AÑÁ": "ANA"}
GONE = ["Ana", "ANA", "ana", "Añá", "Li", "LI", "li", "R2D", "Eva"]
WORDS = [*GONE, *(f"={one}" for one in GONE), "=AÑÁ", "=ana_scan", "=Li_scan"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=4),
    st.fixed_dictionaries({}, optional={w: st.integers(1, 3) for w in GONE}),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_repeats_are_the_names_removed_elsewhere_in_the_same_document(texts, types, which):
    names = np.array([False, *which])
    removed, _ = removed_of(texts, types)
    assert find_mentions(removed, names).tolist() == naive(texts, types, names)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=6))
def test_repeats_are_the_same_whatever_texts_came_before(texts):
    types, names = {"Ana": 1, "Li": 1, "Eva": 2}, np.array([False, True, True, False])
    words, known = NameWords(), TokenNumbers()
    for number, text in enumerate(texts):
        known = TokenNumbers() if number == len(texts) // 2 else known
        alone, _ = removed_of([text], types)
        tokens = tokenise([text.replace("=", "")], known)
        after = find_mentions(replace(alone, tokens=tokens), names, words)
        assert after.tolist() == find_mentions(alone, names).tolist()


def test_a_repeat_is_of_the_type_that_was_removed_first():
    types = {"Ana": 3, "ANA": 1}
    names = np.array([False, True, False, True])
    found = find_mentions(removed_of(["=Ana Ana ANA", "=Ana ANA Ana", "=Ana"], types)[0], names)
    assert found.tolist() == [3, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("gone", "left", "stays"),
    [
        ("Núñez", ["Nunez", "NUÑEZ", "NUNEZ", "Nu\u0301n\u0303ez"], ["nunez", "Nuñezson"]),
        ("Wexlerova", ["Wexlerova_scan", "wexlerova_scan", "scan_WEXLEROVA2020"], ["wexlerova"]),
        ("Ruiz_2020", ["Ruiz", "RUIZ_2021"], ["ruiz", "2020", "x_2020"]),
        ("scan_Ruiz", ["Ruiz"], ["scan", "Scan", "scan_x"]),
        ("Wu", ["Wu", "Wu_scan"], ["WU", "Wú", "wu_scan", "Wud"]),
        ("Wu", [], ["Wu", "wu"]),
        ("He", [], ["He", "he"]),
        ("TK", [], ["TK", "Tk"]),
        ("كريم", ["كريم", "كريم_scan"], ["كريمة"]),
        ("رضا", ["رضا"], ["رض"]),
        ("אבי", ["אבי"], ["אב"]),
        ("אב", [], ["אב"]),
        ("王芳", ["王芳", "王芳_2"], ["王", "王芳来"]),
        ("अमित", ["अमित"], ["अम"]),
        ("김민수", ["김민수"], ["김민수는"]),
    ],
)  # fmt: skip
def test_how_a_name_may_be_written_elsewhere(gone, left, stays):
    text = " ".join([gone, *left, *stays])
    tokens = tokenise([text])
    types = np.zeros(len(tokens), dtype=np.int16)
    types[0] = 1
    assert len(tokens) == 1 + len(left) + len(stays)
    found = find_mentions(TokenRemovals(tokens, types, types - 1, types > 0), NAMED)
    assert found.tolist() == [0] + [1] * len(left) + [0] * len(stays)


def test_what_is_no_surer_than_not_to_be_a_name_is_not_looked_for_elsewhere():
    removed, _ = removed_of(["Ana =Ana Eva =Eva"], {"Ana": 1, "Eva": 1})
    unsure = replace(removed, sure=np.array([True, False, False, False]))
    assert find_mentions(unsure, NAMED).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("gone", "left", "stays"),
    [
        ("Wexlerova", ["Wexlrova", "Wexlerowa", "Wexxlerova", "Wexlreova", "WEXLEROWA"], []),
        ("Wexlerova", [], ["wexlerowa", "Wexlowa", "Exlerowa", "Patient"]),
        ("Miller", [], ["Muelles", "Mill"]),
        ("Smith", [], ["Smyth", "Smiths"]),
    ],
)
def test_a_long_name_is_found_with_a_letter_wrong(gone, left, stays):
    removed, _ = removed_of([" ".join([gone, *left, *stays])], {gone: 1})
    assert find_mentions(removed, NAMED).tolist() == [0] + [1] * len(left) + [0] * len(stays)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Anna Smith . =Anna S . left", [0, 0, 0, 1, 1, 0, 0]),
        ("Anna Smith . Seen by A . =Smith", [0, 0, 0, 0, 0, 1, 0, 1]),
        ("Anna Smith . Vitamin A . Type S", [0, 0, 0, 0, 0, 0, 0, 0]),
        ("Anna Smith X .", [0, 0, 0, 0]),
    ],
)
def test_an_initial_of_a_name_is_found_beside_one(text, found):
    removed, _ = removed_of([text], {"Anna": 1, "Smith": 1})
    assert find_mentions(removed, NAMED).tolist() == found


def test_a_mark_in_the_text_is_no_mention():
    removed, _ = removed_of(["Name [NAME] =Name"], {"Name": 1})
    assert find_mentions(removed, np.array([False, True])).tolist() == [0, 0, 1]


def done(work, *texts):
    return work([Document(text, id=f"row {n}") for n, text in enumerate(texts, 1)])


def test_who_removed_what_is_told():
    finders = (PhraseList(["on foot"]), *patterns_of(["phone"]))
    text = f"{TEXT} ANA called 555-123-4567 . Eva , 34 , and RUIZ did not ."
    (one,) = done(DocumentWorker(recipe(finders=finders)), text)
    told = [(text[e.source_start : e.source_end], e.label, *e.by) for e in one.edits]
    assert told == [
        ("Ana Ruiz", "NAME", SAYS),
        ("on foot", "LISTED", DENIED),
        ("ANA", "NAME", RemovalReason("repeat")),
        ("555-123-4567", "PHONE", RemovalReason("pattern", "phone")),
        ("Eva", "NAME", RemovalReason("pass", "says", 2)),
        ("34", "AGE", RemovalReason("pass", "says", 2)),
        ("RUIZ", "NAME", RemovalReason("repeat")),
    ]
    assert one.text == (
        "Patient [NAME] came [LISTED] with May , and was well . [NAME] called [PHONE] . "
        "[NAME] , [AGE] , and [NAME] did not ."
    )


def test_two_numbers_beside_each_other_have_a_mark_each():
    text = "From 10.0.0.1 10.0.0.1 and 615-555-0123 615-555-0123 ."
    (one,) = done(DocumentWorker(recipe(finders=patterns_of(["ip", "phone"]))), text)
    assert one.text == "From [IP] [IP] and [PHONE] [PHONE] ."
    assert len(one.edits) == 4


def test_several_removers_of_one_value_are_all_told():
    finders = (PhraseList(["Ana Ruiz came"]),)
    (one,) = done(DocumentWorker(recipe(finders=finders)), TEXT)
    assert [(e.source_start, e.source_end, e.label, e.by) for e in one.edits] == [
        (8, 16, "NAME", (SAYS,)),
        (17, 21, "LISTED", (DENIED,)),
    ]


CARD = "4111 1111 1111 1111"
PAID = f"Ana paid by card {CARD} , DNI 12345678Z , or called 555-123-4567 and ana@tardis.example ."


def spoken(**types):
    """Return a committee of one pass that removes these words, as types from 1."""
    whole = recipe().committee
    words = {word.strip("_"): kind for word, kind in types.items()}
    return replace(whole, members=(CommitteeMember("says", Told(words, 3), None, "accuracy"),))


@pytest.mark.parametrize(
    ("committee", "phrases", "label", "words"),
    [
        ({"_4111": 2}, [], "CARD", CARD),
        ({"_4111": 2, "_1111": 3}, [], "CARD", CARD),
        ({}, [CARD], "CARD", CARD),
        ({"_4111": 2}, [CARD], "CARD", CARD),
        ({}, ["card 4111"], "CARD", CARD),
        ({"card": 2}, [f"by card {CARD}"], "CARD", CARD),
        ({"_12345678Z": 2}, ["DNI"], "DNI", "12345678Z"),
        ({"_4567": 3}, [], "PHONE", "555-123-4567"),
        ({"_4567": 3, "_123": 3}, [], "DOCTOR", "555-123-4567"),
        ({}, ["called 555"], "PHONE", "555-123-4567"),
        ({"paid": 3}, ["Ana paid"], "DOCTOR", "paid"),
        ({"Ana": 1}, ["ana@"], "EMAIL", "ana@tardis.example"),
    ],
)
def test_who_knows_best_what_it_is_gives_the_label(committee, phrases, label, words):
    finders = (*([PhraseList(phrases)] if phrases else []), *patterns_of())
    made = recipe(committee=spoken(**committee), finders=finders)
    (one,) = done(DocumentWorker(made), PAID)
    assert (label, words) in [(e.label, PAID[e.source_start : e.source_end]) for e in one.edits]


def places(one):
    """Return the letters and digits that a document lost."""
    parts = (range(edit.source_start, edit.source_end) for edit in one.edits)
    return {at for part in parts for at in part if PAID[at].isalnum()}


@given(
    st.dictionaries(st.sampled_from(["Ana", "card", "_4111", "_1111", "or", "_4567"]), st.just(2)),
    st.lists(st.sampled_from(["Ana paid", "card 4111", "1111 , DNI", "called 555", CARD])),
)
@settings(deadline=None)
def test_whatever_gives_the_label_all_that_is_removed_stays_removed(committee, phrases):
    lists = (PhraseList(phrases),) if phrases else ()
    learnt, nobody = spoken(**committee), spoken()
    ways = [
        (learnt, ()),
        (nobody, patterns_of()),
        (nobody, lists),
        (learnt, (*lists, *patterns_of())),
    ]
    *alone, both = [
        done(DocumentWorker(recipe(committee=who, finders=finders, names=frozenset())), PAID)[0]
        for who, finders in ways
    ]
    assert places(both) == set().union(*map(places, alone))
    cards = [e.label for e in both.edits if CARD in PAID[e.source_start : e.source_end]]
    assert cards == ["CARD"]


def test_without_names_nothing_is_repeated():
    (one,) = done(DocumentWorker(recipe(names=frozenset())), f"{TEXT} ANA left .")
    assert [edit.by for edit in one.edits] == [(SAYS,)]


def test_repeats_of_types_that_are_no_names_stay():
    text = f"{TEXT} ANA left ."
    (one,) = done(DocumentWorker(recipe(names=frozenset({"AGE", "DOCTOR"}))), text)
    assert [edit.by for edit in one.edits] == [(SAYS,)]


@given(st.lists(st.sampled_from(["Ana", "Ruiz", "Ana Ruiz", "well", "May", "foot"]), min_size=1))
def test_an_allow_list_only_subtracts(phrases):
    text = f"{TEXT} ANA left the foot of May ."
    finders = (PhraseList(["foot", "well"]),)
    (before,) = done(DocumentWorker(recipe(finders=finders)), text)
    (after,) = done(
        DocumentWorker(recipe(finders=finders, allow=PhraseList(phrases, name="allow"))), text
    )

    def gone(one):
        parts = (range(edit.source_start, edit.source_end) for edit in one.edits)
        return {at for part in parts for at in part if not text[at].isspace()}

    kept = {at for one in PhraseList(phrases).find(text) for at in range(one.start, one.end)}
    assert gone(after) <= gone(before)
    assert gone(before) - gone(after) <= kept


@dataclass(frozen=True)
class Failing:
    """Marks, but for documents that say so: there it fails."""

    def __call__(self, document, removals):
        if "fail" in document.text:
            raise KeyError(document.text)
        return LabelMarks()(document, removals)


def test_a_document_that_fails_fails_alone():
    texts = [TEXT, "fail Ana", TEXT, "", "Ana Ruiz will fail", TEXT]
    whole = done(DocumentWorker(recipe()), *texts)
    found = done(DocumentWorker(recipe(put=Failing())), *texts)
    assert [one is None for one in found] == ["fail" in text for text in texts]
    assert [a == b for a, b in zip(found, whole, strict=True) if a] == [True] * 4


def test_documents_are_the_same_in_whatever_company():
    texts = [f"{TEXT} Number {n} ." for n in range(23)]
    alone = done(DocumentWorker(recipe()), *texts)
    assert [f"Number {n} " in one.text for n, one in enumerate(alone)] == [True] * 23
    worker = DocumentWorker(recipe())
    documents = [Document(text, id=f"row {n}") for n, text in enumerate(texts, 1)]
    parts = [worker(documents[at : at + 5]) for at in range(0, 23, 5)]
    assert [one for part in parts for one in part] == alone
    assert worker([]) == []
    assert worker(documents[:1]) == alone[:1]


@settings(max_examples=10)
@given(st.lists(st.integers(0, 60), max_size=6), st.integers(1, 100))
def test_what_is_looked_at_together_changes_nothing(lengths, limit):
    texts = [f"{TEXT} " * (n // 20) + "Ana Ruiz " * (n % 3) for n in lengths]
    whole = done(DocumentWorker(recipe()), *texts)
    before, texts_read.CHARACTERS = texts_read.CHARACTERS, limit
    try:
        assert done(DocumentWorker(recipe()), *texts) == whole
    finally:
        texts_read.CHARACTERS = before


@given(st.lists(st.integers(0, 50)), st.integers(1, 60))
def test_parts_are_as_long_as_they_may_be(lengths, limit):
    documents = [Document("a" * n, id=str(place)) for place, n in enumerate(lengths)]
    before, texts_read.CHARACTERS = texts_read.CHARACTERS, limit
    try:
        parts = list(texts_read.in_parts(documents))
    finally:
        texts_read.CHARACTERS = before
    assert [one for part in parts for one in part] == documents
    sizes = [sum(len(one.text) for one in part) for part in parts]
    assert all(size <= limit or len(part) == 1 for part, size in zip(parts, sizes, strict=True))
    for size, (_, after) in zip(sizes, pairwise(parts), strict=False):
        assert size + len(after[0].text) > limit
