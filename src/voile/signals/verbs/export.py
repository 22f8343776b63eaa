"""`voile signals export`: a kit's map as fixed tables, with the ends that small devices need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.data.files.atomic import write_folder
from voile.data.files.outputs import EXPORT
from voile.release.kit import Kit
from voile.release.own_verbs import Ended, Reporter
from voile.signals.codec.side import NameLevels
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables
from voile.signals.verbs.content import KIND, Content
from voile.signals.verbs.options import ExportOptions


def export(
    options: ExportOptions, reporter: Reporter, *, kit: Kit | str, out: Path, force: bool
) -> Ended:
    content = Content.of(kit if isinstance(kit, Kit) else Kit.load(kit, KIND))
    tables = _tables(content, kit)
    columns = [
        {"column": form.column, "words": form.settings.ordinal} for form in content.reader.forms
    ]
    with write_folder(out, EXPORT, force=force) as folder:
        known = _known(content)
        for name, text in sources(tables, columns, content.classes, known).items():
            (folder / name).write_text(text, encoding="utf-8")
        if content.visibility == "private":
            folder.chmod(0o700)
    size = tables.size
    reporter.say(f"{out}: {count(size, 'byte')} of tables, the same for every class")
    if content.visibility == "private":
        reporter.insist(f"{out}: private, as the kit is; give it to the devices alone")
    reporter.insist("each reading is sent by itself: a subject's second begins to reveal its class")
    if tables.sides:
        reporter.insist(
            "a device's record holds its known columns: enrol it anew where they change"
        )
    return Ended({"export": str(out), "map": tables.mark, "bytes": size})


def _tables(content: Content, kit: Kit | str) -> FixedTables:
    """Return a kit's map to normal scores, of single readings."""
    if content.sequence is None:
        raise RequestError(
            "the kit holds no map that sends each reading by itself",
            where=str(kit),
            instead="fit to one reading of each subject, all columns numbers, without --epsilon",
        )
    return FixedTables.of_sequence(content.sequence)


def _known(content: Content) -> list[dict[str, Any]]:
    """Describe the known columns: the number of each name, those of other and missing ones last."""
    if content.sequence is None:
        return []
    columns = [one.column for one in content.reader.sides]
    return [
        {"column": name, "names": grid.values.tolist()}
        if isinstance(grid, NameLevels)
        else {"column": name, "resolution": grid.lattice.resolution}
        for name, grid in zip(columns, content.sequence.codec.side, strict=True)
    ]
