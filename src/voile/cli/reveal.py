"""The command `voile reveal`, which finds the person of a pseudonym and records the use."""

from __future__ import annotations

from pathlib import Path

import click

from voile.cli.parameters import VoileCommand, path
from voile.cli.screen import CommandScreen


def _reveal(
    screen: CommandScreen,
    *,
    pseudonym: str,
    key_file: Path,
    subjects: Path,
    recipient: str,
    reason: str,
) -> None:
    """Find the subject of a pseudonym, for re-contact.

    Only the data holder can do this, because it needs the secret and the list of subjects. The
    command first records the use in KEY.reveals next to the secret, with the reason but without the
    name.
    """
    from voile.keys.pseudonyms import purpose_of
    from voile.release.reveal import read_subjects, reveal

    found = reveal(
        pseudonym, read_subjects(subjects), key_file, reason, purpose=purpose_of(recipient)
    )
    if not screen.json:
        print(found)
    screen.result({"pseudonym": pseudonym, "subject": found})


reveal = VoileCommand(
    "reveal",
    _reveal,
    [
        click.Argument(["pseudonym"], metavar="PSEUDONYM"),
        path("key-file", "File with the secret key of the pseudonym.", required=True),
        path("subjects", "File of the subjects, one per line.", required=True),
        click.Option(["--recipient"], help="Recipient of the pseudonym, as for apply."),
        click.Option(
            ["--reason"], required=True, help="Reason. voile records it, so do not name a person."
        ),
    ],
)
