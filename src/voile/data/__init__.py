"""Readers and writers, one file a format, and outputs that appear whole or not at all.

What is named here loads on first use, so that importing this package stays cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.data.files.atomic import Staging
    from voile.data.frames import to_frame
    from voile.data.opening import open_source
    from voile.data.source import Source
    from voile.data.writing.writers import open_writer, publishing

Place = NewType("Place", str)
"""What an option names that a command reads: a file, folder, pattern or table of a database.

No output of the command replaces a file that is named so, or by a `Path`.
"""


class Data:
    """What an option names whose rows a verb reads: a `Place`; in Python a frame or source too."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_readable)


class Phrases:
    """A file of phrases, one a line, that an option names; in Python the phrases themselves too."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_phrases)


class Described:
    """A TOML file that an option names; in Python what it says, as a mapping, or a function too."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_described)


class NamedPhrases:
    """``NAME=FILE``; in Python name -> phrases, or their file, as well: see `named_phrases`."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_named_phrases)


def _described(thing: Any) -> Any:
    if isinstance(thing, str | PathLike):
        return str(thing)
    if isinstance(thing, Mapping) or callable(thing):
        return thing
    raise ValueError("give a TOML file, what it would say as a mapping, or a function")


def _phrases(thing: Any) -> Any:
    if isinstance(thing, str | PathLike):
        return str(thing)
    if isinstance(thing, list | tuple | set | frozenset) and all(isinstance(x, str) for x in thing):
        return tuple(sorted(thing) if isinstance(thing, set | frozenset) else thing)
    raise ValueError("give a file of phrases, one a line, or a list of them")


def named_phrases(thing: Any) -> list[tuple[str, Any]]:
    """Return the name and the phrases, or the file of them, of each list of an option's.

    >>> named_phrases("given=a.txt"), named_phrases({"given": ("Ann", "Ben")})
    ([('given', 'a.txt')], [('given', ('Ann', 'Ben'))])
    """
    if isinstance(thing, Mapping):
        return list(thing.items())
    name, _, file = thing.partition("=")
    return [(name, file)]


def _named_phrases(thing: Any) -> Any:
    if isinstance(thing, Mapping):
        return {str(name): _phrases(phrases) for name, phrases in thing.items()}
    if not isinstance(thing, str) or not all(part.strip() for part in named_phrases(thing)[0]):
        raise ValueError("write NAME=FILE")
    return thing


def _readable(thing: Any) -> Any:
    from voile.data.frames import KNOWN, frame_kind
    from voile.data.source import Source

    if isinstance(thing, str | PathLike | Source) or frame_kind(thing) is not None:
        return thing
    raise ValueError(f"a {type(thing).__name__} is no source: give a path, a table, {KNOWN}")


PLACES = frozenset({Path, Place, Data, Described, Phrases, NamedPhrases})
"""Types of options that name a file or a table, or hold in Python what one would."""

__all__ = [
    "PLACES",
    "Data",
    "Described",
    "NamedPhrases",
    "Phrases",
    "Place",
    "Source",
    "Staging",
    "open_source",
    "open_writer",
    "publishing",
    "to_frame",
]

__getattr__ = lazily(
    __name__,
    {
        "Source": "source",
        "Staging": "files.atomic",
        "open_source": "opening",
        "open_writer": "writing.writers",
        "publishing": "writing.writers",
        "to_frame": "frames",
    },
)
