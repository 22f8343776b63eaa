"""The Decide step: evaluate and sign the release for its recipient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.report.charts.numbers import share
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import CONTEXT, DETERMINATION, KEY
from voile.workbench.project_view import FieldError, Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    make_action,
    make_field,
    make_form,
    make_group,
    make_next,
    make_note,
    read_text,
)
from voile.workbench.step_screens.register import make_tasks, plan_tasks
from voile.workbench.step_screens.study import plan_determine
from voile.workbench.study_view import StudyView

NAME, TITLE = "decide", "Decide"
NAMES = {"re-identification": "Re-identification"}
JUDGED = "voile compares each figure with its threshold."
DECISIONS = ("approve", "approve with conditions", "refuse", "renew", "withdraw")


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether this release's determination is signed."""
    if view.manifest is None:
        return StepState(NAME, TITLE, "blocked", "", "Make the release first.")
    if view.determination is None:
        return StepState(NAME, TITLE, "open", "not judged yet")
    if why := view.release_problem or view.determination_problem:
        return StepState(NAME, TITLE, "stale", "judge again", why)
    if not view.statements:
        return StepState(NAME, TITLE, "open", f"{view.determination['verdict']}; not signed")
    last = view.statements[-1]
    return StepState(NAME, TITLE, "done", f"{last['decision']}, {last['signer']}")


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the criteria with their thresholds, and the forms that evaluate and sign."""
    state, one = find_state(view), view.determination
    title = "Is it enough, for this recipient?"
    blocks: list[dict[str, Any]] = []
    why = state.why if state.state == "blocked" else view.release_problem
    if not why and view.context is None:
        why = "Fill in the form of the Adversary step first."
    lede = why
    if state.state == "stale":
        blocks.append(make_note(state.why, "warn"))
    if one is not None:
        told = one["context"]
        lede = f"For {told['recipient']}: {told['purpose']}. Until {told['expires']}."
        blocks.append(
            {
                "block": "criteria",
                "verdict": one["verdict"],
                "criteria": [_describe(criterion) for criterion in one["criteria"]],
            }
        )
    label = "Judge again" if one else "Judge the release"
    if view.statements:
        why = "A signed determination stays as it is."
    blocks.append(
        make_form([], [make_action("decide.determine", label, why=why, primary=one is None)])
    )
    if view.manifest is not None:
        blocks.append(make_tasks(view))
    if one is not None:
        blocks.append(_signatures(view))
        blocks.append(_form(view, state))
        why_next = "" if view.statements else "Sign first."
        blocks.append(make_next("again", "Next: next month", why=why_next))
    return {
        "title": title,
        "lede": lede or JUDGED,
        "blocks": blocks,
    }


def _describe(criterion: dict[str, Any]) -> dict[str, Any]:
    """Return a criterion in the determination's own words."""
    figure = criterion["figure"] or {}
    limit = criterion["limit"]
    return {
        "name": NAMES.get(criterion["name"], criterion["name"].replace("-", " ").capitalize()),
        "what": figure.get("says", criterion["reason"]),
        "shown": figure.get("shown", "–"),
        "interval": figure.get("interval", ""),
        "most": figure.get("most"),
        "limit": limit,
        "threshold": ""
        if limit is None
        else f"at most {share(limit)}: {criterion['origin'].partition(': at most')[0]}",
        "verdict": criterion["verdict"],
        "condition": criterion["condition"],
    }


def _signatures(view: ProjectView) -> dict[str, Any]:
    signed = [
        [one["signer"], one["decision"], one["at"][:10], "; ".join(one["conditions"])]
        for one in view.statements
    ]
    return {"block": "signatures", "title": "Signatures", "signed": signed}


def _form(view: ProjectView, state: StepState) -> dict[str, Any]:
    one = view.determination or {}
    conditions = [c["condition"] for c in one["criteria"] if c["condition"]]
    is_met = one["verdict"] == "meets"
    usual = "approve" if is_met else "approve with conditions" if conditions else "refuse"
    fields = [
        make_field(
            "decision", "Decision", usual, kind="select", options=[[x, x] for x in DECISIONS]
        ),
        make_field("as", "Signer", "", hint="your name in the file of allowed signers"),
        make_field("key", "File with your private key", "", hint="OpenSSH, Ed25519, no passphrase"),
        make_field(
            "conditions", "Conditions", "\n".join(conditions), kind="area", hint="one per line"
        ),
        make_field("reason", "Reason", "", hint="why, in your words"),
    ]
    why = state.why if state.state == "stale" else ""
    hint = "The statement names the hash of every file that you have read."
    actions = [make_action("decide.sign", "Sign", why=why, primary=not view.statements)]
    return make_form([make_group("Sign", fields, hint)], actions)


def _plan_determine(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that evaluates the release by its context."""
    if isinstance(view, StudyView):
        return (plan_determine(view),)
    words = ["determine", view.release, "--context", CONTEXT, "--key-file", KEY, "--no-pdf"]
    words += ["--out", DETERMINATION, *(["--force"] if view.determination else [])]
    return (VerbCall(tuple(words), DETERMINATION),)


def _plan_sign(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that adds a signed statement."""
    decision = read_text(form, "decision", "the decision")
    if decision not in DECISIONS:
        raise FieldError("decision", "there is no such decision", instead="choose another one")
    signer, key = read_text(form, "as", "the signer"), read_text(form, "key", "the key file")
    if decision.startswith("approve") and _is_preparer(view, signer):
        what = "this person prepared the release and cannot approve it"
        raise FieldError("as", what, instead="let another person sign")
    if not (view.folder.path / key).is_file():
        raise FieldError("key", f"there is no file {key}", instead="correct the path")
    words = ["sign", DETERMINATION, "--decision", decision, "--as", signer, "--key", key]
    for condition in read_text(form, "conditions").splitlines():
        if decision == "approve with conditions" and condition.strip():
            words += ["--condition", condition.strip()]
    if reason := read_text(form, "reason"):
        words += ["--reason", reason]
    return (VerbCall(tuple(words), f"{DETERMINATION}/statements"),)


def _is_preparer(view: ProjectView, signer: str) -> bool:
    """Return whether a signer prepared the release. `voile sign` checks this again."""
    told = (view.determination or {}).get("context", {})
    return str(told.get("prepared_by") or "").strip().casefold() == signer.casefold()


ACTS = {"determine": _plan_determine, "sign": _plan_sign, "tasks": plan_tasks}
