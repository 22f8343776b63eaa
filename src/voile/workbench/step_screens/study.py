"""The screens of a study's steps: its parts, the joint figure, and each part's contribution."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from voile.report.charts.numbers import share
from voile.workbench.planned_commands import FileWrite, Move, VerbCall
from voile.workbench.project_folder import CONTEXT, DETERMINATION, STUDY
from voile.workbench.project_kinds import KINDS
from voile.workbench.project_view import Block, FieldError, Form
from voile.workbench.step_screens.blocks import (
    make_action,
    make_field,
    make_figure,
    make_form,
    make_group,
    make_note,
    read_number,
)
from voile.workbench.study_view import WAYS, StudyView

CHECK = "voile checks roles, counts, texts and groups in seconds. The fit repeats these checks."
PARTS = "Each part alone, for an adversary who knows its facts of a person exactly."
ROWS = 5
PROMISES: Mapping[str, Mapping[str, object]] = {
    "least-loss": {"least_loss": True},
    "knee": {"knee": True},
    "risk-100": {"max_risk": 0.01},
}
"""The entries of the plan that each rule sets."""


def edit_promise(view: StudyView, changes: Mapping[str, object]) -> FileWrite:
    """Return the plan with changed promises. A new way to pick the policy replaces the old one.

    The plan also gets the project's seed, without which a repeated fit makes another kit.
    """
    import tomlkit

    document = tomlkit.parse(view.folder.read_text(STUDY))
    study: Any = document["study"]
    study.setdefault("seed", view.project.seed)
    promise: Any = document.setdefault("promise", tomlkit.table())
    for way in WAYS if changes.keys() & set(WAYS) else ():
        promise.pop(way, None)
    for name, value in changes.items():
        if promise.get(name) != value:
            promise[name] = value
    return FileWrite(STUDY, tomlkit.dumps(document))


def make_limit_group(view: StudyView) -> list[dict[str, Any]]:
    """Return the fields of the plan's limits, and of the adversary's register."""
    promise, files = view.plan.get("promise", {}), view.project.attack
    suppress = promise.get("suppress", 0.05)
    hint = "Named people with the study's column of persons. Needed to link texts and rows."
    numbers = [
        make_field("k", "Smallest group, in people", promise.get("k", 5), kind="number"),
        make_field("suppress", "Share of rows dropped at most", suppress, kind="number"),
    ]
    register = make_field(
        "register_file", "Register that the adversary has", files.register_file, hint=hint
    )
    return [
        make_group("The adversary's knowledge", [register]),
        make_group("Limits of every policy", numbers),
    ]


def write_limits(view: StudyView, form: Form) -> FileWrite:
    """Return the plan with the limits of a form."""
    k = int(read_number(form, "k", "the smallest group", 1, 1e6))
    suppress = read_number(form, "suppress", "the share dropped", 0, 1)
    return edit_promise(view, {"k": k, "suppress": suppress})


def plan_init(source: str, population: str) -> VerbCall:
    """Return the command that writes a plan for a folder."""
    known = ("--population", population) if population else ()
    return VerbCall(("study", "init", source, *known, "--out", STUDY, "--force"), STUDY)


def plan_fit(view: StudyView) -> VerbCall:
    """Return the command that makes the kits of the parts and of the study."""
    force = ("--force",) if view.kit_facts is not None else ()
    return VerbCall(("study", "fit", STUDY, *force), view.kit)


def make_roles(view: StudyView) -> list[Block]:
    """Return a block of roles for each part, and the button that checks the plan."""
    blocks: list[Block] = []
    for part, one in view.parts.items():
        kind = KINDS.get(one["kind"])
        roles = view.read_roles(part)
        choices = {} if kind is None else {name: list(said) for name, said in kind.roles.items()}
        choices |= {role: [role, ""] for role in roles.values() if role not in choices}
        why = _reasons(view, str(one.get("roles", "")))
        rows = [
            {"name": name, "role": role, "proposed": "", "why": why.get(name, "")}
            for name, role in roles.items()
        ]
        action = make_action("roles.save", f"Save the roles of {part}", primary=False)
        blocks.append(
            {"block": "roles", "part": part, "rows": rows, "choices": choices, "actions": [action]}
        )
    check = make_action("roles.check", "Check the plan", primary=False)
    return [*blocks, make_form([make_group("The whole plan", [], CHECK)], [check])]


def _reasons(view: StudyView, name: str) -> dict[str, str]:
    """Return the comment of each column in a file of roles."""
    import tomlkit

    columns: Any = tomlkit.parse(view.folder.read_text(name)).get("columns", {}) if name else {}
    return {
        column: one.trivia.comment.lstrip("# ") if hasattr(one, "trivia") else ""
        for column, one in columns.items()
    }


def plan_roles(view: StudyView, form: Form) -> Sequence[Move]:
    """Return the command that writes the chosen roles of one part."""
    part, given = str(form.get("part", "")), form.get("roles", {})
    control = f"roles.save-{part}"
    if part not in view.parts or not isinstance(given, dict):
        raise FieldError(control, "there is no such part", instead="choose another one")
    roles, kind = view.read_roles(part), KINDS[view.parts[part]["kind"]]
    for name, role in given.items():
        if name not in roles or role not in (*kind.roles, roles[name]):
            raise FieldError(control, "there is no such role", instead="choose another one")
    changes = [f"{name}={role}" for name, role in given.items() if role != roles[name]]
    file = str(view.parts[part]["roles"])
    words = ("roles", file, *(word for one in changes for word in ("--set", one)))
    return (VerbCall(words, file),) if changes else ()


def plan_check(view: StudyView, form: Form) -> Sequence[Move]:
    """Return the command that checks the plan on its data without training."""
    return (VerbCall(("study", "check", STUDY), STUDY),)


def describe_policy(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy's coordinates on the joint frontier, and its figures in words."""
    joint = [
        f"{policy['joint']:.3g}",
        "people",
        f"{policy['joint_at_recall']:.3g} at the notes' recall",
    ]
    figures = [
        joint,
        [f"{policy['table']:.3g}", "people", f"of {policy['released']:,.0f} released"],
        [share(policy["loss"]), "", "0% = original"],
    ]
    return {
        "number": policy["number"],
        "x": policy["joint"],
        "loss": policy["loss"],
        "risk": 1.0,
        "figures": figures,
    }


