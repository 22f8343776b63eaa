"""Figures of documents policies: the tokens that a committee leaves and removes, out of fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Rate
from voile.documents.fitting.context.pointing_words import find_pointing_words
from voile.documents.fitting.loop.greedy import GreedyLoop, LearnerAttempt, LoopPass
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.model.committee.removals import TokenRemovals, Types
from voile.documents.model.committee.repeats import find_mentions
from voile.documents.model.quantities import AS_LEFT, ONE_PERCENT
from voile.documents.replacements.kinds import is_context, name_types
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.attributes import CLASSES
from voile.documents.words.subjects import count_by_subject

MOST_FALSE = 30


def policy_figures(
    training: TrainingText, cost: float, loop: GreedyLoop, *, repeats: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each policy: a committee up to each of its passes, and without a pass.

    Words that are only associated with an identifier count as harmless, although the loop learned
    them. Unknown tokens are neither left nor lost. The shares published unchanged refer to all
    text. With `repeats`, further mentions are also removed, as `apply` does by default. T, the
    attacker's figures and the proved figures belong to the loop, without further mentions.
    """
    identifiers, tokens = _identifiers(training), training.tokens
    harmless = ~identifiers & ~training.unknown
    sentence, document = tokens.sentence, tokens.document
    kinds = [training.truth == kind for kind in range(1, len(training.labels) + 1)]
    for passes in range(len(loop.committee.members) + 1):
        alone = _mark_removed(loop, passes) > 0
        removed = _mark_published(training, loop, passes, repeats=repeats) > 0
        left, lost, more = identifiers & ~removed, harmless & removed, removed & ~alone
        risk = _rate(training, left, identifiers)
        by_type = [_rate(training, ~removed & kind, kind) for kind in kinds]
        low, high = risk.interval()
        yield {
            "risk": float(left.sum() / max(identifiers.sum(), 1)),
            "risk_low": low,
            "risk_high": high,
            "loss": float(lost.sum() / max(harmless.sum(), 1)),
            "miss_cost": cost,
            "passes": passes,
            **_count_attacker_finds(loop.passes[passes] if passes < len(loop.passes) else None),
            "costs": loop.committee.costs.tolist(),
            "cost": _cost(training, loop, alone),
            "left": int(left.sum()),
            "repeats_identifiers": int((more & identifiers).sum()),
            "repeats_harmless": int((more & harmless).sum()),
            "published_tokens": float(1 - removed.mean()),
            "published_sentences": _share_untouched(removed, sentence),
            "published_documents": _share_untouched(removed, document),
            "left_by_type": [one.successes for one in by_type],
            "subjects_by_type": [one.clusters for one in by_type],
            "deff_by_type": [one.deff for one in by_type],
            "optimum": loop.stopped == "finished" and passes == len(loop.committee.members),
            **_check_theorems(training, loop, passes, alone),
            **_false(training, lost),
        }


def _rate(training: TrainingText, hits: NDArray[np.bool_], of: NDArray[np.bool_]) -> Rate:
    tokens, people = training.tokens, training.people
    return Rate.from_clusters(
        *(count_by_subject(tokens, which, people).tolist() for which in (hits, of))
    )


def count_identifiers(training: TrainingText) -> int:
    """Count the tokens that identify a person."""
    return int(_identifiers(training).sum())


def _identifiers(training: TrainingText) -> NDArray[np.bool_]:
    return np.array([False, *~is_context(training.labels)])[training.truth]


def _mark_removed(loop: GreedyLoop, passes: int) -> Types:
    """Return the type of each token that the committee removes within `passes` passes, (n,)."""
    return np.where((loop.turn > 0) & (loop.turn <= passes), loop.removed, 0).astype(np.int16)


def _mark_published(
    training: TrainingText, loop: GreedyLoop, passes: int, *, repeats: bool
) -> Types:
    """Return the type of each removed token, (n,), including further mentions of names."""
    types = _mark_removed(loop, passes)
    if not repeats:
        return types
    known = name_types(training.labels)
    names = np.array([False, *(label in known for label in training.labels)])
    removals = TokenRemovals(training.tokens, types, np.full_like(types, -1), loop.sure)
    again = find_mentions(removals, names)
    return np.where(types > 0, types, again)


def _cost(training: TrainingText, loop: GreedyLoop, removed: NDArray[np.bool_]) -> float:
    """Return T(H), with words associated with identifiers counted like in the loop."""
    missed = loop.committee.costs @ _by_type(training, ~removed)
    return float(missed) + float((removed & training.harmless).sum())


