"""Write a new version of a release without its readers' finds, and without a new fit.

Only the documents with finds are rewritten, and the rows keep their order. The release and its
private folder change together or not at all. They are sealed in the same way as by apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data import Source, open_source, open_writer
from voile.data.files.memory import AnyPath
from voile.data.formats.folders import DOCX, FILE, TEXT, FolderWriter
from voile.data.opening import open_released
from voile.documents.acceptance.kept import READER, Pair
from voile.documents.model.quantities import ACCEPTANCE, STATING
from voile.documents.options import ApplyOptions
from voile.documents.replacements.kinds import kind_of, safe_label
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published import PublishedDocument, RemovalReplacer
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.files_source import FilesSource
from voile.documents.verbs.acceptance_scene import AcceptanceScene
from voile.documents.verbs.files import WORD, DocumentCells, schema_of
from voile.documents.verbs.released import released_names, rows_shown
from voile.documents.verbs.removals import REMOVALS, REMOVED, edit_row
from voile.gate.documents import measure_documents
from voile.gate.finding import GateFinding, figures_of, findings_to_data
from voile.gate.kept_words import measure_kept_words
from voile.keys.seal import EVIDENCE_SEAL, SEAL
from voile.keys.secret import Secret
from voile.release.evidence import default_place, find_evidence, write_evidence
from voile.release.found_values import VALUES, VALUES_FOUND
from voile.release.manifest import EVIDENCE, FINDINGS, PRIVATE_MANIFEST, StoredRelease
from voile.release.options import OPTIONS
from voile.release.scoring import private_manifest_of
from voile.release.writing import Manifests, ReleaseParts, write_release

WRITTEN_ANEW = frozenset({REMOVALS, PRIVATE_MANIFEST, SEAL, EVIDENCE, EVIDENCE_SEAL})

Found = Mapping[int, Sequence[TextRemoval]]
"""The readers' finds by the number of the document, with offsets in its source."""


def mend(
    scene: AcceptanceScene,
    found: Found,
    facts: Mapping[str, Any],
    public_facts: Mapping[str, Any] | None,
    key_file: Path | None,
    goal: Mapping[str, Any],
) -> StoredRelease:
    """Write the release without the finds, and with the new facts of its manifests.

    Evidence refers to the bytes of a release, so it is kept only if these do not change.

    Parameters
    ----------
    facts, public_facts : the facts of the acceptance for the private manifest, and the public one.
    goal : of the proof, as options of `accept`.

    Raises
    ------
    RequestError : surrogates came from the user's own lists, or their secret is missing. Also
        raised if a Word file cannot be written without the finds.
    """
    release, source, texts, pairs = scene.release, scene.source, scene.texts, scene.pairs
    new = {number: _new(pairs[number], found[number]) for number in sorted(found)}
    put = _replacer(scene, key_file) if any(new.values()) else LabelMarks()
    put = put if scene.writer is None else scene.writer(put)
    made = {n: _mend_document(release, pairs[n], own, put) for n, own in new.items() if own}
    secret = Secret.find(key_file)
    shown = [one["column"] for one in release.public["columns"] if one["role"] == "text"]

    def fill(parts: ReleaseParts) -> Manifests:
        for place in release.folder.iterdir():
            if place.name not in WRITTEN_ANEW:
                (parts.private / place.name).write_bytes(place.read_bytes())
        escape = bool(release.public.get("formulas"))
        if _kind_of_files(release) is None:
            formulas = _write_rows(release, parts, texts, made, escape=escape)
        else:
            formulas = {}
            _write_files(release, parts.release, source, pairs, made)
        _write_removals(release, parts.private / REMOVALS, texts, made)
        written = open_released(parts.release)
        rows = _unescape_source(written) if escape else written
        numbers = np.array(rows_shown(release), np.int64)
        findings = (
            *measure_documents(rows, shown, release.people()),
            measure_kept_words(rows, shown, source, texts, numbers),
        )
        return _manifests(release, findings, formulas, facts, public_facts, made, goal)

    path = release.path
    if not isinstance(path, Path):
        raise RequestError("the release is in memory", instead="save it, and accept the file")
    evidence = find_evidence(release, secret)
    mended = write_release(path, fill, secret=secret, like=release.like, force=True)
    if evidence and mended.public["sha256"] == release.public["sha256"]:
        write_evidence(default_place(mended), mended, evidence, secret, force=True)
    return mended


