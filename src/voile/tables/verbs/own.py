"""List the verbs that only tables have. Each is imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.data.files.outputs import POLICY
from voile.release.own_verbs import OwnVerb, RunVerb

if TYPE_CHECKING:
    from voile.tables.verbs.options import EditOptions, ShowOptions


def _show_options() -> type[ShowOptions]:
    from voile.tables.verbs.options import ShowOptions

    return ShowOptions


def _load_show() -> RunVerb[ShowOptions]:
    from voile.tables.verbs.show import show_policy

    return show_policy


def _edit_options() -> type[EditOptions]:
    from voile.tables.verbs.options import EditOptions

    return EditOptions


def _load_edit() -> RunVerb[EditOptions]:
    from voile.tables.verbs.edit import edit_policy

    return edit_policy


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb["ShowOptions"](
        "show",
        "Show the labels of each column under one policy.",
        _show_options,
        _load_show,
        ("kit",),
        reads_source=False,
    ),
    OwnVerb["EditOptions"](
        "edit",
        "Merge or split the labels of a policy by hand.",
        _edit_options,
        _load_edit,
        ("kit",),
        {"out": POLICY},
        reads_source=False,
    ),
)
