"""From arguments to an exit code: one sentence for every error, and never a data value."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from voile.cli.app import command
from voile.cli.screen import tell
from voile.errors import VoileError
from voile.interruption import ctrl_c

DONE, FAILED, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Returns
    -------
    0 done; 2 the request is wrong; 130 interrupted; 1 anything else, rows set aside among it.
    """
    debug = "--debug" in arguments
    try:
        with ctrl_c(), _warnings_shown(debug=debug, quiet="--quiet" in arguments):
            code = command.main(list(arguments), prog_name="voile", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exc()
        return _explain(error)
    return code or DONE


def _explain(error: BaseException) -> int:
    match error:
        case click.Abort() | KeyboardInterrupt():
            start = "\n" if sys.stderr.isatty() else ""
            return _say(f"{start}voile: interrupted; no output is half-written", INTERRUPTED)
        case click.exceptions.NoArgsIsHelpError():
            print(error.format_message(), file=sys.stderr)
            return WRONG_REQUEST
        case click.UsageError():
            return _say(_mistake(error), WRONG_REQUEST)
        case VoileError():
            return _say(f"voile: {error}", error.exit_code)
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        case OSError(errno=errno.ENOSPC):
            return _say("voile: the disk is full; no output is half-written", FAILED)
        case OSError(errno=int(number), filename=str(place)):
            return _say(f"voile: {place}: {os.strerror(number).lower()}", FAILED)
        case MemoryError():
            return _say("voile: out of memory; no output is half-written", FAILED)
        case _:
            kind = type(error).__name__
            return _say(f"voile: unexpected {kind}; run with --debug to see where", FAILED)


def _say(text: str, code: int) -> int:
    tell(text)
    return code


def _mistake(error: click.UsageError) -> str:
    """Say click's usage error as one sentence, with the nearest names or where to read more."""
    path = error.ctx.command_path if error.ctx else "voile"
    near = getattr(error, "possibilities", None)
    said = (error.message if near else error.format_message()).strip().rstrip(".")
    remedy = f"did you mean {' or '.join(near)}?" if near else f"see {path} --help"
    return f"{path}: {said[0].lower()}{said[1:].replace('. ', ', ')}; {remedy}"


@contextmanager
def _warnings_shown(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Show voile's own warnings as sentences; a library's could quote data, so they are dropped."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        if debug or (category.__module__.startswith("voile.") and not quiet):
            tell(f"voile: warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
