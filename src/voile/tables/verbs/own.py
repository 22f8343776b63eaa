"""The verbs that only tables have; each is imported when it runs."""

from __future__ import annotations

from typing import Any

from voile.data.files.outputs import POLICY
from voile.release.own_verbs import OwnVerb, RunVerb
from voile.tables.verbs.options import EditOptions, ShowOptions


def _load_show() -> RunVerb[ShowOptions]:
    from voile.tables.verbs.show import show_policy

    return show_policy


def _load_edit() -> RunVerb[EditOptions]:
    from voile.tables.verbs.edit import edit_policy

    return edit_policy


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb[ShowOptions]("show", ShowOptions, _load_show, ("kit",), reads_source=False),
    OwnVerb[EditOptions](
        "edit", EditOptions, _load_edit, ("kit",), {"out": POLICY}, reads_source=False
    ),
)
