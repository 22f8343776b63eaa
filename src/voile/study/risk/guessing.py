"""Guess people's sex from the released texts with a classifier, as a test of neutral wording.

The adversary knows the sex of some people of the release. Their texts teach the adversary the words
that go with it: a missed pronoun, a title, an illness. Then the adversary guesses the others' sex.
Success is balanced accuracy, so that guessing the commoner sex for everybody is chance.
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
"""People whose texts are looked at, and characters of each: memory does not follow the release."""
FOLDS = 5
LEAST = 10
"""People of a sex, below whom nothing is learnt of it."""


@dataclass(frozen=True)
class ColumnGuess(BriefRepr):
    """Balanced accuracy of guessing a column from texts, with its 95% interval.

    chance : that of guessing at random. people : whose value was guessed, by a classifier that had
    none of their texts.
    """

    column: str
    people: int
    accuracy: float
    low: float
    high: float
    chance: float

    @property
    def is_above_chance(self) -> bool:
        """Whether the adversary is to be taken to know the column."""
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
    """Return the columns of a sex that no text is to keep: by their mention, or by their name."""
    kept = {one.column for one in mentions.values() if one.keep}
    said = {one.column for label, one in mentions.items() if is_sex(label)}
    sex = glossary()["sex"]
    return [name for name in quasi if name not in kept and (name in said or sex.found_in(name))]


def gather(said: Iterable[tuple[str, str]], people: Iterable[str]) -> dict[str, str]:
    """Return the texts of each of the first people, by their pseudonyms, up to some characters."""
    first = frozenset(sorted(set(people))[:MOST_PEOPLE])
    found: defaultdict[str, str] = defaultdict(str)
    for person, text in said:
        if person in first and len(found[person]) < MOST_CHARACTERS:
            found[person] += f"{text[:MOST_CHARACTERS]}\n"
    return dict(found)


def guess(column: str, texts: Mapping[str, str], truth: Mapping[str, str]) -> ColumnGuess | None:
    """Guess each person's value of a column from the person's texts; None where it has no two.

    texts, truth : of each person. Logistic regression on words, pairs of words and runs of 3 or 4
    characters, cross-fitted in five folds of people. The interval joins Wilson's of each value
    (MOVER). Cost: O(characters).
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
