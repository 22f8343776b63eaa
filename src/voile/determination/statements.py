"""Signed statements (approvals, renewals, refusals, withdrawals) as a chain of hashes.

Each statement contains the hash of the one before it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import TypeAdapter, ValidationError

from voile.core.errors import DamagedError
from voile.core.evidence import FORBID
from voile.core.mistakes import mistakes
from voile.data.files.own_files import read_bytes
from voile.determination.determination import Determination
from voile.determination.joint import describe_attested
from voile.determination.judging import conditions

Decision = Literal["approve", "approve with conditions", "refuse", "renew", "withdraw"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
APPROVALS = ("approve", "approve with conditions")
ENDS = ("refuse", "withdraw")
SIGNER = re.compile(r"[^\s,!*?\"\x00-\x1f]{1,200}")
"""The pattern of a name that allowed_signers can contain unchanged."""


@dataclass(frozen=True, kw_only=True)
class PersonStatement:
    """One person's statement about a determination.

    Parameters
    ----------
    number : the position in the chain, from 1.
    signer : the person, as named in allowed_signers.
    at : the time, by the signer's clock.
    until : the last day on which an approval or a renewal is valid.
    conditions, reason : in the signer's words.
    files : the hash of the determination's list of files.
    attests : for an approval, the figures of the determination that recipients cannot recompute.
    before : the hash of the previous statement. None for the first.
    """

    __pydantic_config__ = FORBID

    format: Literal["voile-statement"] = "voile-statement"
    version: Literal[1] = 1
    number: int
    decision: Decision
    signer: str
    at: datetime
    until: date | None = None
    conditions: tuple[str, ...] = ()
    reason: str = ""
    files: str
    attests: tuple[str, ...] = ()
    before: str | None = None

    def to_bytes(self) -> bytes:
        """Return the content of the statement's file, which the signature covers."""
        plain = {
            "at": self.at.isoformat(),
            "until": self.until.isoformat() if self.until else None,
        }
        every = {**asdict(self), **plain}
        if not self.attests:
            del every["attests"]
        data = json.dumps(every, indent=1, sort_keys=True, ensure_ascii=False)
        return f"{data}\n".encode()

    @property
    def sha256(self) -> str:
        """The hash of the statement's bytes, which the next statement contains."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def read_file(cls, path: Path) -> Self:
        """Read a statement from its file.

        Raises
        ------
        DamagedError : the file does not have the format that voile writes.
        """
        raw = read_bytes(path)
        try:
            one = TypeAdapter(cls).validate_json(raw, strict=True)
        except ValidationError as error:
            said = mistakes(error)
            raise DamagedError(f"the statement is damaged: {said}", where=str(path)) from None
        if one.at.tzinfo is None or one.to_bytes() != raw:
            raise DamagedError("the statement is not as voile writes one", where=str(path))
        return one


@dataclass(frozen=True)
class StatementStanding:
    """The joint result of all statements, without regard to their signatures.

    Parameters
    ----------
    approvals : for each signer, the last day on which the approval is valid.
    end : the refusal or withdrawal that ended the determination.
    faults : the number of each invalid statement, and its fault.
    """

    approvals: Mapping[str, date] = field(default_factory=dict)
    end: PersonStatement | None = None
    faults: tuple[tuple[int, str], ...] = ()

    def until(self, signers: int) -> date | None:
        """Return the last day on which enough people approve, or None if too few approve."""
        days = sorted(self.approvals.values(), reverse=True)
        return days[signers - 1] if len(days) >= signers else None


NOT_MET = "approves a release that does not meet its criteria"
UNWRITTEN = "approves a context with texts still to be written"
BY_PREPARER = "approves a release that this signer prepared"
ON_CONDITIONS = "approves without conditions, but the criteria are met only with conditions"


def standing_of(
    one: Determination, files: str, statements: Sequence[PersonStatement], now: datetime
) -> StatementStanding:
    """Combine statements into their joint result. A statement with a fault does not count."""
    standing, before = StatementStanding(), None
    for place, statement in enumerate(statements, start=1):
        fault = _fault(one, files, statement, standing, before, place, now)
        faults = (*standing.faults, (place, fault)) if fault else standing.faults
        approvals, end = dict(standing.approvals), standing.end
        if not fault and statement.decision in ENDS:
            end = end or statement
        elif not fault and statement.until is not None:
            approvals[statement.signer] = statement.until
        standing, before = StatementStanding(approvals, end, faults), statement
    return standing


def _fault(
    one: Determination,
    files: str,
    statement: PersonStatement,
    standing: StatementStanding,
    before: PersonStatement | None,
    place: int,
    now: datetime,
) -> str | None:
    """Return the fault of a statement at its position in the chain, or None."""
    if statement.number != place or statement.before != (before.sha256 if before else None):
        return "does not follow the statement before it"
    if statement.files != files:
        return "is about other files"
    if statement.at > now:
        return "was made later than now, by this clock"
    if statement.at.date() < one.made or (before and statement.at < before.at):
        return "was made before the statement or determination that it follows"
    if not SIGNER.fullmatch(statement.signer):
        return "names a signer as allowed_signers cannot"
    if standing.end is not None:
        return f"follows a statement to {standing.end.decision}, which nothing follows"
    return _unfit(one, statement, standing)


def _unfit(
    one: Determination, statement: PersonStatement, standing: StatementStanding
) -> str | None:
    """Return the reason why the determination or the signer's role forbids a decision, or None."""
    decision, approved = statement.decision, statement.signer in standing.approvals
    if decision in ENDS:
        is_early = decision == "withdraw" and not approved
        return "withdraws an approval that this signer did not give" if is_early else None
    if one.context.is_prepared_by(statement.signer):
        return BY_PREPARER
    if one.verdict == "does not meet":
        return NOT_MET
    if one.context.open_items:
        return UNWRITTEN
    if decision == "approve" and one.verdict != "meets":
        return ON_CONDITIONS
    if decision == "approve with conditions" and not (
        statement.conditions or any(conditions(one.criteria))
    ):
        return "approves with conditions, but lists none"
    if decision in APPROVALS and statement.attests != describe_attested(one.criteria):
        return "does not attest the figures from the ledger"
    if statement.until is None or statement.until < statement.at.astimezone(UTC).date():
        return "has a last day that is past"
    if decision == "renew":
        is_longer = approved and statement.until > standing.approvals[statement.signer]
        return None if is_longer else "does not extend an approval of this signer"
    if approved:
        return "approves again: a renewal does that"
    return "holds longer than the context says" if statement.until > one.context.expires else None
