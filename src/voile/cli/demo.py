"""The command `voile demo`: a made-up county, from its table of patients to a report."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import click

from voile.cli.parameters import VoileCommand, flag, out
from voile.cli.screen import CommandScreen
from voile.core.errors import RequestError
from voile.data.files.outputs import DEMO, DEMO_FORMAT, DEMO_MARK, manifest_of
from voile.modules import find_module

Run = Callable[[list[str]], int]
SEED, PEOPLE = "2013", 200_000


def _demo(
    screen: CommandScreen, *, out: Path, force: bool, fhir: bool, omop: bool, patients: int
) -> int:
    """Release the patients of a made-up county.

    The command runs the steps that a user would type, from a table of people to a report. With
    --fhir or --omop, it runs the steps from an export with notes to a study of the export.
    """
    if fhir and omop:
        raise RequestError(
            "--fhir and --omop exclude each other", instead="give one of the two options"
        )
    if fhir or omop:
        _prepare_clinic(screen, out, "fhir" if fhir else "omop", patients, force=force)
        return _run(screen, _study_commands(out), force=force)
    _prepare(screen, out, force=force)
    if code := _run(screen, _commands(out), force=force):
        return code
    sentences = _sentences(out / "release.csv")
    report = out / "report.html"
    screen.say("\n" + "\n".join(sentences) + f"\n\nThe report: {report}")
    screen.result({"report": str(report), "sentences": sentences})
    return 0


def _run(screen: CommandScreen, commands: list[list[str]], *, force: bool) -> int:
    """Show and run commands until one fails, and return its exit code."""
    from voile.face.commands import format_command

    run: Run = click.get_current_context().obj  # as if a user typed them
    for words in commands:
        screen.show(f"\n$ {format_command(['voile', *words])}")
        writes = force and words[:2] not in (["study", "attack"], ["study", "verify"])
        switches = (["--force"] if writes else []) + (["--quiet"] if screen.quiet else [])
        if code := run([*words, *switches]):
            return code
    return 0


def _prepare_clinic(
    screen: CommandScreen, out: Path, form: str, patients: int, *, force: bool
) -> None:
    """Write the export, the true data for scoring, and annotated notes of other people."""
    from voile.demo.export import write_demo

    screen.say(f"Making up an export of {patients:,} patients in {out / 'export'}")
    write_demo(out, form, patients, force=force)


def _study_commands(out: Path) -> list[list[str]]:
    plan, truth = str(out / "study.toml"), out / "truth"
    annotated = ["--annotated", str(out / "training.parquet")]
    population = ["--population", str(truth / "population.parquet"), "--as-of", "2013-07-01"]
    return [
        ["study", "init", str(out / "export"), *annotated, *population, "--out", plan],
        ["study", "fit", plan],
        ["study", "apply", plan, "--allow-set-aside"],
        ["study", "attack", plan, "--register", str(truth / "register.csv")],
        ["study", "verify", plan],
    ]


def _prepare(screen: CommandScreen, out: Path, *, force: bool) -> None:
    """Write the county, its roles, and a new secret that only its owner may read."""
    from voile.data.files import outputs
    from voile.data.files.atomic import write_text
    from voile.demo.county import ROLES, make_county, write_county

    screen.say(f"Making up a county of {PEOPLE:,} people in {out / 'county'}")
    private = out / "private"
    out.mkdir(exist_ok=force)
    (out / DEMO_MARK).write_bytes(manifest_of(DEMO_FORMAT))
    private.mkdir(mode=0o700, exist_ok=force)
    write_county(make_county(people=PEOPLE), out / "county", force=force)
    write_text(out / "roles.toml", ROLES, outputs.ROLES, force=force)
    key = private / "key"
    key.unlink(missing_ok=True)  # it may be a link to another file
    key.touch(mode=0o600)
    key.write_text(secrets.token_hex(32), encoding="ascii")


def _commands(out: Path) -> list[list[str]]:
    county = out / "county"
    patients, population = str(county / "patients.csv"), str(county / "population.parquet")
    kit, policy, release = str(out / "kit"), str(out / "policy.toml"), str(out / "release.csv")
    roles, proposed = str(out / "roles.toml"), str(out / "roles-proposed.toml")
    key, register = str(out / "private" / "key"), str(county / "register-adversary.csv")
    people, report = ["--population", population], str(out / "report.html")
    groups = ["--k", "5", "--max-risk", "0.09"]
    hold_out = ["--hold-out", "0.1", "--seed", SEED]
    return [
        ["inspect", patients, "--out", proposed],
        ["tables", "fit", patients, "--roles", roles, *people, *groups, *hold_out, "--out", kit],
        ["tables", "choose", kit, "--beats", "safe-harbor", "--out", policy],
        [
            *("tables", "apply", kit, patients, "--policy", policy),
            *("--no-pseudonyms", "--key-file", key, "--out", release),
        ],
        [
            *("tables", "attack", release, "--original", patients, "--register", register),
            *(*people, "--seed", SEED, "--key-file", key),
        ],
        ["report", release, "--key-file", key, "--out", report],
    ]


def _sentences(release: Path) -> tuple[str, ...]:
    """Return the public report's sentences: risk, loss, and comparison with Safe Harbor."""
    from voile.release.manifest import StoredRelease
    from voile.report.sections import Prose

    summary, *_ = find_module("tables").report(StoredRelease.open(release), (), audience="public")
    first = next(block for block in summary.blocks if isinstance(block, Prose))
    return first.paragraphs


FORMS = [
    flag("fhir", "Make a FHIR R4 bulk export with notes, and a study of it."),
    flag("omop", "Make OMOP 5.4 tables with notes, and a study of them."),
    click.Option(
        ["--patients"],
        type=click.IntRange(8, 1_000_000),
        default=1000,
        metavar="INTEGER",
        help="Number of patients in the export [1000].",
    ),
]
demo = VoileCommand("demo", _demo, [*out("FOLDER", DEMO), *FORMS])
