"""Options that commands share, and the base classes of voile's commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from voile.cli.destination import DestinationOption, check_destinations
from voile.cli.screen import CommandScreen

if TYPE_CHECKING:
    from voile.data import Source
    from voile.data.files.outputs import OutputKind
    from voile.release.kit import StoredKit

GENERAL = {
    "--json": "Print the result as one JSON object.",
    "--quiet": "Print no messages and no progress.",
    "--debug": "Show where an error arose; its text may contain data.",
}
"""The options of every command, which may come anywhere among its arguments."""
GIVEN = "voile.general"
Run = Callable[..., int | None]


class VoileCommand(click.Command):
    """A command that runs a function: `run(screen, **parameters)` returns the exit code."""

    def __init__(self, name: str, run: Run, params: list[click.Parameter]) -> None:
        super().__init__(name, params=params, help=run.__doc__)
        self._run = run

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments.

        Refuse an address in place of a path, or an output that may not be written.
        """
        rest = super().parse_args(ctx, take_general(ctx, args))
        if not ctx.resilient_parsing:
            _check_addresses(self.get_params(ctx), ctx.params)
            check_destinations(self.get_params(ctx), ctx.params)
        return rest

    def invoke(self, ctx: click.Context) -> int | None:
        """Run the command. An interruption becomes `click.Abort`, without click's blank line."""
        general = ctx.meta[GIVEN]
        screen = CommandScreen(json="--json" in general, quiet="--quiet" in general)
        try:
            return self._run(screen, **ctx.params)
        except KeyboardInterrupt:
            raise click.Abort from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Refer to the general options."""
        formatter.write_paragraph()
        formatter.write_text(f"General options: {', '.join(GENERAL)} (see voile --help).")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the general options as well."""
        general = [CompletionItem(name) for name in GENERAL if name.startswith(incomplete or " ")]
        return [*super().shell_complete(ctx, incomplete), *general]


class VerbGroup(click.Group):
    """A group that lists its commands in the order of the workflow, not of the alphabet."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the general options out before the command's own options are read."""
        return super().parse_args(ctx, take_general(ctx, args))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were added."""
        return list(self.commands)


def take_general(ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments without the general options, and store these in the context."""
    given, rest = split_general(args)
    ctx.meta.setdefault(GIVEN, set()).update(given)
    return rest


def split_general(args: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the general options among the arguments before `--`, and the other arguments."""
    end = args.index("--") if "--" in args else len(args)
    rest = [one for one in args[:end] if one not in GENERAL]
    return GENERAL.keys() & set(args[:end]), [*rest, *args[end:]]


class SourcePath(click.Path):
    """A source of rows: a file or folder on this machine or in a store, or a table."""


def argument(name: str) -> click.Argument:
    """Return an argument for a file, folder or table."""
    return click.Argument([name], metavar=name.upper(), type=click.Path())


def source_argument(name: str = "source") -> click.Argument:
    """Return an argument for a source of rows."""
    return click.Argument([name], metavar=name.upper(), type=SourcePath())


def path(name: str, help: str, *, required: bool = False) -> click.Option:
    kind = click.Path(path_type=Path)
    return click.Option([f"--{name}"], type=kind, required=required, help=help)


def place(
    name: str, metavar: str, help: str, *, required: bool = True, alias: str = ""
) -> click.Option:
    """Return an option for a file or a table of a database.

    `alias` is an older name of the option.
    """
    kind, names = SourcePath(), [f"--{one}" for one in (name, alias) if one]
    return click.Option([*names, name], type=kind, metavar=metavar, required=required, help=help)


def flag(name: str, help: str) -> click.Option:
    return click.Option([f"--{name}"], is_flag=True, help=help)


def out(
    metavar: str, output: OutputKind, *, required: bool = True, default: str = ""
) -> list[click.Parameter]:
    """Return the options for the result's path, and for replacing an output that voile wrote."""
    help = f"Where to write the {metavar.lower()}{default and f' [{default}]'}."
    return [
        DestinationOption("--out", metavar, output, help=help, required=required),
        flag("force", "Replace the output if voile wrote it."),
    ]


def key_file() -> click.Option:
    """Return the option for the secret that seals a release and its evidence."""
    return path(
        "key-file", "File with the secret key of the seals [environment variable VOILE_SECRET]."
    )


def evidence() -> click.Option:
    """Return the option for files of evidence that attacks wrote."""
    return click.Option(
        ["--evidence"],
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Evidence of the attacks [RELEASE.private/evidence.json if it exists].",
    )


def seed() -> click.Option:
    return click.Option(
        ["--seed"],
        type=click.IntRange(0),
        metavar="INTEGER",
        help="Seed of the random numbers. The same seed gives the same result.",
    )


def reading() -> list[click.Parameter]:
    """Return the options for reading a source, if its file does not determine the format."""
    return [
        click.Option(
            ["--table"], help="Name of the table in a database, or of the sheet in a workbook."
        ),
        click.Option(["--encoding"], help="Encoding of a text file [detected]."),
    ]


def open_and_report(
    screen: CommandScreen,
    source: str,
    table: str | None,
    encoding: str | None,
    kind: str | None = None,
) -> Source:
    """Open a source with the opener of its kind, and report notes about it."""
    from voile.modules import find_opener

    opened = find_opener(kind)(source, table=table, encoding=encoding)
    if opened.notes:
        screen.say(f"{opened.name}: {', '.join(opened.notes)}")
    return opened


def load_kit(place: Path, kind: str) -> StoredKit:
    from voile.release.kit import StoredKit

    return StoredKit.load(place, kind)


def _check_addresses(params: list[click.Parameter], given: Mapping[str, Any]) -> None:
    """Refuse an address in place of a local path, before any work."""
    paths = [one for one in params if isinstance(one.type, click.Path) and given.get(str(one.name))]
    if not paths:
        return
    from voile.data.opening import check_address
    from voile.data.stores.path import StorePath

    for param in paths:
        value = given[str(param.name)]
        for one in value if isinstance(value, tuple) else (value,):
            takes = isinstance(param.type, SourcePath) or _is_release(param)
            if takes and StorePath.parse(str(one).partition("::")[0]) is not None:
                continue
            if isinstance(one, Path) or "://" in str(one):
                check_address(one, written=isinstance(param, DestinationOption))


def _is_release(param: click.Parameter) -> bool:
    """Return whether an option names a release's destination, which may be a store."""
    from voile.data.files.outputs import RELEASE

    return isinstance(param, DestinationOption) and param.output is RELEASE
