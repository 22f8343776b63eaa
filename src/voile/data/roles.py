"""The role of each column of a source, and the file that lists the roles."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, name_kind, nearest
from voile.core.mistakes import mistakes
from voile.data.files.own_files import read_toml

Role = Literal[
    "quasi",
    "sensitive",
    "identifier",
    "text",
    "items",
    "reading",
    "private",
    "known",
    "weight",
    "label",
    "keep",
    "drop",
    "undecided",
]


OWN: tuple[Role, ...] = ("quasi", "text", "items", "reading", "private", "known", "weight")
"""The roles that only one kind of data has."""
AS_IT_IS: tuple[Role, ...] = ("sensitive", "label", "keep")
"""Roles of columns that tables, itemsets and signals release unchanged."""
FEW = 3  # columns that a message lists separately


class ColumnRole(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    role: Role

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"role": data} if isinstance(data, str) else data

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the column in the file, without its role."""
        return dict(self.model_extra or {})


class Roles(BaseModel):
    """The role of every column, and the subject column.

    Rows with the same value of `subject` belong to one person. Without it, every row is a person.

    >>> Roles.model_validate({"columns": {"age": "quasi", "name": "identifier"}}).of("quasi")
    ['age']
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str | None = None
    columns: dict[str, ColumnRole] = Field(min_length=1)
    _folder: Path | None = PrivateAttr(default=None)

    def __repr__(self) -> str:
        lines: dict[str, list[str]] = {} if self.subject is None else {"subject": [self.subject]}
        for name, column in self.columns.items():
            lines.setdefault(column.role, []).append(name)
        return "\n".join(f"{said + ':':<12} {', '.join(names)}" for said, names in lines.items())

    __str__ = __repr__

    def of(self, *roles: Role) -> list[str]:
        """Return the columns with one of these roles, in the order of the file."""
        return [name for name, column in self.columns.items() if column.role in roles]

    def settings_of(self, column: str, paths: Iterable[str] = ()) -> dict[str, Any]:
        """Return the settings of a column.

        The files in the settings `paths` are next to the roles file.

        A dot separates a table from a setting in it: ``order.near``.
        """
        settings = copy.deepcopy(self.columns[column].settings)
        for name in paths:
            table, _, key = name.rpartition(".")
            holder = settings.get(table) if table else settings
            if isinstance(holder, dict) and isinstance(holder.get(key), str) and self._folder:
                beside = self._folder / holder[key]
                holder[key] = str(beside) if beside.is_file() else holder[key]
        return settings

    @check_arguments
    def corrected(self, columns: Mapping[str, Any], *, subject: str | None = None) -> Roles:
        """Return the roles with changes for some columns, and with another subject if given.

        >>> Roles.parse({"age": "keep"}).corrected({"age": "quasi"}).of("quasi")
        ['age']
        """
        columns = _by_text(columns)
        named = dict.fromkeys([*columns, *([subject] if subject else [])])
        if unknown := [name for name in named if name not in self.columns]:
            raise RequestError("; ".join(_list_absent(unknown, self.columns)), where="roles")
        known = {"subject": subject or self.subject, "columns": {**self.columns, **columns}}
        roles = Roles._validate_data(known, "roles")
        roles._folder = self._folder
        return roles

    def completed(self, present: Iterable[str], others: Literal["drop"] | None) -> Roles:
        """Return the same roles, with the role `others` for all other columns of `present`."""
        if others is None:
            return self
        more = {name: ColumnRole(role=others) for name in present if name not in self.columns}
        whole = self.model_copy(update={"columns": {**self.columns, **more}})
        whole._folder = self._folder
        return whole

    def check(self, present: Iterable[str] | Mapping[str, Any], *own: Role) -> None:
        """Raise RequestError if the source has other columns than the file.

        All mistakes are listed.

        A column without a role is an error, because a kept column can undo the protection of the
        others. So is a column with the role `undecided`, which inspect proposes if it cannot
        decide. If no column fits, the message does not quote the source's names, because its first
        row may be data. The message offers the roles of every kind of data, and `own` of the
        requested one.

        present : the columns, or their Arrow types by name. With types, structs and maps are errors
            too.
        """
        if not isinstance(present, Mapping):
            present = list(present)
        if present and not self.columns.keys() & set(present):
            raise RequestError(  # the first row may contain personal data
                f"the source has none of the {len(self.columns)} columns in the roles",
                where="roles",
                instead="check that its first row contains its column names, or inspect it again",
            )
        without = _each_or_all(
            [n for n in present if n not in self.columns], "has", "have", "no role"
        )
        gone = [name for name in self.columns if name not in present]
        absent = _list_absent(gone, present)
        if self.subject is not None and self.subject not in present:
            near = nearest(self.subject, present)
            absent.append(f"there is no subject column {self.subject} ({near})")
        undecided = _each_or_all(self.of("undecided"), "is", "are", "undecided")
        wrong = [*without, *undecided, *absent]
        if wrong:
            remedy = f"a role is one of {_role_names(own or OWN)}" if without or undecided else None
            if without:
                remedy = f"give each a role, or fit with --others drop; {remedy}"
            raise RequestError("; ".join(wrong), where="roles", instead=remedy)
        if isinstance(present, Mapping):
            self._check_types(present)

    def _check_types(self, types: Mapping[str, Any]) -> None:
        """Raise RequestError for structs and maps with a role that is read.

        Inspect does not examine their parts. A label may be a list of them, such as the spans of a
        text.
        """
        nested: dict[str, list[str]] = {}
        for name, kind in types.items():
            word, role = _find_nested(kind), self.columns[name].role
            if word is not None and role != "drop" and (role != "label" or word[:4] != "list"):
                nested.setdefault(word, []).append(name)
        if nested:
            said = [
                one
                for word, names in nested.items()
                for one in _each_or_all(names, "is a", "are of type", word)
            ]
            raise RequestError(
                "; ".join(said), where="roles", instead="select its parts in a view, or drop it"
            )

    @classmethod
    def parse(cls, given: object) -> Roles:
        """Return roles from roles, a file, or a dictionary with the contents of a file.

        >>> Roles.parse({"age": "quasi", "ward": {"role": "keep"}}).of("keep")
        ['ward']
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str | os.PathLike):
            return cls.read(Path(given))
        if not isinstance(given, Mapping):
            raise RequestError(
                "none are given" if given is None else f"{name_kind(given)} says no roles",
                where="roles",
                instead="give a dictionary of columns, a roles file, or the roles from inspect",
            )
        inner = given.get("columns")
        whole = isinstance(inner, Mapping) and "role" not in inner
        return cls._validate_data(given if whole else {"columns": dict(given)}, "roles")

    @classmethod
    def _validate_data(cls, data: Mapping[str, Any], where: str) -> Roles:
        for name, column in data["columns"].items():
            if column in ("subject", {"role": "subject"}):
                raise RequestError(
                    f"columns.{name} is at the wrong level: write the subject's column above "
                    "[columns]",
                    where=where,
                    instead=f'write subject = "{name}" above [columns], or in Python {{"subject": "'
                    f'{name}", "columns": {{...}}}}',
                )
        subject = data.get("subject")
        subject = str(subject) if isinstance(subject, int) else subject
        try:
            return cls.model_validate(
                {**data, "subject": subject, "columns": _by_text(data["columns"])}
            )
        except ValidationError as error:
            raise RequestError(mistakes(error), where=where) from None

    @classmethod
    def read(cls, path: Path) -> Roles:
        """Read a roles file (TOML). The error lists every mistake with its position."""
        try:
            data = read_toml(path)
        except FileNotFoundError:
            raise RequestError(
                "the roles file does not exist",
                where=str(path),
                instead=f"write one with: voile inspect SOURCE --out {path.name}",
            ) from None
        if not isinstance(data.get("columns"), dict):
            raise RequestError(
                "the file lacks the section [columns]",
                where=str(path),
                instead="list each column and its role below a line [columns]",
            )
        roles = cls._validate_data(data, str(path))
        roles._folder = path.parent
        return roles


