"""GreedySanitize (Algorithm 1): train on the remaining text, and remove while a pass lowers T."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.core.evidence import Rate
from voile.core.interruption import ctrl_c
from voile.core.progress import ProgressHook
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.fits import StoredFits
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.committee.committee import (
    CommitteeMember,
    DecidedTokens,
    Decision,
    TokenCommittee,
    types_by_own_rule,
)
from voile.documents.model.committee.removals import Types

NOTHING_LEARNT = "too little text"
"""The end of a loop without a pass, because too little text would be left."""
LEAST_LEFT = 300
"""The fewest tokens that must be left.

With fewer, no finds still allow a share above 1% (3 / n).
"""


@dataclass(frozen=True)
class LearnerAttempt:
    """The tokens that a learner would remove in a pass."""

    # learner, decision: the learner and its rule
    learner: str
    decision: Decision
    # tp, fp: identifiers and harmless tokens removed
    tp: int
    fp: int
    # fn, tn: identifiers and harmless tokens left
    fn: int
    tn: int
    change: float  # the change of T, C FP - L TP (Lemma 1); negative changes are useful
    by_type: tuple[int, ...]  # (T,) the removed identifiers of each type

    @property
    def accuracy(self) -> float:
        """The share of tokens classified correctly."""
        return (self.tp + self.tn) / max(self.tp + self.fp + self.fn + self.tn, 1)


@dataclass(frozen=True)
class LoopPass:
    number: int  # from 1
    # the attempt of each learner, and that of the attacker: the most accurate by its own rule
    tried: tuple[LearnerAttempt, ...]
    attacker: LearnerAttempt
    # the identifiers among the remaining tokens that the attacker inspects, by margin, before the
    # turn. The attacker inspects as many tokens as there are identifiers left, and 1% of the tokens
    found: tuple[Rate, Rate]
    taken: LearnerAttempt | None  # the attempt added to the committee, None in the last turn
    loss: float  # T(H) after the pass


@dataclass(frozen=True, eq=False)
class GreedyLoop:
    committee: TokenCommittee  # H
    passes: tuple[LoopPass, ...]  # the history, including the turn that did not lower T
    removed: Types  # (n,) the type of each removed token, out of fold
    turn: Types  # (n,) the pass in which each token was removed, 0 if it is left
    sure: NDArray[np.bool_]  # (n,) which removed tokens are surely identifiers
    # the attacker's final classifier on its own training text; None if the loop did not finish
    learnt: LearnerAttempt | None
    # ``finished``: no tried classifier lowers T, including the attacker's; ``unconfirmed``: one
    # does, but not on the folds that did not choose it; ``max passes``; ``interrupted``
    stopped: str


def sanitize_greedily(
    fits: StoredFits,
    costs: NDArray[np.float64],
    *,
    decision: Decision,
    max_passes: int,
    progress: ProgressHook,
    least_left: int = LEAST_LEFT,
) -> GreedyLoop:
    """Build a committee.

    In each pass every learner is tried, out of fold, on the remaining tokens. The learner that
    lowers T most is added. If none lowers T, voile tries the attacker's classifier, the most
    accurate by its own rule. It is added if it lowers T. The end is a local optimum (Definition
    4.1) among the tried classifiers.

    A pass after the first is added only if the choice of each half of the folds lowers T on the
    other half. Some of many attempts lower T by chance, and raise it on other text.
    """
    if decision not in get_args(Decision):
        raise RequestError(f"there is no decision {decision}", instead="use cost or accuracy")
    if max_passes < 1:
        raise RequestError(f"{max_passes} passes", instead="allow 1 or more")
    training = fits.training
    removed = np.zeros(len(training.tokens), dtype=np.int16)
    turns: list[_LoopTurn] = []
    learnt, stopped = None, "max passes"
    try:
        while stopped == "max passes" and len(turns) < max_passes:
            number = len(turns) + 1
            fitted = partial(progress, f"training classifiers in pass {number}")
            fitted(0)
            check_left(removed[~training.unknown], least_left)
            examples = training.examples(removed, costs)
            with ctrl_c():
                turns.append(_turn(fits, examples, removed, decision, number, fitted))
                removed = _combine_turns(turns)[0]
                if turns[-1].unconfirmed:
                    stopped = "unconfirmed"
                elif turns[-1].member is None:
                    stopped = "finished"
                    learnt = _count_on_own_text(fits, examples, removed, turns[-1].record.attacker)
    except KeyboardInterrupt:
        if not any(turn.member for turn in turns):
            raise
        stopped = "interrupted"
    removed, when, sure = _combine_turns(turns)
    check_left(removed[~training.unknown], least_left)
    members = tuple(turn.member for turn in turns if turn.member)
    reading = training.tokeniser, training.hinter
    committee = TokenCommittee(training.labels, costs, training.space, members, *reading)
    return GreedyLoop(
        committee, tuple(turn.record for turn in turns), removed, when, sure, learnt, stopped
    )


def remove_nothing(fits: StoredFits, costs: NDArray[np.float64]) -> GreedyLoop:
    """Return a loop without a pass, for text that is too small to learn from."""
    training = fits.training
    none = np.zeros(len(training.tokens), dtype=np.int16)
    reading = training.tokeniser, training.hinter
    committee = TokenCommittee(training.labels, costs, training.space, (), *reading)
    return GreedyLoop(committee, (), none, none.copy(), none > 0, None, NOTHING_LEARNT)


@dataclass(frozen=True, eq=False)
class _LoopTurn:
    """A pass, its new member, the removals of that member, (n,), and whether T fell by chance."""

    record: LoopPass
    member: CommitteeMember | None
    found: DecidedTokens
    unconfirmed: bool = False


def _combine_turns(turns: Sequence[_LoopTurn]) -> tuple[Types, Types, NDArray[np.bool_]]:
    """Return the type, the pass and the certainty of the removal of each token, (n,)."""
    removed = np.zeros(len(turns[0].found.types), dtype=np.int16)
    when, sure = removed.copy(), np.zeros(len(removed), dtype=np.bool_)
    for turn in turns:
        new = turn.found.types > 0
        when[new] = turn.record.number
        removed[new], sure[new] = turn.found.types[new], turn.found.sure[new]
    return removed, when, sure


def _count_on_own_text(
    fits: StoredFits, examples: LabelledExamples, removed: Types, attacker: LearnerAttempt
) -> LearnerAttempt:
    """Count the errors of the attacker's classifier on its own training text."""
    name = attacker.learner
    margins = fits.classifier(name, examples, removed).margins(examples)
    return count_attempt(name, "accuracy", types_by_own_rule(margins), examples)


