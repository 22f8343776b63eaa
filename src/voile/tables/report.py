"""The wing's fifth function: its parts of the report, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.evidence import Evidence, Rate
from voile.kit import Kit
from voile.release import Release
from voile.sections import (
    Audience,
    Bar,
    BarChart,
    Figure,
    Figures,
    FrontierChart,
    Grid,
    IntervalChart,
    LineChart,
    Prose,
    Section,
    Series,
    Strip,
)
from voile.tables.content import Content
from voile.tables.story import story_of
from voile.tables.wording import CALLED, FEW, about, one_in, people, share, three_sentences

HEADINGS = ("singling out", "linkability", "inference")
LIMITS = (
    "The figures hold for the quasi-identifiers named here. Columns that are kept can identify "
    "people too; the share of people whom all released columns together tell apart is shown.",
    "The population is taken as known without error. Where it was fitted or estimated, its "
    "assumptions are listed, and the risk is as uncertain as they are.",
    "An adversary who knows more than was assumed, or who knows that a person is in the release, "
    "does better than these figures say; see prosecutor risk.",
    "Sensitive values inside a group that all share are told to whoever knows the group.",
    "A second release of the same people, under another policy, can be intersected with this one.",
    "This is Safe Harbor's generalisation of these columns at most, not the whole of any law.",
)


def sections(
    subject: Kit | Release, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Say what a report shows of a kit or of a release.

    A public report holds no count of people below 11 and nothing that the release does not show:
    other policies' intervals and small counts are for the internal one.
    """
    if isinstance(subject, Kit):
        story: Mapping[str, Any] = story_of(Content.of(subject), None)
        parts = [_kit_summary(story), _frontier(story), _beaten(story), _intervals(story)]
        parts += [_risks(story, {}, audience), _limits()]
        return tuple(part for part in parts if part is not None)
    private = subject.private or {}
    story = private.get("story", {})
    figures = {**subject.public["figures"], **private.get("figures", {})}
    parts = [
        _summary(story, figures, private, audience),
        _frontier(story),
        _beaten(story),
        _intervals(story),
        _risks(story, figures, audience),
        *(_evidence(heading, evidence, audience) for heading in HEADINGS),
        _codebook(subject.public),
        _limits(),
    ]
    return tuple(part for part in parts if part is not None)


def _summary(
    story: Mapping[str, Any],
    figures: Mapping[str, float],
    private: Mapping[str, Any],
    audience: Audience,
) -> Section:
    if not story:
        short = (
            Figure("Average risk", one_in(figures["mean_risk"]), "of naming a record rightly"),
            Figure("Largest risk", one_in(figures["max_risk"]), "of any one record"),
            Figure("Information lost", share(figures["loss"]), "of what the columns tell"),
        )
        return Section("summary", "In short", (Figures(short),), first=True)
    how = private["chosen"]["how"]
    risk, loss = story["chosen"]
    matches = risk * story["matches"]
    shown = (
        Figure(
            "Could be found",
            f"{about(matches)} people",
            f"expected, of {story['subjects']:,.0f}; {about(story['matches'])} without protection",
        ),
        Figure("Most exposed record", one_in(figures["max_risk"]), "chance of naming it rightly"),
        Figure("Information lost", share(loss), "0% is the source as it is, 100% is nothing left"),
        Figure(
            "Told apart by all columns",
            share(_of(figures.get("unique_with_kept", 0.0), story["subjects"])),
            "of people are alone in the release once its kept columns are read as well",
        ),
    )
    decided = (
        f"Against whom: somebody who has the population ({story['population']}) by "
        "these columns, and looks up every record.",
        f"Who decided: the data holder chose this policy ({how}).",
    )
    counts = private["counts"]
    rows = tuple(
        (name.replace("_", " "), f"{counts[name]:,}")
        for name in ("read", "released", "set_aside", "suppressed", "held_out")
    )
    ledger = Grid(("rows", "number"), rows, "What became of every row", (1,), "internal")
    blocks = (
        Prose(three_sentences(story, how)),
        Figures(shown),
        Prose(decided),
        ledger,
    )
    return Section("summary", "In short", blocks, first=True)


