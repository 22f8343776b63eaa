"""The report on a release from a kit that was trained on unannotated text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.documents.model.policies import UNCHECKED
from voile.report.sections import Audience, Block, Grid, Prose, Section

MEANS = (
    "Nobody annotated the text that this release was learnt from. Known values, rules and patterns "
    "proposed what identifies; classifiers learnt from that, and all figures of the fit are "
    "{against}. They do not estimate how many identifiers are left"
)
UNKNOWN = ": that is unknown here."
PROVED = (
    ". Proved by reading: at most {at_most:g} identifiers are left per {per:,} tokens, with "
    "{confidence:.0%} confidence{if_so}. Nothing else was measured about the identifiers left "
    "in this release."
)
PUBLIC = (
    "The same method was trained on a public corpus of clinical notes and tested on other "
    "notes. It removed 98.9% of the tokens of names with all columns known, and as many with "
    "60% of the staff known. In the notes of another hospital more may be left."
)
"""The result in docs/benchmarks/documents_start.md, rounded down."""
THIRD = (
    "Some people are in no known column: staff on no list, relatives, and other people. The notes "
    "of that corpus name them in fields and by titles, and 99.4% of the tokens of their names were "
    "removed. English sentences and mails do not, and 87% were removed. Words for relatives, such "
    "as mother, stay. How many such people are named in the notes of this release is unknown here."
)
"""The result in the same page's section on people in no table."""
STRANGERS = (
    "{unmet:,} of the {proposed:,} proposed names are in no known column. They are people whom "
    "no table has, and words that are not names."
)
NEXT = (
    "A person has to read a sample of the release to measure the identifiers left in these "
    "notes. The command voile documents accept plans how much, and states a bound."
)


def start_section(
    marks: str, data: Mapping[str, Any], acceptance: Mapping[str, Any] | None, audience: Audience
) -> Section | None:
    """Explain that the notes were not annotated, and list the proposals in them.

    acceptance : the public manifest's facts about an accepted release.
    """
    if marks not in UNCHECKED:
        return None
    means = MEANS.format(against=UNCHECKED[marks])
    if acceptance is None:
        lines: tuple[str, ...] = (means + UNKNOWN, PUBLIC, THIRD, NEXT)
    else:
        if_so = f", {acceptance['condition']}" * bool(acceptance["condition"])
        lines = (means + PROVED.format(**acceptance, if_so=if_so),)
    blocks: list[Block] = [Prose(lines)]
    start = data.get("found", {}).get("start", {}) if data else {}
    if proposed := start.get("proposed"):
        rows = tuple((why, f"{times:,}") for why, times in proposed.items())
        title = "Proposals in the notes learnt from, by source"
        blocks.append(Grid(("proposed by", "times"), rows, title, (1,), "internal"))
    if names := start.get("names"):
        blocks.append(Prose((STRANGERS.format_map(names),), "internal"))
    if met := start.get("met"):
        rows = tuple((column, f"{notes:,}") for column, notes in met.items())
        blocks.append(Grid(("known column", "notes met"), rows, "Known columns", (1,), "internal"))
    return Section("start", "Text that nobody annotated", tuple(blocks))
