"""The report of a study: the joint figures first, then the sections of each part's kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voile.core.evidence import Evidence, Rate
from voile.data import open_source
from voile.data.source import BATCH_ROWS
from voile.gate.people import ALONE, KNOWS_ALL, KNOWS_FEW, MATCHES
from voile.modules import find_module
from voile.report.charts.numbers import number, share
from voile.report.page import render
from voile.report.sections import (
    Audience,
    Bar,
    BarChart,
    Block,
    Bullets,
    Figure,
    Figures,
    Grid,
    Heading,
    Prose,
    Section,
)
from voile.report.wording import join_names, share_and_odds
from voile.study.adversary.acquaintance import GROUP, by_knowledge
from voile.study.adversary.date_attack import GUESSED, KNOWS_DATES
from voile.study.adversary.readings import read_clues, sentence_at
from voile.study.study_release import UTILITY, PartRelease, StudyRelease, has_proofs
from voile.study.verbs.report_export import write_section
from voile.study.verbs.report_summary import summarise

AT_RECALL = "where the notes' kits miss as many mentions as in the text they were tested on"
UNCHECKED = "if no name is hidden: nobody has checked how many identifiers the notes' kits miss"
PROVED = "where as many people have an identifier left as the readers' proofs allow"
MOST = 100
"""Maximum number of listed sentences."""


def report(
    release: StudyRelease, enough: Section, *, audience: Audience, facts: Mapping[str, str]
) -> str:
    """Return the report of a study's release. `enough` is the section on a determination."""
    title = f"{release.path.name}: what all parts disclose together"
    shown = (summarise(release, audience), enough, *sections(release, audience=audience))
    return render(title, shown, audience=audience, facts=facts)


def sections(
    release: StudyRelease,
    *,
    audience: Audience,
    of_part: Mapping[str, Sequence[Evidence]] | None = None,
) -> tuple[Section, ...]:
    """Return the joint sections, then those of each part with the evidence of attacks on it."""
    found = [
        _joint(release),
        _utility(release),
        write_section(release, audience),
        _values(release),
        _dates(release),
        _mentions(release),
        _list_sentences(release),
    ]
    for name in release.public["parts"]:
        part = release.part(name)
        if part.kind == "tables" and not part.public["policy"]:
            found.append(_of_part(name, _events(part)))
            continue
        own = find_module(part.kind).report(part, (of_part or {}).get(name, ()), audience=audience)
        found += [_of_part(name, one, is_listed=n == 0) for n, one in enumerate(own)]
    return tuple(found)


