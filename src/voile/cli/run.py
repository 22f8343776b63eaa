"""Run a command from its arguments, and report every error in one sentence without a data value."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

import click

from voile.cli.app import command
from voile.cli.interrupt import INTERRUPTED, leave
from voile.cli.parameters import GENERAL, split_general
from voile.cli.screen import SHOW_CURSOR, CommandScreen, tell
from voile.core.errors import VoileError, printable
from voile.core.interruption import acknowledge_interruption, ctrl_c
from voile.core.removed_names import describe_removed

DONE, FAILED, WRONG_REQUEST, CTRL_C = 0, 1, 2, 130


@dataclass(frozen=True)
class CommandProblem:
    """The reason why a command stopped: its exit code, the problem, the place and the remedy."""

    code: int
    what: str
    where: str | None = None
    instead: str | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f"; {self.instead}" if self.instead else ""
        return f"{place}{self.what}{remedy}"


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    An error is one sentence on standard error, and with `--json` an object on standard output.
    """
    general, _ = split_general(arguments)
    debug = "--debug" in general
    try:
        with (
            acknowledge_interruption(lambda said: tell(f"voile: {said}"), _leave),
            ctrl_c(),
            _warnings_shown(debug=debug, quiet="--quiet" in general),
        ):
            code = command.main(list(arguments), prog_name="voile", standalone_mode=False, obj=run)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exc()
        return _explain(error, json="--json" in general)
    return code or DONE


def _leave() -> NoReturn:
    """End at once. On a terminal, show the cursor, which a progress bar may have hidden."""
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)
    leave()


def _explain(error: BaseException, *, json: bool = False) -> int:
    match error:
        case click.exceptions.NoArgsIsHelpError():
            print(error.format_message(), file=sys.stderr)
            return WRONG_REQUEST
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
    problem = _problem(error)
    start = "\n" if problem.code == CTRL_C and sys.stderr.isatty() else ""
    tell(f"{start}{problem}" if isinstance(error, click.UsageError) else f"{start}voile: {problem}")
    said = {"what": problem.what, "where": problem.where, "instead": problem.instead}
    CommandScreen(json=json).result({"error": said})
    return problem.code


def _problem(error: BaseException) -> CommandProblem:
    match error:
        case click.Abort() | KeyboardInterrupt():
            return CommandProblem(CTRL_C, INTERRUPTED)
        case click.UsageError():
            return _mistake(error)
        case VoileError():
            return CommandProblem(error.exit_code, error.what, error.where, error.instead)
        case OSError(errno=errno.ENOSPC):
            return CommandProblem(FAILED, "the disk is full; no output is half-written")
        case OSError(errno=int(number), filename=str(place)):
            return CommandProblem(FAILED, os.strerror(number).lower(), place)
        case MemoryError():
            return CommandProblem(FAILED, "out of memory; no output is half-written")
    kind = type(error).__name__
    return CommandProblem(FAILED, f"unexpected {kind}", instead="run with --debug to see where")


def _mistake(error: click.UsageError) -> CommandProblem:
    """Return click's usage error as a problem, with similar names or a reference to the help."""
    path = error.ctx.command_path if error.ctx else "voile"
    if found := _explain_removed(error, path):
        return CommandProblem(WRONG_REQUEST, found[0], instead=found[1])
    near = [*(getattr(error, "possibilities", None) or ())]
    if isinstance(error, click.NoSuchOption):
        near += get_close_matches(error.option_name, GENERAL)
    said = error.message if near else error.format_message()
    said = " ".join(said.split()).rstrip(".").replace("Choose from", "choose from")
    remedy = f"did you mean {' or '.join(near)}?" if near else f"see {path} --help"
    if error.ctx and (asked := getattr(error, "command_name", None)):
        root = error.ctx.find_root().command
        if isinstance(root, click.Group) and asked in root.commands:
            remedy = f"did you mean voile {asked}?"
        elif error.ctx.command is root and (groups := _groups_with(root, error.ctx, asked)):
            remedy = f"did you mean {' or '.join(f'voile {one} {asked}' for one in groups)}?"
    if isinstance(error, click.NoSuchOption):
        from voile.release.options import RENAMED

        said = f"no such option: {error.option_name}"
        now = RENAMED.get(error.option_name.strip("-").replace("-", "_"))
        if now and error.ctx and now in (p.name for p in error.ctx.command.get_params(error.ctx)):
            remedy = f"it is now --{now.replace('_', '-')}"
    said = f"{said[0].lower()}{said[1:].replace('. ', ', ')}"
    return CommandProblem(WRONG_REQUEST, said, path, remedy)


def _groups_with(root: click.Command, context: click.Context, verb: str) -> list[str]:
    """Return the groups of commands that have a verb, such as tables for fit."""
    groups = root.commands.items() if isinstance(root, click.Group) else ()
    return [
        name
        for name, one in groups
        if isinstance(one, click.Group) and one.get_command(context, verb) is not None
    ]


def _explain_removed(error: click.UsageError, path: str) -> tuple[str, str] | None:
    """Return the problem with a removed command or option, and the remedy."""
    asked = getattr(error, "command_name", None)
    option = error.option_name.strip("-") if isinstance(error, click.NoSuchOption) else ""
    match [*path.split()[1:], *([asked] if asked else [])]:
        case [kind, verb]:
            return describe_removed(kind, verb, option, in_shell=True)
    return None


@contextmanager
def _warnings_shown(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Show voile's own warnings as sentences. Drop those of libraries, which could quote data."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        if debug or (category.__module__.startswith("voile.") and not quiet):
            tell(f"voile: warning: {printable(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
