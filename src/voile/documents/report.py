"""The wing's part of the report: what is left, what it costs, what an attacker finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.documents.content import Content
from voile.documents.story import story_of
from voile.documents.theory import (
    Bound,
    Counts,
    bounds_of_run,
    deviation_of_dimension,
    theorem_1,
)
from voile.documents.words.features import CLASSES
from voile.evidence import Evidence, Rate
from voile.kit import Kit
from voile.release import Release
from voile.sections import (
    Audience,
    Bar,
    BarChart,
    Block,
    Bullets,
    Figure,
    Figures,
    FrontierChart,
    Grid,
    LineChart,
    Prose,
    Section,
    Series,
)
from voile.wording import listed, rate, share, share_of

DELTA = 0.05
RISK = "identifiers left (100% = nothing is removed)"
LOSS = "harmless tokens removed"
KINDS = {
    "mark": "marks",
    "X": "CAPITALS",
    "Xx": "Words with a capital",
    "x": "words in small letters",
    "0": "numbers",
    "mixed": "letters and numbers mixed",
    "other": "punctuation and signs",
}
LIMITS = (
    "Text tells people apart by what happened to them as well as by their names: rare diseases, "
    "events and places stay unless they were marked as identifiers.",
    "The figures hold for text like that of the fit. On other authors, years or forms more "
    "identifiers may be left: annotate some of it, and attack that.",
    "What the annotators missed was never learnt, and is counted as harmless.",
    "Marks tell that somebody stood there, and of which type; surrogates hide that, and make "
    "what was missed look made up, but link one person's documents.",
    "An attacker with better classifiers, or who knows the people, may find more than this one.",
)


def sections(
    subject: Kit | Release, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Say what a report shows of a kit or of a release; words of the text for the holder alone."""
    if isinstance(subject, Kit):
        story: Mapping[str, Any] = story_of(Content.of(subject), None)
        public: Mapping[str, Any] = {}
        private: Mapping[str, Any] = {}
    else:
        private = subject.private or {}
        story, public = private.get("story", {}), subject.public
    parts = [
        _summary(story, public, audience),
        _frontier(story),
        _passes(story, audience),
        _left(story, audience),
        _false(story, private),
        _context(story),
        *_evidence(evidence, audience),
        _theory(story),
        _codebook(public),
        Section("limits", "What this does not protect from", (Bullets(LIMITS),)),
    ]
    return tuple(part for part in parts if part is not None)


def _summary(story: Mapping[str, Any], public: Mapping[str, Any], audience: Audience) -> Section:
    said: list[str] = []
    shown: list[Figure] = []
    if public:
        figures = public["figures"]
        if "risk" in figures:
            shown.append(
                Figure(
                    "Identifiers left",
                    share(figures["risk"]),
                    "of those in annotated text, by classifiers that had not seen it",
                    _interval(story, audience),
                )
            )
        if "loss" in figures:
            shown.append(Figure("Harmless tokens removed", share(figures["loss"]), "of all"))
        if "published_tokens" in figures:
            shown.append(
                Figure("Published", share(figures["published_tokens"]), "of tokens, as they were")
            )
        asked = public["policy"]
        said.append(
            f"A missed identifier was taken to be worth {asked['miss_cost']:g} harmless tokens; "
            f"{asked['passes']} passes, each learning from what the ones before had left. "
            f"In the place of what was removed stands a {asked['replace']}."
        )
        if added := public["constraints"]["patterns"]:
            again = ["further mentions of a removed name"] * public["constraints"]["repeats"]
            said.append(f"Removed as well, and not in these figures: {listed([*added, *again])}.")
    if story:
        found = story["found"]
        alpha = share_of(found["identifiers"] / found["tokens"], found["tokens"], audience)
        said.append(
            f"Learnt from {found['documents']:,} documents of {found['subjects']:,} subjects: "
            f"{found['tokens']:,} tokens, {alpha} of them identifiers of "
            f"{len(found['labels'])} types ({found['stopped']}). "
            f"{len(story['frontier']['risk']):,} policies were found that no other beats."
        )
    blocks: list[Block] = [Figures(tuple(shown))] if shown else []
    return Section("summary", "In short", (*blocks, Prose(tuple(said))), first=True)


def _interval(story: Mapping[str, Any], audience: Audience) -> str:
    """Return the interval of the share left, as if each token stood alone."""
    chosen = story.get("chosen")
    if not chosen:
        return ""
    low, high = Rate(chosen["left"], story["found"]["identifiers"]).interval()
    return f"{share(low)} to {share(high)}"


