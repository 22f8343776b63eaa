"""A spaCy pipeline in the place of the rule, and its parts of speech."""

from __future__ import annotations

import builtins
import pickle

import pytest

from voile.core.errors import RequestError
from voile.documents import Corpus, Document, GreedySanitizer, Span
from voile.documents.adapters.spacy_pipeline import spacy_tokeniser, tagged_by
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.words.tokens import tokenise

spacy = pytest.importorskip("spacy")

NAMES = ["Ana", "Eva", "Leo", "Max", "Ida", "Tom", "Pia", "Jan"]


def notes():
    """Return notes in which spaCy cuts tokens that voile's rule does not."""
    return Corpus(
        Document(f"{a}'s wife isn't {b} , she said .", (Span(0, 3, "NAME"),), f"{a}{b}")
        for a in NAMES
        for b in NAMES
    )


@pytest.fixture(scope="module")
def tagger():
    """Return a pipeline that tags by a word's first letter, as a tagger does."""

    def tag(doc):
        for token in doc:
            token.tag_ = "UP" if token.text[0].isupper() else ""
        return doc

    spacy.Language.component("by first letter", func=tag)
    nlp = spacy.blank("en")
    nlp.add_pipe("by first letter")
    return nlp


def test_tokens_are_spacys():
    nlp = spacy.blank("en")
    text = "Ana's notes\n\n  aren't old\u200b.\n"
    tokens = tokenise([text], tokeniser=spacy_tokeniser(nlp))
    places = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    expected = [token.text for token in nlp(text) if not token.is_space]
    assert [text[a:b] for a, b in places] == expected
    assert "n't" in expected
    assert spacy_tokeniser(nlp)("Ana \n  left\n\n") == [(0, 3), (7, 11)]


def test_a_language_or_a_name_stands_for_a_pipeline():
    assert spacy_tokeniser("es")("¿Ana?") == [(0, 1), (1, 4), (4, 5)]
    for name in ("zz", "no_such_pipeline"):
        with pytest.raises(RequestError, match="no spaCy pipeline"):
            spacy_tokeniser(name)


def test_without_spacy_the_extra_is_named(monkeypatch):
    def absent(name, *rest):
        if name == "spacy":
            raise ImportError(name)
        return imported(name, *rest)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(RequestError, match=r"voile\[spacy\]"):
        spacy_tokeniser("en")


def test_a_sanitizer_with_a_pipeline_cuts_as_it_everywhere():
    sanitizer = GreedySanitizer(("svm",), random_state=1, tokeniser=spacy_tokeniser("en"))
    sanitizer.fit(notes())
    text = "Eva's wife isn't Ana , she said ."
    (removed,) = [sanitizer.committee_.remover()([text])]
    assert "n't" in removed.tokens.forms
    assert len(sanitizer.removed_) == 64 * 10
    assert sanitizer.sanitize([text]) == ["[NAME]'s wife isn't Ana , she said ."]
    assert pickle.loads(pickle.dumps(sanitizer)).sanitize([text]) == sanitizer.sanitize([text])


def test_tags_are_the_pipelines(tagger):
    corpus = tagged_by(Corpus([Document("Ana is Leo", id="1", subject="s"), Document(" ")]), tagger)
    assert corpus[0].pos == ((0, 3, "UP"), (7, 10, "UP"))
    assert (corpus[0].id, corpus[0].subject, corpus[1].pos) == ("1", "s", ())
    training = TrainingText.of(tagged_by(notes(), tagger))
    assert training.space.tags == ("UP",)


def test_a_pipeline_that_tags_nothing_is_refused():
    with pytest.raises(RequestError, match="no parts of speech"):
        tagged_by(notes(), "en")
    assert len(tagged_by(Corpus([]), "en")) == 0
