"""The fit's predictions for its policies: the frontier, identifiers left, errors, context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Rate
from voile.documents.model.quantities import AS_LEFT, AXES, ONE_PERCENT
from voile.documents.verbs.report_data import format_count, held_against, in_tokens, judged_on
from voile.documents.words.attributes import CLASSES
from voile.report.sections import Audience, Block, Detail, Grid, Prose, Section, frontier_chart
from voile.report.suppression import FEW
from voile.report.wording import (
    join_names,
    needs_suppression,
    rate,
    rest_needs_suppression,
    share,
    share_of,
)

RISK = AXES["risk"], "100% = nothing is removed"
RISK_AT_MOST = AXES["risk"], "100% = nothing is removed; small counts are rounded up"
LOSS = AXES["loss"], ""
MEASURED = {
    True: "Each policy is a committee of classifiers, which also removes further mentions of a "
    "removed name in its document; patterns and lists remove more.",
    False: "Each policy is a committee of classifiers alone; patterns and lists remove more.",
}
INTERVALS = (
    "The 95% intervals are Wilson's with a design effect: they count subjects, or else documents, "
    "since the identifiers of one subject are not independent."
)
KINDS = {
    "mark": "marks",
    "X": "words in capitals",
    "Xx": "words with a capital",
    "x": "words in small letters",
    "0": "numbers",
    "mixed": "letters and numbers mixed",
    "other": "punctuation and signs",
}
MOST_WORDS = 15


def risk_at_fit(
    known: Mapping[str, float], whole: int | None, audience: Audience
) -> tuple[str, str]:
    """Return the fit's estimate of the share of identifiers left, and its interval."""
    risk = known["risk"]
    hidden = needs_suppression, rest_needs_suppression
    if whole and any(needs(risk, whole, audience) for needs in hidden):
        return share_of(risk, whole, audience), ""
    ends = [share(known[end]) for end in ("risk_low", "risk_high") if end in known]
    return share(risk), " to ".join(ends)


