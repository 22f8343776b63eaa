"""The last head of each ledger, kept next to the file of the secret.

A ledger that was cut, or restored from an older copy, is still a whole chain. Only its last head,
kept elsewhere, shows the missing lines.
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
"""Seconds to wait for a run of another ledger of the same secret."""


class KeptHeads:
    """The heads next to one secret's file."""

    def __init__(self, key_file: Path) -> None:
        self.path = key_file.with_name(f"{key_file.name}{SUFFIX}")

    def recover(self) -> None:
        """Finish or undo a killed run's write, before any check.

        Both heads that such a run leaves are of lines that the ledger has: nothing is published
        before the newer one is in place. So either of them may come back.
        """
        if settle(self.path, HEADS, patience=PATIENCE):
            warn(
                f"{self.path}: a run was killed while it replaced this file; the file is whole "
                "again",
                RecoveryWarning,
            )

    def keep(self, ledger: str, chain: LedgerChain) -> None:
        """Write down a ledger's last line."""
        last = {"line": chain.lines[-1].number, "sha256": chain.head}
        with Staging(self.path, HEADS, force=True, patience=PATIENCE) as staging:
            heads = {**self._heads(), ledger: last}  # read while no other run can write them
            data = {"format": HEADS_FORMAT, "version": 1, "heads": heads}
            text = json.dumps(data, indent=1, sort_keys=True)
            staging.part(self.path).write_bytes(text.encode())
            staging.commit()

    def check(self, ledger: str, chain: LedgerChain, where: Path) -> bool:
        """Refuse a chain that lacks the last line that was written down.

        Return whether that line is the chain's last.

        Raises
        ------
        RequestError : nothing is known of this ledger.
        TamperedError : its line of that number is another, or is not there.
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
        """Write down a last line that came without its head: from now on nobody can cut it off."""
        self.keep(ledger, chain)
        line = chain.lines[-1].number
        warn(f"{self.path}: lacked the ledger's last line; line {line} is in it", RecoveryWarning)

    def _heads(self) -> dict[str, Any]:
        found = json_at(self.path).get("heads")
        return found if isinstance(found, dict) else {}
