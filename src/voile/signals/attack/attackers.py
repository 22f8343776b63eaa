"""Attackers that infer the class from messages: learners, and Bayes' rule with the map's model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.evidence import Z95, Finding, Note, Rate
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.posterior import after
from voile.signals.model.maps.fitted import FittedLaws

MOST = 5_000  # readings for training support vectors, since their cost is quadratic
RIGHT = "Compare with naming the commonest class, or the likeliest, of everyone."
FOUND = "Share of this class's people whom the attacker assigns to it, all classes weighed alike."
IDENTIFIED = "class identified"
"""The name in the evidence for an adversary's rate of correct classes."""
DOUBT = 1e-4  # added to each probability, so that one confident error does not dominate the bits


@dataclass(frozen=True)
class ClassAttacker:
    """The accuracy with which one attacker classifies people outside its training set."""

    name: str  # kind of learner
    accuracy: Rate  # rate of correct guesses
    balanced: float  # mean recall with equal weight per class; chance is 1 / classes
    low: float  # lower end of its 95% interval
    high: float  # upper end of its 95% interval
    recall: tuple[Rate, ...]  # per class, from the guesses for `balanced`
    auc: tuple[float, ...]  # per class against the other classes; chance is 1/2
    bits: float  # H(C) minus the log-loss; NaN for an attacker without probabilities
    bits_low: float  # lower end of its 95% interval
    bits_high: float  # upper end of its 95% interval
    permuted: float = float("nan")  # 95th percentile of `balanced` with permuted classes

    @property
    def is_blind(self) -> bool:
        """Whether the attacker assigns everyone to the same class.

        The order of the classes then determines this class, and the data of people have no
        influence.
        """
        return sorted(rate.value for rate in self.recall) == [0.0] * (len(self.recall) - 1) + [1.0]

    def findings(
        self, classes: Sequence[str], baselines: Sequence[Rate | None]
    ) -> tuple[Finding, ...]:
        """Return the attacker's success rates, overall and for the people of each class.

        `baselines` are the same rates without messages, or None where unknown.
        """
        rates = (self.accuracy, *(() if self.is_blind else self.recall))
        names = ("", *classes)[: len(rates)]
        return tuple(
            Finding(
                "found" if name else IDENTIFIED,
                rate,
                baseline=without,
                meaning=FOUND if name else RIGHT,
                by=self.name,
                of=name,
                parts="class",
            )
            for name, rate, without in zip_longest(names, rates, baselines[: len(rates)])
        )

    def note(self, before: str = "") -> Note:
        """Return a note that summarizes the attacker's success, after the sentence `before`."""
        after = " To this adversary all classes look alike." if self.is_blind else ""
        gained = "" if np.isnan(self.bits) else ", {bits:.3f} bits gained"
        permuted = "" if np.isnan(self.permuted) else ", at most {permuted:.3f} by chance"
        values = {
            "attacker": f"{self.name[0].upper()}{self.name[1:]}",
            **{name: getattr(self, name) for name in ("balanced", "low", "high")},
            "chance": 1 / len(self.recall),
            "auc": max(self.auc),
            **({"bits": round(self.bits, 3) + 0.0} if gained else {}),  # avoids -0.0
            **({"permuted": self.permuted} if permuted else {}),
        }
        return Note(
            f"{before}{{attacker}}: balanced accuracy at least {{balanced:.3f}} ({{low:.3f}} to "
            "{high:.3f}, chance {chance:.3f}), largest AUC of a class {auc:.3f}"
            f"{gained}{permuted}.{after}",
            values,
            by=self.name,
        )


