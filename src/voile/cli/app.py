"""The tree of commands. Building it imports no heavy library."""

from __future__ import annotations

from collections.abc import Callable

import click

from voile.cli.demo import demo
from voile.cli.determine import determine, sign
from voile.cli.inspect import inspect
from voile.cli.kind import kind_group
from voile.cli.ledger import ledger
from voile.cli.open import open_command
from voile.cli.parameters import GENERAL, VerbGroup, VoileCommand
from voile.cli.report import report
from voile.cli.reveal import reveal
from voile.cli.roles import roles
from voile.cli.screen import CommandScreen
from voile.cli.study import study
from voile.cli.verify import verify
from voile.modules import MODULES

SHELLS = ("bash", "zsh", "fish")
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        import voile

        click.echo(f"voile {voile.__version__}")
        context.exit()


def _describe_general(run: Callable[[], None]) -> Callable[[], None]:
    """List the general options in the help. `VerbGroup` reads them."""
    for name, help in reversed(GENERAL.items()):
        run = click.option(name, is_flag=True, expose_value=False, help=help)(run)
    return run


@click.group(cls=VerbGroup, context_settings=CONTEXT)
@_describe_general
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version.",
)
def command() -> None:
    """Share data about people, and measure the remaining disclosure risk.

    \b
    voile inspect people.csv --out roles.toml
    voile tables fit people.csv --roles roles.toml --k 5 --out kit
    voile tables choose kit --least-loss --out policy.toml
    voile tables apply kit people.csv --policy policy.toml --no-pseudonyms --out release.csv
    voile tables attack release.csv --original people.csv
    voile report release.csv --out report.html

    Read and correct roles.toml before you fit. `voile demo --out FOLDER` runs these steps on a
    made-up county.
    """


def _completion(screen: CommandScreen, *, shell: str) -> None:
    """Print the script that completes commands in a shell.

    For example: eval "$(voile completion bash)"
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    script = found(root, {}, "voile", "_VOILE_COMPLETE").source()
    screen.result({"shell": shell, "script": script})
    if not screen.json:
        click.echo(script)


completion = VoileCommand(
    "completion", _completion, [click.Argument(["shell"], type=click.Choice(SHELLS))]
)

_KINDS = map(kind_group, MODULES.values())
_ON_RELEASES = (report, determine, sign, verify, ledger, reveal)
for _command in (
    *(open_command, inspect, roles, *_KINDS, study),
    *(*_ON_RELEASES, demo, completion),
):
    command.add_command(_command)
