"""The command of a verb that one kind of data alone has, as its module describes it."""

from __future__ import annotations

import sys
from typing import Any

import click

from voile.cli.destination import Destination
from voile.cli.parameters import argument, out, reading
from voile.cli.screen import Screen, show_table
from voile.cli.wing_options import WingCommand
from voile.release.own_verbs import OwnVerb


def own_command(verb: OwnVerb[Any]) -> click.Command:
    def run(screen: Screen, *, options: Any, **places: Any) -> int:
        ended = verb.load()(options, screen, **places)
        screen.result(ended.result)
        if ended.rows and not screen.json:
            rows = [[*row.values()] for row in ended.rows]
            show_table([*ended.rows[0]], rows, sys.stdout)
        return ended.code

    run.__doc__ = verb.options.__doc__
    params: list[click.Parameter] = [argument(name) for name in verb.arguments]
    for name, output in verb.outputs.items():
        if output is None:
            help = "Folder of this end; it holds readings in the clear."
            params.append(Destination(f"--{name}", "FOLDER", None, help=help))
        else:
            params += out(output.name.split()[-1].upper(), output)
    params += reading() if verb.reads_source else []
    return WingCommand(verb.name, run, params, lambda: verb.options)
