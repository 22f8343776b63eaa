"""Find the surrogates of names that are on no list, which are rare and therefore identify people.

The adversary has the lists from which surrogates are drawn. Suppose that unlisted names got their
surrogates in another way. Then the surrogate's form, or its fit with the words around it, would
reveal these names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Finding, Rate
from voile.documents.attack.mentions import ComparedMention
from voile.documents.replacements.names import fold

FOLDS = 5
LEAST = 20
"""The least number of listed names, and of unlisted names, from which the adversary can learn."""
# Words that occur with one gender, or only with a given name or a surname.
_WORDS = """
    mr mrs ms miss dr sir madam sr sra dra don doña he she his her him hers el la él ella hi hello
    dear hola thanks"""
_REVEALING = frozenset(_WORDS.split())


@dataclass(frozen=True)
class ReplacedName:
    """A name that surrogates replace, once for each document."""

    mention: ComparedMention
    subject: str

    def is_unlisted(self, listed: Collection[str]) -> bool:
        return not all(fold(word) in listed for word in self.mention.true)


def find_unlisted(
    names: Sequence[ReplacedName], lists: Mapping[str, frozenset[str]], rng: np.random.Generator
) -> Iterator[Finding]:
    """Rank the replaced names with a classifier of their surrogates, trained on other subjects.

    `lists` are the lists of names as folded words, by name. A word may be on several lists.
    """
    if not lists:
        return
    listed = frozenset[str]().union(*lists.values())
    unlisted = np.array([name.is_unlisted(listed) for name in names], dtype=np.bool_)
    wanted = int(unlisted.sum())
    subjects = np.array([name.subject for name in names])
    if min(wanted, len(names) - wanted) < LEAST or len(np.unique(subjects)) < FOLDS:
        return
    around = [_around(name.mention) for name in names]
    shown = [
        one | _describe_surrogate(name.mention, lists)
        for one, name in zip(around, names, strict=True)
    ]
    first, control = (_first(features, unlisted, subjects, rng) for features in (shown, around))
    yield Finding(
        "surrogates of names on no list",
        Rate.by_subject(unlisted[first].tolist(), subjects[first].tolist()),
        baseline=Rate(round(wanted * wanted / len(names)), wanted),
        control=Rate(int(unlisted[control].sum()), wanted),
        meaning="The share of names on no list among the replaced names that seem rarest by "
        "their surrogates and the words around them. As many names are taken as are on no "
        "list. The baseline draws names at random. The control has the words around them "
        "alone, as marks leave them too.",
    )


def _around(mention: ComparedMention) -> dict[str, float]:
    words = {f"around {word}": 1.0 for word in mention.context}
    return words | {f"{len(mention.shown)} words": 1.0}


def _describe_surrogate(
    mention: ComparedMention, lists: Mapping[str, frozenset[str]]
) -> dict[str, float]:
    """Return the features of a surrogate: the lists of its words, and its fit with the context."""
    found: dict[str, float] = {}
    for place, word in (("first", mention.shown[0]), ("last", mention.shown[-1])):
        on = "+".join(name for name, words in lists.items() if fold(word) in words) or "none"
        found |= {f"{place} on {on}": 1.0, f"{place} of {len(word)}": 1.0}
        for other in _REVEALING.intersection(mention.context):
            found[f"{place} on {on}, {other}"] = 1.0
    return found


def _first(
    features: Sequence[Mapping[str, float]],
    unlisted: NDArray[np.bool_],
    subjects: NDArray[np.str_],
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Return the names that look most like unlisted ones, out of fold; as many as are unlisted."""
    from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.model_selection import GroupKFold, cross_val_predict  # type: ignore[import-untyped]

    margins = cross_val_predict(
        LogisticRegression(max_iter=1000),
        DictVectorizer().fit_transform(features),
        unlisted,
        groups=subjects,
        cv=GroupKFold(FOLDS),
        method="decision_function",
    )
    order = np.lexsort((rng.random(len(margins)), -margins))
    return order[: int(unlisted.sum())]
