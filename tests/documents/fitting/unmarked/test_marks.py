"""Proposals of several proposers as a corpus that is marked in part."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.documents.model.start.made import STAFF, notes, patients

from voile.core.errors import RequestError
from voile.data import open_source
from voile.documents.fitting.unmarked.marked import MarkedNotes
from voile.documents.fitting.unmarked.marks import ProposedMarks, ReviewedSpan, is_sure
from voile.documents.fitting.unmarked.proposer import PatternProposer
from voile.documents.fitting.unmarked.quick_look import QuickLook
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.model.start.rules import LanguageRules
from voile.documents.patterns import patterns_of
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.text.document import Document, Span
from voile.documents.words.token_classes import token_labels, unknown_tokens

PEOPLE = patients(40)
NOTES = [
    Document(row["note"], id=str(n), subject=row["patient_id"])
    for n, row in enumerate(notes(PEOPLE))
]


class Says:
    """Propose a word wherever it stands."""

    def __init__(self, word, label, *by):
        self.word, self.label, self.by = word, label, by

    def propose(self, documents):
        return [
            [TextRemoval(at, at + len(self.word), self.label, self.by)]
            if (at := one.text.find(self.word)) >= 0
            else []
            for one in documents
        ]


def marked(*proposers, documents=NOTES, reviewed=()):
    marks = ProposedMarks.of(documents, proposers)
    return MarkedNotes(marks, QuickLook(documents)).corpus(reviewed)


def known(staff=STAFF):
    columns = {name: [row[name] for row in PEOPLE] for name in PEOPLE[0]}
    people = open_source({"doctor": list(staff)}) if staff else None
    return KnownValues.read(open_source(columns), "patient_id", people=people)


def named(document):
    return [document.text[one.start : one.end] for one in document.spans if one.label == "NAME"]


def words(document, places):
    return [document.text[start:end] for start, end in places]


def test_what_is_known_or_mostly_right_identifies_and_of_other_proposals_nobody_knows():
    sure, rule = Says("Ana", "NAME", RemovalReason("known", "name")), RemovalReason("rule", "title")
    documents = [Document("Ana met Dr. Boris and May in Bath .")] * 1
    (one,) = marked(
        sure,
        Says("Boris", "NAME", rule),
        Says("May", "NAME", RemovalReason("possible", "name")),
        Says("Bath", "PLACE", rule),
        documents=documents,
    )
    assert one.spans == (Span(0, 3, "NAME"), Span(12, 17, "NAME"), Span(29, 33, "PLACE"))
    assert "May" in words(one, one.unknown)


@pytest.mark.parametrize(
    "by", [RemovalReason("possible", "doctor"), RemovalReason("starter", "unlikely")]
)
def test_what_is_mostly_right_gives_the_type_before_what_is_not(by):
    street, part = RemovalReason("rule", "street"), Says("Ruiz", "NAME", by)
    sure = Says("Ana", "NAME", RemovalReason("known", "name"))
    (one,) = marked(
        sure,
        part,
        Says("12 Ruiz Street", "ADDRESS", street),
        documents=[Document("Ana lives at 12 Ruiz Street .")],
    )
    assert one.spans == (Span(0, 3, "NAME"), Span(13, 27, "ADDRESS"))


def test_names_that_no_known_value_meets_are_counted_apart():
    documents = [Document("Ana met Dr. Boris , and May came from Bath ."), Document("Dr. Boris .")]
    marks = ProposedMarks.of(
        documents,
        (
            Says("Ana", "NAME", RemovalReason("known", "name")),
            Says("May", "NAME", RemovalReason("possible", "name")),
            Says("Bath", "PLACE", RemovalReason("known", "town")),
            Says("Boris", "NAME", RemovalReason("rule", "title")),
            Says("Ana met", "NAME", RemovalReason("starter")),
        ),
    )
    assert marks.names() == (4, 2)


def test_where_nothing_is_sure_of_a_type_its_proposals_are_identifiers():
    (one,) = marked(
        Says("Boris", "NAME", RemovalReason("rule", "title")),
        documents=[Document("Dr. Boris came .")],
    )
    assert one.spans == (Span(4, 9, "NAME"),)


def test_of_what_the_starter_calls_unlikely_nobody_knows():
    (one,) = marked(
        Says("Boris", "NAME", RemovalReason("starter")),
        Says("Bath", "NAME", RemovalReason("starter", "unlikely")),
        documents=[Document("Boris came from Bath .")],
    )
    assert one.spans == (Span(0, 5, "NAME"),)
    assert "Bath" in words(one, one.unknown)


@pytest.mark.parametrize(
    ("by", "sure"),
    [
        (("known", "name"), True),
        (("possible", "name"), False),
        (("pattern", "iban"), True),
        (("pattern", "phone"), False),
        (("pattern", "MRN-######"), False),
        (("rule", "title"), False),
    ],
)
def test_what_is_sure(by, sure):
    assert is_sure(TextRemoval(0, 1, "NAME", (RemovalReason(*by),))) is sure


def test_a_name_that_is_a_word_is_known_only_beside_another():
    row = {"patient_id": ["a"], "name": ["Summer Brandt"]}
    own = KnownValues.read(open_source(row), "patient_id")
    texts = ("Summer Brandt came .", "Summer came .", "This summer was hot .", "In summer , rain .")
    documents = [Document(text, subject=whose) for text, whose in zip(texts, "aabb", strict=True)]
    corpus = marked(own, documents=documents)
    assert corpus[0].spans == (Span(0, 13, "NAME"),)
    assert corpus[1].spans == ()
    assert corpus[2].spans == ()


def test_an_unmatched_doctor_is_learnt_as_a_name_beside_a_title_and_else_not_as_harmless():
    corpus = marked(known(staff=STAFF[:3]), LanguageRules())
    absent = [name.split()[1] for name in STAFF[3:]]
    left = [
        (one.id, word)
        for one in corpus
        for word in absent
        if word in one.text
        and not any(word in part for part in named(one) + words(one, one.unknown))
    ]
    there = sum(word in one.text for one in corpus for word in absent)
    learnt = sum(word in part for one in corpus for part in named(one) for word in absent)
    assert there > 20
    assert len(left) < 0.1 * there
    assert learnt > 0.5 * there


def test_a_machine_doubts_unmatched_names_where_others_stand_that_are_known():
    # each patient is seen by a doctor of their own, and a half of the doctors are known
    rng = random.Random(0)
    names = ["".join(rng.sample("abdefgiklmnoprstuvwz", 7)).capitalize() for _ in range(80)]
    documents = [
        Document(f"Seen by Dr. {name} at noon .", subject=str(n)) for n, name in enumerate(names)
    ]
    columns = {"patient_id": [str(n) for n in range(80)], "doctor": names}
    half = open_source({name: cells[::2] for name, cells in columns.items()})
    corpus = marked(
        KnownValues.read(half, "patient_id", kinds={"doctor": "name"}), documents=documents
    )
    doubted = [words(one, one.unknown) == [name] for one, name in zip(corpus, names, strict=True)]
    assert sum(doubted[1::2]) > 25  # of 40, by machines that learn from 20 of each
    assert not any(one.unknown for one in corpus[::2])


def test_what_was_reviewed_is_known():
    text = NOTES[0].text
    lines = [ReviewedSpan(0, 0, len(text), (Span(0, 4, "NAME"),))]
    corpus = marked(known(), reviewed=lines)
    assert corpus[0].spans == (Span(0, 4, "NAME"),)
    assert corpus[0].unknown == ()
    assert corpus[1].spans == marked(known())[1].spans


def test_a_part_of_a_document_may_be_reviewed_and_spans_at_its_edge_are_cut():
    document = Document("Ana Ruiz met Ana Ruiz .", subject="a")
    row = {"patient_id": ["a"], "name": ["Ana Ruiz"]}
    both = KnownValues.read(open_source(row), "patient_id")
    (one,) = marked(both, documents=[document], reviewed=[ReviewedSpan(0, 0, 3, ())])
    assert one.spans == (Span(3, 8, "NAME"), Span(13, 21, "NAME"))


def test_of_a_line_that_a_reviewer_was_unsure_of_nobody_knows():
    corpus = marked(known(), reviewed=[ReviewedSpan(0, 0, len(NOTES[0].text), (), unsure=True)])
    assert corpus[0].spans == ()
    text = NOTES[0].text.replace("/", " / ").replace("Dr.", "Dr .")
    assert words(corpus[0], corpus[0].unknown) == text.split()


def test_nothing_proposed_is_refused():
    with pytest.raises(RequestError, match="nothing in the notes looks like an identifier"):
        marked(LanguageRules(), documents=[Document("no fever , no cough .")])


def test_all_proposals_are_counted_by_what_proposes_them():
    marks = ProposedMarks.of(NOTES, [known(), PatternProposer(patterns_of()), LanguageRules()])
    counts = marks.counts()
    assert counts[RemovalReason("known", "name")] >= len(NOTES) / 2
    assert counts[RemovalReason("pattern", "phone")] > 0
    assert counts[RemovalReason("rule", "title")] > 0


def test_proposals_leave_offsets_of_the_original_text():
    (one,) = marked(
        Says("Ana", "NAME", RemovalReason("known", "name")),
        documents=[Document("\u200bAna came .")],
    )
    assert one.spans == (Span(1, 4, "NAME"),)


def test_without_known_values_the_rules_that_are_mostly_right_teach_and_others_do_not():
    title, listed = (
        Says("Boris", "NAME", RemovalReason("rule", "title")),
        RemovalReason("rule", "listed"),
    )
    document = Document("Dr. Boris sails to Clara .")
    (one,) = marked(title, Says("Clara", "NAME", listed), documents=[document])
    assert one.spans == (Span(4, 9, "NAME"),)
    (alone,) = marked(Says("Clara", "NAME", listed), documents=[document])
    assert alone.spans == (Span(19, 24, "NAME"),)


def test_a_phone_number_that_no_table_has_is_an_identifier_by_its_form():
    own = Says("555-100-2000", "PHONE", RemovalReason("known", "phone"))
    documents = [Document("Call 555-100-2000 ."), Document("Call 555-123-4567 .")]
    corpus = marked(own, PatternProposer(patterns_of()), documents=documents)
    assert [one.spans for one in corpus] == [(Span(5, 17, "PHONE"),)] * 2


def test_a_number_beyond_nearly_complete_columns_is_an_identifier_by_its_form():
    numbers = [f"555-{one:03}-{one:04}" for one in range(201, 221)]
    documents = [Document(f"Call {one} .", subject=one) for one in numbers]
    sure = {"pid": numbers[1:], "phone": numbers[1:]}
    kinds = {"phone": "phone", "pid": "none"}
    own = KnownValues.read(open_source(sure), "pid", kinds=kinds)
    corpus = marked(own, PatternProposer(patterns_of()), documents=documents)
    assert [one.spans for one in corpus] == [(Span(5, 17, "PHONE"),)] * len(numbers)


@pytest.mark.parametrize(("unmatched", "more"), [(1, False), (9, True)])
def test_what_a_rule_finds_beyond_nearly_complete_columns_is_its_errors(unmatched, more):
    names = [f"{one}al{one.lower() * 3}" for one in "BCDFGHJKLMNPQRSTVW"]  # none is another's typo
    documents = [Document(f"Dr. {name} , no fever .", subject=name) for name in names]
    sure = {"name": names[unmatched:], "pid": names[unmatched:]}
    kinds = {"name": "name", "pid": "none"}
    marks = ProposedMarks.of(
        documents, [KnownValues.read(open_source(sure), "pid", kinds=kinds), LanguageRules()]
    )
    learnt = [one.spans for one in marks.join_reviews(())[:unmatched]]
    assert learnt == [(Span(4, 10, "NAME"),) if more else ()] * unmatched


def words_taken_too_far(number=30):
    """Return letters whose doctors a rule proposes with the word behind, and these proposals."""
    rng = random.Random(0)
    names = ["".join(rng.sample("abdefgiklmnoprstuvwz", 7)).capitalize() for _ in range(number)]
    texts = [f"Seen by Dr. {name} Ward 4 at noon ." for name in names]
    documents = [Document(text, subject=str(n)) for n, text in enumerate(texts)]
    title = (RemovalReason("rule", "title"),)
    return documents, Proposes([[TextRemoval(12, 24, "NAME", title)] for _ in names])


class Proposes:
    def __init__(self, found):
        self.found = found

    def propose(self, documents):
        return self.found


NAMES = (Span(12, 19, "NAME"),)


def read(documents, number, spans=NAMES):
    """Return what a reviewer says of the first documents: these spans alone identify."""
    return [ReviewedSpan(n, 0, len(documents[n].text), spans) for n in range(number)]


def test_a_word_that_reviewers_refuse_is_not_learnt_from_where_nobody_has_read_it():
    documents, rule = words_taken_too_far()
    corpus = marked(rule, documents=documents, reviewed=read(documents, 6))
    for one in corpus[6:]:
        assert [one.text[span.start : span.end].strip() for span in one.spans] == [one.text[12:19]]
        assert "Ward" in words(one, one.unknown)


def test_what_reviewers_refuse_whatever_its_word_is_believed_no_more():
    documents, rule = words_taken_too_far(40)
    time = Says("noon", "TIME", RemovalReason("rule", "time"))
    noon = (Span(30, 34, "TIME"),)
    corpus = marked(rule, time, documents=documents, reviewed=read(documents, 30, noon))
    assert {one.spans for one in corpus} == {noon}


def test_one_refusal_takes_a_word_back_alone_and_one_acceptance_nothing():
    documents, rule = words_taken_too_far()
    before = marked(rule, documents=documents)
    refused = marked(rule, documents=documents, reviewed=read(documents, 1))
    accepted = marked(rule, documents=documents, reviewed=read(documents, 1, before[0].spans))
    assert [one.spans for one in accepted[1:]] == [one.spans for one in before[1:]]
    for one in refused[1:]:
        assert "Ward" in words(one, one.unknown)
        assert [span.start for span in one.spans] == [12]


def test_chances_are_those_of_the_corpus_by_a_look_at_it():
    documents, rule = words_taken_too_far()
    look = QuickLook(documents)
    notes = MarkedNotes(ProposedMarks.of(documents, [rule]), look)
    before = notes.probabilities()
    reviewed = read(documents, 4)
    corpus = notes.corpus(reviewed)
    identifiers = token_labels(look.tokens, corpus, corpus.labels) > 0
    known = identifiers | ~unknown_tokens(look.tokens, corpus)
    expected = look.probabilities(identifiers, known) * notes.trust(reviewed)
    np.testing.assert_array_equal(notes.probabilities(reviewed), expected)
    np.testing.assert_array_equal(notes.probabilities(), before)  # no answer stays
    assert (expected != before).any()


def test_trust_falls_with_refusals_and_rises_with_acceptances():
    documents, rule = words_taken_too_far()
    marks, look = ProposedMarks.of(documents, [rule]), QuickLook(documents)
    notes = MarkedNotes(marks, look)
    found = [notes.trust(read(documents, number)) for number in range(7)]
    forms = look.tokens.forms
    word = look.tokens.form == forms.index("Ward")
    last = look.tokens.document == len(documents) - 1
    refused = [one[word & last].item() for one in found]
    assert refused[0] == 0.9
    assert refused == sorted(refused, reverse=True)
    assert refused[-1] < 0.1
    name = look.tokens.starts == documents[-1].text.index(" Ward") - 7
    accepted = [one[last & name].item() for one in found]
    assert min(accepted) >= 0.5
    assert (found[6][look.tokens.document < 6] == 1).all()
