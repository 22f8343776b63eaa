"""The report of a kit or a release: one page, for the public or for the data holder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from voile.core.arguments import check_arguments
from voile.core.brief import BriefRepr
from voile.core.errors import as_keywords
from voile.core.version import __version__, versions
from voile.data.files.outputs import INTERNAL_REPORT, REPORT
from voile.data.files.own_files import fitting
from voile.face.commands import commands
from voile.face.enough import is_it_enough
from voile.release.choice import Choice, in_words
from voile.release.manifest import StoredRelease
from voile.report import render
from voile.report.notebook import frame_page
from voile.report.sections import Audience, Commands, Section

if TYPE_CHECKING:
    from voile.core.evidence import Evidence
    from voile.release.kit import StoredKit
    from voile.release.module import AnyModule


@dataclass(frozen=True)
class ReportPage(BriefRepr):
    """The report page of a kit, a release or an assessment.

    Parameters
    ----------
    title : the title of the page.
    audience : the readers of the page, ``public`` or ``internal``.
    html : the whole page, which a browser can open from disk without a network.
    """

    shows = ("title", "audience")

    title: str
    audience: Audience
    html: str

    @check_arguments
    @as_keywords()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the page, and return its path. `force` replaces a report that voile wrote."""
        from voile.data.files.atomic import write_text

        output = REPORT if self.audience == "public" else INTERNAL_REPORT
        write_text(path, self.html, output, force=force)
        return Path(path)

    def _repr_html_(self) -> str:
        return frame_page(self.html, title=self.title, height=640)


def report_of(
    subject: StoredKit | StoredRelease,
    module: AnyModule,
    evidence: Sequence[Evidence],
    audience: Audience,
    name: str | None,
) -> ReportPage:
    """Return the report page of a kit or a release.

    `name` is its name on disk, or None in memory.
    """
    is_release = isinstance(subject, StoredRelease)
    if is_release:
        title = f"{name or 'The release'}: disclosure risk and utility"
    else:
        title = f"{name or f'A kit of {subject.kind}'}: the policies to choose from"
    placeholder = "RELEASE" if is_release else "KIT"
    with fitting("what is reported", Path(name or placeholder)):
        lines = tuple(commands(subject, module, audience, name or placeholder, evidence))
        page = render(
            title,
            (
                *_arrange(
                    module.report(subject, evidence, audience=audience),
                    _enough(subject, module, evidence),
                ),
                Section("reproduce", "How to reproduce", (Commands(lines),)),
            ),
            audience=audience,
            facts=facts_of(subject, audience),
            to_sign=is_release,
        )
    return ReportPage(title, audience, page)


def _enough(
    subject: StoredKit | StoredRelease, module: AnyModule, evidence: Sequence[Evidence]
) -> Iterator[Section]:
    """Yield the section of figures for a determination.

    A kit has none, because nothing is released.
    """
    if isinstance(subject, StoredRelease):
        yield is_it_enough(subject.public, module.criteria, evidence)


def _arrange(own: Sequence[Section], enough: Iterable[Section]) -> Iterator[Section]:
    """Yield first-page sections, then the frontier, the standards, and the remaining sections."""
    frontier = [replace(one, first=True) for one in own if one.key == "frontier"]
    yield from (one for one in own if one.first)
    yield from frontier
    yield from enough
    yield from (one for one in own if not one.first and one.key != "frontier")


def today() -> date:
    """Return the date in UTC, or the date set by SOURCE_DATE_EPOCH for reproducible builds."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = float(seconds) if seconds.isdecimal() else datetime.now(UTC).timestamp()
    return datetime.fromtimestamp(now, UTC).date()


def facts_of(subject: StoredKit | StoredRelease, audience: Audience) -> dict[str, str]:
    """Return the versions and hashes that identify a kit or a release.

    A kit's id depends on the data, so it appears only in internal reports.
    """
    made_with = versions()
    facts = {"date of this report": today().isoformat(), "voile": __version__}
    if isinstance(subject, StoredRelease):
        facts["voile"] = str(subject.public["voile"])
        made_with = (subject.private or {}).get("made_with", {})
    facts |= {"Python": made_with["Python"]} if made_with else {}
    libraries = [f"{name} {x}" for name, x in made_with.items() if name != "Python"]
    facts |= {"libraries": ", ".join(libraries)} if libraries else {}
    facts["kind of data"] = subject.kind
    if isinstance(subject, StoredRelease):
        facts["release, SHA-256"] = str(subject.public["sha256"])
        if subject.private is not None and audience == "internal":
            chosen = subject.private["chosen"]
            number = "edited" if chosen["number"] is None else f"number {chosen['number']}"
            how = in_words(Choice.from_data(chosen["choice"]), edited=chosen["edited"])
            facts["policy"] = f"{number} ({how})"
            facts["kit"] = str(subject.private["kit"])
    elif audience == "internal":
        facts["kit"] = subject.id
    return facts
