"""A release enters a ledger: judged, written down as intended, published, written down as done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from voile.core.brief import Brief
from voile.core.errors import RequestError
from voile.data.opening import split_output
from voile.ledger.judgement import Judgement
from voile.ledger.ledger import Keys, Ledger, OpenLedger, open_ledger
from voile.release.kit import Kit
from voile.release.manifest import MANIFEST, RELEASE

Judge: TypeAlias = Callable[[Ledger, Keys], Judgement]
"""What a wing makes of a new release beside those that a ledger names."""


@dataclass(frozen=True)
class Entering(Brief):
    """How a release enters a ledger.

    ledger : its file. key_file : of the secret. judge : the wing's.
    """

    shows = ()

    ledger: Path
    key_file: Path | None
    judge: Judge


@dataclass(frozen=True)
class Entry(Brief):
    """A release that a ledger allows, on its way; no other run may extend the ledger meanwhile."""

    shows = ()

    opened: OpenLedger
    judgement: Judgement
    kit: Kit
    folder: str

    @property
    def public(self) -> dict[str, Any]:
        """Return what the public manifest says: a line that is gone later is noticed by it."""
        ledger = self.opened.ledger
        place = {"id": ledger.id, "line": len(ledger.chain.lines), "head": ledger.chain.head}
        return {"ledger": place}

    @property
    def private(self) -> dict[str, Any]:
        return {"ledger": {**self.public["ledger"], **self.judgement.to_data()}}

    def intend(self, hashes: Mapping[str, str]) -> None:
        """Write down what is about to be published; from now on it counts as released."""
        self.opened.append(
            "intent",
            {
                "kind": self.kit.kind,
                "kit": self.kit.id,
                "release": hashes[RELEASE],
                "manifest": hashes[MANIFEST],
                "folder": self.folder,
                "disclosed": self.judgement.disclosed,
                **self.judgement.figures(),
            },
        )

    def finish(self) -> None:
        """Write down that it was published."""
        self.opened.append("done", {"of": self.opened.ledger.chain.lines[-1].number})


@contextmanager
def enter(entering: Entering, kit: Kit, out: Path | None) -> Iterator[Entry]:
    """Hold a ledger while a release is judged by it and written.

    Raises
    ------
    InfeasibleError : what was promised of all releases together would be broken.
    """
    if out is None:
        raise RequestError(
            "a release in memory is written down in no ledger", instead="say where it goes, by out"
        )
    folder = split_output(out)[0].parent.resolve()
    with open_ledger(entering.ledger, entering.key_file) as opened:
        judgement = entering.judge(opened.ledger, opened.keys)
        judgement.check(opened.ledger.promise)
        yield Entry(opened, judgement, kit, opened.keys.hash("folder", str(folder)))
