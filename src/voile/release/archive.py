"""Find the releases of a ledger in folders, each with its private folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.files.outputs import MANIFEST, PRIVATE, STUDY_FORMAT, STUDY_MANIFEST, json_at
from voile.keys.pseudonyms import canonical_of
from voile.keys.seal import file_sha256
from voile.ledger.chain import LedgerLine
from voile.ledger.ledger import Ledger, OpenLedger
from voile.release.manifest import PEOPLE, WHO, private_path

LEDGER_FOLDER = "ledger"
"""The folder in a study's private folder with the files for evaluating a later release."""


def private_folders(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the private folder of each release, by the SHA-256 of its public manifest."""
    return dict(_find_private(folders))


def _find_private(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        for manifest, release in releases_in(folder):
            private = private_path(release)
            is_study = manifest.parent == release
            yield file_sha256(manifest), private / LEDGER_FOLDER if is_study else private


def releases_in(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the public manifest of each release in a folder, and the release's path."""
    for manifest in sorted(folder.glob(f"*{MANIFEST}")):
        yield manifest, manifest.with_name(manifest.name.removesuffix(MANIFEST))
    for manifest in sorted(folder.glob(f"*/{STUDY_MANIFEST}")):
        release = manifest.parent
        if release.suffix != PRIVATE and json_at(manifest).get("format") == STUDY_FORMAT:
            yield manifest, release


def close_published(opened: OpenLedger, folders: Sequence[Path]) -> list[int]:
    """Mark each open intent as *done* if its release is in one of the folders.

    Returns
    -------
    The numbers of the entries that were closed.
    """
    lines = [x.number for x in opened.ledger.open if any(_lies_in(one, x) for one in folders)]
    for number in lines:
        opened.append("done", {"of": number})
    return lines


def _lies_in(folder: Path, line: LedgerLine) -> bool:
    """Return whether a folder contains the release of an intent.

    A manifest alone is not a release.
    """
    return any(
        release.exists() and file_sha256(manifest) == line.content["manifest"]
        for manifest, release in releases_in(folder)
    )


def erase(opened: OpenLedger, subjects: Sequence[str], reason: str) -> NDArray[np.uint64]:
    """Record that people must not be in any further release, and return a keyed token of each.

    Raises
    ------
    RequestError : the list of subjects is empty or contains a blank name.
    """
    import pyarrow as pa

    if not subjects or any(not name.strip() for name in subjects):
        raise RequestError(
            "the list of subjects is empty or contains a blank",
            instead="write one subject per line",
        )
    named = list(dict.fromkeys(canonical_of(pa.array(subjects, pa.string()))))
    tokens = opened.keys.tokens("subject", named)
    known = opened.ledger.erased_hashes
    for token in tokens.tolist():
        if (who := f"{token:016x}") not in known:
            opened.append("erase", {"who": who, "reason": reason})
    return tokens


def showing(
    ledger: Ledger, tokens: NDArray[np.uint64], folders: Sequence[Path]
) -> tuple[list[int], list[int]]:
    """Find the releases of a ledger that contain any of the given people.

    Returns
    -------
    The entry numbers of these releases, and the entry numbers of releases that could not be
    checked.
    """
    private, shows, unknown = private_folders(folders), [], []
    for line in ledger.released_lines:
        folder = private.get(line.content["manifest"])
        if folder is None or not (path := folder / PEOPLE).is_file():
            unknown.append(line.number)
            continue
        who = [batch.column(0).to_numpy() for batch in open_source(path).batches([WHO])]
        if np.isin(tokens, np.concatenate([np.zeros(0, np.uint64), *who])).any():
            shows.append(line.number)
    return shows, unknown
