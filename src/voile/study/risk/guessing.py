"""Guess people's sex from the released texts with a classifier, as a test of neutral wording.

The adversary knows the sex of some people of the release. From their texts the adversary learns the
words that indicate it: a missed pronoun, a title, an illness. The adversary then guesses the sex of
the others. Success is balanced accuracy, so guessing the more frequent sex for everyone is chance.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from voile.core.brief import BriefRepr
from voile.core.evidence import Rate
from voile.data.column_words import glossary
from voile.study.plan.entries import MentionEntry
from voile.study.readers import is_sex

MOST_PEOPLE, MOST_CHARACTERS = 2_000, 20_000
"""Maximum people with texts, and characters of each, so that memory is bounded."""
FOLDS = 5
LEAST = 10
"""Minimum number of people of a sex for learning."""


@dataclass(frozen=True)
class ColumnGuess(BriefRepr):
    """Balanced accuracy of guessing a column from texts, with its 95% interval.

    chance : the accuracy of random guesses. people : number of people with a guessed value. The
        classifier was not trained on their texts.
    """

    column: str
    people: int
    accuracy: float
    low: float
    high: float
    chance: float

    @property
    def is_above_chance(self) -> bool:
        """Whether the adversary must be assumed to know the column."""
        return self.low > self.chance

    @property
    def says(self) -> str:
        """One sentence for a report."""
        taken = "the joint figures count it as known" if self.is_above_chance else "taken as unsaid"
        return (
            f"a classifier guesses {self.column} from the texts with a balanced accuracy of "
            f"{self.accuracy:.1%} (95% interval {self.low:.1%} to {self.high:.1%}, chance "
            f"{self.chance:.0%}): {taken}"
        )

    def to_data(self) -> dict[str, Any]:
        return asdict(self)


def sexes_in(mentions: Mapping[str, MentionEntry], quasi: Sequence[str]) -> list[str]:
    """Return the sex columns that texts must not keep, by their mention or their name."""
    kept = {one.column for one in mentions.values() if one.keep}
    said = {one.column for label, one in mentions.items() if is_sex(label)}
    sex = glossary()["sex"]
    return [name for name in quasi if name not in kept and (name in said or sex.found_in(name))]


def gather(said: Iterable[tuple[str, str]], people: Iterable[str]) -> dict[str, str]:
    """Return the texts of the first people, by pseudonym, up to a number of characters."""
    first = frozenset(sorted(set(people))[:MOST_PEOPLE])
    found: defaultdict[str, str] = defaultdict(str)
    for person, text in said:
        if person in first and len(found[person]) < MOST_CHARACTERS:
            found[person] += f"{text[:MOST_CHARACTERS]}\n"
    return dict(found)


def guess(column: str, texts: Mapping[str, str], truth: Mapping[str, str]) -> ColumnGuess | None:
    """Guess each person's value of a column from its texts, or return None without two values.

    texts, truth : by person. The classifier is a logistic regression on words, pairs of words and
        sequences of 3 or 4 characters. It is cross-fitted in five folds of people. The interval
        combines the Wilson intervals of the values (MOVER). Cost: O(characters).
    """
    there = [one for one in texts if truth.get(one)]
    often = {value for value, n in Counter(truth[one] for one in there).items() if n >= LEAST}
    there = [one for one in there if truth[one] in often]
    if len(often) < 2:
        return None
    values = [truth[one] for one in there]
    guessed = _cross_fitted([texts[one] for one in there], values)
    rates = [
        Rate(
            sum(a == b == value for a, b in zip(values, guessed, strict=True)), values.count(value)
        )
        for value in sorted(often)
    ]
    n, ends = len(rates), [one.interval() for one in rates]
    accuracy = sum(one.value for one in rates) / n
    below = math.hypot(*(one.value - low for one, (low, _) in zip(rates, ends, strict=True))) / n
    above = math.hypot(*(high - one.value for one, (_, high) in zip(rates, ends, strict=True))) / n
    return ColumnGuess(column, len(there), accuracy, accuracy - below, accuracy + above, 1 / n)


def _cross_fitted(texts: list[str], values: list[str]) -> list[str]:
    from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # type: ignore[import-untyped]
    from sklearn.pipeline import make_union  # type: ignore[import-untyped]

    features = make_union(
        HashingVectorizer(ngram_range=(1, 2), n_features=1 << 16),
        HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4), n_features=1 << 16),
    ).transform(texts)
    learner = LogisticRegression(C=10.0, class_weight="balanced", solver="liblinear")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return [str(one) for one in cross_val_predict(learner, features, values, cv=folds)]
