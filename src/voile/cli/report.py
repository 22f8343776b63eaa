"""The command `voile report`: the page of a kit or a release, for the public or the data holder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.parameters import SourcePath, VoileCommand, evidence, flag, key_file, out
from voile.cli.screen import CommandScreen, count
from voile.core.errors import RequestError
from voile.data.files.outputs import REPORT

if TYPE_CHECKING:
    from voile.keys.secret import Secret
    from voile.release.kit import StoredKit
    from voile.release.manifest import StoredRelease
    from voile.report.sections import Audience


def _report(
    screen: CommandScreen,
    *,
    subject: str,
    out: Path,
    internal: bool,
    evidence: tuple[Path, ...],
    key_file: Path | None,
    force: bool,
) -> None:
    """Write the report of a kit or a release.

    The report is one HTML page that opens from disk without a network, and prints.
    """
    from voile.face.report import report_of
    from voile.keys.secret import Secret
    from voile.modules import find_module
    from voile.release.evidence import find_evidence
    from voile.release.kit import StoredKit

    secret = Secret.find(key_file)
    shown = _open(Path(subject), secret)
    if isinstance(shown, StoredKit) and evidence:
        raise RequestError(
            "the path is a kit, and evidence belongs to a release",
            instead="give the path of the release",
        )
    found = () if isinstance(shown, StoredKit) else find_evidence(shown, secret, evidence or None)
    audience: Audience = "internal" if internal else "public"
    report_of(shown, find_module(shown.kind), found, audience, Path(subject).name).save(
        out, force=force
    )
    attacks = f"with the evidence of {count(len(found), 'attack')}" if found else "without evidence"
    readers = "for the data holder alone" if internal else "for the public"
    screen.say(f"{out}: the report, {readers}, {attacks}")
    screen.result({"report": str(out), "audience": audience, "attacks": [e.attack for e in found]})


def _open(place: Path, secret: Secret | None) -> StoredKit | StoredRelease:
    from voile.data.files.outputs import KIT_INDEX
    from voile.release.kit import StoredKit, kit_folder
    from voile.release.manifest import StoredRelease
    from voile.release.verify import check_seal

    if (kit_folder(place) / KIT_INDEX).exists():
        return StoredKit.load(place)
    release = StoredRelease.open(place)
    check_seal(release, secret)  # the page describes these bytes and figures
    return release


report = VoileCommand(
    "report",
    _report,
    [
        click.Argument(["subject"], metavar="KIT|RELEASE", type=SourcePath()),
        *out("REPORT", REPORT),
        flag("internal", "Write an internal report, which includes small counts."),
        evidence(),
        key_file(),
    ],
)
