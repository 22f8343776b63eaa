"""The command `voile verify`, with which anyone can check a release or a determination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.parameters import SourcePath, VoileCommand, key_file, out, path
from voile.cli.screen import CommandScreen
from voile.core.errors import RequestError
from voile.data.files.outputs import REPORT

if TYPE_CHECKING:
    from voile.release.verify import ReleaseCheck

FAILED = 1
STATES = {True: "ok", False: "FAILED", None: "not checked"}


def _verify(
    screen: CommandScreen,
    *,
    subject: str,
    signers: Path | None,
    release: Path | None,
    ledger: Path | None,
    last: str | None,
    key_file: Path | None,
    out: Path | None,
    force: bool,
) -> int:
    """Check a release against its manifests, or a determination with its signatures.

    The command exits with 1 if a check fails, or if the private folder is not next to the release:
    figures about people need it. It lists the checks that could not be made. Some checks need the
    secret that sealed the release. A determination needs --signers. Without it no signature is
    confirmed, and the command exits with 1. With --out, the command writes the determination's page
    with every signer's name, key fingerprint and decision.
    """
    from voile.data.files.outputs import is_determination

    if is_determination(Path(subject)):
        given = {"signers": signers, "release": release, "ledger": ledger, "last": last}
        return _determination(screen, subject, {**given, "key_file": key_file}, out, force=force)
    if any(one is not None for one in (signers, release, ledger, last, out)):
        raise RequestError("the path is a release, but --signers, --release, --ledger, --last and "
"--out need a determination", where=subject, instead="leave these options out")  # fmt: skip
    from voile.determination.subject import is_study, open_subject
    from voile.keys.secret import Secret
    from voile.opening import open_release
    from voile.release.verify import are_whole

    if is_study(Path(subject)):
        found = [*open_subject(subject).checks(Secret.find(key_file))]
    else:
        found = [*open_release(subject).verify(key_file=key_file)]
    whole = are_whole(found)
    screen.result({"release": subject, "ok": whole, "checks": show_checks(screen, found)})
    return 0 if whole else FAILED


def _determination(
    screen: CommandScreen, folder: str, given: Mapping[str, Any], out: Path | None, *, force: bool
) -> int:
    from voile.determination import verify as verify_determination
    from voile.determination import write_signed_page

    found = verify_determination(folder, **given)
    if out is not None:
        write_signed_page(folder, found, out, force=force)
        screen.say(f"{out}: the page with its signatures")
    shown = show_checks(screen, found.checks)
    if not screen.json:
        print(found.says)
    screen.result({"determination": folder, "ok": found.holds, "says": found.says, "checks": shown})
    return 0 if found.holds else FAILED


def show_checks(screen: CommandScreen, checks: Iterable[ReleaseCheck]) -> list[dict[str, object]]:
    """Show each check and its state, and return them in the form of the result."""
    shown: list[dict[str, object]] = []
    for says, holds in checks:
        shown.append({"check": says, "ok": holds})
        if not screen.json:
            print(f"{STATES[holds]:<11} {says}")
    return shown


verify = VoileCommand(
    "verify",
    _verify,
    [
        click.Argument(["subject"], metavar="RELEASE|FOLDER", type=SourcePath()),
        path("signers", "File of allowed signers of a determination, in the format of OpenSSH."),
        path(
            "release",
            "Release of a determination [the file with the release's name next to the folder].",
        ),
        path("ledger", "Ledger of a determination's joint risk, which only the data holder has."),
        click.Option(
            ["--last"],
            metavar="HASH",
            help=(
                "Hash that `voile sign` printed for the last statement. It shows that no "
                "later statement is missing."
            ),
        ),
        key_file(),
        *out("PAGE", REPORT, required=False),
    ],
)
