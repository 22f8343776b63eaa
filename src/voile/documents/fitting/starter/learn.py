"""Train the pretrained models: `python -m voile.documents.fitting.starter.learn DATA`.

DATA is a folder of the corpora in SOURCES.md. The learned attributes identify no single person. An
attribute is kept if `MANY` documents of two corpora have it. A word is kept only if it is in lower
case more often than not, so that it is not a person's name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.consensus import ConsensusLearner
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.start.lists import lists_of
from voile.documents.model.start.rules import RULE_NAMES, LanguageRules
from voile.documents.model.start.rules.details import EMAIL
from voile.documents.model.start.rules.finding import tag_tokens
from voile.documents.model.start.rules.rule import NAME
from voile.documents.model.start.starter import shipped
from voile.documents.model.start.starter.starter import PretrainedStarter
from voile.documents.replacements.names import Language
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document
from voile.documents.words.features import BLOCKS, FeatureExtractor, FeatureSpace
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import TextTokens, tokenise

MANY = 5
APART = ("handle",)
"""Rules that the classifier does not use, since only one of the corpora has their form."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PublicText:
    """Tokens of public corpora, with features that reveal nobody."""

    tokens: TextTokens
    corpus_of: NDArray[np.int32]  # (n,) the number of each token's corpus
    space: FeatureSpace
    examples: LabelledExamples

    @classmethod
    def of(
        cls, corpora: Sequence[Sequence[Document]], language: Language, labels: Sequence[str]
    ) -> PublicText:
        """Tokenise corpora that have spans with some of these labels, each from one publisher."""
        documents = [one for corpus in corpora for one in corpus]
        tokens = tokenise(one.text for one in documents)
        found = LanguageRules(language).find(tokens)
        tokens = tag_tokens(tokens, found, [name for name in RULE_NAMES if name not in APART])
        sizes = [len(corpus) for corpus in corpora]
        corpus_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[tokens.document]
        truth = token_labels(tokens, Corpus(documents), labels)
        personal = truth > 0
        for one in found:
            if one.rule.name in APART or one.rule.label == EMAIL:
                personal[one.start : one.end] = True
        space = public_space(tokens, corpus_of, personal, language)
        examples = LabelledExamples(
            FeatureExtractor(space, tokens.known).features(tokens).matrix,
            truth,
            np.ones(len(tokens), dtype=np.bool_),
            tokens.first,
            np.ones(len(labels)),
            tokens.form,
            tokens.forms,
        )
        return cls(tokens, corpus_of, space, examples)


def learn(corpora: Mapping[str, Sequence[Document]], language: Language) -> PretrainedStarter:
    """Learn from corpora with names as spans, each from a different publisher.

    Cost: O(tokens); 300,000 tokens take half a minute.
    """
    text = PublicText.of(list(corpora.values()), language, [NAME])
    return PretrainedStarter(language, text.space, ConsensusLearner().fit(text.examples))


def public_space(
    tokens: TextTokens, corpus_of: NDArray[np.int32], personal: Bools, language: Language
) -> FeatureSpace:
    """Return the columns that identify no one; `personal` are the tokens of names and addresses."""
    space = FeatureSpace.of(tokens, corpus_of, marks=(), lists=lists_of(language))
    matrix = FeatureExtractor(space, tokens.known).features(tokens).matrix
    common = _common_words(tokens, corpus_of, ~personal)
    rows = np.repeat(tokens.document, np.diff(matrix.indptr))
    kept = _count_pairs(matrix.indices, rows, len(space.columns)) >= MANY
    block, number = np.divmod(space.columns, space.stride)
    of_words = np.array([channel == "words" for channel, _, _ in BLOCKS])[block]
    public = np.array([_is_public(name, common) for name in space.attributes])
    kept[of_words] &= public[number[of_words]]
    return space.keep(kept)


def _is_public(attribute: str, common: frozenset[str]) -> bool:
    kind, _, word = attribute.partition("=")
    return kind != "w" or not any(map(str.isalpha, word)) or word in common


def _common_words(
    tokens: TextTokens, corpus_of: NDArray[np.int32], impersonal: Bools
) -> frozenset[str]:
    """Return the words that are mostly in lower case, in `MANY` documents and two corpora."""
    words = [form if form.isalpha() else "" for form in tokens.forms]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(map(str.lower, words)))}
    word = np.array([numbers[one.lower()] for one in words])[tokens.form]
    small = np.array([one.islower() for one in words])[tokens.form]

    def count(which: Bools, of: NDArray[np.integer]) -> NDArray[np.intp]:
        return _count_pairs(word[which], of[which], len(numbers))

    low, high = small & impersonal, ~small | ~impersonal
    often, else_often = count(low, tokens.document), count(high, tokens.document)
    kept = (often >= MANY) & (often >= else_often) & (count(low, corpus_of) > 1)
    return frozenset(one for one, number in numbers.items() if one and kept[number])


def _count_pairs(
    what: NDArray[np.integer], whose: NDArray[np.integer], size: int
) -> NDArray[np.intp]:
    """Return how many distinct values of `whose`, (m,), occur with each number in `what`, (m,)."""
    pairs = np.unique(whose.astype(np.int64) * size + what)
    return np.bincount(pairs % size, minlength=size)


def read_corpora(data: Path) -> dict[str, list[Document]]:
    """Read the English corpora of SOURCES.md, with only the names of persons."""
    tweets = (data / "broad-twitter-corpus").glob("*.conll.gz")
    conll: Callable[[str], bool] = "PER".__eq__
    return {
        "wikigold": _names(Corpus.read(data / "wikigold" / "wikigold.conll.txt.gz"), conll),
        "broad-twitter": [
            one
            for path in sorted(tweets)
            for one in _names(Corpus.read(path, "conll-sentences"), conll)
        ],
        "enron": _names(
            Corpus.read(data / "enron-email-person-names" / "enron_email_threads.tsv.gz"), bool
        ),
        "presidio": _names(
            Corpus.read(data / "presidio-synthetic-pii" / "synth_dataset_v2.jsonl.gz"),
            "PERSON".__eq__,
        ),
    }


def _names(corpus: Corpus, is_name: Callable[[str], bool]) -> list[Document]:
    return [
        replace(one, spans=tuple(replace(x, label=NAME) for x in one.spans if is_name(x.label)))
        for one in corpus
    ]


if __name__ == "__main__":
    found = shipped.write_starter(learn(read_corpora(Path(sys.argv[1])), "english"))
    (Path(shipped.__file__).parent / "english.npz").write_bytes(found)
