"""Return every byte that a file contains, after unpacking its format."""

from __future__ import annotations

import base64
import gzip
import re
import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SMALL = 10**6
ZSTD = b"\x28\xb5\x2f\xfd"
CODES = ("utf-8", "utf-16-le", "utf-16-be")
NUMBERS = ("<q", "<d")


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, but for what lies in a private one."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.endswith(".private") for part in path.parts):
            yield path


def shown_by(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes as they are, and unpacked in each way that its format knows."""
    raw = path.read_bytes()
    yield raw
    yield from _frames(raw)
    if path.suffix == ".parquet":
        yield from _parquet(path)
    if path.suffix == ".duckdb":
        yield from _duckdb(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    if raw.startswith(b"\x1f\x8b"):
        yield gzip.decompress(raw)


def _frames(raw: bytes) -> Iterator[bytes]:
    """Yield what every zstd frame holds: the pages of Parquet, dictionaries among them."""
    for found in re.finditer(re.escape(ZSTD), raw):
        rest = pa.BufferReader(memoryview(raw)[found.start() :])
        parts = []
        try:
            stream = pa.CompressedInputStream(rest, "zstd")
            while part := stream.read(1 << 16):
                parts.append(part)
        except OSError:
            pass  # what follows the frame is none
        yield b"".join(parts)


def _parquet(path: Path) -> Iterator[bytes]:
    """Yield the metadata, its schema decoded, and every column's dictionary as it is stored."""
    file = pq.ParquetFile(path)
    for value in (file.metadata.metadata or {}).values():
        yield value
        yield base64.b64decode(value, validate=False) if _is_base64(value) else b""
    yield str(file.metadata.to_dict()).encode()
    names = [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]
    for chunk in pq.ParquetFile(path, read_dictionary=names).read().columns:
        for part in chunk.chunks:
            if isinstance(part, pa.DictionaryArray):
                yield repr(part.dictionary.to_pylist()).encode()


def _is_base64(value: bytes) -> bool:
    return bool(re.fullmatch(rb"[A-Za-z0-9+/=]+", value)) and len(value) % 4 == 0


def _duckdb(path: Path) -> Iterator[bytes]:
    """Yield every table, and the statistics that the file keeps of its columns."""
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            for sql in (f'FROM "{table}"', f"FROM pragma_storage_info('{table}')"):
                yield repr(connection.execute(sql).fetchall()).encode()


def leaks(folder: Path, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each public file of a folder that holds one of the values, with the value."""
    for path in files_of(folder):
        for shown in shown_by(path):
            yield from ((path.name, value) for value in held(shown, values))


def held(shown: bytes, values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values that bytes hold: as text in UTF-8 or UTF-16, or as a 64-bit number.

    A number of few digits is looked for as a word of what is text: others hold it by chance.
    """
    starts = {one[:2] for one in values if isinstance(one, str)}
    there = {(one, code) for one in starts for code in CODES if one.encode(code) in shown}
    words, is_text = {*re.findall(rb"(?<![\w.])\d+(?!\w)", shown)}, _is_text(shown)
    for value in values:
        if isinstance(value, str):
            codes = [code for code in CODES if (value[:2], code) in there]
            holds = any(value.encode(code) in shown for code in codes)
        else:
            holds = (is_text or value >= SMALL) and (
                b"%d" % value in words or any(struct.pack(x, value) in shown for x in NUMBERS)
            )
        if holds:
            yield value


def _is_text(shown: bytes) -> bool:
    try:
        shown.decode()
    except UnicodeDecodeError:
        return False
    return True
