"""The command `voile study`: one plan for tables and notes of the same people."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.determine import say_verdicts, template, write_context
from voile.cli.parameters import VerbGroup, VoileCommand, argument, flag, out, path, place
from voile.cli.screen import CommandScreen, count, short, show_table
from voile.cli.study_figures import (
    describe_matches,
    say_dates,
    say_export,
    say_guesses,
    say_informed,
)
from voile.cli.verify import FAILED, show_checks
from voile.cli.wing_options import WingCommand
from voile.core.errors import RequestError
from voile.data.files.outputs import DETERMINATION, KIT, REPORT

if TYPE_CHECKING:
    from voile.study import Study

SET_ASIDE = 1
MOST_REMEDIES = 3
"""The number of remedies that apply lists. The report lists all of them."""


def _init(
    screen: CommandScreen,
    *,
    place: str,
    out: Path,
    as_of: datetime | None,
    force: bool,
    **given: Any,
) -> None:
    """Write a plan for a folder, a FHIR bulk export or an OMOP schema.

    The plan gives a reason for each line. Read it and correct it. The command also writes the roles
    of the tables and a new secret next to the plan.
    """
    from voile.study.verbs.init import init

    day = None if as_of is None else as_of.date()
    made = init(place, out, **given, as_of=day, force=force)
    roles = [str(one) for one in made.roles]
    screen.say(f"{made.plan}: read it and {', '.join(roles)} and correct them")
    if made.key is not None:
        screen.say(f"{made.key}: a fresh secret, which never leaves")
    screen.result({"plan": str(made.plan), "roles": roles})


def _check(screen: CommandScreen, *, plan: str) -> None:
    """Check a plan on its data without training: roles, counts, texts and k.

    `init` and `fit` run the same checks. They take seconds.
    """
    study = _open_study(plan)
    study.check()
    screen.say(f"{plan}: the plan passes the checks of fit")
    screen.result({"plan": plan, "ok": True})


def _open_study(plan: str, ledger: Path | None = None) -> Study:
    from voile.study import Study

    return Study.open(plan, ledger=ledger, words=nullcontext)


def _fit(screen: CommandScreen, *, plan: str, ledger: Path | None, force: bool) -> None:
    """Fit the table of a plan, evaluate each policy with the texts, and choose one.

    The command writes the plan's kit. If the plan does not name the kit, it is named like PLAN with
    the ending .kit.
    """
    study = _open_study(plan, ledger)
    with screen.progress() as progress:
        kit = study.fit(force=force, progress=progress)
    named = kit.facts["chosen"][study.plan.table[0]]
    number = named if isinstance(named, int) else None
    row = next(x for x in kit.tables["frontier"].to_pylist() if x["number"] == number)
    which = "one beside" if number is None else f"policy {number} of"
    screen.say(f"{study.plan.kit}: {which} {count(kit.policies, 'policy')} is picked")
    screen.say(f"  expected matches: {describe_matches(row, kit.facts)}")
    screen.result({"kit": str(study.plan.kit), "id": kit.id, "policy": number, "figures": row})


def _review(screen: CommandScreen, *, options: Any, plan: str, part: str | None) -> int:
    """Read and correct the proposals of the notes' kit, on a local page.

    An export can be reviewed too. It is unpacked into a folder of mode 0700 until the review ends.
    After that, study apply uses the kit that learnt from the review.
    """
    ended = _open_study(plan).review(options, screen, part=part)
    screen.result(ended.result)
    return ended.code


def _review_options() -> Any:
    from voile.study.verbs.review import ReviewOptions

    return ReviewOptions


def _accept(screen: CommandScreen, *, options: Any, study: str, part: str | None) -> int:
    """Prove by reading that few identifiers remain in the texts of the release.

    A local page shows the likeliest remaining identifiers, then random words. Some seeded
    identifiers measure the reader. voile removes the identifiers that readers find from the
    release. It then measures the release again, and replaces it. The proved limit enters the joint
    figures. Run the same command again after an interruption. It exits with 1 if the goal is not
    proved, or not yet.
    """
    ended = _open_study(study).accept(options, screen, part=part)
    screen.result(ended.result)
    return ended.code


def _reading_options() -> Any:
    from voile.study.verbs.accept import ReadingOptions

    return ReadingOptions


def _apply(
    screen: CommandScreen,
    *,
    plan: str,
    ledger: Path | None,
    override: str | None,
    force: bool,
    allow_set_aside: bool,
) -> int:
    """Write the release of a plan: a folder with every part and one manifest.

    The command also writes a folder that ends in .private, which you keep. It exits with 1 if rows
    or texts of a part are rejected. Suppressed rows do not change the exit code, and neither do
    rows of an export without a rule.
    """
    from voile.study.risk.remedies import PlanRemedy
    from voile.study.text.mentions import SUPPRESSED_PERSON

    with screen.progress() as progress:
        study = _open_study(plan, ledger)
        release = study.apply(override=override, force=force, progress=progress)
    set_aside = 0
    people = (release.private or {})["people"]
    for name, counts in release.counts.items():
        whose = people[name]
        screen.say(
            f"{name}: {counts['released']:,} of {count(counts['read'], 'row')}, of "
            f"{whose['released']:,} of {whose['read']:,} people, released"
        )
        for by in counts["set_aside_by"]:
            if by["reason"] == SUPPRESSED_PERSON:
                screen.say(f"  {count(by['rows'], 'row')} suppressed: {by['reason']}")
                continue
            set_aside += by["rows"]
            screen.insist(f"voile: {name}: {count(by['rows'], 'row')} rejected: {by['reason']}")
    if release.public["figures"]["values_in_text"]:
        screen.insist(f"voile: {(release.private or {})['values'][0]['sentence']}")
    say_export(screen, (release.private or {}).get("export", {}).get("counts", {}))
    found = (release.private or {})["figures"]
    screen.say(
        f"{release.path}: expected matches of {short(found['subjects'])} people: "
        f"{describe_matches(found, release.public)}"
    )
    say_dates(screen, release.findings)
    say_guesses(screen, release.public["guesses"])
    informed = (release.private or {})["informed"]
    say_informed(screen, informed)
    for one in (release.private or {})["remedies"][:MOST_REMEDIES]:
        screen.insist(f"voile: remedy: {PlanRemedy(**one).says}")
    result = {"release": str(release.path), "counts": dict(release.counts), "figures": found}
    screen.result({**result, "informed": informed})
    return 0 if allow_set_aside or not set_aside else SET_ASIDE


def _frontier(screen: CommandScreen, *, plan: str) -> None:
    """Show the joint frontier: expected matches of the table alone and of all parts."""
    table = _open_study(plan).frontier
    screen.result({"policies": table.to_pylist()})
    if not screen.json:
        rows = [tuple(row.values()) for row in table.to_pylist()]
        show_table(table.column_names, rows, sys.stdout)


def _attack(screen: CommandScreen, *, plan: str, register: str | None, parts: bool) -> None:
    """Attack all parts together: by the contents of each, by true dates, and with a register.

    An acquaintance knows a person's values in some parts, or some true dates. With a register, the
    adversary links the released people by rows, and by ages and pronouns in texts. The command
    stores these findings and those of --parts in the private folder, for `determine`.
    """
    from voile.gate.people import ALONE, MATCHES
    from voile.study.adversary.acquaintance import GROUP, by_knowledge

    with screen.progress() as progress:
        found = _open_study(plan).attack(register, parts=parts, progress=progress)
    if linked := found.linked:
        screen.say(
            f"expected matches of {count(linked.people, 'person')}: table {short(linked.table)}, "
            f"texts {short(linked.texts)}, all parts {short(linked.joint)}; {linked.alone} are "
            "certain"
        )
    for knows, counts in by_knowledge(found.known).items():
        if GROUP in knows:  # say_informed has these
            continue
        matches = counts[MATCHES]
        screen.say(
            f"  knowing {knows}: {short(matches.value)} expected matches of "
            f"{count(matches.n or 0, 'person')}, {counts[ALONE].value:,.0f} alone"
        )
    for row in found.rejoined:
        screen.say(
            f"  without pseudonyms, {row.part}: {short(row.matches)} of {count(row.rows, 'row')} "
            f"linked rightly by {', '.join(row.by) or 'nothing'}, {row.certain:,} certain"
        )
    data = found.to_data()
    say_informed(screen, data["informed"])
    say_dates(screen, found.dates)
    say_guesses(screen, found.guesses)
    for name, own in found.of_parts.items():
        what = f"not attacked: {own}" if isinstance(own, str) else count(len(own), "attack")
        screen.say(f"  {name}: {what}")
    screen.result(data)


def _verify(screen: CommandScreen, *, plan: str) -> int:
    """Check the release of a plan against its manifest and its seal.

    The command exits with 1 if a check fails, and lists the checks that could not be made.
    """
    found = _open_study(plan).verify()
    whole = not any(holds is False for _, holds in found)
    screen.result({"ok": whole, "checks": show_checks(screen, found)})
    return 0 if whole else FAILED


def _determine(
    screen: CommandScreen,
    *,
    plan: str,
    context: Path | None,
    out: Path | None,
    template: Path | None,
    ledger: Path | None,
    pdf: bool,
    force: bool,
) -> None:
    """Judge the release of a plan for a recipient and a purpose. People then sign the result.

    The command equals `voile determine` with the release's folder and the plan's secret and ledger.
    Start with --template, which writes a context to fill in.
    """
    from voile.determination import determine_study
    from voile.determination.subject import open_subject

    study = _open_study(plan, ledger)
    if template is not None:
        subject = open_subject(study.plan.release)
        return write_context(screen, subject, template, context, out, force=force)
    if out is None:
        raise RequestError(NEEDS_OUT)
    one = determine_study(study, context, out, pdf=pdf, force=force)
    say_verdicts(screen, one, out)
    return None


NEEDS_OUT = "a determination needs --out; --template FILE writes a context to fill in"


def _kit(screen: CommandScreen, *, plan: str, part: str, out: Path, force: bool) -> None:
    """Write the kit of one part of a study as a kit of its kind.

    For a part of readings, use this kit and the study's secret to enrol devices and to send their
    sessions. They then have the pseudonyms of the release.
    """
    kit = _open_study(plan).part_kit(part)
    kit.save(out, force=force)
    screen.say(f"{out}: the kit of {part}, of kind {kit.kind}")
    screen.result({"kit": str(out), "id": kit.id, "kind": kit.kind})


def _report(screen: CommandScreen, *, plan: str, out: Path, internal: bool, force: bool) -> None:
    """Write the report of the release: the joint figures first, then each part's figures.

    The report is one HTML page that opens from disk without a network, and prints.
    """
    _open_study(plan).report(out, internal=internal, force=force)
    readers = "for the data holder alone" if internal else "for the public"
    screen.say(f"{out}: the report, {readers}")
    screen.result({"report": str(out), "audience": "internal" if internal else "public"})


def _command(
    name: str, run: Callable[..., Any], *options: click.Parameter, writes: bool = False
) -> VoileCommand:
    force = [flag("force", "Replace the output if voile wrote it.")] if writes else []
    return VoileCommand(name, run, [argument("plan"), *options, *force])


@click.group("study", cls=VerbGroup)
def study() -> None:
    """Release tables and notes of the same people under one plan.

    \b
    voile study init export --population population.parquet
    voile study check study.toml
    voile study fit study.toml
    voile study apply study.toml
    voile study accept study.toml
    voile study determine study.toml --context context.toml --out determination
    voile study attack study.toml --register register.csv
    voile study verify study.toml
    """


AFTER = "Ledger of the source's releases. joint_risk then takes account of these releases [PLAN's]."
LEDGER = (
    "Ledger of the source's releases. voile evaluates the release together "
    "with its entries, then adds an entry [PLAN's]."
)
OVERRIDE = (
    "Release although this exceeds the ledger's risk budget, for this reason. "
    "The ledger records the reason, so do not name a person."
)
ALLOW = "Exit with 0 even if voile rejected rows."
INTERNAL = "Write an internal report, which includes small counts and sentences of the texts."
KNOWN = "Table with values of each person that voile also searches for in notes. Repeatable."
STAFF = "Table of people whom any note may mention, such as staff. Repeatable."
REGISTER = "Identified register of the adversary, with the study's subject column."
PART = click.Option(["--part"], metavar="NAME", help="Part with the notes [the part with init].")
STUDY = click.Argument(["study"], metavar="PLAN", type=click.Path())
"""The plan of `accept`, which has another option --plan."""
TEXTS = click.Option(
    ["--part"], metavar="NAME", help="Part with the texts [each part, one after the other]."
)
INIT = [
    argument("place"),
    click.Option(
        ["--out"],
        type=click.Path(path_type=Path),
        default=Path("study.toml"),
        help="Path of the new plan [study.toml].",
    ),
    click.Option(["--kit"], type=click.Path(), help="Kit that finds identifiers in the notes."),
    click.Option(
        ["--annotated"],
        type=click.Path(),
        metavar="NOTES",
        help=(
            "Annotated notes that train such a kit. A roles file with the same name "
            "and the ending .toml is next to them."
        ),
    ),
    click.Option(["--known"], type=click.Path(), metavar="DATA", multiple=True, help=KNOWN),
    click.Option(["--known-people"], type=click.Path(), metavar="DATA", multiple=True, help=STAFF),
    click.Option(["--population"], type=click.Path(), help="Table that counts the population."),
    click.Option(
        ["--as-of"],
        type=click.DateTime(["%Y-%m-%d"]),
        metavar="DATE",
        help="Reference day of ages [the day of the last visit].",
    ),
    click.Option(
        ["--subject"],
        metavar="COLUMN",
        help="Column that identifies the person of a row in the files of a folder.",
    ),
    flag("force", "Replace the plan and its roles if voile wrote them."),
]
for _verb in (
    VoileCommand("init", _init, INIT),
    _command("check", _check),
    _command("fit", _fit, path("ledger", AFTER), writes=True),
    WingCommand("review", _review, [argument("plan"), PART], _review_options),
    _command("frontier", _frontier),
    _command(
        "apply",
        _apply,
        path("ledger", LEDGER),
        click.Option(["--override"], metavar="REASON", help=OVERRIDE),
        flag("allow-set-aside", ALLOW),
        writes=True,
    ),
    WingCommand("accept", _accept, [STUDY, TEXTS], _reading_options),
    _command(
        "attack",
        _attack,
        place("register", "REGISTER", REGISTER, required=False),
        flag("parts", "Also attack each part by itself, with the attacks of its kind of data."),
    ),
    _command("kit", _kit, argument("part"), *out("KIT", KIT)),
    _command("report", _report, *out("REPORT", REPORT), flag("internal", INTERNAL)),
    _command(
        "determine",
        _determine,
        path("context", "TOML file with recipient, purpose, thresholds and expiry [PLAN's]."),
        *out("FOLDER", DETERMINATION, required=False),
        template(),
        path("ledger", LEDGER),
        click.Option(
            ["--pdf/--no-pdf"],
            default=True,
            help="Also write a PDF with Chromium [if Chromium is installed].",
        ),
    ),
    _command("verify", _verify),
):
    study.add_command(_verb)
