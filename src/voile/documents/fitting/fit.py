"""The verb fit, which trains a committee for each cost; `policies.choose` selects one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.documents.adapters.model import ExternalModel
from voile.documents.fitting.context.associations import label_context
from voile.documents.fitting.fit_models import open_models
from voile.documents.fitting.loop.corpus import read_learning_corpus, text_hashes
from voile.documents.fitting.loop.figures import (
    context_figures,
    count_identifiers,
    pass_rows,
    policy_figures,
)
from voile.documents.fitting.loop.fits import StoredFits, prepare_fits
from voile.documents.fitting.loop.greedy import (
    NOTHING_LEARNT,
    GreedyLoop,
    remove_nothing,
    sanitize_greedily,
)
from voile.documents.fitting.loop.training import TrainingText, costs_by_type
from voile.documents.learners.learner import TokenLearner
from voile.documents.model.content import DocumentsContent, own_lists, shipped_lists
from voile.documents.model.own_models import describe_models
from voile.documents.model.policies import ANNOTATED, CLUSTERS, NOVELTY
from voile.documents.model.start.lists import name_clusters
from voile.documents.model.start.rules.language import check_language
from voile.documents.options import FitOptions, LearningOptions
from voile.documents.patterns.gazetteers import read_gazetteers
from voile.documents.reader.installed import find_reader
from voile.documents.replacements.kinds import PREFIX
from voile.documents.text.reader import DocumentReader
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.novelty import NoveltyCheck
from voile.keys.random import streams
from voile.release.kit import StoredKit

CONTEXT_WEIGHT = 0.2
"""The default weight of a word associated with an identifier, relative to an identifier."""


class CostlyWarning(UserWarning):
    """A miss costs so much that little text would remain. Lower `--miss-cost`."""


STOPS = ("interrupted", NOTHING_LEARNT, "max passes", "unconfirmed")
"""The ends of an unfinished loop, the most informative first."""


MOSTLY_LAST = 0.8
"""The share of a loop's remaining progress for each pass after the first.

