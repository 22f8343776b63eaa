"""Attackers who infer the class from messages: learners, and Bayes' rule with the map."""

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

MOST = 5_000  # readings that the support vectors learn from: their cost grows with the square
RIGHT = "Compare with naming the commonest class, or the likeliest, of everyone."
FOUND = "Share of this class's people whom the attacker assigns to it, all classes weighed alike."
IDENTIFIED = "class identified"
"""The evidence's name for how often an adversary is right."""
DOUBT = 1e-4  # added to each chance, so that one wrong certainty does not decide the bits


@dataclass(frozen=True)
class ClassAttacker:
    """Store how well one attacker distinguishes the classes of people not learned from."""

    name: str  # the kind of learner
    accuracy: Rate  # of guesses that are right as often as possible
    balanced: float  # mean recall, each class counting alike; chance is 1 / classes
    low: float  # of its 95% interval
    high: float  # of the same
    recall: tuple[Rate, ...]  # per class, as for `balanced`
    auc: tuple[float, ...]  # per class against the rest; chance is 1/2
    bits: float  # H(C) less the log-loss; NaN for an attacker without chances
    bits_low: float  # of its 95% interval
    bits_high: float  # of the same
    permuted: float = float("nan")  # 95th percentile of `balanced` where classes are permuted

    @property
    def is_blind(self) -> bool:
        """Whether all classes look alike, so that the attacker gives everyone the same class.

        The order of the classes decides which class that is. People's data have no influence.
        """
        return sorted(rate.value for rate in self.recall) == [0.0] * (len(self.recall) - 1) + [1.0]

    def findings(
        self, classes: Sequence[str], baselines: Sequence[Rate | None]
    ) -> tuple[Finding, ...]:
        """Return how often the attacker is right, overall and for the people of each class.

        `baselines` are the same rates without messages, None where unknown.
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
        """Sum up how well the attacker infers all classes, after a given sentence."""
        after = " To this adversary all classes look alike." if self.is_blind else ""
        gained = "" if np.isnan(self.bits) else ", {bits:.3f} bits gained"
        permuted = "" if np.isnan(self.permuted) else ", at most {permuted:.3f} by chance"
        values = {
            "attacker": f"{self.name[0].upper()}{self.name[1:]}",
            **{name: getattr(self, name) for name in ("balanced", "low", "high")},
            "chance": 1 / len(self.recall),
            "auc": max(self.auc),
            **({"bits": round(self.bits, 3) + 0.0} if gained else {}),  # no minus before nothing
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

    `prior`, (n, k) p(c | s) of the tested people, weighs the chances. Support vectors have no
    chances to weigh.
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
        """The encoder and decoder."""

    def codec(self, *, base: str, strength: float) -> Codec:
        """Return a codec of another base and strength."""


def bayes(
    map: ModelledMap,
    Z: Floats,
    d: Codes,
    prior: Floats | None = None,
    known: ArrayLike | None = None,
) -> ClassAttacker:
    """Let the attacker use Bayes' rule with the densities of the map's own model.

    All columns must be numbers. If the model is right, no attacker does better. At strength 1 all
    classes look alike to it, and the prior stays: `prior`, (n, k) p(c | s), or the map's shares.
    `known` are the side columns, if the map uses any.
    """
    fitted = map.fitted_
    assert fitted is not None  # the audit is of numbers
    full = map.codec(base="normal", strength=1.0)
    at = map.codec_.levels(known, len(Z))
    logs = map.codec_.log_densities(np.ascontiguousarray(Z.T, dtype=np.float64), full, at)
    chances = after(fitted.shares if prior is None else prior, logs)
    return by_chances("Bayes' rule with the map's model", chances, d, prior)


def by_chances(name: str, chances: Floats, d: Codes, prior: Floats | None = None) -> ClassAttacker:
    """Score an attacker who gives each class a chance, (n, k); the classes of `d` are known.

    Bits are those gained over `prior`, (n, k), the beliefs beforehand; None: the shares of `d`.
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
    # the spread of a mean of independent shares, each a little smoothed so that none is certain
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
