"""The joint figures of a written release, at perfect detection and at the measured recall.

Suppose that m mentions of the age were detected in a person's text, and that a kit misses the share
q of mentions. A mention then remains with probability 1 - (1 - q)^m. If a person has a text, m is
at least 1, since a kit without detections proves nothing.

Readers of the release may prove that at most the share s of a part's people have a remaining
identifier. Then s is the probability for each of them, for every type that the readers looked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.rounding import round_number
from voile.data import Source
from voile.documents.replacements.kinds import kind_of
from voile.release.manifest import source_rows
from voile.study.risk.joint import Chance, JointRisk, MatchRecords, TextLeaks, places_in
from voile.study.risk.stating import StatedCategory
from voile.study.text.mentions import MentionRules
from voile.tables.verbs.content import TablesContent

Floats = NDArray[np.float64]
MATCHES = ("table", "joint", "joint_at_recall")
"""Figures that are expected matches."""


@dataclass(frozen=True)
class PartResidue:
    """The possible remaining mentions in the texts of a part.

    by_person : the detected mentions of each person, by type.
    miss : the share of mentions that the part's kit misses.
    proved : the largest share of its people with a remaining identifier, as proved by readers, or
        None.
    types : the types that the readers looked for.
    """

    by_person: Mapping[str, Counter[str]]
    miss: float
    proved: float | None = None
    types: frozenset[str] = frozenset()

    def chance(self, person: str, labels: set[str]) -> float:
        """Return the probability that a mention of some types of a person remains."""
        if person not in self.by_person:
            return 0.0
        if self.proved is not None and labels <= self.types:
            return self.proved
        seen = sum(self.by_person[person][one] for one in labels)
        return float(1 - (1 - self.miss) ** max(1, seen))


@dataclass(frozen=True, eq=False)
class TextResidue(BriefRepr):
    """The possible mentions in the written texts about the person of each released row.

    records : the released rows. kept : the columns that texts state exactly.
    missed : the probability that a text states another column, (rows,).
    named : the probability that a text names the person, (rows,).
    stated : by column, 1 for each person with a value that the released texts state, (rows,).
    """

    shows = ()

    records: MatchRecords
    kept: tuple[str, ...]
    missed: Mapping[str, Floats]
    named: Floats
    stated: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        content: TablesContent,
        source: Source,
        private: Path,
        rules: MentionRules,
        texts: Sequence[PartResidue],
        *,
        guessed: Sequence[str] = (),
        beside: Mapping[str, int] | None = None,
        stated: Sequence[StatedCategory] = (),
    ) -> TextResidue:
        """Read the person of each released row of the table, and the person's counted mentions.

        Parameters
        ----------
        private : the private folder of the table. texts : for each part, its possible mentions.
        guessed : columns that a classifier guesses from the texts. They count as known.
        beside : a number for each person's facts in other parts of rows, if there are any.
        stated : the people with released texts that state a column, by pseudonym.
        """
        numbers = source_rows(private)
        space = content.space
        table = source.read([*space.quasi, str(content.roles.subject)]).take(numbers)
        codes = np.column_stack([d.codes(table.column(d.column)) for d in space.domains])
        whose = [str(one) for one in table.column(-1).to_pylist()]
        people = [rules.shown.name_of(one) for one in whose]
        shown = None if beside is None else np.array([beside[one] for one in whose], np.intp)
        labels: dict[str, set[str]] = {}
        for label, x in rules.mentions.items():
            if x.column and not x.keep:
                labels.setdefault(x.column, set()).add(label)
        missed = {column: _chance_left(people, texts, own) for column, own in labels.items()}
        return cls(
            MatchRecords(places_in(space, codes), _one_a_person(people), shown),
            (*(x.column for x in rules.mentions.values() if x.keep and x.column), *guessed),
            missed,
            _chance_left(people, texts, _names(texts)),
            {x.column: np.array([float(one in x.people) for one in people]) for x in stated},
        )

    def saying(self, columns: Sequence[str]) -> TextResidue:
        """Return the residue with more columns known exactly."""
        return replace(self, kept=(*dict.fromkeys((*self.kept, *columns)),))

    @property
    def statement_chances(self) -> dict[str, Chance]:
        """The probability that a text states each column, at the recall of the notes' kits."""
        both = {name: np.maximum(x, self.stated.get(name, 0.0)) for name, x in self.missed.items()}
        return {**self.stated, **both, **dict.fromkeys(self.kept, 1.0)}

    def figures(self, judged: JointRisk) -> dict[str, float]:
        """Return the expected matches of the table alone and of all parts."""
        own = self.records
        kept: dict[str, Chance] = {**self.stated, **dict.fromkeys(self.kept, 1.0)}
        alone = replace(own, beside=None)
        at_recall = self.named + (1 - self.named) * judged.each(self.statement_chances, own)
        return {
            "subjects": float(own.weights.sum()),
            "table": judged.matches({}, 0.0, alone),
            "joint": judged.matches(kept, 0.0, own),
            "joint_at_recall": float(own.weights @ at_recall),
            "left_named": float(own.weights @ self.named),
            "joint_at_recall_max": float(at_recall.max(initial=0.0)),
        }

    @property
    def worst(self) -> TextLeaks:
        """The largest probabilities over people, rounded up to two digits to hide counts."""
        found = {name: _most(chance) for name, chance in self.statement_chances.items()}
        return TextLeaks(found, _most(self.named))


def _most(chance: Chance) -> float:
    return min(1.0, round_number(float(np.max(chance, initial=0.0)), "up"))


def _one_a_person(people: list[str]) -> Floats:
    """Return the share of its person for each row."""
    rows = Counter(people)
    return np.array([1 / rows[one] for one in people])


def _names(texts: Iterable[PartResidue]) -> set[str]:
    """Return the types of detected names."""
    labels = {label for one in texts for found in one.by_person.values() for label in found}
    return {label for label in labels if kind_of(label) == "name"}


def _chance_left(people: list[str], texts: Sequence[PartResidue], labels: set[str]) -> Floats:
    """Return the probability that a mention of some types of each row's person remains."""
    hidden = [[1 - one.chance(who, labels) for one in texts] for who in people]
    return np.array([1 - prod(own) for own in hidden])
