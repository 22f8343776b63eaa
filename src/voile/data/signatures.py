"""The first bytes that identify the format of a file, whatever its suffix."""

from __future__ import annotations

from typing import NamedTuple

HEAD = 1 << 16
"""The number of bytes at a file's beginning that determine its type."""
MOST_CONTROLS = 0.05
"""A file with a larger share of control characters at its beginning is not text."""
CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})


class FileSignature(NamedTuple):
    """The first bytes of a format, its description, and the fix for the user."""

    start: bytes
    format: str
    remedy: str


PICTURE = "give the table itself"
SIGNATURES = (
    FileSignature(b"\x89PNG\r\n\x1a\n", "a PNG picture", PICTURE),
    FileSignature(b"\xff\xd8\xff", "a JPEG picture", PICTURE),
    FileSignature(b"GIF87a", "a GIF picture", PICTURE),
    FileSignature(b"GIF89a", "a GIF picture", PICTURE),
    FileSignature(b"II*\0", "a TIFF picture", PICTURE),
    FileSignature(b"MM\0*", "a TIFF picture", PICTURE),
    FileSignature(b"%PDF-", "a PDF document", PICTURE),
    FileSignature(b"PK\x03\x04", "a zip archive or a workbook", "unpack it, or call it .xlsx"),
    FileSignature(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file", "call it .xls"),
    FileSignature(b"\x1f\x8b", "compressed by gzip", "let its name end in .gz"),
    FileSignature(b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it"),
    FileSignature(b"\xfd7zXZ\0", "compressed by xz", "unpack it"),
    FileSignature(b"BZh91AY&SY", "compressed by bzip2", "unpack it"),
    FileSignature(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    FileSignature(b"Rar!\x1a\x07", "a RAR archive", "unpack it"),
    FileSignature(b"PAR1\x15", "a Parquet file", "call it .parquet"),
    FileSignature(b"ARROW1\0\0", "an Arrow file", "call it .arrow"),
    FileSignature(b"SQLite format 3\0", "a SQLite database", "call it .sqlite"),
    FileSignature(b"\x7fELF", "a program", "give the table itself"),
)


def find_signature(head: bytes) -> FileSignature | None:
    """Return the binary format that a file begins with, or None.

    >>> find_signature(b"%PDF-1.7").format
    'a PDF document'
    >>> find_signature(b"age,zip")
    """
    return next((one for one in SIGNATURES if head.startswith(one.start)), None)


def is_binary(head: bytes) -> bool:
    """Return whether more than 5% of the first bytes of a file are control characters.

    >>> is_binary(b"age,zip"), is_binary(bytes(range(64)))
    (False, True)
    """
    return len(head) - len(head.translate(None, CONTROLS)) > MOST_CONTROLS * len(head)
