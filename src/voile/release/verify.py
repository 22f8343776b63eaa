"""The checks of releases of every kind: the seals, the counts of rows, the figures and the roles.

A check passes, fails, or cannot be made. In the last case its text names the missing input.
"""

from __future__ import annotations

import csv
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from voile.core.errors import TamperedError, VoileError
from voile.core.rounding import StatingRules, round_number
from voile.data import Source, open_source
from voile.data.files.memory import MemoryPath
from voile.data.files.outputs import SEALS
from voile.keys.seal import EVIDENCE_SEAL, SEAL, FileSeal, file_sha256
from voile.keys.secret import Secret
from voile.release.manifest import (
    ASIDE,
    CONTROL,
    EVIDENCE,
    MANIFEST,
    PARTS_OF,
    PREDICTED,
    PRIVATE_MANIFEST,
    RELEASE,
    ROWS,
    StoredRelease,
    hashes_of,
)
from voile.report.wording import join_names

NAMES = {RELEASE: "the release", MANIFEST: "the public manifest"}
UNSEALED = (
    "the seal, and every figure about people: this needs the private folder, which is not here"
)
"""Without this check a release is not verified."""


class ReleaseCheck(NamedTuple):
    """One check: its text, and whether it passed. None means that the check could not be made."""

    says: str
    holds: bool | None


def are_whole(checks: Iterable[ReleaseCheck]) -> bool:
    """Return whether a release is verified: no check fails, and its private folder is present."""
    return all(check.holds is not False and check.says != UNSEALED for check in checks)


BEFORE, ABSENT = " before", "absent"
"""The suffix for a file's earlier version while attack replaces it, and a missing file's hash."""
MALFORMED = (VoileError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError)


def checks(
    release: StoredRelease,
    own_checks: Callable[[StoredRelease], Iterable[ReleaseCheck]],
    secret: Secret | None,
) -> Iterator[ReleaseCheck]:
    """Yield all checks of a release. `own_checks` yields the checks of its kind of data."""
    own = _has_own_bytes(release)
    yield ReleaseCheck("the bytes are those that the manifest names", own)
    yield from _guard_checks(release, parts(release))
    yield from check_seals(release, secret)
    yield from evidence_sealed(release, secret)
    yield from _guard_checks(release, check_counts(release))
    yield from _guard_checks(release, as_published(release))
    if own:
        yield from _guard_checks(release, own_checks(release))


def _guard_checks(release: StoredRelease, checks: Iterable[ReleaseCheck]) -> Iterator[ReleaseCheck]:
    """Yield checks. If a manifest cannot be read, yield a failed check."""
    try:
        yield from checks
    except MALFORMED:
        yield ReleaseCheck(
            f"the manifests can be read as those of a release of {release.kind}", False
        )


def _has_own_bytes(release: StoredRelease) -> bool:
    try:
        release.check_hash()
    except TamperedError:
        return False
    return True


