"""What the report says of the passes: what each added, and what other learners would have done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from voile.documents.story import judged, taken_of
from voile.sections import Audience, Bar, BarChart, Grid, Prose, Section
from voile.wording import FEW, is_few, share_of

UNTOLD = f"Shares of identifiers are left out here: they would tell of fewer than {FEW}."


def passes_section(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what each pass added, and what the other learners would have done."""
    if not story.get("passes"):
        return None
    found, rows = story["found"], story["passes"]
    taken = taken_of(story)
    told = _is_told(story, audience)
    lines = tuple(
        (
            str(number),
            row["learner"],
            "by its own rule" if row["attacker"] else f"by {row['decision']}",
            *_shares(row["removed"] if told else None, row["harmless"], found, audience),
        )
        for number, row in taken.items()
    )
    grid = Grid(
        ("pass", "learner", "removes", "identifiers removed", "harmless tokens removed"),
        lines,
        f"Of all, {judged(story)}",
        (3, 4),
    )
    few = () if told else (UNTOLD,)
    said = Prose((_ended(story, len(taken)), *_repeated(story, audience), *few))
    blocks = (grid, said) if taken else (said,)
    return Section("passes", "What each pass added", (*blocks, _learners(rows)))


def _is_told(story: Mapping[str, Any], audience: Audience) -> bool:
    """Whether no part of the identifiers, removed or left, is few: the rest would tell of it."""
    removed = [row["removed"] for row in taken_of(story).values()]
    parts = [*removed, story["chosen"]["repeats_identifiers"], story["chosen"]["left"]]
    return not any(is_few(part, 1, audience) for part in parts)


def _shares(
    identifiers: int | None, harmless: int, found: Mapping[str, Any], audience: Audience
) -> tuple[str, str]:
    """Say which shares of all identifiers and of all harmless tokens these are."""
    known = found["identifiers"]
    others = found["tokens"] - known
    told = "–" if identifiers is None else share_of(identifiers / max(known, 1), known, audience)
    return told, share_of(harmless / max(others, 1), others, audience)


def _repeated(story: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    """Say what further mentions of removed names add to this policy's passes."""
    chosen = story["chosen"]
    more = chosen["repeats_identifiers"], chosen["repeats_harmless"]
    if any(more) and not _is_told(story, audience):
        yield "Further mentions of the names removed go as well."
    elif any(more):
        identifiers, harmless = _shares(*more, story["found"], audience)
        yield (
            f"Further mentions of the names removed are {identifiers} of all identifiers and "
            f"{harmless} of all harmless tokens; they go as well."
        )


def _ended(story: Mapping[str, Any], taken: int) -> str:
    """Say which passes the policy has, and why there were no more."""
    last = max(row["pass"] for row in story["passes"])
    used = story["chosen"]["passes"]
    if last > taken:
        why = f"Pass {last} was tried as well: no learner's removals were worth what they cost."
    elif story["found"]["stopped"] == "interrupted":
        why = "Then the fit was interrupted."
    else:
        why = "So many passes were asked for."
    return why if used == taken else f"{why} This policy stops after {used}."


def _learners(rows: Sequence[Mapping[str, Any]]) -> BarChart:
    tried = [row for row in rows if not row["attacker"] and row["before"]]
    groups = tuple(
        (
            f"pass {number}",
            tuple(Bar(row["learner"], row["removed"] / row["before"]) for row in of_pass),
        )
        for number, of_pass in groupby(tried, key=itemgetter("pass"))
    )
    return BarChart(
        groups,
        "share of the identifiers left before the pass",
        "What each learner would remove of what is left",
        "internal",
    )
