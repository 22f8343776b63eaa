"""The command `voile open`: the workbench, a local page for the same verbs and files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from voile.cli.parameters import VoileCommand
from voile.cli.screen import CommandScreen


def _open(
    screen: CommandScreen,
    *,
    project: Path | None,
    person: Sequence[str],
    port: int,
    browser: bool,
) -> None:
    """Open the workbench: from a table to a signed release, in your browser.

    PROJECT is the folder of a project, a table, or the folder of a study. For a table or a study,
    voile makes a project next to it. Without PROJECT, voile opens the project of the current
    folder. Each click runs one command, and history.sh contains all of them.
    """
    from voile.workbench.serve_project import serve_project

    notify = partial(print, file=sys.stderr, flush=True)
    serve_project(project, port=port, browser=browser, notify=notify, people=person)


open_command = VoileCommand(
    "open",
    _open,
    [
        click.Argument(["project"], metavar="[PROJECT|TABLE]", required=False, type=Path),
        click.Option(
            ["--person"],
            type=click.Choice(["reviewer", "approver"]),
            multiple=True,
            help="Also print an address for this person. Repeatable.",
        ),
        click.Option(
            ["--port"],
            type=click.IntRange(0, 65535),
            default=0,
            metavar="INTEGER",
            help="Port of the page [a free one].",
        ),
        click.Option(
            ["--browser/--no-browser"], default=True, help="Open the page in your browser [yes]."
        ),
    ],
)
