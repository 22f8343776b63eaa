"""The ledger of a source: a hash chain of lines in a file, which one run at a time extends."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError, TamperedError, VoileError
from voile.core.warn import RecoveryWarning, warn
from voile.data.files.atomic import FULL, check_folder, is_own, restore, write_bytes
from voile.data.files.locks import FolderLock
from voile.data.files.outputs import LEDGER, LEDGER_FORMAT
from voile.data.files.own_files import fitting, read_bytes
from voile.keys.macs import tokens_of
from voile.keys.secret import Secret
from voile.ledger.audience import Coalition, LedgerAudience
from voile.ledger.chain import LedgerChain, LedgerLine, read_chain
from voile.ledger.heads import KeptHeads
from voile.ledger.promise import LedgerPromise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 1
RECIPIENTS = "may collude"
INTENT = ("kind", "release", "manifest", "disclosed", "joint")
Act = Literal["promise", "intent", "done", "void", "erase"]
Clock = Callable[[], datetime]


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Ledger(BriefRepr):
    """The content of a ledger's file.

    path : the file of the ledger.
    chain : the lines of the ledger.
    coalition : the named recipients whose releases count, in addition to everybody's releases. None
        selects all releases.
    """

    shows = ("path",)

    path: Path
    chain: LedgerChain
    coalition: Coalition | None = None

    @classmethod
    def read_file(cls, path: Path) -> Ledger:
        """Read a ledger, and check that each line follows the previous one.

        Raises
        ------
        RequestError : the file does not exist, is not a ledger, or has another version.
        TamperedError : a line was changed.
        """
        try:
            raw = read_bytes(path)
        except (FileNotFoundError, NotADirectoryError):
            raise RequestError(
                "no such ledger", where=str(path), instead="voile ledger init makes one"
            ) from None
        chain = read_chain(raw, path)
        first = chain.lines[0].content if chain.lines else {}
        if first.get("format") != LEDGER_FORMAT:
            raise RequestError(
                "the file is not a ledger",
                where=str(path),
                instead="give the file that voile ledger init wrote",
            )
        if first.get("version") != VERSION:
            raise RequestError(
                "the ledger has another version", where=str(path), instead="use a newer voile"
            )
        with fitting("the ledger", path):
            ledger = cls(path, chain)
            ledger.check_parts()
        return ledger

    def check_parts(self) -> None:
        """Raise an error if a line lacks a field that its act needs."""
        _ = self.promise, self.time, self.audience
        for line in self.chain.lines[1:]:
            if line.content["act"] == "intent":
                _ = [line.content[name] for name in INTENT], dict(line.content["alone"])
            elif line.content["act"] == "erase":
                _ = line.content["who"]
            elif self.chain.lines[line.content["of"]].content["act"] != "intent":
                raise TamperedError(f"line {line.number} closes none", where=str(self.path))

    @property
    def id(self) -> str:
        return str(self.chain.lines[0].content["id"])

    @property
    def promise(self) -> LedgerPromise:
        return LedgerPromise.from_data(self.chain.lines[0].content["promise"])

    @property
    def audience(self) -> LedgerAudience:
        """The recipients who cannot share their releases."""
        return LedgerAudience.from_data(self.chain.lines[0].content.get("apart", ()))

    def before(self, coalition: Coalition) -> Ledger:
        """Return the ledger with only the releases that a coalition of recipients receives."""
        return replace(self, coalition=coalition)

    @property
    def time(self) -> datetime:
        """The time at which the last line was written."""
        return datetime.fromisoformat(self.chain.lines[-1].content["time"])

    @property
    def closing_acts(self) -> dict[int, Act]:
        """The act that ended each intent, by the intent's line number. Open intents are absent."""
        acts = (line.content for line in self.chain.lines)
        return {c["of"]: c["act"] for c in acts if c["act"] in ("done", "void")}

    @property
    def released_lines(self) -> list[LedgerLine]:
        """The intents that count as released: all, except those that published nothing."""
        closed = self.closing_acts
        return [x for x in self.intents if closed.get(x.number) != "void" and self._reaches(x)]

    def _reaches(self, line: LedgerLine) -> bool:
        """Return whether the coalition receives a release.

        Everybody receives one without a recipient.
        """
        name = line.content.get("recipient")
        return name is None or self.coalition is None or name in self.coalition

    @property
    def open(self) -> list[LedgerLine]:
        """The intents for which it is unknown whether they were published."""
        closed = self.closing_acts
        return [line for line in self.intents if line.number not in closed]

    @property
    def erased_hashes(self) -> frozenset[str]:
        """The keyed hashes of the subjects whom later releases must not contain."""
        acts = (line.content for line in self.chain.lines)
        return frozenset(c["who"] for c in acts if c["act"] == "erase")

    @property
    def low(self) -> float:
        """The expected matches of the single release that allows most, rounded up to two digits."""
        return float(
            max((x.content["alone"].get("matches", 0.0) for x in self.released_lines), default=0)
        )

    @property
    def intents(self) -> list[LedgerLine]:
        """The intended releases, whether or not they were published."""
        return [line for line in self.chain.lines if line.content["act"] == "intent"]


