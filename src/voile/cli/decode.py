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
from voile.io.outputs import READINGS


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
    ) -> None:
        """Decode the readings of a release, knowing each subject's class.

        CLASSES has a row for each pseudonym of the release, with its class; apply writes one as
        RELEASE.private/classes.csv, for the recipient alone.
        """
        from voile.kit import Chosen
        from voile.release import Release
        from voile.signals.wing import decode

        fitted, chosen = load_kit(Path(kit), kind), Chosen.read(policy)
        opened = open_told(screen, classes, table, encoding)
        with screen.progress() as progress:
            rows = decode(
                fitted,
                chosen,
                Release.open(Path(release)),
                opened,
                out,
                force=force,
                progress=progress,
            )
        screen.say(f"{out}: {count(rows, 'row')} decoded")
        screen.result({"decoded": str(out), "rows": rows})

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
