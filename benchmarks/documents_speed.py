"""Text in, text out: a committee at work against CRFsuite, and against Presidio's patterns."""

from __future__ import annotations

import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pycrfsuite
from benchmarks.data import folder
from benchmarks.tables import save

from voile.documents import Corpus, Document
from voile.documents.fitting.loop.fits import StoredFits, prepare_fits
from voile.documents.fitting.loop.training import TrainingText, costs_by_type
from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.model.committee.worker import DocumentWorker, RemovalRecipe
from voile.documents.patterns import patterns_of
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.removal import TextRemoval
from voile.documents.words.attributes import attributes_of
from voile.documents.words.features import BLOCKS
from voile.documents.words.tokens import tokenise

PAPERS = ("crf", "svm", "adaboost", "ensemble")
NAMES = (*PAPERS, "consensus")
RUNS = 7
LEARNT, WORKED = 150, 250
BATCHES = 12
CRFSUITE = "CRFsuite, strings cached"
PRESIDIO = "Presidio, patterns alone"
PRESIDIO_WORKED = 50
TWO, APART = ", two processes", ", two apart"


def names_of(split: str, documents: int) -> Corpus:
    """Return MEDDOCAN notes in which names alone are marked."""
    corpus = Corpus.read(folder("meddocan") / f"{split}.jsonl.gz").subset(range(documents))
    return Corpus(
        replace(one, spans=tuple(s for s in one.spans if s.label.startswith("NOMBRE")))
        for one in corpus
    )


def fitted(fits: StoredFits) -> dict[str, CommitteeMember]:
    """Fit each learner once on everything."""
    training = fits.training
    nothing = training.examples((training.truth * 0), costs_by_type(10.0, training.labels))
    return {
        name: CommitteeMember(
            name, fits.classifier(name, nothing, training.truth * 0), None, "accuracy"
        )
        for name in NAMES
    }


class Strings:
    """CRFsuite as one would use it: strings as features, cached for each form."""

    def __init__(self, corpus: Corpus, path: Path) -> None:
        self._cache: dict[str, list[list[str]]] = {}
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c2": 1.0, "max_iterations": 20})
        for document in corpus:
            words, _, views = self._cut(document.text)
            labels = ["O"] * len(words)
            for place, (start, end) in enumerate(self._places):
                if any(s.start < end and start < s.end for s in document.spans):
                    labels[place] = "NAME"
            trainer.append(self._items(words, views), labels)
        trainer.train(str(path))
        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(path))

    def __call__(self, documents: Sequence[Document]) -> list[str]:
        """Return each text without its names."""
        marks = LabelMarks()
        texts = []
        for document in documents:
            words, places, views = self._cut(document.text)
            tags = self._tagger.tag(self._items(words, views))
            removals = [
                TextRemoval(start, end, "NAME")
                for (start, end), tag in zip(places, tags, strict=True)
                if tag != "O"
            ]
            texts.append(marks(document, removals).text)
        return texts

    def _cut(self, text: str) -> tuple[list[str], list[tuple[int, int]], list[list[int]]]:
        tokens = tokenise([text])
        forms = tokens.forms
        self._places = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        around = [tokens.layout.neighbours[by].tolist() for by in (0, -1, 1, -2, 2)]
        return [forms[x] for x in tokens.form.tolist()], self._places, around

    def _items(self, words: list[str], views: list[list[int]]) -> list[list[str]]:
        """Put the cached strings of each token's five neighbours together."""
        seen = [self._strings(word) for word in words]
        return [
            [s for number, view in enumerate(views) if view[x] >= 0 for s in seen[view[x]][number]]
            for x in range(len(words))
        ]

    def _strings(self, word: str) -> list[list[str]]:
        if word not in self._cache:
            found = attributes_of(word, {})
            self._cache[word] = [
                [f"{number}{name}" for kind, name in found if kind & kinds]
                for number, (_, _, kinds) in enumerate(BLOCKS[:5])
            ]
        return self._cache[word]


def presidio() -> Callable[[Sequence[Document]], object]:
    """Return Presidio with its patterns alone over a blank spaCy pipeline."""
    logging.disable(logging.WARNING)
    import spacy
    import tldextract
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = AnalyzerEngine(nlp_engine=Blank(), registry=registry, supported_languages=["en"])
    marks = LabelMarks()

    def work(documents: Sequence[Document]) -> list[str]:
        texts = []
        for one in documents:
            found = engine.analyze(one.text, language="en")
            best = sorted(found, key=lambda r: (r.start, -r.end))
            removals, end = [], 0
            for r in best:
                if r.start >= end:
                    removals.append(TextRemoval(r.start, r.end, r.entity_type))
                    end = r.end
            texts.append(marks(one, removals).text)
        return texts

    return work


def batch_after_batch(one: DocumentWorker) -> Callable[[Sequence[Document]], object]:
    """Work on the documents again and again, in one process."""
    return lambda documents: [one(documents) for _ in range(BATCHES)]


