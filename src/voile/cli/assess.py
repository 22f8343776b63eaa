"""`voile KIND assess`: what a release that voile did not make discloses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.parameters import (
    flag,
    open_and_report,
    out,
    path,
    reading,
    seed,
    source_argument,
)
from voile.cli.results import show_evidence
from voile.cli.screen import Screen
from voile.cli.wing_options import WingCommand
from voile.data.files.outputs import REPORT
from voile.wings import ROLES_OPTIONAL, assessing

if TYPE_CHECKING:
    from pydantic import BaseModel


def assess(kind: str) -> click.Command:
    """Return the command of a kind of `ASSESSED`."""

    def run(
        screen: Screen,
        *,
        original: str,
        released: str,
        roles: Path | None,
        out: Path,
        internal: bool,
        seed: int | None,
        table: str | None,
        encoding: str | None,
        force: bool,
        options: BaseModel,
    ) -> None:
        """Assess a release that voile did not make, beside its original.

        Writes a report: one HTML page with the risks, what was lost, and what attacks found. --json
        prints all figures, for the data holder.
        """
        from voile.data.roles import Roles
        from voile.face.assessment import Assessment

        wing = assessing(kind)
        REPORT.check_free(out, force=force)
        given = None if roles is None else Roles.read(roles)
        source = open_and_report(screen, original, table, encoding, kind)
        theirs = open_and_report(screen, released, table, encoding, kind)
        with screen.progress() as progress:
            made = wing.assess(source, theirs, given, options, seed=seed, progress=progress)
        found = Assessment.of(made)
        found.report(internal=internal).save(out, force=force)
        for sentence in found.summary:
            screen.say(sentence)
        show_evidence(screen, found.evidence)
        readers = "for the data holder alone" if internal else "for the public"
        screen.say(f"{out}: the report, {readers}")
        screen.result({"report": str(out), **found.to_data()})

    to = out("REPORT", REPORT)
    own = [
        source_argument("original"),
        source_argument("released"),
        path(
            "roles",
            "Roles file of the original: voile inspect proposes one.",
            required=kind not in ROLES_OPTIONAL,
        ),
        *to,
        flag("internal", "Internal report: includes small counts."),
        seed(),
        *reading(),
    ]
    return WingCommand("assess", run, own, lambda: assessing(kind).AssessOptions)
