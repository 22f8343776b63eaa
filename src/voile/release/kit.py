"""Kits on disk: a fitted family of policies as a folder of JSON and Parquet, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from voile.core.arguments import check_arguments
from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError, RequestError, TamperedError, as_keywords
from voile.data.files.outputs import (
    KIT,
    KIT_FORMAT,
    KIT_INDEX,
    KIT_VERSION,
    WORK_KIT,
    Visibility,
)
from voile.data.files.own_files import fitting

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StoredKit(BriefRepr):
    """The result of `fit`: small facts as JSON, larger ones as Arrow tables.

    Parameters
    ----------
    kind : the kind of data.
    visibility : ``private`` if the kit contains raw values or the numbers of one person. A kit is
        ``shareable`` only if tests show that it contains none of these.
    facts : JSON-compatible facts of the module. ``policies``, the number of policies, is always
        present.
    tables : the tables of the module.
    """

    shows = (
        "kind",
        "visibility",
        "policies",
    )

    kind: str
    visibility: Visibility
    facts: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    _contents: dict[Callable[[StoredKit], Any], Any] = field(default_factory=dict, init=False)

    @property
    def policies(self) -> int:
        """The number of policies in the kit."""
        return int(self.facts["policies"])

    def __reduce__(self) -> NoReturn:
        raise TypeError("a kit contains keys and cannot be pickled")

    @cached_property
    def id(self) -> str:
        """The kit's id, a hash of its content. The same content gives the same id."""
        return hash_index(self._index(self._encode_tables()))

    @check_arguments
    @as_keywords()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the kit as a folder, which appears completely or not at all."""
        from voile.data.files.atomic import write_folder

        encoded = self._encode_tables()
        with write_folder(path, KIT, force=force) as folder:
            folder.chmod(0o700 if self.visibility == "private" else 0o755)
            for name, data in {KIT_INDEX: self._index(encoded), **encoded}.items():
                (folder / name).write_bytes(data)

    @classmethod
    @check_arguments
    def load(cls, path: str | os.PathLike[str], kind: str | None = None) -> Self:
        """Read a kit's folder, and check every file against the index.

        A work folder is also accepted.

        Parameters
        ----------
        kind : the required kind of data. None accepts any kind.

        Raises
        ------
        RequestError : the folder contains no kit, or a kit of a newer version or another kind.
        DamagedError : a part is absent, too large, or not part of a kit.
        TamperedError : a file does not match the index.
        """
        from voile.release.kit_files import read_index, read_tables

        path = kit_folder(Path(path))
        raw, index = read_index(path, kind)
        tables = read_tables(path, index.tables)
        kit = cls(index.kind, index.visibility, index.facts, tables)
        kit.__dict__["id"] = hash_index(raw)  # another Parquet writer would give another id
        return kit

    def read_content(self, content: Callable[[StoredKit], T]) -> T:
        """Return the module's content of the kit, read once.

        Raises
        ------
        DamagedError : the kit's parts do not fit together.
        """
        try:
            with fitting("the kit"):
                if content not in self._contents:
                    self._contents[content] = content(self)
                found: T = self._contents[content]
                return found
        except TamperedError:
            raise
        except RequestError as error:  # the same checks serve a user's values
            raise DamagedError(
                f"the kit's parts contradict each other: {error}", instead="fit again"
            ) from error

    def table(
        self,
        name: str,
        *,
        numbers: Iterable[str] = (),
        text: Iterable[str] = (),
        raw: Iterable[str] = (),
    ) -> pa.Table:
        """Return a table after a check that its columns have the given types and no missing value.

        Parameters
        ----------
        name : the name of the table.
        numbers, text, raw : the columns of finite numbers, of text and of bytes.

        Raises
        ------
        DamagedError : a column has another type or a missing value, or a number is not finite.
        """
        import numpy as np
        import pyarrow.types as kinds

        def check(column: str, *allowed: Callable[[pa.DataType], bool]) -> pa.ChunkedArray:
            cells = table.column(column)
            if cells.null_count or not any(one(cells.type) for one in allowed):
                raise DamagedError(
                    f"column {column} of the kit's table {name} has the wrong type",
                    instead="fit again",
                )
            return cells

        table = self.tables[name]
        for column in text:
            check(column, kinds.is_string)
        for column in raw:
            check(column, kinds.is_binary)
        for column in numbers:
            if not np.isfinite(check(column, kinds.is_integer, kinds.is_floating)).all():
                raise DamagedError(
                    f"column {column} of the kit's table {name} contains a value that is not a "
                    "number",
                    instead="fit again",
                )
        return table

    def _encode_tables(self) -> dict[str, bytes]:
        return {f"{name}.parquet": _parquet(table) for name, table in self.tables.items()}

    def _index(self, encoded: Mapping[str, bytes]) -> bytes:
        tables = {
            name: {
                "file": f"{name}.parquet",
                "sha256": hashlib.sha256(encoded[f"{name}.parquet"]).hexdigest(),
            }
            for name in self.tables
        }
        index = {
            "format": KIT_FORMAT,
            "version": KIT_VERSION,
            "kind": self.kind,
            "visibility": self.visibility,
            "facts": self.facts,
            "tables": tables,
        }
        return json.dumps(index, indent=1, sort_keys=True, ensure_ascii=False).encode()


def kit_folder(path: Path) -> Path:
    """Return the kit's folder: the folder itself, or the kit in a work folder."""
    inner = path / WORK_KIT
    return inner if (inner / KIT_INDEX).exists() and not (path / KIT_INDEX).exists() else path


def hash_index(index: bytes) -> str:
    """Return the id of a kit, from the bytes of its index."""
    return hashlib.sha256(index).hexdigest()[:16]


def _parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", use_dictionary=False)
    return bytes(sink.getvalue().to_pybytes())
