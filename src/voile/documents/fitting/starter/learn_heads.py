"""Train the heads on the reader: `python -m voile.documents.fitting.starter.learn_heads DATA`.

The reader must be installed. DATA is a folder of the corpora in SOURCES.md. A language after it
limits the training to this language. A corpus teaches the types that it annotates. Columns identify
no one, as in `learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from voile.documents.fitting.starter.learn import PublicText, read_corpora
from voile.documents.learners.reader_head import ReaderLearner
from voile.documents.model.start.rules.rule import NAME
from voile.documents.model.start.starter import shipped
from voile.documents.model.start.starter.starter import HEADS, ORG, PLACE, PretrainedStarter
from voile.documents.reader.encoder import standardise
from voile.documents.reader.installed import open_reader
from voile.documents.replacements.names import Language
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

DENSE_PENALTY, SPARSE_PENALTY = 600.0, 20.0
SPANISH_NOTES = 100
TYPES: Mapping[str, str] = {
    "PER": NAME,
    "PERSON": NAME,
    "LOC": PLACE,
    "GPE": PLACE,
    "TERRITORIO": PLACE,
    "PAIS": PLACE,
    "ORG": ORG,
    "ORGANIZATION": ORG,
    "HOSPITAL": ORG,
    "INSTITUCION": ORG,
    "CENTRO_SALUD": ORG,
}
"""The corpora's names of the types. MEDDOCAN's types of names begin with NOMBRE."""


@dataclass(frozen=True)
class TaughtCorpus:
    """Documents with spans of the heads' types, and the types that they annotate."""

    documents: Sequence[Document]
    types: tuple[str, ...] = HEADS


def learn_heads(corpora: Mapping[str, TaughtCorpus], language: Language) -> PretrainedStarter:
    """Train one head for each type, each on the corpora that annotate the type.

    The weight of a token is 1 / sqrt(size of its corpus). Cost: O(tokens); 300,000 tokens take some
    minutes, mostly for encoding.
    """
    text = PublicText.of([corpus.documents for corpus in corpora.values()], language, HEADS)
    tokens, corpus_of, examples = text.tokens, text.corpus_of, text.examples
    taught = [[kind in corpus.types for kind in HEADS] for corpus in corpora.values()]
    share = np.bincount(corpus_of, minlength=len(corpora)).astype(np.float64) ** -0.5
    weight = share[corpus_of] / share[corpus_of].mean()
    learner = replace(
        ReaderLearner.from_installed(), dense_penalty=DENSE_PENALTY, sparse_penalty=SPARSE_PENALTY
    )
    encoder = open_reader(learner.sha256, learner.layer)
    vectors = encoder.encode(examples.words, tokens.gap, tokens.first)
    mean, spread = standardise(vectors)
    head = learner.fit_vectors(
        examples,
        (vectors.astype(np.float32) - mean) / spread,
        (weight[:, None] * np.array(taught)[corpus_of]).astype(np.float32),
    )
    return PretrainedStarter(language, text.space, head.undo_standardisation(mean, spread))


def read_taught(data: Path) -> dict[str, TaughtCorpus]:
    """Read the corpora of SOURCES.md with the heads' types; Enron threads have only names."""
    tweets = (data / "broad-twitter-corpus").glob("*.conll.gz")
    wikigold = Corpus.read(data / "wikigold" / "wikigold.conll.txt.gz")
    presidio = Corpus.read(data / "presidio-synthetic-pii" / "synth_dataset_v2.jsonl.gz")
    notes = Corpus.read(data / "meddocan" / "train.jsonl.gz")
    return {
        "wikigold": TaughtCorpus(_retype_spans(wikigold)),
        "broad-twitter": TaughtCorpus(
            [
                one
                for path in sorted(tweets)
                for one in _retype_spans(Corpus.read(path, "conll-sentences"))
            ]
        ),
        "enron": TaughtCorpus(read_corpora(data)["enron"], (NAME,)),
        "presidio": TaughtCorpus(_retype_spans(presidio)),
        "meddocan": TaughtCorpus(_retype_spans(notes[:SPANISH_NOTES])),
    }


def _retype_spans(corpus: Sequence[Document]) -> list[Document]:
    return [
        replace(
            one, spans=tuple(replace(x, label=kind) for x in one.spans if (kind := _type_of(x)))
        )
        for one in corpus
    ]


def _type_of(span: Span) -> str | None:
    return NAME if span.label.startswith("NOMBRE") else TYPES.get(span.label)


TEACHERS: Mapping[Language, tuple[str, ...]] = {
    "english": ("wikigold", "broad-twitter", "enron", "presidio"),
    "spanish": ("meddocan", "wikigold", "presidio"),
}
"""The corpora on which each language's heads are trained."""


if __name__ == "__main__":
    taught = read_taught(Path(sys.argv[1]))
    for language, names in TEACHERS.items():
        if language in sys.argv[2:] or not sys.argv[2:]:
            starter = learn_heads({name: taught[name] for name in names}, language)
            place = Path(shipped.__file__).parent / f"reader-{language}.npz"
            place.write_bytes(shipped.write_starter(starter))
