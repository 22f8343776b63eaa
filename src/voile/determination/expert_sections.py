"""Report sections that an expert needs before signing: identifiers, tests, sensitivity, reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voile.core.evidence import Evidence
from voile.determination.context import Context
from voile.determination.holder_statements import SUGGESTED, SensitivityScore
from voile.determination.inventory import NO_REASON, ColumnTreatment
from voile.report.sections import Block, Bullets, Grid, Heading, Prose, Section
from voile.report.wording import estimate, name_of, share, upper_bound
from voile.study.verbs.evidence import StudyEvidence

NOT_STATED = "Not stated by the data holder."
SCORE = (
    "Points = motives + invasion of privacy + (2 - mitigating controls), each low 0, medium 1, "
    "high 2. The factors and the cell sizes are those of El Emam and Malin (Institute of Medicine, "
    "Sharing Clinical Trial Data, 2015, appendix B). The points are voile's own."
)


def expert_sections(
    context: Context, treatments: Sequence[ColumnTreatment], evidence: Sequence[Evidence]
) -> tuple[Section, ...]:
    """Return the sections in the order in which an expert reads them."""
    return (
        _inventory(treatments),
        _intruder_test(context, evidence),
        _sensitivity(context),
        _accountability(context),
        _expert(context),
    )


def _inventory(treatments: Sequence[ColumnTreatment]) -> Section:
    without = sum(one.reason == NO_REASON for one in treatments)
    columns = "column" if len(treatments) == 1 else "columns"
    said = f"The source has {len(treatments)} {columns}."
    if without:
        said += f" {without} of them have no reason for the treatment."
    rows = tuple((one.name, one.kind, one.role, one.treatment, one.reason) for one in treatments)
    titles = ("column", "identifier", "role", "treatment", "reason, by the data holder")
    caption = "Direct and indirect identifiers (EMA guidance on Policy 0070, 6.3 and 6.4)"
    blocks = (Grid(titles, rows, caption), Prose((said,)))
    return Section("identifiers", "Identifiers and their treatment", blocks)


def _intruder_test(context: Context, evidence: Sequence[Evidence]) -> Section:
    test = context.intruder_test
    blocks: list[Block] = [Heading("By people")]
    if test is None:
        blocks.append(Prose((f"{NOT_STATED} No person tried to identify anybody.",)))
    else:
        facts = (
            ("intruders", "; ".join(test.intruders)),
            ("started, time spent", f"{test.started.isoformat()}, {test.hours:g} hours"),
            ("sources used", "; ".join(test.sources)),
            ("claims made", f"{test.claims}"),
            (
                "claims confirmed",
                _format_confirmed(test.claims, test.confirmed, test.rate.interval()),
            ),
            ("claims checked by", test.checked_by),
        )
        blocks.append(Grid(("what", "as stated by the data holder"), facts))
    blocks += [Heading("Automated, by voile"), *_show_attacks(evidence)]
    return Section("intruders", "The intruder test", tuple(blocks))


def _format_confirmed(claims: int, confirmed: int, interval: tuple[float, float]) -> str:
    if not claims:
        return "0"
    low, high = interval
    return f"{confirmed} ({share(confirmed / claims)}; 95% interval {share(low)} to {share(high)})"


def _show_attacks(evidence: Sequence[Evidence]) -> Sequence[Block]:
    rows = [
        (f"{part}: {attack.attack}" if part else attack.attack, attack.heading, _worst(attack))
        for part, attack in _attacks(evidence)
    ]
    if not rows:
        return [Prose(("No attack was run on this release.",))]
    return [Grid(("attack", "question", "worst finding (95% interval)"), tuple(rows))]


def _attacks(evidence: Sequence[Evidence]) -> Iterator[tuple[str, Evidence]]:
    """Yield each attack with the name of its part of a study, or "" without a study."""
    yield from (("", one) for one in evidence)
    if isinstance(evidence, StudyEvidence):
        yield from ((part, one) for part, own in evidence.of_part.items() for one in own)


def _worst(attack: Evidence) -> str:
    """Write the finding with the largest upper limit, and its baseline."""
    tried = [one for one in attack.findings if one.rate.trials]
    if not tried:
        return "nothing to attack"
    worst = max(tried, key=lambda one: upper_bound(one.rate, "public"))
    value, interval = estimate(worst.rate, "public")
    said = f"{name_of(worst, 'public')}: {value}" + (f" ({interval})" if interval else "")
    if worst.baseline is not None and worst.baseline.trials:
        said += f"; baseline {estimate(worst.baseline, 'public')[0]}"
    return f"{said}, about {attack.of}" if attack.of else said


def _sensitivity(context: Context) -> Section:
    score, limit = context.sensitivity, context.thresholds["re-identification"].limit
    title = "Sensitivity and threshold"
    if score is None:
        return Section("sensitivity", title, (Prose((NOT_STATED,)),))
    rows = (
        ("mitigating controls", score.controls),
        ("motives and capacity", score.motives),
        ("invasion of privacy", score.invasion),
        ("why", score.why),
    )
    follows = (
        ("points", f"{score.points} of 6"),
        ("suggested threshold", _suggest_limits(score)),
        ("chosen limit on re-identification", "none" if limit is None else share(limit)),
    )
    steps = "; ".join(f"up to {most}: groups of {size}" for most, size, _ in SUGGESTED)
    blocks = (
        Grid(("factor", "as stated by the data holder"), rows),
        Grid(("what follows", "value"), follows),
        Prose((f"{SCORE} The points give the cell size: {steps}.",)),
    )
    return Section("sensitivity", title, blocks)


def _suggest_limits(score: SensitivityScore) -> str:
    return f"{share(score.threshold)}, groups of {score.cell_size}"


def _accountability(context: Context) -> Section:
    dpia = context.dpia
    blocks: list[Block] = [Heading("Data protection impact assessment")]
    if dpia is None:
        blocks.append(Prose((NOT_STATED,)))
    else:
        rows = [("reference", dpia.reference), ("date", dpia.dated.isoformat())]
        rows += [("place", dpia.place)]
        rows += [("SHA-256", dpia.sha256)] if dpia.sha256 else []
        blocks.append(Grid(("what", "as stated by the data holder"), tuple(rows)))
    blocks.append(Heading("Reviews"))
    if context.review:
        ordered = sorted(context.review, key=lambda one: one.due)
        calendar = tuple((one.due.isoformat(), one.what, one.owner) for one in ordered)
        blocks.append(Grid(("due", "review", "owner"), calendar))
    else:
        blocks.append(Prose((NOT_STATED,)))
    blocks += [Heading("What ends it before"), Bullets(tuple(context.renewal))]
    return Section("reviews", "Impact assessment and reviews", tuple(blocks))


def _expert(context: Context) -> Section:
    expert = context.expert
    if expert is None:
        return Section("expert", "The expert", (Prose((NOT_STATED,)),))
    rows = (("name", expert.name), ("credentials", expert.credentials),
            ("attestation", expert.attestation))  # fmt: skip
    return Section("expert", "The expert", (Grid(("what", "in the expert's words"), rows),))
