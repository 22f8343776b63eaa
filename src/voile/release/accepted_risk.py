"""The risk of joined rows that a data holder accepts: its option, and its sentence in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voile.release.manifest import ACCEPTED
from voile.report.sections import Audience
from voile.report.wording import format_people

ACCEPT = "apply with --accept-risk REASON, which the report repeats on its first line"
PROMISED_PEOPLE = "promised_people"
"""The part of the public manifest with the number of people who must share all rows of a person;
k if it is absent.
"""


def explain_accepted(
    public: Mapping[str, Any], figures: Mapping[str, float], audience: Audience
) -> Iterator[str]:
    """Yield the risk that the data holder accepted, and why; nothing where there is none."""
    reason = public.get(ACCEPTED)
    if reason is None:
        return
    people = figures.get("people_below_k")
    least = public.get(PROMISED_PEOPLE, public["constraints"]["k"])
    whom = (
        "some people have" if people is None else f"{format_people(people, audience)} people have"
    )
    yield (
        f"Accepted risk: {whom} records that fewer than {least} people share, "
        f"because a released column joins the rows of a person. The data holder's reason: {reason}"
    )
