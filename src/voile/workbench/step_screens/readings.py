"""The readings inside the page: reviews of a kit's proposals, and acceptance of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voile.core.evidence import Evidence
from voile.release.evidence import READ
from voile.report.wording import format_note
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import KEY, STUDY
from voile.workbench.project_view import Block, FieldError, Form, ProjectView
from voile.workbench.step_screens.blocks import (
    make_action,
    make_field,
    make_form,
    make_group,
    make_note,
    read_number,
    read_text,
)
from voile.workbench.study_view import StudyView

REVIEW = (
    "voile shows one line at a time, the most informative line first, and saves each key. "
    "Then it trains the kit again."
)
STUDY_REVIEW = "After the review, find the policies and make the release again."
ACCEPT = (
    "You read the most suspicious words of the release, then a random sample. "
    "voile removes each identifier that you mark."
)


def make_review(view: ProjectView) -> Block:
    """Return the button that opens the review of a kit's proposals."""
    if isinstance(view, StudyView):
        return _make_study_review(view)
    why = "" if view.is_work else "Propose identifiers on Adversary first."
    if view.kit_facts is not None and not view.is_work:
        why = "The notes are marked already."
    action = make_action("roles.review", "Review the proposals", why=why, primary=False)
    return make_form([make_group("Review", [], REVIEW)], [action])


def _make_study_review(view: StudyView) -> Block:
    parts = _list_proposed(view)
    why = "" if view.kit_facts else "Find the policies on Adversary first."
    why = why if parts else "The notes are marked already."
    fields = [_make_part_field("review_part", parts or view.notes)]
    action = make_action("roles.review", "Review the proposals", why=why, primary=False)
    return make_form([make_group("Review", fields, STUDY_REVIEW)], [action])


def _list_proposed(view: StudyView) -> list[str]:
    """Return the parts of notes for which voile proposed identifiers."""
    return [name for name in view.notes if "init" in view.parts[name]]


def _make_part_field(name: str, parts: Sequence[str]) -> dict[str, Any]:
    options = [[one, one] for one in parts]
    return make_field(name, "Part of notes", parts[0], kind="select", options=options)


def _read_part(form: Form, name: str, parts: Sequence[str]) -> str:
    if (part := read_text(form, name, "the part")) not in parts:
        raise FieldError(name, "there is no such part", instead="choose another one")
    return part


def plan_review(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that reviews the proposals of the kit."""
    if isinstance(view, StudyView):
        part = _read_part(form, "review_part", _list_proposed(view))
        words = ("study", "review", STUDY, "--part", part, "--no-browser")
        return (VerbCall(words, f"{Path(view.kit).stem}.{part}.kit"),)
    if not view.is_work:
        raise FieldError("roles.review", "nothing is proposed", instead="go to Adversary first")
    return (VerbCall(("documents", "review", view.kit, "--no-browser"), view.kit),)


def make_acceptance(view: ProjectView) -> list[Block]:
    """Return the result of each reading, and the form that begins or continues one."""
    blocks = _list_ends(view)
    why = view.release_problem
    if view.manifest is None:
        why = "Make the release first."
    parts = [_make_part_field("part", view.notes)] if isinstance(view, StudyView) else []
    fields = [
        *parts,
        make_field("at_most", "Identifiers that may stay, at most", "2", kind="number"),
        make_field("per", "Per this many words", "1000", kind="number"),
    ]
    action = make_action("release.accept", "Read, and prove it", why=why, primary=False)
    return [*blocks, make_form([make_group("Prove it by reading", fields, ACCEPT)], [action])]


def _list_ends(view: ProjectView) -> list[Block]:
    """Return the proof of each finished reading, or the reason why it proved nothing."""
    private = f"{view.release}.private"
    ended = {private: view.public}
    if isinstance(view, StudyView):
        ended = {f"{private}/{n}": one for n, one in view.public.get("parts", {}).items()}
    blocks = []
    for place, public in ended.items():
        if proof := public.get("acceptance"):
            blocks.append(make_note(_say_proof(proof), "good"))
            continue
        found = (view.folder.read_json(f"{place}/evidence.json") or {"evidence": []})["evidence"]
        read = [Evidence.from_json(one) for one in found if one["attack"] == READ]
        said = [" ".join(format_note(note, "internal") for note in one.notes) for one in read]
        blocks += [make_note(text, "warn") for text in said]
    return blocks


def _say_proof(proof: Mapping[str, Any]) -> str:
    return (
        f"Proved: at most {proof['at_most']:g} identifiers stay per {proof['per']:,} words, "
        f"{proof['confidence']:.0%} confidence. A person read {proof['tokens_read']:,} words."
    )


def plan_accept(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that proves by reading that few identifiers stay in the release."""
    if view.manifest is None:
        raise FieldError("release.accept", "there is no release", instead="make it first")
    most = read_number(form, "at_most", "the number of identifiers", 0.001, 1000)
    per = int(read_number(form, "per", "the number of words", 1, 1e6))
    goal = ("--at-most", f"{most:g}", "--per", str(per))
    if isinstance(view, StudyView):
        part = _read_part(form, "part", view.notes)
        study = ("study", "accept", STUDY, "--part", part, *goal, "--no-browser")
        return (VerbCall(study, view.release),)
    places = (view.kit, view.release, view.source)
    words = ("documents", "accept", *places, *goal, "--key-file", KEY, "--no-browser")
    return (VerbCall(words, view.release),)
