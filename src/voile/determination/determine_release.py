"""The verb `voile determine`, which writes the folder that people sign for a release."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from voile.core.arguments import check_arguments
from voile.core.errors import as_keywords
from voile.core.evidence import Evidence
from voile.data.files.atomic import write_folder
from voile.data.files.outputs import DETERMINATION, DETERMINATION_FACTS, DETERMINATION_INDEX
from voile.determination.context import Context
from voile.determination.determination import Determination
from voile.determination.folder import MANIFEST, PAGE, PASTE, PRINT, index_of
from voile.determination.inventory import ColumnTreatment, list_treatments
from voile.determination.joint import FromLedger, joint_figure
from voile.determination.page import sections_of
from voile.determination.subject import JudgedRelease, OfRelease, criteria_of
from voile.keys.seal import file_sha256
from voile.keys.secret import Secret
from voile.release.claims import find_claims
from voile.release.criteria import CriterionMeasurement
from voile.release.manifest import StoredRelease
from voile.report import render
from voile.report.markdown import markdown
from voile.report.pdf import print_pdf
from voile.report.sections import Commands, Section


@check_arguments
@as_keywords()
def determine(
    release: StoredRelease | JudgedRelease,
    context: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    evidence: object = None,
    key_file: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    pdf: bool = True,
    force: bool = False,
    on: date | None = None,
) -> Determination:
    """Evaluate a release for a recipient and a purpose, and write the folder that people sign.

    Parameters
    ----------
    release : a release of one kind of data, or a study's folder, opened by `open_subject`.
    context : a TOML file, or the contents of such a file; see the guide.
    out : the folder to write. `force` replaces an unsigned determination.
    evidence : the result of an attack, its file, or several of them. Without it, the evidence next
        to a release on disk is used.
    key_file : the file with the secret of the seals [variable VOILE_SECRET].
    ledger : a ledger that contains the release. Its joint risk, rounded up, is evaluated and
        stated. `key_file` is then the ledger's secret.
    pdf : whether to print the page to PDF if Chromium is installed.
    on : the day of the determination [today, in UTC].

    Raises
    ------
    RequestError : the context has mistakes, all of which are listed, or the release is in memory.
    TamperedError : the release or the evidence does not match its seal.
    """
    day = on or datetime.now(UTC).date()
    subject = OfRelease(release) if isinstance(release, StoredRelease) else release
    given = Context.read_context(context, today=day)
    found = subject.evidence(Secret.find(key_file), evidence)
    treatments = list_treatments(subject.parts(), given.reasons)
    measures = [] if ledger is None else [FromLedger(_joint(subject, ledger, key_file))]
    one = Determination.of(subject, found, given, today=day, measures=measures)
    with write_folder(Path(out), DETERMINATION, force=force) as folder:
        _write(folder, one, subject, found, treatments, pdf=pdf)
    return one


def _joint(
    subject: JudgedRelease, ledger: str | os.PathLike[str], key_file: str | os.PathLike[str] | None
) -> CriterionMeasurement:
    return joint_figure(file_sha256(subject.manifest), ledger, key_file)


def _write(
    folder: Path,
    one: Determination,
    subject: JudgedRelease,
    evidence: Sequence[Evidence],
    treatments: Sequence[ColumnTreatment],
    *,
    pdf: bool,
) -> None:
    title = f"{subject.name}: a determination"
    claims = find_claims(subject.public, criteria_of(subject.kind), evidence)
    own = subject.sections(evidence)
    sections = (
        *sections_of(one, own, evidence, treatments=treatments, claims=claims),
        Section("reproduce", "How to reproduce", (Commands(tuple(subject.commands(evidence))),)),
    )
    facts = subject.facts()
    (folder / DETERMINATION_FACTS).write_text(one.to_json(), encoding="utf-8")
    page = render(title, sections, audience="public", facts=facts)
    (folder / PAGE).write_text(page, encoding="utf-8")
    (folder / PASTE).write_text(markdown(title, sections, facts), encoding="utf-8")
    shutil.copyfile(subject.manifest, folder / MANIFEST)
    if pdf:
        print_pdf(folder / PAGE, folder / PRINT)
    (folder / DETERMINATION_INDEX).write_bytes(index_of(folder))
