"""The wing's first two verbs: fit trains a committee for each cost, choose picks one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.documents.content import KIND, Content
from voile.documents.fits import Fits
from voile.documents.greedy import Loop, Tried, sanitize_greedily
from voile.documents.options import FitOptions
from voile.documents.reading import Reading, hashes
from voile.documents.sanitizer import fits_of
from voile.documents.training import Training, costs_of
from voile.documents.words.features import CLASSES
from voile.errors import RequestError
from voile.frontier import Frontier
from voile.hold_out import HoldOut
from voile.io import Source
from voile.kit import Choice, Chosen, Kit
from voile.progress import Progress
from voile.random import streams
from voile.roles import Roles

MOST_FALSE = 30


def fit(
    source: Source, roles: Roles, options: FitOptions, *, seed: int | None, progress: Progress
) -> Kit:
    """Train a committee for each cost of a missed identifier, and count what each leaves.

    Every policy is a committee up to one of its passes; what it leaves and removes is counted out
    of fold. The committees share every fit that is the same, above all the first pass.

    Cost: for each pass and learner `cross_fit` + 1 fits. Memory: O(text).

    Raises
    ------
    RequestError : roles, columns or spans that do not fit; no identifier, too few subjects.
    InfeasibleError : too little would be left to judge.
    """
    drawn = streams(seed, "hold-out", "committees", "seen")
    hold_out = HoldOut(options.hold_out, drawn[0].bytes(32), roles.subject)
    reading = Reading(roles, hold_out)
    reading.check(source)
    progress("reading", 0)
    corpus = reading.corpus(source)
    training = Training.of(corpus)
    folder = None if options.resume is None else Path(options.resume)
    fits = fits_of(
        training,
        options.learners,
        cross_fit=options.cross_fit or None,
        seed=drawn[1],
        n_jobs=options.jobs,
        folder=folder,
    )
    loops = dict(_loops(fits, options, progress))
    key = drawn[2].bytes(32)
    stopped = {loop.stopped for loop in loops.values()}
    points = [row for cost, loop in loops.items() for row in _points(training, cost, loop)]
    frontier = Frontier.of(
        [row["risk"] for row in points], [row["loss"] for row in points], np.arange(len(points))
    )
    kept = [points[x] for x in frontier.policies]
    return Content(
        reading,
        {cost: loop.committee for cost, loop in loops.items()},
        Frontier(frontier.risk, frontier.loss, np.arange(len(kept))),
        pa.Table.from_pylist([{"number": n, **row} for n, row in enumerate(kept)]),
        pa.Table.from_pylist([row for cost, loop in loops.items() for row in _passes(cost, loop)]),
        np.sort(hashes(corpus, key)),
        {
            **_corpus(training),
            "key": key.hex(),
            "learners": list(options.learners),
            "decision": options.decision,
            "cross_fit": options.cross_fit,
            "stopped": next((s for s in ("interrupted", "max passes") if s in stopped), "finished"),
        },
    ).to_kit()


def _loops(fits: Fits, options: FitOptions, progress: Progress) -> Iterator[tuple[float, Loop]]:
    """Run the algorithm for each cost; Ctrl-C ends with the committees found until then."""
    labels = fits.training.labels
    weights = _weights(options.weight)
    for number, cost in enumerate(sorted(set(options.miss_cost))):
        costs = costs_of({"": cost, **{t: w * cost for t, w in weights.items()}}, labels)
        try:
            loop = sanitize_greedily(
                fits,
                costs,
                decision=options.decision,
                max_passes=options.max_passes,
                progress=progress,
                least_left=options.least_left,
            )
        except KeyboardInterrupt:
            if not number:
                raise
            return
        yield cost, loop
        if loop.stopped == "interrupted":
            return


def _weights(given: tuple[str, ...]) -> dict[str, float]:
    """Read TYPE=2."""
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


def _corpus(training: Training) -> dict[str, Any]:
    """Say of the corpus in numbers."""
    return {
        "labels": list(training.labels),
        "types": np.bincount(training.truth, minlength=len(training.labels) + 1)[1:].tolist(),
        "tokens": len(training.tokens),
        "identifiers": int((training.truth > 0).sum()),
        "documents": len(training.subject),
        "subjects": len(set(training.subject)),
    }


def _points(training: Training, cost: float, loop: Loop) -> Iterator[dict[str, Any]]:
    """Yield what the committee leaves and removes up to each of its passes, and before them."""
    truth, tokens = training.truth, training.tokens
    identifiers, harmless = truth > 0, truth == 0
    sentence, document = tokens.sentence, tokens.document
    for passes in range(len(loop.committee.members) + 1):
        removed = (loop.turn > 0) & (loop.turn <= passes)
        left = identifiers & ~removed
        turn = loop.passes[passes] if passes < len(loop.passes) else None
        yield {
            "risk": float(left.sum() / identifiers.sum()),
            "loss": float((harmless & removed).sum() / max(harmless.sum(), 1)),
            "miss_cost": cost,
            "passes": passes,
            "cost": float(loop.committee.costs @ _by_type(truth, left, training))
            + float((harmless & removed).sum()),
            "left": int(left.sum()),
            "published_tokens": float(1 - removed.mean()),
            "published_sentences": _untouched(removed, sentence),
            "published_documents": _untouched(removed, document),
            "left_by_type": _by_type(truth, left, training).tolist(),
            "optimum": turn is not None and turn.taken is None,
            **_false(training, harmless & removed),
            **_attacked(turn),
        }


def _false(training: Training, removed: NDArray[np.bool_]) -> dict[str, Any]:
    """Count the harmless tokens removed by their kind, and name those removed most."""
    form = training.tokens.form[removed]
    kinds = np.bincount(training.classes[form], minlength=len(CLASSES) + 1)[1:]
    numbers, counts = np.unique(form, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_FALSE]
    forms = training.tokens.forms
    words = [{"word": forms[numbers[x]], "removed": int(counts[x])} for x in most.tolist()]
    return {"false_by_kind": kinds.tolist(), "false_words": words}


def _attacked(turn: Any) -> dict[str, Any]:
    """Say what the attacker of a turn finds; nulls where the loop ended before it."""
    names = ("tp", "fp", "fn", "tn")
    if turn is None:
        return {f"attacker_{n}": None for n in ("learner", *names)} | {
            "inspected": None,
            "found": None,
        }
    return {
        "attacker_learner": turn.attacker.learner,
        **{f"attacker_{name}": getattr(turn.attacker, name) for name in names},
        "inspected": list(turn.inspected),
        "found": list(turn.found),
    }


def _by_type(
    truth: NDArray[np.int16], which: NDArray[np.bool_], training: Training
) -> NDArray[np.int64]:
    return np.bincount(truth[which], minlength=len(training.labels) + 1)[1:]


def _untouched(removed: NDArray[np.bool_], of: NDArray[np.intp]) -> float:
    """Return the share of sentences or documents from which nothing is removed."""
    touched = np.bincount(of, removed) > 0
    there = np.bincount(of) > 0
    return float((there & ~touched).sum() / max(there.sum(), 1))


def _passes(cost: float, loop: Loop) -> Iterator[dict[str, Any]]:
    """Yield what each learner would have done in each turn."""
    for one in loop.passes:
        tries: Mapping[str, Tried] = {"": one.attacker, **{t.learner: t for t in one.tried}}
        for name, tried in tries.items():
            yield {
                "miss_cost": cost,
                "pass": one.number,
                "learner": tried.learner,
                "decision": tried.decision,
                "attacker": not name,
                "taken": tried == one.taken,
                "tp": tried.tp,
                "fp": tried.fp,
                "fn": tried.fn,
                "tn": tried.tn,
                "change": tried.change,
                "cost": one.loss,
                "by_type": list(tried.by_type),
            }


def choose(kit: Kit, choice: Choice) -> Chosen:
    """Pick one policy of a kit's frontier, with what it leaves and removes.

    Raises
    ------
    InfeasibleError : no policy is within the limit.
    RequestError : there is no policy of that number or name.
    """
    content = Content.of(kit)
    number = choice.among(content.frontier)
    figures = content.figures_of(number)
    return Chosen(KIND, kit.id, number, str(choice), figures, content.policy(number).to_data())
