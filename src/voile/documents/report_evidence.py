"""What the report shows of attacks: what was found, by type, and along the inspections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from voile.evidence import Evidence, Finding
from voile.sections import Audience, Block, Bullets, Figure, Grid, LineChart, Prose, Section, Series
from voile.wording import FEW, is_few, rate, share

OF_TYPE = "identifiers left, "
NUMBERED = re.compile(r"\b(\d[\d,]*)(?= (?:inspections|tokens|of [\d,]+ documents)\b)")
FOUND = "identifiers found in "


def evidence_sections(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Section]:
    """Yield a section for each question of data-protection law that an attack answers."""
    evidence = [_told(one, audience) for one in evidence]
    for heading in dict.fromkeys(one.heading for one in evidence):
        blocks: list[Block] = []
        said: dict[str, None] = {}
        for one in evidence:
            if one.heading == heading:
                new = [line for line in (*_meanings(one), *one.notes) if line not in said]
                said |= dict.fromkeys(new)
                blocks += [Prose((one.story,)), *_tables(one, audience)]
                blocks += [Bullets(tuple(new))] if new else []
                blocks += [_curves(one)] if one.curves else []
        yield Section(heading.replace(" ", "-"), heading.capitalize(), tuple(blocks))


def strongest(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Figure]:
    """Say in one number what the attacker who finds most finds."""
    told = (_told(one, audience) for one in evidence)
    found = [one for of in told for one in of.findings if one.name.startswith(FOUND)]
    if found:
        most = max(found, key=lambda one: (one.rate.successes, one.rate.value))
        value, _, counts = rate(most.rate, audience).partition(" (")
        number = most.name.removeprefix(FOUND).removesuffix(" inspections")
        low, high = most.rate.interval()
        yield Figure(
            "Found by an attacker",
            value,
            f"of the first {number} tokens that she inspects are identifiers",
            f"{share(low)} to {share(high)}" if counts else "",
        )


def _told(evidence: Evidence, audience: Audience) -> Evidence:
    """Leave out few inspections for the public: she inspects as many tokens as are left."""

    def few(found: re.Match[str]) -> bool:
        return is_few(int(found[1].replace(",", "")), 1, audience)

    def number(found: re.Match[str]) -> str:
        return f"under {FEW}" if few(found) else found[1]

    findings = (one for one in evidence.findings if not any(map(few, NUMBERED.finditer(one.name))))
    notes = (NUMBERED.sub(number, note) for note in evidence.notes)
    return replace(evidence, findings=tuple(findings), notes=tuple(notes))


def _tables(evidence: Evidence, audience: Audience) -> Iterator[Grid]:
    """Yield what was found, and a table by type of identifier."""
    of_type = {one.name.removeprefix(OF_TYPE) for one in evidence.findings if _is_left(one)}
    by_type = [one for one in evidence.findings if one.name.partition(", ")[2] in of_type]
    main = [one for one in evidence.findings if one not in by_type]
    name = f"{evidence.attack[:1].upper()}{evidence.attack[1:]}"
    if main:
        columns = {
            "what": [one.name for one in main],
            "found": [rate(one.rate, audience) for one in main],
            "at random": [rate(one.baseline, audience) for one in main],
            "control": [rate(one.control, audience) for one in main],
        }
        kept = [name for name in columns if set(columns[name]) != {"–"}]
        rows = tuple(zip(*(columns[name] for name in kept), strict=True))
        yield Grid(tuple(kept), rows, f"{name}: found, with 95% intervals")
    if by_type:
        left, found = (
            {
                one.name.partition(", ")[2]: rate(one.rate, audience)
                for one in by_type
                if _is_left(one) == is_left
            }
            for is_left in (True, False)
        )
        rows = tuple((label, left[label], found.get(label, "–")) for label in left)
        titles = ("type", "left of the source's", "of these found")
        few = any(is_few(one.rate.successes, 1, "public") for one in by_type)  # else by the rest
        yield Grid(titles, rows, f"{name}: by type", audience="internal" if few else "public")


def _is_left(finding: Finding) -> bool:
    return finding.name.startswith(OF_TYPE)


def _meanings(evidence: Evidence) -> Iterator[str]:
    """Explain each finding, those that mean the same once."""
    first: dict[str, str] = {}
    for one in evidence.findings:
        if one.meaning:
            first.setdefault(one.meaning, one.name.partition(", ")[0])
    for meaning, name in first.items():
        yield f"{name[0].upper()}{name[1:]}: {meaning[0].lower()}{meaning[1:]}"


def _curves(evidence: Evidence) -> LineChart:
    lines = tuple(Series(c.name, c.x, c.y, c.low, c.high) for c in evidence.curves)
    first = evidence.curves[0]
    name = f"{evidence.attack[:1].upper()}{evidence.attack[1:]}"
    return LineChart(lines, first.x_name, first.y_name, name, audience="internal")
