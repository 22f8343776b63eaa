"""The command `voile ledger`: the record of all releases of one source, evaluated together."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.parameters import VerbGroup, VoileCommand, argument, out, path, place
from voile.cli.results import write_figures
from voile.cli.screen import CommandScreen, count, show_table
from voile.cli.verify import FAILED, show_checks
from voile.data.files.outputs import INTERNAL_REPORT

if TYPE_CHECKING:
    from voile.ledger.audience import LedgerAudience

COLUMNS = ("line", "time", "act", "kind", "to", "alone", "joint", "why")


def _init(
    screen: CommandScreen,
    *,
    ledger: str,
    expected_matches: float | None,
    joint_risk: float | None,
    k: int,
    apart: tuple[tuple[str, str], ...],
    key_file: Path,
) -> None:
    """Begin a ledger, with the risk budget for all releases of one source.

    All recipients are assumed to share their releases, except the pairs of --apart. The ledger
    stays with the data holder. It contains no value of the data, but the time and risk of each
    release.
    """
    from voile.ledger.audience import LedgerAudience
    from voile.ledger.ledger import create
    from voile.ledger.promise import LedgerPromise

    promise, audience = LedgerPromise(expected_matches, joint_risk, k), LedgerAudience(apart)
    made = create(Path(ledger), promise, key_file, audience=audience)
    screen.say(f"{ledger}: all releases together keep to {promise}{_but_for(audience)}")
    said = {"promise": promise.to_data(), "apart": audience.to_data()}
    screen.result({"ledger": ledger, "id": made.id, **said})


def _but_for(audience: LedgerAudience) -> str:
    pairs = "; ".join(f"{one} and {other}" for one, other in audience.apart)
    return f", assuming that these pairs share no releases: {pairs}" if pairs else ""


def _show(screen: CommandScreen, *, ledger: str, out: Path | None, force: bool) -> None:
    """Show the entries of a ledger, and its risk budget.

    With --out, the command writes a page to read or print.
    """
    from voile.data.files.atomic import write_text
    from voile.ledger.ledger import Ledger
    from voile.release.ledger_checks import describe_ledger
    from voile.release.ledger_page import ledger_page

    read = Ledger.read_file(Path(ledger))
    if out is not None:
        write_text(out, ledger_page(read, Path(ledger).name), INTERNAL_REPORT, force=force)
        screen.say(f"{out}: the ledger as a page, for the data holder alone")
    said = describe_ledger(read)
    screen.say(f"{ledger}: all releases together keep to {read.promise}{_but_for(read.audience)}")
    if not screen.json:
        show_table(COLUMNS, _rows(said), sys.stdout, wraps="why")
    for number in said["open"]:
        screen.say(
            f"line {number} counts as released: nobody knows whether it was; "
            "voile ledger verify --releases FOLDER closes it"
        )
    screen.result(said)


def _rows(said: Mapping[str, Any]) -> list[list[Any]]:
    rows = []
    for line in said["lines"]:
        act = f"{line['act']} of {line['of']}" if "of" in line else line["act"]
        figures = [line.get(name, {}).get("matches") for name in ("alone", "joint")]
        why = line.get("override", line.get("reason"))
        what = line.get("kind"), line.get("recipient")
        rows.append([line["line"], line["time"][:16], act, *what, *figures, why])
    return rows


def _judge(
    screen: CommandScreen,
    *,
    ledger: str,
    kit: str,
    policy: Path,
    source: str | None,
    releases: tuple[Path, ...],
    recipient: str | None,
    key_file: Path,
) -> None:
    """Judge a policy together with all published releases. Nothing is written.

    --source contains the rows to be released. Without it, the command counts the rows of the fit.
    It exits with 0 if the risk budget is kept, and with 2 if it would be exceeded.
    """
    from voile.core.errors import RequestError
    from voile.ledger.judgement import judge_for
    from voile.ledger.ledger import open_ledger
    from voile.modules import find_module
    from voile.release.choice import Chosen
    from voile.release.kit import StoredKit

    fitted = StoredKit.load(Path(kit))
    module = find_module(fitted.kind)
    if module.judge is None:
        raise RequestError(f"voile cannot evaluate releases of {fitted.kind} together", where=kit)
    chosen = Chosen.read(policy)
    rows = None if source is None else module.open(source)
    judging = partial(module.judge, fitted, chosen, source=rows, releases=releases)
    with open_ledger(Path(ledger), key_file) as opened:
        judged = judge_for(recipient, judging, opened.ledger, opened.keys)
    judged.check(opened.ledger.promise)
    screen.say(f"{policy}: keeps the promise; {judged.in_words()}")
    if judged.policy:
        screen.say(f"  {write_figures(fitted.kind, judged.policy)}")
    screen.result({"ledger": ledger, "kit": fitted.id, "keeps_promise": True, **judged.to_data()})


def _erase(
    screen: CommandScreen,
    *,
    ledger: str,
    subjects: str,
    reason: str,
    releases: tuple[Path, ...],
    key_file: Path,
) -> None:
    """Leave people out of every further release, on their request.

    SUBJECTS has one subject per line. The ledger keeps a keyed token of each subject and the
    reason, but no name. Published releases cannot be recalled, so inform their recipients.
    """
    from voile.ledger.ledger import open_ledger
    from voile.release.archive import erase, showing
    from voile.release.reveal import read_subjects

    names = read_subjects(Path(subjects))
    with open_ledger(Path(ledger), key_file) as opened:
        tokens = erase(opened, names, reason)
        shows, unknown = showing(opened.ledger, tokens, releases)
    screen.say(f"{ledger}: {count(len(tokens), 'subject')} in no further release")
    if shows:
        screen.say(
            f"shown by {_lines(shows)}: tell their recipients, since nothing calls them back"
        )
    if unknown:
        screen.say(f"not known of {_lines(unknown)}: name their folder with --releases")
    screen.say(
        "a later release shows by their absence who left: it is refused until k of a group did"
    )
    screen.result({"ledger": ledger, "erased": len(tokens), "shown": shows, "unknown": unknown})


def _lines(numbers: Sequence[int]) -> str:
    said = ", ".join(map(str, numbers))
    return f"the release of line {said}" if len(numbers) == 1 else f"the releases of lines {said}"


def _verify(
    screen: CommandScreen,
    *,
    ledger: str,
    manifests: tuple[Path, ...],
    releases: tuple[Path, ...],
    key_file: Path | None,
) -> int:
    """Check a ledger, and close the intents of killed runs.

    The command exits with 1 if a check fails. Another copy of the ledger may have been extended.
    Only the manifest of a release under that copy can show this.
    """
    from voile.ledger.ledger import Ledger, LedgerKeys, open_ledger
    from voile.release.ledger_checks import close_intents, ledger_checks

    read = Ledger.read_file(Path(ledger))
    keys = None if key_file is None else LedgerKeys.of(key_file, read.id)
    checks = list(ledger_checks(read, keys, manifests))
    shown = show_checks(screen, checks)
    whole = all(one.holds is not False for one in checks)
    closed = []
    if releases and whole:
        with open_ledger(Path(ledger), key_file) as opened:
            closed = close_intents(opened, releases)
    for number, act in closed:
        was = "was released" if act == "done" else "released nothing"
        screen.say(f"line {number} {was}, and is closed")
    closes = [{"line": number, "act": act} for number, act in closed]
    screen.result({"ledger": ledger, "ok": whole, "checks": shown, "closed": closes})
    return 0 if whole else FAILED


def _key_file(*, required: bool) -> click.Option:
    help = "File with the secret key. voile records the ledger's last line next to it."
    return path("key-file", help, required=required)


def _source() -> click.Option:
    help = "Rows to release. voile evaluates feature sets on them."
    return place("source", "SOURCE", help, required=False)


def _folders(name: str, help: str) -> click.Option:
    kind = click.Path(path_type=Path, exists=True)
    return click.Option([f"--{name}"], type=kind, multiple=True, help=help)


_MATCHES = "Maximum number of expected matches from all releases together."
_RISK = "Maximum share of the source's expected matches in all releases together, 0 to 1."
_APART = (
    "Two recipients who cannot share their releases, with the names of "
    "--recipient. Repeatable [all share]."
)
_K = "Minimum number of subjects in a group that all releases together show [1]."

ledger = VerbGroup("ledger", help="Judge all releases of one source together.")
for _command in (
    VoileCommand(
        "init",
        _init,
        [
            argument("ledger"),
            click.Option(["--expected-matches"], type=float, help=_MATCHES),
            click.Option(["--joint-risk"], type=float, help=_RISK),
            click.Option(["--k"], type=int, default=1, help=_K),
            click.Option(["--apart"], type=(str, str), multiple=True, help=_APART),
            _key_file(required=True),
        ],
    ),
    VoileCommand(
        "show", _show, [argument("ledger"), *out("PAGE", INTERNAL_REPORT, required=False)]
    ),
    VoileCommand(
        "judge",
        _judge,
        [
            argument("ledger"),
            argument("kit"),
            path("policy", "The policy file that voile KIND choose wrote.", required=True),
            _source(),
            _folders("releases", "Folder with earlier releases and their private folders."),
            click.Option(["--recipient"], help="Recipient of the release [everybody]."),
            _key_file(required=True),
        ],
    ),
    VoileCommand(
        "erase",
        _erase,
        [
            argument("ledger"),
            argument("subjects"),
            click.Option(
                ["--reason"],
                required=True,
                help="Reason. The ledger records it, so do not name a person.",
            ),
            _folders(
                "releases",
                "Folder with releases. voile lists the releases that contain these people.",
            ),
            _key_file(required=True),
        ],
    ),
    VoileCommand(
        "verify",
        _verify,
        [
            argument("ledger"),
            _folders(
                "manifests",
                "Manifest of a release under this ledger, or a folder of such manifests.",
            ),
            _folders(
                "releases", "Folder with releases. voile closes the open entries of killed runs."
            ),
            _key_file(required=False),
        ],
    ),
):
    ledger.add_command(_command)
