"""Check a ledger against its secret and against manifests, and close the intents of killed runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, TamperedError
from voile.data.files.own_files import read_json
from voile.keys.seal import file_sha256
from voile.ledger.ledger import Act, Ledger, LedgerKeys, OpenLedger
from voile.release.archive import close_published, releases_in
from voile.release.verify import ReleaseCheck

UNKNOWN_HEAD = "no last line is missing: only the secret's file can show it (--key-file)"


def ledger_checks(
    ledger: Ledger, keys: LedgerKeys | None, manifests: Sequence[Path]
) -> Iterator[ReleaseCheck]:
    """Yield the checks of a ledger with a valid chain of entries.

    Parameters
    ----------
    keys : the keys from the ledger's secret. The last head is stored next to the secret.
    manifests : manifests of releases that the ledger records. A folder stands for all manifests in
        it.
    """
    yield ReleaseCheck("each line follows the one before", True)
    yield _ends_where_written_down(ledger, keys)
    for path in _each(manifests):
        yield _made_under(ledger, path)


def _ends_where_written_down(ledger: Ledger, keys: LedgerKeys | None) -> ReleaseCheck:
    if keys is None:
        return ReleaseCheck(UNKNOWN_HEAD, None)
    try:
        keys.check(ledger)
    except TamperedError as error:
        return ReleaseCheck(error.what, False)
    return ReleaseCheck("the last line recorded next to the secret is in it", True)


def _each(manifests: Sequence[Path]) -> Iterator[Path]:
    for path in manifests:
        yield from [one for one, _ in releases_in(path)] if path.is_dir() else [path]


def _made_under(ledger: Ledger, path: Path) -> ReleaseCheck:
    """Compare a manifest with the entry that it refers to. Two copies of one ledger differ here."""
    name = path.name
    try:
        manifest = read_json(path, "the manifest")
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(
            "the manifest does not exist",
            where=str(path),
            instead="correct the path of the release",
        ) from None
    place = manifest.get("ledger") if isinstance(manifest, dict) else None
    if not isinstance(place, dict) or place.get("id") != ledger.id:
        return ReleaseCheck(f"{name} was made under this ledger", False)
    number, lines = place.get("line"), ledger.chain.lines
    if not isinstance(number, int) or not 0 <= number < len(lines):
        return ReleaseCheck(f"the ledger ends before line {number}, the line of {name}", False)
    if lines[number].before != place.get("head"):
        return ReleaseCheck(f"the judgement of {name} used the lines before {number}", False)
    same = lines[number].content.get("manifest") == file_sha256(path)
    return ReleaseCheck(f"line {number} is the line of {name}", same)


def close_intents(opened: OpenLedger, folders: Sequence[Path]) -> list[tuple[int, Act]]:
    """Close each open intent: *done* if its release is in one of these folders, or else *void*.

    An intent with a folder that is not in the list stays open, and counts as released.
    """
    done = close_published(opened, folders)
    known = {opened.keys.hash("folder", str(folder.resolve())) for folder in folders}
    void = [x.number for x in opened.ledger.open if x.content.get("folder") in known]
    for number in void:
        opened.append("void", {"of": number})
    return [*((number, "done") for number in done), *((number, "void") for number in void)]


def describe_ledger(ledger: Ledger) -> dict[str, Any]:
    """Return a ledger's content, entry by entry."""
    return {
        "ledger": str(ledger.path),
        "id": ledger.id,
        "promise": ledger.promise.to_data(),
        "recipients": ledger.chain.lines[0].content["recipients"],
        "apart": ledger.audience.to_data(),
        "lines": [
            {
                "line": line.number,
                "time": line.content["time"],
                "act": line.content["act"],
                **{name: line.content[name] for name in SHOWN if name in line.content},
            }
            for line in ledger.chain.lines
        ],
        "open": [line.number for line in ledger.open],
    }


SHOWN = ("of", "kind", "kit", "recipient", "release", "alone", "joint", "override", "reason")
