"""The report's sections on attacks, built from evidence in the same way for every kind of data.

This module decides from the numbers which figures a public report withholds. `voile.report.wording`
writes the other figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import get_args

from voile.core.evidence import Count, Evidence, Finding
from voile.core.evidence import Heading as Question
from voile.core.rounding import round_number
from voile.report import wording
from voile.report.sections import (
    Audience,
    Bar,
    BarChart,
    Block,
    Bullets,
    Grid,
    Heading,
    LineChart,
    Prose,
    Section,
    Series,
)
from voile.report.suppression import is_few, withheld

NO_EVIDENCE = (
    "No evidence: the attack was not run, or the report did not get its evidence. "
    "The attack requires {}."
)
WITHHELD = "withheld where a number of fewer than 11 would follow"
NONE = "0% throughout, 95% upper bound {} or less"
FEW_FOUND = "At most {} throughout, from too few people to show"
OF_ALL = ("condition", "what")
"""The column heads of rows that are not parts of a whole."""
Cells = Mapping[tuple[str, str], Finding]


def evidence_sections(
    evidence: Sequence[Evidence],
    audience: Audience,
    first: Mapping[Question, Sequence[Block]] | None = None,
    takes: Mapping[Question, str] | None = None,
) -> Iterator[Section]:
    """Yield a section for each question of data-protection law that an attack answers.

    Parameters
    ----------
    first : blocks that a module puts before the others.
    takes : the inputs that the attack needs, for each question of the report. Without evidence, the
        section names them.
    """
    for heading in get_args(Question):
        blocks: tuple[Block, ...] = ()
        if told := [one for one in evidence if one.heading == heading]:
            blocks = (*(first or {}).get(heading, ()), *_blocks(told, audience))
        elif takes and heading in takes:
            blocks = (Prose((NO_EVIDENCE.format(takes[heading]),)),)
        if blocks:
            yield Section(heading.replace(" ", "-"), heading.capitalize(), blocks)


def shown_findings(evidence: Evidence, audience: Audience) -> list[Finding]:
    """Return the findings that an audience may see.

    The public sees no finding with a condition that counts few. For example, an adversary may
    inspect one token per remaining identifier. This condition would reveal the number of remaining
    identifiers.
    """
    return [
        one
        for one in evidence.findings
        if audience == "internal" or not any(map(_counts_few, _counts(one)))
    ]


def _counts(finding: Finding) -> list[Count]:
    values = () if finding.at is None else finding.at.values.values()
    return [value for value in values if isinstance(value, Count)]


def _counts_few(count: Count) -> bool:
    return is_few(count.value) or (count.whole is not None and is_few(count.whole - count.value))


def _blocks(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Block]:
    """Yield the blocks of each attack, without lines that an earlier attack already has."""
    seen: set[str] = set()
    made = Counter(one.attack for one in evidence)
    for one in evidence:
        lines = dict.fromkeys((*_meanings(one, audience), *_notes(one, audience)))
        new = tuple(line for line in lines if line not in seen)
        seen |= lines.keys()
        if one.of and made[one.attack] > 1:
            yield Heading(f"{_capital(one.attack)}: {one.of}")
        elif one.attack != one.heading:
            yield Heading(_capital(one.attack))
        yield Prose((wording.format_note(one.story, audience),))
        yield from _grids(one, audience)
        yield from [Bullets(new)] if new else []
        yield from _charts(one)


def _notes(evidence: Evidence, audience: Audience) -> Iterator[str]:
    """Yield the notes. The public report omits notes that summarise small counts."""
    hidden = {
        one.by
        for one in evidence.findings
        if wording.is_hidden(one.rate, audience) or wording.is_hidden(one.baseline, audience)
    }
    for note in evidence.notes:
        if not note.by or note.by not in hidden:
            yield wording.format_note(note, audience)


def _meanings(evidence: Evidence, audience: Audience) -> Iterator[str]:
    """Yield the meaning of each quantity once, and the advantage of each finding that has one."""
    told = shown_findings(evidence, audience)
    tried = {one.quantity for one in told if one.rate.trials}
    compared = {one.quantity for one in told if one.control and one.control.trials}
    for one in told:
        if one.quantity not in tried:
            yield f"{_capital(one.quantity)}: no cases."
        elif one.advantage and one.rate.trials:
            name = wording.name_of(one, audience) if one.quantity in compared else one.quantity
            yield f"{_capital(name)}: {_small(wording.advantage(one.rate, one.control, audience))}"
        elif one.meaning:
            kind = f", by {one.parts}" * bool(one.of)
            yield f"{_capital(one.quantity)}{kind}: {_small(one.meaning)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _grids(evidence: Evidence, audience: Audience) -> Iterator[Block]:
    told = shown_findings(evidence, audience)
    whole = [one for one in told if not one.of and one.rate.trials]
    if whole:
        yield from _fold_grid(*_cells(whole, audience), audience, "Found, with 95% intervals")
    if kinds := [one for one in told if one.of]:
        yield from _by_kind(kinds, audience)


def _cells(findings: Sequence[Finding], audience: Audience) -> tuple[str, Cells]:
    """Give each finding a row, or each condition if all quantities have the same conditions."""
    under: dict[str, list[str]] = {}
    for one in findings:
        under.setdefault(_quantity(one), []).append(wording.circumstance(one, audience))
    conditions = list(under.values())
    if len(conditions[0]) > 1 and all(one == conditions[0] for one in conditions):
        cells = {(wording.circumstance(one, audience), _quantity(one)): one for one in findings}
        return OF_ALL[0], cells
    return OF_ALL[1], {(wording.name_of(one, audience), "found"): one for one in findings}


def _quantity(finding: Finding) -> str:
    return wording.name_of(replace(finding, of="", at=None), "internal")


def _by_kind(findings: Sequence[Finding], audience: Audience) -> Iterator[Block]:
    """Show the parts of a whole in one table.

    The public sees no part from which a small count would follow, not even its name. Annotators
    choose the names, so a rare one can identify a person and occur in no released row.
    """
    cells = {(one.part, wording.name_of(replace(one, of=""), audience)): one for one in findings}
    parts = findings[0].parts
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    hidden = withheld([_parts(cells, kind) for kind in kinds])
    if audience == "internal" or hidden is None:
        few: Audience = "public" if hidden == frozenset() else "internal"
        for block in _fold_grid(parts, cells, audience, f"By {parts}"):
            yield replace(block, audience=few)
        return
    gone = {kinds[x] for x in hidden}
    if shown := {key: one for key, one in cells.items() if key[0] not in gone}:
        caption = f"By {parts}; {WITHHELD}" if gone else f"By {parts}"
        yield from _fold_grid(parts, shown, audience, caption)


def _parts(cells: Cells, kind: str) -> list[int]:
    """Return the counts of a kind and their complements, in the same order for every kind."""
    counts = []
    for column in dict.fromkeys(column for _, column in cells):
        one = cells.get((kind, column))
        for name in ("rate", "baseline", "control"):
            found = getattr(one, name, None)
            counts += [found.successes, found.trials - found.successes] if found else [0, 0]
    return counts


def _fold_grid(corner: str, cells: Cells, audience: Audience, caption: str) -> Iterator[Block]:
    """Yield a table of findings. Empty or small findings become sentences and one small chart."""
    sentences: list[str] = []
    bars: dict[bool, float] = {}
    for few, form in ((False, NONE), (True, FEW_FOUND)):
        for axis in (1, 0):
            bounds = _nothing(cells, axis, audience, few=few)
            kinds = list(dict.fromkeys(row for row, column in cells if column in bounds))
            cells = {key: one for key, one in cells.items() if key[axis] not in bounds}
            if bounds:
                most = max(bounds.values())
                bound = wording.share(round_number(most, "up") if audience == "public" else most)
                of = f", of {wording.join_names(kinds)}" if corner not in OF_ALL and axis else ""
                sentences.append(f"{form.format(bound)}: {_series(list(bounds))}{of}.")
                bars[few] = max(most, bars.get(few, 0.0))
    if any(one.rate.trials for one in cells.values()):
        yield _grid(corner, cells, audience, caption)
    elif sentences and WITHHELD in caption:
        sentences.insert(0, f"{caption}.")
    if sentences:
        yield Prose(tuple(sentences))
        drawn = tuple(
            Bar("found too few to show" if few else "found nothing", nan if few else 0.0, 0.0, most)
            for few, most in bars.items()
        )
        has_table = any(one.rate.trials for one in cells.values())
        if has_table or len(drawn) > 1:  # otherwise the sentence is enough
            left_out = " of the rows missing in the table" * has_table
            yield BarChart((("", drawn),), "share", f"95% upper bound{left_out}", whole=True)


def _series(names: Sequence[str]) -> str:
    """Join names into a list, with semicolons if a name contains a comma."""
    return "; ".join(names) if any(", " in name for name in names) else wording.join_names(names)


def _nothing(cells: Cells, axis: int, audience: Audience, *, few: bool) -> Mapping[str, float]:
    """Return the largest upper bound of each quantity (or row, if `axis` is 0) that found nothing.

    With `few`, return those that found no more than the public may see. A single row stays in its
    table, and so does a single quantity.
    """
    groups: dict[str, list[Finding]] = {}
    for key, one in cells.items():
        groups.setdefault(key[axis], []).append(one)
    none = {
        name: max(wording.upper_bound(one.rate, audience) for one in found)
        for name, found in groups.items()
        if all(_found_nothing(one, audience, few=few) for one in found)
    }
    several = len(groups) > 1 and len(cells) > len(groups) if axis else len(none) > 1
    return none if several else {}


def _found_nothing(one: Finding, audience: Audience, *, few: bool) -> bool:
    """Return whether no trial succeeded or, with `few`, no more than the public may see."""
    rates = [of for of in (one.rate, one.baseline, one.control) if of]
    public = audience == "public"
    if not one.rate.trials or (public and any(is_few(of.trials) for of in rates)):
        return False
    return all(not of.successes or (few and public and is_few(of.successes)) for of in rates)


def _grid(corner: str, cells: Cells, audience: Audience, caption: str) -> Grid:
    """Build a table of findings without empty columns."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns: list[tuple[str, list[str]]] = [(corner, rows)]
    for column in dict.fromkeys(column for _, column in cells):
        for name, title in (("rate", column), ("baseline", "baseline"), ("control", "control")):
            rates = [getattr(cells.get((row, column)), name, None) for row in rows]
            if any(one is not None and one.trials for one in rates):
                columns.append((title, [wording.rate(x, audience) for x in rates]))
    titles, texts = zip(*columns, strict=True)
    return Grid(titles, tuple(zip(*texts, strict=True)), caption)


def _charts(evidence: Evidence) -> Iterator[LineChart]:
    """Yield a chart of the curves of each unit, unless all curves are 0, as the table shows."""
    for unit in dict.fromkeys(curve.y_name for curve in evidence.curves):
        curves = [curve for curve in evidence.curves if curve.y_name == unit]
        if any(any(curve.y) for curve in curves):
            lines = tuple(Series(c.name, c.x, c.y, c.low, c.high) for c in curves)
            name = _capital(evidence.attack)
            yield LineChart(lines, curves[0].x_name, unit, name, audience="internal")
