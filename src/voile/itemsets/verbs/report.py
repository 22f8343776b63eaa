"""The wing's sections of the report, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence
from voile.core.rounding import for_audience, rounded
from voile.itemsets.verbs.content import Content
from voile.itemsets.verbs.report_data import STATING, story_of
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import (
    Audience,
    Bar,
    BarChart,
    Bullets,
    Figure,
    Figures,
    Grid,
    Prose,
    Section,
    frontier_chart,
)
from voile.report.suppression import is_few
from voile.report.wording import share, share_of

SIZES = ("1", "2 to 4", "5 to 10", "11 to 49", "50 to 199", "200 and more")
RISK = "risk, 1 / k", "100% = somebody is alone with what an adversary may know"
LOSS = "use lost", "100% = nothing left"
LIMITS = (
    "An adversary who also knows which items a person lacks may find most people, whatever k is, "
    "unless absences were asked for: see the share of unique rows.",
    "The features were chosen by looking at the labels, so the choice itself reveals something.",
    "Kept columns and the label stand beside the items, and can distinguish people as well.",
    "Rows added later can break what held: certify every release anew.",
    "Two releases of the same people with other features can be joined by what they share.",
)


def sections(
    subject: Kit | Release, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Return the sections on a kit or on a release.

    A public report names no feature that the release does not show, no rare itemset, and no
    count of people below 11.
    """
    if isinstance(subject, Kit):
        found = story_of(Content.of(subject), None)
        story: Mapping[str, Any] = for_audience(found, audience, STATING)
        public: Mapping[str, Any] = {}
        counted: Mapping[str, Any] = {}
    else:
        private = subject.private or {}
        story = for_audience(private.get("story", {}), audience, STATING)
        counted = for_audience(private.get("figures", {}), audience, STATING)
        public = subject.public
    parts = [
        _summary(story, public, counted, audience),
        _frontier(story),
        _features(story),
        _groups(story, audience),
        *evidence_sections(evidence, audience),
        _codebook(public),
        Section("limits", "What this does not protect from", (Bullets(LIMITS),)),
    ]
    return tuple(part for part in parts if part is not None)


def _knows(m: int | None, *, absences: bool) -> str:
    thing = "the items that a person has and lacks" if absences else "the items that a person has"
    return thing if m is None else f"{thing}, {m} at most of all that"


def _summary(
    story: Mapping[str, Any],
    public: Mapping[str, Any],
    counted: Mapping[str, Any],
    audience: Audience,
) -> Section:
    if not public:
        before, found = story["before"], story["found"]
        said = (
            f"{len(story['frontier']['risk']):,} policies were found that no other beats in both "
            f"risk and loss (method: {found['method']}, {found['stopped']}).",
            f"Published as they are, {before['features']:,} features leave "
            f"{share_of(before['unique_share'], before['subjects'], audience)} of the rows unique.",
        )
        return Section("summary", "In short", (Prose(said),), first=True)
    asked, figures = public["constraints"], public["figures"]
    features = sum(len(column["values"]) for column in public["policy"])
    of = f"of {story['before']['features']:,} in the source" if story else "of the source's"
    shown = [
        _least_shared(asked, counted, audience),
        Figure("Features published", f"{features:,}", of),
    ]
    if "loss" in figures:
        shown.append(Figure("Use lost", share(figures["loss"]), "0%: all features; 100%: none"))
    if "unique_share" in figures:
        shown.append(
            Figure(
                "Unique rows",
                share(figures["unique_share"]),
                "of rows, for an adversary who knows all items that a person has and lacks",
            )
        )
    told = audience == "internal"  # one row more or less draws other folds, and another AUC
    if told and (story.get("chosen") or {}).get("auc_svm") is not None:
        shown.append(_classifies(story["chosen"], story["before"]))
    blocks: list[Any] = [Figures(tuple(shown))]
    if story.get("chosen"):
        blocks.append(Prose(_chosen(story)))
    return Section("summary", "In short", tuple(blocks), first=True)


def _least_shared(
    asked: Mapping[str, Any], counted: Mapping[str, Any], audience: Audience
) -> Figure:
    """Report the k that the release reaches; to the public the one promised where that is few."""
    k, reached = asked["k"], int(counted.get("anonymity", 0))
    knows = _knows(asked["m"], absences=asked["absences"])
    shared = f"people at least share whatever an adversary knows of {knows}"
    if reached <= k or (audience == "public" and is_few(reached)):
        return Figure("Promised", f"k = {k:,}", shared)
    return Figure("Reached", f"k = {reached:,}", f"{shared}; k = {k:,} was promised")


def _classifies(chosen: Mapping[str, Any], before: Mapping[str, Any]) -> Figure:
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
        f"Features left out: {chosen['blocked']:,} by some rare itemset, {chosen['rare']:,} too "
        f"rare by themselves, {chosen['worthless']:,} without use, {chosen['absent']:,} that no "
        "row has.",
    )


def _proved(utility: float, bound: float) -> str:
    """State the optimality gap of the features chosen.

    >>> _proved(2.0, 2.5)
    'Optimality gap: at most 25%. No set that meets this k is proved to be better by more.'
    """
    if bound <= utility * (1 + 1e-9):
        return "No set is worth more."
    if not utility:
        return "They are worth nothing by it."
    more = share(rounded(bound / utility - 1, "up"))
    return f"Proved: nothing that may be shared at this k is worth over {more} more."


def _frontier(story: Mapping[str, Any]) -> Section | None:
    if not story:
        return None
    shown = story["frontier"]
    described = tuple(
        f"policy {n}: k = {_reached(asked, round(1 / risk))}, {features:,} features, "
        f"loss {share(loss)}" + ("" if auc is None else f", AUC {auc:.3f}")
        for n, asked, risk, features, loss, auc in zip(
            *(shown[name] for name in ("number", "k", "risk", "features", "loss")),
            shown.get("auc_svm", [None] * len(shown["k"])),
            strict=True,
        )
    )
    chart = frontier_chart(story, described, RISK, LOSS)
    return Section("frontier", "Risk-utility frontier", (chart,))


def _reached(asked: int, reached: int) -> str:
    """Write the k that a policy reaches, and the one that was asked for where it is another.

    >>> _reached(11, 14), _reached(11, 11)
    ('14 (11 asked for)', '11')
    """
    return f"{reached:,}" + f" ({asked:,} asked for)" * (reached != asked)


def _features(story: Mapping[str, Any]) -> Section | None:
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
            ("unique rows", "unique_share"),
            ("rows of which nothing is left", "empty_share"),
        )
    )
    columns = ("what", *(name for name, _ in told))
    grid = Grid(columns, rows, "Before and after")
    return Section("groups", "How many look alike", (grid, _least(columns, told), chart))


def _least(columns: tuple[str, ...], told: Sequence[tuple[str, Mapping[str, Any]]]) -> Grid:
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
    """Write which items a row has and lacks.

    >>> _itemset(["tea", "milk"], [True, False])
    'tea, not milk'
    """
    return ", ".join(n if has else f"not {n}" for n, has in zip(names, present, strict=True))
