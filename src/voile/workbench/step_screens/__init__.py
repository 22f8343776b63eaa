"""The screens of the eight steps, built from verb results and the project's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from voile.workbench.planned_commands import Move
from voile.workbench.project_view import Form, ProjectView, StepState
from voile.workbench.step_screens import (
    adversary,
    again,
    attack,
    data,
    decide,
    frontier,
    release,
    roles,
)

_MODULES = (data, roles, adversary, frontier, release, attack, decide, again)
SCREENS: Mapping[str, Callable[[ProjectView], dict[str, Any]]] = {
    one.NAME: one.build_screen for one in _MODULES
}
ACTS: Mapping[str, Callable[[ProjectView, Form], Sequence[Move]]] = {
    f"{one.NAME}.{name}": plan for one in _MODULES for name, plan in one.ACTS.items()
}


def find_states(view: ProjectView) -> list[StepState]:
    """Return the state of each step, in order."""
    return [one.find_state(view) for one in _MODULES]
