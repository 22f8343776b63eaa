"""The adversary's labels, and the predictions of classifiers that learn from them.

If a publisher removes all names even from the training text, nothing can be learned there. So there
are three sources:

- ``published`` text with labels of the identifiers left in it (or the release's other subjects);
- a part of the ``released`` text, labelled by hand;
- ``foreign`` text, not sanitised, with its own labels.

voile's pretrained model, the ``starter``, was trained on public text and needs no labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.attack.attack_text import AttackText
from voile.documents.learners.cross_fitting import cross_fit
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.model.classifiers.classifier import Margins
from voile.documents.model.start.starter.starter import LIKELY_ODDS, PretrainedStarter

FOLDS = 5
CHOOSING = 3
"""The folds for choosing a learner. `FOLDS` are the folds of an attack within the release.

The choice has fewer folds, since every learner is fitted on each fold.
"""


@dataclass(frozen=True, eq=False)
class ClassifierPrediction:
    """The predictions of one classifier for documents that it did not learn from."""

    learner: str  # the name of the learner; "" if there was no identifier to learn from
    documents: NDArray[np.bool_]  # (d,) bool, the predicted documents
    # (m,) the margins of their tokens, higher for more certain identifiers
    margins: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not np.isfinite(self.margins).all():
            raise RequestError(
                f"learner {self.learner} gives margins that are not numbers",
                instead="attack with the other learners",
            )


@dataclass(frozen=True, eq=False)
class ApprenticeAttacker:
    """An attacker who tries every learner on labelled text and keeps the most accurate one."""

    # learners, seeds: by the name of the learner
    learners: Mapping[str, TokenLearner]
    seeds: Mapping[str, int]
    n_jobs: int | None  # the number of processes, which does not change the result

    def across(self, ground: AttackText, rng: np.random.Generator) -> ClassifierPrediction:
        """Predict each subject of the release with a classifier that learned from the others.

        The learner is chosen on all subjects, which slightly favours the adversary.
        """
        everything = ground.attacked
        subjects_of(ground)
        if not ground.examples.labels.any():
            return self._blind(ground, everything)
        folds = ground.folds(FOLDS, everything, rng)
        margins = self._judge(ground.examples, folds)
        best = self._best(margins, ground.examples)
        return ClassifierPrediction(best, everything, margins[best][:, 0])

    def elsewhere(
        self, ground: AttackText, learnt: NDArray[np.bool_], rng: np.random.Generator
    ) -> ClassifierPrediction:
        rest = ground.attacked & ~learnt
        seen, shown = ground.examples.of(learnt), ground.examples.of(rest)
        if not seen.labels.any():
            return self._blind(ground, rest)
        best = next(iter(self.learners))
        if len(self.learners) > 1 and len(np.unique(ground.subject[learnt])) > 1:
            best = self._best(self._judge(seen, ground.folds(CHOOSING, learnt, rng)), seen)
        fitted = self.learners[best].fit(seen, seed=self.seeds[best])
        return ClassifierPrediction(best, rest, fitted.margins(shown)[:, 0])

    def _judge(self, examples: LabelledExamples, folds: NDArray[np.intp]) -> dict[str, Margins]:
        found = cross_fit(
            tuple(self.learners.values()),
            examples,
            folds,
            seeds=[self.seeds[name] for name in self.learners],
            n_jobs=self.n_jobs,
        )
        return dict(zip(self.learners, found, strict=True))

    @staticmethod
    def _best(margins: Mapping[str, Margins], examples: LabelledExamples) -> str:
        return max(margins, key=lambda name: rank_quality(margins[name][:, 0], examples))

    @staticmethod
    def _blind(ground: AttackText, documents: NDArray[np.bool_]) -> ClassifierPrediction:
        return ClassifierPrediction("", documents, np.zeros(int(ground.tokens_of(documents).sum())))


def rank_quality(margins: NDArray[np.float64], examples: LabelledExamples) -> tuple[float, float]:
    """Return the accuracy of a classifier's own rule, and its average precision to break ties.

    If few identifiers are left, the most accurate classifiers find none. Margins that are not
    finite rank last.
    """
    from sklearn.metrics import average_precision_score  # type: ignore[import-untyped]

    true, said = examples.labels[examples.counted] > 0, margins[examples.counted]
    if not np.isfinite(said).all():
        return -1.0, 0.0
    return float(((said > 0) == true).mean()), float(average_precision_score(true, said))


def draw_subjects(ground: AttackText, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a share of the release's subjects, and return which documents are theirs, (d,)."""
    people = subjects_of(ground)
    number = min(max(round(share * len(people)), 1), len(people) - 1)
    return np.isin(ground.subject, rng.permutation(people)[:number])


def subjects_of(ground: AttackText) -> NDArray[np.intp]:
    """Return the release's subjects; raise RequestError if there are fewer than two."""
    people = np.unique(ground.subject[ground.attacked])
    if len(people) < 2:
        raise RequestError(
            "a release of fewer than two subjects has no part to learn from and another to attack",
            instead="attack with labels from other text",
        )
    return people


def rank_by_starter(ground: AttackText, starter: PretrainedStarter) -> ClassifierPrediction:
    """Return the predictions of a pretrained model for the release.

    Positives are its likely proposals.
    """
    odds = starter.odds(ground.tokens)[ground.tokens_of(ground.attacked)]
    return ClassifierPrediction(f"the starter {starter.name}", ground.attacked, odds - LIKELY_ODDS)


def predict(
    student: ApprenticeAttacker,
    ground: AttackText,
    source: str,
    share: float,
    rngs: Sequence[np.random.Generator],
) -> list[ClassifierPrediction]:
    """Return the predictions for the release, one for each generator.

    Only a share labelled by hand is drawn again each time. The other sources give one prediction.
    """
    if source == "released":
        return [student.elsewhere(ground, draw_subjects(ground, share, rng), rng) for rng in rngs]
    if ground.attacked.all():
        return [student.across(ground, rngs[0])] * len(rngs)
    return [student.elsewhere(ground, ~ground.attacked, rngs[0])] * len(rngs)
