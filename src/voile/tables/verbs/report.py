"""Write the sections of a report on tables, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voile.core.evidence import Evidence
from voile.core.evidence import Heading as Question
from voile.gate.analysts import QUERY_ERROR
from voile.release.accepted_risk import explain_accepted
from voile.release.choice import Choice
from voile.release.found_values import describe_values
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.shown import facts_for
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import (
    Audience,
    Block,
    Bullets,
    Detail,
    Figure,
    Figures,
    Grid,
    Heading,
    IntervalChart,
    Prose,
    Section,
    Strip,
    frontier_chart,
    limits,
)
from voile.report.wording import join_names, share, share_and_odds, share_of, size
from voile.tables.recoding.boxes import read_codebook
from voile.tables.verbs.report_analysis import own_analysis
from voile.tables.verbs.report_data import STATING, report_data
from voile.tables.verbs.report_figures import optimality_gap, risks
from voile.tables.verbs.report_losses import analysts, with_measured_losses, with_measured_utility
from voile.tables.verbs.wording import (
    CALLED,
    count_among,
    count_beating,
    describe_loss,
    describe_matches,
    describe_risk,
    explain_choice,
    explain_empty_boxes,
    explain_regrowing,
    explain_unique,
    format_expected,
    highest_risk,
    is_default,
    name_kept,
    name_measure,
    name_risk,
    three_sentences,
)

NOTHING_LEFT = "0% = original, 100% = no information"
PREDICTED = f"predicted by the fit; {NOTHING_LEFT}"
MEASURED = f"measured on the written release; {NOTHING_LEFT}"
LIMITS = (
    (
        "The figures apply to the quasi-identifiers listed here. Kept columns can also "
        "identify people: the report shows the share of people who are unique on all "
        "released columns."
    ),
    (
        "The figures assume that the population is known without error. If it was "
        "fitted or estimated, the report lists the assumptions, and the risk is as "
        "uncertain as they are."
    ),
    (
        "An adversary who knows more than assumed succeeds more often. The "
        "prosecutor's risks apply to an adversary who knows that a person is in the "
        "release."
    ),
    (
        "Homogeneity: if all people of a group share one sensitive value, membership "
        "of the group reveals it."
    ),
    ("An adversary can intersect this release with another release of the same people."),
    (
        "The comparison covers Safe Harbor's generalisation of these columns only, not "
        "the whole rule."
    ),
)
TAKES: dict[Question, str] = {
    "singling out": "a population (--population) or a register (--register)",
    "linkability": "a register of named people (--register)",
    "inference": "a sensitive column",
}
"""The input that the attack on each question needs."""

TREE = (
    "The chosen policy is a tree of {:,} leaves, each with its own intervals. Some "
    "leaves distinguish values of two blocks, and others merge them."
)


def sections(
    subject: StoredKit | StoredRelease, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Return the sections of a report on a kit or on a release.

    A public report contains no count of people below 11, and only facts that the release shows.
    Other policies' intervals and small counts are only in the internal report.
    """
    parts: Sequence[Section | None]
    data, public, private = facts_for(audience, subject, _gather_data, STATING)
    if isinstance(subject, StoredKit):
        parts = [
            _kit_summary(data, audience),
            _frontier(data, audience),
            own_analysis(data, audience),
            optimality_gap(data),
            _beating(data),
            _intervals(data, audience),
            risks(data, {}, audience),
            limits(LIMITS),
        ]
        return tuple(part for part in parts if part is not None)
    figures = {**public["figures"], **private.get("figures", {})}
    data = with_measured_utility(data, figures, private.get("marginals", ()))
    # a second public loss would narrow down a person's possible values
    if is_measured := audience == "internal" and "information_loss" in figures:
        data = with_measured_losses(data, figures)
    if "relative_risk" in figures and "chosen" in data:
        data = {**data, "chosen": [figures["relative_risk"], *data["chosen"][1:]]}
    parts = [
        _summary(data, figures, public, private, audience, evidence, is_measured=is_measured),
        risks(data, figures, audience, _sensitive(public), public["constraints"]["k"]),
        analysts(data, audience, is_fitted=QUERY_ERROR not in figures),
        own_analysis(data, audience),
        *evidence_sections(evidence, audience, takes=TAKES),
        describe_values(private) if audience == "internal" else None,
        _intervals(data, audience),
        _codebook(public),
        _frontier(data, audience),
        optimality_gap(data),
        _beating(data),
        limits(LIMITS),
    ]
    return tuple(part for part in parts if part is not None)


def _gather_data(kit: StoredKit) -> dict[str, Any]:
    from voile.tables.verbs.content import TablesContent

    return report_data(TablesContent.of(kit))


