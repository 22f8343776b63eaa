"""The interface of every writer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import pyarrow as pa


@dataclass(frozen=True)
class TextDialect:
    """How a text file separates its fields, begins and ends its lines.

    has_mark : whether it begins with a byte order mark, which shows Excel that it is UTF-8.
    """

    delimiter: str = ","
    has_mark: bool = False
    line_end: str = "\n"


class BatchWriter(ABC):
    """Write record batches one after the other. The output is complete when the writer is closed.

    formulas : how many cells of each column a spreadsheet that opens the file takes for formulas.
    """

    formulas: Mapping[str, int] = MappingProxyType({})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows, of the writer's schema; dictionary arrays may change theirs."""

    @abstractmethod
    def close(self) -> None:
        """End the file."""
