"""The study's verb `apply` writes every part, or none, into one folder with one manifest.

A ledger evaluates the written release, with all parts as one entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voile.core.errors import RequestError
from voile.core.progress import ProgressHook
from voile.data import Staging
from voile.keys.seal import SEAL, FileSeal, file_sha256
from voile.release.archive import LEDGER_FOLDER
from voile.release.entering import EntryProcedure, LedgerEntry, enter
from voile.release.kit import StoredKit
from voile.release.manifest import MANIFEST as RELEASE_MANIFEST
from voile.release.manifest import PRIVATE_MANIFEST, RELEASE, encode, private_path
from voile.study.adversary.messages import decoded_columns
from voile.study.plan.entries import SIGNALS
from voile.study.plan.plan import StudyPlan
from voile.study.risk.together import StudyEntering
from voile.study.study_kit import chosen_in, extract_in, unpack
from voile.study.study_release import MANIFEST, OF_ATTACKS, STUDY, StudyRelease
from voile.study.verbs.evidence import settle_evidence
from voile.study.verbs.export import sending
from voile.study.verbs.measuring import StudyMeasuring
from voile.study.verbs.writing import StudyWriting
from voile.tables.verbs.following import ReleaseArchive


def apply(
    plan: StudyPlan, kit: StoredKit, *, override: str | None, force: bool, progress: ProgressHook
) -> StudyRelease:
    """Write the release of a study: all parts together, or none.

    With a ledger, the release is evaluated with all earlier releases, as one entry for all parts.
    The ledger records the release before it is published, and again after it.

    Memory grows with the batch. The facts and dates of 100,000 people need less than the value
    search. Texts and an export also need each person's pseudonym and intervals.

    Raises
    ------
    RequestError : a part cannot be opened, or no person of a part has a released row.
    InfeasibleError : a part breaks its kit's constraints, or the release exceeds the ledger's risk
        budget.
    """
    _ = plan.secret  # raises an error first if it is missing
    kits = unpack(kit)
    chosen = chosen_in(kit, kits)
    out = plan.release
    settle_evidence(out)
    with Staging(out, STUDY, force=force) as staging:
        shown = staging.folder(out)
        private = staging.folder(private_path(out), mode=0o700)
        writing = StudyWriting(
            plan, kits, chosen, extract_in(kit), shown, private, staging.scratch(), progress
        )
        writing.write()
        publish(staging, writing, kit, override=override, force=force)
    return StudyRelease.open(out)


def publish(
    staging: Staging, writing: StudyWriting, kit: StoredKit, *, override: str | None, force: bool
) -> None:
    """Measure the written release, write manifests and seal, and publish the release.

    Raises
    ------
    InfeasibleError : it breaks the plan's requirements or the ledger's risk budget.
    """
    plan, shown, private = writing.plan, writing.release, writing.private
    measuring = StudyMeasuring(writing)
    public, hidden = measuring.manifests()
    with entering(measuring, kit, override) as entry:
        if entry is not None:
            public, hidden = {**public, **entry.public}, {**hidden, **entry.private}
            (private / LEDGER_FOLDER).mkdir(mode=0o700)
            entry.write_beside(private / LEDGER_FOLDER)
        (shown / MANIFEST).write_bytes(encode(public))
        (private / PRIVATE_MANIFEST).write_bytes(encode(hidden))
        (private / SEAL).write_bytes(_seal(shown, private, plan).to_bytes())
        if entry is not None:
            manifest = file_sha256(shown / MANIFEST)
            entry.intend({RELEASE: _release_sha256(shown), RELEASE_MANIFEST: manifest})
        with sending(plan, shown, force=force) as send:
            staging.commit(send)
        if entry is not None:
            entry.finish()


def _release_sha256(release: Path) -> str:
    """Return a hash of the names and hashes of a release's files."""
    files = sorted(path for path in release.rglob("*") if path.is_file())
    lines = (f"{path.relative_to(release)}\0{file_sha256(path)}\n" for path in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _seal(release: Path, private: Path, plan: StudyPlan) -> FileSeal:
    """Return a seal of every file of the release and the private folder.

    The seal is made under the study's secret.
    """
    files = {
        str(path.relative_to(folder.parent)): file_sha256(path)
        for folder in (release, private)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in OF_ATTACKS
    }
    return FileSeal(files).under(plan.secret)


@contextmanager
def entering(
    measured: StudyMeasuring, kit: StoredKit, override: str | None
) -> Iterator[LedgerEntry | None]:
    """Lock the plan's ledger while it evaluates a release and the release is published.

    Yield the ledger entry, or None without a ledger.

    Raises
    ------
    InfeasibleError : all releases together would exceed the risk budget.
    """
    plan, writing = measured.plan, measured.writing
    if plan.ledger is None:
        if override is not None:
            raise RequestError(
                "--override applies only with a ledger", instead="give the ledger with --ledger"
            )
        yield None
        return
    if override is not None and not 8 <= len(override) <= 2000:
        raise RequestError("the reason of --override has 8 to 2,000 characters")
    table, _ = plan.table
    together = StudyEntering(
        content=measured.content,
        policy=measured.policy,
        source=plan.open_part(table),
        residue=measured.residue.saying(_list_decoded(measured)),
        others=[writing.parts[name] for name in plan.rows if name != table],
        subjects=[plan.open_part(name) for name in plan.parts],
        days=plan.study.date_shift_days,
        archive=ReleaseArchive(plan.releases),
        join=plan.study.join,
    )
    with enter(
        EntryProcedure(plan.ledger, plan.key_file, together.judge, override), kit, plan.release
    ) as entry:
        yield entry


def _list_decoded(measured: StudyMeasuring) -> list[str]:
    """Return the table's quasi-identifiers in decoded messages: readings and classes."""
    plan, kits = measured.plan, measured.writing.kits
    signals = [name for name, part in plan.rows.items() if part.kind == SIGNALS]
    said = {column for name in signals for column in decoded_columns(kits[name])}
    return [one for one in measured.content.space.quasi if one in said]