def _of_part(name: str, section: Section, *, is_listed: bool = True) -> Section:
    """Return a section of one part, below those of the study. Only the first is listed."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    key, title = f"part-{slug}-{section.key}", f"{name}: {section.title}"
    return replace(section, key=key, title=title, first=False, is_listed=is_listed)


def _events(part: PartRelease) -> Section:
    """Return a section on a table without quasi-identifiers.

    Another table generalises its people.
    """
    rows = tuple((c["column"], c["role"], c["what"]) for c in part.public["columns"])
    said = (
        "This table generalises nothing. The figures with known facts state the risk of its rows.",
    )
    grid = Grid(("column", "role", "released"), rows)
    return Section("events", "Kept columns", (Prose(said), grid))


_KNOWING = (
    (
        "Acquaintance",
        "all_parts_known_mean_risk",
        "mean risk from an adversary who knows everything that the parts show of a person",
    ),
    (
        "Three dates",
        "three_dates_known_mean_risk",
        "mean risk from an adversary who knows three true dates of a person",
    ),
    (
        "One row",
        "one_row_alone",
        "share of people with a row that nobody else has, in a part whose rows nothing joins",
    ),
)
"""Figures of adversaries who know facts: label, name, meaning."""


def _joint(release: StudyRelease) -> Section:
    public, says_recall = release.public["figures"], _at_recall(release)
    hidden = "All names hidden" if release.unaccepted_parts else "All parts"
    accepted = "At the proved limit" if has_proofs(release.public) else "At recall"
    missed = "No name hidden" if release.unaccepted_parts else accepted
    found = [
        ("Table alone", "table_mean_risk", "mean risk of a person, linked by the table"),
        (
            hidden,
            "joint_mean_risk",
            "mean risk by the table and texts, if no mention is missed",
        ),
        (missed, "joint_at_recall_mean_risk", f"mean risk by all parts, {says_recall}"),
        *_KNOWING,
    ]
    figures = tuple(
        Figure(label, share(public[name]), meaning)
        for label, name, meaning in found
        if name in public
    )
    blocks: list[Block] = [Prose((said,)) for said in _in_short(public, says_recall)]
    if release.unaccepted_parts:
        best, parts = public.get("joint_mean_risk", 0.0), join_names(list(release.unaccepted_parts))
        waits = (
            f"If all names are hidden, the mean chance is {share_and_odds(best)}. The true risk "
            f"lies between the two figures. Waits for voile study accept: {parts}. No reader has "
            "counted the identifiers that remain in these texts."
        )
        blocks.append(Prose((waits,)))
    blocks.append(Figures(figures))
    known = [one for one in release.findings if one.knows in (KNOWS_ALL.knows, KNOWS_FEW.knows)]
    if matches := [one for one in known if one.name == MATCHES and GROUP not in one.of]:
        bars = tuple(Bar(one.of, one.value / (one.n or 1)) for one in matches)
        caption = (
            "Mean chance to pick out a released person. The adversary knows everything that the "
            "release shows of the person in these parts."
        )
        blocks.append(BarChart((("knowing", bars),), "mean risk", caption, "internal", whole=True))
    blocks += [*_show_informed(release), *_remedies(release)]
    assumed = [f"{one[:1].upper()}{one[1:]}." for one in release.public["assumptions"]]
    blocks += [Heading("Assumptions"), Bullets(tuple(assumed))]
    return Section("joint", "What all parts disclose together", tuple(blocks), first=True)


def _utility(release: StudyRelease) -> Section:
    """Compare the counts by age, sex, region and year before and after, for the data holder."""
    counts = (release.private or {}).get(UTILITY, ())
    if not counts:
        return Section("utility", "Counts before and after", ())
    totals = Counter[str]()
    for one in counts:
        totals[one["of"]] += one["before"]
    blocks: list[Block] = []
    for of, total in totals.items():
        own = [one for one in counts if one["of"] == of]
        rows = tuple((x["value"], number(x["before"]), number(x["after"])) for x in own)
        groups = tuple(
            (when, tuple(Bar(x["value"], x[when] / max(total, 1)) for x in own))
            for when in ("before", "after")
        )
        caption = f"Rows by {of}, as a share of the source's rows."
        blocks += [
            Heading(of),
            BarChart(groups, "share of rows", caption, "internal"),
            Grid((of, "source", "release"), rows, "", (1, 2), "internal"),
        ]
    said = (
        "A released row counts evenly for every value of the source in its interval. Years of the "
        "release are those of moved days."
    )
    return Section("utility", "Counts before and after", (Prose((said,)), *blocks))


def _values(release: StudyRelease) -> Section:
    """List the people with unreleased values in the released bytes, compared with chance."""
    rows = tuple(
        (
            one["says"],
            share(one["found"]),
            share(one["expected"]),
            join_names(one["columns"] or ["-"]),
        )
        for one in release.public.get("values", ())
    )
    if not rows:
        return Section("values", "Unreleased values in released bytes", ())
    caption = (
        "Each unreleased value was searched in every released cell: whole, in parts, joined, as "
        "digits, dates, base64, hexadecimal and URL-encoded. Misspellings, nicknames and "
        "paraphrases are not found."
    )
    columns = ("people", "share", "expected by chance", "columns of the values")
    return Section("values", "Unreleased values in released bytes", (Grid(columns, rows, caption),))


def _show_informed(release: StudyRelease) -> Iterator[Block]:
    """Yield the risk from an adversary who knows some facts of a person, one row per part."""
    informed = release.public.get("informed", ())
    if not informed:
        return
    parts = dict.fromkeys(one["part"] for one in informed)
    risks = {(one["part"], one["facts"]): share(one["most"]) for one in informed}
    facts = [one for one in KNOWN_FACTS if any(key[1] == one for key in risks)]
    rows = tuple((part, *(risks.get((part, one), "") for one in facts)) for part in parts)
    caption = (
        "Mean chance to pick out a released person. The adversary knows the table's columns, the "
        "person's presence in the release, and the most revealing facts of the part. This is an "
        "upper bound for an adversary without knowledge of the released people."
    )
    heads = tuple(KNOWN_FACTS[one] for one in facts)
    yield Heading("Known facts")
    yield Grid(("part", *heads), rows, caption, numeric=tuple(range(1, len(heads) + 1)))


def _remedies(release: StudyRelease) -> Iterator[Block]:
    """Yield the options of a plan by which facts single out fewer people, with their loss."""
    rows = tuple(
        (one["place"], one["option"], share(one["helped"]), one["loss"])
        for one in release.public.get("remedies", ())
    )
    if rows:
        yield Heading("Remedies")
        caption = "Each remedy was measured by itself on the released rows, for all facts."
        columns = ("table of the plan", "option", "people no longer alone", "loss")
        yield Grid(columns, rows, caption, numeric=(2,))


KNOWN_FACTS = {0: "no fact", 1: "1 fact", 2: "2 facts", 3: "3 facts", None: "all facts"}


def _at_recall(release: StudyRelease) -> str:
    """Return the assumption of the figure at recall: unchecked texts hide no name."""
    accepted = PROVED if has_proofs(release.public) else AT_RECALL
    return UNCHECKED if release.unaccepted_parts else accepted


def _in_short(public: Mapping[str, float], says_recall: str) -> Iterator[str]:
    """Yield sentences on values in texts, the joint risk and the table's own risk."""
    if values := public.get("values_in_text"):
        yield (
            f"{share(values)} of the people have an own unreleased value in the released bytes. "
            "Whoever knows the value finds the person."
        )
    risk, alone = (public.get(name) for name in ("joint_at_recall_mean_risk", "table_mean_risk"))
    if risk is not None:
        yield (
            "Mean chance to find a released person in the population, by all parts together: "
            f"{share_and_odds(risk)}, {says_recall}."
        )
    if alone is not None:
        yield f"The same by the table alone: {share_and_odds(alone)}."


