"""Frontier: how much use, at how much risk?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.report.charts.numbers import share
from voile.report.wording import odds, share_and_odds
from voile.workbench.planned_commands import VerbCall
from voile.workbench.project_folder import POLICY
from voile.workbench.project_view import FieldError, Form, PlannedAct, ProjectView, StepState
from voile.workbench.step_screens.blocks import make_next, make_note

NAME, TITLE = "frontier", "Frontier"
RULES = {
    "least-loss": ("Least loss", "within your limits", ("--least-loss",)),
    "risk-100": ("No record above 1 in 100", "then the least loss", ("--max-risk", "0.01")),
    "risk-1000": ("No record above 1 in 1,000", "then the least loss", ("--max-risk", "0.001")),
    "knee": ("The knee", "where the curve bends most", ("--knee",)),
    "safe-harbor": ("Beats Safe Harbor", "in risk and in loss", ("--beats", "safe-harbor")),
}


def find_state(view: ProjectView) -> StepState:
    """Return whether a policy of this kit is chosen."""
    if not view.roles:
        return StepState(NAME, TITLE, "blocked", "", "Read the table first.")
    if view.kit_facts is None:
        return StepState(NAME, TITLE, "blocked", "", "Find the policies first.")
    if view.kit_problem:
        return StepState(NAME, TITLE, "stale", "the kit is older", view.kit_problem)
    if view.policy is None:
        return StepState(NAME, TITLE, "open", f"{view.kit_facts['policies']:,} policies")
    if view.policy_problem:
        return StepState(NAME, TITLE, "stale", "choose again", view.policy_problem)
    figures, number = view.policy["figures"], view.policy.get("number")
    name = "an edited policy" if number is None else f"policy {number}"
    return StepState(NAME, TITLE, "done", f"{name}: {share(figures['loss'])} lost")


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the curve with the reference policies, and the rules."""
    title = "How much use, at how much risk?"
    facts = view.kit_facts
    state = find_state(view)
    if facts is None:
        next_step = "adversary" if view.roles else "data"
        blocks = [make_next(next_step, "Find the policies" if view.roles else "Read the table")]
        return {"title": title, "lede": state.why, "blocks": blocks}
    policies = view.policies["policies"]
    chosen = None if view.policy is None or view.policy_problem else view.policy.get("number")
    blocks = []
    if state.why:
        blocks.append(make_note(state.why, "warn"))
    blocks.append(
        {
            "block": "frontier",
            "policies": [_describe(one) for one in policies],
            "chosen": chosen,
            "marks": [_describe_mark(name, one) for name, one in facts["mark_scores"].items()],
            "limit": facts["constraints"]["max_risk"],
            "rules": [
                {"rule": name, "label": label, "below": below}
                for name, (label, below, _) in RULES.items()
            ],
        }
    )
    why = "" if view.policy is not None else "Choose a policy first."
    blocks.append(make_next("release", "Next: the release", why=why))
    lede = (
        f"No policy beats these {len(policies):,} in both. "
        "Drag along the curve, use the arrow keys, or choose by a rule."
    )
    return {"title": title, "lede": lede, "blocks": blocks}


def _describe(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy's figures, each as a number and in words."""
    risk = policy["max_risk"]
    return {
        "number": policy["number"],
        "expected": policy["expected_matches"],
        "loss": policy["loss"],
        "risk": risk,
        "words": {
            "expected": f"{policy['expected_matches']:.3g}",
            "risk": odds(risk) if 0 < risk <= 0.5 else share_and_odds(risk),
            "loss": share(policy["loss"]),
            "suppressed": share(policy["suppressed"]),
        },
    }


def _describe_mark(name: str, scores: Mapping[str, Any]) -> dict[str, Any]:
    called = name.replace("-", " ").title()
    return {
        "name": called,
        "expected": scores["matches"],
        "loss": scores["loss"],
        "words": {"expected": f"{scores['matches']:.3g}", "loss": share(scores["loss"])},
    }


def _plan_choose(view: ProjectView, form: Form) -> PlannedAct:
    """Choose a policy by its number or by a rule."""
    rule = str(form.get("rule", ""))
    if rule in RULES:
        way: tuple[str, ...] = RULES[rule][2]
    else:
        number = form.get("policy")
        if not isinstance(number, int) or not 0 <= number < len(view.policies["policies"]):
            raise FieldError("policy", "there is no such policy", instead="choose another one")
        way = ("--policy", str(number))
    force = ("--force",) if view.policy is not None else ()
    words = (view.project.kind, "choose", view.kit, *way, "--out", POLICY, *force)
    return PlannedAct((VerbCall(words, POLICY),))


ACTS = {"choose": _plan_choose}
