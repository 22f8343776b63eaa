"""Read the known values of the tables in the options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.documents.model.start.known.columns import KINDS, columns_left_out
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.options import KnownTables


def read_known(
    options: KnownTables,
    opened: Callable[[Any], Source] = open_source,
    say: Callable[[str], None] = lambda said: None,
) -> KnownValues | None:
    """Return the values of the tables; None if no table is given. `say` reports skipped columns.

    Raises
    ------
    RequestError : a table or a column does not exist, or --by is given without --known.
    """
    if not options.known and not options.known_people:
        if options.by is not None:
            raise RequestError(
                "--by says whose a row of --known is",
                instead="give --known FILE, or name the notes' own column with --subject",
            )
        return None
    patients, people = (
        [opened(one) for one in own] for own in (options.known, options.known_people)
    )
    said = options.kinds()
    known = KnownValues.read(patients, options.by, people=people, kinds=said)
    for source, by in [*((one, options.by) for one in patients), *((one, None) for one in people)]:
        if left := columns_left_out(source, by, said):
            say(
                f"{source.name}: not looked for in the notes: {', '.join(left)}; take a column "
                f"with --known-kind COLUMN=KIND, of {', '.join(KINDS)}"
            )
    return known
