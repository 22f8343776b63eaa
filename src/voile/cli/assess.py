"""`voile KIND assess`: what a release that voile did not make discloses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli import parameters as shared
from voile.cli.results import show_evidence
from voile.cli.screen import Screen
from voile.cli.wing_options import WingCommand
from voile.data.files.outputs import REPORT
from voile.release.module import AnyModule, Assessing

if TYPE_CHECKING:
    from pydantic import BaseModel


def assess(module: AnyModule, verb: Assessing[Any]) -> click.Command:
    """Return the command of a kind whose releases by other makers are assessed."""

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

        REPORT.check_free(out, force=force)
        given = None if roles is None else Roles.read(roles)
        source = shared.open_and_report(screen, original, table, encoding, module.kind)
        theirs = shared.open_and_report(screen, released, table, encoding, module.kind)
        with screen.progress() as progress:
            made = verb.assess(source, theirs, given, options, seed=seed, progress=progress)
        found = Assessment.of(made, verb.sections)
        found.report(internal=internal).save(out, force=force)
        for sentence in found.summary:
            screen.say(sentence)
        show_evidence(screen, found.evidence)
        readers = "for the data holder alone" if internal else "for the public"
        screen.say(f"{out}: the report, {readers}")
        screen.result({"report": str(out), **found.to_data()})

    to = shared.out("REPORT", REPORT)
    own = [
        shared.source_argument("original"),
        shared.source_argument("released"),
        shared.path(
            "roles",
            "Roles file of the original: voile inspect proposes one.",
            required=module.requires_roles,
        ),
        *to,
        shared.flag("internal", "Internal report: includes small counts."),
        shared.seed(),
        *shared.reading(),
    ]
    return WingCommand("assess", run, own, lambda: verb.options)
