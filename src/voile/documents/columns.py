"""Options for the text columns of a source, so that a kit can be applied to any source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from voile.core.errors import RequestError, nearest
from voile.data import Source
from voile.data.places import DescribedPlace
from voile.data.roles import Roles
from voile.documents.text.files_source import FilesSource
from voile.release.options import Options

SPANS, OWN_SUBJECT = "spans", "subject"
"""The names of these columns in a corpus, and the default names in other sources."""
TEXT_COLUMNS = ("text", "note", "notes")
"""The default names of a text column."""


class TextColumns(Options):
    """Options for the columns of texts, annotations and subjects. All other columns are dropped."""

    text: tuple[str, ...] = Field(
        (), description="column of text. Repeatable. Columns without an option are dropped"
    )
    spans: tuple[str, ...] = Field(
        (),
        description=(
            "column with the annotations of each --text column, in the same order [spans]"
        ),
    )
    subject: str | None = Field(None, description="column that identifies the subject of each text")
    subject_pattern: str | None = Field(
        None,
        description="pattern of file names that contain the subject, such as {subject}_*.txt",
    )

    def open_subjects(self, source: Source, written: str | None = None) -> Source:
        """Return the source with subjects from its file names, if a pattern is given.

        written : the pattern of a corpus, unless these options contain one.
        """
        if isinstance(source, FilesSource):
            pattern = self.subject_pattern or written
            return source if pattern is None else source.with_subjects(pattern)
        if self.subject_pattern is not None:
            raise RequestError(
                "only the names of files can give the subjects of texts",
                where=source.name,
                instead="name the column of subjects with --subject",
            )
        return source

    def roles_of(self, source: Source, given: Roles | None = None) -> Roles:
        """Return the roles of a source's columns from these options, or else the given roles.

        Raises
        ------
        RequestError : there are no roles, both kinds are given, or a column does not exist.
        """
        if not self.text:
            if given is None:
                raise RequestError(
                    "the column of the text is not given",
                    where=source.name,
                    instead="name its column of text with --text, or give --roles",
                )
            subject = self.subject
            if given.subject is None and self.subject_pattern is not None:
                subject = subject or OWN_SUBJECT
            return given if subject is None else given.corrected({}, subject=subject)
        if given is not None:
            raise RequestError("--roles and --text both say what columns are", instead="give one")
        return text_roles(source, self.text, self.spans, self.subject)


class AnyColumns(TextColumns):
    """Options for the columns of any source, including sources other than the fitted one."""

    roles: DescribedPlace | None = Field(
        None, description="roles file of the source, if its roles differ from the fit's"
    )

    def roles_beside(self, source: Source, fitted: Roles) -> Roles:
        """Return the roles of a source from these options, or else from the fit or a corpus."""
        if self.roles is not None:
            given: Any = self.roles
            read = Roles.parse(given).completed(source.columns, "drop")
            return self.roles_of(source, read)
        if self.text:
            own = text_roles(source, self.text, self.spans, self._subject_in(source, fitted))
        elif not isinstance(source, FilesSource):
            _check_texts(source, fitted)
            return self.roles_of(source, fitted)
        elif source.columns.keys() <= fitted.columns.keys():
            return self.roles_of(source, fitted)
        else:
            own = text_roles(source, ("text",), self.spans, self.subject)
        return _with_parts_of_speech(own, source, fitted)

    def _subject_in(self, source: Source, fitted: Roles) -> str | None:
        """Return the column of subjects: the given one, or else the fit's if it exists here."""
        here = fitted.subject if fitted.subject in source.columns else None
        return self.subject or here


def text_roles(
    source: Source, texts: Sequence[str], spans: Sequence[str] = (), subject: str | None = None
) -> Roles:
    """Return roles for text columns, their annotations and their subject; others are dropped.

    Without `spans`, a column with the name `SPANS` contains the annotations of a single text
    column. A corpus has its subjects in a separate column.
    """
    if not spans and len(texts) == 1 and SPANS in source.columns.keys() - set(texts):
        spans = (SPANS,)
    if isinstance(source, FilesSource):
        subject = subject or OWN_SUBJECT
    if spans and len(spans) != len(texts):
        raise RequestError(
            f"--spans is given {len(spans)} times, and --text {len(texts)}",
            instead="give the annotations of each text, or a roles file",
        )
    for name in filter(None, (*texts, *spans, subject)):
        if name not in source.columns:
            raise RequestError(
                f"there is no column {name}",
                where=source.name,
                instead=nearest(name, source.columns),
            )
    named: dict[str, Any] = {name: {"role": "text"} for name in texts}
    for text, marks in zip(texts, spans, strict=False):
        named[text][SPANS] = marks
        named[marks] = "label"
    return Roles.parse({"subject": subject, "columns": named}).completed(source.columns, "drop")


def find_text_column(source: Source) -> tuple[str, ...]:
    """Return the text column by its usual name.

    Raises
    ------
    RequestError : there is no such column, or more than one.
    """
    strings = [name for name, kind in source.columns.items() if str(kind) == "string"]
    named = [name for name in strings if name.lower() in TEXT_COLUMNS]
    if len(named) != 1:
        raise RequestError(
            "the column of the text is not given",
            where=source.name,
            instead="name it with --text",
        )
    return (named[0],)


def _check_texts(source: Source, fitted: Roles) -> None:
    """Raise an error if a table lacks the text columns of the fit."""
    absent = [name for name in fitted.of("text") if name not in source.columns]
    if not absent:
        return
    foreign = source.columns.keys().isdisjoint(fitted.columns)
    raise RequestError(
        f"has none of the {len(fitted.columns)} columns of the roles that it is read by"
        if foreign
        else f"there is no column {absent[0]}",
        where=source.name,
        instead="name its column of text with --text, or give --roles",
    )


def _with_parts_of_speech(roles: Roles, source: Source, fitted: Roles) -> Roles:
    """Add the column of parts of speech if the kit learned from it and the source contains it."""
    learnt = [fitted.columns[name].settings.get("pos") for name in fitted.of("text")]
    here = [name for name in learnt if name in source.columns]
    texts = roles.of("text")
    if not here or len(texts) != 1:
        return roles
    settings = roles.columns[texts[0]].settings
    return roles.corrected({texts[0]: {"role": "text", **settings, "pos": here[0]}})
