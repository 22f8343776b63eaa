"""A wing's parts of the report, as data: their content, not their look.

Every block names its audience. A public report drops ``internal`` blocks. It never rounds or masks
an internal block into a public one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Audience = Literal["public", "internal"]


@dataclass(frozen=True)
class Prose:
    paragraphs: tuple[str, ...]
    audience: Audience = "public"


@dataclass(frozen=True)
class Heading:
    """A heading inside a section; left out when no block under it is shown."""

    text: str
    audience: Audience = "public"


@dataclass(frozen=True)
class Bullets:
    """A list of short points, e.g. the limits of a release's protection."""

    items: tuple[str, ...]
    audience: Audience = "public"


@dataclass(frozen=True)
class Commands:
    """Lines to type in a shell, shown unchanged."""

    lines: tuple[str, ...]
    audience: Audience = "public"


@dataclass(frozen=True)
class Figure:
    """One number for a reader in a hurry: `value` already formatted, `unit`, and its meaning."""

    label: str
    value: str
    meaning: str = ""
    interval: str = ""


@dataclass(frozen=True)
class Figures:
    """Key numbers, side by side."""

    figures: tuple[Figure, ...]
    audience: Audience = "public"


@dataclass(frozen=True)
class Grid:
    """A table: `columns` headers, `rows` of cells; text left, numbers (`numeric` columns) right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: tuple[int, ...] = ()
    audience: Audience = "public"


@dataclass(frozen=True)
class Strip:
    """One ordered domain cut into intervals: (label, share of the domain, in (0, 1])."""

    column: str
    intervals: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Detail:
    """The details of the policy under a frontier's pointer: (name, value) pairs and intervals."""

    facts: tuple[tuple[str, str], ...] = ()
    strips: tuple[Strip, ...] = ()


CHOSEN = "chosen policy"
"""The mark of the policy that was chosen: the red diamond, which no other mark is."""


@dataclass(frozen=True)
class FrontierChart:
    """Policies that no other beats, `risk` against `loss`, both in [0, 1].

    `described[i]` is the text of hover and keyboard focus for point i. `marks` are named points, on
    the frontier or off it: (name, risk, loss), e.g. Safe Harbor, the chosen policy. `risk_ends` and
    `loss_ends` describe the ends of the axes. `floor` is a line (risk, loss), with rising risk. No
    policy is below it, as proved. `details` are of the points, then of the marks; or there are
    none.
    """

    risk: tuple[float, ...]
    loss: tuple[float, ...]
    described: tuple[str, ...]
    marks: tuple[tuple[str, float, float], ...]
    risk_name: str
    loss_name: str
    caption: str = ""
    audience: Audience = "public"
    floor: tuple[tuple[float, float], ...] = ()
    risk_ends: str = ""
    loss_ends: str = ""
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True)
class IntervalChart:
    """Policies as intervals on each domain; one or several policies to compare.

    The first policy is the one the report is about: paper shows its intervals in full.
    """

    policies: tuple[tuple[str, tuple[Strip, ...]], ...]
    caption: str = ""
    audience: Audience = "public"


@dataclass(frozen=True)
class Bar:
    """One bar; `low` and `high` are its interval where it was estimated."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarChart:
    """Shares in [0, 1] side by side, grouped: (group, bars); `whole`: the axis ends at 100%."""

    groups: tuple[tuple[str, tuple[Bar, ...]], ...]
    value_name: str
    caption: str = ""
    audience: Audience = "public"
    whole: bool = False


@dataclass(frozen=True)
class Series:
    """A line of a `LineChart`, with an optional band."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class LineChart:
    series: tuple[Series, ...]
    x_name: str
    y_name: str
    caption: str = ""
    audience: Audience = "public"


Block = (
    Prose
    | Heading
    | Bullets
    | Commands
    | Figures
    | Grid
    | FrontierChart
    | IntervalChart
    | BarChart
    | LineChart
)


@dataclass(frozen=True)
class Section:
    """A titled part of the report. `key` is its anchor; `first` puts it on page 1.

    Keys are lower-case words joined by hyphens, each used once in a report. is_listed : whether
    the contents of the page list it.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]
    first: bool = False
    is_listed: bool = True


Axis = tuple[str, str]
"""The name of an axis, and the description of its ends."""


def frontier_chart(
    story: Mapping[str, Any],
    described: Sequence[str],
    risk: Axis,
    loss: Axis,
    details: Sequence[Detail] = (),
) -> FrontierChart:
    """Draw the policies of a wing's story, `described` one by one, and the chosen one.

    `details` are of the policies; the last one, where there is one more, of the chosen policy.
    """
    shown, chosen = story["frontier"], story.get("chosen")
    marks = () if not chosen else ((CHOSEN, chosen["risk"], chosen["loss"]),)
    policies = "policy" if len(described) == 1 else "policies"
    return FrontierChart(
        tuple(shown["risk"]),
        tuple(shown["loss"]),
        tuple(described),
        marks,
        risk[0],
        loss[0],
        f"{len(described):,} {policies} that no other policy found beats in both risk and "
        "loss, as scored by the fit.",
        risk_ends=risk[1],
        loss_ends=loss[1],
        details=tuple(details),
    )


def codebook(columns: Sequence[Mapping[str, Any]]) -> Section:
    """Describe the treatment of each released column, from the manifest."""
    rows = tuple((one["column"], one["role"], one["what"]) for one in columns)
    grid = Grid(("column", "role", "in the release"), rows, "Treatment of each column")
    return Section("codebook", "Codebook", (grid,))


def limits(lines: tuple[str, ...]) -> Section:
    """List the limits of a release's protection."""
    return Section("limits", "Limits of this protection", (Bullets(lines),))
