"""The wing's fifth function: its parts of the report, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.evidence import Evidence
from voile.itemsets.content import Content
from voile.itemsets.story import story_of
from voile.kit import Kit
from voile.release import Release
from voile.sections import (
    Audience,
    Bar,
    BarChart,
    Bullets,
    Figure,
    Figures,
    Grid,
    LineChart,
    Prose,
    Section,
    Series,
    frontier_chart,
)
from voile.wording import rate, share, share_of

HEADINGS = ("singling out", "inference")
SIZES = ("1", "2 to 4", "5 to 10", "11 to 49", "50 to 199", "200 and more")
RISK = "risk, 1 / k (100% = somebody is alone with what she may know)"
LOSS = "use lost (100% = nothing left)"
LIMITS = (
    "An adversary who also knows what a person has not may find most people, whatever k is, "
    "unless absences were asked for: see the rows that nobody else's equals.",
    "The features were chosen by looking at the labels, so the choice itself tells something.",
    "Kept columns and the label stand beside the items, and can tell people apart as well.",
    "Rows added later can break what held: certify every release anew.",
    "Two releases of the same people with other features can be joined by what they share.",
)


def sections(
    subject: Kit | Release, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Say what a report shows of a kit or of a release.

    A public report names no feature that the release does not show, no rare itemset, and no
    count of people below 11.
    """
    if isinstance(subject, Kit):
        story: Mapping[str, Any] = story_of(Content.of(subject), None)
        public: Mapping[str, Any] = {}
    else:
        story = (subject.private or {}).get("story", {})
        public = subject.public
    parts = [
        _summary(story, public, audience),
        _frontier(story),
        _features(story),
        _groups(story, audience),
        *(_evidence(heading, evidence, audience) for heading in HEADINGS),
        _codebook(public),
        Section("limits", "What this does not protect from", (Bullets(LIMITS),)),
    ]
    return tuple(part for part in parts if part is not None)


def _knows(m: int | None, *, absences: bool) -> str:
    """Say what the adversary of the promise knows."""
    thing = "what a person has and has not" if absences else "what a person has"
    return thing if m is None else f"{thing}, {m} at most of all that"


def _summary(story: Mapping[str, Any], public: Mapping[str, Any], audience: Audience) -> Section:
    if not public:
        before, found = story["before"], story["found"]
        said = (
            f"{len(story['frontier']['risk']):,} policies were found that no other beats in both "
            f"risk and loss (method: {found['method']}, {found['stopped']}).",
            f"Published as they are, {before['features']:,} features leave "
            f"{share_of(before['unique_share'], before['subjects'], audience)} of the rows alone.",
        )
        return Section("summary", "In short", (Prose(said),), first=True)
    asked, figures = public["constraints"], public["figures"]
    features = sum(len(column["values"]) for column in public["policy"])
    knows = _knows(asked["m"], absences=asked["absences"])
    of = f"of {story['before']['features']:,} in the source" if story else "of the source's"
    shown = [
        Figure(
            "Promised",
            f"k = {asked['k']:,}",
            f"so many share whatever somebody knows of {knows}",
        ),
        Figure("Features published", f"{features:,}", of),
    ]
    if "loss" in figures:
        shown.append(Figure("Use lost", share(figures["loss"]), "0%: all features; 100%: none"))
    if "unique_share" in figures:
        shown.append(
            Figure(
                "Alone when absences are known",
                share(figures["unique_share"]),
                "of rows are nobody else's, for somebody who knows all of them",
            )
        )
    if (story.get("chosen") or {}).get("auc_svm") is not None:
        shown.append(_classifies(story["chosen"], story["before"]))
    blocks: list[Any] = [Figures(tuple(shown))]
    if story.get("chosen"):
        blocks.append(Prose(_chosen(story)))
    return Section("summary", "In short", tuple(blocks), first=True)


