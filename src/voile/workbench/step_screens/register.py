"""The register of releases: the intruders' log, the tasks, the dates, and the erasure letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from voile.core.errors import RequestError
from voile.workbench.planned_commands import FileWrite, Move
from voile.workbench.project_folder import CONTEXT, DETERMINATION, LETTER, PROJECT, ProjectFolder
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

SOON = timedelta(days=31)
MOST = 50  # the largest number of lines of a list
LOG = (
    "People try to name somebody in the release, with any source. "
    "The determination reports the test, and a confirmed claim is a warning to the signers."
)
TASKS = (
    "Write day, owner and task on one line, with semicolons between them. "
    "The line of a finished task may stay."
)
ASKED = "The letter contains no name. Send the list of persons separately, encrypted."
HEAD = ("Release", "Recipient", "Purpose", "Last day", "State")


def make_log(view: ProjectView) -> Block:
    """Return the form with the log of motivated intruders."""
    known = (view.context or {}).get("intruder_test", {})
    lists = {name: "\n".join(known.get(name, ())) for name in ("intruders", "sources")}
    fields = [
        make_field("intruders", "Intruders", lists["intruders"], kind="area", hint="one per line"),
        make_field("sources", "Sources", lists["sources"], kind="area", hint="one per line"),
        make_field("started", "First day", str(known.get("started", "")), kind="date"),
        make_field("hours", "Hours", known.get("hours", ""), kind="number"),
        make_field("claims", "Claims made", known.get("claims", ""), kind="number"),
        make_field("confirmed", "Claims confirmed", known.get("confirmed", ""), kind="number"),
        make_field("checked_by", "Compared by", known.get("checked_by", "")),
    ]
    action = make_action("attack.log", "Save the log", why=_find_refusal(view), primary=False)
    return make_form([make_group("Log of motivated intruders", fields, LOG)], [action])


def plan_log(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that writes the intruders' log into the context."""
    from voile.determination.holder_statements import IntruderTest

    claims = int(read_number(form, "claims", "the number of claims", 0, 1e9))
    test = IntruderTest(
        intruders=_read_lines(form, "intruders", "the list of intruders"),
        sources=_read_lines(form, "sources", "the list of sources"),
        started=_read_day(read_text(form, "started", "the first day"), "started"),
        hours=read_number(form, "hours", "the number of hours", 0.1, 100_000),
        claims=claims,
        confirmed=int(read_number(form, "confirmed", "the number confirmed", 0, claims)),
        checked_by=read_text(form, "checked_by", "the person who compared"),
    )
    return (_write_context(view, "intruder_test", test.model_dump()),)


def make_tasks(view: ProjectView) -> Block:
    """Return the form with the conditions and tasks, each with its day and its owner."""
    known = (view.context or {}).get("review", [])
    text = "\n".join(f"{one['due']}; {one['owner']}; {one['what']}" for one in known)
    field = make_field("tasks", "Conditions and tasks", text, kind="area")
    action = make_action("decide.tasks", "Save the tasks", why=_find_refusal(view), primary=False)
    return make_form([make_group("Conditions with owner and day", [field], TASKS)], [action])


