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
    """How a text file separates its fields and lines.

    has_mark : whether it begins with a byte order mark, by which Excel recognises UTF-8.
    """

    delimiter: str = ","
    has_mark: bool = False
    line_end: str = "\n"


class BatchWriter(ABC):
    """Write record batches one after the other. The output is complete when the writer is closed.

    formulas : the number of cells in each column that a spreadsheet would run as formulas.
    """

    formulas: Mapping[str, int] = MappingProxyType({})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows with the schema of the writer.

        Dictionary arrays may change their dictionaries.
        """

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""
