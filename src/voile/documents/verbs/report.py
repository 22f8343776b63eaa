"""The documents part of the report: the findings on a release, then the fit's predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence, Rate
from voile.core.evidence import Heading as Question
from voile.documents.model.policies import ANNOTATED, MODELS, READER, UNLISTED, DocumentsPolicies
from voile.documents.model.quantities import ACCEPTANCE, FOUND, IN_SAMPLE, LEFT, REMOVED, STATING
from voile.documents.replacements.kinds import is_context
from voile.documents.verbs import report_fit
from voile.documents.verbs.report_data import (
    format_count,
    held_against,
    in_tokens,
    judged_on,
    report_data,
)
from voile.documents.verbs.report_passes import passes_section, theory_section
from voile.documents.verbs.report_start import start_section
from voile.release.found_values import describe_values
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.shown import facts_for
from voile.report.evidence_sections import evidence_sections, shown_findings
from voile.report.sections import (
    Audience,
    Block,
    Figure,
    Figures,
    Grid,
    Prose,
    Section,
    codebook,
    limits,
)
from voile.report.wording import (
    estimate,
    format_note,
    join_names,
    needs_suppression,
    share,
    share_of,
    size,
)

ON_RELEASE = "measured on this release"
TOKENS = "A token is a word, a number or a punctuation mark."
OF_CONTEXT = (
    "Words associated with identifiers were learnt as types of their own, CONTEXT_...: these "
    "figures count them as harmless tokens, not as identifiers."
)
PUTS = {"mark": "a mark", "category": "a mark of its category", "surrogate": "a made-up value"}
LIMITS = (
    "Text also identifies people by what happened to them: rare diseases, events and places "
    "remain unless they were annotated as identifiers.",
    "The figures are valid for text like the annotated text. In text of other authors, years "
    "or forms more identifiers may remain: annotate some of it, and attack its release.",
    "Identifiers that the annotators missed were never learnt, and count as harmless.",
    "A mark reveals that an identifier of its type stood there. Surrogates hide that, and make "
    "missed identifiers look made up, but link the documents of one person.",
    "An adversary with better classifiers, or who knows the people, may find more than this one.",
)
UNMARKED_LIMITS = (
    "Text also identifies people by what happened to them: rare diseases, events and places remain "
    "unless something proposed them as identifiers.",
    "In text of other authors, years or forms than the training text, more identifiers may remain.",
    "Identifiers that nothing proposed, and no reviewer marked, were never learnt, and count as "
    "harmless.",
    *LIMITS[3:],
)
OWN_MODELS = (
    "Token classifiers that were trained elsewhere took part. They are known by the hashes of "
    "their files alone. Their training text is not known here, nor whether they were made to "
    "miss names."
)
TAKES = "annotated text (--original)"
TO_MEASURE = (
    "nobody marked the identifiers: voile documents accept measures it on a sample that a person "
    "reads"
)
TAKES_UNMARKED = (
    "text in which somebody marked all identifiers (--original), which nobody has done here: "
    "voile documents accept proves by reading how many are left at most"
)


def sections(
    subject: StoredKit | StoredRelease, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Return a report's sections on a kit or release.

    Only the data holder's report contains words of the text.
    """
    data, public, private = facts_for(audience, subject, _gather_data, STATING)
    marks = _marks(data, public)
    exact, *_ = facts_for("internal", subject, _gather_data, STATING)  # proofs refer to these data
    takes: dict[Question, str] = {"singling out": TAKES if marks == ANNOTATED else TAKES_UNMARKED}
    parts = (
        _summary(data, public, private, evidence, audience),
        start_section(marks, data, public.get(ACCEPTANCE), audience),
        *evidence_sections(evidence, audience, takes=takes if public else None),
        describe_values(private) if audience == "internal" else None,
        _removers(private) if audience == "internal" else None,
        codebook(public["columns"]) if public else None,
        report_fit.frontier_section(data, audience),
        passes_section(data, audience),
        report_fit.left_section(data, audience),
        report_fit.false_positives_section(data, audience),
        _models(data, public, audience),
        report_fit.context_section(data),
        limits(LIMITS if marks == ANNOTATED else UNMARKED_LIMITS),
        theory_section(exact) if marks == ANNOTATED else None,
    )
    return tuple(part for part in parts if part is not None)


def _marks(data: Mapping[str, Any], public: Mapping[str, Any]) -> str:
    """Return the source of the identifiers' marks; older kits and releases have annotated text."""
    marks: str = public.get("marks") or (data.get("found", {}) if data else {}).get("marks", "")
    return marks or ANNOTATED