The second is mostly last.
"""


COSTLY = "no policy where a miss is worth {:g} or more"


def fit(
    source: Source,
    roles: Roles | None,
    options: FitOptions,
    *,
    seed: int | None,
    progress: ProgressHook,
) -> StoredKit:
    """Train a committee for each cost of a missed identifier, and count the errors of each.

    Every policy is a committee up to one of its passes. The tokens that it leaves and removes are
    counted out of fold. The committees share all identical fits, above all the first pass.

    Cost: `cross_fit` + 1 fits for each pass and learner. Memory: O(text).

    Raises
    ------
    RequestError : roles, columns, spans, lists or models do not fit. Also raised if there is no
        identifier, if there are too few subjects, or if a fit must resume without its seed.
    InfeasibleError : too little text would remain for an estimate.
    """
    if options.resume is not None and seed is None:
        raise RequestError("a fit resumes only with its seed", instead="give the seed")
    lists, models = read_gazetteers(options.lists), open_models(options.model)
    source = options.open_subjects(source)
    roles, draws = options.roles_of(source, roles), SeedDraws.of(seed)
    hold_out = HoldOut(options.hold_out, draws.held_out.bytes(32), roles.subject)
    reading = DocumentReader(roles, hold_out)
    reading.check(source)
    progress("reading the documents", 0)
    corpus = read_learning_corpus(reading, source)
    _check_held_out(corpus, options)
    if options.context:
        corpus = label_context(corpus)
    folder = None if options.resume is None else Path(options.resume)
    facts = {}
    if options.clusters is not None:
        texts = (one.text for one in corpus)
        check_language(options.clusters, texts, "leave --clusters out, or ask for the other")
        facts = {CLUSTERS: name_clusters(options.clusters)}
    training = TrainingText.of(corpus, lists=lists, public=shipped_lists(None, facts))
    return learn(
        training,
        corpus,
        reading,
        options,
        draws=draws,
        progress=progress,
        folder=folder,
        models=models,
        facts=facts,
    ).to_kit()


@dataclass(frozen=True)
class SeedDraws:
    """The random generators of a fit from its seed, one for each of its steps."""

    held_out: np.random.Generator
    committees: np.random.Generator
    seen: np.random.Generator

    @classmethod
    def of(cls, seed: int | None) -> SeedDraws:
        return cls(*streams(seed, "hold-out", "committees", "seen"))


def learn(
    training: TrainingText,
    corpus: DocumentSequence,
    reading: DocumentReader,
    options: LearningOptions,
    *,
    draws: SeedDraws,
    progress: ProgressHook,
    folder: Path | None = None,
    marks: str = ANNOTATED,
    models: Sequence[ExternalModel] = (),
    facts: Mapping[str, str] = MappingProxyType({}),
) -> DocumentsContent:
    """Train a committee for each cost on a corpus; `facts` are additional facts for the kit.

    `folder` stores finished fits. `marks` describes the source of the annotations. `models` are
    tried in addition to the learners.
    """
    fits = prepare_fits(
        training,
        [*(name for name in options.learners if name != "none"), *models],
        cross_fit=options.cross_fit or None,
        seed=draws.committees,
        n_jobs=options.jobs,
        folder=folder,
    )
    loops = dict(_loops(fits, options, progress, may_be_none=marks != ANNOTATED))
    key = draws.seen.bytes(32)
    rows = _points(training, loops, repeats=True)
    frontier = Frontier.of(
        [row["risk"] for row in rows], [row["loss"] for row in rows], np.arange(len(rows))
    )
    progress("scoring each policy", 0)
    figures, alone = (
        _figures(training, corpus, loops, frontier.policies.tolist(), repeats=repeats)
        for repeats in (True, False)
    )
    own = own_lists(training.space.lists, shipped_lists(training.hinter, facts))
    return DocumentsContent(
        frontier=Frontier(frontier.risk, frontier.loss, np.arange(len(figures))),
        figures=figures,
        alone=alone,
        passes=pa.Table.from_pylist(
            [row for cost, loop in loops.items() for row in pass_rows(training, cost, loop)]
        ),
        found={
            **_corpus(training),
            "key": key.hex(),
            **_describe_loops(fits, loops, options),
            **_describe_unmarked(training, marks),
            **_describe_own_models(models),
            **describe_reader(fits.learners.values()),
            **_novelty(corpus),
            **facts,
        },
        lists={name: len(words) for name, words in sorted(own.items())},
        reading=reading,
        committees={cost: loop.committee for cost, loop in loops.items()},
        seen=np.sort(text_hashes(corpus, key)),
    )


def _describe_loops(
    fits: StoredFits, loops: Mapping[float, GreedyLoop], options: LearningOptions
) -> dict[str, Any]:
    """Return the kit's facts about the learners, and why the loops stopped."""
    stopped = {loop.stopped for loop in loops.values()}
    return {
        "learners": list(fits.learners),
        "decision": options.decision,
        "cross_fit": options.cross_fit,
        "stopped": next((one for one in STOPS if one in stopped), "finished"),
    }


def _check_held_out(corpus: DocumentSequence, options: FitOptions) -> None:
    """Raise an error if the hold-out leaves too little to learn from."""
    subjects = len(set(corpus.subjects))
    if options.hold_out and (subjects < max(options.cross_fit, 1) or not corpus.labels):
        without = "" if corpus.labels else ", without an identifier"
        raise RequestError(
            "the hold-out leaves too few documents to learn from: those of "
            f"{subjects:,} subject{'s' * (subjects != 1)}{without}",
            instead="hold out less, or annotate more",
        )


def _loops(
    fits: StoredFits, options: LearningOptions, progress: ProgressHook, *, may_be_none: bool
) -> Iterator[tuple[float, GreedyLoop]]:
    """Run the algorithm for each cost, starting with the lowest, which leaves most text.

    Ctrl-C, or a cost that leaves too little text, ends with the committees found so far. With
    `may_be_none`, too little text for any cost gives a committee without members, so that only
    rules remove text.
    """
    labels = fits.training.labels
    weights = _weights(options.weight)
    asked = sorted(set(options.miss_cost))
    for number, cost in enumerate(asked):
        step = f"miss cost {cost:g} ({number + 1} of {len(asked)})"
        factors = {t: CONTEXT_WEIGHT for t in labels if t.startswith(PREFIX)} | weights
        costs = costs_by_type({"": cost, **{t: w * cost for t, w in factors.items()}}, labels)
        try:
            loop = sanitize_greedily(
                fits,
                costs,
                decision=options.decision,
                max_passes=options.max_passes,
                progress=_LoopProgress(
                    progress, step, number, len(asked), several=options.max_passes > 1
                ),
                least_left=options.least_left,
            )
        except (KeyboardInterrupt, InfeasibleError) as ended:
            if not number and may_be_none and isinstance(ended, InfeasibleError):
                yield cost, remove_nothing(fits, costs)
            elif not number:
                raise
            if isinstance(ended, InfeasibleError):
                warn(f"{COSTLY.format(cost)}: {ended}", CostlyWarning)
            return
        yield cost, loop
        if loop.stopped == "interrupted":
            return


