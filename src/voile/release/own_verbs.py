"""Verbs that only one kind of data has, as its module offers them to Python and the shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
)

from voile.core.progress import ProgressHook

if TYPE_CHECKING:
    from voile.data import Source
    from voile.data.files.outputs import OutputKind
    from voile.release.options import Options

G = TypeVar("G", bound="Options")


class VerbReporter(Protocol):
    """The object to which a verb reports its progress, such as the command line's screen."""

    def say(self, text: str) -> None:
        """Report a sentence, unless the user asked for no messages."""

    def insist(self, text: str) -> None:
        """Report a sentence in any case."""

    def progress(self) -> AbstractContextManager[ProgressHook]:
        """Return the hook for progress."""


class EndedVerb(NamedTuple):
    """The end of a verb: the result that `--json` prints, the exit code, and a table to show."""

    result: Mapping[str, Any]
    code: int = 0
    rows: Sequence[Mapping[str, Any]] = ()


RunVerb: TypeAlias = Callable[Concatenate[G, VerbReporter, ...], EndedVerb]
"""A verb as a function: `run(options, reporter, **places)`."""


@dataclass(frozen=True)
class OwnVerb(Generic[G]):
    """A verb that only one kind of data has.

    Parameters
    ----------
    name : its name on the command line.
    summary : the first sentence of its help.
    load_options : imports the model of its options. The docstring of the model is the verb's help.
    load : imports the verb's function, and returns it.
    arguments : the names of the places that it reads.
    outputs : the places that it writes, with their kind. None for a folder to which it adds files.
    reads_source : whether its function also takes the table and the encoding of a source.
    evidence : the name of the evidence that it writes about a release.
    """

    name: str
    summary: str
    load_options: Callable[[], type[G]]
    load: Callable[[], RunVerb[G]]
    arguments: tuple[str, ...]
    outputs: Mapping[str, OutputKind | None] = field(default_factory=dict)
    reads_source: bool = True
    evidence: str = ""

    @cached_property
    def options(self) -> type[G]:
        """The model of its options."""
        return self.load_options()


def open_reported(
    reporter: VerbReporter, place: object, *, table: str | None, encoding: str | None
) -> Source:
    from voile.data import open_source

    opened = open_source(place, table=table, encoding=encoding)
    if opened.notes:
        reporter.say(f"{opened.name}: {', '.join(opened.notes)}")
    return opened
