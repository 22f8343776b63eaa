"""Which surrogates stand for a name that is on no list: rare names, which identify.

The adversary has the lists that surrogates are drawn from. Suppose that names on no list got their
surrogates in another way. Then the surrogate's form, or its fit with the words around it, would
point out these names.
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
"""Names on a list, and on none, of which the adversary can learn."""
# Words that go with a gender, or with a given name or surname alone.
_WORDS = """
    mr mrs ms miss dr sir madam sr sra dra don doña he she his her him hers el la él ella hi hello
    dear hola thanks"""
_REVEALING = frozenset(_WORDS.split())


@dataclass(frozen=True)
class ReplacedName:
    """A name that surrogates replace, once in each document."""

    mention: ComparedMention
    subject: str

    def is_unlisted(self, listed: Collection[str]) -> bool:
        return not all(fold(word) in listed for word in self.mention.true)


def find_unlisted(
    names: Sequence[ReplacedName], lists: Mapping[str, frozenset[str]], rng: np.random.Generator
) -> Iterator[Finding]:
    """Rank the replaced names with a classifier of their surrogates, trained on other subjects.

    `lists` are the parts of the lists, by name, as folded words: a word may be on several.
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
    """Return the features of the surrogate itself: the lists of its words, and how it fits in."""
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
    """Return as many names as are on no list, those first that look most like it out of fold."""
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
