"""Again: next month."""

from __future__ import annotations

from typing import Any

from voile.workbench.project_folder import KEY
from voile.workbench.project_view import ProjectView, StepState
from voile.workbench.step_screens.blocks import make_note

NAME, TITLE = "again", "Again"


def find_state(view: ProjectView) -> StepState:
    """Return whether there is a release to repeat."""
    if view.manifest is None:
        return StepState(NAME, TITLE, "blocked", "", "Make the release first.")
    return StepState(NAME, TITLE, "open", "next month")


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the commands that repeat the project, and those of a ledger."""
    title = "Next month"
    if why := find_state(view).why:
        return {"title": title, "lede": why, "blocks": []}
    name = view.folder.path.name
    replay = [
        f"mkdir -p ../{name}-again/private && cd ../{name}-again",
        f"cp ../{name}/{KEY} private/",
        f"sh ../{name}/history.sh",
    ]
    ledger = [
        f"voile ledger init ../ledger --source {view.source_name} --key-file {KEY}",
        f"voile {view.project.kind} choose {view.kit} --after ../ledger --key-file {KEY} "
        "--out policy.toml",
    ]
    blocks = [
        {
            "block": "commands",
            "title": "Make this project again",
            "text": "The history makes every file again, in an empty folder next to this one.",
            "commands": replay,
        },
        make_note(
            "A second release of the same people adds risk. A ledger judges all releases together: "
            "begin it before the first release, then choose with --after."
        ),
        {
            "block": "commands",
            "title": "With a ledger",
            "text": "",
            "commands": ledger,
        },
    ]
    lede = "The history of this project is a script. It repeats every step on the same table."
    return {"title": title, "lede": lede, "blocks": blocks}


ACTS: dict[str, Any] = {}
