"""What is to go from a text, before it is said what comes in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple

from voile.core.errors import RequestError

# White space that stays within a line and a cell: a list of names is not one long name.
_BLANKS = re.compile(r"[^\S\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]*")


class Reason(NamedTuple):
    """Why characters go: what kind of remover found them, and which one."""

    kind: Literal[
        "pass", "pattern", "list", "repeat", "known", "possible", "rule", "starter", "reader"
    ]
    # of the learner, the pattern, the list, the rule or the known values' column; none of a repeat;
    # of the starter only that it is unlikely
    name: str = ""
    number: int = 0  # of the committee's pass, from 1; 0 of what is not a pass

    def __str__(self) -> str:
        match self.kind:
            case "pass":
                return f"pass {self.number}, {self.name}"
            case "pattern" | "rule" | "known":
                return f"{self.kind} {self.name}"
            case "possible":
                return f"possibly {self.name}"
            case "starter" | "reader":
                return ", ".join(filter(None, (self.kind, self.name)))
            case "list":
                return self.name
            case "repeat":
                return "repeat"


@dataclass(frozen=True, order=True, slots=True)
class Removal:
    """Characters of a text that go: `start` to before `end`, their type, and why."""

    # start, end: offsets in the original text
    start: int
    end: int
    label: str  # the type, as in the corpus
    by: tuple[Reason, ...] = ()  # everything that removes them, each once


def check_removals(text: str, removals: Iterable[Removal]) -> list[Removal]:
    """Return the removals in their order."""
    ordered = sorted(removals)
    end = 0
    for one in ordered:
        if not 0 <= one.start < one.end <= len(text):
            raise RequestError(f"the removal {one.start} to {one.end} is not inside the text")
        if one.start < end:
            raise RequestError(
                f"the removal {one.start} to {one.end} lies over the one before it",
                instead="join them first",
            )
        end = one.end
    return ordered


def join_removals(*sources: Iterable[Removal]) -> list[Removal]:
    """Join the removals of several sources: where some overlap, all their characters go.

    A joined removal has the label of the source that is named first; of one source's, of the
    removal that starts first, then of the longest.

    >>> learnt = [Removal(0, 4, "NAME", (Reason("pass", "crf", 1),))]
    >>> email = Removal(0, 10, "EMAIL", (Reason("pattern", "email"),))
    >>> denied = Removal(12, 14, "AGE", (Reason("list", "deny-list"),))
    >>> for one in join_removals([email, denied], learnt):
    ...     print(one.start, one.end, one.label, [str(reason) for reason in one.by])
    0 10 EMAIL ['pattern email', 'pass 1, crf']
    12 14 AGE ['deny-list']
    """
    ranked = sorted(
        (one.start, rank, -one.end, one) for rank, source in enumerate(sources) for one in source
    )
    groups: list[list[tuple[int, int, int, Removal]]] = []
    end = 0
    for item in ranked:
        if groups and item[0] < end:
            groups[-1].append(item)
        else:
            groups.append([item])
            end = 0
        end = max(end, -item[2])
    return [_union(group) for group in groups]


def merge_neighbours(text: str, removals: Sequence[Removal]) -> list[Removal]:
    """Merge neighbours of one label that only blanks separate; line breaks and tabs are none here.

    Two that patterns found stay apart: a pattern finds the whole of a number or an address.
    """
    runs: list[Removal] = []
    for one in check_removals(text, removals):
        last = runs[-1] if runs else None
        if (
            last is not None
            and last.label == one.label
            and not (_is_whole(last) and _is_whole(one))
            and _BLANKS.fullmatch(text, last.end, one.start)
        ):
            runs[-1] = replace(last, end=one.end, by=_each_once(last, one))
        else:
            runs.append(one)
    return runs


def _union(group: list[tuple[int, int, int, Removal]]) -> Removal:
    """Join removals that overlap; the lowest rank gives the label, then start, then length."""
    if len(group) == 1:
        return group[0][3]
    group.sort(key=lambda item: (item[1], item[0], item[2]))
    ones = [item[3] for item in group]
    return Removal(
        min(one.start for one in ones),
        max(one.end for one in ones),
        ones[0].label,
        _each_once(*ones),
    )


def _is_whole(one: Removal) -> bool:
    return any(reason.kind == "pattern" for reason in one.by)


def _each_once(*removals: Removal) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(one.by for one in removals)))
