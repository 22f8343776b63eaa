"""The verb `voile documents init`, which turns unmarked notes into a work folder with a kit."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, nearest
from voile.core.warn import warn
from voile.core.wording import count
from voile.data import Source
from voile.data.files.atomic import write_folder
from voile.data.files.outputs import WORK, WORK_KIT
from voile.data.roles import Roles
from voile.documents.columns import find_text_column, text_roles
from voile.documents.fitting.fit_models import open_models
from voile.documents.fitting.unmarked.marked import refuse_unmarked
from voile.documents.fitting.work import UnmarkedWork, place_of, starter_of
from voile.documents.model.start.known.tables import read_known
from voile.documents.model.start.rules.language import (
    check_language,
    find_untrained,
    guess_language,
)
from voile.documents.options import LearningOptions
from voile.documents.own_options import InitOptions
from voile.documents.patterns.gazetteers import read_gazetteers
from voile.documents.replacements.markup import MARKUP, are_markup
from voile.documents.text.document import Document
from voile.documents.text.files_source import FilesSource
from voile.documents.text.formats.file import UnreadWarning
from voile.documents.text.reader import DocumentReader
from voile.documents.text.source import open_source
from voile.documents.work_file import WorkFile, write_work
from voile.release.kit import StoredKit
from voile.release.options import with_options
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported

UNTRAINED = "voile has no pretrained model for it, and uses rules alone"


def init(
    options: InitOptions,
    reporter: VerbReporter,
    *,
    source: object,
    out: Path,
    force: bool,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    """Propose identifiers, learn from the proposals, and write the work folder."""
    work = propose_identifiers(options, reporter, source=source, table=table, encoding=encoding)
    return learn_kit(work, options, reporter, out=out, force=force)


def learn_kit(
    work: UnmarkedWork, options: InitOptions, reporter: VerbReporter, *, out: Path, force: bool
) -> EndedVerb:
    """Learn from proposed identifiers, and write the work folder."""
    with reporter.progress() as progress:
        kit = with_options(work.fit(progress=progress).to_kit(), options, "init")
    with write_folder(out, WORK, force=force) as folder:
        folder.chmod(0o700)
        kit.save(folder / WORK_KIT)
        write_work(folder, work.file)
    return _report_end(reporter, work, kit, out)


def propose_identifiers(
    options: InitOptions,
    reporter: VerbReporter,
    *,
    source: object,
    table: str | None = None,
    encoding: str | None = None,
) -> UnmarkedWork:
    """Read the notes and propose identifiers in them, without training.

    Cost: one pass of the rules and known values over the notes.

    Raises
    ------
    RequestError : there is no text column, the notes are annotated or empty, or there is nothing to
        learn from.
    """
    place = place_of(source)
    opened = options.open_subjects(open_source(place, table=table, encoding=encoding))
    for note in opened.notes:
        reporter.say(f"{opened.name}: {note}")
    roles = _roles(opened, options)
    opening = partial(open_reported, reporter, table=None, encoding=None)
    known = read_known(options, opening, reporter.say)
    file = WorkFile(
        notes=place,
        table=table,
        encoding=encoding,
        fingerprint=opened.fingerprint(),
        subject_pattern=options.subject_pattern,
        roles=roles.model_dump(mode="json"),
        by=options.by,
        language=options.language or "english",
        learning=options.model_dump(include=set(LearningOptions.model_fields) - {"lists", "model"}),
        models=open_models(options.model),
        seed=_seed_of(opened) if options.seed is None else options.seed,
    )
    _check_unmarked(opened, roles)
    work = UnmarkedWork(file, opened, known, read_gazetteers(options.lists))
    _check_text(work.documents, opened)
    texts = [one.text for one in work.documents]
    if options.language is None:
        file = file.model_copy(update={"language": guess_language(texts)})
    else:
        check_language(options.language, texts, "leave --language out, or ask for the other")
    if are_markup(texts):
        reporter.insist(f"{opened.name}: {MARKUP}")
    asked = options.starter
    if options.language is None and asked is None and (other := find_untrained(texts)):
        reporter.insist(f"the notes seem to be in {other}: {UNTRAINED}")
        asked = "none"
    starter = starter_of(asked, file.language, texts)
    work = replace(work, file=file.model_copy(update={"starter": starter}))
    with reporter.progress() as progress:
        progress("proposing identifiers", 0)
        refuse_unmarked(work.marks.join_reviews(()))
        if known is not None:
            known.check(options.by)
    return work


def _seed_of(source: Source) -> int:
    """Return a seed that depends only on the notes, so that the same notes give the same kit."""
    return int.from_bytes(hashlib.sha256(source.fingerprint().encode()).digest()[:4]) >> 1


def _roles(source: Source, options: InitOptions) -> Roles:
    """Return the roles of the notes' columns: as given, as named by options, or else as guessed."""
    if options.spans:
        raise RequestError("--spans names annotations", instead="use voile documents fit")
    if options.roles is not None:
        given: Any = options.roles
        return options.roles_of(source, Roles.parse(given).completed(source.columns, "drop"))
    texts = options.text or find_text_column(source)
    subject = options.subject
    if subject is None and options.by in source.columns:
        subject = options.by
    if subject is None and options.by and not isinstance(source, FilesSource):
        raise RequestError(
            f"there is no column {options.by}, which says whose a note is",
            where=source.name,
            instead="where the notes' column has another name, give it with --subject; "
            + nearest(options.by, source.columns),
        )
    return text_roles(source, texts, (), subject)