def _new(pair: Pair, found: Sequence[TextRemoval]) -> list[TextRemoval]:
    """Return the finds without a replacement so far."""
    edits = [(edit.source_start, edit.source_end) for edit in pair[0].edits]
    return [one for one in found if not any(a <= one.start and one.end <= b for a, b in edits)]


def _replacer(scene: AcceptanceScene, key_file: Path | None) -> RemovalReplacer:
    """Return the replacer that `apply` used. Categories are already labels at this point."""
    release = scene.release
    if release.public["policy"]["replace"] != "surrogate":
        return LabelMarks()
    private = private_manifest_of(release)
    given = private[OPTIONS]["apply"]
    if "names" in given:
        raise RequestError(
            "the release has surrogates of your own lists of names, which are not at hand here",
            instead="apply again with a deny-list of the identifiers found, and accept that "
            "release",
        )
    known = {name: value for name, value in given.items() if value is not None}
    asked = {**known, **({"key_file": str(key_file)} if key_file else {})}
    language = private.get("surrogates", {}).get("language", given.get("language", "english"))
    return scene.make_replacer(ApplyOptions.model_validate(asked), language)


def _mend_document(
    release: StoredRelease, pair: Pair, found: Sequence[TextRemoval], put: RemovalReplacer
) -> PublishedDocument:
    published, origin = pair
    before = [TextRemoval(e.source_start, e.source_end, e.label, e.by) for e in published.edits]
    if release.public["policy"]["replace"] == "category":
        kinds = _kinds(release)
        found = [
            replace(one, label=safe_label(kinds.get(one.label) or kind_of(one.label)))
            for one in found
        ]
    return publish(origin, settle_spans(origin.text, before, found), put)


def _kinds(release: StoredRelease) -> Mapping[str, str]:
    given = private_manifest_of(release)[OPTIONS]["apply"]
    return dict(one.split("=", 1) for one in given.get("kind", ()))


def _write_rows(
    release: StoredRelease,
    parts: ReleaseParts,
    texts: Sequence[str],
    made: Mapping[int, PublishedDocument],
    *,
    escape: bool,
) -> Mapping[str, int]:
    """Copy the rows with the changed texts, and return the number of formula cells by column."""
    rows, width, first = release.rows(), len(texts), 0
    called = released_names(release)
    how = {"force": True, "escape": escape}
    with open_writer(parts.rows, rows.schema(), **how, dialect=rows.dialect) as writer:
        for batch in rows.batches():
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for place, name in enumerate(called[one] for one in texts):
                own = {
                    row: made[number].text
                    for row in range(len(batch))
                    if (number := (first + row) * width + place) in made
                }
                if own:
                    cells = columns[name].to_pylist()
                    for row, text in own.items():
                        cells[row] = text
                    columns[name] = pa.array(cells, batch.schema.field(name).type)
            writer.write(pa.RecordBatch.from_pydict(columns, schema=batch.schema))
            first += len(batch)
    return writer.formulas


def _kind_of_files(release: StoredRelease) -> str | None:
    """Return the kind of a release's files from apply's options; None for a table."""
    found: str | None = private_manifest_of(release)[OPTIONS]["apply"].get("files")
    return found


