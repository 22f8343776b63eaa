"""The joint figures of a written release, at perfect detection and at the measured recall.

Suppose that m mentions of the age were detected in a person's text, and that a kit misses the share
q of mentions. A mention then remains with probability 1 - (1 - q)^m. If a person has a text, m is
at least 1, since a kit without detections proves nothing.

Readers of the release may prove that at most the share s of a part's people have a remaining
identifier. Then s is the probability for each of them, for every type that the readers looked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.rounding import round_number
from voile.data import Source
from voile.documents.replacements.kinds import kind_of
from voile.release.manifest import source_rows
from voile.study.plan.entries import MentionEntry
from voile.study.risk.joint import Chance, JointRisk, MatchRecords, TextLeaks, places_in
from voile.study.risk.stating import StatedCategory
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
        mentions: Mapping[str, MentionEntry],
        texts: Sequence[PartResidue],
        *,
        name_of: Callable[[str], str],
        guessed: Sequence[str] = (),
        beside: Mapping[str, int] | None = None,
        stated: Sequence[StatedCategory] = (),
    ) -> TextResidue:
        """Read the person of each released row of the table, and the person's counted mentions.

        Parameters
        ----------
        private : the private folder of the table. texts : for each part, its possible mentions.
        name_of : the pseudonym of a person, which only texts need.
        guessed : columns that a classifier guesses from the texts. They count as known.
        beside : a number for each person's facts in other parts of rows, if there are any.
        stated : the people with released texts that state a column, by pseudonym.

        Memory: a few numbers for each released row, and a name for each person with a text.
        """
        codes, known = _read_rows(content, source, source_rows(private))
        row, names = known.indices.to_numpy(), known.dictionary
        shown = None
        if beside is not None:
            shown = np.array([beside[one] for one in names.to_pylist()], np.intp)[row]
        people = [name_of(one) for one in names.to_pylist()] if texts else []
        labels: dict[str, set[str]] = {}
        for label, x in mentions.items():
            if x.column and not x.keep:
                labels.setdefault(x.column, set()).add(label)

        def chance_left(own: set[str]) -> Floats:
            return _chance_left(people, texts, own)[row] if texts else np.zeros(len(row))

        return cls(
            MatchRecords(places_in(content.space, codes), 1 / np.bincount(row)[row], shown),
            (*(x.column for x in mentions.values() if x.keep and x.column), *guessed),
            {column: chance_left(own) for column, own in labels.items()},
            chance_left(_names(texts)),
            {x.column: np.array([float(one in x.people) for one in people])[row] for x in stated},
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


def _read_rows(
    content: TablesContent, source: Source, numbers: pa.Array
) -> tuple[NDArray[np.int32], pa.DictionaryArray]:
    """Return the codes and the people of the released rows, in the order of the source."""
    released, first = np.sort(numbers.to_numpy()), 0
    codes, people = [np.zeros((0, len(content.space.domains)), np.int32)], []
    for batch in source.batches([*content.space.quasi, str(content.roles.subject)]):
        ends = np.searchsorted(released, [first, first + len(batch)])
        own = batch.take(pa.array(released[slice(*ends)] - first))
        codes.append(np.column_stack([d.codes(own[d.column]) for d in content.space.domains]))
        people.append(own.column(own.num_columns - 1).cast(pa.string()))
        first += len(batch)
    known = pa.chunked_array(people, pa.string()).combine_chunks()
    return np.concatenate(codes), known.dictionary_encode()


def _names(texts: Iterable[PartResidue]) -> set[str]:
    """Return the types of detected names."""
    labels = {label for one in texts for found in one.by_person.values() for label in found}
    return {label for label in labels if kind_of(label) == "name"}


def _chance_left(people: list[str], texts: Sequence[PartResidue], labels: set[str]) -> Floats:
    """Return the probability that a mention of some types of each row's person remains."""
    hidden = [[1 - one.chance(who, labels) for one in texts] for who in people]
    return np.array([1 - prod(own) for own in hidden])