def plan_tasks(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that writes the conditions and tasks into the context."""
    return (_write_context(view, "review", [*map(_read_task, _read_lines(form, "tasks"))]),)


def make_register(view: ProjectView) -> list[Block]:
    """Return the releases of all projects in the parent folder, and the tasks of the next month."""
    judged = [*_list_judged(view.folder)]
    tasks = [
        (str(one["due"]), one["owner"], one["what"], name)
        for name, determination, _ in judged
        for one in determination["context"].get("review") or ()
    ]
    tasks += [(one["context"]["expires"], "", "Last day", name) for name, one, _ in judged]
    last = str(datetime.now(UTC).date() + SOON)
    due = [list(one) for one in sorted(tasks) if one[0] <= last]
    rows = [_describe_judged(*one) for one in judged]
    if not rows:
        return [make_note("The register is empty: nobody has judged a release.")]
    return [
        {"block": "table", "title": "Register of releases", "head": HEAD, "rows": rows},
        {
            "block": "table",
            "title": "Due within 31 days",
            "head": ["Day", "Owner", "Task", "Release"],
            "rows": due,
        }
        if due
        else make_note("No task is due within 31 days."),
    ]


def make_letter(view: ProjectView) -> Block:
    """Return the form for the erasure letter to the recipient of a release."""
    fields = [make_field("people", "People to erase", 1, kind="number", hint="how many asked")]
    why = "" if view.determination else "Judge the release first."
    action = make_action("again.letter", "Write the erasure letter", why=why, primary=False)
    return make_form([make_group("Erasure", fields, ASKED)], [action])


def plan_letter(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that writes the erasure letter."""
    if view.determination is None:
        raise FieldError("again.letter", "nobody has judged the release", instead="judge it first")
    people = int(read_number(form, "people", "the number of people", 1, 1e9))
    told = view.determination["context"]
    verb = "person asks" if people == 1 else "people ask"
    text = f"""\
{datetime.now(UTC).date()}

To: {told["recipient"]}
Release: {view.release}, SHA-256 {view.determination["sha256"]}
Purpose: {told["purpose"]}

{people:,} {verb} to be erased from this release.
The list of records follows separately, encrypted.

1. Delete these records, and every copy and extract of them.
2. Do not try to name these people.
3. Confirm the deletion in writing within 30 days.
"""
    return (FileWrite(LETTER, text),)


def _list_judged(folder: ProjectFolder) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield name, determination and last decision of this project, then of adjacent projects."""
    others = sorted(one.parent for one in folder.path.parent.glob(f"*/{PROJECT}"))
    for place in (folder.path, *(one for one in others if one != folder.path)):
        one = ProjectFolder(place)
        found = one.read_json(f"{DETERMINATION}/determination.json")
        if found is not None and {"context", "verdict"} <= found.keys():
            statements = sorted((place / DETERMINATION / "statements").glob("*.json"))
            last = one.read_json(str(statements[-1].relative_to(place))) if statements else None
            yield place.name, found, (last or {}).get("decision", f"{found['verdict']}; not signed")


def _describe_judged(name: str, one: Mapping[str, Any], decision: str) -> list[str]:
    told = one["context"]
    is_over = told["expires"] < str(datetime.now(UTC).date())
    state = f"{decision}; expired" if is_over else decision
    return [name, told["recipient"], told["purpose"], told["expires"], state]


def _find_refusal(view: ProjectView) -> str:
    """Return the reason why the context cannot be changed, or an empty text if it can."""
    if view.statements:
        return "A signed determination stays as it is."
    return "" if view.context else "Fill in the form of the Adversary step first."


def _write_context(view: ProjectView, name: str, value: object) -> FileWrite:
    import tomli_w

    if why := _find_refusal(view):
        raise RequestError(why.rstrip("."))
    return FileWrite(CONTEXT, tomli_w.dumps({**(view.context or {}), name: value}))


def _read_lines(form: Form, name: str, what: str = "") -> list[str]:
    lines = (one.strip() for one in read_text(form, name, what).splitlines())
    found = [one for one in lines if one]
    if len(found) > MOST:
        raise FieldError(name, f"there are {len(found)} lines", instead=f"write at most {MOST}")
    return found


def _read_task(line: str) -> dict[str, Any]:
    day, owner, what = [*(one.strip() for one in line.split(";", 2)), "", ""][:3]
    if not (owner and what):
        instead = "write day; owner; task"
        raise FieldError("tasks", f'"{line}" lacks an owner or a task', instead=instead)
    return {"due": _read_day(day, "tasks"), "what": what, "owner": owner}


def _read_day(text: str, field: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise FieldError(field, f'"{text}" is not a date', instead="write YYYY-MM-DD") from None
