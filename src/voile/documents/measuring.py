"""What a committee leaves and removes, counted out of fold: the figures of the wing's policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.documents.context import pointing
from voile.documents.corpus import Corpus
from voile.documents.greedy import Loop, Tried
from voile.documents.replacing import Removal
from voile.documents.training import Training
from voile.documents.words.features import CLASSES

MOST_FALSE = 30


def points(training: Training, cost: float, loop: Loop) -> Iterator[dict[str, Any]]:
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
            "costs": loop.committee.costs.tolist(),
            "cost": float(loop.committee.costs @ _by_type(truth, left, training))
            + float((harmless & removed).sum()),
            "left": int(left.sum()),
            "published_tokens": float(1 - removed.mean()),
            "published_sentences": _untouched(removed, sentence),
            "published_documents": _untouched(removed, document),
            "left_by_type": _by_type(truth, left, training).tolist(),
            "optimum": loop.stopped == "finished" and passes == len(loop.committee.members),
            **_proved(loop, passes),
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


def context_of(training: Training, corpus: Corpus, loop: Loop, passes: int) -> dict[str, Any]:
    """Say which words left point to values removed, by rules over subjects.

    The words are for the holder alone; the shares are not.
    """
    removed = np.where((loop.turn > 0) & (loop.turn <= passes), loop.removed, 0)
    found = pointing(corpus, _removals(training, removed))
    words = sorted({rule.word for rule in found.rules})
    return {"context_share": found.share, "context_rules": len(found.rules), "context": words}


def _removals(training: Training, removed: NDArray[np.int16]) -> list[list[Removal]]:
    """Return what is removed of each document."""
    tokens, labels = training.tokens, training.labels
    gone = np.flatnonzero(removed)
    starts, ends, types = (x[gone].tolist() for x in (tokens.starts, tokens.ends, removed))
    bounds = np.searchsorted(gone, tokens.first).tolist()
    return [
        [Removal(starts[x], ends[x], labels[types[x] - 1], "") for x in range(begin, end)]
        for begin, end in pairwise(bounds)
    ]


def _proved(loop: Loop, passes: int) -> dict[str, Any]:
    """Keep what Theorem 1 and Theorems 4 to 6 ask of a committee that is a local optimum."""
    if loop.stopped != "finished" or passes < len(loop.committee.members):
        return {"training": None, "added": None}
    learnt = loop.learnt
    return {
        "training": None if learnt is None else [learnt.tp, learnt.fp, learnt.tn, learnt.fn],
        "added": [[t.tp, t.fp, t.tn, t.fn] for t in (p.taken for p in loop.passes) if t],
    }


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


def turns(cost: float, loop: Loop) -> Iterator[dict[str, Any]]:
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
