"""The verb `voile verify FOLDER`: a third party's checks of a determination, without the source."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, TamperedError, VoileError, as_keywords
from voile.data.files.atomic import write_bytes, write_text
from voile.data.files.outputs import DETERMINATION_INDEX, REPORT, STUDY_MANIFEST
from voile.data.files.own_files import read_json
from voile.determination.allowed_signers import AllowedSigner, read_allowed_signers
from voile.determination.determination import Determination
from voile.determination.folder import (
    MANIFEST,
    PAGE,
    STATEMENTS,
    DeterminationFolder,
    is_plain,
    signature_of,
)
from voile.determination.joint import joint_figure
from voile.determination.judging import FROM_LEDGER, is_judged_so, worst
from voile.determination.page import decision_section
from voile.determination.signature import StatementSignature
from voile.determination.ssh import PublicKey, read_signature
from voile.determination.statements import PersonStatement, StatementStanding, standing_of
from voile.determination.subject import criteria_of, is_study, open_subject
from voile.keys.seal import file_sha256
from voile.keys.secret import Secret
from voile.release.criteria import NAMES
from voile.release.manifest import manifest_path
from voile.release.verify import MALFORMED, ReleaseCheck
from voile.report.page import replace_section
from voile.report.pdf import print_pdf


@dataclass(frozen=True)
class Verified:
    """The checks of a determination, and its status.

    Parameters
    ----------
    checks : each check in words, and its result. None means that the check was not possible.
    says : the determination's status.
    holds : whether the determination is valid today.
    signatures : each readable statement, with its key.
    """

    checks: tuple[ReleaseCheck, ...]
    says: str
    holds: bool
    signatures: tuple[StatementSignature, ...] = ()


class _SignedStatement(NamedTuple):
    name: str
    statement: PersonStatement | None
    key: PublicKey | None


@check_arguments
@as_keywords()
def verify(
    folder: str | os.PathLike[str],
    *,
    signers: str | os.PathLike[str] | None = None,
    release: str | os.PathLike[str] | None = None,
    key_file: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    last: str | None = None,
    now: datetime | None = None,
) -> Verified:
    """Check a determination: files, verdicts, signatures, expiry, and its release.

    Parameters
    ----------
    signers : a file in the format of OpenSSH's allowed_signers, from somebody other than the sender
        of the folder. Without it, no signer is confirmed, and the determination is not valid.
    release : the release [the file with its name next to the folder].
    key_file : the file with the secret of the release's seals [variable VOILE_SECRET].
    ledger : the data holder's ledger, to check the stated joint risk. `key_file` is then the
        ledger's secret.
    last : the hash of a statement, as `sign` returned it. Without it, nobody can notice that the
        last statements, such as a withdrawal, were removed.
    now : the time of the check.
    """
    moment = now or datetime.now(UTC)
    own = DeterminationFolder(folder)
    anchors = None if signers is None else read_allowed_signers(Path(signers))
    found = list(_files(own))
    try:
        one = own.determination
    except VoileError as error:
        return _result(
            [*found, ReleaseCheck(_describe_error(error), False)], "it cannot be read", holds=False
        )
    signed = list(_read_statements(own))
    statements = [each.statement for each in signed if each.statement is not None]
    sha256 = file_sha256(own.path / DETERMINATION_INDEX) if own.has_index else ""
    standing = standing_of(one, sha256, statements, moment)
    found += _verdicts(own, one)
    found += _signatures(own, signed, standing, sha256)
    found += _check_signers(signed, anchors)
    found += _whole(statements, last)
    found += _joint(one, ledger, key_file)
    found += _release(own, one, release, Secret.find(key_file))
    result = _result(found, *_conclusion(one, signed, standing, anchors, moment))
    return replace(result, signatures=tuple(_signatures_of(signed, anchors)))


def write_signed_page(
    folder: str | os.PathLike[str],
    verified: Verified,
    out: str | os.PathLike[str],
    *,
    force: bool = False,
) -> None:
    """Write a determination's page with each signer's name, key fingerprint and decision.

    Parameters
    ----------
    verified : the result of `verify` for this folder.
    out : FILE.html, or FILE.pdf, which Chromium prints.

    Raises
    ------
    RequestError : `out` is a PDF and Chromium is not installed, or `out` has another ending.
    TamperedError : the page changed after it was signed.
    """
    own, place = DeterminationFolder(folder), Path(out)
    if PAGE in own.list_changed():
        raise TamperedError(f"{PAGE}: not as written", where=str(own.path))
    page = (own.path / PAGE).read_text(encoding="utf-8")
    signed = replace_section(page, decision_section(verified.signatures, verified.says))
    if place.suffix == ".html":
        return write_text(place, signed, REPORT, force=force)
    if place.suffix != ".pdf":
        raise RequestError(
            "the page's name does not end in .html or .pdf",
            where=str(place),
            instead="write FILE.html or FILE.pdf",
        )
    with tempfile.TemporaryDirectory(prefix="voile-") as scratch:
        made = Path(scratch) / PAGE
        made.write_text(signed, encoding="utf-8")
        if not print_pdf(made, made.with_suffix(".pdf")):
            raise RequestError("a PDF needs Chromium", instead="write FILE.html, and print it")
        write_bytes(place, made.with_suffix(".pdf").read_bytes(), REPORT, force=force)
    return None


def _result(found: Sequence[ReleaseCheck], says: str, holds: bool) -> Verified:
    failed = sum(check.holds is False for check in found)
    if failed:
        says, holds = f"not valid: {failed} of {len(found)} checks failed", False
    return Verified(tuple(found), says, holds)


def _describe_error(error: VoileError) -> str:
    """Describe an error as a failed check, with the file's name but no path of this machine."""
    return f"{Path(error.where or '').name} can be read: {error.what}"


