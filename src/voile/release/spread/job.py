"""What workers read and write: the files of a folder that is its owner's alone, gone with the run.

| file | holds |
| --- | --- |
| `job` | how the step is prepared, and the pieces of the source |
| `key` | the run's own key, from which people's tokens and the order of rows are drawn |
| `kit/` | the kit |
| `made/` | of each piece its released rows, dealt to buckets, and what was noted of them |
| `known` | what is known when every piece was made, and where its rows lie |
| `parts/` | the release's files, and whose their rows are |

`job`, `known` and the notes are pickles, which run what they say when they are loaded: a worker
loads them only from a folder that is its own user's alone.

Every attempt at a task writes files of fresh names, and returns only the name. So whatever is
tried twice, at once or after a failure, one attempt counts and no row is lost or doubled.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.data.source import Piece, Source
from voile.keys.random import Protective
from voile.keys.secret import Secret
from voile.release.accounting import Accounting
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.outcomes import Tally
from voile.release.step import Applying

JOB, KEY, KIT, MADE, KNOWN, PARTS = "job", "key", "kit", "made", "known", "parts"
ROWS_OF, NOTES_OF, PART, TAIL = ".rows", ".notes", ".parquet", ".tail.parquet"


class PiecedSource(Source):
    """The columns of a source of which workers read pieces."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.name, source.kind, source.schema(), source.notes)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError("a worker reads pieces")

    def fingerprint(self) -> str:
        raise NotImplementedError("a worker reads pieces")


@dataclass(frozen=True)
class Job(Brief):
    """How to make the pieces of one release.

    found : fields of the step that were found in the whole source.
    buckets : how many parts rows are dealt to; None where their order is kept.
    """

    shows = ("buckets",)

    prepare: Callable[[Kit, Chosen, Source, Any], Applying[Any, Any]]
    chosen: Chosen
    options: Any
    source: PiecedSource
    found: Mapping[str, Any]
    pieces: Sequence[Piece]
    buckets: int | None

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The number in the source of each piece's first row."""
        return np.cumsum([0, *(piece.rows for piece in self.pieces)])[:-1]

    @property
    def parts(self) -> int:
        return len(self.pieces) if self.buckets is None else self.buckets


@dataclass(frozen=True)
class Noted(Brief):
    """What is noted of a piece. notes : of each of its batches."""

    shows = ("tally",)

    tally: Tally
    notes: Sequence[Any]
    dropped: NDArray[np.int64]
    beside: Sequence[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class Gathered(Brief):
    """What every part needs. made : the name of each piece's file."""

    shows = ()

    known: Any
    made: Sequence[str]


@dataclass(frozen=True)
class Ready(Brief):
    """A step, prepared in this process."""

    shows = ("job",)

    job: Job
    applying: Applying[Any, Any]
    key: Secret

    @classmethod
    def of(cls, folder: Path) -> Ready:
        """Prepare the step as the driver did."""
        job: Job = load(folder / JOB)
        kit = Kit.load(folder / KIT)
        key = Secret.from_file(folder / KEY)
        prepared = job.prepare(kit, job.chosen, job.source, job.options)
        return cls(job, replace(prepared, **job.found), key)

    @cached_property
    def account(self) -> Accounting[Any, Any]:
        return accounting(self.applying, self.key)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return draws that only this run's key could give again."""
        return Protective.keyed(self.key, purpose=purpose).generator()


def accounting(applying: Applying[Any, Any], key: Secret) -> Accounting[Any, Any]:
    return Accounting(applying, key.derive("protective", "people")[:16])


def store(path: Path, thing: Any) -> None:
    path.write_bytes(pickle.dumps(thing, protocol=5))


def load(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
