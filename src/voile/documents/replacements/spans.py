"""Combine the finds of several sources in a text to disjoint spans of one type each."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.removal import TextRemoval, each_once

_BLANKS = re.compile(r"[^\S\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]*")
"""White space within a line and a cell, so that a list of names does not become one long name."""
_WORDS = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def settle_spans(text: str, *sources: Iterable[TextRemoval]) -> list[TextRemoval]:
    """Return disjoint spans that cover all letters and digits that any source removes.

    Earlier sources take precedence over later ones, and longer spans of a source over shorter ones.
    A later span keeps the words that no earlier span covers. It gives them to the earlier span if
    both have the same label, or if only signs separate them. So no word or number is split. An
    organisation or a street that contains a whole name also covers the name. Cost: O(m log m) for m
    spans.

    >>> number, year = TextRemoval(0, 14, "PHONE"), TextRemoval(9, 18, "DATE")
    >>> for one in settle_spans("0170 5550 2021 May", [number], [year]):
    ...     print(one.start, one.end, one.label)
    0 14 PHONE
    15 18 DATE
    """
    ranked = [(rank, one) for rank, source in enumerate(sources) for one in source]
    ranked.sort(key=lambda item: (item[0], item[1].start - item[1].end, item[1].start))
    if not _overlap(one for _, one in ranked):
        return sorted(one for _, one in ranked)
    settled = _SettledSpans(text)
    for _, one in ranked:
        settled.add(one)
    return settled.spans


def join_adjacent(text: str, spans: Sequence[TextRemoval]) -> list[TextRemoval]:
    """Join neighbouring spans of one label that only blanks separate.

    Line breaks and tabs do not count as blanks here. Two spans from patterns stay separate, since a
    pattern finds a whole number or address.
    """
    joined: list[TextRemoval] = []
    for one in spans:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.label == one.label
            and not (_is_pattern(last) and _is_pattern(one))
            and _BLANKS.fullmatch(text, last.end, one.start)
        ):
            joined[-1] = replace(last, end=one.end, by=each_once(last, one))
        else:
            joined.append(one)
    return joined


def complete_units(
    text: str, spans: Sequence[TextRemoval], units: Sequence[tuple[int, int]]
) -> list[TextRemoval]:
    """Extend each span to the whole units that it overlaps.

    The first span of a unit covers all of it.

    units : (start, end) of the runs of words that signs join without blanks, ordered and disjoint.
    """
    starts, ends = [start for start, _ in units], [end for _, end in units]
    whole = []
    for one in spans:
        first, last = bisect_left(ends, one.start + 1), bisect_left(starts, one.end) - 1
        if first <= last:
            start, end = min(one.start, starts[first]), max(one.end, ends[last])
            one = replace(one, start=start, end=end)
        whole.append(one)
    return settle_spans(text, whole) if _overlap(whole) else whole


def label_as_learnt(
    spans: Sequence[TextRemoval], learnt: Sequence[TextRemoval]
) -> list[TextRemoval]:
    """Relabel each span by the learned tokens in it, if these cover most of the span.

    learnt : tokens, ordered and disjoint. Corpora have their own labels for dates and numbers.
    """
    labelled = []
    ends = [one.end for one in learnt]
    for span in spans:
        first = bisect_left(ends, span.start + 1)
        last = bisect_left(learnt, span.end, key=lambda one: one.start)
        labels = {one.label for one in learnt[first:last]}
        covered = sum(one.end - one.start for one in learnt[first:last])
        if len(labels) == 1 and 2 * covered > span.end - span.start:
            labelled.append(replace(span, label=labels.pop()))
        else:
            labelled.append(span)
    return labelled


class _SettledSpans:
    """An ordered collection of disjoint spans, to which spans can be added."""

    def __init__(self, text: str) -> None:
        self.spans: list[TextRemoval] = []
        self._text = text

    def add(self, one: TextRemoval) -> None:
        """Add the parts of a span that no other span covers."""
        spans = self.spans
        first = bisect_left(spans, one.start + 1, key=lambda other: other.end)
        last = bisect_left(spans, one.end, key=lambda other: other.start)
        met = spans[first:last]
        if all(_is_name_within(other, one) for other in met):
            spans[first:last] = [replace(one, by=each_once(one, *met))]
            return
        named = [replace(o, by=each_once(o, one)) if _holds(o, one) else o for o in met]
        around = [None, *met, None]
        parts = [part for pair in pairwise(around) if (part := self._part_between(one, *pair))]
        spans[first:last] = _unite_spans(sorted([*named, *parts]))

    def _part_between(
        self, one: TextRemoval, left: TextRemoval | None, right: TextRemoval | None
    ) -> TextRemoval | None:
        """Return the words of a span between two others; None stands for an end of the span.

        The part belongs to a neighbour if only signs separate them.
        """
        start = one.start if left is None else left.end
        end = one.end if right is None else right.start
        words = _WORDS.search(self._text, start, end) if start < end else None
        if words is None:
            return None
        after_left = left is not None and (
            left.label == one.label or not _has_blank(self._text, start, words.start())
        )
        before_right = right is not None and (
            right.label == one.label or not _has_blank(self._text, words.end(), end)
        )
        owner = left if after_left else right if before_right else None
        return TextRemoval(
            start if left is None or after_left else words.start(),
            end if right is None or before_right else words.end(),
            one.label if owner is None else owner.label,
            one.by,
        )


def _unite_spans(spans: Sequence[TextRemoval]) -> list[TextRemoval]:
    """Unite touching neighbours of one label, such as a part and its span."""
    united: list[TextRemoval] = []
    for one in spans:
        last = united[-1] if united else None
        if last is not None and last.end == one.start and last.label == one.label:
            united[-1] = replace(last, end=one.end, by=each_once(last, one))
        else:
            united.append(one)
    return united


def _is_name_within(inner: TextRemoval, outer: TextRemoval) -> bool:
    """Return whether a span is a person's name inside a kind that is often named after persons."""
    within = outer.start <= inner.start and inner.end <= outer.end
    return within and kind_of(inner.label) == "name" and kind_of(outer.label) in _CALLED_AFTER


_CALLED_AFTER = frozenset(["organisation", "street", "place", "email", "url"])


def _holds(outer: TextRemoval, inner: TextRemoval) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _has_blank(text: str, start: int, end: int) -> bool:
    return any(map(str.isspace, text[start:end]))


def _is_pattern(one: TextRemoval) -> bool:
    return any(reason.kind == "pattern" for reason in one.by)


def _overlap(spans: Iterable[TextRemoval]) -> bool:
    end = 0
    for one in sorted(spans):
        if one.start < end:
            return True
        end = one.end
    return False
