"""What is left of the truth is told in the published text, and of the right document."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.attack.texts import notes, released

from voile.core.errors import RequestError
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.remaining import match_documents
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.tokens import tokenise
from voile.keys.pseudonyms import Secret

WORDS = st.lists(st.sampled_from(["Ana", "Smith", "of", "12", ",", "[X]", "D’Or"]), max_size=12)
PUTS = st.sampled_from([LabelMarks(), Surrogates(Secret(bytes(32)))])


@st.composite
def cases(draw):
    """A document whose words are identifiers or not, and removed or not."""
    words = draw(WORDS)
    text = "".join(word + draw(st.sampled_from([" ", "\n", "  "])) for word in words)
    places = [(one.start(), one.end()) for one in re.finditer(r"\S+", text)]
    spans = tuple(Span(a, b, "NAME") for a, b in places if draw(st.booleans()))
    removals = [TextRemoval(a, b, "NAME") for a, b in places if draw(st.booleans())]
    return Document(text, spans), removals


def ground_of(published, truth):
    release = Corpus(document for document, _ in match_documents(published, truth))
    return AttackText.of(release, None, {})


@given(cases(), PUTS)
def test_as_many_identifiers_are_left_as_were_not_removed(case, put):
    document, removals = case
    tokens = tokenise([document.text])
    gone = [
        any(one.start < end and start < one.end for one in removals)
        for start, end in zip(tokens.starts, tokens.ends, strict=True)
    ]
    identifier = [
        any(one.start < end and start < one.end for one in document.spans)
        for start, end in zip(tokens.starts, tokens.ends, strict=True)
    ]
    ground = ground_of(Corpus([publish(document, removals, put)]), Corpus([document]))
    left = sum(true and not removed for true, removed in zip(identifier, gone, strict=True))
    assert int((ground.types > 0).sum()) == left
    assert int(ground.examples.labels.sum()) == left


def test_marks_are_not_counted_but_a_name_in_brackets_is():
    text = "Seen: [ANA] and Leo ."
    document = Document(text, (Span(7, 10, "NAME"), Span(16, 19, "NAME")))
    release = Corpus([publish(document, [TextRemoval(16, 19, "NAME")], LabelMarks())])
    ground = ground_of(release, Corpus([document]))
    shown = [
        word
        for word, kept in zip(ground.examples.words, ground.examples.counted, strict=True)
        if kept
    ]
    assert shown == ["Seen", ":", "[ANA]", "and", "."]
    assert int(ground.examples.labels.sum()) == 1


def test_a_surrogate_is_a_token_like_any_other():
    document = Document("Seen: Ana .", (Span(6, 9, "NAME"),))
    put = Surrogates(Secret(bytes(32)))
    release = Corpus([publish(document, [TextRemoval(6, 9, "NAME")], put)])
    ground = ground_of(release, Corpus([document]))
    assert ground.examples.counted.all()
    assert not ground.examples.labels.any()


def test_documents_are_matched_by_id_and_may_be_fewer():
    truth = notes(6)
    release = released(truth, lambda number, place: place > 0)
    shuffled = release.subset([4, 1, 3])
    pairs = list(match_documents(shuffled, truth))
    assert [source.id for _, source in pairs] == ["4-0", "1-0", "3-0"]
    for one, source in pairs:
        start, end = one.spans[0].start, one.spans[0].end
        assert len(one.spans) == 1
        assert one.text[start:end] == source.text[source.spans[0].start : source.spans[0].end]


def test_without_common_ids_the_order_counts_and_subjects_are_the_truths():
    truth = notes(6)
    release = Corpus(
        type(one)(one.text, (), f"pseudonym {number}", None, edits=one.edits)
        for number, one in enumerate(released(truth, lambda number, place: True))
    )
    pairs = list(match_documents(release, truth))
    assert [one.subject for one, _ in pairs] == [source.subject for source in truth]


@pytest.mark.parametrize("wrong", [[1, 0, 2], [0, 1]])
def test_a_truth_of_another_release_is_refused_without_a_word_of_it(wrong):
    truth = notes(3)
    release = Corpus(
        Document(one.text) for one in released(truth, lambda number, place: place == 0)
    )
    truth = Corpus(Document(one.text, one.spans) for one in truth.subset(wrong))
    with pytest.raises(RequestError) as error:
        list(match_documents(release, truth))
    assert not set(re.findall(r"\w+", str(error.value))) & {"Ana", "Eva", "Leo", "lungs", "Patient"}
