"""The blocks of screens, and the values of their forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.workbench.project_view import Block, EmptyFieldsError, FieldError, Form, ProjectView

LONGEST = 4000
"""The largest number of characters of a field."""


def make_field(name: str, label: str, value: object = "", **more: Any) -> dict[str, Any]:
    """Return a field of a form.

    kind : text, number, area, select or file.
    hint : the explanation of the field's use.
    warn : a fault of the field's saved value.
    """
    return {"name": name, "label": label, "value": value, "kind": "text", **more}


def make_group(
    title: str, fields: Sequence[dict[str, Any]], hint: str = "", *, layout: str = ""
) -> dict[str, Any]:
    """Return fields under one heading. In the layout `lined`, each number begins a new line."""
    return {"title": title, "hint": hint, "fields": list(fields), "layout": layout}


def make_action(act: str, label: str, *, why: str = "", primary: bool = True) -> dict[str, Any]:
    """Return a button, which is disabled if there is a reason `why`."""
    return {"act": act, "label": label, "why": why, "primary": primary}


def make_form(groups: Sequence[dict[str, Any]], actions: Sequence[dict[str, Any]]) -> Block:
    """Return a form with its buttons."""
    return {"block": "form", "groups": list(groups), "actions": list(actions)}


def make_figure(label: str, big: str, of: str = "", below: str = "") -> dict[str, str]:
    """Return one headline figure."""
    return {"label": label, "big": big, "of": of, "below": below}


def make_note(text: str, tone: str = "") -> Block:
    """Return a sentence as a block; `tone` is empty, "warn" or "good"."""
    return {"block": "note", "text": text, "tone": tone}


def make_next(step: str, label: str, *, why: str = "") -> Block:
    """Return the button that opens a step."""
    return {"block": "next", "step": step, "label": label, "why": why}


def read_text(form: Form, name: str, what: str = "") -> str:
    """Return the text of a field.

    what : the description of a required field for error messages. Empty if the field is optional.

    Raises
    ------
    FieldError : the text is empty and required, begins with a hyphen, or is too long.
    """
    text = str(form.get(name, "")).strip()
    if what and not text:
        raise FieldError(name, f"{what} is empty", instead="fill it in")
    if text.startswith("-"):
        raise FieldError(name, "the text begins with a hyphen", instead="begin with another sign")
    if len(text) > LONGEST or "\x00" in text:
        raise FieldError(name, "the text is too long", instead=f"use {LONGEST:,} characters")
    return text


def check_filled(form: Form, required: Mapping[str, str]) -> None:
    """Raise an error that lists all empty fields of a form.

    Raises
    ------
    EmptyFieldsError : a required field is empty.
    """
    empty = {name: what for name, what in required.items() if not read_text(form, name)}
    if empty:
        raise EmptyFieldsError(empty)


def read_number(form: Form, name: str, what: str, low: float, high: float) -> float:
    """Return the number in a field.

    Raises
    ------
    FieldError : the text is not a number from `low` to `high`.
    """
    text = read_text(form, name, what).replace(",", "")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise FieldError(name, f"{what} is no number from {low:g} to {high:g}", instead="change it")
    return value


def read_path(view: ProjectView, form: Form, name: str) -> str:
    """Return the path of an existing file, or an empty text if the field is empty.

    Raises
    ------
    FieldError : the file does not exist.
    """
    given = read_text(form, name)
    if given and not (view.folder.path / given).is_file():
        raise FieldError(name, f"there is no file {given}", instead="correct the path")
    return given


def count(n: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
