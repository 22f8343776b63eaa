"""Determine whether a fit gives a guarantee per person, for all rows, and grow its trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.data import Source
from voile.data.roles import Roles
from voile.data.source import identifier
from voile.engines.duck import connect
from voile.report.wording import join_names
from voile.tables.fitting.forests import ground_of, loss_weight_of, refuse_trees
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.forest import PolicyForest, grow_forest
from voile.tables.fitting.trees.record_grounds import record_grounds
from voile.tables.people.records import PersonRows
from voile.tables.recoding.plan import find_pseudonym_column
from voile.tables.verbs.options import FitOptions
from voile.tables.verbs.person_records import ROWS_ALONE
from voile.tables.verbs.promises import least_people

ROW_BY_ROW = (
    "some people have several rows: with {}, the constraints hold per row (apply with "
    "--no-pseudonyms, or omit {} to protect a person's rows together)"
)
ABSENT = {
    "safe-harbor": "its risk is counted per row, and this fit promises per person",
    "global policies": "they promise per row, and this fit promises per person",
}
"""The reasons why policies with a guarantee per row are not on a frontier."""


class PromiseWarning(UserWarning):
    """Some people have several rows, so the fit counts people. `--promise row` counts rows."""


def _refer_to(names: Sequence[str]) -> str:
    return "this option" if len(names) == 1 else "these options"


def promises_per_person(source: Source, roles: Roles, options: FitOptions) -> bool:
    """Determine whether the constraints apply per person, given all of a person's rows.

    They do if somebody has several rows, pseudonyms join these rows, and no option needs a
    guarantee per row.

    Raises
    ------
    RequestError : the guarantee is requested without a subject, or with an option that it cannot
        support.
    """
    if options.promise == "row" or (roles.subject is None and options.promise is None):
        return False
    if roles.subject is None:
        raise RequestError(
            "a promise per person needs the column of the subject",
            where="roles",
            instead="name it as the subject, or take --promise row",
        )
    if options.promise is None and find_pseudonym_column(roles) is None:
        return False
    if alone := _needs_rows(source, roles, options):
        if options.promise is None:
            if source.origin.kind != "spark" and _several_rows(source, roles.subject):
                warn(ROW_BY_ROW.format(join_names(alone), _refer_to(alone)), PromiseWarning)
            return False
        raise RequestError(
            f"a promise per person does not go with {join_names(alone)}",
            instead="leave these out, or take --promise row",
        )
    if options.promise == "person":
        return True
    several = _several_rows(source, roles.subject)
    if several:
        warn(
            "some people have several rows, so the constraints hold for all rows of a person "
            "together (take --promise row for each row alone)",
            PromiseWarning,
        )
    return several


def _needs_rows(source: Source, roles: Roles, options: FitOptions) -> list[str]:
    """List the given options, weights or Spark source that only policies per row support."""
    plain = {name: field.default for name, field in FitOptions.model_fields.items()}
    given = [name for name in ROWS_ALONE if getattr(options, name) != plain[name]]
    found = [f"--{name.replace('_', '-')}" for name in given]
    found += ["--family global"] * (options.family == "global")
    found += ["a column of sampling weights"] * bool(roles.of("weight"))
    return found + ["a source on Spark"] * (source.origin.kind == "spark")


def _several_rows(source: Source, subject: str) -> bool:
    """Return whether some subject has several rows, in one pass over the column."""
    named = identifier(subject)
    with connect() as connection:
        source.tabulate(
            connection,
            f"SELECT {named} AS who, count(*) AS n FROM source WHERE {named} IS NOT NULL "
            f"GROUP BY {named} HAVING count(*) > 1",
            columns=[subject],
            answer=pa.schema([("who", source.columns[subject]), ("n", pa.int64())]),
            into="several",
        )
        return connection.execute("SELECT 1 FROM several LIMIT 1").fetchone() is not None


def grow_records(
    source: Source,
    roles: Roles,
    space: PolicySpace,
    sensitive: tuple[str, ...],
    progress: ProgressHook,
) -> tuple[PolicyForest, tuple[int, ...], float]:
    """Grow trees of people's records.

    Every row is read once more. Memory: O(rows x columns).

    Returns
    -------
    forest : the trees and their policies.
    numbers : the numbers of rows with which people are released.
    matches : the expected matches of the source.
    """
    refuse_trees(space)
    assert roles.subject is not None
    people = PersonRows.of(
        space.domains, roles.subject, _number_batches(source, space, roles), sensitive
    )
    rules = space.constraints
    least = least_people(rules.k, rules.max_risk)
    numbers = people.shared_numbers(least)
    if not numbers:
        raise InfeasibleError(
            f"no number of rows is shared by {least:,} people",
            instead="ask for less",
        )
    rows = ground_of(space)
    grounds = record_grounds(people, numbers, replace(rows, diversity=()))
    forest = grow_forest(
        grounds,
        loss_weight=loss_weight_of(space),
        progress=lambda grown, of_all: progress("growing trees", grown, of_all),
    )
    return forest, numbers, grounds[0].units.matches


def _number_batches(
    source: Source, space: PolicySpace, roles: Roles
) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
    first = 0
    columns = [*space.quasi, *roles.of("sensitive"), *filter(None, [roles.subject])]
    for batch in source.batches(dict.fromkeys(columns)):
        yield batch, np.arange(first, first + len(batch))
        first += len(batch)
