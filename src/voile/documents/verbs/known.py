"""The known values of a kit, and of tables about new people."""

from __future__ import annotations

from voile.core.errors import RequestError
from voile.data import open_source
from voile.documents.model.content import DocumentsContent
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.options import ApplyOptions


def find_known(content: DocumentsContent, options: ApplyOptions) -> KnownValues | None:
    """Return the kit's known values, together with those of given tables about new people.

    Raises
    ------
    RequestError : a table, a column or its link to the notes is missing.
    """
    if options.known is None and options.known_people is None:
        if options.by is not None:
            raise RequestError("--by says whose a row of --known is", instead="give --known FILE")
        return None if content.known is None else KnownValues.from_table(content.known)
    if content.known is None:
        raise RequestError(
            "the kit has no known columns, and did not learn which names are words",
            where="--known",
            instead="make it with voile documents init --known",
        )
    patients, people = (
        None if one is None else open_source(one) for one in (options.known, options.known_people)
    )
    by = options.by or content.found.get("start", {}).get("by")
    more = KnownValues.read(patients, by, people=people)
    return KnownValues.from_table(content.known).join_values(more)
