"""The commands `voile determine` and `voile sign`: a decision about a release and its signing."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.destination import DestinationOption
from voile.cli.parameters import VoileCommand, argument, evidence, key_file, out, path
from voile.cli.screen import CommandScreen
from voile.core.errors import RequestError
from voile.data.files.outputs import CONTEXT, DETERMINATION

if TYPE_CHECKING:
    from voile.determination.determination import Determination
    from voile.determination.subject import JudgedRelease

DECISIONS = ("approve", "approve with conditions", "refuse", "renew", "withdraw")


def _determine(
    screen: CommandScreen,
    *,
    release: str,
    context: Path | None,
    out: Path | None,
    template: Path | None,
    evidence: tuple[Path, ...],
    key_file: Path | None,
    ledger: Path | None,
    pdf: bool,
    force: bool,
) -> None:
    """Judge a release for a recipient and a purpose.

    The command writes a folder for people to sign. It contains the page, its Markdown, its facts as
    JSON, and a PDF if the system has Chromium. Start with --template, which writes a context to
    fill in.
    """
    from voile.determination import determine
    from voile.determination.subject import open_subject

    subject = open_subject(release)
    if template is not None:
        return write_context(screen, subject, template, context, out, force=force)
    if context is None or out is None:
        raise RequestError(ASKED)
    one = determine(
        subject,
        context,
        out,
        evidence=evidence or None,
        key_file=key_file,
        ledger=ledger,
        pdf=pdf,
        force=force,
    )
    say_verdicts(screen, one, out)
    return None


ASKED = "a determination needs --context and --out; --template FILE writes a context to fill in"


def write_context(
    screen: CommandScreen,
    subject: JudgedRelease,
    template: Path,
    context: Path | None,
    out: Path | None,
    *,
    force: bool,
) -> None:
    """Write a context to fill in, and do nothing else."""
    from datetime import UTC

    from voile.data.files.atomic import write_text
    from voile.determination import write_template

    if context is not None or out is not None:
        raise RequestError(
            "--template writes only a context file", instead="leave out --context and --out"
        )
    today = datetime.now(UTC).date()
    write_text(template, write_template(subject, today=today), CONTEXT, force=force)
    screen.say(f"{template}: write each text that begins with TO DO")
    screen.result({"template": str(template)})


def say_verdicts(screen: CommandScreen, one: Determination, out: Path) -> None:
    """Show the verdict of each criterion, and the determination's path."""
    rows = {each.name: each.verdict for each in one.criteria}
    width = max(map(len, rows))
    for name, verdict in rows.items():
        screen.show(f"{name:<{width}}  {verdict}")
    for warning in one.context.warnings:
        screen.insist(f"voile: warning: {warning}")
    screen.say(f"{out}: {one.verdict}, until {one.context.expires.isoformat()}; not signed yet")
    screen.result({"determination": str(out), "verdict": one.verdict, "criteria": rows})


def _sign(
    screen: CommandScreen,
    *,
    folder: str,
    decision: str,
    signer: str,
    key: Path | None,
    signers: Path | None,
    until: datetime | None,
    condition: tuple[str, ...],
    reason: str,
) -> None:
    """Sign a determination: approve, refuse, renew or withdraw.

    The command adds one statement, which refers to the previous one. Without --key, the command
    only writes the statement, and you sign it with ssh-keygen. With --signers, it checks the signer
    and the key before it writes.
    """
    from voile.determination import sign
    from voile.determination.sign_statement import signing
    from voile.keys.seal import file_sha256

    day: date | None = until.date() if until else None
    statement = sign(
        folder,
        decision,  # type: ignore[arg-type]  # click offers no other
        signer=signer,
        key=key,
        signers=signers,
        until=day,
        conditions=condition,
        reason=reason,
    )
    if signers is None:
        screen.say("the signer was not checked: --signers FILE does, before it signs")
    sha256 = file_sha256(statement)
    screen.say(f"{statement}: {decision}, by {signer}")
    screen.say(f"hash, for voile verify --last: {sha256}")
    if key is None:
        screen.say(signing(statement))
    made = {"statement": str(statement), "sha256": sha256, "decision": decision}
    screen.result({**made, "signed": key is not None})


def template() -> DestinationOption:
    help = "Write a context to fill in, with this release's columns, and stop."
    return DestinationOption("--template", "FILE", CONTEXT, help=help, required=False)


determine = VoileCommand(
    "determine",
    _determine,
    [
        argument("release"),
        path("context", "TOML file with recipient, purpose, thresholds and expiry."),
        *out("FOLDER", DETERMINATION, required=False),
        template(),
        evidence(),
        key_file(),
        path(
            "ledger",
            "Ledger with an entry of the release. The determination then states the joint risk.",
        ),
        click.Option(
            ["--pdf/--no-pdf"],
            default=True,
            help="Also write a PDF with Chromium [if Chromium is installed].",
        ),
    ],
)
sign = VoileCommand(
    "sign",
    _sign,
    [
        argument("folder"),
        click.Option(
            ["--decision"],
            type=click.Choice(DECISIONS),
            required=True,
            help="The signer's decision.",
        ),
        click.Option(
            ["--as", "signer"],
            metavar="SIGNER",
            required=True,
            help="Signer, as the file of allowed signers lists them, such as an e-mail address.",
        ),
        path("key", "File with an Ed25519 key of OpenSSH without a passphrase."),
        path("signers", "File of allowed signers, which voile checks before it signs."),
        click.Option(
            ["--until"],
            type=click.DateTime(["%Y-%m-%d"]),
            metavar="DAY",
            help="Last day of an approval or a renewal [the context's].",
        ),
        click.Option(["--condition"], multiple=True, help="Condition of an approval. Repeatable."),
        click.Option(["--reason"], default="", help="Reason, in the signer's words."),
    ],
)
