"""The wing's part of the report: what is left, what it costs, what an attacker finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence, Rate
from voile.core.rounding import for_audience
from voile.documents.context import is_context
from voile.documents.learning.quantities import AS_LEFT, ONE_PERCENT
from voile.documents.verbs.content import Content
from voile.documents.verbs.report_data import IN_SAMPLE, STATING, judged_on, report_data
from voile.documents.verbs.report_headline import headline_figures, left_at_fit
from voile.documents.verbs.report_passes import passes_section
from voile.documents.verbs.report_theory import theory_section
from voile.documents.words.features import CLASSES
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import (
    Audience,
    Block,
    Bullets,
    Figures,
    Grid,
    Prose,
    Section,
    codebook,
    frontier_chart,
)
from voile.report.suppression import FEW
from voile.report.wording import (
    listed,
    needs_suppression,
    rate,
    rest_needs_suppression,
    share,
    share_of,
    size,
)

RISK = "identifiers left", "100% = nothing is removed"
RISK_AT_MOST = "identifiers left, at most", "100% = nothing is removed"
LOSS = "harmless tokens removed", ""
MEASURED = {
    True: "Each policy is a committee, and every mention of a name that it removed in the same "
    "document; patterns and lists remove more.",
    False: "Each policy is a committee alone; patterns and lists remove more.",
}
INTERVALS = (
    "The 95% intervals count subjects, or else documents, since the identifiers of one are not "
    "independent: Wilson's with a design effect."
)
KINDS = {
    "mark": "marks",
    "X": "CAPITALS",
    "Xx": "Words with a capital",
    "x": "words in small letters",
    "0": "numbers",
    "mixed": "letters and numbers mixed",
    "other": "punctuation and signs",
}
OF_CONTEXT = (
    "Words that tell of an identifier were learnt as types of their own, CONTEXT_...: in these "
    "figures they count as harmless tokens, not as identifiers."
)
MOST_WORDS = 15
PUTS = {"mark": "a mark", "category": "a mark of its category", "surrogate": "a made-up value"}
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
        found = report_data(Content.of(subject), None)
        story: Mapping[str, Any] = for_audience(found, audience, STATING)
        public: Mapping[str, Any] = {}
        private: Mapping[str, Any] = {}
    else:
        private = for_audience(subject.private or {}, audience, STATING)
        story, public = private.get("story", {}), subject.public
    parts = [
        _summary(story, public, evidence, audience),
        _frontier(story, audience),
        passes_section(story, audience),
        _left(story, audience),
        _false(story, private, audience),
        _context(story),
        *evidence_sections(evidence, audience),
        theory_section(story),
        codebook(public["columns"]) if public else None,
        Section("limits", "What this does not protect from", (Bullets(LIMITS),)),
    ]
    return tuple(part for part in parts if part is not None)


def _summary(
    story: Mapping[str, Any],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
    audience: Audience,
) -> Section:
    blocks: list[Block] = []
    said: list[str] = []
    if public:
        shown = tuple(headline_figures(story, public["figures"], evidence, audience))
        blocks += [Figures(shown)] if shown else []
        said += _policy(public)
    if any(IN_SAMPLE in one.notes for one in evidence):
        said.append(IN_SAMPLE.text)
    if story:
        found = story["found"]
        alpha = share_of(found["identifiers"] / found["tokens"], found["tokens"], audience)
        context = is_context(found["labels"])
        halted = "; the fit was interrupted" * (found["stopped"] == "interrupted")
        documents, subjects = (
            _counted(found[f"{one}s"], one, audience) for one in ("document", "subject")
        )
        said.append(
            f"Learnt from {documents} of {subjects}: {found['tokens']:,} tokens, {alpha} of them "
            f"identifiers of {_many(int((~context).sum()), 'type')}{halted}."
        )
        said += _lists(story.get("lists", {}), audience)
        if context.any():
            said.append(OF_CONTEXT)
    return Section("summary", "In short", (*blocks, Prose(tuple(said))), first=True)


def _policy(public: Mapping[str, Any]) -> list[str]:
    """Say what was asked for and done."""
    asked, also = public["policy"], public["constraints"]
    passes = _many(asked["passes"], "pass", "passes")
    learning = ", each learning from what the ones before had left" * (asked["passes"] > 1)
    said = [
        f"A missed identifier was taken to be worth {asked['miss_cost']:g} harmless tokens; "
        f"{passes}{learning}. In the place of what was removed stands {PUTS[asked['replace']]}."
    ]
    patterns = also["patterns"]
    mentions = "Further mentions of a removed name in its document are removed as well"
    again = []
    if also["repeats_in_figures"]:
        said.append(f"{mentions}, and are in these figures.")
    elif also["repeats"]:
        again = ["further mentions of a removed name"]
    if patterns:
        again.insert(0, f"what patterns find ({', '.join(patterns)})")
    again += ["words that point to removed values"] * also.get("context", False)
    again += ["what a list of the holder's names"] * also.get("deny_list", False)
    if also.get("allow_list"):
        said.append("What an allow-list of the holder's names was left, whatever found it.")
    if again:
        said.append(f"Removed as well, and not in these figures: {' and '.join(again)}.")
    return said


def _lists(lists: Mapping[str, int], audience: Audience) -> list[str]:
    """Say which lists the learners were told of; what the holder called them is for the holder."""
    if not lists:
        return []
    called = listed([f"{name} ({_many(size, 'word')})" for name, size in lists.items()])
    names = f": {called}" * (audience == "internal")
    return [
        f"The learners were told which words are on {_many(len(lists), 'list')} of the "
        f"holder's{names}."
    ]


def _many(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _counted(number: int, one: str, audience: Audience) -> str:
    """Count documents or people."""
    return f"{size(number, audience)} {one}{'s' * (number != 1)}"


def _frontier(story: Mapping[str, Any], audience: Audience) -> Section | None:
    if not story:
        return None
    shown, whole = story["frontier"], story["found"]["identifiers"]
    rows = [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
    described = tuple(_described(row, whole, audience) for row in rows)
    drawn = _drawn(story, audience)
    risk = RISK if drawn["frontier"] == shown else RISK_AT_MOST
    chart = frontier_chart(drawn, described, risk, LOSS)
    said = Prose((MEASURED[story["repeats"]], INTERVALS))
    return Section("frontier", "Risk-utility frontier", (said, chart))


def _described(row: Mapping[str, Any], whole: int, audience: Audience) -> str:
    """Say of a policy what it leaves, with its interval, and what it costs."""
    left, interval = left_at_fit(row, whole, audience)
    within = f" ({interval})" if interval else ""
    return (
        f"policy {row['number']}: a miss worth {row['miss_cost']:g}, "
        f"{_many(row['passes'], 'pass', 'passes')}, {left}{within} of identifiers left, "
        f"{share(row['loss'])} of harmless tokens removed"
    )


def _drawn(story: Mapping[str, Any], audience: Audience) -> Mapping[str, Any]:
    """Return the story with no risk from which few identifiers would follow, for the public."""
    whole = story["found"]["identifiers"]

    def told(risk: float) -> float:
        if rest_needs_suppression(risk, whole, audience):
            return 1.0
        return min(FEW / whole, 1.0) if needs_suppression(risk, whole, audience) else risk

    shown, chosen = story["frontier"], story.get("chosen")
    drawn = {**story, "frontier": {**shown, "risk": [told(risk) for risk in shown["risk"]]}}
    return {**drawn, "chosen": {**chosen, "risk": told(chosen["risk"])}} if chosen else drawn


def _left(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what is left of each type."""
    chosen, found = story.get("chosen"), story.get("found")
    if not chosen or not found:
        return None
    lines = tuple(
        (label, rate(Rate(left, total, subjects, deff), "internal"))
        for label, total, left, subjects, deff in zip(
            found["labels"],
            found["types"],
            *(chosen[f"{name}_by_type"] for name in ("left", "subjects", "deff")),
            strict=True,
        )
    )
    types = Grid(
        ("type", "tokens left"), lines, f"Left of each type, {judged_on(story)}", (1,), "internal"
    )
    hidden = needs_suppression(chosen["risk"], found["identifiers"], audience)
    texts = [("tokens", share(chosen["published_tokens"]))] * (not hidden)
    texts += [
        ("sentences", share(chosen["published_sentences"])),
        ("documents", share_of(chosen["published_documents"], found["documents"], audience)),
    ]
    whole = Grid(("of the annotated text", "published as they were"), tuple(texts), numeric=(1,))
    most = share_of(1 - found["identifiers"] / found["tokens"], found["tokens"], audience)
    said = Prose((f"At most {most} of tokens could be: the others are identifiers.",))
    blocks: tuple[Block, ...] = (whole, said, types)
    if chosen[AS_LEFT[0]] is not None:
        blocks = (*blocks, *_inspected(story, audience))
    return Section("left", "What is left", blocks)


