"""The commands `voile KIND VERB`: the same verbs for every kind of data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from voile.cli.choose import choose
from voile.cli.destination import DestinationOption
from voile.cli.frontier import frontier
from voile.cli.parameters import (
    VerbGroup,
    VoileCommand,
    argument,
    flag,
    key_file,
    load_kit,
    open_and_report,
    out,
    path,
    place,
    reading,
    seed,
    source_argument,
)
from voile.cli.results import show_evidence, tell_applied, tell_attacked, tell_fitted
from voile.cli.screen import CommandScreen, show_table
from voile.cli.wing_options import WingCommand
from voile.data.files.outputs import EVIDENCE, KIT, RELEASE, REPORT
from voile.release.evidence import AttackResults, default_place, kept_evidence, write_evidence
from voile.release.module import AnyModule, ModuleAssessing
from voile.release.own_verbs import OwnVerb

if TYPE_CHECKING:
    from pydantic import BaseModel

    from voile.release.options import ApplyOptions

ORIGINAL = "Original source, which scores the attack."
UNKEYED = (
    "The release was sealed under a secret, and this evidence will not be: verify fails it where "
    "the secret is given. Set VOILE_SECRET or --key-file, as for apply."
)


class _KindGroup(VerbGroup):
    """The commands of one kind of data: the common commands, then its own."""

    def __init__(self, module: AnyModule) -> None:
        super().__init__(module.kind, help=f"Fit, choose, apply and attack {module.kind}.")
        self._module = module
        for command in (_fit, _frontier, choose, _apply, _attack):
            self.add_command(command(module))
        if module.assessing is not None:
            self.add_command(_assess(module, module.assessing))

    @cached_property
    def _own(self) -> Mapping[str, click.Command]:
        """The commands that only this kind has, by name.

        Their options are imported at first use.
        """
        return {verb.name: _own_command(verb) for verb in self._module.own_verbs}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were added."""
        return [*super().list_commands(ctx), *self._own]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command.

        The kind's own options are imported only for a name that is not common.
        """
        own = self._own if name not in self.commands else {}
        return own.get(name) or super().get_command(ctx, name)


def kind_group(module: AnyModule) -> click.Group:
    """Return the commands of one kind of data. Its code is imported when a command runs."""
    return _KindGroup(module)


def _fit(module: AnyModule) -> click.Command:
    def run(
        screen: CommandScreen,
        *,
        source: str,
        roles: Path | None,
        out: Path,
        seed: int | None,
        others: Literal["drop"] | None,
        table: str | None,
        encoding: str | None,
        force: bool,
        options: BaseModel,
    ) -> int:
        """Find the policies that no other policy beats.

        The command writes a kit: a folder with the policies and the data needed to apply them.
        Ctrl-C ends the search, and the kit then contains the policies found so far.
        """
        from voile.data.roles import Roles
        from voile.release.options import with_options

        given = None if roles is None else Roles.read(roles)
        opened = open_and_report(screen, source, table, encoding, module.kind)
        given = None if given is None else given.completed(opened.columns, others)
        with screen.progress() as progress:
            found = module.fit(opened, given, options, seed=seed, progress=progress)
        kit = with_options(found, options)
        kit.save(out, force=force)
        return tell_fitted(screen, kit, out)

    needed = module.requires_roles
    roles = path(
        "roles", "Roles file of the columns. `voile inspect` writes a proposal.", required=needed
    )
    others = click.Option(
        ["--others"],
        type=click.Choice(["drop"]),
        help="Role of every column that the roles do not list [error].",
    )
    own = [source_argument(), roles, *out("KIT", KIT), others, seed(), *reading()]
    return WingCommand("fit", run, own, lambda: module.options.fit)


def _frontier(module: AnyModule) -> click.Command:
    def run(screen: CommandScreen, *, kit: str, all: bool) -> None:
        """Show the policies of a kit."""
        frontier(screen, load_kit(Path(kit), module.kind), module, all=all)

    return VoileCommand("frontier", run, [argument("kit"), flag("all", "Show every policy.")])


def _apply(module: AnyModule) -> click.Command:
    def run(
        screen: CommandScreen,
        *,
        kit: str,
        source: str,
        policy: Path | None,
        out: Path,
        allow_set_aside: bool,
        table: str | None,
        encoding: str | None,
        force: bool,
        options: ApplyOptions,
    ) -> int:
        """Write the release of a source under a policy.

        The command also writes RELEASE.manifest.json, which you publish with RELEASE, and
        RELEASE.private/, which you keep. It exits with 1 if rows were rejected.
        """
        from voile.release.choice import Chosen, default_choice, default_in_words

        options.begin()
        fitted = load_kit(Path(kit), module.kind)
        if policy is None:
            chosen = module.choose(fitted, default_choice(fitted))
            screen.say(default_in_words(fitted))
        else:
            chosen = Chosen.read(policy)
        opened = open_and_report(screen, source, table, encoding, module.kind)
        with screen.progress() as progress:
            release = module.apply(
                fitted, chosen, opened, out, options, force=force, progress=progress
            )
        return tell_applied(screen, release, chosen, allowed=allow_set_aside)

    policy = path("policy", "The policy file that voile KIND choose wrote, unless a kit names one.")
    allow = flag("allow-set-aside", "Exit with 0 even if voile rejected rows.")
    own = [argument("kit"), source_argument(), policy, *out("RELEASE", RELEASE), allow, *reading()]
    return WingCommand("apply", run, own, lambda: module.options.apply)


def _attack(module: AnyModule) -> click.Command:
    def run(
        screen: CommandScreen,
        *,
        release: str,
        original: str,
        out: Path | None,
        seed: int | None,
        table: str | None,
        encoding: str | None,
        force: bool,
        key_file: Path | None,
        options: BaseModel,
    ) -> None:
        """Attack a release as an adversary would.

        The adversary has the release and the background knowledge given by the options.
        """
        from voile.keys.secret import Secret
        from voile.release.manifest import StoredRelease
        from voile.release.options import list_stored
        from voile.release.verify import check_seal, is_keyed

        attacked = StoredRelease.open(Path(release))
        where = out or default_place(attacked)
        secret = Secret.find(key_file)
        EVIDENCE.check_free(where, force=force or kept_evidence(where, attacked, secret)[1])
        check_seal(attacked, secret)
        if secret is None and is_keyed(attacked):
            screen.insist(UNKEYED)
        opened = open_and_report(screen, original, table, encoding, module.kind)
        with screen.progress() as progress:
            made = module.attack(attacked, opened, options, seed=seed, progress=progress)
        found = AttackResults(attacked, made, [list_stored(options)])
        write_evidence(where, attacked, found, secret, force=force)
        tell_attacked(screen, found, where)

    original = place("original", "SOURCE", ORIGINAL, alias="truth")
    to = out("EVIDENCE", EVIDENCE, required=False, default="RELEASE.private/evidence.json")
    own = [source_argument("release"), original, *to, seed(), key_file(), *reading()]
    return WingCommand("attack", run, own, lambda: module.options.attack)


def _assess(module: AnyModule, verb: ModuleAssessing[Any]) -> click.Command:
    """Return the command that assesses releases of other makers, for a kind that supports it."""

    def run(
        screen: CommandScreen,
        *,
        original: str,
        released: str,
        roles: Path | None,
        out: Path,
        internal: bool,
        seed: int | None,
        table: str | None,
        encoding: str | None,
        force: bool,
        options: BaseModel,
    ) -> None:
        """Assess a release that voile did not make, compared with its original.

        The command writes a report: one HTML page with the risks, the loss, and the findings of
        attacks.
        """
        from voile.data.roles import Roles
        from voile.face.assessment import Assessment

        REPORT.check_free(out, force=force)
        given = None if roles is None else Roles.read(roles)
        source = open_and_report(screen, original, table, encoding, module.kind)
        theirs = open_and_report(screen, released, table, encoding, module.kind)
        with screen.progress() as progress:
            made = verb.assess(source, theirs, given, options, seed=seed, progress=progress)
        found = Assessment.of(made, verb.sections)
        found.report(internal=internal).save(out, force=force)
        for sentence in found.summary:
            screen.say(sentence)
        show_evidence(screen, found.evidence)
        readers = "for the data holder alone" if internal else "for the public"
        screen.say(f"{out}: the report, {readers}")
        screen.result({"report": str(out), **found.to_data()})

    to = out("REPORT", REPORT)
    own = [
        source_argument("original"),
        source_argument("released"),
        path(
            "roles",
            "Roles file of the original. `voile inspect` writes a proposal.",
            required=module.requires_roles,
        ),
        *to,
        flag("internal", "Write an internal report, which includes small counts."),
        seed(),
        *reading(),
    ]
    return WingCommand("assess", run, own, lambda: verb.options)


def _own_command(verb: OwnVerb[Any]) -> click.Command:
    """Return the command of a verb that only one kind has, as described by its module."""

    def run(screen: CommandScreen, *, options: Any, **places: Any) -> int:
        ended = verb.load()(options, screen, **places)
        screen.result(ended.result)
        if ended.rows and not screen.json:
            rows = [[*row.values()] for row in ended.rows]
            show_table([*ended.rows[0]], rows, sys.stdout)
        return ended.code

    run.__doc__ = verb.summary
    params: list[click.Parameter] = [argument(name) for name in verb.arguments]
    for name, output in verb.outputs.items():
        if output is None:
            help = "Folder of this end. It contains readings in the clear."
            params.append(DestinationOption(f"--{name}", "FOLDER", None, help=help))
        else:
            params += out(output.name.split()[-1].upper(), output)
    params += reading() if verb.reads_source else []
    return _OwnCommand(verb.name, run, params, lambda: verb.options)


class _OwnCommand(WingCommand):
    """A command with the docstring of its options as help. The options are imported to show it."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.help = self.model.__doc__
        super().format_help_text(ctx, formatter)
