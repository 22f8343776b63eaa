"""`voile study`: one plan over tables and notes of the same people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from voile.cli.parameters import Command, Group, argument, flag
from voile.cli.screen import Screen, count, short

SET_ASIDE = 1


def _fit(screen: Screen, *, plan: str, force: bool) -> None:
    """Fit the table of a plan, judge each policy beside the texts, and pick one.

    Writes the kit that the plan names, PLAN's name with .kit unless it says.
    """
    from voile.study import Study

    study = Study.open(plan)
    with screen.progress() as progress:
        kit = study.fit(force=force, progress=progress)
    number = kit.facts["chosen"][study.plan.table[0]]
    row = next(x for x in kit.tables["frontier"].to_pylist() if x["number"] == number)
    screen.say(f"{study.plan.kit}: policy {number} of {count(kit.policies, 'policy')} is picked")
    screen.say(
        f"  expected matches: table {short(row['table'])}, all parts {short(row['joint'])}, "
        f"at the recall of the notes' kits {short(row['joint_at_recall'])}"
    )
    screen.result({"kit": str(study.plan.kit), "id": kit.id, "policy": number, "figures": row})


def _apply(screen: Screen, *, plan: str, force: bool, allow_set_aside: bool) -> int:
    """Write the release of a plan: a folder with every part and one manifest.

    Beside it appears its .private folder, which never leaves. Exits with 1 when rows or texts could
    not be released and were set aside.
    """
    from voile.study import Study

    with screen.progress() as progress:
        release = Study.open(plan).apply(force=force, progress=progress)
    set_aside = 0
    for name, counts in release.counts.items():
        screen.say(f"{name}: {counts['released']:,} of {count(counts['read'], 'row')} released")
        set_aside += counts["set_aside"]
        for by in counts["set_aside_by"]:
            screen.insist(f"voile: {name}: {count(by['rows'], 'row')} set aside: {by['reason']}")
    found = (release.private or {})["figures"]
    screen.say(
        f"{release.path}: expected matches of {short(found['subjects'])} people: table "
        f"{short(found['table'])}, all parts {short(found['joint'])}, at the recall of the notes' "
        f"kits {short(found['joint_at_recall'])}"
    )
    screen.result({"release": str(release.path), "counts": dict(release.counts), "figures": found})
    return 0 if allow_set_aside or not set_aside else SET_ASIDE


def _command(name: str, run: Callable[..., Any], *options: click.Parameter) -> Command:
    force = flag("force", "Replace the output if voile wrote it.")
    return Command(name, run, [argument("plan"), *options, force])


@click.group("study", cls=Group)
def study() -> None:
    """Release tables and notes of the same people under one plan.

    \b
    voile study fit study.toml
    voile study apply study.toml
    """


ALLOW = "Exit with 0 even if rows could not be released."
for _verb in (_command("fit", _fit), _command("apply", _apply, flag("allow-set-aside", ALLOW))):
    study.add_command(_verb)