def learners(
    Z: Floats, c: Codes, fresh: Floats, d: Codes, seed: int, prior: Floats | None = None
) -> tuple[ClassAttacker, ...]:
    """Train each learner on `Z` and its classes, and test it on `fresh`.

    `prior`, (n, k) p(c | s) of the tested people, weights the probabilities. Support vectors have
    no probabilities, so they ignore it.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.neighbors import KNeighborsClassifier  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    near = int(np.clip(len(c) // 15, 5, 400))
    kinds = {
        "random forest": RandomForestClassifier(100, min_samples_leaf=10, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=40, max_leaf_nodes=8, random_state=seed
        ),
        "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(near)),
    }
    guessed = []
    for name, kind in kinds.items():
        chances = kind.fit(Z, c).predict_proba(fresh)
        if prior is not None:
            chances = chances * prior / (np.bincount(c) / len(c)) + 1e-300
            chances /= chances.sum(axis=1, keepdims=True)
        guessed.append(by_chances(name, chances, d, prior))
    return (_support_vectors(Z[:MOST], c[:MOST], fresh, d), *guessed)


def _support_vectors(Z: Floats, c: Codes, fresh: Floats, d: Codes) -> ClassAttacker:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC  # type: ignore[import-untyped]

    plain, fair = (
        make_pipeline(StandardScaler(), SVC(class_weight=weigh)).fit(Z, c)
        for weigh in (None, "balanced")
    )
    scores = fair.decision_function(fresh)
    scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    return _score_attacker("support vectors", d, plain.predict(fresh), fair.predict(fresh), scores)


class ModelledMap(Protocol):
    """A fitted or stored map, with its model of the readings."""

    @property
    def fitted_(self) -> FittedLaws | None:
        """The model of the numeric columns."""

    @property
    def codec_(self) -> Codec:
        """The codec of the map."""

    def codec(self, *, base: str, strength: float) -> Codec:
        """Return a codec with another base and strength."""


def bayes(
    map: ModelledMap,
    Z: Floats,
    d: Codes,
    prior: Floats | None = None,
    known: ArrayLike | None = None,
) -> ClassAttacker:
    """Attack with Bayes' rule and the densities of the map's own model.

    All columns must be numeric. If the model is correct, no attacker does better. At strength 1 all
    classes look alike to it, so the prior is unchanged. The prior is `prior`, (n, k) p(c | s), or
    the map's shares. `known` are the side columns, if the map uses any.
    """
    fitted = map.fitted_
    assert fitted is not None  # the audit only takes numbers
    full = map.codec(base="normal", strength=1.0)
    at = map.codec_.levels(known, len(Z))
    logs = map.codec_.log_densities(np.ascontiguousarray(Z.T, dtype=np.float64), full, at)
    chances = after(fitted.shares if prior is None else prior, logs)
    return by_chances("Bayes' rule with the map's model", chances, d, prior)


def by_chances(name: str, chances: Floats, d: Codes, prior: Floats | None = None) -> ClassAttacker:
    """Score an attacker that gives each class a probability, (n, k); `d` are the true classes.

    The bits are gained relative to `prior`, (n, k). None means the class shares in `d`.
    """
    k = chances.shape[1]
    shares = np.bincount(d, minlength=k) / len(d)
    rows = np.arange(len(d)), d
    before = shares[d] if prior is None else (prior[rows] + DOUBT) / (1 + k * DOUBT)
    chances = (chances + DOUBT) / (1 + k * DOUBT)
    fair = chances / np.maximum(shares, 1 / len(d))
    own = np.log2(chances[rows]) - np.log2(before)
    error = Z95 * own.std() / np.sqrt(len(d))
    bits = float(own.mean())
    guesses = chances.argmax(axis=1), fair.argmax(axis=1)
    return _score_attacker(name, d, *guesses, chances, (bits, bits - error, bits + error))


def _score_attacker(
    name: str,
    d: Codes,
    guess: NDArray[Any],
    fair: NDArray[Any],
    scores: Floats,
    bits: tuple[float, float, float] = (np.nan,) * 3,
) -> ClassAttacker:
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    k = scores.shape[1]
    recall = tuple(
        Rate(int((fair[d == one] == one).sum()), int((d == one).sum())) for one in range(k)
    )
    values = np.array([rate.value for rate in recall])
    # variance of a mean of independent rates, smoothed so that none is certain
    spread = sum(
        (rate.successes + 1) / (rate.trials + 2) * (1 - (rate.successes + 1) / (rate.trials + 2))
        / rate.trials
        for rate in recall
    )  # fmt: skip
    half = Z95 * float(np.sqrt(spread)) / k
    balanced = float(values.mean())
    return ClassAttacker(
        name,
        Rate(int((guess == d).sum()), len(d)),
        balanced,
        balanced - half,
        balanced + half,
        recall,
        tuple(float(roc_auc_score(d == one, scores[:, one])) for one in range(k)),
        *(float(one) for one in bits),
    )
