"""The wing's part of the report: what is left, what it costs, what an attacker finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.documents.content import AS_LEFT, ONE_PERCENT, Content
from voile.documents.context import of_context
from voile.documents.report_evidence import evidence_sections, strongest
from voile.documents.report_passes import passes_section
from voile.documents.report_theory import theory_section
from voile.documents.story import IN_SAMPLE, judged, story_of
from voile.documents.words.features import CLASSES
from voile.evidence import Evidence, Rate
from voile.kit import Kit
from voile.release import Release
from voile.sections import (
    Audience,
    Block,
    Bullets,
    Figure,
    Figures,
    Grid,
    Prose,
    Section,
    codebook,
    frontier_chart,
)
from voile.wording import FEW, is_few, listed, rate, share, share_of

RISK = "identifiers left (100% = nothing is removed)"
RISK_AT_MOST = "identifiers left, at most (100% = nothing is removed)"
LOSS = "harmless tokens removed"
MEASURED = {
    True: "Each policy is a committee, and every mention of a name that it removed in the same "
    "document; patterns and lists remove more.",
    False: "Each policy is a committee alone; patterns and lists remove more.",
}
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
        story: Mapping[str, Any] = story_of(Content.of(subject), None)
        public: Mapping[str, Any] = {}
        private: Mapping[str, Any] = {}
    else:
        private = subject.private or {}
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
        shown = [*_figures(story, public["figures"], audience), *strongest(evidence, audience)]
        blocks += [Figures(tuple(shown))] if shown else []
        said += _policy(public)
    if any(IN_SAMPLE in one.notes for one in evidence):
        said.append(IN_SAMPLE)
    if story:
        found = story["found"]
        alpha = share_of(found["identifiers"] / found["tokens"], found["tokens"], audience)
        context = of_context(found["labels"])
        halted = "; the fit was interrupted" * (found["stopped"] == "interrupted")
        documents, subjects = (
            _told(found[f"{one}s"], one, audience) for one in ("document", "subject")
        )
        said.append(
            f"Learnt from {documents} of {subjects}: {found['tokens']:,} tokens, {alpha} of them "
            f"identifiers of {_many(int((~context).sum()), 'type')}{halted}."
        )
        said += _lists(story.get("lists", {}), audience)
        if context.any():
            said.append(OF_CONTEXT)
    return Section("summary", "In short", (*blocks, Prose(tuple(said))), first=True)


def _figures(
    story: Mapping[str, Any], public: Mapping[str, float], audience: Audience
) -> list[Figure]:
    """Return what is known of the policy: by the holder's story, else by the public manifest."""
    chosen = story.get("chosen")
    known = chosen or public
    whole = story["found"]["identifiers"] if chosen else 1
    hidden = "risk" in known and is_few(known["risk"], whole, audience)
    shown: list[Figure] = []
    if "risk" in known:
        left = share_of(known["risk"], whole, audience) if chosen else share(known["risk"])
        said = f"of those in the annotated text, {judged(story)}"
        within = _interval(chosen["left"], whole) if chosen and audience == "internal" else ""
        shown.append(Figure("Identifiers left", left, said, within))
    if "loss" in known:
        shown.append(Figure("Harmless tokens removed", share(known["loss"]), "of all harmless"))
    if "published_tokens" in known and not hidden:  # with the loss it would tell how many are left
        kept = share(known["published_tokens"])
        shown.append(Figure("Published", kept, "of tokens, as they were"))
    return shown


def _policy(public: Mapping[str, Any]) -> list[str]:
    """Say what was asked for and done."""
    asked, also = public["policy"], public["constraints"]
    passes = _many(asked["passes"], "pass", "passes")
    learning = ", each learning from what the ones before had left" * (asked["passes"] > 1)
    said = [
        f"A missed identifier was taken to be worth {asked['miss_cost']:g} harmless tokens; "
        f"{passes}{learning}. In the place of what was removed stands {PUTS[asked['replace']]}."
    ]
    patterns = [name.removeprefix("pattern ") for name in also["patterns"]]
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


def _told(number: int, one: str, audience: Audience) -> str:
    """Count documents or people; a public report tells none of 1 to 10."""
    if is_few(number, 1, audience):
        return f"under {FEW} {one}s"
    return _many(number, one)


def _interval(left: int, identifiers: int) -> str:
    """Return the interval of the share left, as if each token stood alone."""
    low, high = Rate(left, identifiers).interval()
    return f"{share(low)} to {share(high)}"


def _frontier(story: Mapping[str, Any], audience: Audience) -> Section | None:
    if not story:
        return None
    shown, whole = story["frontier"], story["found"]["identifiers"]
    described = tuple(
        f"policy {n}: a miss worth {cost:g}, {_many(passes, 'pass', 'passes')}, "
        f"{share_of(risk, whole, audience)} of identifiers left, {share(loss)} of harmless tokens "
        "removed"
        for n, cost, passes, risk, loss in zip(
            *(shown[name] for name in ("number", "miss_cost", "passes", "risk", "loss")),
            strict=True,
        )
    )
    drawn = _drawn(story, audience)
    risk_name = RISK if drawn["frontier"] == shown else RISK_AT_MOST
    chart = frontier_chart(drawn, described, risk_name, LOSS)
    said = Prose((MEASURED[story["repeats"]],))
    return Section("frontier", "Every sensible trade", (said, chart))


def _drawn(story: Mapping[str, Any], audience: Audience) -> Mapping[str, Any]:
    """Return the story with no risk from which few identifiers would follow, for the public."""
    whole = story["found"]["identifiers"]

    def told(risk: float) -> float:
        if is_few(1 - risk, whole, audience):
            return 1.0
        return min(FEW / whole, 1.0) if is_few(risk, whole, audience) else risk

    shown, chosen = story["frontier"], story.get("chosen")
    drawn = {**story, "frontier": {**shown, "risk": [told(risk) for risk in shown["risk"]]}}
    return {**drawn, "chosen": {**chosen, "risk": told(chosen["risk"])}} if chosen else drawn


def _left(story: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show what is left of each type."""
    chosen, found = story.get("chosen"), story.get("found")
    if not chosen or not found:
        return None
    lines = tuple(
        (label, rate(Rate(left, total), "internal"))
        for label, total, left in zip(
            found["labels"], found["types"], chosen["left_by_type"], strict=True
        )
    )
    types = Grid(
        ("type", "tokens left"), lines, f"Left of each type, {judged(story)}", (1,), "internal"
    )
    hidden = is_few(chosen["risk"], found["identifiers"], audience)
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
    told = [[story["chosen"][name] for name in columns] for columns in (AS_LEFT, ONE_PERCENT)]
    lines = tuple(
        (f"{inspections:,}", rate(Rate(min(found, inspections), inspections), audience))
        for found, inspections in told
        if inspections and not is_few(inspections, 1, audience)
    )
    if lines:
        yield Grid(
            ("inspections", "of them identifiers"),
            lines,
            "Found in what the committee alone leaves of the annotated text, by the most accurate "
            f"classifier; judged {judged(story)}",
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
    return Section("false-positives", "What was removed for nothing", tuple(blocks))


def _context(story: Mapping[str, Any]) -> Section | None:
    """Show how far words left point to values removed; the words for the holder alone."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    title = "What the words around tell"
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
