"""The Again step: repeat the project next month."""

from __future__ import annotations

import shlex
from typing import Any

from voile.face.commands import format_command
from voile.workbench.history import SHELL
from voile.workbench.project_folder import KEY, POLICY
from voile.workbench.project_view import ProjectView, StepState
from voile.workbench.step_screens.blocks import make_note
from voile.workbench.step_screens.register import make_letter, make_register, plan_letter

NAME, TITLE = "again", "Again"


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether there is a release to repeat."""
    if view.manifest is None:
        return StepState(NAME, TITLE, "blocked", "", "Make the release first.")
    return StepState(NAME, TITLE, "open", "next month")


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the commands that repeat the project, and the commands for a ledger."""
    title = "Next month"
    if why := find_state(view).why:
        return {"title": title, "lede": why, "blocks": []}
    name = view.folder.path.name
    again = shlex.quote(f"../{name}-again")
    replay = [
        f"mkdir -p {again}/private && cd {again}",
        f"cp {shlex.quote(f'../{name}/{KEY}')} private/",
        *(["cp " + shlex.quote(f"../{name}/study.key") + " ."] if view.kind.is_study else []),
        f"sh {shlex.quote(f'../{name}/{SHELL}')}",
    ]
    blocks = [
        *make_register(view),
        make_letter(view),
        {
            "block": "commands",
            "title": "Make this project again",
            "text": "The history makes every file again, in an empty folder next to this one.",
            "commands": replay,
        },
        make_note("A second release of the same people adds risk to the first."),
    ]
    if view.kind.has_groups:
        text = "A ledger evaluates all releases together. In this folder:"
        title_of = "Release under a ledger"
        ledger = _list_commands(view)
        blocks.append({"block": "commands", "title": title_of, "text": text, "commands": ledger})
    lede = "The history of this project is a script. It repeats every step on the same table."
    return {"title": title, "lede": lede, "blocks": blocks}


def _list_commands(view: ProjectView) -> list[str]:
    """Return the commands that make the release under a new ledger."""
    ledger, key, kind = "releases.ledger", ("--key-file", KEY), view.project.kind
    after = ("--after", ledger, *key, "--out", POLICY, "--force")
    given = ("--policy", POLICY, "--ledger", ledger, *view.kind.apply, *key)
    commands = (
        ("ledger", "init", ledger, "--joint-risk", "0.05", *key),
        (kind, "choose", view.kit, *after),
        (kind, "apply", view.kit, view.source, *given, "--out", view.release, "--force"),
    )
    return [format_command(["voile", *words]) for words in commands]


ACTS = {"letter": plan_letter}
