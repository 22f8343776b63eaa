"""The content of a report as data, independent of its appearance.

Every block names its audience. A public report drops ``internal`` blocks. It never rounds or masks
an internal block to make it public.
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
    """A heading inside a section. It is left out if no block under it is shown."""

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
    """One key number: its label, formatted `value`, meaning and optional interval."""

    label: str
    value: str
    meaning: str = ""
    interval: str = ""


@dataclass(frozen=True)
class Figures:
    """Key numbers, shown next to each other."""

    figures: tuple[Figure, ...]
    audience: Audience = "public"


@dataclass(frozen=True)
class Grid:
    """A table of texts. The columns listed in `numeric` are aligned right, and the others left."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: tuple[int, ...] = ()
    audience: Audience = "public"


@dataclass(frozen=True)
class Strip:
    """One ordered domain divided into intervals: (label, share of the domain, in (0, 1])."""

    column: str
    intervals: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Detail:
    """The details of a policy shown on hover: (name, value) pairs and intervals."""

    facts: tuple[tuple[str, str], ...] = ()
    strips: tuple[Strip, ...] = ()


CHOSEN = "chosen policy"
"""The name of the chosen policy's mark, a red diamond. No other mark is a red diamond."""


@dataclass(frozen=True)
class FrontierChart:
    """The policies that no other policy beats, `risk` against `loss`, both in [0, 1].

    Parameters
    ----------
    risk, loss : the coordinates of the points.
    described : a text for each point, shown on hover and keyboard focus.
    marks : named points as (name, risk, loss), on the frontier or off it, e.g. Safe Harbor.
    risk_name, loss_name : the names of the axes.
    floor : a line of (risk, loss) with increasing risk. It is proved that no policy is below it.
    risk_ends, loss_ends : descriptions of the ends of the axes.
    details : the details of the points and then of the marks, or none.
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
    """Policies as intervals of each domain, for one policy or several to compare.

    The first policy is the subject of the report. A printed page shows its intervals in full.
    """

    policies: tuple[tuple[str, tuple[Strip, ...]], ...]
    caption: str = ""
    audience: Audience = "public"


@dataclass(frozen=True)
class Bar:
    """One bar. `low` and `high` are the ends of its interval if the value was estimated."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarChart:
    """Grouped shares in [0, 1] as (group, bars). If `whole`, the axis ends at 100%."""

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
    """A titled part of the report.

    Parameters
    ----------
    key : its anchor, of lower-case words joined by hyphens. Each key is used once in a report.
    title, blocks : its title and its content.
    first : whether it is on page 1.
    is_listed : whether the table of contents lists it.
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
    """Build the chart of a kit's policies, and of the chosen one for a release.

    Parameters
    ----------
    story : the facts for the report: the points of the frontier, and the chosen policy if any.
    described : a text for each policy.
    risk, loss : the axes.
    details : the details of the policies. One more item describes the chosen policy.
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
    """Return a section that describes the treatment of each released column, from the manifest."""
    rows = tuple((one["column"], one["role"], one["what"]) for one in columns)
    grid = Grid(("column", "role", "in the release"), rows, "Treatment of each column")
    return Section("codebook", "Codebook", (grid,))


def limits(lines: tuple[str, ...]) -> Section:
    """Return a section that lists the limits of a release's protection."""
    return Section("limits", "Limits of this protection", (Bullets(lines),))
