"""`voile completion`: the script that completes voile's commands in a shell."""

from __future__ import annotations

import click

from voile.cli.parameters import Command
from voile.cli.screen import Screen

SHELLS = ("bash", "zsh", "fish")


def _completion(screen: Screen, *, shell: str) -> None:
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


completion = Command(
    "completion", _completion, [click.Argument(["shell"], type=click.Choice(SHELLS))]
)
