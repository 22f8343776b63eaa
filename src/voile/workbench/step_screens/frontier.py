"""The Frontier step: choose a policy by its risk and its use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.charts.numbers import share
from voile.report.wording import odds, share_and_odds
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import POLICY
from voile.workbench.project_view import FieldError, Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import make_next, make_note
from voile.workbench.step_screens.recoding import build_recoding, plan_edit
from voile.workbench.step_screens.study import describe_policy, plan_choice
from voile.workbench.study_view import StudyView

NAME, TITLE = "frontier", "Frontier"


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether a policy of this kit is chosen."""
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
    return StepState(NAME, TITLE, "done", _note_policy(view.policy))


def _note_policy(policy: Mapping[str, Any]) -> str:
    """Return a policy's name with its loss, or with the published share for notes."""
    figures, number = policy["figures"], policy.get("number")
    name = "an edited policy" if number is None else f"policy {number}"
    if "published_tokens" in figures:
        return f"{name}: {share(figures['published_tokens'])} published"
    return f"{name}: {share(figures['loss'])} lost"


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the frontier with the reference policies, and the rules."""
    title = "How much use, at how much risk?"
    facts = view.kit_facts
    state = find_state(view)
    if facts is None:
        next_step = "adversary" if view.roles else "data"
        blocks = [make_next(next_step, "Find the policies" if view.roles else "Read the table")]
        return {"title": title, "lede": state.why, "blocks": blocks}
    policies = view.policies["policies"]
    if not policies:
        blocks = [make_next("adversary", "Find the policies again")]
        return {"title": title, "lede": state.why, "blocks": blocks}
    number = None if view.policy is None or view.policy_problem else view.policy.get("number")
    places = [i for i, one in enumerate(policies) if one["number"] == number]
    chosen = places[0] if places else None
    blocks = []
    if state.why:
        blocks.append(make_note(state.why, "warn"))
    if caveat := view.policies.get("caveat"):
        blocks.append(make_note(f"{caveat[:1].upper()}{caveat[1:]}.", "warn"))
    kind, marks = view.kind, facts.get("mark_scores", {})
    recoding = build_recoding(view) if kind.has_groups else []
    blocks.append(
        {
            "block": "frontier",
            "policies": [_describe(view, one, marks) for one in policies],
            "chosen": chosen,
            "edited": _describe_edited(view) if kind.has_groups else None,
            "title": kind.axis_title,
            "is_log": kind.is_log,
            "labels": list(kind.figures),
            "slider": kind.slider,
            "marks": [
                {"name": _call(name), "x": one["matches"], "loss": one["loss"]}
                for name, one in marks.items()
            ],
            "limit": facts["constraints"]["max_risk"] if kind.has_groups else None,
            "rules": [
                {"rule": name, "label": label, "below": below}
                for name, (label, below, _) in kind.rules.items()
            ],
        }
    )
    blocks += recoding
    why = "" if view.policy is not None else "Choose a policy first."
    blocks.append(make_next("release", "Next: the release", why=why))
    first = "The curve has the table's policies, with the figure of all parts. "
    lede = (
        f"{first if kind.is_study else f'No policy beats these {len(policies):,} in both. '}"
        "Drag along the curve, use the arrow keys, or choose by a rule."
    )
    return {"title": title, "lede": lede, "blocks": blocks}


def _describe(
    view: ProjectView, policy: Mapping[str, Any], marks: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a policy's coordinates on the frontier, and its figures in words."""
    if view.kind.is_study:
        return describe_policy(policy)
    name, mark = next(iter(marks.items()), ("", {}))
    beside = {axis: f"{_call(name)} {_write(axis, mark[axis])}" for axis in mark}
    shown = {
        "number": policy["number"],
        "x": policy[view.kind.axis],
        "loss": policy["loss"],
        "risk": policy.get("max_risk", policy["risk"]),
    }
    loss = [_write("loss", policy["loss"]), "", beside.get("loss", "0% = original")]
    if view.kind.has_groups:
        expected = [_write("matches", shown["x"]), "people", beside.get("matches", "")]
        suppressed = f"{share(policy['suppressed'])} of people suppressed"
        figures = [expected, [_odds(shown["risk"]), "", suppressed], loss]
        return {**shown, "figures": figures, "says": _explain(view, shown["risk"])}
    if view.kind.has_notes:
        return {**shown, **_describe_notes(policy)}
    if view.project.kind == "itemsets":
        features = [f"{policy['features']:,}", "", f"at least {policy['k_reached']:,} people each"]
        return {**shown, "figures": [[_odds(shown["risk"]), "", ""], features, loss]}
    low, high = max(policy["bits_low"], 0), policy["bits_high"]
    bits = [f"{max(policy['bits'], 0):.2g}", "bits", f"95% interval: {low:.2g} to {high:.2g}"]
    return {**shown, "figures": [[share(max(shown["risk"], 0)), "", ""], bits, loss]}


