"""The Roles step: choose the role of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import ROLES
from voile.workbench.project_view import FieldError, Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    count,
    make_action,
    make_figure,
    make_next,
    make_note,
)
from voile.workbench.step_screens.readings import make_review, plan_review
from voile.workbench.step_screens.study import make_roles, plan_check, plan_roles
from voile.workbench.study_view import StudyView

NAME, TITLE = "roles", "Roles"
STUDY_LEDE = "voile proposed the parts of the study, and a role for each column of each part."
LEAVING = ("text", "quasi", "sensitive", "keep", "weight", "items", "label", "reading")


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether a person has reviewed the roles."""
    if not view.roles:
        return StepState(NAME, TITLE, "blocked", "", "Read the table first.")
    leaving = sum(role in LEAVING for role in view.roles.values())
    note = f"{count(leaving, 'column')} {'leaves' if leaving == 1 else 'leave'}"
    undecided = sum(role == "undecided" for role in view.roles.values())
    if undecided:
        return StepState(NAME, TITLE, "open", f"{undecided} undecided")
    seen = view.kit_facts or any(one.step == NAME for one in view.history.entries)
    return StepState(NAME, TITLE, "done" if seen else "open", note)


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return each column with its proposed role and its present role."""
    if why := find_state(view).why:
        return {"title": "What is each column?", "lede": why, "blocks": []}
    blocks: list[dict[str, Any]] = []
    if isinstance(view, StudyView):
        blocks = [*make_roles(view)]
        if view.notes:
            blocks.append(make_review(view))
        blocks.append(make_next("adversary", "Next: who is the adversary"))
        return {"title": "What is each column?", "lede": STUDY_LEDE, "blocks": blocks}
    proposed = _proposals(view)
    leaving = [name for name, role in view.roles.items() if role in LEAVING]
    changed = [n for n, role in view.roles.items() if proposed.get(n, {}).get("role") != role]
    known = [name for name, role in view.roles.items() if role in ("quasi", "items", "known")]
    blocks.append(
        {
            "block": "figures",
            "figures": [
                make_figure(
                    "Leave the building",
                    str(len(leaving)),
                    f"of {len(view.roles)} columns",
                    ", ".join(leaving),
                ),
                make_figure("Others may know", str(len(known)), "", ", ".join(known)),
                make_figure("Differ from the proposal", str(len(changed)), "", ", ".join(changed)),
            ],
        }
    )
    rows = [
        {
            "name": name,
            "role": role,
            "proposed": proposed.get(name, {}).get("role", ""),
            "why": proposed.get(name, {}).get("why", ""),
        }
        for name, role in view.roles.items()
    ]
    choices = {**{role: list(words) for role, words in view.kind.roles.items()}}
    for role in {one["role"] for one in rows} - choices.keys():
        choices[role] = [role, "decide it first" if role == "undecided" else ""]
    actions = [make_action("roles.save", "Save these roles")]
    blocks.append({"block": "roles", "rows": rows, "choices": choices, "actions": actions})
    if view.kit_problem.startswith("The roles"):
        blocks.append(make_note("The kit was fitted with other roles. Find the policies again."))
    if view.kind.has_notes:
        blocks.append(make_review(view))
    blocks.append(make_next("adversary", "Next: who is the adversary"))
    lede = (
        f"voile proposed a role for each of {len(view.roles)} columns from names and values. "
        "A column that leaves as it is can undo the protection of the others."
    )
    return {"title": "What is each column?", "lede": lede, "blocks": blocks}


def _plan_save(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that writes the chosen roles."""
    if isinstance(view, StudyView):
        return plan_roles(view, form)
    given = form.get("roles", {})
    chosen = {name: str(role) for name, role in given.items()} if isinstance(given, dict) else {}
    for name, role in chosen.items():
        if name not in view.roles or role not in (*view.kind.roles, view.roles[name]):
            raise FieldError(name, "there is no such role", instead="choose another one")
    changes = [f"{name}={role}" for name, role in chosen.items() if role != view.roles[name]]
    words = ["roles", ROLES, *(word for one in changes for word in ("--set", one))]
    return (VerbCall(tuple(words), ROLES),) if changes else ()


def _proposals(view: ProjectView) -> dict[str, Any]:
    """Return the present proposal of `voile inspect`."""
    if not view.source_hash:
        return {}
    answer = view.reader.read_verb(["inspect", view.source, *view.kind_words], [view.source])
    return dict(answer["columns"])


def _plan_check(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that checks the plan of a study."""
    if not isinstance(view, StudyView):
        raise FieldError("roles.check", "there is no plan", instead="read a study's folder first")
    return plan_check(view, form)


ACTS = {"save": _plan_save, "review": plan_review, "check": _plan_check}
