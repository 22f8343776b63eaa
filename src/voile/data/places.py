"""The types of options that name input files, and the objects that Python accepts instead."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NewType

from voile.core.errors import RequestError, SourceError, name_kind

Place = NewType("Place", str)
"""A path that a command reads from an option: a file, folder, pattern or table of a database.

No output of the command replaces a file that such an option or a `Path` names.
"""


class _GivenPlace(ABC):
    """A `Place`. Python also accepts its contents."""

    @staticmethod
    @abstractmethod
    def check(thing: Any) -> Any:
        """Return a place or its contents. Raise `ValueError` for any other value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls.check)


class RowsPlace(_GivenPlace):
    """A source of rows: a `Place`. Python also accepts a frame or a source."""

    @staticmethod
    def check(thing: Any) -> Any:
        from voile.data.frames import KNOWN, frame_kind
        from voile.data.source import Source
        from voile.data.spark.session import is_spark

        if isinstance(thing, str | PathLike | Source) or is_spark(thing):
            return thing
        if frame_kind(thing) is not None:
            return thing
        raise ValueError(
            f"{name_kind(thing)} is not a source of data: give a path, a table, {KNOWN}"
        )


class DescribedPlace(_GivenPlace):
    """A TOML file. Python also accepts a mapping or a function."""

    @staticmethod
    def check(thing: Any) -> Any:
        if isinstance(thing, str | PathLike):
            return str(thing)
        if isinstance(thing, Mapping) or callable(thing):
            return thing
        raise ValueError("the argument is not a plan")


class PhrasesPlace(_GivenPlace):
    """A file with one phrase for each line. Python also accepts the phrases themselves."""

    @staticmethod
    def check(thing: Any) -> Any:
        if isinstance(thing, str | PathLike):
            return str(thing)
        if isinstance(thing, set | frozenset):
            thing = sorted(thing, key=str)
        if isinstance(thing, list | tuple) and all(isinstance(x, str) for x in thing):
            return tuple(thing)
        raise ValueError("the argument is not a list of phrases")


class NamedPhrases(_GivenPlace):
    """``NAME=FILE``.

    Python also accepts a mapping of names to phrases or files (`named_phrases`).
    """

    @staticmethod
    def check(thing: Any) -> Any:
        if isinstance(thing, Mapping):
            return {str(name): PhrasesPlace.check(phrases) for name, phrases in thing.items()}
        if not isinstance(thing, str) or not all(part.strip() for part in named_phrases(thing)[0]):
            raise ValueError("the value lacks a name or a file")
        return thing


class NamedFolders(_GivenPlace):
    """``NAME=FOLDER``.

    Python also accepts a mapping of names to folders. Paths are made absolute.
    """

    @staticmethod
    def check(thing: Any) -> dict[str, str]:
        try:
            given = dict(thing if isinstance(thing, Mapping) else [str(thing).split("=", 1)])
            found = {str(name): os.path.abspath(folder) for name, folder in given.items() if folder}
        except (TypeError, ValueError):
            found = {}
        if not found or not all(name.strip() and name.isprintable() for name in found):
            raise ValueError("the value lacks a name or a folder")
        return found


def named_phrases(thing: Any) -> list[tuple[str, Any]]:
    """Return the name, and the phrases or their file, of each list of an option.

    >>> named_phrases("given=a.txt"), named_phrases({"given": ("Ann", "Ben")})
    ([('given', 'a.txt')], [('given', ('Ann', 'Ben'))])
    """
    if isinstance(thing, Mapping):
        return list(thing.items())
    name, _, file = thing.partition("=")
    return [(name, file)]


def read_phrases(given: str | PathLike[str] | Sequence[str]) -> list[str]:
    """Read a list from a text file in UTF-8, one phrase a line; empty ones are left out.

    A list is taken as it is.
    """
    if not isinstance(given, str | PathLike):
        if not (phrases := [phrase for phrase in given if phrase.strip()]):
            raise RequestError("the list has no phrase")
        return phrases
    try:
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, ValueError) else "cannot be read"
        raise SourceError(f"the list {reason}", where=str(given)) from error
    if not (phrases := [line for line in lines if line.strip()]):
        raise RequestError("the list has no phrase", where=str(given))
    return phrases


PLACES = frozenset(
    {Path, Place, RowsPlace, DescribedPlace, PhrasesPlace, NamedPhrases, NamedFolders}
)
"""Option types that name a file or a table. In Python they also accept its contents."""


def with_places(given: Any, types: Collection[Any], place: Callable[[Any], Any]) -> Any:
    """Return the value of an option with `place` applied to its files and tables.

    >>> with_places(["a=x.txt", {"b": "y.txt", "c": ("Ann",)}], {NamedPhrases}, "lists/{}".format)
    ['a=lists/x.txt', {'b': 'lists/y.txt', 'c': ('Ann',)}]
    >>> with_places(("x.txt", "y.txt"), {Place}, "in/{}".format)
    ('in/x.txt', 'in/y.txt')
    >>> with_places(("Ann", "Ben"), {PhrasesPlace}, "in/{}".format)
    ('Ann', 'Ben')
    """
    is_named = not {NamedPhrases, NamedFolders}.isdisjoint(types)
    if isinstance(given, str) and is_named:
        name, equals, file = given.partition("=")
        return f"{name}={place(file)}" if equals else given
    if isinstance(given, str | Path):
        return place(given)
    if isinstance(given, Mapping) and is_named:
        return {n: place(one) if isinstance(one, str) else one for n, one in given.items()}
    if isinstance(given, list | tuple) and PhrasesPlace not in types:
        return type(given)(with_places(one, types, place) for one in given)
    return given
