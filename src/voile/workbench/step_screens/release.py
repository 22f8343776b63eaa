"""The Release step: write the release and display its contents."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from voile.gate.analysts import ENTROPY, LABELS
from voile.gate.source_risks import find_source_figures
from voile.report.charts.numbers import share
from voile.report.wording import share_and_odds
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import KEY, POLICY
from voile.workbench.project_view import Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    make_action,
    make_figure,
    make_form,
    make_next,
    make_note,
)
from voile.workbench.step_screens.readings import make_acceptance, plan_accept
from voile.workbench.step_screens.study import list_files, make_release, plan_apply
from voile.workbench.study_view import StudyView

NAME, TITLE = "release", "Release"
ROWS, FIGURES = 5, 3
COUNTS = {
    "k": ("Smallest group", "people"),
    "anonymity": ("Fewest people with all items of a person", "people"),
    "unique_rows": ("Unique rows", ""),
    "values_found": ("Values of the tables in the text", ""),
    "decoded": ("Readings that the recipient decodes exactly", ""),
    "subjects": ("People released", ""),
}
"""The counts of the gate, in their order on the page."""
MEASURES = (
    ("expected_matches", "People expected to be re-identified", False),
    ("population_uniques", "People unique in the population", False),
    ("sample_uniques", "People unique in the table", False),
    ("share_under_11", "Share of people in groups under 11", True),
)


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether the chosen policy made the release."""
    if view.policy is None or view.kit_facts is None:
        return StepState(NAME, TITLE, "blocked", "", "Choose a policy first.")
    if view.manifest is None:
        return StepState(NAME, TITLE, "open", "not made yet")
    note = f"{view.release}, {view.manifest['counts']['released']:,} rows"
    why = view.release_problem
    return StepState(NAME, TITLE, "stale" if why else "done", note, why)


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the released rows, the files, and the button that writes the files."""
    state = find_state(view)
    title = (
        "The release is older than your choice" if state.state == "stale" else "This is what leaves"
    )
    why = state.why if state.state == "blocked" else view.policy_problem or view.kit_problem
    label = "Make the release again" if view.manifest else "Make the release"
    blocks: list[dict[str, Any]] = []
    lede = why or "voile writes the rows in a secret order, and two files that describe them."
    if view.manifest is not None:
        counts, figures = view.manifest["counts"], view.manifest["figures"]
        lede = _lede(counts)
        if isinstance(view, StudyView):
            blocks += make_release(view)
        else:
            blocks.append({"block": "figures", "figures": _figures(figures)})
        if view.kind.has_groups:
            blocks.append(_compare(figures))
            blocks.append(_columns(figures))
        if not isinstance(view, StudyView):
            blocks.append(_rows(view))
        blocks.append(_files(view))
    if state.state == "stale":
        blocks.insert(
            0, make_note(f"{state.why} The old release stays until you make it again.", "warn")
        )
    blocks.append(
        make_form([], [make_action("release.apply", label, why=why, primary=state.state != "done")])
    )
    if view.kind.has_notes or (isinstance(view, StudyView) and view.notes):
        blocks += make_acceptance(view)
    why_next = "" if state.state == "done" else "Make the release first."
    blocks.append(make_next("attack", "Next: attack it", why=why_next))
    return {"title": title, "lede": lede, "blocks": blocks}


def _lede(counts: Any) -> str:
    parts = [f"{counts['released']:,} of {counts['read']:,} rows are released"]
    for name, words in (
        ("held_out", "are held out as a control"),
        ("suppressed", "are suppressed"),
        ("set_aside", "are rejected"),
    ):
        if counts[name]:
            parts.append(f"{counts[name]:,} {words}")
    return f"{', '.join(parts)}."


def _figures(figures: Any) -> list[dict[str, str]]:
    shown = []
    if "max_risk" in figures:
        risk = share_and_odds(figures["max_risk"])
        shown.append(make_figure("Riskiest record", risk, "", "measured on the written file"))
    if "information_loss" in figures:
        loss = share(figures["information_loss"])
        shown.append(make_figure("Information loss", loss, "", "0% = original, 100% = nothing"))
    if "published_tokens" in figures:
        published = share(figures["published_tokens"])
        shown.append(make_figure("Words published", published, "", "measured on the written file"))
    for name, (label, unit) in COUNTS.items():
        if name in figures and len(shown) < FIGURES:
            shown.append(make_figure(label, f"{figures[name]:,.0f}", unit))
    return shown


def _compare(figures: Any) -> dict[str, Any]:
    """Return the table of linkage and uniqueness in the source and in the release."""
    source = find_source_figures(figures)
    rows = [
        [
            label,
            *(_write(one.get(name), is_share=is_share) for one in (source, figures)),
        ]
        for name, label, is_share in MEASURES
    ]
    return {
        "block": "table",
        "title": "Before and after",
        "head": ["Measure", "Source", "Release"],
        "rows": rows,
    }


def _write(value: float | None, *, is_share: bool) -> str:
    if value is None:
        return "–"
    return share(value) if is_share else f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def _columns(figures: Any) -> dict[str, Any]:
    """Return the number of labels of each column that others may know."""
    rows = [
        [column, f"{labels:,.0f}", share(figures[f"{ENTROPY}({column})"])]
        for name, labels in figures.items()
        if name.startswith(f"{LABELS}(") and (column := name[len(LABELS) + 1 : -1])
    ]
    return {
        "block": "table",
        "title": "What each column becomes",
        "head": ["Column", "Labels", "Entropy kept"],
        "rows": rows,
    }


def _rows(view: ProjectView) -> dict[str, Any]:
    """Return the first rows of the file.

    The page hides them at first, since they are people's values.
    """
    place = view.folder.path / view.release
    rows: list[list[str]] = []
    if place.suffix == ".parquet" and place.is_file():
        rows = _read_parquet(place)
    elif place.is_file():
        with place.open(encoding="utf-8", newline="") as file:
            rows = [*islice(csv.reader(file), ROWS + 1)]
    return {
        "block": "rows",
        "title": f"{ROWS} rows of {view.release}",
        "columns": rows[:1],
        "rows": rows[1:],
    }


def _read_parquet(place: Path) -> list[list[str]]:
    """Return the column names and the first rows."""
    import pyarrow.parquet as pq

    batch = next(pq.ParquetFile(place).iter_batches(ROWS), None)
    found = [] if batch is None else batch.to_pylist()
    names = [] if batch is None else batch.schema.names
    cells = [[_write_cell(value) for value in one.values()] for one in found]
    return [names, *cells]


def _write_cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _files(view: ProjectView) -> dict[str, Any]:
    files = (
        list_files(view)
        if isinstance(view, StudyView)
        else [
            [view.release, "the rows", "publish"],
            [f"{view.release}.manifest.json", "describes the release to its recipients", "publish"],
            [f"{view.release}.private/", "exact figures and the control people", "never"],
            [KEY, "the secret of the seals", "never"],
        ]
    )
    return {"block": "files", "title": "Files", "files": files}


def _plan_apply(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that writes the release under the chosen policy."""
    if isinstance(view, StudyView):
        return (plan_apply(view),)
    words = [view.project.kind, "apply", view.kit, view.source, "--policy", POLICY]
    words += [*view.kind.apply, "--key-file", KEY, "--out", view.release]
    words += ["--force"] if view.manifest is not None else []
    return (VerbCall(tuple(words), view.release),)


ACTS = {"apply": _plan_apply, "accept": plan_accept}
