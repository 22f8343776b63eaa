"""`voile KIND VERB`: the same verbs for every wing, each a few lines over its contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from voile.cli.assess import assess
from voile.cli.choose import choose
from voile.cli.frontier import frontier
from voile.cli.own_verb import own_command
from voile.cli.parameters import (
    Command,
    Group,
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
from voile.cli.results import tell_applied, tell_attacked, tell_fitted
from voile.cli.screen import Screen
from voile.cli.wing_options import WingCommand
from voile.data.files.outputs import EVIDENCE, KIT, RELEASE
from voile.release.evidence import AttackResults, default_place, kept_evidence, write_evidence
from voile.wings import ASSESSED, ROLES_OPTIONAL, wing

if TYPE_CHECKING:
    from pydantic import BaseModel

    from voile.release.options import ApplyOptions
    from voile.release.own_verbs import OwnVerb

UNKEYED = (
    "The release was sealed under a secret, and this evidence will not be: verify fails it where "
    "the secret is given. Set VOILE_SECRET or --key-file, as for apply."
)
OWN = frozenset({"documents", "signals"})
"""Kinds whose wing has verbs beyond the common ones, its `OWN_VERBS`."""


class _KindGroup(Group):
    """The commands of one kind: those that all kinds have, then its own."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind, help=f"Fit, choose, apply and attack {kind}.")
        self._kind = kind
        for command in (_fit, _frontier, choose, _apply, _attack):
            self.add_command(command(kind))
        if kind in ASSESSED:
            self.add_command(assess(kind))

    @cached_property
    def _own(self) -> Mapping[str, click.Command]:
        """The kind's own verbs, by name; its wing is imported when they are asked for."""
        verbs: Sequence[OwnVerb] = getattr(wing(self._kind), "OWN_VERBS", ())
        return {verb.name: own_command(self._kind, verb) for verb in verbs}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were added."""
        return [*super().list_commands(ctx), *(self._own if self._kind in OWN else ())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command; the wing is imported for a name that not every kind has."""
        own = self._own if self._kind in OWN and name not in self.commands else {}
        return own.get(name) or super().get_command(ctx, name)


def kind_group(kind: str) -> click.Group:
    """Return the commands of one wing; its code is imported when one of them runs."""
    return _KindGroup(kind)


def _fit(kind: str) -> click.Command:
    def run(
        screen: Screen,
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
        """Find the policies that no other beats.

        Writes a kit: a folder with the policies and what applying them needs. Ctrl-C ends the
        search, and what was found until then is kept.
        """
        from voile.data.roles import Roles
        from voile.release.options import with_options

        given = None if roles is None else Roles.read(roles)
        opened = open_and_report(screen, source, table, encoding, kind)
        given = None if given is None else given.completed(opened.columns, others)
        with screen.progress() as progress:
            found = wing(kind).fit(opened, given, options, seed=seed, progress=progress)
        kit = with_options(found, options)
        kit.save(out, force=force)
        return tell_fitted(screen, kit, out)

    needed = kind not in ROLES_OPTIONAL
    roles = path("roles", "What each column is; voile inspect proposes it.", required=needed)
    others = click.Option(
        ["--others"],
        type=click.Choice(["drop"]),
        help="Role of the columns that roles do not name; without it they are an error.",
    )
    own = [source_argument(), roles, *out("KIT", KIT), others, seed(), *reading()]
    return WingCommand("fit", run, own, lambda: wing(kind).FitOptions)


def _frontier(kind: str) -> click.Command:
    def run(screen: Screen, *, kit: str, all: bool) -> None:
        """Show the policies of a kit."""
        frontier(screen, load_kit(Path(kit), kind), all=all)

    return Command("frontier", run, [argument("kit"), flag("all", "Show every policy.")])


def _apply(kind: str) -> click.Command:
    def run(
        screen: Screen,
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

        Beside RELEASE appear RELEASE.manifest.json, which goes with it, and RELEASE.private/, which
        never leaves. Exits with 1 when rows could not be released and were set aside.
        """
        from voile.release.choice import Chosen, default_choice, default_in_words

        options.begin()
        fitted = load_kit(Path(kit), kind)
        if policy is None:
            chosen = wing(kind).choose(fitted, default_choice(fitted))
            screen.say(default_in_words(fitted))
        else:
            chosen = Chosen.read(policy)
        opened = open_and_report(screen, source, table, encoding, kind)
        with screen.progress() as progress:
            release = wing(kind).apply(
                fitted, chosen, opened, out, options, force=force, progress=progress
            )
        return tell_applied(screen, release, chosen, allowed=allow_set_aside)

    policy = path("policy", "The policy file that voile KIND choose wrote, unless a kit names one.")
    allow = flag("allow-set-aside", "Exit with 0 even if rows could not be released.")
    own = [
        argument("kit"),
        source_argument(),
        policy,
        *out("RELEASE", RELEASE),
        allow,
        *reading(),
    ]
    return WingCommand("apply", run, own, lambda: wing(kind).ApplyOptions)


def _attack(kind: str) -> click.Command:
    def run(
        screen: Screen,
        *,
        release: str,
        truth: str,
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
        from voile.release.manifest import Release
        from voile.release.options import stored
        from voile.release.verify import check_seal, is_keyed

        attacked = Release.open(Path(release))
        where = out or default_place(attacked)
        secret = Secret.find(key_file)
        EVIDENCE.check_free(where, force=force or kept_evidence(where, attacked, secret)[1])
        check_seal(attacked, secret)
        if secret is None and is_keyed(attacked):
            screen.insist(UNKEYED)
        opened = open_and_report(screen, truth, table, encoding, kind)
        with screen.progress() as progress:
            made = wing(kind).attack(attacked, opened, options, seed=seed, progress=progress)
        found = AttackResults(attacked, made, [stored(options)])
        write_evidence(where, attacked, found, secret, force=force)
        tell_attacked(screen, found, where)

    truth = place("truth", "SOURCE", "The original source, used to score the attack.")
    to = out("EVIDENCE", EVIDENCE, required=False, default="RELEASE.private/evidence.json")
    own = [source_argument("release"), truth, *to, seed(), key_file(), *reading()]
    return WingCommand("attack", run, own, lambda: wing(kind).AttackOptions)