def _inspected(story: Mapping[str, Any], audience: Audience) -> Iterator[Grid]:
    """Show what was found by as many inspections as are left, unless that tells of few."""
    rates = [Rate(*map(story["chosen"].get, columns)) for columns in (AS_LEFT, ONE_PERCENT)]
    lines = tuple(
        (f"{found.trials:,}", rate(found, audience))
        for found in rates
        if found.trials and not needs_suppression(found.trials, 1, audience)
    )
    if lines:
        yield Grid(
            ("inspections", "of them identifiers"),
            lines,
            "Found in what the committee alone leaves of the annotated text, by the most accurate "
            f"classifier; judged {judged_on(story)}",
            (0, 1),
        )


def _false(
    story: Mapping[str, Any], private: Mapping[str, Any], audience: Audience
) -> Section | None:
    """Show which harmless tokens were removed."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    total = sum(chosen["false_by_kind"])
    lines = tuple(
        (KINDS[kind], share_of(n / total, total, audience))
        for kind, n in zip(CLASSES, chosen["false_by_kind"], strict=True)
        if n
    )
    blocks: list[Block] = [Prose(("No harmless token of the annotated text is removed.",))]
    if lines:
        blocks = [Grid(("kind of token", "share"), lines, "Harmless tokens removed, by kind", (1,))]
    often = [one for one in chosen["false_words"] if one["removed"] > 1][:MOST_WORDS]
    if often:
        words = tuple((one["word"], f"{one['removed']:,}") for one in often)
        title = "Harmless tokens removed most often; an allow-list keeps them"
        blocks.append(Grid(("token", "times"), words, title, (1,), "internal"))
    if who := private.get("removed_by"):
        times = tuple((by, f"{n:,}") for by, n in who.items())
        title = "Who removed what of this release"
        blocks.append(Grid(("removed by", "times"), times, title, (1,), "internal"))
    return Section("false-positives", "False positives", tuple(blocks))


def _context(story: Mapping[str, Any]) -> Section | None:
    """Show how far words left point to values removed; the words for the holder alone."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    title = "Context"
    if not chosen["context_rules"]:
        none = "No word that is left points to a removed value, by rules that hold over subjects."
        return Section("context", title, (Prose((none,)),))
    rules = _many(chosen["context_rules"], "rule that holds", "rules that hold")
    said = Prose(
        (
            f"{share(chosen['context_share'])} of the values removed of a subject are pointed to "
            f"by a word left with that subject, by {rules} over subjects: who knows some can "
            "guess others. To apply with --context removes the words of these rules.",
        )
    )
    words = f"The words: {listed(chosen['context'])}."
    return Section("context", title, (said, Prose((words,), "internal")))
