"""Render a determination as a page: verdict, recipient and last day first, then the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from voile.core.evidence import Evidence
from voile.determination.determination import Determination
from voile.determination.expert_sections import expert_sections
from voile.determination.headings import headings
from voile.determination.inventory import ColumnTreatment
from voile.determination.judging import AT_MOST, JudgedCriterion, conditions
from voile.determination.signature import StatementSignature
from voile.release.claims import StandardClaim, list_claims, threshold
from voile.release.criteria import TITLES, format_figure
from voile.report.sections import Block, Bullets, Commands, Grid, Heading, Prose, Section
from voile.report.wording import share

OVERALL = {
    "meets": "This release meets every criterion for this recipient and purpose.",
    "meets with conditions": "This release meets the criteria for this recipient and purpose on "
    "the conditions named below.",
    "does not meet": "This release does not meet the criteria for this recipient and purpose.",
}
NO_KEY = "no valid signature"
CONFIRMED = {
    True: "allowed for this signer",
    False: "NOT allowed for this signer",
    None: "not checked: no file of allowed signers",
}
"""Sentences on whether the file of allowed signers lists the key for the signer."""
VERIFY = (
    "voile verify FOLDER --signers allowed_signers --release RELEASE --out signed.html",
    "ssh-keygen -Y verify -f allowed_signers -I SIGNER -n voile \\\n"
    "    -s statements/01.json.sig < statements/01.json",
)


def sections_of(
    one: Determination,
    own: Sequence[Section],
    evidence: Sequence[Evidence],
    *,
    treatments: Sequence[ColumnTreatment],
    claims: Sequence[StandardClaim],
) -> tuple[Section, ...]:
    """Return the sections of a determination; `own` are the sections of the module's report."""
    rest = (replace(section, first=False) for section in own)
    return (
        _verdict(one),
        _context(one),
        Section("standards", "Named standards", (list_claims(claims),)),
        *expert_sections(one.context, treatments, evidence),
        headings(one, sentence, evidence),
        *rest,
        decision_section(()),
    )


def decision_section(signatures: Sequence[StatementSignature], says: str = "") -> Section:
    """Return the section on signatures: none yet, or each signer with the result."""
    blocks: list[Block] = [one for each in signatures for one in _signature(each)]
    if signatures:
        listed = "This page lists the signatures. Only these commands prove them."
        blocks.append(Prose((f"Result: {says}.", listed)))
    else:
        blocks.append(
            Prose(
                (
                    "Signed statements are in statements/. This page lists no signer, since "
                    "statements follow it. The first command checks them and writes this page "
                    "with every signer.",
                )
            )
        )
    return Section("decision", "Signatures", (*blocks, Commands(VERIFY)))


def sentence(criterion: JudgedCriterion) -> str:
    """Write a verdict with its figure and its threshold.

    >>> sentence(JudgedCriterion(name="text-left", verdict="meets", reason="no text is released"))
    'Identifiers left in text: meets (no text is released).'
    """
    title = f"{TITLES[criterion.name]}: {criterion.verdict}"
    said = f"{title} ({criterion.reason})"
    if criterion.figure is not None:
        said += f": {_small(criterion.figure.says)}, {_figure(criterion)}"
    if criterion.limit is not None:
        said += f"; threshold: {threshold(criterion.name, criterion.limit, criterion.origin)}"
    if criterion.condition:
        said += f". Condition: {criterion.condition}"
    return f"{said.removesuffix('.')}."


def _evidence(criterion: JudgedCriterion) -> str:
    figure, reason = criterion.figure, criterion.reason
    if figure is None:
        return _as_sentence(reason)
    is_met = criterion.verdict == "meets" and reason == AT_MOST
    said = f"{figure.says} ({figure.evidence})" + ("" if is_met else f": {reason}")
    return _as_sentence(said)


def _as_sentence(said: str) -> str:
    return said[:1].upper() + said[1:]


def _figure(criterion: JudgedCriterion) -> str:
    figure = criterion.figure
    if figure is None:
        return "nothing to measure" if criterion.verdict == "meets" else "not measured"
    return format_figure(criterion.name, figure)


def _verdict(one: Determination) -> Section:
    said = [
        OVERALL[one.verdict],
        f"Recipient: {one.context.recipient}. Purpose: {one.context.purpose}. "
        f"It holds until {one.context.expires.isoformat()}, or until an earlier end.",
    ]
    rows = tuple(
        (
            TITLES[each.name],
            each.verdict,
            _figure(each),
            "none" if each.limit is None else threshold(each.name, each.limit, each.origin),
            _evidence(each),
        )
        for each in one.criteria
    )
    columns = ("criterion", "verdict", "figure (95% interval)", "threshold", "evidence")
    blocks: list[Prose | Grid | Heading | Bullets] = [
        Prose(tuple(said)),
        Grid(columns, rows, "The verdict for each criterion"),
    ]
    if asked := list(conditions(one.criteria)):
        blocks += [Heading("Conditions"), Bullets(tuple(asked))]
    if warnings := _warnings(one):
        blocks += [Heading("To weigh before signing"), Bullets(warnings)]
    return Section("verdict", "Is it enough?", tuple(blocks), first=True)


def _warnings(one: Determination) -> tuple[str, ...]:
    unwritten = one.context.open_items
    said = f"Still to be written in the context: {', '.join(unwritten)}. Nobody can approve before."
    return (*one.context.warnings, *([said] if unwritten else []))


def _context(one: Determination) -> Section:
    context = one.context
    facts = [
        ("recipient", context.recipient),
        ("purpose", context.purpose),
        ("legal basis, as the data holder states it", context.legal_basis),
        ("adversary assumed", context.attacker.assumed),
        ("why this adversary", context.attacker.why),
        *((f"control: {name}", said) for name, said in context.controls.model_dump().items()),
        *((f"decided: {what}", who) for what, who in context.decisions.items()),
        *([("prepared by", context.prepared_by)] if context.prepared_by else []),
        ("judged on", one.made.isoformat()),
        ("holds until", context.expires.isoformat()),
        ("signers required", str(context.signers)),
    ]
    return Section(
        "for-whom",
        "For whom, and until when",
        (
            Grid(("what", "as stated by the data holder"), tuple(facts)),
            *_attempt(one),
        ),
    )


def _attempt(one: Determination) -> Iterator[Prose]:
    """Yield the probability of an attempt as a separate factor, which no figure includes."""
    attempt = one.context.attempt
    if attempt is None:
        return
    risk = next((each.figure for each in one.criteria if each.name == "re-identification"), None)
    said = (
        f"Under these controls the data holder puts the chance that an attack is attempted at "
        f"{share(attempt.chance)} ({attempt.source}: {attempt.why}). No figure above contains this "
        "factor, and no verdict is by it."
    )
    if risk is not None:
        product = share(attempt.chance * risk.most)
        said += f" Times the re-identification risk of {share(risk.most)} it is {product}."
    yield Prose((said,))


def _signature(one: StatementSignature) -> Iterator[Block]:
    """Yield the blocks of one signed statement: the signer, the key and the decision."""
    said = one.statement
    rows = [
        ("signer", said.signer),
        ("key", f"{one.key.fingerprint if one.key else NO_KEY} ({CONFIRMED[one.is_confirmed]})"),
        ("decision", said.decision),
        ("signed", said.at.isoformat()),
    ]
    rows += [("holds until", said.until.isoformat())] if said.until else []
    rows += [("condition", each) for each in said.conditions]
    rows += [("reason", said.reason)] if said.reason else []
    yield Heading(f"Statement {said.number}")
    yield Grid(("what", "as signed"), tuple(rows))


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
