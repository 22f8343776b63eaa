"""Write the figures of tables as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence
from voile.data.roles import AS_IT_IS
from voile.data.roles import FEW as FEW_NAMES
from voile.gate.source_risks import find_source_figures
from voile.release.choice import Choice
from voile.report.sections import CHOSEN, Audience, Figure
from voile.report.wording import is_hidden, join_names, odds, share, share_of, size
from voile.tables.scoring.named_measures import DEFAULTS, Kind

NOTHING = 1e-9  # losses below this are rounding errors
RELATIVE = "relative risk"
CALLED = {"safe-harbor": "Safe Harbor", "chosen": CHOSEN}


def highest_risk(risk: float) -> Figure:
    """Return the key figure of the record with the highest risk.

    >>> highest_risk(0.017).value, highest_risk(0.017).meaning
    ('1.7%', '1 in 59: chance of being re-identified correctly')
    """
    if risk >= 1:
        meaning = "to be re-identified: unique in the population by these columns"
    else:
        also = f"{odds(risk)}: " if risk else ""
        meaning = f"{also}chance of being re-identified correctly"
    return Figure("Highest individual risk", share(risk), meaning)


def format_expected(matches: float) -> str:
    """Return an expected number of people as text.

    >>> format_expected(84.3), format_expected(3.42), format_expected(4.0), format_expected(0.01)
    ('84', '3.4', '4', 'nearly none')
    """
    if matches < 0.1:
        return "nearly none"
    return f"{matches:,.0f}" if matches >= 10 else f"{matches:.1f}".removesuffix(".0")


def describe_matches(matches: float) -> str:
    """Return the number of people who are expected to be re-identified, as text.

    >>> describe_matches(84.3), describe_matches(0.01)
    ('about 84 people', 'nearly nobody')
    """
    return f"about {format_expected(matches)} people" if matches >= 0.1 else "nearly nobody"


def count_among(matches: float, people: str) -> str:
    """Return an expected number of people among others, as text."""
    return f"{'about ' * (matches >= 0.1)}{format_expected(matches)} of the {people} people"


def explain_choice(choice: Choice, risk: str = RELATIVE, *, edited: bool = False) -> str:
    """Explain why a policy was chosen. `risk` is the name of the risk in the search.

    >>> explain_choice(Choice(beats="safe-harbor"))
    "which has the least loss at Safe Harbor's risk or less"
    >>> explain_choice(Choice(max_risk=0.05))
    "which has the least loss if no record's risk may exceed 5.0%"
    >>> explain_choice(Choice(max_loss=0.3))
    'which has the least risk at a loss of 30% or less'
    >>> explain_choice(Choice(policy=17), edited=True)
    'number 17 on the frontier, then edited'
    >>> explain_choice(Choice(least_loss=True))
    'which has the least loss of all policies found'
    >>> explain_choice(Choice(knee=True))
    'which is at the knee of the frontier'
    """
    return f"{_explain(choice, risk)}{', then edited' * edited}"


def _explain(choice: Choice, risk: str) -> str:
    [(name, value)] = choice.to_data().items()
    match name:
        case "beats":
            return f"which has the least loss at {CALLED.get(value, value)}'s risk or less"
        case "max_risk":
            return f"which has the least loss if no record's risk may exceed {share(value)}"
        case "max_relative_risk":
            return f"which has the least loss with the {risk} at {share(value)} or less"
        case "max_loss":
            return f"which has the least risk at a loss of {share(value)} or less"
        case "policy":
            return f"number {value} on the frontier"
        case "least_loss":
            return "which has the least loss of all policies found"
        case _:
            return "which is at the knee of the frontier"


def is_default(data: Mapping[str, Any], kind: Kind) -> bool:
    """Return whether the search used the paper's measure."""
    return bool(data["measures"][kind]["name"] == DEFAULTS[kind])


def name_risk(data: Mapping[str, Any]) -> str:
    """Return the name of the search's risk, a share of the source's risk.

    >>> name_risk({"measures": {"risk": {"name": "estimated-matches"}}})
    'estimated relative risk'
    """
    named = {DEFAULTS["risk"]: RELATIVE, "estimated-matches": f"estimated {RELATIVE}"}
    return named.get(data["measures"]["risk"]["name"]) or name_measure(data, "risk")


