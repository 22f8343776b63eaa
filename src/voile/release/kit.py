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
    """What `fit` learnt: small facts as JSON, larger ones as Arrow tables.

    Parameters
    ----------
    kind : the wing that made it.
    visibility : ``private`` when it holds raw values or one person's numbers; only a kit tested
        to hold none is ``shareable``.
    facts : JSON-able, the wing's own; ``policies`` (the number of them) is always there.
    tables : the wing's own.
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
        """How many policies it holds."""
        return int(self.facts["policies"])

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a kit contains keys and is not pickled: save it, and open it with voile.open_kit"
        )

    @cached_property
    def id(self) -> str:
        """Return the kit's id, which follows from its content: the same content has the same id."""
        return hash_index(self._index(self._encode_tables()))

    @check_arguments
    @as_keywords()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the folder; it appears whole or not at all."""
        from voile.data.files.atomic import write_folder

        encoded = self._encode_tables()
        with write_folder(path, KIT, force=force) as folder:
            folder.chmod(0o700 if self.visibility == "private" else 0o755)
            for name, data in {KIT_INDEX: self._index(encoded), **encoded}.items():
                (folder / name).write_bytes(data)

    @classmethod
    @check_arguments
    def load(cls, path: str | os.PathLike[str], kind: str | None = None) -> Self:
        """Read a folder back, checking every file against the index; a work folder's kit is read.

        Parameters
        ----------
        kind : of the wing that the kit has to be of; any without it.

        Raises
        ------
        RequestError : no kit there, or one of a newer version or another kind.
        DamagedError : a part is absent, too large, or not part of a kit.
        TamperedError : a file does not match the index.
        """
        from voile.release.kit_files import read_index, read_tables

        path = kit_folder(Path(path))
        raw, index = read_index(path, kind)
        tables = read_tables(path, index.tables)
        kit = cls(index.kind, index.visibility, index.facts, tables)
        kit.__dict__["id"] = hash_index(raw)  # another Parquet writer's bytes would give another id
        return kit

    def read_content(self, content: Callable[[StoredKit], T]) -> T:
        """Return the kit's content, read once. Raise `DamagedError` if its parts do not fit."""
        try:
            with fitting("the kit"):
                if content not in self._contents:
                    self._contents[content] = content(self)
                found: T = self._contents[content]
                return found
        except TamperedError:
            raise
        except RequestError as error:  # what refuses a user's values refuses a kit's
            raise DamagedError(f"the kit's parts do not fit: {error}") from error

    def table(
        self,
        name: str,
        *,
        numbers: Iterable[str] = (),
        text: Iterable[str] = (),
        raw: Iterable[str] = (),
    ) -> pa.Table:
        """Return a table that has columns of these names and kinds, with a value in every row.

        Raises
        ------
        DamagedError : the kit lacks it, or a number is infinite or none.
        """
        import numpy as np
        import pyarrow.types as kinds

        def check(column: str, *allowed: Callable[[pa.DataType], bool]) -> pa.ChunkedArray:
            cells = table.column(column)
            if cells.null_count or not any(one(cells.type) for one in allowed):
                raise DamagedError(f"the kit's table {name} has another kind of {column}")
            return cells

        table = self.tables[name]
        for column in text:
            check(column, kinds.is_string)
        for column in raw:
            check(column, kinds.is_binary)
        for column in numbers:
            if not np.isfinite(check(column, kinds.is_integer, kinds.is_floating)).all():
                raise DamagedError(f"the kit's table {name} has a {column} that is not a number")
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
