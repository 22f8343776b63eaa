"""One statement of a determination, with the key that signed it."""

from __future__ import annotations

from dataclasses import dataclass

from voile.determination.ssh import PublicKey
from voile.determination.statements import PersonStatement


@dataclass(frozen=True)
class StatementSignature:
    """A statement, its key, and whether the file of allowed signers lists the key for the signer.

    key : the key of the signature. None if there is no valid signature.
    is_confirmed : None without a file of allowed signers.
    """

    statement: PersonStatement
    key: PublicKey | None
    is_confirmed: bool | None