def _frontier(story: Mapping[str, Any]) -> Section | None:
    if not story:
        return None
    shown = story["frontier"]
    described = tuple(
        f"policy {n}: a miss worth {cost:g}, {passes} passes, {share(risk)} of identifiers left, "
        f"{share(loss)} of harmless tokens removed"
        for n, cost, passes, risk, loss in zip(
            *(shown[name] for name in ("number", "miss_cost", "passes", "risk", "loss")),
            strict=True,
        )
    )
    chosen = story.get("chosen")
    marks = () if not chosen else (("chosen policy", chosen["risk"], chosen["loss"]),)
    chart = FrontierChart(
        tuple(shown["risk"]),
        tuple(shown["loss"]),
        described,
        marks,
        RISK,
        LOSS,
        f"{len(described):,} policies that no other found beats in both risk and loss.",
    )
    return Section("frontier", "Every sensible trade", (chart,))


def _passes(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what each pass added, and what the other learners would have done."""
    if not story.get("passes"):
        return None
    found, rows = story["found"], story["passes"]
    harmless = found["tokens"] - found["identifiers"]
    taken = [row for row in rows if row["taken"]]
    last = max(row["pass"] for row in rows)
    lines = tuple(
        (
            str(row["pass"]),
            row["learner"],
            "the attacker's rule" if row["attacker"] else f"by {row['decision']}",
            share_of(row["tp"] / found["identifiers"], found["identifiers"], audience),
            share_of(row["fp"] / max(harmless, 1), harmless, audience),
        )
        for row in {row["pass"]: row for row in taken}.values()
    )
    grid = Grid(
        ("pass", "learner", "removes", "identifiers removed", "harmless tokens removed"),
        lines,
        "What each pass added, out of fold",
        (3, 4),
    )
    ended = Prose(
        (
            f"Then pass {last} was tried: no learner's removals were worth what they cost."
            if not any(row["pass"] == last for row in taken)
            else "The number of passes asked for was reached.",
        )
    )
    return Section("passes", "What each pass added", (grid, ended, _learners(rows, found)))


def _learners(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> BarChart:
    groups = tuple(
        (
            f"pass {number}",
            tuple(
                Bar(row["learner"], row["tp"] / found["identifiers"])
                for row in rows
                if row["pass"] == number and not row["attacker"]
            ),
        )
        for number in sorted({row["pass"] for row in rows})
    )
    return BarChart(
        groups,
        "share of all identifiers",
        "What each learner would remove in each pass of what is left",
        "internal",
    )


def _left(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what is left of each type."""
    chosen, found = story.get("chosen"), story.get("found")
    if not chosen or not found:
        return None
    lines = tuple(
        (label, f"{total:,}", f"{left:,}", rate(Rate(left, total), "internal"))
        for label, total, left in zip(
            found["labels"], found["types"], chosen["left_by_type"], strict=True
        )
    )
    grid = Grid(
        ("type", "tokens", "left", "share left"), lines, "Left of each type", (1, 2, 3), "internal"
    )
    names = (
        ("published_tokens", "tokens"),
        ("published_sentences", "sentences"),
        ("published_documents", "documents"),
    )
    whole = Grid(
        ("published as they were", "share"),
        tuple((title, share(chosen[name])) for name, title in names),
        f"At most {share(1 - found['identifiers'] / found['tokens'])} of tokens can be: the rest "
        "are identifiers",
        (1,),
    )
    blocks: tuple[Block, ...] = (whole, grid)
    if chosen["found"] is not None:
        blocks = (*blocks, _inspected(chosen, audience))
    return Section("left", "What is left", blocks)


def _inspected(chosen: Mapping[str, Any], audience: Audience) -> Grid:
    left = chosen["left"]
    lines = tuple(
        (f"{inspections:,}", rate(Rate(min(found, inspections), inspections), audience))
        for inspections, found in zip(chosen["inspected"], chosen["found"], strict=True)
        if inspections
    )
    del left
    return Grid(
        ("inspections", "of them identifiers"),
        lines,
        "Found in the annotated text by the most accurate classifier that learnt from what was "
        "left of other subjects",
        (0, 1),
    )


def _false(story: Mapping[str, Any], private: Mapping[str, Any]) -> Section | None:
    """Show which harmless tokens were removed."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    total = max(sum(chosen["false_by_kind"]), 1)
    lines = tuple(
        (KINDS[kind], share(n / total))
        for kind, n in zip(CLASSES, chosen["false_by_kind"], strict=True)
        if n
    )
    kinds = Grid(("kind of token", "share"), lines, "Harmless tokens removed, by kind", (1,))
    words = Grid(
        ("token", "times"),
        tuple((one["word"], f"{one['removed']:,}") for one in chosen["false_words"]),
        "Harmless tokens removed most often; an allow-list keeps them",
        (1,),
        "internal",
    )
    who = Grid(
        ("removed by", "times"),
        tuple((by, f"{n:,}") for by, n in private.get("removed_by", {}).items()),
        "Who removed what of this release",
        (1,),
        "internal",
    )
    return Section("false-positives", "What was removed for nothing", (kinds, words, who))


def _context(story: Mapping[str, Any]) -> Section | None:
    """Show how far words left point to values removed; the words for the holder alone."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    said = Prose(
        (
            f"{share(chosen['context_share'])} of the values removed of a subject are pointed to "
            f"by a word left with that subject, by {chosen['context_rules']:,} rules that hold "
            "over subjects: who knows some can guess others. `apply --context` removes "
            "the words of these rules.",
        )
    )
    words = Bullets(tuple(chosen["context"]), "internal")
    return Section("context", "What the words around tell", (said, words))