def _classifies(chosen: Mapping[str, Any], before: Mapping[str, Any]) -> Figure:
    """Say how well a support vector machine tells the classes apart, with its interval."""
    low, high = (chosen[f"auc_svm_{end}"] for end in ("low", "high"))
    beside = "" if before.get("auc_svm") is None else f"; with all features {before['auc_svm']:.3f}"
    return Figure(
        "Classifies, AUC",
        f"{chosen['auc_svm']:.3f}",
        f"{low:.3f} to {high:.3f}, by linear support vectors, cross-validated{beside}",
    )


def _chosen(story: Mapping[str, Any]) -> tuple[str, ...]:
    chosen, found = story["chosen"], story["found"]
    return (
        f"The features were chosen for {found['utility']} (method: {found['method']}, "
        f"{found['stopped']}). {_proved(chosen['utility'], chosen['bound'])}",
        f"Left out: {chosen['blocked']:,} features that some rare itemset keeps out, "
        f"{chosen['rare']:,} that too few have alone, {chosen['worthless']:,} that are worth "
        f"nothing, {chosen['absent']:,} that nobody has.",
    )


def _proved(utility: float, bound: float) -> str:
    """Say how far the features chosen are from the best there can be.

    >>> _proved(2.0, 2.5)
    'Proved: nothing that may be shared at this k is worth over 25% more.'
    """
    if bound <= utility * (1 + 1e-9):
        return "No set is worth more."
    if not utility:
        return "They are worth nothing by it."
    more = share(bound / utility - 1)
    return f"Proved: nothing that may be shared at this k is worth over {more} more."


def _frontier(story: Mapping[str, Any]) -> Section | None:
    if not story:
        return None
    shown = story["frontier"]
    described = tuple(
        f"policy {n}: k = {k:,}, {features:,} features, loss {share(loss)}"
        + ("" if auc is None else f", AUC {auc:.3f}")
        for n, k, features, loss, auc in zip(
            *(shown[name] for name in ("number", "k", "features", "loss")),
            shown.get("auc_svm", [None] * len(shown["k"])),
            strict=True,
        )
    )
    chart = frontier_chart(story, described, RISK, LOSS)
    return Section("frontier", "Every sensible trade", (chart,))


def _features(story: Mapping[str, Any]) -> Section | None:
    """Name the features kept, and for the holder alone what was left out, and why."""
    if not story.get("chosen"):
        return None
    kept = Grid(
        ("feature", "subjects", "worth"),
        tuple(
            (name, f"{support:,}", "–" if weight is None else f"{weight:.4g}")
            for name, support, weight in story["kept"]
        ),
        "Features published, those worth most first",
        (1, 2),
        "internal",
    )
    left = Grid(
        ("left out", "worth", "the rare itemset that keeps it out", "subjects"),
        tuple(
            (
                one["feature"],
                f"{one['worth']:.4g}",
                _itemset(one["itemset"], one["present"]),
                f"{one['support']:,}",
            )
            for one in story["blocked"]
        ),
        "Left out though worth most, and why",
        (1, 3),
        "internal",
    )
    plain = Prose(
        (
            "A feature is left out when, together with those published, it would make an itemset "
            "that occurs for too few; the data holder's own report names them.",
        )
    )
    return Section("features", "Features kept and left out", (plain, kept, left))