def _false(training: TrainingText, removed: NDArray[np.bool_]) -> dict[str, Any]:
    """Count the removed harmless tokens by their kind, and list those removed most often.

    Words of only one subject are not listed, since they may be missed parts of a name.
    """
    form = training.tokens.form[removed]
    kinds = np.bincount(training.classes[form], minlength=len(CLASSES) + 1)[1:]
    numbers, counts = np.unique(form, return_counts=True)
    most = np.argsort(-counts, kind="stable")
    shared = _of_several(training)[numbers[most]]
    forms = training.tokens.forms
    words = [
        {"word": forms[numbers[x]], "removed": int(counts[x])}
        for x in most[shared][:MOST_FALSE].tolist()
    ]
    return {"false_by_kind": kinds.tolist(), "false_words": words}


def _of_several(training: TrainingText) -> NDArray[np.bool_]:
    """Return which forms two or more subjects have, as a mask by form number."""
    tokens = training.tokens
    whose = training.people[tokens.document]
    met = np.unique(np.stack([tokens.form, whose]), axis=1)[0]
    return np.bincount(met, minlength=len(tokens.forms)) > 1


def context_figures(
    training: TrainingText,
    corpus: DocumentSequence,
    loop: GreedyLoop,
    passes: int,
    *,
    repeats: bool = True,
) -> dict[str, Any]:
    """Find the remaining words that indicate removed values. The result is private."""
    removed = _mark_published(training, loop, passes, repeats=repeats)
    found = find_pointing_words(corpus, _removals(training, removed))
    words = sorted({rule.word for rule in found.rules})
    return {"context_share": found.share, "context_rules": len(found.rules), "context": words}


def _removals(training: TrainingText, removed: NDArray[np.int16]) -> list[list[TextRemoval]]:
    tokens, labels = training.tokens, training.labels
    gone = np.flatnonzero(removed)
    starts, ends, types = (x[gone].tolist() for x in (tokens.starts, tokens.ends, removed))
    bounds = np.searchsorted(gone, tokens.first).tolist()
    return [
        [TextRemoval(starts[x], ends[x], labels[types[x] - 1]) for x in range(begin, end)]
        for begin, end in pairwise(bounds)
    ]


def _check_theorems(
    training: TrainingText, loop: GreedyLoop, passes: int, removed: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the figures for Lemma 1 and Theorems 4 to 6 of a committee at a local optimum."""
    if loop.stopped != "finished" or passes < len(loop.committee.members):
        return dict.fromkeys(("training", "missed", "lost"))
    learnt = loop.learnt
    return {
        "training": None if learnt is None else [learnt.tp, learnt.fp, learnt.tn, learnt.fn],
        "missed": _by_type(training, ~removed),
        "lost": int((removed & training.harmless).sum()),
    }


def _count_attacker_finds(turn: LoopPass | None) -> dict[str, Any]:
    """Return the finds of a pass's attacker, or nulls if the loop ended before the pass."""
    names = ("learner", "tp", "fp", "fn", "tn")
    if turn is None:
        return dict.fromkeys((*AS_LEFT, *ONE_PERCENT, *(f"attacker_{name}" for name in names)))
    few, many = (dataclasses.astuple(rate) for rate in turn.found)
    return {
        **dict(zip(AS_LEFT, few, strict=True)),
        **dict(zip(ONE_PERCENT, many, strict=True)),
        **{f"attacker_{name}": getattr(turn.attacker, name) for name in names},
    }


def _by_type(training: TrainingText, which: NDArray[np.bool_]) -> list[int]:
    counts = np.bincount(training.truth[which], minlength=len(training.labels) + 1)
    return [int(n) for n in counts[1:]]


def _share_untouched(removed: NDArray[np.bool_], of: NDArray[np.intp]) -> float:
    touched = np.bincount(of, removed) > 0
    there = np.bincount(of) > 0
    return float((there & ~touched).sum() / max(there.sum(), 1))


def pass_rows(training: TrainingText, cost: float, loop: GreedyLoop) -> Iterator[dict[str, Any]]:
    """Yield the tokens that each learner would have removed in each pass.

    `removed` counts the removed identifiers out of `before`, and `harmless` all other removed
    tokens. `tp` to `tn` are the loop's counts. For the loop, words associated with an identifier
    are also identifiers.
    """
    own = ~is_context(training.labels)
    before = count_identifiers(training)
    for one in loop.passes:
        tries: Mapping[str, LearnerAttempt] = {
            "": one.attacker,
            **{t.learner: t for t in one.tried},
        }
        for name, tried in tries.items():
            removed = _own(tried, own)
            yield {
                "miss_cost": cost,
                "pass": one.number,
                "learner": tried.learner,
                "decision": tried.decision,
                "attacker": not name,
                "taken": tried == one.taken,
                "removed": removed,
                "before": before,
                "harmless": tried.fp + tried.tp - removed,
                "tp": tried.tp,
                "fp": tried.fp,
                "fn": tried.fn,
                "tn": tried.tn,
                "change": tried.change,
                "cost": one.loss,
                "by_type": list(tried.by_type),
            }
        if one.taken:
            before -= _own(one.taken, own)


def _own(tried: LearnerAttempt, own: NDArray[np.bool_]) -> int:
    return int(np.array(tried.by_type)[own].sum())