def _evidence(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Section]:
    for heading in dict.fromkeys(one.heading for one in evidence):
        blocks: list[Block] = []
        for one in evidence:
            if one.heading == heading:
                blocks += [Prose((one.story,)), _findings(one, audience), Bullets(one.notes)]
                blocks += [_curves(one)] if one.curves else []
        yield Section(heading.replace(" ", "-"), heading.capitalize(), tuple(blocks))


def _findings(evidence: Evidence, audience: Audience) -> Grid:
    lines = tuple(
        (one.name, rate(one.rate, audience), rate(one.baseline, audience))
        for one in evidence.findings
    )
    title = f"{evidence.attack.capitalize()}: found, with 95% intervals"
    return Grid(("what", "found", "at random"), lines, title)


def _curves(evidence: Evidence) -> LineChart:
    lines = tuple(Series(c.name, c.x, c.y, c.low, c.high) for c in evidence.curves)
    first = evidence.curves[0]
    return LineChart(lines, first.x_name, first.y_name, evidence.attack, audience="internal")


def _theory(story: Mapping[str, Any]) -> Section | None:
    """Say what the theorems tell of this run, or why they do not apply."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    if chosen["attacker_tp"] is None or not chosen["optimum"]:
        why = (
            "The theorems do not apply: they speak of a local optimum, and this policy is not the "
            "end of its loop."
        )
        return Section("theory", "What is proved", (Prose((why,)),))
    bounds = _bounds(chosen, story["found"])
    said = Prose(
        (
            "For the annotated text as published, and the most accurate of the classifiers tried, "
            f"by its own rule ({chosen['attacker_learner']}): no pass of it would pay.",
        )
    )
    plain = Grid(
        ("statement", "", "verdict"),
        tuple((one.name, one.statement, _verdict(one)) for one in bounds),
    )
    told = Grid(
        ("statement", "this run"),
        tuple((one.name, one.verdict) for one in bounds),
        "In numbers",
        audience="internal",
    )
    return Section("theory", "What is proved", (said, plain, told))


def _bounds(chosen: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Put the run's own numbers into the lemmas and theorems, at 1% of tokens inspected."""
    cost = chosen["miss_cost"]
    attacker = Counts(*(chosen[f"attacker_{name}"] for name in ("tp", "fp", "tn", "fn")))
    added = [Counts(*counts) for counts in chosen["added"]]
    training, within = None, None
    if chosen["training"] is not None:
        training = Counts(*chosen["training"])
        within = deviation_of_dimension(DELTA, training.n, found["columns"])
    return (
        theorem_1(added, attacker, found["identifiers"], cost),
        *bounds_of_run(
            attacker, max(chosen["inspected"][1], 1), cost, training=training, within=within
        ),
    )


def _verdict(bound: Bound) -> str:
    if not bound.applies:
        return f"does not apply: {bound.reason}"
    if bound.vacuous:
        return f"vacuous: {bound.reason}"
    return "holds" if bound.holds else "does not hold"


def _codebook(public: Mapping[str, Any]) -> Section | None:
    if not public:
        return None
    rows = tuple((c["column"], c["role"], c["what"]) for c in public["columns"])
    grid = Grid(("column", "role", "in the release"), rows, "What became of each column")
    return Section("codebook", "Codebook", (grid,))