def _groups(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show how many people share what somebody may know, before and after."""
    if not story:
        return None
    before, chosen = story["before"], story.get("chosen")
    told = [("before", before)] + ([("after", chosen)] if chosen else [])
    groups = tuple(
        (size, tuple(Bar(name, shares["sizes"][x]) for name, shares in told))
        for x, size in enumerate(SIZES)
    )
    chart = BarChart(
        groups,
        "share of rows",
        "By how many people have all that a row has: larger is safer",
        "internal",
    )
    rows = tuple(
        (
            title,
            *(share_of(shares[name], shares["subjects"], audience) for _, shares in told),
        )
        for title, name in (
            ("rows that nobody else's equals", "unique_share"),
            ("rows of which nothing is left", "empty_share"),
        )
    )
    columns = ("what", *(name for name, _ in told))
    grid = Grid(columns, rows, "Before and after")
    return Section("groups", "How many look alike", (grid, _least(columns, told), chart))


def _least(columns: tuple[str, ...], told: Sequence[tuple[str, Mapping[str, Any]]]) -> Grid:
    """Show how few share at the least, of all rows."""
    names = {
        "anonymity": "people who share whatever the promise's adversary may know",
        "exact_anonymity": "people with one and the same row",
        "label_diversity": "labels among those who have all that a row has",
    }
    rows = tuple(
        (title, *(f"{shares[name]:,}" for _, shares in told))
        for name, title in names.items()
        if all(shares.get(name) is not None for _, shares in told)
    )
    numeric = tuple(range(1, len(columns)))
    return Grid(columns, rows, "The least there are of any row", numeric, "internal")


def _evidence(heading: str, evidence: Sequence[Evidence], audience: Audience) -> Section | None:
    told = [one for one in evidence if one.heading == heading]
    if not told:
        return None
    blocks: list[Any] = []
    said: dict[str, None] = {}
    for one in told:
        new = [line for line in (*_meanings(one), *one.notes) if line not in said]
        said |= dict.fromkeys(new)
        blocks += [Prose((one.story,)), _findings(one, audience)]
        blocks += [Bullets(tuple(new))] if new else []
        blocks += _charts(one)
    return Section(heading.replace(" ", "-"), heading.capitalize(), tuple(blocks))


def _charts(evidence: Evidence) -> Iterator[LineChart]:
    """Draw the curves of each unit; not those that never leave zero, as the table says."""
    for unit in dict.fromkeys(curve.y_name for curve in evidence.curves):
        curves = [curve for curve in evidence.curves if curve.y_name == unit]
        if any(any(curve.y) for curve in curves):
            lines = tuple(Series(c.name, c.x, c.y, c.low, c.high) for c in curves)
            yield LineChart(lines, curves[0].x_name, unit, audience="internal")


def _findings(evidence: Evidence, audience: Audience) -> Grid:
    """Show what was found by what she knows, a row each, without columns that would stand empty."""
    found = {_parted(f.name): f for f in evidence.findings}
    known = list(dict.fromkeys(knows for _, knows in found))
    columns = [("what she knows", known)]
    for kind in dict.fromkeys(kind for kind, _ in found):
        for name, title in (("rate", kind), ("baseline", "baseline"), ("control", "control")):
            rates = [getattr(found.get((kind, knows)), name, None) for knows in known]
            if any(one is not None for one in rates):
                columns.append((title, [rate(one, audience) for one in rates]))
    titles, cells = zip(*columns, strict=True)
    return Grid(titles, tuple(zip(*cells, strict=True)), "Found, with 95% intervals")


def _parted(name: str) -> tuple[str, str]:
    """Part a finding's name into what is found and what she knows."""
    kind, _, knows = name.partition(", ")
    return kind, knows


def _meanings(evidence: Evidence) -> Iterator[str]:
    """Explain each kind of finding once, or for each thing known where that differs."""
    told: dict[str, dict[str, str]] = {}
    for finding in evidence.findings:
        kind, knows = _parted(finding.name)
        told.setdefault(kind, {})[f"{kind}, {knows}"] = finding.meaning
    for kind, meanings in told.items():
        (meaning, *more) = set(meanings.values())
        for title, text in (meanings if more else {kind: meaning}).items():
            yield f"{title[0].upper()}{title[1:]}: {text[0].lower()}{text[1:]}"


def _codebook(public: Mapping[str, Any]) -> Section | None:
    if not public:
        return None
    values = {column["column"]: len(column["values"]) for column in public["policy"]}
    rows = tuple(
        (
            c["column"],
            c["role"],
            c["what"],
            f"{values[c['column']]:,}" if c["column"] in values else "",
        )
        for c in public["columns"]
    )
    grid = Grid(
        ("column", "role", "in the release", "features"), rows, "What became of each column", (3,)
    )
    return Section("codebook", "Codebook", (grid,))


def _itemset(names: Sequence[str], present: Sequence[bool]) -> str:
    """Write what a row has and has not.

    >>> _itemset(["tea", "milk"], [True, False])
    'tea, not milk'
    """
    return ", ".join(n if has else f"not {n}" for n, has in zip(names, present, strict=True))