def name_measure(data: Mapping[str, Any], kind: Kind) -> str:
    """Return the name of a measure within a sentence.

    >>> name_measure({"measures": {"risk": {"title": "HIV cases"}}}, "risk")
    'HIV cases'
    """
    title: str = data["measures"][kind]["title"]
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def describe_risk(data: Mapping[str, Any], risk: float, matches: float) -> str:
    """Describe a policy's risk and expected matches, and name the risk if it is another measure."""
    to_find = f"{describe_matches(matches)} expected to be re-identified"
    if is_default(data, "risk"):
        return to_find
    return f"{share(risk)} of the source's {name_measure(data, 'risk')} ({to_find})"


def describe_loss(data: Mapping[str, Any], loss: float) -> str:
    """Return a loss as text, with the field's term: information loss 32%."""
    match data["measures"]["loss"]["name"]:
        case "weighted":
            name = "information loss"
        case "information":
            name = "divergence loss"
        case "mutual-information":
            name = f"loss of information about {join_names(data['outcomes'])}"
        case _:
            name = name_measure(data, "loss")
    return f"{name} {share(loss)}"


def _describe_what_is_kept(data: Mapping[str, Any], loss: float) -> str:
    name, _, value = describe_loss(data, loss).rpartition(" ")
    said = f"{name[:1].upper()}{name[1:]}: {value} (0% = original, 100% = no information)"
    if "is_measured" not in data.get("lost", {}):
        said += ", as predicted by the fit"
    single = [
        one["column"] for one in data.get("lost", {}).get("columns", ()) if one["groups"] == 1
    ]
    if not single:
        return f"{said}."
    are = "is one group" if len(single) == 1 else "are one group each"
    return f"{said}. {'Column' if len(single) == 1 else 'Columns'} {join_names(single)} {are}."


def explain_empty_boxes(of_people: Mapping[str, float]) -> Iterator[str]:
    """Describe the cost of a tree with possibly empty leaves, as shares of the population.

    >>> [*explain_empty_boxes({"people": 0.59, "unseen": 0.593})][0][:36]
    'Leaves without a record were allowed'
    """
    yield (
        "Leaves without a record were allowed. Their computed loss is lower, but "
        + (
            (
                f"{share(of_people['people'])} of the population is proved not to be in the "
                f"release. Also, {share(of_people['unseen'])} of the people who are not in the "
                "source would fall into leaves for which nothing was certified."
            )
            if of_people
            else (
                "a person who fits no released leaf is proved not to be in the release. New "
                "people may fall into leaves for which nothing was certified. Their number is "
                "unknown without a population."
            )
        )
    )
    yield (
        "The interval boundaries of such leaves are values of records, and a risk that "
        "is estimated from the release's own counts is too low."
    )


def explain_regrowing(evidence: Sequence[Evidence], audience: Audience) -> Iterator[str]:
    """Describe how often an adversary who knows all rows except one value guesses that value.

    A public report contains no rate of few people.
    """
    found = [one for one in evidence if one.attack == "regrowing"]
    if not found:
        return
    from voile.tables.attack.regrowing import GROUP, GUESSED, MARGINALS  # imports numba

    for one in found:
        rates = {each.by: each.rate for each in one.findings if each.quantity == GUESSED}
        if not any(is_hidden(rates[way], audience) for way in (GROUP, MARGINALS)):
            yield (
                "An adversary knows how the release was made, and the whole source except one "
                f"person's {one.of}. This adversary guesses the missing value correctly in "
                f"{share(rates[MARGINALS].value)} of cases, compared with "
                f"{share(rates[GROUP].value)} from the released group alone "
                f"({rates[GROUP].trials:,} people tried)."
            )


def name_kept(released: Sequence[Mapping[str, str]]) -> str:
    """Return the names of the columns released unchanged, if they are few."""
    kept = [one["column"] for one in released if one["role"] in AS_IT_IS]
    return join_names(kept) if 0 < len(kept) <= FEW_NAMES else "the columns released as they are"


