"""`voile signals decode`: the recipient's side of apply."""

from __future__ import annotations

from pathlib import Path

import click

from voile.cli.parameters import (
    Command,
    argument,
    load_kit,
    open_told,
    out,
    path,
    place,
    reading,
)
from voile.cli.screen import Screen, count
from voile.data.files.outputs import READINGS

ASIDE = 1


def decode(kind: str) -> click.Command:
    """Return the command."""

    def run(
        screen: Screen,
        *,
        kit: str,
        release: str,
        policy: Path,
        classes: str,
        out: Path,
        table: str | None,
        encoding: str | None,
        force: bool,
    ) -> int:
        """Decode the readings of a release, knowing each subject's class.

        CLASSES has a row for each pseudonym of the release, with its class; apply writes one as
        RELEASE.private/classes.csv, for the recipient alone. Rows with a reading outside the map's
        range go to OUT.set-aside.jsonl, and the exit code is 1.
        """
        from voile.release.choice import Chosen
        from voile.release.manifest import Release
        from voile.signals.wing import decode

        fitted, chosen = load_kit(Path(kit), kind), Chosen.read(policy)
        opened = open_told(screen, classes, table, encoding)
        with screen.progress() as progress:
            rows, set_aside, aside = decode(
                fitted,
                chosen,
                Release.open(Path(release)),
                opened,
                out,
                force=force,
                progress=progress,
            )
        screen.say(f"{out}: {count(rows, 'row')} decoded")
        if set_aside:
            screen.insist(f"{count(set_aside, 'row')} outside the range, in {aside}")
        screen.result({"decoded": str(out), "rows": rows, "set_aside": set_aside})
        return ASIDE if set_aside else 0

    asked = path("policy", "The policy file that the release was applied with.", required=True)
    known = place("classes", "CLASSES", "The class of each pseudonym.")
    own = [
        argument("kit"),
        argument("release"),
        asked,
        known,
        *out("READINGS", READINGS),
        *reading(),
    ]
    return Command("decode", run, own)
