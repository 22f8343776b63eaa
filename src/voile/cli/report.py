"""`voile report`: the page of a kit or a release, for the public or for the data holder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.evidence_file import default_place, read_evidence
from voile.cli.parameters import Command, flag, key_file, out
from voile.cli.screen import Screen, count
from voile.core.errors import RequestError
from voile.data.files.outputs import REPORT
from voile.wings import wing

if TYPE_CHECKING:
    from voile.core.evidence import Evidence
    from voile.keys.secret import Secret
    from voile.release.kit import Kit
    from voile.release.manifest import Release
    from voile.report.sections import Audience


def _report(
    screen: Screen,
    *,
    subject: str,
    out: Path,
    internal: bool,
    evidence: tuple[Path, ...],
    key_file: Path | None,
    force: bool,
) -> None:
    """Write the report of a kit or a release.

    One HTML page that opens from disk without a network, and prints.
    """
    from voile.data.files.atomic import write_text
    from voile.data.files.own_files import fitting
    from voile.keys.secret import Secret
    from voile.report import render

    secret = Secret.find(key_file)
    shown = _open(Path(subject), secret)
    found = _evidence(shown, evidence, secret)
    audience: Audience = "internal" if internal else "public"
    with fitting("what is reported", Path(subject)):
        page = render(
            f"{Path(subject).name}: what it discloses, what it keeps",
            wing(shown.kind).sections(shown, found, audience=audience),
            audience=audience,
            facts=_facts(shown, audience),
        )
    write_text(out, page, REPORT, force=force)
    attacks = f"with the evidence of {count(len(found), 'attack')}" if found else "without evidence"
    readers = "for the data holder alone" if internal else "for the public"
    screen.say(f"{out}: the report, {readers}, {attacks}")
    screen.result({"report": str(out), "audience": audience, "attacks": [e.attack for e in found]})


def _open(place: Path, secret: Secret | None) -> Kit | Release:
    from voile.data.files.outputs import KIT_INDEX
    from voile.release.kit import Kit
    from voile.release.manifest import Release
    from voile.release.verify import check_seal

    if (place / KIT_INDEX).exists():
        return Kit.load(place)
    release = Release.open(place)
    check_seal(release, secret)  # the page speaks of these bytes and figures
    return release


def _evidence(
    shown: Kit | Release, given: tuple[Path, ...], secret: Secret | None
) -> tuple[Evidence, ...]:
    from voile.release.manifest import Release

    if not isinstance(shown, Release):
        if given:
            raise RequestError("evidence is about a release", instead="report the release")
        return ()
    default = default_place(shown)
    places = given or ((default,) if default.exists() else ())
    return tuple(one for place in places for one in read_evidence(place, shown, secret))


def _facts(shown: Kit | Release, audience: Audience) -> dict[str, str]:
    """Say how to reproduce it; a kit's id follows from the data, and stays with the holder."""
    import voile
    from voile.release.choice import Choice, in_words
    from voile.release.manifest import Release

    facts = {"voile": voile.__version__, "kind of data": shown.kind}
    if isinstance(shown, Release):
        facts["release, SHA-256"] = str(shown.public["sha256"])
        if shown.private is not None and audience == "internal":
            chosen = shown.private["chosen"]
            number = "edited" if chosen["number"] is None else f"number {chosen['number']}"
            how = in_words(Choice.from_data(chosen["choice"]), edited=chosen["edited"])
            facts["policy"] = f"{number} ({how})"
            facts["kit"] = str(shown.private["kit"])
    elif audience == "internal":
        facts["kit"] = shown.id
    return facts


report = Command(
    "report",
    _report,
    [
        click.Argument(["subject"], metavar="KIT|RELEASE", type=click.Path()),
        *out("REPORT", REPORT),
        flag("internal", "Internal report: includes small counts."),
        click.Option(
            ["--evidence"],
            metavar="FILE",
            multiple=True,
            type=click.Path(path_type=Path),
            help="What attacks found [RELEASE.private/evidence.json where it is].",
        ),
        key_file(),
    ],
)
