"""The hash of each ledger's last line, stored next to the secret's file.

A ledger without its last lines, or an older copy of it, is still an intact chain. Only the hash of
the last line, stored separately, reveals the missing lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, TamperedError
from voile.core.warn import RecoveryWarning, warn
from voile.data.files.atomic import Staging, settle
from voile.data.files.outputs import HEADS, HEADS_FORMAT, json_at
from voile.ledger.chain import LedgerChain

SUFFIX = ".ledgers"
PATIENCE = 10.0
"""The number of seconds to wait for a run of another ledger with the same secret."""


class KeptHeads:
    """The last lines of all ledgers with one secret, in a file next to the secret's file."""

    def __init__(self, key_file: Path) -> None:
        self.path = key_file.with_name(f"{key_file.name}{SUFFIX}")

    def recover(self) -> None:
        """Finish or undo the write of a killed run, before any check.

        Both versions of the file refer to lines that the ledger contains, because nothing is
        published before the newer version is in place. Either version may therefore be restored.
        """
        if settle(self.path, HEADS, patience=PATIENCE):
            warn(
                f"{self.path}: a run was killed while it replaced this file; the file is whole "
                "again",
                RecoveryWarning,
            )

    def keep(self, ledger: str, chain: LedgerChain) -> None:
        """Record a ledger's last line."""
        last = {"line": chain.lines[-1].number, "sha256": chain.head}
        with Staging(self.path, HEADS, force=True, patience=PATIENCE) as staging:
            # read under the lock, so no other run can write
            heads = {**self._heads(), ledger: last}
            data = {"format": HEADS_FORMAT, "version": 1, "heads": heads}
            text = json.dumps(data, indent=1, sort_keys=True)
            staging.part(self.path).write_bytes(text.encode())
            staging.commit()

    def check(self, ledger: str, chain: LedgerChain, where: Path) -> bool:
        """Return whether the recorded line is the chain's last line.

        Raises
        ------
        RequestError : no line of this ledger is recorded.
        TamperedError : the recorded line is missing from the chain, or differs from the line of its
            number.
        """
        kept = self._heads().get(ledger)
        if not isinstance(kept, dict) or not isinstance(kept.get("line"), int):
            raise RequestError(
                f"the last line of this ledger is not written down in {self.path.name}",
                where=str(where),
                instead=f"bring {self.path.name} from where the secret was used before",
            )
        if kept["line"] >= len(chain.lines):
            raise TamperedError(
                f"the ledger ends before line {kept['line']}, which was recorded next to the "
                "secret",
                where=str(where),
                instead="take the newest copy of the ledger",
            )
        if chain.lines[kept["line"]].sha256 != kept["sha256"]:
            raise TamperedError(
                f"line {kept['line']} is not the one recorded next to the secret",
                where=str(where),
                instead="take the ledger that was last used with this secret",
            )
        return bool(kept["line"] == chain.lines[-1].number)

    def catch_up(self, ledger: str, chain: LedgerChain) -> None:
        """Record a last line that was not recorded yet. Its removal can be noticed from now on."""
        self.keep(ledger, chain)
        line = chain.lines[-1].number
        warn(f"{self.path}: lacked the ledger's last line; line {line} is in it", RecoveryWarning)

    def _heads(self) -> dict[str, Any]:
        found = json_at(self.path).get("heads")
        return found if isinstance(found, dict) else {}