def _dates(release: StudyRelease) -> Section:
    guessed = next((one for one in release.findings if one.name == GUESSED), None)
    if guessed is None:
        return Section("dates", "Dates", ())
    dates = by_knowledge(one for one in release.findings if one.knows == KNOWS_DATES.knows)
    rows = tuple(
        (of, f"{own[ALONE].n:,}", number(own[MATCHES].value), f"{own[ALONE].value:,.0f}")
        for of, own in dates.items()
    )
    said = (
        "All dates of a person move by one offset. The adversary knows some true dates, the first "
        "and last day of the extract, and the usual weekdays and months. The offset is guessed of "
        f"{guessed.value:,.0f} of {guessed.n:,} people.",
    )
    columns = ("the adversary knows", "people attacked", "expected matches", "one person left")
    grid = Grid(columns, rows, numeric=(1, 2, 3), audience="internal")
    return Section("dates", "Dates", (Prose(said, "internal"), grid))


def _mentions(release: StudyRelease) -> Section:
    rows = tuple(
        (part, label, f"{n:,}", f"{counts['marked'].get(label, 0):,}")
        for part, counts in release.public["mentions"].items()
        for label, n in sorted(counts["recognised"].items())
    )
    if not rows:
        return Section("mentions", "Mentions in texts", ())
    caption = "No recognised mention in the release reveals more than its person's rows."
    columns = ("part", "type", "recognised", "of these marked")
    grid = Grid(columns, rows, caption, (2, 3), "internal")
    return Section("mentions", "Mentions in texts", (grid, *_show_planted(release)))


def _show_planted(release: StudyRelease) -> Iterator[Block]:
    """Yield the recall of mentions that were seeded in the notes."""
    rows = []
    for part, found in release.public.get("planted", {}).items():
        for one in found:
            low, high = Rate(one["found"], one["of"]).interval()
            share_found = f"{one['found']} of {one['of']}"
            rows.append((part, one["label"], one["form"], share_found, f"{low:.0%} to {high:.0%}"))
    if rows:
        caption = (
            "Recall by form, of mentions that voile put at the end of notes of this study. Each "
            "form is one plain sentence. Other wordings may still be missed, and the recall of the "
            "notes' own mentions may be lower. Missed mentions stay in the text."
        )
        columns = ("part", "type", "form", "found", "95% interval")
        yield Grid(columns, tuple(rows), caption, (3, 4))


def _list_sentences(release: StudyRelease) -> Section:
    """List the released sentences that still state an age or a sex."""
    rows: list[tuple[str, ...]] = []
    count = 0
    for row in _sentences(release):
        count += 1
        rows += [row] if len(rows) < MOST else []
    said = f"{count:,} places of the released texts say an age or, by a pronoun, the sex."
    more = f" The first {MOST} are listed." if count > MOST else ""
    blocks: tuple[Block, ...] = (Prose((said + more,), "internal"),)
    if rows:
        columns = ("part", "row of the release", "says", "sentence")
        blocks += (Grid(columns, tuple(rows), audience="internal"),)
    return Section("sentences", "Which sentence reveals what", blocks)


def _sentences(release: StudyRelease) -> Iterator[tuple[str, ...]]:
    for name, part in release.public["parts"].items():
        columns = _texts(part) if part["kind"] == "documents" else []
        number = 0
        for batch in (
            open_source(release.path / part["file"]).batches(columns, batch_rows=BATCH_ROWS // 16)
            if columns
            else ()
        ):
            for row in batch.to_pylist():
                number += 1
                for text in filter(None, row.values()):
                    for one in read_clues(text):
                        yield name, str(number), one.what, sentence_at(text, one.start)


def _texts(part: Mapping[str, Any]) -> Sequence[str]:
    return [one["column"] for one in part["columns"] if one["role"] == "text"]