def _files(own: DeterminationFolder) -> Iterator[ReleaseCheck]:
    """Compare the files with the list of files, and report unlisted files."""
    try:
        index = own.index
    except (VoileError, OSError):
        yield ReleaseCheck(f"{DETERMINATION_INDEX} is the list of files that voile wrote", False)
        return
    changed = own.list_changed()
    for name in sorted({*index, *changed}):
        listed = "is as {} has it" if name in index else "is in {}"
        yield ReleaseCheck(f"{name} {listed.format(DETERMINATION_INDEX)}", name not in changed)
    for name in own.strangers():
        yield ReleaseCheck(f"{name} is a statement or its signature", False)


def _verdicts(own: DeterminationFolder, one: Determination) -> Iterator[ReleaseCheck]:
    """Derive the verdicts again from the manifest in the folder."""
    place = own.path / MANIFEST
    same = place.is_file() and file_sha256(place) == one.manifest_sha256
    yield ReleaseCheck(f"{MANIFEST} is the manifest that was judged", same)
    if not same:
        return
    try:
        public = read_json(place, "the manifest")
        yield ReleaseCheck("the manifest is of the release judged", public["sha256"] == one.sha256)
        measures = criteria_of(one.kind)
        for each in one.criteria:
            holds = is_judged_so(each, one.context, measures, public)
            yield ReleaseCheck(
                f"{each.name}: the verdict follows from its figure and threshold", holds
            )
    except MALFORMED:
        yield ReleaseCheck(f"{MANIFEST} can be read as a manifest of {one.kind}", False)
    names = tuple(each.name for each in one.criteria)
    whole = names == NAMES and worst(one.criteria) == one.verdict
    yield ReleaseCheck("the verdict is the worst criterion's, and every criterion is judged", whole)


def _read_statements(own: DeterminationFolder) -> Iterator[_SignedStatement]:
    """Yield each statement with the key that signed it. A damaged statement has no key."""
    for path in own.statements():
        name = f"{STATEMENTS}/{path.name}"
        try:
            statement = PersonStatement.read_file(path)
        except (VoileError, OSError):
            yield _SignedStatement(name, None, None)
            continue
        try:
            signature = read_signature(signature_of(path))
        except (VoileError, OSError):
            signature = None
        holds = signature is not None and signature.holds(statement.to_bytes())
        yield _SignedStatement(name, statement, signature.key if signature and holds else None)


def _signatures(
    own: DeterminationFolder,
    signed: Sequence[_SignedStatement],
    standing: StatementStanding,
    sha256: str,
) -> Iterator[ReleaseCheck]:
    """Check each statement's signature, its list of files, and the statement before it."""
    for each in signed:
        if each.statement is None:
            yield ReleaseCheck(f"{each.name} is a statement as voile writes one", False)
        else:
            holds = each.key is not None
            yield ReleaseCheck(f"{each.name}.sig is a signature of {each.name}", holds)
            same = each.statement.files == sha256
            yield ReleaseCheck(f"{DETERMINATION_INDEX} is the list that {each.name} is about", same)
    for number, fault in standing.faults:
        yield ReleaseCheck(
            f"statement {number} {fault}: a statement is one that may be made", False
        )