def _of(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole else 0.0


def _kit_summary(story: Mapping[str, Any]) -> Section:
    search = story["search"]
    said = [
        f"{story['policies']:,} policies were found that no other of {search['evaluations']:,} "
        f"beats in both risk and loss (search: {search['strategy']}, {search['stopped']}).",
        f"Published as it is, the source would let about {about(story['matches'])} of "
        f"{story['subjects']:,.0f} people be named rightly by somebody who has the population.",
    ]
    for name, (risk, loss) in story["marks"].items():
        said.append(
            f"{CALLED.get(name, name)} leaves {about(risk * story['matches'])} such people and "
            f"loses {share(loss)} of the information; {story['beats'][name]['count']:,} policies "
            "beat it in both."
        )
    return Section("summary", "In short", (Prose(tuple(said)),), first=True)


def _frontier(story: Mapping[str, Any]) -> Section | None:
    if not story:
        return None
    shown = story["frontier"]
    risk, loss = shown["risk"], shown["loss"]
    described = tuple(
        f"policy {number}: about {about(r * story['matches'])} people found, "
        f"relative risk {r:.4g}, loss {share(x)}"
        for number, r, x in zip(shown["number"], risk, loss, strict=True)
    )
    marks = [(CALLED.get(name, name), *scores) for name, scores in story["marks"].items()]
    if "chosen" in story:
        marks.append((CALLED["chosen"], *story["chosen"]))
    chart = FrontierChart(
        tuple(risk),
        tuple(loss),
        described,
        tuple((name, r, x) for name, r, x in marks),
        "relative risk (1 = source untouched)",
        "information lost (1 = nothing left)",
        f"{story['policies']:,} policies that no other found beats in both"
        + (
            f"; {len(risk):,} of them, evenly spread, are drawn."
            if len(risk) < story["policies"]
            else "."
        ),
    )
    notes = tuple(note for said in story["mark_notes"].values() for note in said)
    return Section("frontier", "Every sensible trade", (chart, *((Prose(notes),) if notes else ())))


def _beaten(story: Mapping[str, Any]) -> Section | None:
    rows = [
        (
            f"{found['number']}",
            f"{about(found['risk'] * story['matches'])}",
            share(found["loss"]),
            found["words"],
        )
        for beats in story.get("beats", {}).values()
        for found in beats["explained"]
    ]
    if not rows:
        return None
    grid = Grid(
        ("policy", "people found", "lost", "how it differs"),
        tuple(rows),
        "Policies that beat Safe Harbor's generalisation in both, the most different ones",
        (0, 1, 2),
    )
    return Section("beats", "What beats Safe Harbor", (grid,))


def _intervals(story: Mapping[str, Any]) -> Section | None:
    if not story.get("strips"):
        return None
    charts = []
    for name, strips in story["strips"].items():
        policy = (
            CALLED.get(name, name),
            tuple(
                Strip(s["column"], tuple((label, width) for label, width in s["intervals"]))
                for s in strips
            ),
        )
        audience: Audience = "public" if name == "chosen" else "internal"
        charts.append(IntervalChart((policy,), audience=audience))
    return Section("policy", "The policy, as intervals on each domain", tuple(charts))


ROWS = (
    ("expected_matches", "people expected to be named rightly"),
    ("mean_risk", "average risk of a record"),
    ("max_risk", "largest risk of a record"),
    ("share_under_11", "people in population groups under 11"),
    ("k", "smallest group in the release (k)"),
    ("k_map", "smallest group in the population"),
    ("sample_uniques", "people alone in their group of the release"),
    ("population_uniques", "people alone in their group of the population"),
    ("prosecutor_max", "largest risk when known to be in the release"),
    ("prosecutor_mean", "average risk when known to be in the release"),
    ("discernibility", "discernibility"),
    ("unique_with_kept", "people alone once kept columns are read"),
)
SHARES = {"mean_risk", "max_risk", "share_under_11", "prosecutor_max", "prosecutor_mean"}
COUNTS = {"sample_uniques", "population_uniques", "unique_with_kept"}


def _risks(
    story: Mapping[str, Any], figures: Mapping[str, float], audience: Audience
) -> Section | None:
    before, after = story.get("before", {}), figures or story.get("after", {})
    if not before:
        return None

    def cell(name: str, value: float | None) -> str:
        if value is None:
            return ""
        if name in SHARES:
            return share(value)
        if name in COUNTS:
            return people(value, audience)
        return about(value) if name == "expected_matches" else f"{value:,.0f}"

    rows = tuple(
        (title, cell(name, before.get(name)), *((cell(name, after.get(name)),) if after else ()))
        for name, title in ROWS
        if name in before or name in after
    )
    extra = tuple((name, "", f"{value:.3g}") for name, value in after.items() if "(" in name)
    columns = ("measure", "source", "release") if after else ("measure", "source")
    blocks: list[Any] = [
        Grid(columns, rows + extra, "Risk before and after", (1, 2)[: len(columns) - 1])
    ]
    if after:
        groups = tuple(
            (title, (Bar("source", before[name]), Bar("release", after[name])))
            for name, title in ROWS
            if name in SHARES and name in before and name in after
        )
        blocks.append(BarChart(groups, "share", "The same, as shares"))
    blocks.append(Prose((f"The population is {story['population']}.", *story["assumptions"])))
    for when in ("source", "release"):
        if story.get(f"uniques_{when}"):
            blocks.append(Prose((_estimated(when, story[f"uniques_{when}"], audience),)))
    return Section("risk", "Risk before and after", tuple(blocks))


def _estimated(when: str, estimate: Sequence[float], audience: Audience) -> str:
    value, low, high = (people(x, audience) for x in estimate)
    return (
        f"By the {when}'s columns, {value} people are estimated to be alone in the population "
        f"({low} to {high}, for which records happened to be drawn; the model may err by more)."
    )


def _evidence(heading: str, evidence: Sequence[Evidence], audience: Audience) -> Section | None:
    found = [e for e in evidence if e.heading == heading]
    if not found:
        return None
    blocks: list[Any] = []
    for e in found:
        blocks.append(Prose((e.story,)))
        rows = tuple(
            (
                f.name,
                _rate(f.rate, audience),
                _rate(f.baseline, audience),
                _rate(f.control, audience),
            )
            for f in e.findings
        )
        blocks.append(
            Grid(("what", "found", "baseline", "control"), rows, f"Attack: {e.attack}", (1, 2, 3))
        )
        meanings = tuple(dict.fromkeys(f.meaning for f in e.findings if f.meaning))
        blocks.append(Prose((*meanings, *e.notes)))
        for curve in e.curves:
            series = Series(curve.name, curve.x, curve.y, curve.low, curve.high)
            blocks.append(LineChart((series,), curve.x_name, curve.y_name, audience="internal"))
    return Section(heading.replace(" ", "-"), heading.capitalize(), tuple(blocks))


def _rate(rate: Rate | None, audience: Audience) -> str:
    if rate is None:
        return ""
    if rate.trials == 0:
        return "nothing to try"
    low, high = rate.interval()
    if audience == "public" and (0 < rate.trials < FEW or 0 < rate.successes < FEW):
        return f"at most {share(max(high, min(FEW / rate.trials, 1.0)))}"
    return (
        f"{share(rate.value)} ({share(low)} to {share(high)}; "
        f"{rate.successes:,} of {rate.trials:,})"
    )


def _codebook(public: Mapping[str, Any]) -> Section:
    groups = {c["column"]: len(c["entries"]) for c in public["policy"]}
    rows = tuple(
        (c["column"], c["role"], c["what"], f"{groups[c['from']]}" if c["from"] in groups else "")
        for c in public["columns"]
    )
    grid = Grid(("column", "role", "in the release", "groups"), rows, "Codebook", (3,))
    return Section("codebook", "Codebook", (grid,))


def _limits() -> Section:
    return Section("limits", "What this does not protect from", (Prose(LIMITS),))
