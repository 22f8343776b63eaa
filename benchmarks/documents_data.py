"""The annotated corpora, cut to a size that a laptop goes through in minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.data import folder

from voile.documents import Corpus, Document

NOTES, CODED = 100, 24
"""Documents of MEDDOCAN: with names alone, and with all 22 types."""
TWEETS = 2_000


@dataclass(frozen=True)
class Source:
    """A corpus, and who could have labelled text that is like it.

    Parameters
    ----------
    read : gives the documents. foreign : another source of the same language, "" of none.
    """

    read: Callable[[], Corpus]
    foreign: str = ""


def kept(documents: Iterable[Document], wanted: Callable[[str], bool]) -> Corpus:
    """Return the documents with the wanted types of spans alone."""
    return Corpus(
        replace(one, spans=tuple(span for span in one.spans if wanted(span.label)))
        for one in documents
    )


def drawn(corpus: Corpus, number: int) -> Corpus:
    """Return so many documents, drawn at random, in their order."""
    rng = np.random.default_rng(0)
    return corpus.subset(sorted(rng.permutation(len(corpus))[:number].tolist()))


def meddocan(number: int, wanted: Callable[[str], bool]) -> Corpus:
    """Return Spanish case reports with made-up identifiers (PlanTL, 2019)."""
    return kept(drawn(Corpus.read(folder("meddocan") / "train.jsonl.gz"), number), wanted)


def enron() -> Corpus:
    """Return e-mail threads with names of persons (after Dakle et al., 2020)."""
    return Corpus.read(folder("enron-email-person-names") / "enron_email_threads.tsv.gz")


def wikigold() -> Corpus:
    """Return articles of Wikipedia with names of persons (Balasuriya et al., 2009)."""
    return kept(Corpus.read(folder("wikigold") / "wikigold.conll.txt.gz"), person)


def tweets() -> Corpus:
    """Return tweets with names and handles of persons (Derczynski et al., 2016)."""
    parts = [folder("broad-twitter-corpus") / f"{name}.conll.gz" for name in "fgh"]
    found = (one for part in parts for one in Corpus.read(part, "conll-sentences"))
    return kept(drawn(Corpus(found), TWEETS), person)


def filings() -> Corpus:
    """Return loan agreements; many of their "persons" are roles (Salinas Alvarado et al., 2015)."""
    parts = [folder("sec-filings") / f"FIN{name}.txt.gz" for name in "35"]
    return kept((one for part in parts for one in Corpus.read(part, "conll")), person)


def person(label: str) -> bool:
    return label == "PER"


def name(label: str) -> bool:
    return label.startswith("NOMBRE")


SOURCES: Mapping[str, Source] = {
    "MEDDOCAN, names": Source(lambda: meddocan(NOTES, name)),
    "MEDDOCAN, all types": Source(lambda: meddocan(CODED, bool)),
    "Enron threads": Source(enron, "wikigold"),
    "wikigold": Source(wikigold, "broad-twitter"),
    "broad-twitter": Source(tweets, "wikigold"),
}
"""What every experiment is made on; `filings` is only reported."""
