"""`voile signals export`: a kit's map as fixed tables, with the ends that small devices need."""

from __future__ import annotations

from pathlib import Path

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.data.files.atomic import write_folder
from voile.data.files.outputs import EXPORT
from voile.release.kit import Kit
from voile.release.own_verbs import Ended, Reporter
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables
from voile.signals.verbs.content import KIND, Content
from voile.signals.verbs.options import ExportOptions
from voile.signals.verbs.subjects import check_without_known

NUMBER = 8  # bytes


def export(
    options: ExportOptions, reporter: Reporter, *, kit: Kit | str, out: Path, force: bool
) -> Ended:
    content = Content.of(kit if isinstance(kit, Kit) else Kit.load(kit, KIND))
    check_without_known(content, kit)
    if content.sequence is None:
        raise RequestError(
            "the kit holds no map that sends each reading by itself",
            where=str(kit),
            instead="fit to one reading of each subject, all columns numbers, without --epsilon",
        )
    tables = FixedTables.of(content.sequence)
    columns = [
        {"column": form.column, "words": form.settings.ordinal} for form in content.reader.forms
    ]
    with write_folder(out, EXPORT, force=force) as folder:
        for name, text in sources(tables, columns, content.classes).items():
            (folder / name).write_text(text, encoding="utf-8")
        if content.visibility == "private":
            folder.chmod(0o700)
    size = len(tables.numbers) * NUMBER
    reporter.say(f"{out}: {count(size, 'byte')} of tables, the same for every class")
    if content.visibility == "private":
        reporter.insist(f"{out}: private, as the kit is; give it to the devices alone")
    reporter.insist("each reading is sent by itself: a subject's second begins to reveal its class")
    return Ended({"export": str(out), "map": tables.mark, "bytes": size})