def explain_unique(
    apart: str, columns: Sequence[str], released: Sequence[Mapping[str, str]]
) -> tuple[str, str]:
    """Explain who can recognise records unique on all released columns, and the consequence.

    Parameters
    ----------
    apart : the share of people, as text.
    columns : the quasi-identifiers.
    released : every column of the release, with its role.

    >>> explain_unique("3.0%", ["age"], [{"column": "ill", "role": "sensitive"}])[1]
    'It then reveals that the person is in the release, and no other value.'
    """
    named, is_one = name_kept(released), sum(one["role"] in AS_IT_IS for one in released) == 1
    joined = any(one["role"] == "identifier" for one in released)
    rows = ", and by the pseudonym the person's other rows" if joined else ""
    who = (
        f"{apart} of the people have a unique record if {named} "
        f"{'counts' if is_one else 'count'} as known. Only an adversary who also knows "
        f"this of a person, in addition to {join_names(columns)}, can recognise the "
        "record."
    )
    if all(one["role"] in ("quasi", "identifier", "sensitive") for one in released):
        rest = rows or ", and no other value"
        return who, f"It then reveals that the person is in the release{rest}."
    return who, (
        f"It then reveals the values of {named} that were unknown{rows}. Generalise these "
        "columns (role quasi) or drop them, unless an adversary cannot know them."
    )


def count_beating(count: int) -> str:
    """Describe how many policies beat another policy in risk and loss.

    >>> count_beating(0)
    'No policy found within the limits of the fit beats it in both'
    >>> count_beating(1), count_beating(1234)
    ('1 policy found beats it in both', '1,234 policies found beat it in both')
    """
    match count:
        case 0:
            return "No policy found within the limits of the fit beats it in both"
        case 1:
            return "1 policy found beats it in both"
        case _:
            return f"{count:,} policies found beat it in both"


def _without_protection(
    data: Mapping[str, Any], figures: Mapping[str, float], audience: Audience
) -> tuple[float, str, str]:
    """Return the source's matches, its people and its name, from the gate or else from the fit."""
    if source := find_source_figures(figures):
        return source["expected_matches"], size(source["subjects"], audience), "source"
    return data["matches"], size(data["subjects"], audience), "fitted source"


def three_sentences(
    data: Mapping[str, Any],
    figures: Mapping[str, float],
    why: str,
    audience: Audience = "internal",
) -> tuple[str, ...]:
    """Return sentences on the risk, the loss, and the comparison with Safe Harbor.

    Without Safe Harbor, the last sentence is `why` the policy was chosen. `figures` were counted on
    the release itself, which may be of another source than the fit's.
    """
    risk, loss, _ = data["chosen"]
    people, dropped = figures["subjects"], figures["suppressed"]
    source = people + dropped
    matches, of, where = _without_protection(data, figures, audience)
    whom = "population" if data["population_known"] else "source"
    said = [
        f"An adversary who links every record to the {whom} is expected to re-identify "
        f"{count_among(figures['expected_matches'], f'{people:,.0f}')} in the release "
        f"({share(figures['mean_risk'])}). Without protection: "
        f"{count_among(matches, of)} in the {where}.",
        _describe_what_is_kept(data, loss)
        + (f" Suppressed: {share_of(dropped / source, source, audience)}." if dropped else "")
        + (
            ""
            if is_default(data, "risk")
            else f" Remaining {name_measure(data, 'risk')}: {share(risk)} of the source's."
        ),
    ]
    for name, (its_risk, its_loss, its_found) in data["marks"].items():
        count = data["beats"][name]["count"]
        its_name = CALLED.get(name, name)
        left = describe_risk(data, its_risk, its_found)
        lost = 0.0 if its_loss < NOTHING else its_loss
        own = f"{its_name} on the fitted source: {left}, {describe_loss(data, lost)}."
        if data["beats"][name]["chosen"]:
            also = f", and so do {count - 1:,} other policies found" if count > 2 else ""
            said.append(f"{own} This policy beats it in both{also}.")
        elif not lost:
            said.append(f"{own} No policy can lose less, so none beats it in both.")
        else:
            said.append(f"{own} {count_beating(count)}.")
    if not data["marks"]:
        said.append(f"The data holder chose the policy {why}.")
    return tuple(said)
