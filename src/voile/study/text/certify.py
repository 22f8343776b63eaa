"""The certificate of the texts: no recognised mention reveals more than its person's rows.

It is counted on the written texts, with each mention's position in `removals.parquet`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voile.core.errors import VoileError
from voile.data import Source, open_source
from voile.data.source import BATCH_ROWS
from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.marks import mark
from voile.documents.verbs.removals import REMOVALS
from voile.release.manifest import ROW, ROWS
from voile.study.text.mentions import MentionRules

Place = tuple[str, str, int, int]
"""A mention's column, its type, and its position in the released text."""


@dataclass
class MentionCertificate:
    """The counts of a part's mentions, by type.

    recognised, marked : mentions of the types in the plan; those replaced by a placeholder.
    by_person : mentions and names of each person, by pseudonym.
    """

    recognised: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)
    by_person: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def to_data(self) -> dict[str, Mapping[str, int]]:
        """Return the counts, without those of single people."""
        return {"recognised": dict(self.recognised), "marked": dict(self.marked)}


@dataclass(frozen=True)
class WrittenTexts:
    """The written texts of a part, with the source that contains their people.

    private : the part's private folder. columns : the text columns.
    """

    texts: Source
    private: Path
    source: Source
    subject: str
    columns: Sequence[str]

    def rows(self) -> Iterator[tuple[int, str, dict[str, str | None]]]:
        """Yield each released row with the number of its source row and its person."""
        people = self.source.read([self.subject]).column(0).combine_chunks()
        numbers = open_source(self.private / ROWS)
        whose = (n for batch in numbers.batches([ROW]) for n in batch.column(0).to_pylist())
        for batch in self.texts.batches(self.columns, batch_rows=BATCH_ROWS // 16):
            for row in batch.to_pylist():
                number = next(whose)
                yield number, str(people[number].as_py()), row

    def texts_of_people(self) -> Iterator[tuple[str, str]]:
        """Yield the person and the text of each released text."""
        yield from ((who, x) for _, who, row in self.rows() for x in row.values() if x)


def certify(written: WrittenTexts, rules: MentionRules) -> MentionCertificate:
    """Check every recognised mention of the written texts against its person's rows.

    Memory: O(mentions).

    Raises
    ------
    VoileError : a mention reveals more than the person's rows.
    """
    places = _mentions(written.private / REMOVALS, rules)
    counted = MentionCertificate()
    for number, whose, row in written.rows():
        mentions = counted.by_person[rules.shown.name_of(whose)]
        for column, label, start, end in places.get(number, ()):
            mentions[label] += 1
            if label not in rules.mentions:
                continue
            said = (row[column] or "")[start:end]
            counted.recognised[label] += 1
            counted.marked[label] += said == mark(label)
            if rules.says_more(whose, label, said):
                raise VoileError(
                    f"a mention of {label} says more than its person's row",
                    where=f"row {number + 1}, column {column}",
                    instead="nothing was written; this is a defect of voile: report it",
                )
    return counted


def _mentions(removals: Path, rules: MentionRules) -> dict[int, list[Place]]:
    """Return the positions of mentions and names in the released text, by row of the source."""
    found: dict[int, list[Place]] = defaultdict(list)
    columns = ["row", "column", "label", "published_start", "published_end"]
    for batch in open_source(removals).batches(columns):
        for number, column, label, *ends in zip(
            *(x.to_pylist() for x in batch.columns), strict=True
        ):
            if label in rules.mentions or kind_of(label) == "name":
                found[number].append((column, label, *ends))
    return found
