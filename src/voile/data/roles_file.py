"""Correct a roles file in place, and keep its comments."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, nearest
from voile.data.files.atomic import write_text
from voile.data.files.outputs import ROLES
from voile.data.roles import Roles

BY_HAND = "set by hand"


def correct_roles_file(path: Path, changes: Iterable[str], *, subject: str | None = None) -> Roles:
    """Write roles and settings of columns to a roles file, and return the roles.

    Parameters
    ----------
    path : a roles file, which is replaced in one step. The comments of other columns stay.
    changes : ``COLUMN=ROLE`` or ``COLUMN=ROLE,SETTING=VALUE,...``, with values in TOML.
    subject : the subject column, "" for none, None for the file's.

    Raises
    ------
    RequestError : the file is not a roles file, it has no such column, or the roles contradict each
        other. Nothing is written then.
    """
    import tomlkit

    known = Roles.read(path)
    raw = path.read_bytes()
    document: Any = tomlkit.parse(raw.decode("utf-8-sig"))
    columns = document["columns"]
    for change in changes:
        name, said = _split_change(change, known.columns)
        columns[name] = said
        columns[name].comment(BY_HAND)
    if subject is None:
        text = tomlkit.dumps(document)
    else:
        text = _with_subject(document, subject, known.columns)
    roles = Roles.parse(tomllib.loads(text))
    write_text(path, text, ROLES, force=True)
    return roles


def _split_change(change: str, columns: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the column of a change, and its item in the format of the file."""
    import tomlkit

    named = [name for name in columns if change.startswith(f"{name}=")]
    if not named:
        column = change.partition("=")[0]
        remedy = nearest(column, columns) if "=" in change else "write COLUMN=ROLE"
        raise RequestError(f"the file has no column {column}", where="--set", instead=remedy)
    name = max(named, key=len)
    role, *settings = change.removeprefix(f"{name}=").split(",")
    if not settings:
        return name, tomlkit.item(role.strip())
    table = tomlkit.inline_table()
    table["role"] = role.strip()
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not key or not equals:
            raise RequestError(
                f"{setting.strip()} is not a setting", where="--set", instead="write SETTING=VALUE"
            )
        table[key] = _value_of(value)
    return name, table


def _value_of(text: str) -> Any:
    """Return a value parsed as TOML, or the text itself if it has no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _with_subject(document: Any, subject: str, columns: Mapping[str, Any]) -> str:
    """Return the text of the file with another subject column, or with none."""
    import tomlkit

    if subject and subject not in columns:
        raise RequestError(
            f"the file has no column {subject}",
            where="--subject",
            instead=nearest(subject, columns),
        )
    is_first = bool(subject) and "subject" not in document
    if subject and not is_first:
        document["subject"] = subject
    elif not subject:
        document.pop("subject", None)
    return tomlkit.dumps({"subject": subject}) * is_first + tomlkit.dumps(document)