def _summary(
    data: Mapping[str, Any],
    figures: Mapping[str, float],
    public: Mapping[str, Any],
    private: Mapping[str, Any],
    audience: Audience,
    evidence: Sequence[Evidence],
    *,
    is_measured: bool,
) -> Section:
    origin = MEASURED if is_measured else PREDICTED
    accepted = tuple(Prose((said,)) for said in explain_accepted(public, figures, audience))
    if not data:
        short = (
            Figure("Average risk", share(figures["mean_risk"]), "of a record"),
            highest_risk(figures["max_risk"]),
            Figure("Loss", share(figures["loss"]), origin),
        )
        return Section("summary", "In short", (*accepted, Figures(short)), first=True)
    chosen = private["chosen"]
    picked = Choice.from_data(chosen["choice"])
    why = explain_choice(picked, name_risk(data), edited=chosen["edited"])
    loss, people = data["chosen"][1], figures["subjects"]
    apart = min(figures["share_unique_with_kept"], 1.0)
    shown = (
        Figure(
            "Expected to be re-identified",
            f"{format_expected(figures['expected_matches'])} people",
            f"of {people:,.0f} in the release",
        ),
        highest_risk(figures["max_risk"]),
        Figure(data["measures"]["loss"]["title"], share(loss), origin),
        Figure(
            "Unique on all released columns",
            share_of(apart, people, audience),
            f"of people for an adversary who also knows {name_kept(public['columns'])}",
        ),
    )
    names = [strip["column"] for strip in data["strips"]["chosen"]]
    columns = join_names(names)
    whom = "the population" if data["population_known"] else "the source"
    decided = [
        (
            f"The adversary is assumed to know the name, {columns} of everybody in {whom}, "
            f"and to link every record. The population is {data['population']}."
        ),
        f"The data holder chose this policy, {why}.",
    ]
    if apart:
        share_apart = share_of(apart, people, audience)
        decided.append(" ".join(explain_unique(share_apart, names, public["columns"])))
    if "empty_boxes" in data:
        decided += explain_empty_boxes(data["empty_boxes"])
    decided += explain_regrowing(evidence, audience)
    blocks: tuple[Block, ...] = (
        *accepted,
        Figures(shown),
        Prose(three_sentences(data, figures, why, audience)),
        Prose(tuple(decided)),
        _fates(private["counts"]),
    )
    return Section("summary", "In short", blocks, first=True)


def _fates(counts: Mapping[str, int]) -> Grid:
    fates = ("read", "released", "set_aside", "suppressed", "held_out")
    row = tuple(f"{counts[name]:,}" for name in fates)
    titles = tuple(name.replace("_", " ") for name in fates)
    return Grid(titles, (row,), "Treatment of the rows", (0, 1, 2, 3, 4), "internal")


def _kit_summary(data: Mapping[str, Any], audience: Audience) -> Section:
    search = data["search"]
    said = [
        f"voile evaluated {search['evaluations']:,} policies (search: {search['method']}, "
        f"{search['stopped']}). No other policy found beats {data['policies']:,} of them in both "
        "risk and loss.",
        "Without protection, an adversary who links every record to the population is expected to "
        f"re-identify {count_among(data['matches'], size(data['subjects'], audience))} of the "
        "source.",
    ]
    for name, (risk, loss, matches) in data["marks"].items():
        said.append(
            f"{CALLED.get(name, name)}: {describe_risk(data, risk, matches)}, "
            f"{describe_loss(data, loss)}. {count_beating(data['beats'][name]['count'])}."
        )
    said += [
        f"{CALLED.get(name, name)} is not among these policies ({why})."
        for name, why in data["absent"].items()
    ]
    if data.get("may_be_empty"):
        said.append(
            "Trees may have leaves without a record. A release then proves that some "
            "people are not in it, and new people may fall into leaves for which nothing "
            "was certified. The loss does not count this. The report on a release gives "
            "the numbers."
        )
    return Section("summary", "In short", (Prose(tuple(said)),), first=True)


def _frontier(data: Mapping[str, Any], audience: Audience) -> Section | None:
    if not data:
        return None
    shown = data["frontier"]
    risk, loss = shown["risk"], shown["loss"]
    axes = _axes(data)
    described = [
        f"policy {number}: {describe_matches(found)} re-identified, {axes[0]} {r:.4g}, "
        f"loss {share(x)}"
        for number, found, r, x in zip(shown["number"], shown["found"], risk, loss, strict=True)
    ]
    scores = {"chosen": data["chosen"]} if "chosen" in data else {}
    scores |= data["marks"]
    marks = tuple((CALLED.get(name, name), *own[:2]) for name, own in scores.items())
    chart = frontier_chart(
        {"frontier": shown},
        described,
        (axes[0], "100% = unprotected source"),
        (axes[1], "100% = no information"),
    )
    strips = _strips(data, audience)
    chart = replace(
        chart,
        marks=marks,
        floor=tuple(zip(*shown.get("floor", ()), strict=True)),
    )
    if "cuts" in shown:  # only newer releases have these details
        own = (Detail(_facts(axes, *one), strips.get(name, ())) for name, one in scores.items())
        chart = replace(chart, details=(*_details(shown, axes), *own))
    if len(risk) < data["policies"]:
        caption = (
            f"{data['policies']:,} policies that no other policy found beats in both risk and "
            f"loss, as scored by the fit. The chart shows {len(risk):,} of them, evenly spread."
        )
        chart = replace(chart, caption=caption)
    blocks = (chart, *_describe_measures(data), *_marks(data))
    return Section("frontier", "Risk-utility frontier", blocks)