def _describe_notes(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a policy of notes, with its cost of a missed identifier."""
    cost = f"{policy['miss_cost']:g}"
    stay = [share(policy["risk"]), "", f"{policy['left']:,} of the known identifiers"]
    lost = [share(policy["loss"]), "", "0% = original"]
    published = [share(policy["published_tokens"]), "", f"miss cost {cost}"]
    says = f"A missed identifier counts as much as {cost} harmless words that are removed."
    if not policy["passes"]:
        says = "It publishes the notes unchanged."
    return {
        "figures": [stay, lost, published],
        "says": says,
        "name": f"policy {policy['number']}, miss cost {cost}",
    }


def _describe_edited(view: ProjectView) -> dict[str, Any] | None:
    """Return the coordinates of an edited policy, and the number of the original policy."""
    policy = view.policy
    if policy is None or policy.get("number") is not None or view.shown_policy is None:
        return None
    return describe_edit(view, view.shown_policy["figures"])


def describe_edit(view: ProjectView, figures: Mapping[str, float]) -> dict[str, Any]:
    """Return the coordinates of an edited policy; its number is None unless the kit has it."""
    policy, marks = view.policy or {}, (view.kit_facts or {}).get("mark_scores", {})
    number = policy.get("number")
    shown = _describe(view, {**figures, "number": number, "risk": figures["max_risk"]}, marks)
    return {**shown, "began": policy["choice"].get("policy")}


def _explain(view: ProjectView, risk: float) -> str:
    """Return one sentence about the risk of the riskiest record."""
    is_known = ((view.kit_facts or {}).get("population") or {}).get("known")
    where = "of the population" if is_known else "in the table"
    if not 0 < risk <= 0.5:
        return f"A released person may be the only one of their kind {where}."
    return (
        f"{_odds(risk)}: every released person is one of at least {1 / risk:,.0f} people {where} "
        "who look the same in the columns that others may know."
    )


def _write(axis: str, value: float) -> str:
    return share(value) if axis == "loss" else f"{value:.3g}"


def _odds(risk: float) -> str:
    return odds(risk) if 0 < risk <= 0.5 else share_and_odds(risk)


def _call(name: str) -> str:
    return name.replace("-", " ").title()


def _plan_choose(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that chooses a policy by its number or by a rule."""
    if isinstance(view, StudyView):
        return plan_choice(view, form)
    rule = str(form.get("rule", ""))
    if rule in view.kind.rules:
        way = view.kind.rules[rule][2]
    else:
        number = form.get("policy")
        if not isinstance(number, int) or not 0 <= number < len(view.policies["policies"]):
            raise FieldError("policy", "there is no such policy", instead="choose another one")
        way = ("--policy", str(number))
    force = ("--force",) if view.policy is not None else ()
    words = (view.project.kind, "choose", view.kit, *way, "--out", POLICY, *force)
    return (VerbCall(words, POLICY),)


ACTS = {"choose": _plan_choose, "edit": plan_edit}
