"""`voile study accept`: prove by reading that few identifiers remain in the texts of a release.

Readers read a copy of each part of texts, with the acceptance sampling of documents. When it ends,
the release is published again with the corrected texts: exported, measured and sealed as by
`apply`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import Source, Staging
from voile.data.files.atomic import is_own, settle
from voile.data.files.locks import hold_lock
from voile.documents.options import AcceptOptions, ReadingOptions
from voile.documents.verbs.accept import accept as accept_texts
from voile.keys.seal import SEAL, file_sha256
from voile.release.evidence import READ, default_place, find_evidence, write_evidence
from voile.release.kit import StoredKit
from voile.release.manifest import EVIDENCE, PRIVATE_MANIFEST, ROWS, StoredRelease, private_path
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.study.plan.plan import StudyPlan
from voile.study.study_kit import chosen_in, extract_in, unpack
from voile.study.study_release import STUDY, StudyRelease
from voile.study.text.in_place import put_texts
from voile.study.verbs.apply import publish
from voile.study.verbs.checks import check_applied
from voile.study.verbs.part_copy import OF_COPY, OF_FILE, open_copy
from voile.study.verbs.verify import check_sealed
from voile.study.verbs.writing import StudyWriting

__all__ = ["ReadingOptions", "accept"]

LOCK, SCRATCH = "lock", "scratch"


def accept(
    plan: StudyPlan,
    kit: StoredKit,
    name: str | None,
    options: ReadingOptions,
    reporter: VerbReporter,
) -> EndedVerb:
    """Continue the reading of each part of texts with the available answers.

    name : the part to read [all, one after the other].

    Raises
    ------
    RequestError : there is no such part, or a file has answers for several parts. Or the release
        was made from another plan or source.
    TamperedError : the release or a copy does not match its seal.
    """
    names = _list_parts(plan, name, options)
    settle(plan.release, STUDY)
    room = plan.release.with_name(f"{plan.release.name}.acceptance")
    if not is_own(room):
        raise RequestError("that folder is not yours alone", where=str(room), instead="remove it")
    remedy = "use its page, or end it first"
    busy = RequestError("another voile reads this", where=str(plan.release), instead=remedy)
    room.mkdir(mode=0o700, exist_ok=True)
    with hold_lock(room / LOCK, busy):
        ended = {}
        for one in names:
            ended[one] = _accept_part(plan, kit, one, options, reporter, room)
            if ended[one].code:
                break
    result = {"parts": {one: dict(own.result) for one, own in ended.items()}}
    return EndedVerb(result, code=max(own.code for own in ended.values()))


def _list_parts(plan: StudyPlan, name: str | None, options: ReadingOptions) -> Sequence[str]:
    """Return the parts to read: the given one, or all."""
    listed = ", ".join(plan.texts) or "the plan has none"
    if name is not None and name not in plan.texts:
        raise RequestError(
            "there is no such part of texts", where=f"parts.{name}", instead=f"name one: {listed}"
        )
    names = list(plan.texts) if name is None else [name]
    if not names:
        raise RequestError("the plan has no part of texts", where=str(plan.path))
    if len(names) > 1 and options.answers is not None:
        raise RequestError(
            "answers in a file are of one part", instead=f"name it with --part: {listed}"
        )
    return names


def _accept_part(
    plan: StudyPlan,
    kit: StoredKit,
    name: str,
    options: ReadingOptions,
    reporter: VerbReporter,
    room: Path,
) -> EndedVerb:
    """Read one part, and apply the readers' removals to the release when the reading ends."""
    release = StudyRelease.open(plan.release)
    check_sealed(release, plan.secret)
    check_applied(plan, release)
    reading = _PartReading(plan, kit, name, release, room)
    in_place = plan.texts[name].of is not None
    copy = open_copy(release.part(name), reading.place, plan.secret, in_place=in_place)
    asked = AcceptOptions.model_construct(**dict(options), key_file=plan.key_file)
    with reading.writing() as writing:
        ended = accept_texts(
            asked,
            reporter,
            kit=writing.kits[name],
            release=copy,
            source=reading.open_source(writing),
            table=None,
            encoding=None,
            writer=writing.writer(writing.text_options(name)),
        )
    if ended.result.get("decided") is not None:
        reading.fold(StoredRelease.open(reading.place), reporter)
    return ended


