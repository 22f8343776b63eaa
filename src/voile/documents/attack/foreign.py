"""The adversary's own annotated corpus, from a file of any format or a frame."""

from __future__ import annotations

from typing import Any

from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import only_annotated
from voile.documents.text.source import split_format


def read_foreign(given: Any) -> Corpus:
    """Read the adversary's own corpus from a file or a frame.

    A path may name its format, as in "conll:notes.txt". A frame has the columns of a corpus: text,
    spans and optionally subject.
    """
    if isinstance(given, str):
        name, (place, format) = given, split_format(given)
        read = Corpus.read(place, format)
    else:
        source = open_source(given)
        name, read = source.name, Corpus.from_source(source, _roles_of(source))
    corpus = Corpus(only_annotated(read))
    if not corpus.labels:
        raise RequestError("no identifier is marked in the foreign corpus", where=name)
    return corpus


def _roles_of(source: Source) -> Roles:
    for column in ("text", "spans"):
        if column not in source.columns:
            raise RequestError(
                f"a foreign corpus has no column {column}",
                where=source.name,
                instead=nearest(column, source.columns),
            )
    columns = {"text": {"role": "text", "spans": "spans"}, "spans": "label"}
    subject = "subject" if "subject" in source.columns else None
    given = {"columns": columns, **({"subject": subject} if subject else {})}
    return Roles.parse(given).completed(source.columns, "drop")