def parts(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Compare each part of a release in a store with the manifest, and name the differing parts."""
    named = release.public.get(PARTS_OF)
    if named is None or not isinstance(release.local, Path):
        return
    found = hashes_of(release.local)
    wrong = sorted(name for name in {*named, *found} if named.get(name) != found.get(name))
    for name in wrong:
        yield ReleaseCheck(f"{name} is the part that the manifest names", False)
    if not wrong:
        yield ReleaseCheck(f"each part is as the manifest names it: {len(named)}", True)


def check_seals(release: StoredRelease, secret: Secret | None) -> Iterator[ReleaseCheck]:
    """Compare the public files and the private folder with the seal of apply."""
    folder = release.folder
    if isinstance(folder, MemoryPath):  # sealed when it is saved
        return
    if not release.is_sealed:
        yield ReleaseCheck(UNSEALED, None)
        return
    private = stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    yield ReleaseCheck("the private folder is open to its owner alone", private)
    yield from _check_seal(release, SEAL, {RELEASE, MANIFEST, PRIVATE_MANIFEST}, secret)


def evidence_sealed(release: StoredRelease, secret: Secret | None) -> Iterator[ReleaseCheck]:
    """Compare evidence with the seal of attack, and name other files in the private folder."""
    if isinstance(release.folder, MemoryPath) or not release.folder.is_dir():
        return
    if (release.folder / EVIDENCE_SEAL).exists():
        yield from _check_seal(release, EVIDENCE_SEAL, {RELEASE}, secret)
    known = {SEAL, EVIDENCE_SEAL, *_files(release, SEAL), *_files(release, EVIDENCE_SEAL)}
    for name in sorted({path.name for path in release.folder.iterdir()} - known):
        planted = False if name == EVIDENCE else None
        yield ReleaseCheck(
            f"{name} was written into the private folder by apply or attack", planted
        )


def _files(release: StoredRelease, seal: str) -> Mapping[str, str]:
    try:
        return release.seal(seal).files
    except TamperedError:
        return {}


def _check_seal(
    release: StoredRelease, name: str, least: set[str], secret: Secret | None
) -> Iterator[ReleaseCheck]:
    """Compare files with one seal, and the seal with the secret."""
    files = _files(release, name)
    yield ReleaseCheck(f"{name} names the files of a release", least <= files.keys())
    for file, hashed in files.items():
        place = release.sealed_place(file)
        elsewhere = file != Path(file).name and not place.exists()
        if file.endswith(BEFORE):
            continue
        own = {hashed, files.get(f"{file}{BEFORE}")}  # a killed attack leaves either
        state = file_sha256(place) if isinstance(place, Path) and place.exists() else ABSENT
        whole = isinstance(place, Path) and state in own
        yield ReleaseCheck(
            f"{NAMES.get(file, file)} is as {name} has it", None if elsewhere else whole
        )
    if files:
        yield _under(release.seal(name), name, secret)


def _under(seal: FileSeal, name: str, secret: Secret | None) -> ReleaseCheck:
    if secret is not None:
        return ReleaseCheck(f"{name} was made under this secret", seal.holds_under(secret))
    if seal.mac is not None:
        return ReleaseCheck(
            f"{name} was made under a secret: give it by --key-file or VOILE_SECRET", None
        )
    said = "was made without a secret: who can write the private folder can forge it"
    return ReleaseCheck(f"{name} {said}", None)


def check_seal(release: StoredRelease, secret: Secret | None) -> None:
    """Raise `TamperedError` if a file of the release does not match the seal of apply."""
    release.check_hash()
    _refuse(check_seals(release, secret), release.path)


def is_keyed(release: StoredRelease) -> bool:
    return (release.folder / SEAL).exists() and release.seal(SEAL).mac is not None


def check_evidence(release: StoredRelease, place: Path, secret: Secret | None) -> None:
    """Raise `TamperedError` if evidence does not match the seal of attack.

    A release that was received has no private folder, and is not checked.
    """
    if not release.folder.is_dir():
        return
    _refuse(evidence_sealed(release, secret), place)
    if file_sha256(place) not in _files(release, EVIDENCE_SEAL).values():
        _refuse([ReleaseCheck("attack wrote it about this release", False)], place)


def _refuse(checks: Iterable[ReleaseCheck], place: object) -> None:
    failed = next((says for says, holds in checks if holds is False), None)
    if failed is not None:
        raise TamperedError(
            f"the written release failed a check: {failed}",
            where=str(place),
            instead="write the release again, with the secret if it has one",
        )


def seal_evidence(
    release: StoredRelease, place: Path, secret: Secret | None, *, coming: bytes | None = None
) -> None:
    """Seal an evidence file, and keep the earlier seals under the same secret.

    Parameters
    ----------
    coming : bytes that will replace the file next. The seal then covers the file before and after.
    """
    from voile.data.files.atomic import write_bytes

    folder = release.folder
    if isinstance(folder, MemoryPath) or not folder.is_dir():
        return
    name = os.path.relpath(place.resolve(), folder.resolve())
    files = {
        one: x for one, x in _list_trusted(release, secret).items() if one != f"{name}{BEFORE}"
    }
    files[RELEASE] = str(release.public["sha256"])
    if coming is not None:
        files[f"{name}{BEFORE}"] = files.get(name, ABSENT)
    files[name] = file_sha256(place) if coming is None else sha256(coming).hexdigest()
    seal = FileSeal(files).under(secret)
    write_bytes(folder / EVIDENCE_SEAL, seal.to_bytes(), SEALS, force=True)


def _list_trusted(release: StoredRelease, secret: Secret | None) -> Mapping[str, str]:
    files = _files(release, EVIDENCE_SEAL)
    if files and secret is not None:
        return files if release.seal(EVIDENCE_SEAL).holds_under(secret) else {}
    return files


def check_counts(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Compare the counts of the private manifest with each other and with the private files."""
    if release.private is None:
        return
    counts = release.private["counts"]
    fates = sum(counts[name] for name in ("released", "set_aside", "suppressed", "held_out"))
    same = counts["read"] == fates
    yield ReleaseCheck("rows in = released + set aside + suppressed + held out", same)
    for name, file in (("released", ROWS), ("held_out", CONTROL)):
        rows = _rows(open_source(release.folder / file))
        yield ReleaseCheck(
            f"{file} has a row for each row {name.replace('_', ' ')}", rows == counts[name]
        )
    with (release.folder / ASIDE).open(newline="", encoding="utf-8") as lines:
        noted = [(line["row"], (line["column"], line["reason"])) for line in csv.DictReader(lines)]
    by = {(one["column"], one["reason"]): one["rows"] for one in counts["set_aside_by"]}
    same = len({row for row, _ in noted}) == counts["set_aside"]
    same = same and Counter(why for _, why in noted) == by
    yield ReleaseCheck(f"{ASIDE} has every row set aside, and why", same)


def has_columns(source: Source, public: Mapping[str, Any]) -> ReleaseCheck:
    """Compare the columns of a release with its manifest."""
    named = [column["column"] for column in public["columns"]]
    return ReleaseCheck("the columns are those of the manifest", list(source.columns) == named)


def has_rows(release: StoredRelease, source: Source) -> Iterator[ReleaseCheck]:
    """Compare the number of released rows with the counts."""
    if release.private is not None:
        same = _rows(source) == release.private["counts"]["released"]
        yield ReleaseCheck("the release has as many rows as were released", same)


def _rows(source: Source) -> int:
    return sum(len(batch) for batch in source.batches(list(source.columns)[:1]))


def as_published(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Compare the public manifest with the private one: figures with two digits, and roles."""
    if release.private is None:
        return
    private = release.private
    known = {**private["chosen"]["figures"], **private["figures"]}
    told = release.public["figures"].items()
    yield ReleaseCheck(
        "the public figures are the private ones", all(_is_of(x, known.get(n)) for n, x in told)
    )
    if PREDICTED in release.public:
        found = {name for name in release.public["figures"] if name not in private["figures"]}
        said = "each public figure is a finding, or listed as a prediction of the fit"
        yield ReleaseCheck(said, found == {*release.public[PREDICTED]})
    roles = {name: column["role"] for name, column in private["roles"]["columns"].items()}
    columns = release.public["columns"]
    own = (roles.get(one.get("from", one["column"]), one["role"]) == one["role"] for one in columns)
    yield ReleaseCheck("the columns have the roles that the source's had", all(own))


def _is_of(told: float, exact: float | None) -> bool:
    """Return whether a public figure is a private one rounded to two digits, or up to tens."""
    if exact is None:
        return False
    tens = StatingRules(people=frozenset({"people"}))(exact, "people")
    return told in (round_number(exact, "up"), round_number(exact, "down"), tens)


def check_recount(
    release: StoredRelease, found: Mapping[str, float], *, left: str
) -> Iterator[ReleaseCheck]:
    """Compare the certified figures with a new count. Name the uncounted figures and the reason."""
    certified = (release.private or {}).get("figures", {})
    for name in (again := [name for name in found if name in certified]):
        same = isclose(found[name], certified[name], rel_tol=1e-9)
        yield ReleaseCheck(f"{name} is as certified", same)
    rest = [name for name in {**release.public["figures"], **certified} if name not in again]
    predicted = [name for name in rest if name in release.public.get(PREDICTED, ())]
    if rest := [name for name in rest if name not in predicted]:
        yield ReleaseCheck(f"{join_names(rest)}: {left}", None)
    if predicted:
        yield ReleaseCheck(
            f"{join_names(predicted)}: not counted in the release, predicted by the fit", None
        )
