"""Check the output of a command. It never replaces an input, or a file that voile did not write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from voile.core.errors import RequestError

if TYPE_CHECKING:
    from voile.data.files.outputs import OutputKind


ARCHIVE = "releases"
"""The option for folders of earlier releases. The next release may be in one of them."""


class CommandInput(NamedTuple):
    """An input of a command: a file or folder, and a table in it."""

    place: Path
    table: str | None


class DestinationOption(click.Option):
    """An option for the path of a result.

    Parameters
    ----------
    output : the kind of result. None for a folder to which a command adds files.
    """

    def __init__(
        self,
        switch: str,
        metavar: str,
        output: OutputKind | None,
        *,
        help: str,
        required: bool = True,
    ) -> None:
        kind = click.Path(path_type=Path)
        super().__init__([switch], metavar=metavar, type=kind, required=required, help=help)
        self.output = output


def check_destinations(params: Sequence[click.Parameter], given: Mapping[str, Any]) -> None:
    """Refuse an output that may not be written, before any work is done."""
    _check_stored(params, given)
    read = list(_inputs(params, given))
    for param in params:
        out = given.get(str(param.name))
        if isinstance(param, DestinationOption) and out is not None:
            _check(out, param.output, read, force=given.get("force", False))


def _check(
    out: Path, output: OutputKind | None, read: Sequence[CommandInput], *, force: bool
) -> None:
    """Refuse an output without a folder, in conflict with an input, or with another file."""
    from voile.data.files.atomic import Staging, check_folder
    from voile.data.files.outputs import POLICY, RELEASE
    from voile.data.opening import split_output
    from voile.data.stores.path import StorePath

    if (stored := StorePath.parse(out)) is not None and output is RELEASE:
        from voile.release.writing import preparing

        with preparing(stored, force=force):
            return
    target, table = split_output(out)
    check_folder(target)
    is_edited = output is POLICY and force  # a policy is read completely before it is replaced
    for part in [target] if output is None else output.parts(target):
        for one in read:
            if not (is_edited and _is_same(one.place, part)):
                _check_apart(part, one, replaced=output is not None)
    if table is not None:
        _check_table(table, read)
    if output is not None:
        with Staging(target, output, force=force):
            pass  # repairs the files of a killed run, before the check for existing files


def _check_stored(params: Sequence[click.Parameter], given: Mapping[str, Any]) -> None:
    """Refuse an output in a store that is an input, is inside an input, or contains an input."""
    from voile.data.stores.path import StorePath

    every = [(param, StorePath.parse(given.get(str(param.name)))) for param in params]
    stored = [(isinstance(param, DestinationOption), place) for param, place in every if place]
    for out in (place for is_output, place in stored if is_output):
        for read in (place for is_output, place in stored if not is_output):
            if f"{out}/".startswith(f"{read}/") or f"{read}/".startswith(f"{out}/"):
                raise RequestError(
                    f"the output is, contains or is inside {read}, which this command reads",
                    where=str(out),
                    instead="write to another path",
                )


def _check_table(place: str, read: Sequence[CommandInput]) -> None:
    """Refuse a table of a database that is an input.

    Another table of the same database is allowed.
    """
    file, _, table = place.partition("::")
    for one in read:
        if not _is_same(one.place, Path(file)):
            continue
        if one.table is None:
            raise RequestError(
                "this command reads a table of the output's database",
                where=file,
                instead=f"name the output's table: {one.place.name}::TABLE",
            )
        if one.table.removeprefix("main.").lower() == table.lower():
            raise RequestError(
                "the command reads this file as its input",
                where=place,
                instead="write to another path",
            )


def _check_apart(part: Path, read: CommandInput, *, replaced: bool) -> None:
    """Refuse an output that is an input, is inside one, or would replace a folder with one."""
    place = read.place
    if _is_same(place, part):
        what = "the command reads this file as its input"
    elif replaced and _is_within(place, part):
        what = f"the output contains {place}, which this command reads"
    elif _is_within(part, place):
        what = f"the output is in {place}, which this command reads"
    else:
        return
    raise RequestError(what, where=str(part), instead="write to another path")


def _is_within(inner: Path, outer: Path) -> bool:
    """Return whether one path equals or is below another, literally or through links."""
    ways = (inner.absolute(), Path(os.path.realpath(inner)))
    return any(_is_same(place, outer) for way in ways for place in (way, *way.parents))


def _is_same(one: Path, other: Path) -> bool:
    return os.path.exists(one) and os.path.exists(other) and one.samefile(other)


def _inputs(params: Sequence[click.Parameter], given: Mapping[str, Any]) -> Iterator[CommandInput]:
    """Yield the files and folders that the arguments name, except outputs."""
    for param in params:
        if param.name == ARCHIVE:
            continue
        if isinstance(param.type, click.Path) and not isinstance(param, DestinationOption):
            value = given.get(str(param.name))
            for one in value if isinstance(value, tuple) else (value,):
                if one:
                    yield from _places(str(one), given.get("table"))


def _places(text: str, asked: str | None) -> Iterator[CommandInput]:
    """Yield the inputs that a text may name: NAME=FILE, FORMAT:FILE, FILE::TABLE, or a pattern."""
    for one in {text, text.partition("=")[2], text.partition(":")[2]}:
        path, _, table = one.partition("::")
        found = [path] if os.path.exists(path) else glob(path, recursive=True)
        yield from (CommandInput(Path(place), table or asked) for place in found if path)