def _details(shown: Mapping[str, Any], axes: tuple[str, str]) -> Iterator[Detail]:
    """Yield the figures of each policy in the chart, and its intervals of each column."""
    cuts = [_cuts(one) for one in shown["cuts"]]
    names = ("risk", "loss", "found", "largest", "suppressed")
    scores = zip(*(shown[name] for name in names), strict=True)
    for (*own, largest, suppressed), strips in zip(scores, zip(*cuts, strict=True), strict=True):
        more = (
            ("highest individual risk", share_and_odds(largest)),
            ("suppressed", share(suppressed)),
        )
        yield Detail((*_facts(axes, *own), *more), strips)


def _cuts(one: Mapping[str, Any]) -> list[Strip]:
    """Return the intervals of a column under each policy."""
    parts = [(label, width) for label, width in one["intervals"]]
    return [
        Strip(one["column"], tuple(parts[int(place)] for place in places.split()))
        for places in one["policies"]
    ]


def _facts(
    axes: tuple[str, str], risk: float, loss: float, matches: float
) -> tuple[tuple[str, str], ...]:
    return (
        ("expected to be re-identified", describe_matches(matches)),
        (axes[0], share(risk)),
        (axes[1], share(loss)),
    )


def _axes(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the axes, by the measures of the search."""
    return name_risk(data), name_measure(data, "loss")


def _describe_measures(data: Mapping[str, Any]) -> Iterator[Prose]:
    """Yield the formulas of risk and loss, if they are not the usual ones."""
    if is_default(data, "risk") and is_default(data, "loss"):
        return
    risk, loss = (data["measures"][kind]["formula"] for kind in ("risk", "loss"))
    said = (
        f"Risk in this chart: {name_measure(data, 'risk')} ({risk}). Loss: "
        f"{name_measure(data, 'loss')} ({loss})."
    )
    outcomes = data["outcomes"]
    yield Prose((said + (f" Outcomes: {join_names(outcomes)}." if outcomes else ""),))


def _marks(data: Mapping[str, Any]) -> Iterator[Heading | Bullets]:
    """Describe how each reference policy was made, for the internal report.

    The notes may name values that are absent from the release.
    """
    for name, notes in data["mark_notes"].items():
        if notes:
            yield Heading(f"How {CALLED.get(name, name)} was read for these columns", "internal")
            yield Bullets(tuple(notes), "internal")


def _beating(data: Mapping[str, Any]) -> Section | None:
    rows = [
        (
            f"{one['number']}: {describe_matches(one['found'])} re-identified, "
            f"{share(one['loss'])} lost",
            one["words"],
        )
        for beats in data.get("beats", {}).values()
        for one in beats["explained"]
    ]
    if not rows:
        return None
    grid = Grid(
        ("policy", "how it differs"),
        tuple(rows),
        (
            "Some of the policies that beat Safe Harbor in both risk and loss, chosen to "
            "differ as much as possible"
        ),
    )
    return Section("beats", "Policies that beat Safe Harbor", (grid,))


def _strips(data: Mapping[str, Any], audience: Audience) -> dict[str, tuple[Strip, ...]]:
    """Return how the chosen policy and the reference policies divide each column.

    A public report shows only the reference policies that are public in any case.
    """
    strips = data.get("strips", {})
    if audience == "public":
        strips = {name: cut for name, cut in strips.items() if name == "chosen"}
        strips |= data.get("public_strips", {}) if strips else {}
    return {
        name: tuple(
            Strip(s["column"], tuple((label, width) for label, width in s["intervals"]))
            for s in cuts
        )
        for name, cuts in strips.items()
    }


def _intervals(data: Mapping[str, Any], audience: Audience) -> Section | None:
    shown = tuple((CALLED.get(name, name), cuts) for name, cuts in _strips(data, audience).items())
    if not shown:
        return None
    caption = "The release does not distinguish values in one block of colour"
    chart = IntervalChart(shown, caption)
    said = (Prose((TREE.format(data["boxes"]),)),) if "boxes" in data else ()
    return Section("policy", "The policy, as intervals", (*said, chart))


def _codebook(public: Mapping[str, Any]) -> Section:
    groups = {c.column: len(c.entries) for c in read_codebook(public["policy"]).columns}
    rows = tuple(
        (
            c["column"],
            c["role"],
            c["what"],
            f"{groups[c['from']]}" if c.get("from") in groups else "–",
        )
        for c in public["columns"]
    )
    grid = Grid(
        ("column", "role", "in the release", "labels"), rows, "Treatment of each column", (3,)
    )
    return Section("codebook", "Codebook", (grid,))


def _sensitive(public: Mapping[str, Any]) -> list[str]:
    return [one["column"] for one in public["columns"] if one["role"] == "sensitive"]