def _turn(
    fits: StoredFits,
    examples: LabelledExamples,
    removed: Types,
    decision: Decision,
    number: int,
    fitted: Callable[[int, int], None],
) -> _LoopTurn:
    """Try every learner and the attacker, and choose the one that lowers T most."""
    looks = fits.margins(examples, removed, fitted)
    found: dict[tuple[str, Decision], DecidedTokens] = {}
    attempts: dict[tuple[str, Decision], LearnerAttempt] = {}
    decisions: tuple[Decision, ...] = tuple(dict.fromkeys((decision, "accuracy")))
    for name, look in looks.items():
        for how in decisions:
            found[name, how] = look.decide_tokens(fits.training.tokens, examples, how)
            attempts[name, how] = count_attempt(name, how, found[name, how].types, examples)
    attacker = max((attempts[name, "accuracy"] for name in looks), key=lambda one: one.accuracy)
    best = min((attempts[name, decision] for name in looks), key=lambda one: one.change)
    taken = next((one for one in (best, attacker) if one.change < 0), None)
    fold = next(iter(looks.values())).fold
    unconfirmed = (
        taken is not None
        and number > 1
        and not _is_confirmed(
            [one.types for (_, how), one in found.items() if how == taken.decision], examples, fold
        )
    )
    taken = None if unconfirmed else taken
    left = float(examples.costs @ _of_types(examples, examples.labels))
    harmless = int(((removed > 0) & fits.training.harmless).sum())
    loss = left + harmless + (0.0 if taken is None else taken.change)
    inspected = (attacker.tp + attacker.fn, int(examples.counted.sum()) // 100)
    turn = LoopPass(
        number,
        tuple(attempts[name, decision] for name in looks),
        attacker,
        _count_found(looks[attacker.learner], examples, inspected, fits.training),
        taken,
        loss,
    )
    if taken is None:
        return _LoopTurn(
            turn, None, DecidedTokens(np.zeros_like(removed), removed < 0), unconfirmed
        )
    member = _member(fits, examples, removed, taken, looks[taken.learner])
    return _LoopTurn(turn, member, found[taken.learner, taken.decision])


def _is_confirmed(
    tried: Sequence[Types], examples: LabelledExamples, fold: NDArray[np.intp]
) -> bool:
    """Return whether the choice on each half of the folds lowers the cost T on the other half."""
    if not fold.any():  # with one fold, evaluate on the training text, like the paper
        return True
    halves = [replace(examples, counted=examples.counted & (fold % 2 == half)) for half in (0, 1)]
    change = np.array(
        [[count_attempt("", "cost", types, half).change for half in halves] for types in tried]
    )
    return bool((change[change.argmin(axis=0), [1, 0]] < 0).all())


def _count_found(
    look: OutOfFold, examples: LabelledExamples, inspected: tuple[int, int], training: TrainingText
) -> tuple[Rate, Rate]:
    """Count the identifiers among the tokens with the highest margins; ties in text order."""
    counted = np.flatnonzero(examples.counted)
    order = counted[np.argsort(-look.margins[counted].max(axis=1), kind="stable")]
    whose = training.people[training.tokens.document[order]]
    hits = examples.labels[order] > 0
    few, many = (
        Rate.by_subject(hits[:number].tolist(), whose[:number].tolist()) for number in inspected
    )
    return few, many


def _member(
    fits: StoredFits,
    examples: LabelledExamples,
    removed: Types,
    taken: LearnerAttempt,
    look: OutOfFold,
) -> CommitteeMember:
    classifier = fits.classifier(taken.learner, examples, removed)
    calibration = look.calibration(examples) if taken.decision == "cost" else None
    return CommitteeMember(taken.learner, classifier, calibration, taken.decision)


def count_attempt(
    learner: str, decision: Decision, types: Types, examples: LabelledExamples
) -> LearnerAttempt:
    """Count the effect of removing these tokens, independent of the types of removals."""
    gone = (types > 0) & examples.counted
    kept = ~gone & examples.counted
    identifiers = examples.labels > 0
    by_type = _of_types(examples, np.where(gone, examples.labels, 0))
    fp = int((gone & ~identifiers).sum())
    return LearnerAttempt(
        learner,
        decision,
        int(by_type.sum()),
        fp,
        int((kept & identifiers).sum()),
        int((kept & ~identifiers).sum()),
        fp - float(examples.costs @ by_type),
        tuple(by_type.tolist()),
    )


def _of_types(examples: LabelledExamples, labels: Types) -> NDArray[np.int64]:
    return np.bincount(labels, minlength=examples.types + 1)[1:]


def check_left(removed: Types, least: int) -> None:
    """Raise an error if too few tokens are left to estimate an adversary's finds."""
    left = int((removed == 0).sum())
    if left < least:
        raise InfeasibleError(
            f"only {left} tokens are left, too few to estimate an adversary's finds",
            instead=f"publish nothing, or annotate more text; {least} must be left",
        )
