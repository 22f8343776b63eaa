"""Replace removed text by marks: `[NAME]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from voile.documents.replacements.kinds import kind_of, safe_label
from voile.documents.replacements.published import PublishedText, replace_removals
from voile.documents.replacements.removal import TextRemoval, check_removals
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Document


def mark(label: str) -> str:
    """Return the mark for a label, which is one token for every learner."""
    return f"[{safe_label(label)}]"


@dataclass(frozen=True)
class LabelMarks:
    """A replacer that puts a mark of the label in place of each run of removals.

    Removals of one label with only blanks between them share a mark, which hides the number of
    names.
    """

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText:
        runs = join_adjacent(document.text, check_removals(document.text, removals))
        return replace_removals(document.text, runs, [mark(one.label) for one in runs])


@dataclass(frozen=True)
class CategoryMarks:
    """A replacer that puts a mark of a category in place of each run of removals.

    The category comes from `mapping`, or else it is the label's kind.
    """

    # label -> category. The category of other labels is their kind (see `kinds`), or `[OTHER]` if
    # it is unknown
    mapping: Mapping[str, str]

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText:
        grouped = [
            replace(one, label=safe_label(self.mapping.get(one.label) or kind_of(one.label)))
            for one in removals
        ]
        return LabelMarks()(document, grouped)
