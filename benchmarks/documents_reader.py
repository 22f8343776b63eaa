"""The reader's head beside the committee's default learner: held-out cost, and speed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import process_time

import numpy as np
from benchmarks.data import folder
from benchmarks.documents_data import enron, kept, meddocan, name, tweets, wikigold
from benchmarks.documents_start import MISS_COST, Found, covered, read, tested
from benchmarks.tables import save
from threadpoolctl import threadpool_limits

from voile.documents import Corpus, Document
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.fitting.starter.learn import learn, read_corpora
from voile.documents.fitting.starter.learn_heads import learn_heads, read_taught
from voile.documents.fitting.unmarked.proposer import RemovalProposer
from voile.documents.learners.cross_fitting import cross_fit
from voile.documents.learners.learner import TokenLearner
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.learners.reader_head import ReaderLearner
from voile.documents.model.start.rules import LanguageRules
from voile.documents.model.start.rules.rule import NAME
from voile.documents.model.start.starter.shipped import load_starter
from voile.documents.reader.installed import open_reader

FOLDS, SPANISH_NOTES = 4, 60


def presidio() -> Corpus:
    """Return made-up sentences with names, those of one template as one person's."""
    path = folder("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz"
    return kept(Corpus.read(path, subject="template_id"), "PERSON".__eq__)


CORPORA: Mapping[str, Callable[[], Corpus]] = {
    "wikigold": wikigold,
    "Enron threads": enron,
    "presidio-synthetic": presidio,
    "MEDDOCAN, names": lambda: meddocan(100, name),
    "broad-twitter": tweets,
}


def measure(corpus: Corpus) -> tuple[dict[str, Found], float]:
    """Return what each learner removes out of fold, and words a second of encoding."""
    training = TrainingText.of(corpus)
    costs = np.full(len(training.labels), float(MISS_COST))
    examples = training.examples(np.zeros(len(training.tokens), np.int16), costs)
    reader = ReaderLearner.from_installed()
    encoder = open_reader(reader.sha256, reader.layer)
    began = process_time()
    encoder.encode(examples.words, examples.gap, examples.first)
    speed = len(examples.labels) / (process_time() - began)
    folds = training.folds(FOLDS, np.random.default_rng(0))
    fold = np.repeat(folds, np.diff(examples.first))
    found = {}
    learners: tuple[TokenLearner, ...] = (LEARNERS["consensus"](), reader)
    for learner in learners:
        (margins,) = cross_fit([learner], examples, folds, seeds=[0], n_jobs=1, least=2)
        gone = OutOfFold(margins, fold).decide_tokens(training.tokens, examples, "cost").types > 0
        found[learner.name] = Found(examples.labels > 0, gone)
    return found, speed


def pretrained_rows(only: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield T10 of names in English that nobody marked; the tested corpus teaches nothing."""
    data = folder("wikigold").parent
    taught, english = read_taught(data), read_corpora(data)
    for corpus, one in tested(english).items():
        if one.own and (not only or corpus in only):
            teachers = {key: taught[key] for key in english if key != one.own}
            others = {key: value for key, value in english.items() if key != one.own}
            heads = learn_heads(teachers, "english")
            yield proposed(corpus, one.documents, learn(others, "english"), heads)


def spanish_rows(only: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield T10 of names in Spanish notes by the shipped heads, beside rules alone."""
    notes = kept(Corpus.read(folder("meddocan") / "test.jsonl.gz"), name)[:SPANISH_NOTES]
    documents = [
        replace(one, spans=tuple(replace(span, label=NAME) for span in one.spans)) for one in notes
    ]
    if not only or "MEDDOCAN, test" in only:
        heads = load_starter("reader-spanish")
        yield proposed("MEDDOCAN, test", documents, LanguageRules("spanish"), heads)


def proposed(
    corpus: str, documents: Sequence[Document], plain: RemovalProposer, heads: RemovalProposer
) -> tuple[str, ...]:
    tokens, truth = read(documents)
    found = {}
    for who, proposer in {"consensus": plain, "reader": heads}.items():
        began = process_time()
        own = proposer.propose(documents)
        speed = len(tokens) / (process_time() - began)
        spans = [[(x.start, x.end) for x in each if x.label == NAME] for each in own]
        found[who] = Found(truth, covered(tokens, spans))
    return cells(corpus, found, speed)


def trained_rows(only: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield T10 of documents held out, of what learnt from the others."""
    for corpus, load in CORPORA.items():
        if not only or corpus in only:
            yield cells(corpus, *measure(load()))


def cells(corpus: str, found: Mapping[str, Found], speed: float) -> tuple[str, ...]:
    ours, theirs = found["reader"], found["consensus"]
    wrong = (((one.proposed & ~one.truth).sum(), one) for one in (theirs, ours))
    counts = (
        f"{one.cost:,} ({false:,}, {(one.truth & ~one.proposed).sum():,})" for false, one in wrong
    )
    size = f"{len(ours.truth):,}", f"{ours.truth.sum():,}"
    return corpus, *size, *counts, f"{ours.cost / theirs.cost:.2f}", f"{speed:,.0f}"


def main() -> None:
    parts = {"trained": trained_rows, "pretrained": pretrained_rows, "Spanish": spanish_rows}
    only = [name for name in sys.argv[1:] if name not in parts]
    asked = [name for name in parts if name in sys.argv[1:]] or list(parts)
    rows: list[tuple[str, ...]] = []
    with threadpool_limits(1):
        for part in asked:
            rows.append((f"**{part}**", *[""] * 6))
            for row in parts[part](only):
                rows.append(row)
                print(row, flush=True)
    save("documents_reader", CAPTION, COLUMNS, rows)


COLUMNS = (
    "corpus", "tokens", "identifiers", "without the reader: T10 (false, missed)", "with it",
    "ratio", "words per CPU second",
)  # fmt: skip
CAPTION = f"""\
T10 = harmless tokens removed + {MISS_COST} x identifiers missed. *Trained*: documents held out in
{FOLDS} folds, the consensus and the reader's head. As in the
default's first pass, the cut is at the cost, by probabilities calibrated on the other folds.
*Pretrained*: names proposed by the pretrained model, learnt from the other English corpora.
*Spanish*: names proposed in {SPANISH_NOTES} notes by rules alone and by the shipped heads,
which learnt from other notes of the set. Speed: words per CPU second of encoding, or of
proposing with the reader, on a machine with other work."""


if __name__ == "__main__":
    main()