def _write_files(
    release: StoredRelease,
    folder: AnyPath,
    source: Source,
    pairs: Sequence[Pair],
    made: Mapping[int, PublishedDocument],
) -> None:
    """Write every file of a release into a folder in order, changed or unchanged.

    Parameters
    ----------
    source : the source of the release, since a Word file is rewritten from its original.
    pairs : every released document with its source document.
    made : the changed documents, by their number.

    Raises
    ------
    RequestError : a Word file cannot be written without the removed text.
    """
    kind = _kind_of_files(release)
    assert kind is not None
    assert isinstance(release.path, Path)
    assert isinstance(folder, Path)
    paths = _originals(release, source) if kind == WORD and made else {}
    schema = schema_of(kind)
    with FolderWriter(folder, schema) as writer:
        for number, row in enumerate(_rows(release)):
            cells = row
            if number in made:
                one, own = made[number], pairs[number][1]
                cells = _cells(kind, row[FILE], one, own, paths.get(number))._asdict()
            elif kind == WORD:
                cells = {**row, TEXT: (release.path / f"{row[FILE]}{DOCX}").read_bytes()}
            writer.write(pa.RecordBatch.from_pylist([cells], schema))


def _originals(release: StoredRelease, source: Source) -> Mapping[int, Path]:
    """Return the path of the original of each file of a release, by its number."""
    if not isinstance(source, FilesSource):
        return {}
    names = source.read(["id"]).column("id").to_pylist()
    places = enumerate(rows_shown(release))
    return {
        number: source.paths[names[row]] for number, row in places if names[row] in source.paths
    }


def _rows(release: StoredRelease) -> Iterator[dict[str, Any]]:
    for batch in release.rows().batches():
        yield from batch.to_pylist()


def _cells(
    kind: str, name: str, one: PublishedDocument, source: Any, path: Path | None
) -> DocumentCells:
    try:
        return DocumentCells.of(kind, name, source, one, path)
    except SourceError as error:
        raise RequestError(
            f"the file cannot be written without what readers found: {error.what}",
            where=f"{name}{DOCX}",
            instead="apply again to the notes without its original, and accept that release",
        ) from None


def _write_removals(
    release: StoredRelease,
    place: AnyPath,
    texts: Sequence[str],
    made: Mapping[int, PublishedDocument],
) -> None:
    """Write the removals with their reasons, with new rows for the changed documents."""
    numbers, width = rows_shown(release), len(texts)
    changed = {(numbers[one // width], texts[one % width]) for one in made}
    rows = [
        one
        for one in open_source(release.folder / REMOVALS).read().to_pylist()
        if (one["row"], one["column"]) not in changed
    ]
    for one, document in made.items():
        of = (numbers[one // width], texts[one % width])
        rows += [
            dict(zip(REMOVED.names, (*of, *edit_row(edit)), strict=True)) for edit in document.edits
        ]
    with open_writer(place, REMOVED) as writer:
        for batch in pa.Table.from_pylist(rows, REMOVED).to_batches():
            writer.write(batch)


def _unescape_source(source: Any) -> Any:
    from voile.data.formulas import UnescapedSource

    return UnescapedSource(source)


def _manifests(
    release: StoredRelease,
    findings: Sequence[GateFinding],
    formulas: Mapping[str, int],
    facts: Mapping[str, Any],
    public_facts: Mapping[str, Any] | None,
    made: Mapping[int, PublishedDocument],
    goal: Mapping[str, Any],
) -> Manifests:
    private = dict(private_manifest_of(release))
    before = private.get(ACCEPTANCE, {})
    own = sum(READER in e.by for one in made.values() for e in one.edits)
    removed = dict(private.get("removed_by", {}))
    if own:
        removed[str(READER)] = removed.get(str(READER), 0) + own
    private.pop(VALUES, None)  # they refer to the previous bytes
    hidden = {
        **private,
        "figures": figures_of(findings),
        FINDINGS: findings_to_data(findings),
        "formulas": {**private["formulas"], "cells": dict(formulas)},
        "removed_by": removed,
        OPTIONS: {**private.get(OPTIONS, {}), "accept": goal},
        ACCEPTANCE: {**before, **facts, "of": release.public["sha256"]},
    }
    public = {name: value for name, value in release.public.items() if name != ACCEPTANCE}
    stated = {name: STATING(x, name) for name, x in figures_of(findings).items()}
    now = {**public["figures"], **stated}
    public["figures"] = {n: now[n] for n in public["figures"] if n != VALUES_FOUND}  # as above
    return {**public, **({} if public_facts is None else {ACCEPTANCE: public_facts})}, hidden
