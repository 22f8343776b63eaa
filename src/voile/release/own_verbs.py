"""Verbs that one kind of data has beyond the common ones, as its module hands them to the faces."""

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
    """The place where a verb reports its progress, such as the command line's screen."""

    def say(self, text: str) -> None:
        """Report a sentence, unless the user wants quiet."""

    def insist(self, text: str) -> None:
        """Report a sentence in any case."""

    def progress(self) -> AbstractContextManager[ProgressHook]:
        """Return the hook for progress."""


class EndedVerb(NamedTuple):
    """How a verb ended: its result, as `--json` prints it, its exit code, and a table to show."""

    result: Mapping[str, Any]
    code: int = 0
    rows: Sequence[Mapping[str, Any]] = ()


RunVerb: TypeAlias = Callable[Concatenate[G, VerbReporter, ...], EndedVerb]
"""A verb as a function: `run(options, reporter, **places)`."""


@dataclass(frozen=True)
class OwnVerb(Generic[G]):
    """A verb of one kind of data alone.

    name : on the command line. summary : the first sentence of its help.
    load_options : imports the model of its options, whose docstring is the verb's help.
    load : imports the verb's function, and returns it.
    arguments : places that it reads, by name.
    outputs : places that it writes, with their kind. None for a folder that it continues to fill.
    reads_source : its run also takes the table and the encoding of a source.
    evidence : the name of the evidence that it writes of a release.
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
