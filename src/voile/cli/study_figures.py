"""Print the figures of a study as lines: matches, dates, known facts, guesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voile.cli.screen import CommandScreen, count, short

if TYPE_CHECKING:
    from voile.gate.finding import GateFinding

SAID = 2
"""The number of known facts for which figures are shown, in addition to none and all."""


def describe_matches(found: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Write the expected matches of the table and all parts, at the best and worst recall in texts.

    Parameters
    ----------
    facts : the facts of the kit or the public manifest. They list the texts that nobody accepted.
    """
    from voile.study.study_release import has_proofs, unaccepted_in

    table, best, worst = (short(found[x]) for x in ("table", "joint", "joint_at_recall"))
    if unaccepted_in(facts):
        return f"table {table}, all parts with all names hidden {best}, with no name hidden {worst}"
    limit = "limit that readers proved" if has_proofs(facts) else "recall of the notes' kits"
    return f"table {table}, all parts {best}, at the {limit} {worst}"


def say_export(screen: CommandScreen, counts: dict[str, Any]) -> None:
    """Print the released rows of the export, and the rejected ones with their reasons."""
    from voile.study.carriers.carrier import SUPPRESSED

    for name, one in counts.items():
        screen.say(f"export, {name}: {one['released']:,} of {count(one['read'], 'row')} released")
        for reason, rows in one["set_aside_by"].items():
            if reason not in SUPPRESSED:
                screen.insist(f"voile: export, {name}: {count(rows, 'row')} rejected: {reason}")


def say_dates(screen: CommandScreen, findings: Iterable[GateFinding]) -> None:
    """Show the result of an adversary who knows some true dates of a person."""
    from voile.gate.people import ALONE
    from voile.study.adversary.date_attack import GUESSED, KNOWS_DATES

    for one in findings:
        if (one.name, one.knows) == (ALONE, KNOWS_DATES.knows):
            share = one.value / (one.n or 1)
            screen.say(f"  {one.of} leave one released person: {share:.0%} of people")
        if one.name == GUESSED:
            screen.say(
                f"  the offset is guessed of {one.value:,.0f} of {count(one.n or 0, 'person')}, "
                "by weekdays, months, and the first and last day"
            )


def say_informed(screen: CommandScreen, informed: Sequence[Mapping[str, Any]]) -> None:
    """Show the result of an adversary who knows a released person's group and some facts."""
    for one in informed:
        found = f"{short(one['matches'])} expected matches of {count(one['people'], 'person')}"
        if one["facts"] == 0:
            screen.say(f"  knowing the table's columns, and that the person is released: {found}")
        elif one["facts"] == SAID:
            screen.say(f"    and the most revealing {SAID} facts of {one['part']}: {found}")
        elif one["facts"] is None:
            screen.say(f"    and every fact of {one['part']}: {found}, {one['alone']:,.0f} alone")


def say_guesses(screen: CommandScreen, guesses: Sequence[Mapping[str, Any]]) -> None:
    """Show how well a classifier guesses a column from the released texts."""
    for one in guesses:
        screen.say(
            f"  {one['column']} guessed from the texts: balanced accuracy {one['accuracy']:.1%} "
            f"({one['low']:.1%} to {one['high']:.1%}; chance {one['chance']:.0%})"
        )
