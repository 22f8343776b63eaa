"""Print the final messages of each verb, and return its exit code."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voile.cli.screen import CommandScreen, count, short, show_table
from voile.core.interruption import CUT_SHORT
from voile.modules import find_module
from voile.release.manifest import PREDICTED

if TYPE_CHECKING:
    from voile.core.evidence import Evidence, Finding, Rate
    from voile.release.choice import Chosen
    from voile.release.kit import StoredKit
    from voile.release.manifest import StoredRelease

INTERRUPTED, SET_ASIDE = 130, 1
FIGURES = 6  # the number that fits in a line
FEW = 3  # most findings of one quantity that have separate rows


def tell_fitted(screen: CommandScreen, kit: StoredKit, place: Path) -> int:
    """Report the number of policies in the kit, and whether the search was cut short."""
    stopped = kit.facts.get("stopped")
    policies = kit.facts["policies"]
    screen.say(f"{place}: {kit.visibility} kit of {count(policies, 'policy')} that no other beats")
    for name, why in kit.facts.get("absent", {}).items():
        screen.say(f"  {name} is not among these policies: {why}")
    if stopped == "seconds":
        screen.say("  the time limit ended the search, so the same seed may find other policies")
    screen.result(
        {
            "kit": str(place),
            "id": kit.id,
            "kind": kit.kind,
            "visibility": kit.visibility,
            "policies": policies,
            "stopped": stopped,
        }
    )
    if stopped == "interrupted":
        screen.insist(f"voile: {CUT_SHORT}")
        return INTERRUPTED
    return 0


def tell_chosen(screen: CommandScreen, chosen: Chosen, place: Path) -> None:
    own = "an edited policy" if chosen.edited else "a policy that the kit does not list"
    name = own if chosen.number is None else f"policy {chosen.number}"
    screen.say(f"{place}: {name}" + f" ({chosen.how})" * (chosen.how != name))
    if chosen.figures:
        screen.say(f"  {write_figures(chosen.kind, chosen.figures)}")
    screen.result(
        {
            "policy_file": str(place),
            "number": chosen.number,
            "choice": chosen.choice.to_data(),
            "edited": chosen.edited,
            "figures": chosen.figures,
            "policy": chosen.policy,
        }
    )


def tell_attacked(screen: CommandScreen, found: Sequence[Evidence], place: Path) -> None:
    """Report the findings of the attacks, and the path of the evidence."""
    screen.result({"evidence_file": str(place), "evidence": [e.to_json() for e in found]})
    show_evidence(screen, found)
    screen.say(f"{place}: evidence of {count(len(found), 'attack')}; voile report shows all of it")


def show_evidence(screen: CommandScreen, found: Sequence[Evidence]) -> None:
    """Show the findings of attacks, each rate with its 95% interval and its baseline.

    A quantity that was counted under many conditions has one row, with the condition of the largest
    rate. A total is never compared with its parts.
    """
    from voile.report.wording import name_of

    rows = [
        (
            evidence.attack,
            f"{name_of(finding, 'internal')}{f' (largest of {of})' if of > 1 else ''}",
            _rate(finding.rate),
            _rate(finding.baseline),
            _rate(finding.control),
        )
        for evidence in found
        for finding, of in _fold_findings(evidence.findings)
    ]
    if rows and not screen.quiet:
        columns = ("attack", "what", "found", "baseline", "control")
        show_table(columns, rows, sys.stderr, wraps="what")


def _fold_findings(findings: Sequence[Finding]) -> Iterator[tuple[Finding, int]]:
    """Yield each finding. If a quantity has many, yield the largest with their number."""
    groups: dict[tuple[str, bool], list[Finding]] = {}
    for finding in findings:
        if finding.rate.trials:
            groups.setdefault((finding.quantity, bool(finding.of)), []).append(finding)
    for group in groups.values():
        if len(group) > FEW:
            yield max(group, key=lambda one: one.rate.value), len(group)
        else:
            yield from ((one, 1) for one in group)


def tell_applied(
    screen: CommandScreen, release: StoredRelease, chosen: Chosen, *, allowed: bool
) -> int:
    """Report the released and unreleased rows. Return exit code 1 if rows were rejected."""
    assert release.private is not None
    counts = release.private["counts"]
    parts = [f"{counts['released']:,} of {count(counts['read'], 'row')} released"]
    parts += [
        f"{counts[name]:,} {name.replace('_', ' ')}"
        for name in ("suppressed", "held_out")
        if counts[name]
    ]
    screen.say(f"{release.path}: {', '.join(parts)}")
    certified = release.public["figures"]
    exact = {**release.private["chosen"]["figures"], **release.private["figures"]}
    predicted = release.public[PREDICTED]
    if first := {name: exact[name] for name in chosen.figures if name in certified}:
        screen.say(f"  {write_figures(release.kind, first, predicted=predicted)}")
    joint = release.private.get("ledger")
    if joint is not None:
        screen.say(_describe_joint(joint))
    formulas = release.private["formulas"]
    if formulas["cells"]:
        screen.say(_formulas(formulas))
    result = {"release": str(release.path), "counts": counts, "formulas": formulas}
    entered = {} if joint is None else {"ledger": joint}
    screen.result({**result, "figures": certified, PREDICTED: predicted, **entered})
    if not counts["set_aside"]:
        return 0
    reasons = "; ".join(
        f"{count(by['rows'], 'row')} in column {by['column']}: {by['reason']}"
        for by in counts["set_aside_by"]
    )
    screen.insist(f"voile: {count(counts['set_aside'], 'row')} set aside: {reasons}")
    return 0 if allowed else SET_ASIDE


def _describe_joint(joint: Mapping[str, Any]) -> str:
    """Describe the joint risk of a release and the earlier ones."""
    said, others = f"  ledger, line {joint['line']}", joint["releases"]
    if "unbounded" in joint:
        said += f": {joint['unbounded']}"
    else:
        from voile.ledger.promise import format_people

        alone, high = (format_people(joint[name]["matches"]) for name in ("alone", "high"))
        said += f": {alone} expected matches alone"
        said += f", at most {high} with {count(others, 'release')} before it" if others else ""
    for why, n in joint["kept_back"].items():
        said += f"; {count(n, 'row')} {why}" if n else ""
    return f"{said}; released for a reason that stays there" if "override" in joint else said


def _formulas(found: Mapping[str, Any]) -> str:
    """Report how many cells a spreadsheet would run as formulas, and the remedy."""
    cells, columns = sum(found["cells"].values()), ", ".join(found["cells"])
    what = f"{count(cells, 'cell')} in {columns} would be a formula to a spreadsheet"
    done = "escaped by an apostrophe" if found["escaped"] else "--formulas escape makes it text"
    return f"  {what}; {done}"


def _rate(rate: Rate | None) -> str:
    if rate is None or not rate.trials:
        return ""
    from voile.report.wording import estimate

    value, interval = estimate(rate, "internal")
    return f"{value} ({interval})"


RISKS = frozenset({"max_risk", "mean_risk"})
SHARES = frozenset(
    {"relative_risk", "distribution", "resolution", "ncp", "unique_share", "published_tokens"}
)
"""Figures that are shown in percent, as in reports, in addition to those of a module's axes."""


def write_figures(
    kind: str, figures: Mapping[str, float], *, predicted: Collection[str] = ()
) -> str:
    """Write the first figures of a policy, for its holder. Files and JSON contain all figures.

    Parameters
    ----------
    predicted : the figures of a release that the fit predicts. The text marks them.
    """
    from voile.report.charts.numbers import share
    from voile.report.wording import share_and_odds

    axes, said = find_module(kind).axes, []
    for name, value in list(figures.items())[:FIGURES]:
        axis = name.removesuffix("_low").removesuffix("_high")
        end = name.removeprefix(axis)
        called = f"{axes.get(axis, axis)}{end}".replace("_", " ")
        if name in RISKS:
            shown = share_and_odds(value)
        else:
            shown = share(value) if axis in axes or name in SHARES else short(value)
        said.append(f"{called} {shown}{' (predicted by the fit)' * (name in predicted)}")
    return ", ".join(said)
