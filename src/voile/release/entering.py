"""Enter a release in a ledger: evaluate it, record the intent, publish it, and record the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.warn import RecoveryWarning, warn
from voile.data import open_writer
from voile.data.files.memory import AnyPath
from voile.data.opening import split_output
from voile.data.stores.path import StorePath
from voile.ledger.chain import LedgerLine
from voile.ledger.judgement import Judge, ReleaseJudgement, explain_erasure, judge_for
from voile.ledger.ledger import Ledger, LedgerKeys, OpenLedger, open_ledger
from voile.release.archive import close_published
from voile.release.kit import StoredKit
from voile.release.manifest import MANIFEST, RELEASE


@dataclass(frozen=True)
class EntryProcedure(BriefRepr):
    """The settings for entering a release in a ledger.

    Parameters
    ----------
    ledger : the ledger's file.
    key_file : the file of the ledger's secret.
    judge : the function of the module that evaluates the release.
    override : the reason to release although the risk budget is exceeded. The ledger records it.
    recipient : the recipient, with or without a period. None if anybody may receive the release.
    """

    shows = ()

    ledger: Path
    key_file: Path | None
    judge: Judge
    override: str | None = None
    recipient: str | None = None


@dataclass(frozen=True)
class PublishedLine(BriefRepr):
    """The entry that a publication adds to a ledger.

    Parameters
    ----------
    kind : ``tables``, ``itemsets``..., or ``study`` for several kinds evaluated together.
    kit : the kit's id.
    hashes : the hashes of the release and its public manifest, as in the seal.
    folder : the folder of publication. The ledger stores only a keyed hash of it.
    judgement : the disclosure and its figures.
    override : the reason to publish although the risk budget is exceeded.
    recipient : the release's recipient. The ledger stores the name only if it lists the recipient
        as non-colluding with another.
    """

    shows = ("kind",)

    kind: str
    kit: str
    hashes: Mapping[str, str]
    folder: str
    judgement: ReleaseJudgement
    override: str | None = None
    recipient: str | None = None


def intend(opened: OpenLedger, published: PublishedLine) -> LedgerLine:
    """Record an intended publication. From then on it counts as released.

    The caller has checked the judgement. It publishes next, and then appends a `done` entry that
    refers to this one.
    """
    judgement, hashes = published.judgement, published.hashes
    named = opened.ledger.audience.name_of(published.recipient)
    more = {"override": published.override, "recipient": named}
    return opened.append(
        "intent",
        {
            "kind": published.kind,
            "kit": published.kit,
            "release": hashes[RELEASE],
            "manifest": hashes[MANIFEST],
            "folder": opened.keys.hash("folder", published.folder),
            "disclosed": judgement.disclosed,
            **judgement.figures(),
            **{name: said for name, said in more.items() if said is not None},
        },
    )


def folder_of(out: Path) -> str:
    """Return the absolute path of the folder in which a release is published."""
    stored = StorePath.parse(out)
    return str(split_output(out)[0].parent.resolve() if stored is None else stored.parent)


def no_bound(
    kind: str, disclosed: Callable[[LedgerKeys], Mapping[str, Any]] = lambda _: {}
) -> Judge:
    """Return the judge of a kind of data that has no joint figure for the same people.

    Parameters
    ----------
    kind : the kind of data.
    disclosed : a function that returns the content of the ledger's entry, as keyed hashes.
    """

    def judge(ledger: Ledger, keys: LedgerKeys) -> ReleaseJudgement:
        return ReleaseJudgement(
            disclosed(keys),
            len(ledger.released_lines),
            unbounded=explain_erasure(ledger, kind)
            or f"no figure bounds what {kind} come to with other releases of the same people",
        )

    return judge


@dataclass(frozen=True)
class LedgerEntry(BriefRepr):
    """A release that a ledger allows, during its publication.

    The ledger is locked for other runs.
    """

    shows = ()

    opened: OpenLedger
    judgement: ReleaseJudgement
    kit: StoredKit
    folder: str
    override: str | None
    recipient: str | None

    @property
    def public(self) -> dict[str, Any]:
        """The ledger's part of the public manifest. It shows if an entry is removed later."""
        ledger = self.opened.ledger
        place = {"id": ledger.id, "line": len(ledger.chain.lines), "head": ledger.chain.head}
        return {"ledger": place}

    @property
    def private(self) -> dict[str, Any]:
        said = {} if self.override is None else {"override": self.override}
        return {"ledger": {**self.public["ledger"], **self.judgement.to_data(), **said}}

    def write_beside(self, private: AnyPath) -> None:
        """Write the files of the private folder that are needed to evaluate a later release."""
        for name, rows in self.judgement.beside.items():
            with open_writer(private / name, rows.schema) as writer:
                writer.write(rows)

    def intend(self, hashes: Mapping[str, str]) -> None:
        """Record an intended publication. From then on it counts as released."""
        kit, how = self.kit, (self.judgement, self.override, self.recipient)
        intend(self.opened, PublishedLine(kit.kind, kit.id, hashes, self.folder, *how))

    def finish(self) -> None:
        """Record that the release was published."""
        self.opened.append("done", {"of": self.opened.ledger.chain.lines[-1].number})


@contextmanager
def enter(entering: EntryProcedure, kit: StoredKit, out: Path | None) -> Iterator[LedgerEntry]:
    """Lock a ledger while a release is evaluated with it and written.

    Raises
    ------
    InfeasibleError : the ledger's risk budget for all releases would be exceeded.
    """
    if out is None:
        raise RequestError(
            "a release in memory cannot be entered in a ledger", instead="give a file with out"
        )
    folder = folder_of(out)
    with open_ledger(entering.ledger, entering.key_file) as opened:
        for number in close_published(opened, [Path(folder)]):  # before it can be replaced
            said = f"the release of line {number} is out though its run was killed; it is closed"
            warn(f"{entering.ledger}: {said}", RecoveryWarning)
        recipient = entering.recipient
        judgement = judge_for(recipient, entering.judge, opened.ledger, opened.keys)
        promise = opened.ledger.promise
        judgement.check(promise, entering.override)
        override = entering.override if judgement.breaks(promise) else None
        yield LedgerEntry(opened, judgement, kit, folder, override, recipient)