@dataclass(frozen=True)
class _PartReading:
    """The reading of one part of a release, with the path of its copy."""

    plan: StudyPlan
    kit: StoredKit
    name: str
    release: StudyRelease
    room: Path

    @property
    def place(self) -> Path:
        """The path of the copy that people read."""
        file = self.plan.file(self.name)
        is_text = self.plan.texts[self.name].of is None
        return self.room / self.name / (file if is_text else f"{self.name}.parquet")

    @contextmanager
    def writing(self) -> Iterator[StudyWriting]:
        """Yield the release in a form for writing. Its scratch folder is removed afterwards."""
        scratch = self.room / self.name / SCRATCH
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        try:
            yield self._reopen_writing(self.release.path, self.release.folder, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _reopen_writing(self, shown: Path, private: Path, scratch: Path) -> StudyWriting:
        kits = unpack(self.kit)
        chosen, extract = chosen_in(self.kit, kits), extract_in(self.kit)
        writing = StudyWriting(self.plan, kits, chosen, extract, shown, private, scratch, silent)
        writing.reopen(self.release)
        return writing

    def open_source(self, writing: StudyWriting) -> Source:
        """Open the source texts of the part."""
        if self.plan.texts[self.name].of is not None:
            return writing.gather(self.name)
        return self.plan.open_part(self.name)

    def fold(self, copy: StoredRelease, reporter: VerbReporter) -> None:
        """Publish the release again with the texts of a copy, and store the readers' proofs."""
        public, hidden = _part_manifests(copy)
        if hidden != _part_manifests(self.release.part(self.name))[1]:
            evidence_is_there = (self.release.folder / EVIDENCE).exists()
            self._publish(copy, (public, hidden))
            if evidence_is_there:
                reporter.insist("evidence of the release as it was is gone: attack it again")

    def _publish(
        self, copy: StoredRelease, manifests: tuple[dict[str, Any], dict[str, Any]]
    ) -> None:
        out = self.release.path
        with Staging(out, STUDY, force=True) as staging:
            shown = staging.folder(out)
            private = staging.folder(private_path(out), mode=0o700)
            table = shown / self.plan.file(self.name)
            for name in self.plan.files:
                shutil.copyfile(
                    self.release.path / self.plan.file(name), shown / self.plan.file(name)
                )
            for name in self.plan.parts:
                if name == self.name:
                    _copy_private(private_path(self.place), private / name, with_evidence=False)
                else:
                    is_same = self.plan.file(name) != table.name
                    own = self.release.part(name).folder
                    _copy_private(own, private / name, with_evidence=is_same)
            if (text := self.plan.texts[self.name]).of is None:
                shutil.copyfile(self.place, table)
            else:
                put_texts(table, self.place, private / self.name / ROWS, str(text.text))
            writing = self._reopen_writing(shown, private, staging.scratch())
            writing.parts[self.name] = manifests
            writing.write_again()
            self._keep_proofs(copy, writing)
            publish(staging, writing, self.kit, override=None, force=True)

    def _keep_proofs(self, copy: StoredRelease, writing: StudyWriting) -> None:
        """Write the evidence of readers again, for the parts in the changed file."""
        secret = self.plan.secret
        for name in self.plan.texts:
            if self.plan.file(name) == self.plan.file(self.name):
                read = copy if name == self.name else self.release.part(name)
                found = [one for one in find_evidence(read, secret) if one.attack == READ]
                part = writing.part(name)
                new = {**part.public, "sha256": file_sha256(writing.place(name))}
                part = replace(part, public=new)
                write_evidence(default_place(part), part, found, secret, force=True)


def _part_manifests(release: StoredRelease) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two manifests of a part, without entries that depend on its file."""
    public, hidden = (
        {name: x for name, x in (one or {}).items() if name not in OF_FILE}
        for one in (release.public, release.private)
    )
    return public, hidden


def _copy_private(folder: Path, place: Path, *, with_evidence: bool) -> None:
    """Copy the private folder of a part. Evidence is copied only if the file is unchanged."""
    place.mkdir(mode=0o700)
    skipped = {PRIVATE_MANIFEST, SEAL} if with_evidence else OF_COPY
    for one in folder.iterdir():
        if one.is_file() and one.name not in skipped:
            shutil.copyfile(one, place / one.name)
