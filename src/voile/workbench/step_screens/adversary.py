"""The Adversary step: the adversary, and the limits and thresholds set before any figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from voile.report.charts.numbers import share
from voile.report.wording import join_names
from voile.workbench.planned_commands import FileWrite, Move, VerbCall
from voile.workbench.project_file import AttackerFiles, FitLimits
from voile.workbench.project_folder import CONTEXT, PROJECT, ROLES
from voile.workbench.project_view import FieldError, Form, ProjectView, StepState
from voile.workbench.step_screens.blocks import (
    check_filled,
    make_action,
    make_field,
    make_form,
    make_group,
    make_next,
    make_note,
    read_number,
    read_path,
    read_text,
)
from voile.workbench.step_screens.lookups import (
    list_fit_words,
    make_lookup_group,
    read_lookups,
)
from voile.workbench.step_screens.study import make_limit_group, write_limits
from voile.workbench.step_screens.study import plan_fit as plan_study_fit
from voile.workbench.study_view import StudyView

NAME, TITLE = "adversary", "Adversary"
THRESHOLDS = {
    "re-identification": ("Re-identification", "largest risk of a record", 0.09),
    "singling-out": ("Singling out", "share of people unique in the release", 0.05),
    "linkability": ("Linkability", "share of people whom a register names", 0.09),
    "inference": ("Inference", "guesses beyond those about outsiders", 0.2),
    "text-left": ("Text", "share of identifiers that stay in the notes", 0.02),
    "kept-columns": ("Kept columns", "share of people unique with the kept columns", 0.05),
}
EMA = "EMA Policy 0070"
DEFAULT = "Default of voile"
PEOPLE = (
    "A table of people by the columns that others may know. "
    "Without it, risk counts only the people of this table."
)
SOURCES = (
    "Each threshold needs its source. "
    "A reason to accept turns a figure above the threshold into a condition."
)
JOINT = "Without a ledger nobody measures the joint risk. Give the reason why it does not matter."
TEXTS = {
    "recipient": ("", "recipient", "Recipient", "who receives the release"),
    "purpose": ("", "purpose", "Purpose", "what for"),
    "legal_basis": ("", "legal_basis", "Legal basis", "as counsel states it"),
    "prepared_by": ("", "prepared_by", "Prepared by", "as a signer's name; cannot approve"),
    "policy": ("decisions", "policy", "Who chooses the policy", "and why"),
    "thresholds": ("decisions", "thresholds", "Who sets the thresholds", "and why"),
    "assumed": ("attacker", "assumed", "The adversary", "and the adversary's knowledge"),
    "stronger": ("attacker", "why", "Why nobody stronger", ""),
    "contract": ("controls", "contract", "Contract", "what it forbids"),
    "access": ("controls", "access", "Access", "who, and where"),
    "audit": ("controls", "audit", "Audit", "which uses are logged, and who reads the log"),
}
"""Each text of the context: its table, its key, its label and its hint."""
FIRST = {
    "policy": "The person who prepared the release chose it on the frontier",
    "thresholds": "The person who prepared the release set them before the first figure",
    "assumed": "Somebody who knows of everybody each column that others may know",
}
"""Default texts that are true because of the page's own steps."""


def find_state(view: ProjectView) -> StepState:
    """Return the step's state, which depends on whether limits and thresholds are set."""
    if not view.roles:
        return StepState(NAME, TITLE, "blocked", "", "Read the table first.")
    limits = view.project.fit
    note = f"groups of {limits.k}, no record above 1 in {_odds(limits.max_risk)}"
    if view.kind.has_notes or view.kind.is_study:
        note = "thresholds are set" if view.context else "set the thresholds"
    elif not view.kind.has_groups:
        note = f"{share(limits.hold_out)} held out"
    return StepState(NAME, TITLE, "done" if view.context else "open", note)


def build_screen(view: ProjectView) -> dict[str, Any]:
    """Return the forms of limits, thresholds and context."""
    title, lede = "Who might try?", "Set limits and thresholds now, before voile shows a figure."
    if why := find_state(view).why:
        return {"title": title, "lede": why, "blocks": []}
    context = view.context or {}
    groups = [
        *_limit_groups(view),
        make_group(
            "Thresholds of the decision",
            [one for name in view.kind.criteria for one in _threshold_fields(view, name)],
            SOURCES,
            layout="lined",
        ),
        make_group("Other releases", [_joint_field(context)]),
        make_group("The recipient and the rules", [*_text_fields(context), *_term_fields(context)]),
    ]
    actions = [
        make_action("adversary.fit", "Find the policies"),
        make_action("adversary.save", "Save without a search", primary=False),
    ]
    blocks = [make_form(groups, actions)]
    if view.kit_problem:
        blocks.append(make_note(f"{view.kit_problem} Find the policies again.", "warn"))
    why = "" if view.kit_facts else "Find the policies first."
    blocks.append(make_next("frontier", "Next: the frontier", why=why))
    return {"title": title, "lede": lede, "blocks": blocks}