def _check_signers(
    signed: Sequence[_SignedStatement], anchors: Sequence[AllowedSigner] | None
) -> Iterator[ReleaseCheck]:
    """Check each key against the allowed signers; without them no key is confirmed."""
    for each in signed:
        if each.statement is not None and each.key is not None:
            who, at = each.statement.signer, each.statement.at
            key = each.key
            says = f"{each.name} is signed by {who}, with {key.fingerprint}"
            allowed = anchors and any(anchor.allows(who, key, at) for anchor in anchors)
            yield ReleaseCheck(says, None if anchors is None else bool(allowed))
    keys: dict[PublicKey, str] = {}
    for each in signed:
        if each.statement is not None and each.key is not None:
            owner = keys.setdefault(each.key, each.statement.signer)
            if owner != each.statement.signer:
                yield ReleaseCheck(f"{each.name} is signed with a key of its signer's own", False)


def _signatures_of(
    signed: Sequence[_SignedStatement], anchors: Sequence[AllowedSigner] | None
) -> Iterator[StatementSignature]:
    for each in signed:
        if (one := each.statement) is not None:
            key = each.key
            known = key is not None and any(
                anchor.allows(one.signer, key, one.at) for anchor in anchors or ()
            )
            yield StatementSignature(one, key, None if anchors is None else known)


def _whole(statements: Sequence[PersonStatement], last: str | None) -> Iterator[ReleaseCheck]:
    """Check that the chain contains a known statement; its last ones may have been removed."""
    if last is None:
        yield ReleaseCheck(
            "no statement is gone from the end: only a later hash shows it (--last)", None
        )
    else:
        holds = any(one.sha256 == last.strip().lower() for one in statements)
        yield ReleaseCheck("the statement of the hash given is in the chain", holds)


def _joint(
    one: Determination,
    ledger: str | os.PathLike[str] | None,
    key_file: str | os.PathLike[str] | None,
) -> Iterator[ReleaseCheck]:
    """Compare the stated joint risk with the present ledger."""
    by_name = {each.name: each.figure for each in one.criteria}
    stated = by_name.get("joint-risk")
    if stated is None or not stated.evidence.startswith(FROM_LEDGER):
        if ledger is not None:
            yield ReleaseCheck("a joint risk from the ledger was stated", False)
        return
    if ledger is None:
        yield ReleaseCheck(
            "joint-risk: the figure is the ledger's, which its holder has (--ledger)", None
        )
        return
    try:
        today = joint_figure(one.manifest_sha256, ledger, key_file)
    except VoileError as error:
        yield ReleaseCheck(f"joint-risk: {error.what}", False)
        return
    yield ReleaseCheck("joint-risk: the ledger's figure is not above the one stated",
                today.most <= stated.most)  # fmt: skip


def _release(
    own: DeterminationFolder,
    one: Determination,
    given: str | os.PathLike[str] | None,
    secret: Secret | None,
) -> Iterator[ReleaseCheck]:
    """Compare the release, if it is available, with the judged one, and run its own checks."""
    beside = own.path.absolute().parent / one.release if is_plain(one.release) else None
    place = Path(given) if given is not None else beside
    is_there = place is not None and (is_study(place) or manifest_path(place).exists())
    if place is None or (given is None and not is_there):
        yield ReleaseCheck(
            "the release is the one judged: it is not here, give it by --release", None
        )
        return
    subject_manifest = place / STUDY_MANIFEST if is_study(place) else manifest_path(place)
    manifest = Path(str(subject_manifest))
    if not manifest.is_file():
        manifest = open_subject(place).manifest  # the release is a table of a database
    same = file_sha256(manifest) == one.manifest_sha256
    yield ReleaseCheck(f"the release's manifest, {manifest.name}, is the one judged", same)
    if not same:
        return  # the other checks apply only to the judged release
    for says, holds in open_subject(place).checks(secret):
        yield ReleaseCheck(f"release: {says}", holds)


def _conclusion(
    one: Determination,
    signed: Sequence[_SignedStatement],
    standing: StatementStanding,
    anchors: Sequence[AllowedSigner] | None,
    now: datetime,
) -> tuple[str, bool]:
    """Return the status of an intact determination, and whether it is valid."""
    if not signed:
        return "intact; not signed", False
    if anchors is None:
        prints = ", ".join(dict.fromkeys(each.key.fingerprint for each in signed if each.key))
        return f"intact; signer not confirmed: {prints}; give --signers FILE", False
    if (end := standing.end) is not None:
        what = "withdrawn" if end.decision == "withdraw" else "refused"
        return f"{what} by {end.signer} on {end.at.date().isoformat()}", False
    until, signers = standing.until(one.context.signers), one.context.signers
    if until is None:
        return f"approved by {len(standing.approvals)} of {signers} signers", False
    if now.astimezone(UTC).date() > until:
        return f"expired: it held until {until.isoformat()}", False
    who = " and ".join(standing.approvals)
    how = "approved" if one.verdict == "meets" else "approved with conditions"
    return f"{how} by {who} until {until.isoformat()}", True
