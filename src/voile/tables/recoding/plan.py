"""Plan the output of each column of a source, before the first row is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data.roles import AS_IT_IS, Role, Roles
from voile.keys.date_rule import DateRule
from voile.keys.pseudonyms import pseudonyms_of, without_subject
from voile.keys.secret import Secret
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.settings import KeptSettings
from voile.tables.policies.family import KitPolicy
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.published_boxes import PublishedBoxes
from voile.tables.recoding.recoder import RecodedBatch

ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"
Made = tuple[pa.Array, NDArray[np.bool_] | None]
Make = Callable[[pa.RecordBatch, RecodedBatch], Made]


@dataclass(frozen=True)
class ColumnOutput:
    """The columns of the release that one source column becomes.

    Attributes
    ----------
    source : the source's column.
    role : its role. The role of a pseudonym is ``identifier``.
    fields : the release's fields.
    what : a description for the codebook.
    make : a function that returns an array for a batch, and a mask of rows that it cannot convert,
        if any. For a quasi-identifier, the array contains interval numbers, since intervals are
        named only after the last row.
    """

    source: str
    role: Role
    fields: tuple[pa.Field, ...]
    what: str
    make: Make

    @property
    def unfinished_field(self) -> pa.Field:
        """Return the field of the array from `make`."""
        return pa.field(self.source, pa.int32()) if self.role == "quasi" else self.fields[0]

    def write_cells(
        self, array: pa.Array, published: PublishedPolicy | PublishedBoxes
    ) -> list[pa.Array]:
        if self.role != "quasi":
            return [array]
        return published.write_cells(self.source, array.to_numpy())


def plan(
    policy: KitPolicy,
    roles: Roles,
    types: Mapping[str, pa.DataType],
    *,
    bounds: bool,
    secret: Secret | None,
    pseudonyms: bool = True,
    purpose: str = "subject",
) -> tuple[ColumnOutput, ...]:
    """Plan the output of each column, in the source's order.

    Identifiers, free text and dropped columns never appear.

    Raises
    ------
    RequestError : two columns of the release have one name, or the settings of a column are
        impossible.
    """
    outputs = []
    domains = {domain.column: domain for domain in policy.domains}
    if roles.subject is not None and secret is not None:
        _check_subject(roles.subject, types[roles.subject])
    named = secret if pseudonyms and find_pseudonym_column(roles) else None
    for name, type_ in types.items():
        role = roles.columns[name].role
        if role == "quasi":
            outputs.append(_quasi(policy, domains[name], bounds=bounds))
        elif name == roles.subject:
            outputs += [_pseudonym(name, named, purpose)] if named is not None else []
        elif role in AS_IT_IS:
            rule = KeptSettings.check_settings(name, roles.columns[name].settings).date_rule
            if rule is None:
                outputs.append(_kept_output(name, role, type_))
            else:
                outputs.append(_shift_dates(name, role, type_, roles.subject, secret, rule))
    names = [field.name for output in outputs for field in output.fields]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RequestError(f"two columns of the release would be called {twice[0]}")
    return tuple(outputs)


def find_pseudonym_column(roles: Roles) -> str | None:
    """Return the column that pseudonyms replace: the subject's, unless it is dropped."""
    subject = roles.subject
    hidden = subject is None or roles.columns[subject].role in ("quasi", "drop")
    return None if hidden else subject


def _check_subject(name: str, type_: pa.DataType) -> None:
    if not (pa.types.is_integer(type_) or pa.types.is_string(type_)):
        raise RequestError(
            f"the subject is {type_}",
            where=f"column {name}",
            instead="make it text or whole numbers",
        )


def _kept_output(name: str, role: Role, type_: pa.DataType) -> ColumnOutput:
    return ColumnOutput(
        name,
        role,
        (pa.field(name, type_),),
        "as in the source",
        lambda b, _: (b.column(name), None),
    )


def _quasi(policy: KitPolicy, domain: ValueDomain, *, bounds: bool) -> ColumnOutput:
    name = domain.column
    place = [d.column for d in policy.domains].index(name)
    fields = (pa.field(name, pa.dictionary(pa.int32(), pa.string())),)
    what = "generalised to intervals"
    if bounds:
        type_ = pa.int64() if domain.parser.kind == "integer" else pa.string()
        fields = tuple(pa.field(f"{name}_{end}", type_) for end in ("low", "high"))
        what += ", first and last value"
    return ColumnOutput(
        name, "quasi", fields, what, lambda _, r: (pa.array(r.intervals[:, place]), None)
    )


def _pseudonym(name: str, secret: Secret, purpose: str) -> ColumnOutput:
    def make(batch: pa.RecordBatch, _: RecodedBatch) -> Made:
        people = batch.column(name)
        nobody = _nobody(people)
        who = pc.if_else(pa.array(nobody), "nobody", people.cast("string"))
        names = pseudonyms_of(secret, who, purpose=purpose)
        return names, nobody

    field = pa.field(name, pa.string())
    return ColumnOutput(name, "identifier", (field,), "pseudonym, keyed by a secret", make)


def _shift_dates(
    name: str,
    role: Role,
    type_: pa.DataType,
    subject: str | None,
    secret: Secret | None,
    rule: DateRule,
) -> ColumnOutput:
    if subject is None or secret is None:
        raise RequestError(
            "a date shift needs a subject and a secret",
            where=f"column {name}",
            instead="name the subject in the roles file and set VOILE_SECRET or --key-file",
        )
    text = pa.types.is_string(type_)
    shifted = pa.date32() if text else type_

    def make(batch: pa.RecordBatch, _: RecodedBatch) -> Made:
        dates, people = batch.column(name), batch.column(subject)
        unreadable = np.zeros(len(batch), dtype=np.bool_)
        if text:
            dates, unreadable = _parse_dates(dates)
        nobody = _nobody(people)
        who = pc.if_else(pa.array(nobody), "nobody", people.cast("string"))
        moved = rule.move(secret, dates, who)
        lost = moved.set_aside.to_numpy(zero_copy_only=False)
        return moved.dates, lost | unreadable | nobody

    what = f"shifted by up to {rule.days} days, one shift a subject"
    what += ", in whole weeks" * rule.weeks + ", written by month" * rule.months
    return ColumnOutput(name, role, (pa.field(name, shifted),), what, make)


def _nobody(people: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(without_subject(people).to_numpy(zero_copy_only=False))


def _parse_dates(text: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return ISO dates, and a mask of the cells that are present but are not dates."""
    iso = pc.fill_null(pc.match_substring_regex(text, ISO_DATE), False)
    cells = zip(text.to_pylist(), iso.to_pylist(), strict=True)
    dates = pa.array([_date(cell) if is_iso else None for cell, is_iso in cells], pa.date32())
    lost = pc.and_(text.is_valid(), dates.is_null())
    return dates, np.asarray(lost.to_numpy(zero_copy_only=False))


def _date(cell: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(cell)
    except ValueError:
        return None