@dataclass(frozen=True, eq=False)
class LedgerKeys(BriefRepr):
    """The use of a secret for one ledger: the key of its hashes, and its recorded last line."""

    key: bytes
    heads: KeptHeads

    @classmethod
    def of(cls, key_file: Path | None, ledger: str) -> LedgerKeys:
        if key_file is None:
            raise RequestError(
                "a ledger's last line is recorded next to the file of the secret",
                instead="give that file with --key-file; VOILE_SECRET alone is not a place",
            )
        key, heads = Secret.from_file(key_file).derive("ledger", ledger), KeptHeads(Path(key_file))
        heads.recover()
        return cls(key, heads)

    def hash(self, *parts: str) -> str:
        """Return a keyed hash of texts, 64 bits. Without the key, nobody can test a guess."""
        said = "\0".join(f"{len(part)}:{part}" for part in parts)
        return hmac.digest(self.key, said.encode("utf-8", "surrogatepass"), "sha256").hex()[:16]

    def scope_of_dates(self, days: int) -> str:
        """Return the hash of a scope of date shifts.

        Within one scope, all dates of a subject move by the same offset.

        days : the largest number of days by which a date is moved.
        """
        return self.hash("dates", str(days))

    def tokens(self, use: str, texts: Iterable[bytes]) -> NDArray[np.uint64]:
        """Return the keyed token, 64 bits, of each text."""
        return tokens_of(self.key, [use.encode() + b"\0" + text for text in texts])

    def check(self, ledger: Ledger) -> bool:
        """Return whether a ledger's last line is the recorded one.

        Raises
        ------
        RequestError : the ledger was made with another secret, or no line of it is recorded.
        TamperedError : the recorded line is missing or differs.
        """
        if ledger.chain.lines[0].content.get("key") != self.hash("ledger"):
            raise RequestError("the ledger was made under another secret", where=str(ledger.path))
        return self.heads.check(ledger.id, ledger.chain, ledger.path)


def create(
    path: Path,
    promise: LedgerPromise,
    key_file: Path | None,
    *,
    audience: LedgerAudience | None = None,
    clock: Clock = now,
) -> Ledger:
    """Write a ledger without releases. An existing file is never replaced.

    audience : the recipients who cannot share their releases. Without it, all recipients may share.
    """
    name = secrets.token_hex(8)
    keys = LedgerKeys.of(key_file, name)
    content = {
        "act": "promise",
        "format": LEDGER_FORMAT,
        "version": VERSION,
        "id": name,
        "key": keys.hash("ledger"),
        "promise": promise.to_data(),
        "recipients": RECIPIENTS,
        **({"apart": audience.to_data()} if audience and audience.apart else {}),
        "time": _text(clock()),
    }
    chain = LedgerChain().followed_by(LedgerChain().next(content))
    check_folder(path)
    if os.path.lexists(path):
        raise RequestError(
            "is there already, and a ledger is never replaced",
            where=str(path),
            instead="choose another name",
        )
    keys.heads.keep(name, chain)
    write_bytes(path, chain.lines[0].encode_line() + b"\n", LEDGER)
    return Ledger(path, chain)


class OpenLedger:
    """A ledger that only this run may extend."""

    def __init__(self, ledger: Ledger, keys: LedgerKeys, clock: Clock) -> None:
        self.ledger, self.keys, self._clock = ledger, keys, clock

    def append(self, act: Act, content: Mapping[str, Any]) -> LedgerLine:
        """Append a complete line, and record it next to the secret.

        Raises
        ------
        RequestError : the clock shows an earlier time than the last line.
        """
        time = self._clock()
        if time < self.ledger.time:
            raise RequestError(
                "the clock is before the time of the ledger's last line",
                where=str(self.ledger.path),
                instead="set the clock right",
            )
        chain = self.ledger.chain
        line = chain.next({**content, "act": act, "time": _text(time)})
        write_line(self.ledger.path, line)
        self.ledger = Ledger(self.ledger.path, chain.followed_by(line))
        self.keys.heads.keep(self.ledger.id, self.ledger.chain)
        return line


@contextmanager
def open_ledger(path: Path, key_file: Path | None, *, clock: Clock = now) -> Iterator[OpenLedger]:
    """Open a ledger for evaluation and extension, and lock it against other runs.

    Raises
    ------
    RequestError : another run uses it, or it is not a ledger of this secret.
    TamperedError : a line was changed, or the last lines were removed.
    """
    read = Ledger.read_file(path)
    folder = path.parent / f".{path.name}.voile"
    lock = FolderLock(folder / "lock")
    try:
        held = lock.acquire()
    except OSError:
        raise RequestError(
            "you have no permission to write to the ledger's folder", where=str(path)
        ) from None
    if not held:
        raise RequestError("another run uses this ledger", where=str(path), instead="wait for it")
    try:
        is_left = is_own(folder) and restore(folder, path.name)
        read = Ledger.read_file(path)
        keys = LedgerKeys.of(key_file, read.id)
        if not keys.check(read):
            keys.heads.catch_up(read.id, read.chain)
        if _cut_torn(path, read.chain.torn) or is_left:
            warn(
                f"{path}: a run was killed while it wrote this ledger; its unfinished bytes are "
                "removed",
                RecoveryWarning,
            )
        yield OpenLedger(read, keys, clock)
    finally:
        lock.release()
        with suppress(OSError):
            folder.rmdir()


def _text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def write_line(path: Path, line: LedgerLine) -> None:
    """Append a line's bytes, or none of them if the disk is full."""
    data = line.encode_line() + b"\n"
    with path.open("ab", buffering=0) as file:
        size = file.tell()
        try:
            written = file.write(data)
            os.fsync(file.fileno())
        except OSError as error:
            file.truncate(size)
            said = "the disk is full" if error.errno in FULL else "the ledger cannot be written"
            raise VoileError(said, where=str(path), instead="nothing was released") from None
        if written != len(data):
            file.truncate(size)
            raise VoileError(
                "the disk is full, and voile released nothing",
                where=str(path),
                instead="free space, and run again",
            )


def _cut_torn(path: Path, torn: int) -> bool:
    """Remove the partial line of a killed run, and return whether there was one."""
    if torn:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - torn)
            os.fsync(file.fileno())
    return bool(torn)