def _limit_groups(view: ProjectView) -> list[dict[str, Any]]:
    """Return the fields of the fit's limits and of the adversary's files."""
    if isinstance(view, StudyView):
        return make_limit_group(view)
    if view.kind.has_notes:
        return [make_lookup_group(view)]
    limits, files = view.project.fit, view.project.attack
    hold_out = make_field(
        "hold_out",
        "Share of people held out as a control",
        limits.hold_out,
        kind="number",
        hint="They are not released. Attacks compare with them.",
    )
    if not view.kind.has_groups:
        return [make_group("Limits of every policy", [hold_out])]
    register = "Named people with the same columns. Needed for the linkage attack."
    risk = "The largest chance that an adversary names the person of a record correctly."
    knowledge = [
        make_field(
            "population", "Population table", limits.population, hint=PEOPLE, warn=_find_fault(view)
        ),
        make_field(
            "register_file", "Register that the adversary has", files.register_file, hint=register
        ),
        make_field("person", "Column of identities in the register", files.person),
    ]
    numbers = [
        make_field("k", "Smallest group, in people", limits.k, kind="number"),
        make_field(
            "max_risk", "No record above 1 in", _odds(limits.max_risk), kind="number", hint=risk
        ),
        make_field("suppress", "Share of people dropped at most", limits.suppress, kind="number"),
        hold_out,
    ]
    return [
        make_group("The adversary's knowledge", knowledge),
        make_group("Limits of every policy", numbers),
    ]


def _find_fault(view: ProjectView) -> str:
    """Return the fault of the population table, or an empty text if it has none."""
    if not view.lacking:
        return ""
    return (
        f"This table has no {join_names(view.lacking)}. The risk counts people by its other "
        "columns, and Attack does not use the table. Add these columns, or change their roles."
    )


def _threshold_fields(view: ProjectView, name: str) -> list[dict[str, Any]]:
    label, what, usual = THRESHOLDS[name]
    known = (view.context or {}).get("thresholds", {}).get(name, {})
    is_ema = known.get("standard") == "ema-0070" or (not known and usual == 0.09)
    limit = 0.09 if is_ema else known.get("at_most", "" if known else usual)
    source = EMA if is_ema else known.get("source", "" if known else DEFAULT)
    fields = [
        make_field(f"{name}.limit", f"{label}: at most", limit, kind="number", hint=what),
        make_field(f"{name}.source", f"{label}: source", source),
    ]
    if name != "re-identification" or view.kind.has_notes or view.kind.is_study:
        accept = known.get("accept", "")
        fields.append(make_field(f"{name}.accept", f"{label}: reason to accept more", accept))
    return fields


def _joint_field(context: Mapping[str, Any]) -> dict[str, Any]:
    known = context.get("thresholds", {}).get("joint-risk", {})
    return make_field(
        "joint", "Why no other release of these people matters", known.get("accept", ""), hint=JOINT
    )


def _text_fields(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        make_field(name, label, _at(context, table).get(key, FIRST.get(name, "")), hint=hint)
        for name, (table, key, label, hint) in TEXTS.items()
    ]