class _LoopProgress:
    """The progress of one loop as a part of all loops. The number of its passes is unknown.

    The first pass of the first loop is a part by itself, since other loops reuse its fits.
    """

    def __init__(
        self, progress: ProgressHook, step: str, number: int, of: int, *, several: bool
    ) -> None:
        self._progress, self._step, self._total = progress, step, 1 + of * several
        self._end = 1 + (number + 1) * several
        self._now = self._before = 0.0 if number == 0 else self._end - several
        self._until = 1.0 if number == 0 else self._now
        self._task = ""

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        """Give each pass after the first most of the loop's remaining progress."""
        if self._task not in ("", task):
            self._until = self._now + MOSTLY_LAST * (self._end - self._now)
        if task != self._task:
            self._task, self._before = task, self._now
        self._now = self._before + (self._until - self._before) * (done / total if total else 0)
        self._progress(f"{task}, {self._step}", self._now, self._total)


def _points(
    training: TrainingText, loops: Mapping[float, GreedyLoop], *, repeats: bool
) -> list[dict[str, Any]]:
    of = (policy_figures(training, cost, loop, repeats=repeats) for cost, loop in loops.items())
    return list(chain.from_iterable(of))


def _figures(
    training: TrainingText,
    corpus: DocumentSequence,
    loops: Mapping[float, GreedyLoop],
    kept: Sequence[int],
    *,
    repeats: bool,
) -> pa.Table:
    """Return the figures of the kept policies, and the words that indicate their removals."""
    rows = _points(training, loops, repeats=repeats)
    figured = []
    for number, row in enumerate(rows[x] for x in kept):
        loop, passes = loops[row["miss_cost"]], row["passes"]
        context = context_figures(training, corpus, loop, passes, repeats=repeats)
        figured.append({"number": number, **row, **context})
    return pa.Table.from_pylist(figured)


def _weights(given: tuple[str, ...]) -> dict[str, float]:
    weights = {}
    for one in given:
        label, _, number = one.rpartition("=")
        try:
            weights[label] = float(number)
        except ValueError:
            label = ""
        if not label:
            raise RequestError("a weight is not TYPE=NUMBER", instead="write for instance NAME=2")
    return weights


def _describe_unmarked(training: TrainingText, marks: str) -> dict[str, Any]:
    """Return a kit's facts about text without annotations; none for annotated text."""
    if marks == ANNOTATED:
        return {}
    return {"marks": marks, "unknown": int(training.unknown.sum())}


def _novelty(corpus: DocumentSequence) -> dict[str, Any]:
    """Return the words by which a kit recognises notes of another style; empty for few notes."""
    subjects = [one.subject or str(number) for number, one in enumerate(corpus)]
    check = NoveltyCheck.learn([one.text for one in corpus], subjects)
    return {} if check is None else {NOVELTY: check.to_data()}


def _describe_own_models(models: Sequence[ExternalModel]) -> dict[str, Any]:
    """Return a kit's facts about the user's own models; none without such models."""
    return {"models": describe_models((m.name, m.model) for m in models)} if models else {}


def _corpus(training: TrainingText) -> dict[str, Any]:
    return {
        "labels": list(training.labels),
        "types": np.bincount(training.truth, minlength=len(training.labels) + 1)[1:].tolist(),
        "tokens": len(training.tokens),
        "identifiers": count_identifiers(training),
        "documents": len(training.subject),
        "subjects": len(set(training.subject)),
        "columns": len(training.space.columns),
    }


def describe_reader(learners: Iterable[TokenLearner]) -> dict[str, Any]:
    """Return a kit's facts about the reader of its learners; none without a reader."""
    found = find_reader() if any(one.name == "reader" for one in learners) else None
    if found is None:
        return {}
    return {"reader": found.model_dump(include={"name", "sha256", "layer", "is_listed"})}