def side_by_side(two: ProcessPoolExecutor) -> Callable[[Sequence[Document]], object]:
    """Work on them as often, in two processes, to which documents are sent batch by batch."""

    def work(documents: Sequence[Document]) -> list[object]:
        begun = [two.submit(_given, documents) for _ in range(BATCHES)]
        return [one.result() for one in begun]

    return work


def apart(recipe: RemovalRecipe, documents: Sequence[Document]) -> ProcessPoolExecutor:
    """Start two processes that share nothing: each has the documents, and keeps what it makes."""
    return ProcessPoolExecutor(2, get_context("fork"), _begin, (recipe, documents))


def both(two: ProcessPoolExecutor) -> Callable[[Sequence[Document]], object]:
    """Let each work on its documents again and again: what this machine does at most."""
    return lambda _: [one.result() for one in (two.submit(_alone), two.submit(_alone))]


_worker: DocumentWorker
_documents: Sequence[Document]


def _begin(recipe: RemovalRecipe, documents: Sequence[Document]) -> None:
    global _worker, _documents
    _worker, _documents = DocumentWorker(recipe), documents


def _given(documents: Sequence[Document]) -> object:
    return _worker(documents)


def _alone() -> None:
    for _ in range(BATCHES):
        _worker(_documents)


def main() -> None:
    """Time each way of working on the same documents, in turns."""
    learnt, worked = names_of("train", LEARNT), list(names_of("dev", WORKED))
    training = TrainingText.of(learnt)
    fits = prepare_fits(training, NAMES, cross_fit=None, seed=1, n_jobs=1)
    members = fitted(fits)
    costs = costs_by_type(10.0, training.labels)

    def recipe(*names: str, patterns: bool = False) -> RemovalRecipe:
        committee = TokenCommittee(
            training.labels, costs, training.space, tuple(members[name] for name in names)
        )
        finders = patterns_of() if patterns else ()
        return RemovalRecipe(committee, finders, None, frozenset(training.labels), LabelMarks())

    recipes = {
        "one CRF": recipe("crf"),
        "consensus (the default)": recipe("consensus"),
        "consensus, with nine patterns": recipe("consensus", patterns=True),
        "the paper's four, of five classifiers": recipe(*PAPERS),
        "five: these and the consensus, of eight": recipe(*NAMES),
        "five, with nine patterns": recipe(*NAMES, patterns=True),
        "nine patterns alone": replace(recipe(patterns=True), names=frozenset()),
    }
    tokens, few = len(tokenise(one.text for one in worked)), worked[:PRESIDIO_WORKED]
    with tempfile.TemporaryDirectory() as place, ExitStack() as pools:
        ways: dict[str, tuple[Callable[[Sequence[Document]], object], Sequence[Document], int]] = {}
        for name, one in recipes.items():
            ways[name] = batch_after_batch(DocumentWorker(one)), worked, tokens * BATCHES
            two, rivals = (pools.enter_context(apart(one, worked)) for _ in range(2))
            ways[name + TWO] = side_by_side(two), worked, tokens * BATCHES
            ways[name + APART] = both(rivals), worked, 2 * tokens * BATCHES
            for more in (TWO, APART):  # start their processes before others fill this one
                ways[name + more][0](worked)
        ways[CRFSUITE] = Strings(learnt, Path(place) / "crf"), worked, tokens
        ways[PRESIDIO] = presidio(), few, len(tokenise(one.text for one in few))
        for way, documents, _ in ways.values():  # compile, and remember the words
            way(documents)
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(RUNS):
            for name, (way, documents, _) in ways.items():
                began = time.perf_counter()
                way(documents)
                seconds[name].append(time.perf_counter() - began)
    speed = {name: ways[name][2] / statistics.median(times) for name, times in seconds.items()}
    rows = [
        (
            name,
            f"{speed[name]:,.0f}",
            f"{speed[name] / speed[CRFSUITE]:.1f}",
            f"{speed[name] / speed['one CRF']:.2f}",
            *(
                f"{speed[name + x] / speed[name]:.2f}" if name in recipes else ""
                for x in (TWO, APART)
            ),
        )
        for name in (CRFSUITE, *recipes, PRESIDIO)
    ]
    save(
        "documents_speed",
        f"{WORKED} Spanish clinical notes (MEDDOCAN dev, {tokens:,} tokens), {BATCHES}\n"
        f"times, text in, text with marks out, in one process. Medians of {RUNS} runs in\n"
        "turns. CRFsuite has the strings of each form and view cached, in five of our nine\n"
        "views of words. CRFsuite and Presidio process the notes once.",
        (
            "what",
            "tokens a second",
            "times CRFsuite",
            "times one CRF",
            "two processes, times one",
            "two apart, times one",
        ),
        rows,
        "Words seen before are cached, as in a long run. An ensemble is two classifiers, a\n"
        "consensus three. Two processes get batches as in `apply`, one ahead. *Two apart*\n"
        "share no data and send none: the maximum of this machine's two cores. Presidio:\n"
        "patterns alone, blank spaCy pipeline, English recognisers, the first\n"
        f"{PRESIDIO_WORKED} notes.",
    )


if __name__ == "__main__":
    main()