def plan_choice(view: StudyView, form: Form) -> Sequence[Move]:
    """Return the commands that write the chosen policy into the plan and fit again."""
    if (rule := str(form.get("rule", ""))) in PROMISES:
        return (edit_promise(view, PROMISES[rule]), plan_fit(view))
    number = form.get("policy")
    if number not in [one["number"] for one in view.policies["policies"]]:
        raise FieldError("policy", "there is no such policy", instead="choose another one")
    return (edit_promise(view, {"policy": number}), plan_fit(view))


def plan_apply(view: StudyView) -> VerbCall:
    """Return the command that writes the release of all parts."""
    force = ("--force",) if view.manifest is not None else ()
    return VerbCall(("study", "apply", STUDY, *force), view.release)


def make_release(view: StudyView) -> list[Block]:
    """Return the joint figures of a release, and each part's contribution."""
    assert view.manifest is not None
    figures, parts = view.manifest["figures"], view.manifest["parts"]
    joint = f"{figures['expected_matches(all parts)']:.3g}"
    people = f"of {figures['subjects']:,.0f} people"
    head = ["Part", "Rows released", "Expected matches", "People singled out"]
    rows = [
        [
            part,
            f"{one['counts']['released']:,} of {one['counts']['read']:,}",
            _write_alone(figures, "expected_matches", part),
            _write_alone(figures, "people_alone", part),
        ]
        for part, one in parts.items()
    ]
    rows.append(["all parts", "", joint, _write(figures.get("people_alone(all parts)"))])
    return [
        {
            "block": "figures",
            "figures": [
                make_figure("Expected matches, all parts", joint, people),
                make_figure(
                    "Knowing the table's columns",
                    _write(figures.get("expected_matches(the table's columns)")),
                    people,
                ),
                make_figure(
                    "Singled out by all facts", share(figures["all_facts_alone"]), "of people"
                ),
            ],
        },
        {"block": "table", "title": "What each part contributes", "head": head, "rows": rows},
        make_note(PARTS),
        *(_show_rows(view, part, str(one["file"])) for part, one in parts.items()),
    ]


def _write_alone(figures: Mapping[str, float], name: str, part: str) -> str:
    """Return the figure of a part alone, or of one row if pseudonyms do not join its rows."""
    whole, one_row = (figures.get(f"{name}({of})") for of in (part, f"one row of {part}"))
    return (
        f"{_write(one_row)} by one row" if whole is None and one_row is not None else _write(whole)
    )


def _write(value: float | None) -> str:
    return "–" if value is None else f"{value:,.3g}"


def _show_rows(view: StudyView, part: str, file: str) -> Block:
    """Return the first rows of a part, which the page hides at first."""
    place = view.folder.path / view.release / file
    rows: list[list[str]] = []
    if place.suffix == ".csv" and place.is_file():
        with place.open(encoding="utf-8", newline="") as opened:
            rows = [*islice(csv.reader(opened), ROWS + 1)]
    title = f"{ROWS} rows of {part}"
    return {"block": "rows", "title": title, "columns": rows[:1], "rows": rows[1:]}


def list_files(view: StudyView) -> list[list[str]]:
    """Return the files to publish, and the files to keep private."""
    return [
        [f"{view.release}/", "every part, and one manifest for its recipients", "publish"],
        [f"{view.release}.private/", "exact figures, and evidence of attacks", "never"],
        [view.kit, "the kits of the parts", "never"],
        ["study.key", "the secret of pseudonyms and days", "never"],
    ]


def plan_attack(view: StudyView) -> VerbCall:
    """Return the command that attacks all parts together, and each part alone."""
    register = view.project.attack.register_file
    words = ("study", "attack", STUDY, "--parts", *(("--register", register) if register else ()))
    return VerbCall(words, f"{view.release}.private/evidence.json")


def plan_determine(view: StudyView) -> VerbCall:
    """Return the command that evaluates the release of the plan by the context."""
    force = ("--force",) if view.determination else ()
    words = ("study", "determine", STUDY, "--context", CONTEXT, "--no-pdf", "--out", DETERMINATION)
    return VerbCall((*words, *force), DETERMINATION)
