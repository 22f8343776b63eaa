"""The verb `voile sign`, which adds a signed statement to a determination."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, TamperedError, as_keywords
from voile.determination.allowed_signers import read_allowed_signers
from voile.determination.folder import DeterminationFolder, signature_of
from voile.determination.joint import describe_attested
from voile.determination.ssh import load_key, public_key
from voile.determination.ssh import sign as sign_bytes
from voile.determination.statements import (
    APPROVALS,
    BY_PREPARER,
    DECISIONS,
    NOT_MET,
    ON_CONDITIONS,
    UNWRITTEN,
    Decision,
    PersonStatement,
    standing_of,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

REMEDIES = {
    NOT_MET: 'sign "refuse", or determine a release that meets them',
    BY_PREPARER: "let another person approve it",
    UNWRITTEN: "write them, and determine again",
    ON_CONDITIONS: 'sign "approve with conditions"',
}


@check_arguments
@as_keywords()
def sign(
    folder: str | os.PathLike[str],
    decision: Decision,
    *,
    signer: str,
    key: str | os.PathLike[str] | None = None,
    signers: str | os.PathLike[str] | None = None,
    until: date | None = None,
    conditions: Sequence[str] = (),
    reason: str = "",
    now: datetime | None = None,
) -> Path:
    """Add a signed statement to a determination, and return its file.

    Parameters
    ----------
    decision : approve, approve with conditions, refuse, renew or withdraw.
    signer : the name in allowed_signers, such as an e-mail address.
    key : a file with an Ed25519 key in OpenSSH's format, without a passphrase. Without it, only the
        statement is written, and ``ssh-keygen -Y sign -n voile`` signs it.
    signers : the file of allowed signers, as `verify` reads it. The signer and the key are compared
        with it before anything is written.
    until : the last day of an approval, or of a renewal [the context's].
    conditions, reason : in the signer's words.
    now : the time of the statement.

    Raises
    ------
    RequestError : the determination or its statements do not allow the decision, or the file of
        allowed signers does not list the signer with this key.
    TamperedError : a file was changed.
    """
    own = DeterminationFolder(folder)
    moment = (now or datetime.now(UTC)).replace(microsecond=0)
    private = None if key is None else load_key(Path(key))
    if signers is not None:
        _check_signer(Path(signers), signer, private, moment)
    own.recover()
    if wrong := [*own.list_changed(), *own.strangers()]:
        raise TamperedError(f"{', '.join(wrong)}: not as written", where=str(own.path))
    if decision not in DECISIONS:
        raise RequestError(
            f"{decision} is not a decision", instead=f"use one of {', '.join(DECISIONS)}"
        )
    one, before = own.determination, [PersonStatement.read_file(path) for path in own.statements()]
    for path in own.statements():
        if not signature_of(path).exists():
            raise RequestError(
                "the statement has no signature yet", where=str(path), instead=signing(path)
            )
    statement = PersonStatement(
        number=len(before) + 1,
        decision=decision,
        signer=signer,
        at=moment,
        until=until or (one.context.expires if decision in APPROVALS else None),
        conditions=tuple(conditions),
        reason=reason,
        files=own.sha256,
        attests=describe_attested(one.criteria) if decision in APPROVALS else (),
        before=before[-1].sha256 if before else None,
    )
    standing = standing_of(one, own.sha256, [*before, statement], moment)
    if standing.faults:
        number, fault = standing.faults[0]
        whose = "the statement" if number == statement.number else f"statement {number}"
        raise RequestError(f"{whose} {fault}", where=str(own.path), instead=REMEDIES.get(fault))
    return _write(own, statement, private)


def _check_signer(
    signers: Path, signer: str, private: Ed25519PrivateKey | None, moment: datetime
) -> None:
    """Check that the file of allowed signers lists a signer, with the key if it is given."""
    key = None if private is None else public_key(private)
    if any(one.allows(signer, key, moment) for one in read_allowed_signers(signers)):
        return
    with_key = "" if key is None else f" with the key {key.fingerprint}"
    raise RequestError(
        f"does not list {signer}{with_key} at this time",
        where=str(signers),
        instead="add the signer's line, or sign with the listed key",
    )


def _write(
    own: DeterminationFolder, statement: PersonStatement, private: Ed25519PrivateKey | None
) -> Path:
    """Write a statement and, if a key is given, its signature: both or neither."""
    raw = statement.to_bytes()
    signature = None if private is None else sign_bytes(raw, private).write_armour().encode()
    return own.add(f"{statement.number:02}.json", raw, signature)


def signing(statement: Path) -> str:
    """Return the instruction to sign a statement with ssh-keygen."""
    return f"sign it: ssh-keygen -Y sign -n voile -f KEY {statement}"
