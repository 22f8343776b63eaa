"""Find the person of a pseudonym for the data holder, for re-contact, and record each use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from voile.core.errors import RequestError
from voile.data.files.locks import FolderLock
from voile.data.files.own_files import read_bytes
from voile.keys.pseudonyms import pseudonyms_of
from voile.keys.secret import Secret
from voile.ledger.chain import LedgerChain, read_chain
from voile.ledger.ledger import now, write_line

SUFFIX = ".reveals"


def read_subjects(path: Path) -> list[str]:
    """Read the subjects in a file with one subject per line. A byte order mark is ignored.

    Raises
    ------
    RequestError : there is no such file, it is not UTF-8, or a line is blank.
    """
    try:
        names = read_bytes(path).decode("utf-8-sig").splitlines()
    except FileNotFoundError:
        raise RequestError("no such file of subjects", where=str(path)) from None
    except UnicodeDecodeError:
        raise RequestError(
            "the file of subjects is not UTF-8", where=str(path), instead="save the file as UTF-8"
        ) from None
    blank = [number for number, name in enumerate(names, 1) if not name.strip()]
    if blank or not names:
        where = f"{path}, line {blank[0]}" if blank else str(path)
        raise RequestError(
            "the file contains no subject", where=where, instead="write one subject per line"
        )
    return names


def reveal(
    pseudonym: str,
    subjects: Sequence[str],
    key_file: Path,
    reason: str,
    *,
    purpose: str = "subject",
    clock: Callable[[], datetime] = now,
) -> str:
    """Return the subject of a pseudonym, after recording the use next to the secret.

    The record ``KEY.reveals`` is a chain of entries like a ledger. An entry contains the pseudonym,
    the reason and the time, but never the name.

    Raises
    ------
    RequestError : there is no reason, or none of the subjects has the pseudonym.
    TamperedError : an entry of the record was changed.
    """
    import pyarrow as pa

    if not reason.strip():
        raise RequestError("the command needs a reason", instead="give the reason with --reason")
    secret = Secret.from_file(key_file)
    names = pseudonyms_of(secret, pa.array(subjects, pa.string()), purpose=purpose).to_pylist()
    found = sorted({name for name, own in zip(subjects, names, strict=True) if own == pseudonym})
    if not found:
        raise RequestError(
            "none of these subjects has this pseudonym under this secret",
            instead="name the recipient with --recipient, or the secret of that release",
        )
    time = clock().astimezone(UTC).isoformat(timespec="seconds")
    _record(
        key_file.with_name(f"{key_file.name}{SUFFIX}"),
        {"act": "reveal", "pseudonym": pseudonym, "reason": reason, "time": time},
    )
    return found[0]


def _record(path: Path, content: dict[str, str]) -> None:
    lock = FolderLock(path.with_name(f".{path.name}.voile") / "lock")
    if not lock.acquire():
        raise RequestError("another run uses it", where=str(path), instead="wait for it")
    try:
        chain = read_chain(read_bytes(path), path) if path.exists() else LedgerChain()
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        write_line(path, chain.next(content))
    finally:
        lock.release()
        with suppress(OSError):
            path.with_name(f".{path.name}.voile").rmdir()
