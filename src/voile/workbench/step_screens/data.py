"""The Data step: choose the table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voile.workbench.planned_commands import FileWrite, Move, VerbCall
from voile.workbench.project_file import SourceFile
from voile.workbench.project_folder import PROJECT, ROLES
from voile.workbench.project_kinds import KINDS
from voile.workbench.project_view import FieldError, Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    count,
    make_action,
    make_field,
    make_figure,
    make_form,
    make_group,
    make_next,
    make_note,
    read_path,
    read_text,
)
from voile.workbench.step_screens.study import plan_init
from voile.workbench.study_view import StudyView

NAME, TITLE = "data", "Data"


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether the present table was read."""
    if not view.source:
        return StepState(NAME, TITLE, "open", "choose a table")
    if view.has_changed_source:
        is_gone = not view.source_hash
        why = f"{view.source_name} {'is gone' if is_gone else 'changed since voile read it'}."
        return StepState(NAME, TITLE, "stale", view.source_name, why)
    if not view.roles:
        return StepState(NAME, TITLE, "open", view.source_name)
    note = f"{view.source_name}, {count(len(view.roles), 'column')}"
    return StepState(NAME, TITLE, "done", note)


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the table, its columns and the form for another table."""
    blocks: list[dict[str, Any]] = []
    place = view.folder.path / view.source
    if view.source_hash:
        first = view.folder.read_text(ROLES).partition("\n")[0].lstrip("# ")
        blocks.append(
            {
                "block": "figures",
                "figures": [
                    make_figure(
                        "Parts" if isinstance(view, StudyView) else "Table",
                        view.source_name,
                        "",
                        ", ".join(view.parts) if isinstance(view, StudyView) else _size(place),
                    ),
                    make_figure("Columns", str(len(view.roles)) if view.roles else "–"),
                    make_figure("Rows read", _rows(first), "", "for the proposal of roles"),
                ],
            }
        )
    if why := find_state(view).why:
        fix = "Read it again, or keep the roles."
        if not view.source_hash:
            fix = "Put it back, or enter another path."
        blocks.append(make_note(f"{why} {fix}", "warn"))
    path = make_field(
        "path",
        "Path of the table",
        view.source,
        hint="a table on this machine, or the folder of a study",
    )
    options = [[name, one.label] for name, one in KINDS.items()]
    kind = make_field("kind", "Kind of data", view.project.kind, kind="select", options=options)
    label = "Read the table again" if view.roles else "Read the table"
    hint = "A new proposal replaces the roles. Undo restores them." if view.roles else ""
    actions = [make_action("data.inspect", label, primary=not view.roles)]
    if view.has_changed_source and view.source_hash:
        actions.append(make_action("data.accept", "Keep the roles", primary=False))
    fields = [path, kind, *_study_fields(view)]
    blocks.append(make_form([make_group("Table", fields, hint)], actions))
    why = "" if view.roles else "Read the table first."
    blocks.append(make_next("roles", "Next: roles", why=why))
    lede = "The file stays in its place. voile reads it on this machine and uploads nothing."
    return {"title": "Which table?", "lede": lede, "blocks": blocks}


def _study_fields(view: ProjectView) -> list[dict[str, Any]]:
    if not view.kind.is_study:
        return []
    known = view.project.fit.population
    hint = "People by the columns that others may know. Without it, only the study's people count."
    return [make_field("population", "Population table", known, hint=hint)]


def _plan_inspect(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the commands that read the table and propose the roles of its columns."""
    given = read_text(form, "path", "the path")
    path = os.path.expanduser(given)
    place = view.folder.path / path
    kind = str(form.get("kind", view.project.kind))
    if kind not in KINDS:
        raise FieldError("kind", "there is no such kind of data", instead="choose another one")
    is_there = place.is_dir() if KINDS[kind].is_study else place.is_file()
    if not is_there:
        what = "folder" if KINDS[kind].is_study else "file"
        raise FieldError("path", f"there is no {what} {given}", instead="correct the path")
    relative = os.path.relpath(place, view.folder.path)
    source = SourceFile(path=relative, sha256=view.folder.find_hash(relative))
    project = view.project.model_copy(update={"source": source, "kind": kind})
    if KINDS[kind].is_study:
        population = read_path(view, form, "population")
        limits = project.fit.model_copy(update={"population": population})
        project = project.model_copy(update={"fit": limits})
        return (FileWrite(PROJECT, project.to_toml()), plan_init(relative, population))
    force = ("--force",) if view.roles else ()
    of_kind = () if kind == "tables" else ("--kind", kind)
    words = ("inspect", relative, *of_kind, "--out", ROLES, *force)
    return (FileWrite(PROJECT, project.to_toml()), VerbCall(words, ROLES))


def _plan_accept(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that accepts the changed table and keeps the roles."""
    source = SourceFile(path=view.source, sha256=view.source_hash)
    project = view.project.model_copy(update={"source": source})
    return (FileWrite(PROJECT, project.to_toml()),)


def _size(place: Path) -> str:
    size = place.stat().st_size
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"


def _rows(first: str) -> str:
    words = first.split()
    return words[words.index("rows") - 1] if "rows" in words[1:] else "–"


ACTS = {"inspect": _plan_inspect, "accept": _plan_accept}
