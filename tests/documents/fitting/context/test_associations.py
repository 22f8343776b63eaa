"""Words of the context become spans of their own types, and nothing else changes."""

from __future__ import annotations

import pytest

from voile.core.errors import RequestError
from voile.documents.fitting.context.associations import find_associations, label_context
from voile.documents.fitting.context.rules import RuleThresholds
from voile.documents.replacements.kinds import is_context
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

LOOSE = RuleThresholds(subjects=2, confidence=0.8, lift=1.5, chance=1)


def clinic(copies=1):
    """Sailors have a name and a boat; walkers have a place and a dog."""
    documents = []
    for number in range(6):
        sails = number < 3
        text = f"Qx{number} has a {'Yacht' if sails else 'dog'}, and a pen."
        span = Span(0, 3, "NAME" if sails else "PLACE")
        one = Document(text, (span,), id=str(number), subject=f"p{number}")
        documents += [one] * copies
    return Corpus(documents)


def context(corpus):
    return [
        (number, document.text[span.start : span.end], span.label)
        for number, document in enumerate(corpus)
        for span in document.spans
        if span.label.startswith("CONTEXT_")
    ]


def test_words_that_tell_of_a_type_become_its_context():
    found = label_context(clinic(), LOOSE)
    sailors = [(number, "Yacht", "CONTEXT_NAME") for number in range(3)]
    assert context(found) == sailors + [(number, "dog", "CONTEXT_PLACE") for number in range(3, 6)]
    assert found.labels == ("CONTEXT_NAME", "CONTEXT_PLACE", "NAME", "PLACE")
    for before, after in zip(clinic(), found, strict=True):
        assert set(before.spans) < set(after.spans)
        assert (before.text, before.id, before.subject) == (after.text, after.id, after.subject)


def test_every_document_twice_changes_no_rule():
    once, twice = find_associations(clinic(), LOOSE), find_associations(clinic(2), LOOSE)
    assert [(one.word, one.target, one.subjects, one.lift) for one in once] == [
        (one.word, one.target, one.subjects, one.lift) for one in twice
    ]


def test_one_subject_of_many_documents_is_one():
    same = Corpus(Document(one.text, one.spans, subject="p") for one in clinic())
    assert len(find_associations(same, LOOSE)) == 0


def test_only_the_types_asked_for():
    assert {span[2] for span in context(label_context(clinic(), LOOSE, labels=["PLACE"]))} == {
        "CONTEXT_PLACE"
    }
    assert {rule.target for rule in find_associations(clinic(), LOOSE, labels=["NAME"])} == {
        ("NAME",)
    }
    with pytest.raises(RequestError, match="no type NAMES; did you mean NAME"):
        find_associations(clinic(), LOOSE, labels=["NAMES"])


def test_a_word_inside_or_touching_a_span_is_no_context():
    inside = Corpus(
        Document(f"Yacht{number} x", (Span(0, 5, "NAME"),), subject=str(number))
        for number in range(3)
    )
    assert context(label_context(inside, RuleThresholds(1, 0.1, 0, 1))) == [
        (number, "x", "CONTEXT_NAME") for number in range(3)
    ]


@pytest.mark.parametrize(
    "corpus", [Corpus([]), Corpus([Document("")]), Corpus([Document("no span at all")])]
)
def test_where_nothing_is_there_nothing_is_found(corpus):
    assert [one.spans for one in label_context(corpus, LOOSE)] == [()] * len(corpus)


def test_examples_of_is_context():
    assert is_context(["CONTEXT_NAME", "CONTEXT_ROOM", "NAME"]).tolist() == [True, False, False]
