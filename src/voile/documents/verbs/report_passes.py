"""What the report says of the passes: what each added, and what other learners would have done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from voile.core.rounding import exact
from voile.documents.verbs.report_data import added_passes, judged_on
from voile.report.sections import Audience, Bar, BarChart, Grid, Prose, Section
from voile.report.suppression import FEW, is_few, withheld
from voile.report.wording import share_of

UNKNOWN = "–"
UNTOLD = f"Shares are withheld where a number of fewer than {FEW} would follow."


def passes_section(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what each pass added, and what the other learners would have done."""
    if not story.get("passes"):
        return None
    rows = story["passes"]
    taken = added_passes(story)
    identifiers, harmless = _columns(story, audience)
    lines = tuple(
        (
            str(number),
            row["learner"],
            "by its own rule" if row["attacker"] else f"by {row['decision']}",
            identifiers[place],
            harmless[place],
        )
        for place, (number, row) in enumerate(taken.items())
    )
    grid = Grid(
        ("pass", "learner", "removes", "identifiers removed", "harmless tokens removed"),
        lines,
        f"Of all, {judged_on(story)}",
        (3, 4),
    )
    few = (UNTOLD,) if UNKNOWN in (*identifiers, *harmless) else ()
    said = Prose((_ended(story, len(taken)), *_repeated(story, identifiers, harmless), *few))
    blocks = (grid, said) if taken else (said,)
    return Section("passes", "What each pass added", (*blocks, _learners(rows)))


def _columns(story: Mapping[str, Any], audience: Audience) -> tuple[list[str], list[str]]:
    """Return the shares of all identifiers, and of all harmless tokens, that are removed.

    A row for each pass, then one for further mentions of the names removed.
    """
    found, chosen, taken = story["found"], story["chosen"], added_passes(story).values()
    known = found["identifiers"]
    identifiers = [*(row["removed"] for row in taken), chosen["repeats_identifiers"]]
    harmless = [*(row["harmless"] for row in taken), chosen["repeats_harmless"]]
    whole = found["tokens"] - known
    kept = round((1 - exact(chosen["loss"])) * whole)
    return (
        _shares(identifiers, chosen["left"], known, audience),
        _shares(harmless, kept, whole, audience),
    )


def _shares(parts: Sequence[int], left: int, whole: int, audience: Audience) -> list[str]:
    """Write the parts of a whole; small counts are withheld, with secondary suppression.

    What is `left` is in the report's headline, unless it is few itself.
    """
    hidden: frozenset[int] | None = frozenset()
    if audience == "public":
        rows = [(part,) for part in (*parts, left)]
        hidden = withheld(rows, public=() if is_few(left) else (len(parts),))
    shown = [share_of(part / max(whole, 1), whole, audience) for part in parts]
    return [
        UNKNOWN if hidden is None or place in hidden else said for place, said in enumerate(shown)
    ]


def _repeated(
    story: Mapping[str, Any], identifiers: Sequence[str], harmless: Sequence[str]
) -> Iterator[str]:
    """Say what further mentions of removed names add to this policy's passes."""
    if not (story["chosen"]["repeats_identifiers"] or story["chosen"]["repeats_harmless"]):
        return
    if UNKNOWN in (identifiers[-1], harmless[-1]):
        yield "Further mentions of the names removed go as well."
    else:
        yield (
            f"Further mentions of the names removed are {identifiers[-1]} of all identifiers and "
            f"{harmless[-1]} of all harmless tokens; they go as well."
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