def _by_text(columns: Mapping[Any, Any]) -> dict[Any, Any]:
    """Convert column names to text, because the names of a frame may be integers."""
    return {str(name) if isinstance(name, int) else name: one for name, one in columns.items()}


def _each_or_all(names: Sequence[str], one: str, several: str, what: str) -> list[str]:
    """Return messages on the same fault of one column, or of several columns at once."""
    if len(names) > 1:
        return [f"columns {', '.join(names)} {several} {what}"]
    return [f"column {name} {one} {what}" for name in names]


def _list_absent(names: Sequence[str], present: Collection[str]) -> list[str]:
    """Return messages on absent columns, grouped by the present columns with the nearest names."""
    if len(names) > FEW:
        return [f"there are no columns {', '.join(names)}"]
    by_hint: dict[str, list[str]] = {}
    for name in names:
        by_hint.setdefault(nearest(name, present), []).append(name)
    return [
        f"there {'is no column' if len(own) == 1 else 'are no columns'} {', '.join(own)} ({hint})"
        for hint, own in by_hint.items()
    ]


def _find_nested(kind: Any) -> str | None:
    """Return a description of a type with named parts (struct, map, or lists of them), or None.

    >>> import pyarrow as pa
    >>> _find_nested(pa.list_(pa.list_(pa.struct({"name": pa.string()}))))
    'list of structs'
    >>> _find_nested(pa.list_(pa.string()))
    """
    from pyarrow import types

    inner = kind
    while "list" in str(inner).partition("<")[0]:  # large, of a fixed size, a view
        inner = inner.value_type
    part = "map" if types.is_map(inner) else "struct" if types.is_struct(inner) else None
    return f"list of {part}s" if part and inner is not kind else part


def _role_names(own: Sequence[Role]) -> str:
    left_out = {"undecided", *OWN} - {*own}
    return ", ".join(role for role in get_args(Role) if role not in left_out)