def frontier_section(data: Mapping[str, Any], audience: Audience) -> Section | None:
    if not data:
        return None
    shown, whole = data["frontier"], data["found"]["identifiers"]
    rows = [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
    proposed = "proposed " * bool(held_against(data))
    described = tuple(_describe_policy(row, whole, audience, proposed) for row in rows)
    drawn = _hide_small_counts(data, audience)
    risk = RISK if drawn["frontier"] == shown else RISK_AT_MOST
    risk = (f"{proposed}{risk[0]}", risk[1])
    chart = frontier_chart(drawn, described, risk, LOSS, list(_details(rows, data, audience)))
    lines = (f"Expected by the fit, as estimated {judged_on(data)}.", MEASURED[data["repeats"]])
    return Section("frontier", "Risk-utility frontier", (Prose((*lines, INTERVALS)), chart))


def _describe_policy(row: Mapping[str, Any], whole: int, audience: Audience, proposed: str) -> str:
    left, interval = risk_at_fit(row, whole, audience)
    within = f" ({interval})" if interval else ""
    return (
        f"policy {row['number']}: a missed identifier weighed as {row['miss_cost']:g}, "
        f"{format_count(row['passes'], 'pass', 'passes')}, {left}{within} of "
        f"{proposed}identifiers left, "
        f"{share(row['loss'])} of harmless tokens removed"
    )


def _details(
    rows: Sequence[Mapping[str, Any]], data: Mapping[str, Any], audience: Audience
) -> Iterator[Detail]:
    """Yield the facts of each policy, and then of the chosen one; older releases lack them."""
    if "learners" not in data:
        return
    whole, number = data["found"]["identifiers"], data.get("chosen", {}).get("number")
    pairs = list(zip(rows, data["learners"], strict=True))
    for row, learners in (*pairs, *(pair for pair in pairs if pair[0]["number"] == number)):
        yield _detail(row, learners, whole, audience)


def _detail(
    row: Mapping[str, Any], learners: Sequence[str], whole: int, audience: Audience
) -> Detail:
    """Return the facts about a policy.

    The share kept is withheld if it would reveal small counts.
    """
    left, interval = risk_at_fit(row, whole, audience)
    passes = [f"{number}: {learner}" for number, learner in enumerate(learners, 1)]
    facts = [
        ("weight of a missed identifier", in_tokens(row["miss_cost"])),
        ("passes", join_names(passes or ["none"])),
        ("identifiers left", f"{left} ({interval})" if interval else left),
        (LOSS[0], share(row["loss"])),
    ]
    if not needs_suppression(row["risk"], whole, audience):
        facts.append(("published unchanged", f"{share(row['published_tokens'])} of all tokens"))
    return Detail(tuple(facts))


def _hide_small_counts(data: Mapping[str, Any], audience: Audience) -> Mapping[str, Any]:
    """Return the data without risks that would reveal a small count to the public."""
    whole = data["found"]["identifiers"]

    def safe(risk: float) -> float:
        if rest_needs_suppression(risk, whole, audience):
            return 1.0
        return min(FEW / whole, 1.0) if needs_suppression(risk, whole, audience) else risk

    shown, chosen = data["frontier"], data.get("chosen")
    drawn = {**data, "frontier": {**shown, "risk": [safe(risk) for risk in shown["risk"]]}}
    return {**drawn, "chosen": {**chosen, "risk": safe(chosen["risk"])}} if chosen else drawn


def left_section(data: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show the text published unchanged, identifiers left by type, and the inspections' finds."""
    chosen, found = data.get("chosen"), data.get("found")
    if not chosen or not found:
        return None
    hidden = needs_suppression(chosen["risk"], found["identifiers"], audience)
    texts = [("tokens", share(chosen["published_tokens"]))] * (not hidden)
    texts += [
        ("sentences", share(chosen["published_sentences"])),
        ("documents", share_of(chosen["published_documents"], found["documents"], audience)),
    ]
    most = share_of(1 - found["identifiers"] / found["tokens"], found["tokens"], audience)
    blocks: list[Block] = [
        Grid(("of the text learnt from", "published unchanged"), tuple(texts), numeric=(1,)),
        Prose((f"At most {most} of tokens can stay unchanged: the others are identifiers.",)),
        *_types(data),
    ]
    if chosen[AS_LEFT[0]] is not None:
        blocks += _show_inspections(data, audience)
    return Section("left", "Identifiers expected to be left", tuple(blocks))


def _types(data: Mapping[str, Any]) -> Iterator[Block]:
    """Show the identifiers left of each type. Types without any are listed in one sentence."""
    chosen, found = data["chosen"], data["found"]
    columns = (chosen[f"{name}_by_type"] for name in ("left", "subjects", "deff"))
    rows = list(zip(found["labels"], found["types"], *columns, strict=True))
    lines = tuple(
        (label, rate(Rate(left, total, subjects, deff), "internal"))
        for label, total, left, subjects, deff in rows
        if left
    )
    if lines:
        title = f"Left of each type, as estimated {judged_on(data)}"
        yield Grid(("type", "tokens left"), lines, title, (1,), "internal")
    if none := [f"{label} (of {total:,})" for label, total, left, *_ in rows if not left]:
        yield Prose((f"No token is left of {join_names(none)}.",), "internal")


def _show_inspections(data: Mapping[str, Any], audience: Audience) -> Iterator[Grid]:
    """Show the finds of as many inspections as identifiers are left, without small counts."""
    rates = [Rate(*map(data["chosen"].get, columns)) for columns in (AS_LEFT, ONE_PERCENT)]
    lines = tuple(
        (f"{found.trials:,}", rate(found, audience))
        for found in rates
        if found.trials and not needs_suppression(found.trials, 1, audience)
    )
    if lines:
        yield Grid(
            ("inspections", "of them identifiers"),
            lines,
            "Found by inspecting the training text as the committee alone leaves it, in the "
            f"order of the most accurate classifier, {judged_on(data)}",
            (0, 1),
        )


def false_positives_section(data: Mapping[str, Any], audience: Audience) -> Section | None:
    if not (chosen := data.get("chosen")):
        return None
    total = sum(chosen["false_by_kind"])
    lines = tuple(
        (KINDS[kind], share_of(n / total, total, audience))
        for kind, n in zip(CLASSES, chosen["false_by_kind"], strict=True)
        if n
    )
    blocks: list[Block] = [Prose(("No harmless token of the text learnt from is removed.",))]
    if lines:
        title = "Harmless tokens of the text learnt from that are removed, by kind"
        blocks = [Grid(("kind of token", "share of those removed"), lines, title, (1,))]
    often = [one for one in chosen["false_words"] if one["removed"] > 1][:MOST_WORDS]
    if often:
        words = tuple((one["word"], f"{one['removed']:,}") for one in often)
        title = "Harmless tokens removed most often; an allow-list keeps them"
        blocks.append(Grid(("token", "times"), words, title, (1,), "internal"))
    return Section("false-positives", "False positives", tuple(blocks))


def context_section(data: Mapping[str, Any]) -> Section | None:
    """Show the share of removed values that words left indicate; the words are private."""
    if not (chosen := data.get("chosen")):
        return None
    title = "Context"
    if not chosen["context_rules"]:
        none = "No word left points to a removed value by a rule that holds across subjects."
        return Section("context", title, (Prose((none,)),))
    rules = format_count(chosen["context_rules"], "rule", "rules")
    public = (
        f"Words left with a subject point to {share(chosen['context_share'])} of the values "
        f"removed of that subject, by {rules} across subjects. An adversary who knows some "
        "values can guess others. --context on apply removes the words of these rules."
    )
    words = f"The words: {join_names(chosen['context'])}."
    return Section("context", title, (Prose((public,)), Prose((words,), "internal")))
