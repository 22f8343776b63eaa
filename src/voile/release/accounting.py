"""Record the outcome of each row of a batch, in any process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.keys.macs import tokens_of, utf8_of
from voile.release.manifest import ASIDE, CONTROL, PERSON, ROW, ROWS
from voile.release.outcomes import BatchOutcome, Known, Notes, RowTally, SourceBatch
from voile.release.step import ApplyingStep


@dataclass(frozen=True)
class AccountedBatch(BriefRepr):
    """A batch with an outcome for each of its rows.

    Parameters
    ----------
    rows : the released rows, with the columns of `tail` for each.
    tally : the counts of all rows by their outcome.
    dropped : the distinct tokens of people with a suppressed row.
    beside : rows for files of the private folder, by name of the file.
    """

    rows: pa.RecordBatch
    tally: RowTally
    dropped: NDArray[np.int64]
    beside: Sequence[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class RowAccounting(BriefRepr, Generic[Notes, Known]):
    """A function that records the outcome of every row of a batch.

    Parameters
    ----------
    applying : the step that makes the release.
    key : the key for the tokens of people, used for one release only.
    """

    shows = ()

    applying: ApplyingStep[Notes, Known]
    key: bytes

    @property
    def shown_columns(self) -> int:
        """The number of columns before the tail."""
        return len(self.applying.unfinished or self.applying.schema)

    @cached_property
    def tail(self) -> pa.Schema:
        """The schema of a released row's private columns: source row number and person."""
        person = [(PERSON, pa.int64())] if self.applying.roles.subject is not None else []
        return pa.schema([(ROW, pa.int64()), *person])

    @cached_property
    def beside(self) -> dict[str, pa.Schema]:
        """The schemas of the files with rows in the private folder, by name of the file."""
        named = [(name, self.applying.source.columns[name]) for name in self._named_column]
        text = [(name, pa.string()) for name in ("column", "reason")]
        return {
            ROWS: self.tail,
            ASIDE: pa.schema([(ROW, pa.int64()), *text, *named]),
            CONTROL: pa.schema([(ROW, pa.int64())]),
            **self.applying.beside,
        }

    def __call__(self, batch: SourceBatch, made: BatchOutcome[Any]) -> AccountedBatch:
        tally = RowTally()
        aside = [*self._aside(batch, made, tally)]
        left = batch.find_remaining(made.aside)
        suppressed = np.zeros_like(left) if made.suppressed is None else made.suppressed & left
        kept = left & ~suppressed
        tally.read = len(kept)
        tally.held_out = int((~batch.counted).sum())
        tally.set_aside_rows = int((batch.counted & ~left).sum())
        tally.suppressed = int(suppressed.sum())
        tally.released = int(kept.sum())
        tail, dropped = [pa.array(batch.numbers)], np.zeros(0, np.int64)
        if (subject := self.applying.roles.subject) is not None:
            tokens = self._tokens(batch.rows.column(subject), batch.numbers)
            dropped = np.unique(tokens[suppressed])
            tail.append(pa.array(tokens))
        whole = pa.schema([*(self.applying.unfinished or self.applying.schema), *self.tail])
        rows = pa.RecordBatch.from_arrays([*made.columns, *tail], schema=whole)
        held = pa.RecordBatch.from_arrays([pa.array(batch.numbers[~batch.counted])], [ROW])
        beside = [(CONTROL, held), *made.beside.items(), *((ASIDE, one) for one in aside)]
        return AccountedBatch(rows.filter(pa.array(kept)), tally, dropped, beside)

    @property
    def _named_column(self) -> list[str]:
        return [] if self.applying.named is None else [self.applying.named]

    def _aside(
        self, batch: SourceBatch, made: BatchOutcome[Any], tally: RowTally
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rejected rows for each column, with the reason."""
        for aside in made.aside:
            lost = aside.rows & batch.counted
            if n := int(lost.sum()):
                tally.set_aside[aside.column, aside.reason] += n
                why = [pa.repeat(text, n) for text in (aside.column, aside.reason)]
                names = [
                    batch.rows.column(name).filter(pa.array(lost)) for name in self._named_column
                ]
                columns = [pa.array(batch.numbers[lost]), *why, *names]
                yield pa.RecordBatch.from_arrays(columns, schema=self.beside[ASIDE])

    def _tokens(self, people: pa.Array, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a token for the person of each row.

        Only the key of this run gives the same tokens.
        """
        coded = people.cast(pa.string()).dictionary_encode()
        named = tokens_of(self.key, [b"s" + name for name in utf8_of(coded.dictionary)])
        nobody = coded.indices.is_null().to_numpy(zero_copy_only=False)
        rows = [b"r%d" % row for row in numbers[nobody]]  # each counts as one person
        places = coded.indices.fill_null(len(named)).to_numpy()
        tokens: NDArray[np.uint64] = np.append(named, np.uint64(0))[places]
        tokens[nobody] = tokens_of(self.key, rows)
        return tokens.view(np.int64)
