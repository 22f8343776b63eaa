"""An output of three parts, written and looked at."""

from __future__ import annotations

from pathlib import Path

from voile.data.files.atomic import Staging
from voile.data.files.outputs import SUFFIXES, OutputKind

PARTS = ("release.csv", "release.csv.manifest.json", "release.csv.private")
ANY = OutputKind("an output", dict.fromkeys(SUFFIXES, lambda _: True))


def publish(folder: Path, mark: str, *, force: bool = True) -> None:
    """Write an output of three parts, each holding the same mark."""
    release, manifest, private = (folder / name for name in PARTS)
    with Staging(release, ANY, force=force) as staging:
        staging.folder(private, mode=0o700).joinpath("seed").write_text(mark)
        staging.part(manifest).write_text(mark)
        staging.part(release).write_text(mark * 100)
        staging.commit()


def seen(folder: Path) -> str | None:
    """Say whose output a user sees; fail if it is half or mixed. None without the main part."""
    release, manifest, private = (folder / name for name in PARTS)
    try:
        text = release.read_text()
    except FileNotFoundError:
        return None
    marks = {text[: len(text) // 100], manifest.read_text(), (private / "seed").read_text()}
    assert len(text) % 100 == 0
    assert len(marks) == 1, marks
    return marks.pop()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
