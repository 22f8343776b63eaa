"""The lookup tables of notes: their fields, and the options that they add to commands."""

from __future__ import annotations

from typing import Any

from voile.workbench.project_file import LookupTables
from voile.workbench.project_view import FieldError, Form, ProjectView
from voile.workbench.step_screens.blocks import make_field, make_group, read_path, read_text

HINT = "voile looks for these values in the notes. Without tables it finds fewer identifiers."


def make_lookup_group(view: ProjectView) -> dict[str, Any]:
    """Return the group of fields for lookup tables."""
    one = view.project.lookups
    numbers = [name for name, role in view.roles.items() if role == "identifier"]
    subject = one.subject or next(iter(numbers), "")
    people = "Names that any note may mention, such as staff."
    fields = [
        make_field(
            "subject",
            "Column of the person in the notes",
            subject,
            hint="Empty: one person per note.",
        ),
        make_field("known", "Table of the people", one.known, hint="Names, dates, numbers."),
        make_field("by", "Column of the person in that table", one.by, hint="Empty: the same."),
        make_field("people", "Table of other names", one.people, hint=people),
    ]
    return make_group("Lookup tables", fields, HINT)


def read_lookups(view: ProjectView, form: Form) -> LookupTables:
    """Return the lookup tables of a form.

    Raises
    ------
    FieldError : a file is absent, the notes have no such column, or a table lacks its column.
    """
    subject, by = read_text(form, "subject"), read_text(form, "by")
    if subject and subject not in view.roles:
        raise FieldError("subject", f"the notes have no column {subject}", instead="correct it")
    known = read_path(view, form, "known")
    if known and not (subject or by):
        raise FieldError("subject", "the table needs the person's column", instead="name it")
    return LookupTables(subject=subject, known=known, by=by, people=read_path(view, form, "people"))


def list_known_words(one: LookupTables) -> list[str]:
    """Return the options of `init` and `attack` for the lookup tables."""
    words = ["--known", one.known, "--by", one.by or one.subject] if one.known else []
    return words + (["--known-people", one.people] if one.people else [])


def list_fit_words(view: ProjectView, one: LookupTables) -> list[str]:
    """Return the words of `fit` if the notes have marks, otherwise of `init` with lookup tables."""
    is_marked = "label" in view.roles.values()
    subject = ["--subject", one.subject] if one.subject else []
    verb = "fit" if is_marked else "init"
    return [verb, *subject, *([] if is_marked else list_known_words(one))]
