"""The folder of a release's files, with those of some documents written anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.formats.folders import DOCX, FILE, TEXT, FolderWriter
from voile.documents.acceptance.kept import Pair
from voile.documents.committee.publication import PublishedDocument
from voile.documents.text.source import CorpusSource
from voile.documents.verbs.files import WORD, DocumentCells, schema_of
from voile.documents.verbs.released import rows_shown
from voile.release.manifest import Release
from voile.release.options import OPTIONS
from voile.release.scoring import private_manifest_of


def kind_of_files(release: Release) -> str | None:
    """Return what a release's files are, as apply was asked for them; None where it is a table."""
    found: str | None = private_manifest_of(release)[OPTIONS]["apply"].get("files")
    return found


def write_files(
    release: Release,
    folder: AnyPath,
    source: Source,
    pairs: Sequence[Pair],
    made: Mapping[int, PublishedDocument],
) -> None:
    """Write every file of a release into a folder, in its order: as it is, or as it is made now.

    Parameters
    ----------
    source : what the release was made of: a Word file is written again from its original.
    pairs : every document as released, with its own. made : those that changed, by their number.

    Raises
    ------
    RequestError : a Word file cannot be written without what is to go.
    """
    kind = kind_of_files(release)
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


def _originals(release: Release, source: Source) -> Mapping[int, Path]:
    """Return where the original of each file of a release is, by its number."""
    if not isinstance(source, CorpusSource):
        return {}
    names = source.read(["id"]).column("id").to_pylist()
    places = enumerate(rows_shown(release))
    return {
        number: source.paths[names[row]] for number, row in places if names[row] in source.paths
    }


def _rows(release: Release) -> Iterator[dict[str, Any]]:
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
