"""The Attack step: attack the release with an adversary's knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence, Finding, Rate
from voile.report.wording import advantage, estimate, format_note, join_names, name_of
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import KEY
from voile.workbench.project_view import Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    count,
    make_action,
    make_form,
    make_next,
    make_note,
)
from voile.workbench.step_screens.lookups import list_known_words
from voile.workbench.step_screens.register import make_log, plan_log
from voile.workbench.step_screens.study import plan_attack
from voile.workbench.study_view import StudyView

NAME, TITLE = "attack", "Attack"


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether this release was attacked."""
    if view.manifest is None:
        return StepState(NAME, TITLE, "blocked", "", "Make the release first.")
    if view.evidence is None:
        return StepState(NAME, TITLE, "open", "not attacked yet")
    why = view.release_problem or view.evidence_problem
    note = count(len(view.evidence["evidence"]), "attack")
    return StepState(NAME, TITLE, "stale" if why else "done", note, why)


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return a story for each attack, and the button that runs the attacks."""
    state, blocks = find_state(view), []
    why = state.why if state.state == "blocked" else view.release_problem
    if state.state == "stale":
        blocks.append(make_note(f"{state.why} Attack it again.", "warn"))
    found = [Evidence.from_json(one) for one in (view.evidence or {}).get("evidence", [])]
    if found:
        blocks.append({"block": "stories", "stories": [_tell_story(one) for one in found]})
    if view.kind.has_groups and not view.project.attack.register_file:
        blocks.append(make_note("No register is given on Adversary: nobody tries to link records."))
    if view.lacking:
        what = join_names(view.lacking)
        text = f"The population table has no {what}: nobody looks for people in it."
        blocks.append(make_note(text))
    label = "Attack it again" if found else "Attack the release"
    blocks.append(
        make_form([], [make_action("attack.run", label, why=why, primary=state.state != "done")])
    )
    if view.manifest is not None:
        blocks.append(make_log(view))
    why_next = "" if state.state == "done" else "Attack the release first."
    blocks.append(make_next("decide", "Next: decide", why=why_next))
    lede = (
        "Each attack has the release and its stated knowledge. Its success is a lower bound: "
        "an adversary who knows more does better."
    )
    return {"title": "What can an adversary still do?", "lede": why or lede, "blocks": blocks}


def _tell_story(evidence: Evidence) -> dict[str, Any]:
    shown = [one for one in evidence.findings if one.rate.trials]
    return {
        "title": f"{evidence.attack[:1].upper()}{evidence.attack[1:]}"
        + (f": {evidence.of}" if evidence.of else ""),
        "story": format_note(evidence.story, "internal") if evidence.story else "",
        "knows": list(evidence.knows),
        "findings": [_describe(one) for one in shown],
    }


def _describe(finding: Finding) -> dict[str, Any]:
    """Return a finding as `voile attack` prints it, and the numbers of its chart."""
    return {
        "name": name_of(finding, "internal"),
        "meaning": finding.meaning,
        "found": _rate(finding.rate),
        "baseline": _rate(finding.baseline),
        "control": _rate(finding.control),
        "says": advantage(finding.rate, finding.control, "internal") if finding.advantage else "",
    }


def _rate(rate: Rate | None) -> Mapping[str, Any] | None:
    if rate is None or not rate.trials:
        return None
    value, interval = estimate(rate, "internal")
    low, high = rate.interval()
    words = {"value": value, "interval": interval}
    return {"value": rate.value, "low": low, "high": high, "words": words}


def _plan_run(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that attacks the release with the knowledge from the Adversary step."""
    if isinstance(view, StudyView):
        return (plan_attack(view),)
    project = view.project
    words = [project.kind, "attack", view.release, "--original", view.source]
    if view.kind.has_groups and project.attack.register_file:
        words += ["--register", project.attack.register_file]
    if view.kind.has_groups and project.attack.person:
        words += ["--person", project.attack.person]
    if view.kind.has_groups and project.fit.population and not view.lacking:
        words += ["--population", project.fit.population]
    if view.kind.has_notes:
        words += list_known_words(project.lookups)
    words += ["--seed", str(project.seed), "--key-file", KEY]
    words += ["--force"] if view.evidence is not None else []
    return (VerbCall(tuple(words), f"{view.release}.private/evidence.json"),)


ACTS = {"run": _plan_run, "log": plan_log}
