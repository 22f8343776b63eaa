"""The findings of attacks on one release, and their JSON file in the private folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from voile.core.arguments import check_arguments
from voile.core.errors import DamagedError, RequestError, VoileError, name_kind
from voile.core.evidence import FORBID, Evidence, Rate
from voile.core.mistakes import plainly
from voile.data.files import outputs
from voile.data.files.memory import MemoryPath

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.keys.secret import Secret
    from voile.release.manifest import StoredRelease


READ = "acceptance"
"""The name of evidence from a review by people. A new run of an attack does not replace it."""


class AttackResults(tuple[Evidence, ...]):
    """The evidence of each attack on one release, in the order of the attacks."""

    release: StoredRelease
    given: tuple[Mapping[str, Any], ...]

    def __new__(
        cls,
        release: StoredRelease,
        found: Iterable[Evidence],
        given: Iterable[Mapping[str, Any]] = (),
    ) -> Self:
        """Store evidence with its release and with the options of the attacks."""
        results = super().__new__(cls, found)
        results.release = release
        results.given = tuple(given)
        return results

    def __repr__(self) -> str:
        return f"AttackResults({', '.join(repr(one.attack) for one in self)})"

    def _repr_html_(self) -> str:
        from voile.report.notebook import drawn_evidence

        return drawn_evidence("Evidence", self)

    def to_arrow(self) -> pa.Table:
        """Return a table with one row for each finding, including exact small counts.

        The column `found` is the share `successes` / `trials`, from 0 to 1. `low` and `high` are
        the ends of its 95% interval. `baseline` and `control` are shares, or null if there is none.
        """
        import pyarrow as pa

        from voile.report.wording import name_of

        rows = [
            {
                "attack": one.attack,
                "what": name_of(finding, "internal"),
                "found": _share(finding.rate),
                **dict(zip(("low", "high"), finding.rate.interval(), strict=True)),
                "successes": finding.rate.successes,
                "trials": finding.rate.trials,
                "baseline": _share(finding.baseline),
                "control": _share(finding.control),
            }
            for one in self
            for finding in one.findings
        ]
        floats = ("found", "low", "high", "baseline", "control")
        kinds = {"attack": pa.string(), "what": pa.string(), **dict.fromkeys(floats, pa.float64())}
        names = ("attack", "what", *floats[:3], "successes", "trials", *floats[3:])
        return pa.Table.from_pylist(
            rows, pa.schema([(name, kinds.get(name, pa.int64())) for name in names])
        )

    def to_pandas(self) -> Any:
        """Return the table of `to_arrow` as a pandas frame."""
        from voile.data import to_frame

        return to_frame(self.to_arrow(), like="pandas")

    def to_polars(self) -> Any:
        """Return the table of `to_arrow` as a Polars frame."""
        from voile.data import to_frame

        return to_frame(self.to_arrow(), like="polars")

    @check_arguments
    def save(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        key_file: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> Path:
        """Write the evidence, seal it, and return its path.

        Parameters
        ----------
        path : without it, RELEASE.private/evidence.json, where the report expects it.
        key_file : file with the secret of the seal [variable VOILE_SECRET].
        force : replace the file if voile wrote it.

        Raises
        ------
        RequestError : the release is in memory. Pass the evidence to `StoredRelease.save` instead.
        """
        from voile.keys.secret import Secret

        place = default_place(self.release) if path is None else Path(path)
        secret = Secret.find(key_file)
        write_evidence(place, self.release, self, secret, force=force)
        return place


def _share(rate: Rate | None) -> float | None:
    return rate.value if rate is not None and rate.trials else None


@dataclass(frozen=True, kw_only=True)
class _EvidenceFile:
    """The fields of the evidence file. Other fields are rejected."""

    __pydantic_config__ = FORBID

    format: Literal["voile-evidence"] = "voile-evidence"
    version: Literal[2] = 2
    kind: str
    release: str
    options: tuple[dict[str, Any], ...] = ()
    evidence: tuple[Evidence, ...]


def default_place(release: StoredRelease) -> Path:
    """Return the default path of the evidence of a release on disk."""
    from voile.release.manifest import EVIDENCE

    folder = release.folder
    if isinstance(folder, MemoryPath):
        raise RequestError(
            "the release is in memory and has no evidence file",
            instead="save it with its evidence: save(path, evidence)",
        )
    return folder / EVIDENCE


def write_evidence(
    place: Path,
    release: StoredRelease,
    found: Sequence[Evidence],
    secret: Secret | None,
    *,
    force: bool,
) -> None:
    """Write evidence with the hash of its release, and seal it.

    Reviews by people are kept, unless the new evidence includes them. `force` allows replacing all
    other evidence.
    """
    from voile.data.files.atomic import write_bytes
    from voile.release.verify import seal_evidence

    read, is_all = kept_evidence(place, release, secret)
    names = {one.attack for one in found}
    given = found.given if isinstance(found, AttackResults) else ()
    file = _EvidenceFile(
        kind=release.kind,
        release=release.public["sha256"],
        options=tuple(map(dict, given)),
        evidence=(*(one for one in read if one.attack not in names), *found),
    )
    if place == default_place(release):
        place.parent.mkdir(mode=0o700, exist_ok=True)
    data = json.dumps(asdict(file), indent=1, ensure_ascii=False).encode()
    if place == default_place(release):
        seal_evidence(release, place, secret, coming=data)
    write_bytes(place, data, outputs.EVIDENCE, force=force or is_all)
    seal_evidence(release, place, secret)


def kept_evidence(
    place: Path, release: StoredRelease, secret: Secret | None
) -> tuple[Sequence[Evidence], bool]:
    """Return the reviews by people in an evidence file, and whether it contains only these."""
    try:
        found = read_evidence(place, release, secret)
    except VoileError:
        return (), False
    read = [one for one in found if one.attack == READ]
    return read, len(read) == len(found)


def find_evidence(
    release: StoredRelease, secret: Secret | None, given: object = None
) -> AttackResults:
    """Return the evidence of a release from an object that the user passed.

    Parameters
    ----------
    given : the result of attack, a file, or several of these. If None, the function reads the file
        next to the release, if there is one.

    Raises
    ------
    RequestError : the object is not evidence, or it is about another release.
    """
    if given is None:
        if isinstance(release.path, MemoryPath) or not default_place(release).exists():
            return AttackResults(release, ())
        given = default_place(release)
    if isinstance(given, str | os.PathLike):
        return read_evidence(Path(given), release, secret)
    if isinstance(given, AttackResults):
        if given.release.public["sha256"] != release.public["sha256"]:
            raise _of_another(release, None)
        return given
    if not isinstance(given, Iterable) or isinstance(given, Mapping | Evidence):
        raise RequestError(
            f"{name_kind(given)} is not evidence", instead="give the result of release.attack()"
        )
    parts = [find_evidence(release, secret, one) for one in given]
    return AttackResults(
        release,
        (one for part in parts for one in part),
        (options for part in parts for options in part.given),
    )


def read_evidence(place: Path, release: StoredRelease, secret: Secret | None) -> AttackResults:
    """Read an evidence file. Refuse evidence that is changed or about another release."""
    from pydantic import TypeAdapter, ValidationError

    from voile.data.files.own_files import read_bytes
    from voile.release.verify import check_evidence

    try:
        found = TypeAdapter(_EvidenceFile).validate_json(read_bytes(place), strict=True)
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(
            "the evidence file does not exist",
            where=str(place),
            instead="correct the path, or attack the release first",
        ) from None
    except ValidationError as error:
        problems = {".".join(map(str, one["loc"])): plainly(one) for one in error.errors()}
        raise _refuse_evidence(problems, place) from None
    if found.release != release.public["sha256"]:
        raise _of_another(release, place)
    check_evidence(release, place, secret)
    return AttackResults(release, found.evidence, found.options)


def _of_another(release: StoredRelease, place: Path | None) -> RequestError:
    return RequestError(
        "this evidence is about another release",
        where=None if place is None else str(place),
        instead=f"run voile {release.kind} attack again",
    )


def _refuse_evidence(problems: Mapping[str, str], place: Path) -> RequestError:
    """Return an error that explains why a file is not evidence.

    Parameters
    ----------
    problems : a message for each field with a problem.
    """
    if "" in problems or "format" in problems:
        return RequestError(
            "the file is not an evidence file",
            where=str(place),
            instead="give the file that attack wrote",
        )
    if "version" in problems:
        return RequestError(
            "the evidence file has another version",
            where=str(place),
            instead="attack the release again",
        )
    field, message = next(iter(problems.items()))
    return DamagedError(f"the evidence is damaged: {field}: {message}", where=str(place))