def _gather_data(kit: StoredKit) -> dict[str, Any]:
    return report_data(DocumentsPolicies.of(kit), None)


def _summary(
    data: Mapping[str, Any],
    public: Mapping[str, Any],
    private: Mapping[str, Any],
    evidence: Sequence[Evidence],
    audience: Audience,
) -> Section:
    blocks: list[Block] = []
    lines: list[str] = []
    if public:
        blocks += [Prose((_describe_released(private, audience),))] if private else []
        measured = private["figures"] if audience == "internal" and private else {}
        own = {name: measured[name] for name in ("published_tokens",) if name in measured}
        told = {**public["figures"], **own}
        shown = (*_show_proof(public), *_figures(data, told, evidence, audience))
        blocks += [Figures(shown)] if shown else []
        lines += _policy(public)
    if any(IN_SAMPLE in one.notes for one in evidence):
        lines.append(IN_SAMPLE.text)
    lines += _corpus(data, audience) if data else []
    return Section("summary", "In short", (*blocks, Prose(tuple(lines))), first=True)


def _show_proof(public: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield the bound that reading proved for this release."""
    if found := public.get(ACCEPTANCE):
        value = f"at most {found['at_most']:g} per {found['per']:,} tokens"
        sure = f"{found['confidence']:.0%} confidence"
        yield Figure("Identifiers left, proved by reading", value, found["condition"], sure)


def _figures(
    data: Mapping[str, Any],
    public: Mapping[str, float],
    evidence: Sequence[Evidence],
    audience: Audience,
) -> Iterator[Figure]:
    """Yield the key figures: those that an attack measured on this release, else the fit's.

    A recipient has no `data`, and sees the figures of the `public` manifest. Figures against
    unchecked proposals are not shown, since they measure nothing.
    """
    is_unchecked = bool(held_against(data))
    known = public if is_unchecked else data.get("chosen") or public
    whole = data["found"]["identifiers"] if data.get("chosen") else None
    measured = {
        one.quantity: one.rate
        for attack in evidence
        for one in attack.findings
        if one.quantity in (LEFT, REMOVED) and not one.of
    }
    if LEFT in measured:
        expected = ""
        if "risk" in known:
            risk, interval = report_fit.risk_at_fit(known, whole, audience)
            expected = f"{risk} ({interval})" if interval else risk
        yield _show_measured("Identifiers left", measured[LEFT], expected, audience)
    elif "risk" in known:
        value, interval = report_fit.risk_at_fit(known, whole, audience)
        meaning = f"share of all identifiers; predicted by the fit, {judged_on(data)}"
        yield Figure("Identifiers left", value, meaning, interval)
    elif is_unchecked:
        yield Figure("Identifiers left", "not measured", TO_MEASURE)
    if REMOVED in measured:
        expected = share(known["loss"]) if "loss" in known else ""
        yield _show_measured("Harmless tokens removed", measured[REMOVED], expected, audience)
    elif "loss" in known:
        yield Figure(
            "Harmless tokens removed",
            share(known["loss"]),
            "of all harmless tokens; predicted by the fit",
        )
    few = (
        "risk" in known and whole is not None and needs_suppression(known["risk"], whole, audience)
    )
    # with the loss it would reveal the number of identifiers left
    if "published_tokens" in public and not few:
        kept = share(public["published_tokens"])
        yield Figure("Published unchanged", kept, "of all words; counted in the release")
    yield from _strongest(evidence, audience)


def _describe_released(private: Mapping[str, Any], audience: Audience) -> str:
    """Describe the number of released documents and people, and the rows not released.

    A recipient can count the documents, but not the people.
    """
    figures, counts = private["figures"], private["counts"]
    said = f"The release holds {format_count(int(figures['documents']), 'document')}"
    if "subjects" in figures:
        people = size(figures["subjects"], audience)
        said += f" of {people} {'person' if people == '1' else 'people'}"
    if audience == "internal":
        fates = ("set aside", "held out")
        lost = [f"{counts[one.replace(' ', '_')]:,} {one}" for one in fates]
        said += f"; of {format_count(counts['read'], 'row')} read, {join_names(lost)}"
    return f"{said}."


def _show_measured(label: str, found: Rate, expected: str, audience: Audience) -> Figure:
    value, interval = estimate(found, audience)
    return Figure(
        label, value, ON_RELEASE + f"; the fit predicted {expected}" * bool(expected), interval
    )


def _strongest(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Figure]:
    """Yield the result of the attack with the most finds."""
    found = [
        one
        for attack in evidence
        for one in shown_findings(attack, audience)
        if one.quantity == FOUND and one.at is not None
    ]
    if found:
        most = max(found, key=lambda one: (one.rate.successes, one.rate.value))
        value, interval = estimate(most.rate, audience)
        under = "" if most.at is None else format_note(most.at, audience)
        yield Figure(
            "Found by the adversary", value, f"of the first {under} hit an identifier", interval
        )


def _policy(public: Mapping[str, Any]) -> list[str]:
    asked, also = public["policy"], public["constraints"]
    passes = format_count(asked["passes"], "pass", "passes")
    learning = ", each trained on the text that the ones before had left" * (asked["passes"] > 1)
    lines = [
        f"The policy weighs a missed identifier as {in_tokens(asked['miss_cost'])}. "
        f"The committee of classifiers made {passes}{learning}. "
        f"{PUTS[asked['replace']].capitalize()} replaces removed text. {TOKENS}"
    ]
    more = []
    if also.get("known"):
        more.append("the values of the columns next to the notes")
    if patterns := also["patterns"]:
        more.append(f"what patterns find ({', '.join(patterns)})")
    if also["repeats_in_figures"]:
        lines.append(
            "Further mentions of a removed name in its document were removed as well; these "
            "figures include them."
        )
    elif also["repeats"]:
        more.append("further mentions of a removed name")
    more += ["words that point to removed values"] * also.get("context", False)
    more += ["the phrases of the data holder's deny-list"] * also.get("deny_list", False)
    if also.get("allow_list"):
        lines.append("The phrases of the data holder's allow-list were never removed.")
    if more:
        lines.append(f"Removed as well, but not in the fit's figures: {' and '.join(more)}.")
    return lines


def _corpus(data: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    found = data["found"]
    alpha = share_of(found["identifiers"] / found["tokens"], found["tokens"], audience)
    which = "are proposed as identifiers," if held_against(data) else "are identifiers"
    context = is_context(found["labels"])
    halted = "; the fit was interrupted" * (found["stopped"] == "interrupted")
    documents, subjects = (
        f"{size(found[f'{one}s'], audience)} {one}{'s' * (found[f'{one}s'] != 1)}"
        for one in ("document", "subject")
    )
    yield (
        f"Trained on {documents} of {subjects}: {found['tokens']:,} tokens, of which {alpha} "
        f"{which} of {format_count(int((~context).sum()), 'type')}{halted}."
    )
    if unknown := found.get("unknown"):
        yield (
            f"For {size(unknown, audience)} other tokens it is not known whether they identify "
            "anybody: the learners did not train on them, and no figure counts them."
        )
    if lists := data.get("lists"):
        called = join_names(
            [f"{name} ({format_count(size, 'word')})" for name, size in lists.items()]
        )
        names = f": {called}" * (audience == "internal")
        yield f"The learners used {format_count(len(lists), 'list')} of the data holder's{names}."
    if clusters := found.get("clusters"):
        language = str(clusters).split(" ")[0].title()
        yield f"The learners saw clusters of {language} words, which come with voile."
    if reader := found.get(READER):
        listed_or_not = "" if reader["is_listed"] else f" {UNLISTED}."
        yield (
            f"The learners used layer {reader['layer']} of the encoder {reader['name']}, SHA-256 "
            f"{reader['sha256']}.{listed_or_not}"
        )
    if context.any():
        yield OF_CONTEXT


def _models(
    data: Mapping[str, Any], public: Mapping[str, Any], audience: Audience
) -> Section | None:
    """Show the data holder's own models; for a release, those of its policy."""
    models = public.get(MODELS, ()) if public else data["found"].get(MODELS, ())
    if not models:
        return None
    rows = tuple(
        (model["name"], model["kind"], one["part"], one["sha256"])
        for model in models
        for one in model["files"]
        if audience == "internal" or one["part"] != "patterns"
    )
    grid = Grid(("model", "kind", "part", "SHA-256"), rows, "Files of the models")
    return Section("models", "Models of the data holder's own", (Prose((OWN_MODELS,)), grid))


def _removers(private: Mapping[str, Any]) -> Section | None:
    if not (removed := private.get("removed_by")):
        return None
    times = tuple((by, f"{n:,}") for by, n in removed.items())
    grid = Grid(("removed by", "times"), times, "Who removed what", (1,), "internal")
    return Section("removals", "Removals in this release", (grid,))