def _check_unmarked(source: Source, roles: Roles) -> None:
    """Refuse annotated notes, from which `fit` learns."""
    marked = next(
        (one for one in DocumentReader.all_of(roles).read_documents(source) if one.spans), None
    )
    if marked is not None:
        raise RequestError(
            "these notes are annotated: identifiers are marked in them",
            where=f"{source.name}, {marked.id}",
            instead="use voile documents fit, or leave the annotations out",
        )


def _check_text(documents: tuple[Document, ...], source: Source) -> None:
    if not any(one.text.strip() for one in documents):
        raise RequestError("the notes are empty", where=source.name, instead="give notes with text")


def _report_end(reporter: VerbReporter, work: UnmarkedWork, kit: StoredKit, out: Path) -> EndedVerb:
    start: Mapping[str, Any] = kit.facts["start"]
    unusable = work.unusable
    notes = len(work.documents) - unusable.total()
    if unusable:
        reasons = "; ".join(f"{n:,} {why}" for why, n in sorted(unusable.items()))
        warn(
            f"{work.source.name}: nothing is learnt from {count(unusable.total(), 'note')} that "
            f"cannot be read, and apply will set them aside: {reasons}",
            UnreadWarning,
        )
    reporter.say(
        f"{count(notes, 'note')}, {kit.facts['tokens']:,} tokens, in {work.file.language.title()}"
    )
    for column, met in start["met"].items():
        of = f"of {count(notes, 'note')}"
        links = f"links {start['linked']:,} {of} to rows, " * (column == start["by"])
        reporter.say(f"known column {column}: {links}met in {met:,} {of}")
    if names := start.get("names"):
        reporter.say(
            f"names proposed: {names['proposed']:,}, of which {names['unmet']:,} stand in no known "
            "column"
        )
    for why, times in start["proposed"].items():
        reporter.say(f"proposed by {why}: {times:,}")
    folder = shlex.quote(str(out))
    reporter.say(
        f"{out}: a kit of {count(kit.policies, 'policy')}, learnt from proposals that nobody "
        f"checked. Read some lines with voile documents review {folder}, or release with voile "
        f"documents apply {folder} {shlex.quote(work.file.notes)} --out RELEASE"
    )
    return EndedVerb(
        {
            "work": str(out),
            "documents": notes,
            "unusable": dict(unusable),
            "tokens": kit.facts["tokens"],
            "identifiers_proposed": kit.facts["identifiers"],
            "unknown": kit.facts["unknown"],
            "language": work.file.language,
            "policies": kit.policies,
            **start,
        }
    )
