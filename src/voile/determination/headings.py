"""Map the headings of three legal texts to the sentences of a determination that answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from voile.core.evidence import Evidence
from voile.determination.determination import Determination
from voile.determination.judging import JudgedCriterion
from voile.release.criteria import Name
from voile.report.sections import Grid, Prose, Section

HIPAA = "HIPAA, 45 CFR 164.514(b)(1)"
EMA = "EMA Policy 0070, anonymisation report"
WP216 = "Article 29 Working Party, Opinion 05/2014"
BY_CRITERIA: Mapping[tuple[str, str], tuple[Name, ...]] = {
    (HIPAA, "risk of identification by an anticipated recipient"): ("re-identification",),
    (HIPAA, "in combination with other reasonably available information"): (
        "kept-columns",
        "joint-risk",
    ),
    (EMA, "use of a risk threshold"): ("re-identification",),
    (EMA, "free text"): ("text-left",),
    (WP216, "singling out"): ("singling-out", "kept-columns"),
    (WP216, "linkability"): ("linkability", "joint-risk"),
    (WP216, "inference"): ("inference",),
}
NOT_LAW = (
    "This table helps a reader to find an answer. It is not a legal opinion: whether the answer is "
    "enough is for the people who sign, and for the law that applies to them."
)


def headings(
    one: Determination, sentence: Callable[[JudgedCriterion], str], evidence: Sequence[Evidence]
) -> Section:
    """Return the section with the table of headings and answers. It quotes verdicts in full."""
    by_name = {each.name: each for each in one.criteria}
    rows = [
        (text, asked, " ".join(sentence(by_name[name]) for name in names))
        for (text, asked), names in BY_CRITERIA.items()
    ]
    attacks = ", ".join(dict.fromkeys(each.attack for each in evidence)) or "none"
    others = [
        (HIPAA, "methods and results that justify the determination", f"Attacks made: {attacks}. "
         "The sections on each attack, the limits and the commands follow below."),
        (HIPAA, "a person with appropriate knowledge and experience", _expert(one)),
        (EMA, "identification of data variables (direct and quasi identifiers)", "The section on "
         "identifiers and their treatment."),
        (EMA, "methodology", "The codebook lists the treatment of each column. The commands show "
         "how."),
        (EMA, "adversary and recipient", f"Adversary: {one.context.attacker.assumed}. "
         f"Recipient: {one.context.recipient}."),
        (EMA, "data utility", "The sections on loss and on the released columns."),
    ]  # fmt: skip
    table = tuple(sorted([*rows, *others], key=lambda row: (HIPAA, EMA, WP216).index(row[0])))
    grid = Grid(("text", "heading", "answered by"), table)
    return Section("headings", "Which sentence answers which heading", (Prose((NOT_LAW,)), grid))


def _expert(one: Determination) -> str:
    expert = one.context.expert
    return f"{expert.name}: {expert.credentials}." if expert else "Not stated by the data holder."
