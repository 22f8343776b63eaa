"""From what a committee removes to what is published, document by document."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents.made import Told, corpus_of, notes

from voile.core.errors import RequestError
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.model.committee.publication import BATCH, publish_documents, removals_by_text
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published import (
    PublishedDocument,
    PublishedEdit,
    PublishedText,
    replace_removals,
)
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.sanitizer import sanitize_texts
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

FIRST, SECOND = RemovalReason("pass", "m0", 1), RemovalReason("pass", "m1", 2)
TRAINING = TrainingText.of(notes(2))


def committee(*known):
    members = tuple(
        CommitteeMember(f"m{n}", Told(one, 2), None, "accuracy") for n, one in enumerate(known)
    )
    return TokenCommittee(TRAINING.labels, np.ones(2), TRAINING.space, members)


NAMES = committee({"Ana": 2, "30": 1}, {"Leo": 2})


def test_texts_come_back_in_their_order():
    texts = ["Ana is 30 .", "", "Ana Leo\nAna", "no one"]
    expected = ["[NAME] is [AGE] .", "", "[NAME]\n[NAME]", "no one"]
    assert sanitize_texts(NAMES, texts, "mark") == expected
    assert sanitize_texts(NAMES, tuple(texts), "mark") == expected
    assert sanitize_texts(NAMES, (text for text in texts), "mark") == expected
    assert sanitize_texts(NAMES, np.array(texts), "mark") == expected
    assert sanitize_texts(NAMES, [], "mark") == []


@pytest.mark.parametrize("texts", ["Ana", None, 3, ["Ana", None], [Document("Ana")], b"Ana"])
def test_what_is_no_list_of_texts_is_refused(texts):
    with pytest.raises(RequestError, match="a corpus or a list of texts"):
        sanitize_texts(NAMES, texts, "mark")


def test_a_corpus_keeps_its_documents_and_the_spans_that_are_left():
    corpus = corpus_of("Ana/NAME saw Eva/NAME , 30/AGE .", "Zoë", subjects=["a", "b"])
    made = sanitize_texts(NAMES, corpus, "mark")
    assert isinstance(made, Corpus)
    assert made[0] == PublishedDocument(
        "[NAME] saw Eva , [AGE] .",
        (Span(11, 14, "NAME"),),
        "0",
        "a",
        edits=(
            PublishedEdit(0, 6, 0, 3, "NAME", (FIRST,)),
            PublishedEdit(17, 22, 14, 16, "AGE", (FIRST,)),
        ),
    )
    assert (made[1].text, made[1].id, made[1].subject, made[1].edits) == ("Zoë", "1", "b", ())
    assert made[0].text[11:14] == "Eva"


def test_any_callable_says_what_comes_instead():
    seen = []

    def stars(document, removals):
        seen.extend(removals)
        return replace_removals(
            document.text, removals, ["*" * (r.end - r.start) for r in removals]
        )

    assert sanitize_texts(NAMES, ["Ana Leo is 30"], stars) == ["******* is **"]
    assert seen == [
        TextRemoval(0, 7, "NAME", (FIRST, SECOND)),
        TextRemoval(11, 13, "AGE", (FIRST,)),
    ]


def test_one_token_is_one_removal_by_one_member():
    remover = NAMES.remover()
    removed = remover(["a", "Leo 30", "", "Ana"])
    assert list(removals_by_text(remover, removed)) == [
        [],
        [TextRemoval(0, 3, "NAME", (SECOND,)), TextRemoval(4, 6, "AGE", (FIRST,))],
        [],
        [TextRemoval(0, 3, "NAME", (FIRST,))],
    ]


def test_hidden_characters_go_with_the_word_that_they_part():
    assert sanitize_texts(NAMES, ["A\u200bn\u00ada is\u200b in"], "mark") == ["[NAME] is\u200b in"]


def test_memory_follows_the_batch():
    taken = 0

    def documents():
        nonlocal taken
        for number in range(3 * BATCH):
            taken += 1
            yield Document(f"Ana {number}")

    def put(document, removals):
        return PublishedText(f"{document.text}", ())

    made = publish_documents(NAMES.remover(), documents(), LabelMarks())
    first = next(made)
    assert (first.text, taken) == ("[NAME] 0", BATCH)
    rest = [one.text for one in made]
    assert rest == [f"[NAME] {n}" if n != 30 else "[NAME] [AGE]" for n in range(1, 3 * BATCH)]
