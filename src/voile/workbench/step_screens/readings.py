"""The readings inside the page: the proposals of a kit, and the words of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import KEY
from voile.workbench.project_view import Block, FieldError, Form, ProjectView
from voile.workbench.step_screens.blocks import (
    make_action,
    make_field,
    make_form,
    make_group,
    make_note,
    read_number,
)

REVIEW = (
    "voile shows one line at a time, the most informative line first, and saves each key. "
    "Then it trains the kit again."
)
ACCEPT = (
    "You read the most suspicious words of the release, then a random sample. "
    "voile removes each identifier that you mark."
)


def make_review(view: ProjectView) -> Block:
    """Return the button that opens the review of a kit's proposals."""
    why = "" if view.is_work else "Propose identifiers on Adversary first."
    if view.kit_facts is not None and not view.is_work:
        why = "The notes are marked already."
    action = make_action("roles.review", "Review the proposals", why=why, primary=False)
    return make_form([make_group("Review", [], REVIEW)], [action])


def plan_review(view: ProjectView, form: Form) -> Sequence[Move]:
    """Review the proposals of the kit."""
    if not view.is_work:
        raise FieldError("roles.review", "nothing is proposed", instead="go to Adversary first")
    return (VerbCall(("documents", "review", view.kit, "--no-browser"), view.kit),)


def make_acceptance(view: ProjectView) -> list[Block]:
    """Return a reader's proof, and the form that continues it."""
    proof = view.public.get("acceptance")
    blocks = [make_note(_say_proof(proof), "good")] if proof else []
    why = view.release_problem
    if view.manifest is None:
        why = "Make the release first."
    fields = [
        make_field("at_most", "Identifiers that may stay, at most", "2", kind="number"),
        make_field("per", "Per this many words", "1000", kind="number"),
    ]
    action = make_action("release.accept", "Read, and prove it", why=why, primary=False)
    return [*blocks, make_form([make_group("Prove it by reading", fields, ACCEPT)], [action])]


def _say_proof(proof: Mapping[str, Any]) -> str:
    return (
        f"Proved: at most {proof['at_most']:g} identifiers stay per {proof['per']:,} words, "
        f"{proof['confidence']:.0%} confidence. A person read {proof['tokens_read']:,} words."
    )


def plan_accept(view: ProjectView, form: Form) -> Sequence[Move]:
    """Prove by reading that few identifiers stay in the release."""
    if view.manifest is None:
        raise FieldError("release.accept", "there is no release", instead="make it first")
    most = read_number(form, "at_most", "the number of identifiers", 0.001, 1000)
    per = int(read_number(form, "per", "the number of words", 1, 1e6))
    goal = ("--at-most", f"{most:g}", "--per", str(per), "--key-file", KEY, "--no-browser")
    words = ("documents", "accept", view.kit, view.release, view.source, *goal)
    return (VerbCall(words, view.release),)
