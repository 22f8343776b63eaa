"""Show a token to a reader: the words of its possible name, with grey text around them.

A screen shows the release unchanged. For a seeded identifier it shows the release as if this
identifier had been missed. The seeded identifier comes from the source, at its own position, and
the release replaces it. It exists only on the screen: no release contains a seeded identifier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.documents.acceptance.kept import KeptTokens, Pair
from voile.documents.acceptance.reading import DueTokens
from voile.documents.replacements.published import PublishedDocument, PublishedText
from voile.documents.reviewing.beside import text_after, text_before
from voile.documents.reviewing.line import ReviewLine

CONTEXT = 160
"""The most characters of the released line before and after the token."""
BESIDE = 4
"""The most tokens with a capital or a digit, on each side, that are shown as part of one name."""


@dataclass(frozen=True)
class PlantedToken:
    """A token of a replaced identifier, from `identifiers`.

    Parameters
    ----------
    document : the number of the document.
    start, end : the offsets of the token.
    shown : the offsets of the whole replaced part.
    score : the committee's highest score among the words shown. The committee must have missed all
        of them, or they would not be shown together.
    """

    document: int
    start: int
    end: int
    shown: tuple[int, int]
    score: float


def screens(
    due: DueTokens,
    plants: Sequence[PlantedToken],
    kept: KeptTokens,
    pairs: Sequence[Pair],
    rng: np.random.Generator,
) -> list[ReviewLine]:
    """Return the screens of the due tokens and of the seeded ones, in a random order.

    A census keeps its own order, so that the likeliest tokens come first. Seeded ones are at random
    positions.
    """
    lines = [_screen(run, due, kept, pairs) for run in _runs(due.tokens, kept, pairs)]
    if due.purpose == "sample":
        lines = [lines[place] for place in rng.permutation(len(lines))]
    for plant in plants:
        place = int(rng.integers(len(lines) + 1))
        lines.insert(place, _show_plant(plant, due, pairs))
    return lines


def _runs(
    tokens: NDArray[np.intp], kept: KeptTokens, pairs: Sequence[Pair]
) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the first and last token of each run with due tokens, and these tokens."""
    due = set(tokens.tolist())
    while due:
        for token in tokens.tolist():
            if token in due:
                first, last = (
                    _extend_run(token, kept, pairs, -1),
                    _extend_run(token, kept, pairs, 1),
                )
                asked = [one for one in range(first, last + 1) if one in due]
                due.difference_update(asked)
                yield first, last, asked


def _extend_run(token: int, kept: KeptTokens, pairs: Sequence[Pair], step: int) -> int:
    """Return the end of a run: it covers neighbours on one line that look like parts of a name."""
    text = pairs[kept.document[token]][1].text
    if not _is_candidate(text[kept.start[token]]):
        return token
    here = token
    for _ in range(BESIDE):
        there = here + step
        if not (0 <= there < len(kept.left) and kept.document[there] == kept.document[token]):
            break
        gap = slice(kept.end[min(here, there)], kept.start[max(here, there)])
        first = text[kept.start[there]]
        if not kept.left[there] or "\n" in text[gap] or not _is_candidate(first):
            break
        here = there
    return here


def _is_candidate(first: str) -> bool:
    return first.isupper() or first.isdigit()


def _screen(
    run: tuple[int, int, list[int]], due: DueTokens, kept: KeptTokens, pairs: Sequence[Pair]
) -> ReviewLine:
    first, last, asked = run
    number = int(kept.document[first])
    start, end = int(kept.start[first]), int(kept.end[last])
    return _line(pairs[number], start, end, due, document=number, extra={"tokens": asked})


def _show_plant(plant: PlantedToken, due: DueTokens, pairs: Sequence[Pair]) -> ReviewLine:
    start, end = plant.shown
    place = [plant.start - start, plant.end - start]
    return _line(pairs[plant.document], start, end, due, document=-1, extra={"planted": place})


def _line(
    pair: Pair, start: int, end: int, due: DueTokens, *, document: int, extra: dict[str, list[int]]
) -> ReviewLine:
    published, origin = pair
    text = published.text
    here, there = PublishedText(text, published.edits).to_published(start, end)
    begin, stop = text.rfind("\n", 0, here) + 1, text.find("\n", there)
    own = (start, end) if document >= 0 else (-1, -1)
    return ReviewLine(
        0, 0, due.purpose, document, *own,
        text_before(text, here, CONTEXT, since=begin),
        origin.text[start:end],
        text_after(text, there, CONTEXT, until=stop if stop >= 0 else None).rstrip("\r"),
        why=WHY[due.purpose], extra=json.dumps(extra),
    )  # fmt: skip


WHY = {
    "census": "It is among the likeliest identifiers that are left.",
    "sample": "It was drawn at random.",
}


def identifiers(
    pairs: Sequence[Pair], kept: KeptTokens, sure: frozenset[str]
) -> list[PlantedToken]:
    """Return tokens of replaced identifiers, with the lowest scores first.

    They are known to identify a person if the source is annotated, or if a `sure` kind of reason
    removed them. Such reasons are known values, deny-lists and checked patterns.
    """
    gone = np.flatnonzero(~kept.left)
    bounds = np.searchsorted(kept.document[gone], np.arange(len(pairs) + 1))
    found: list[PlantedToken] = []
    for number, ((published, origin), (begin, stop)) in enumerate(
        zip(pairs, pairwise(bounds.tolist()), strict=True)
    ):
        spans = [(one.start, one.end) for one in origin.spans] if origin.annotated else []
        for edit in published.edits:
            if any(by.kind in sure for by in edit.by):
                spans.append((edit.source_start, edit.source_end))
        own = gone[begin:stop]
        starts, ends, scores = (x[own] for x in (kept.start, kept.end, kept.scores))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if not any(a <= start and end <= b for a, b in spans):
                continue
            if not any(map(str.isalnum, origin.text[start:end])):
                continue
            whole = _shown_with(published, start, end)
            likeliest = scores[(starts >= whole[0]) & (ends <= whole[1])].max()
            found.append(PlantedToken(number, start, end, whole, float(likeliest)))
    return sorted(found, key=lambda one: (one.score, one.document, one.start))


def _shown_with(published: PublishedDocument, start: int, end: int) -> tuple[int, int]:
    """Return the whole part that the replacement of a token covers."""
    for edit in published.edits:
        if edit.source_start <= start and end <= edit.source_end:
            return edit.source_start, edit.source_end
    return start, end


def draw_plants(
    pool: Sequence[PlantedToken], number: int, cut: float, rng: np.random.Generator
) -> tuple[list[PlantedToken], bool]:
    """Draw identifiers to seed, and return whether the committee would miss all of them.

    They are drawn from the identifiers with a score of at most `cut`, like all remaining tokens. If
    these are too few, they come from those with the lowest scores.
    """
    hard = max(int(np.searchsorted([one.score for one in pool], cut, side="right")), number)
    drawn = rng.choice(min(hard, len(pool)), min(number, len(pool)), replace=False)
    chosen = [pool[place] for place in drawn.tolist()]
    return chosen, all(one.score <= cut for one in chosen)
