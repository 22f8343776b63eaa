"""`voile determine`: from a release and a context to the folder that people sign."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, as_keywords
from voile.data.files.atomic import write_folder
from voile.data.files.memory import MemoryPath
from voile.data.files.outputs import DETERMINATION, DETERMINATION_FACTS, DETERMINATION_INDEX
from voile.determination.context import Context
from voile.determination.determination import Determination
from voile.determination.folder import MANIFEST, PAGE, PASTE, PRINT, index_of
from voile.determination.joint import FromLedger, joint_figure
from voile.determination.page import sections_of
from voile.face.commands import commands
from voile.face.report import facts_of, options_of
from voile.keys.seal import file_sha256
from voile.keys.secret import Secret
from voile.release.criteria import Measurement
from voile.release.evidence import AttackResults, find_evidence
from voile.release.manifest import Release, manifest_path
from voile.release.verify import check_seal
from voile.report import render
from voile.report.markdown import markdown
from voile.report.pdf import print_pdf
from voile.report.sections import Commands, Section
from voile.wings import wing


@as_keywords()
def determine(
    release: Release,
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
    """Judge a release for a recipient and a purpose, and write the folder that people sign.

    Parameters
    ----------
    context : a TOML file, or what such a file holds: see the guide.
    out : the folder; `force` replaces an unsigned determination.
    evidence : what attack returned, a file of it, or several; without it, what attack wrote
        beside a release on disk.
    key_file : file with the secret of the seals [variable VOILE_SECRET].
    ledger : that the release is in: its joint risk, rounded up, is judged and stated. `key_file`
        is the ledger's.
    pdf : print the page where there is a Chromium.
    on : the day on which it is judged [today, in UTC].

    Raises
    ------
    RequestError : the context has mistakes, all of them named; the release is in memory.
    TamperedError : the release or the evidence is not as it was sealed.
    """
    day = on or datetime.now(UTC).date()
    if isinstance(release.path, MemoryPath):
        raise RequestError("the release is in memory", instead="save it with its evidence first")
    if not isinstance(release.path, Path):
        raise RequestError(
            "is in a store", where=str(release.path), instead="copy it here with its manifest"
        )
    given = Context.read(context, today=day)
    secret = Secret.find(key_file)
    check_seal(release, secret)
    found = find_evidence(release, secret, evidence)
    measures = [] if ledger is None else [FromLedger(_joint(release, ledger, key_file))]
    one = Determination.of(release, found, given, today=day, measures=measures)
    with write_folder(Path(out), DETERMINATION, force=force) as folder:
        _write(folder, one, release, found, pdf=pdf)
    return one


def _joint(
    release: Release, ledger: str | os.PathLike[str], key_file: str | os.PathLike[str] | None
) -> Measurement:
    manifest = Path(str(manifest_path(release.path)))
    return joint_figure(file_sha256(manifest), ledger, key_file)


def _write(
    folder: Path, one: Determination, release: Release, evidence: AttackResults, *, pdf: bool
) -> None:
    title = f"{release.path.name}: a determination"
    lines = tuple(commands(release, "public", release.path.name, options_of(evidence)))
    sections = (
        *sections_of(
            one, wing(release.kind).sections(release, evidence, audience="public"), evidence
        ),
        Section("reproduce", "How to reproduce", (Commands(lines),)),
    )
    facts = facts_of(release, "public")
    (folder / DETERMINATION_FACTS).write_text(one.to_json(), encoding="utf-8")
    page = render(title, sections, audience="public", facts=facts)
    (folder / PAGE).write_text(page, encoding="utf-8")
    (folder / PASTE).write_text(markdown(title, sections, facts), encoding="utf-8")
    shutil.copyfile(str(manifest_path(release.path)), folder / MANIFEST)
    if pdf:
        print_pdf(folder / PAGE, folder / PRINT)
    (folder / DETERMINATION_INDEX).write_bytes(index_of(folder))
