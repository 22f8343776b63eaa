"""The command `voile roles`, which shows or corrects a roles file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from voile.cli.parameters import VoileCommand
from voile.cli.screen import CommandScreen, show_table
from voile.core.errors import printable


def _roles(
    screen: CommandScreen, *, file: Path, change: tuple[str, ...], subject: str | None
) -> None:
    """Show a roles file, or correct it in its place.

    For example: voile roles roles.toml --set zip=quasi --set "birth=quasi,by='year'"
    """
    from voile.data.roles import Roles
    from voile.data.roles_file import correct_roles_file

    if change or subject is not None:
        roles = correct_roles_file(file, change, subject=subject)
        screen.say(f"{file}: corrected")
    else:
        roles = Roles.read(file)
    screen.result({"roles_file": str(file), **roles.model_dump(mode="json")})
    if not screen.json and not change and subject is None:
        rows = [
            (printable(name), one.role, ", ".join(f"{k} = {v!r}" for k, v in one.settings.items()))
            for name, one in roles.columns.items()
        ]
        show_table(("column", "role", "settings"), rows, sys.stdout)


roles = VoileCommand(
    "roles",
    _roles,
    [
        click.Argument(["file"], metavar="ROLES", type=click.Path(path_type=Path)),
        click.Option(
            ["--set", "change"],
            multiple=True,
            metavar="COLUMN=ROLE",
            help="Set the role of a column. Settings follow the role after commas. Repeatable.",
        ),
        click.Option(
            ["--subject"],
            metavar="COLUMN",
            help="Column that identifies the person of a row; empty for no such column.",
        ),
    ],
)