def _term_fields(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    year = datetime.now(UTC).date() + timedelta(days=365)
    renewal = "; ".join(context.get("renewal", ["a new release of these people"]))
    return [
        make_field("expires", "Last day", str(context.get("expires", year)), kind="date"),
        make_field("renewal", "Ends earlier with", renewal, hint="several: separate them by ;"),
        make_field(
            "signers",
            "People who have to approve",
            str(context.get("signers", 1)),
            kind="select",
            options=[["1", "one"], ["2", "two"]],
        ),
    ]


def _at(context: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = context.get(table, {}) if table else context
    return found


def _plan_save(view: ProjectView, form: Form) -> Sequence[Move]:
    """Write the limits and the context."""
    return _writes(view, form)


def _plan_fit(view: ProjectView, form: Form) -> Sequence[Move]:
    """Write the limits and the context, and fit the policies."""
    if isinstance(view, StudyView):
        return (*_writes(view, form), plan_study_fit(view))
    verb, *options = _fit_words(view, form)
    words = [view.project.kind, verb, view.source, "--roles", ROLES, *options]
    words += ["--seed", str(view.project.seed), "--out", view.kit]
    words += ["--force"] if view.kit_facts is not None else []
    return (*_writes(view, form), VerbCall(tuple(words), view.kit))


def _fit_words(view: ProjectView, form: Form) -> list[str]:
    if view.kind.has_notes:
        return list_fit_words(view, read_lookups(view, form))
    given = _limits(view, form).model_dump()
    limits = given if view.kind.has_groups else {"hold_out": given["hold_out"]}
    words = ["fit"]
    for option, value in limits.items():
        if value not in ("", 0.0) and (option, value) not in (("k", 1), ("max_risk", 1.0)):
            words += [f"--{option.replace('_', '-')}", str(value)]
    return words


def _writes(view: ProjectView, form: Form) -> list[Move]:
    check_filled(form, _list_required(view))
    files = AttackerFiles(
        register_file=read_path(view, form, "register_file"), person=read_text(form, "person")
    )
    update: dict[str, object] = {"attack": files}
    if view.kind.has_notes:
        update["lookups"] = read_lookups(view, form)
    elif not isinstance(view, StudyView):
        update["fit"] = _limits(view, form)
    project = view.project.model_copy(update=update)
    plan = [write_limits(view, form)] if isinstance(view, StudyView) else []
    return [FileWrite(CONTEXT, _context(view, form)), FileWrite(PROJECT, project.to_toml()), *plan]


def _list_required(view: ProjectView) -> dict[str, str]:
    """Return the required fields of a context, each with its description for users."""
    fields = {name: f'"{label}"' for name, (_, _, label, _) in TEXTS.items()}
    for name in view.kind.criteria:
        label = THRESHOLDS[name][0].lower()
        fields[f"{name}.limit"] = f"the threshold of {label}"
        fields[f"{name}.source"] = f"the source of {label}"
    return {**fields, "expires": "the last day", "renewal": '"Ends earlier with"'}


def _limits(view: ProjectView, form: Form) -> FitLimits:
    hold_out = read_number(form, "hold_out", "the share held out", 0, 0.9)
    if not view.kind.has_groups:
        return FitLimits(hold_out=hold_out)
    return FitLimits(
        k=int(read_number(form, "k", "the smallest group", 1, 1e6)),
        max_risk=1 / read_number(form, "max_risk", "the odds", 1, 1e9),
        suppress=read_number(form, "suppress", "the share dropped", 0, 1),
        hold_out=hold_out,
        population=read_path(view, form, "population"),
    )


def _context(view: ProjectView, form: Form) -> str:
    """Return the context as TOML, including tables of the earlier context that the form lacks."""
    import tomli_w

    data = dict(view.context or {})
    for name, (table, key, _, _) in TEXTS.items():
        text = read_text(form, name)
        if table:
            data[table] = {**data.get(table, {}), key: text}
        else:
            data[key] = text
    data["expires"] = _day(form)
    renewal = read_text(form, "renewal")
    data["renewal"] = [one.strip() for one in renewal.split(";") if one.strip()]
    data["signers"] = 2 if form.get("signers") == "2" else 1
    data["thresholds"] = _thresholds(view, form, data.get("thresholds", {}))
    first = {name: one for name, one in data.items() if not isinstance(one, dict)}
    return tomli_w.dumps({**first, **data})


def _thresholds(view: ProjectView, form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in view.kind.criteria:
        label = THRESHOLDS[name][0]
        limit = read_number(form, f"{name}.limit", f"the threshold of {label.lower()}", 0, 1)
        source = read_text(form, f"{name}.source")
        is_ema = source == EMA and limit == 0.09
        kept = {key: one for key, one in before.get(name, {}).items() if key in ("bounds", "why")}
        given: dict[str, Any] = (
            {"standard": "ema-0070"} if is_ema else {"at_most": limit, "source": source}
        )
        accept = read_text(form, f"{name}.accept")
        found[name] = {
            **kept,
            **given,
            **({"accept": _reason(f"{name}.accept", accept)} if accept else {}),
        }
    if joint := read_text(form, "joint"):
        found["joint-risk"] = {"accept": _reason("joint", joint)}
    return found


def _reason(field: str, text: str) -> str:
    if len(text.split()) < 4:
        raise FieldError(
            field, "this is no reason", instead="write a sentence of four words or more"
        )
    return text


def _day(form: Form) -> date:
    text = read_text(form, "expires")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise FieldError("expires", "this is not a date", instead="write YYYY-MM-DD") from None
    if day < datetime.now(UTC).date():
        raise FieldError("expires", "the last day is in the past", instead="choose a later one")
    return day


def _odds(risk: float) -> str:
    return f"{1 / risk:.6g}"


ACTS = {"save": _plan_save, "fit": _plan_fit}
