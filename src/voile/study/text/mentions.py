"""The rule for mentions: a text shows the same facts of its person as the row, and no more.

Each mention is read as values of a column of the table (`readers`). It stays if the person's row
shows as much. Otherwise it is written neutrally, or as the row's interval that contains it. A
placeholder replaces a mention that cannot be read or is not in the person's row. Examples are
another person's age or an age of years ago. Dates move by the person's one offset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property

from voile.core.brief import BriefRepr
from voile.documents.replacements.ages import find_age
from voile.documents.replacements.date_ranges import move_dates
from voile.documents.replacements.dates import DateOrder, read_date
from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.marks import mark
from voile.documents.replacements.names import Language
from voile.documents.replacements.published import PublishedText, RemovalReplacer, replace_removals
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import join_adjacent
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document
from voile.keys.date_rule import DateRule
from voile.study.plan.entries import MentionEntry
from voile.study.readers import MentionFinder, MentionReader
from voile.study.text.shown import PersonIntervals
from voile.tables.domains.labels import ANY

NO_ROW = "no row of the table is of its person"
SUPPRESSED_PERSON = "its person's rows of the table are suppressed"


@dataclass(frozen=True)
class MentionRules(BriefRepr):
    """The treatment of each type that the text mentions, for people with released rows.

    readers : the reader of each type's mentions. dates : how dates move.
    order, language : how dates are written.
    """

    mentions: Mapping[str, MentionEntry]
    readers: Mapping[str, MentionReader]
    shown: PersonIntervals
    dates: DateRule
    order: DateOrder | None
    language: Language

    def refuse(self, document: Document) -> str | None:
        """Return the reason for not releasing a document, or None.

        A document needs a person with a released row.
        """
        subject = document.subject or ""
        if not subject.strip():
            return NO_ROW
        if self.shown.has(subject):
            return None
        return SUPPRESSED_PERSON if self.shown.is_suppressed(subject) else NO_ROW

    def write(self, subject: str, label: str, value: str) -> str:
        """Return the replacement of a mention."""
        mention = self.mentions[label]
        if mention.keep:
            return value
        written = None
        if mention.shift:
            offset = self._offset_of(subject)
            written = move_dates(value, offset, order=self.order, language=self.language)
            written = written if written and self._may_say(written) else None
        elif mention.column is not None:
            written = self._as_shown(subject, self.readers[label], mention.column, value)
        return mark(label) if written is None else written

    @cached_property
    def _offset_of(self) -> Callable[[str], int]:
        return cache(lambda one: self.dates.offset(self.shown.secret, one))

    def _may_say(self, moved: str) -> bool:
        """Return whether a moved date may be written: a day within the extract, or a month."""
        if self.dates == DateRule(self.dates.days, weeks=self.dates.weeks):
            return True
        read = read_date(moved.strip(), self.order, self.language)
        if read is None or read.month is None:
            return False
        if read.day is None:
            return self.dates.first is None
        return not self.dates.months and self.dates.keeps(date(*read.when))

    def _as_shown(self, subject: str, reader: MentionReader, column: str, value: str) -> str | None:
        found = reader.read_mention(value)
        if found is None:
            return None
        if self.shown.shows_within(subject, column, found.cells):
            return value
        if neutral := reader.neutral(value):
            return neutral
        label = self.shown.label(subject, column, found.cells)
        if label in (None, ANY):
            return None
        return f"{value[: found.start]}{label}{value[found.end :]}"

    def says_more(self, subject: str, label: str, written: str) -> bool:
        """Return whether a written mention reveals more about its person than the person's rows.

        It may be a placeholder. It may also state no more than an interval of these rows, or
        contain one without another number or value.
        """
        mention = self.mentions[label]
        if mention.keep or mention.shift or written == mark(label):
            return False
        if mention.column is None:
            return True
        found = self.readers[label].read_mention(written)
        if found and self.shown.shows_within(subject, mention.column, found.cells):
            return False
        shown = self.shown.labels(subject, mention.column)
        rests = [written.replace(one, "", 1) for one in shown if one in written]
        return not any(_is_bare(label, rest) for rest in rests)

    @property
    def finders(self) -> tuple[MentionFinder, ...]:
        """The finders of mentions that must change, in addition to the kit."""
        return tuple(
            MentionFinder(label, reader)
            for label, reader in self.readers.items()
            if not self.mentions[label].keep
        )


def _is_bare(label: str, rest: str) -> bool:
    """Return whether only the interval and no other value is written."""
    if kind_of(label) != "age":
        return not rest.strip()
    return find_age(f"{rest} 1") is not None and not any(c.isdecimal() for c in rest)


def writer_of(
    rules: MentionRules, own_names: Callable[[str], Mapping[str, str]] | None = None
) -> Callable[[RemovalReplacer], RemovalReplacer]:
    """Return a function that extends a replacer to write mentions by these rules.

    own_names : returns the replacement of each word of a person's name, if names get surrogates.
    """

    def writer(base: RemovalReplacer) -> RemovalReplacer:
        if own_names is not None and isinstance(base, Surrogates):
            base = base.knowing(own_names)
        return _MentionWriter(rules, base)

    return writer


@dataclass(frozen=True)
class _MentionWriter:
    """A replacer that writes mentions by the rules, and leaves other removals to another."""

    rules: MentionRules
    base: RemovalReplacer

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText:
        runs = join_adjacent(document.text, removals)
        made = self.base(document, runs)
        whose = str(document.subject)
        new = [
            self.rules.write(whose, one.label, document.text[one.start : one.end])
            if one.label in self.rules.mentions
            else made.text[edit.start : edit.end]
            for one, edit in zip(runs, made.edits, strict=True)
        ]
        return replace_removals(document.text, runs, new)
