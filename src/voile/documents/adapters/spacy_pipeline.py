"""Get tokens and parts of speech from the user's own spaCy pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voile.core.errors import RequestError, install
from voile.documents.text.corpus import Corpus

if TYPE_CHECKING:
    from voile.documents.words.tokens import Tokeniser

LANGUAGE = 3
"""The most characters of a language code. Longer names are names of pipelines."""


def spacy_tokeniser(nlp: Any) -> Tokeniser:
    """Return the tokeniser of a spaCy pipeline: the object, its name, or a language ("es").

    >>> spacy_tokeniser("en")("Ask Dr. Who.")
    [(0, 3), (4, 7), (8, 11), (11, 12)]
    """
    return _PipelineTokeniser(_pipeline(nlp))


@dataclass(frozen=True)
class _PipelineTokeniser:
    nlp: Any

    def __call__(self, text: str) -> Sequence[tuple[int, int]]:
        tokens = self.nlp.make_doc(text)
        return [(token.idx, token.idx + len(token)) for token in tokens if not token.is_space]


def tagged_by(corpus: Corpus, nlp: Any) -> Corpus:
    """Return the corpus with the parts of speech that a pipeline assigns to its words.

    Tag the text to sanitise and the training text with the same pipeline.
    """
    pipeline = _pipeline(nlp)
    read = pipeline.pipe(document.text for document in corpus)
    found = [
        tuple((one.idx, one.idx + len(one), one.pos_ or one.tag_) for one in tokens if _is(one))
        for tokens in read
    ]
    if not any(found) and any(one.text.strip() for one in corpus):
        raise RequestError(
            "the spaCy pipeline gives no parts of speech", instead="use one with a tagger"
        )
    return Corpus(replace(one, pos=pos) for one, pos in zip(corpus, found, strict=True))


def _is(token: Any) -> bool:
    return bool(token.pos_ or token.tag_) and not token.is_space


def _pipeline(nlp: Any) -> Any:
    if not isinstance(nlp, str):
        return nlp
    try:
        import spacy
    except ImportError:
        raise RequestError("spaCy is not installed", instead=install("spacy")) from None
    try:
        return spacy.blank(nlp) if len(nlp) <= LANGUAGE else spacy.load(nlp)
    except (ImportError, OSError):
        raise RequestError(
            f"no spaCy pipeline is called {nlp}", instead="install it, or give it by its folder"
        ) from None
