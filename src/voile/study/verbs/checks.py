"""Checks by which `apply` refuses a part, or all parts together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow.compute as pc

from voile.core.errors import InfeasibleError, RequestError
from voile.core.wording import count
from voile.data import Source
from voile.documents.replacements.kinds import kind_of
from voile.gate.finding import GateFinding
from voile.gate.people import ALONE
from voile.gate.promises import JoinedRowsError
from voile.keys.pseudonyms import without_subject
from voile.proposals.seen import printable
from voile.release.choice import ROUNDING
from voile.release.kit import StoredKit
from voile.report.wording import join_names
from voile.study.adversary.acquaintance import ONE_ROW, known_facts
from voile.study.adversary.days import day_columns
from voile.study.plan.entries import JOINT
from voile.study.plan.part_roles import Extract
from voile.study.plan.plan import StudyPlan
from voile.study.risk.remedies import PlanRemedy
from voile.study.study_release import StudyRelease
from voile.study.text.shown import PersonIntervals


def check_written_once(plan: StudyPlan) -> None:
    """Refuse rows without a subject, and subjects with surrounding blanks in some rows only.

    A subject with blanks would have its own pseudonym and offset, and count as another person in k.
    """
    written: dict[str, str] = {}
    for name, part in plan.parts.items():
        source = plan.open_part(name)
        if part.of is not None or plan.study.subject not in source.columns:
            continue
        nobody = 0
        for batch in source.batches([plan.study.subject]):
            cells = batch.column(0)
            nobody += pc.sum(without_subject(cells)).as_py() or 0
            for one in map(str, cells.unique().drop_null().to_pylist()):
                if written.setdefault(one.strip(), one) != one:
                    raise RequestError(
                        "a person of it is written with blanks around here and without them there",
                        where=f"parts.{name}",
                        instead=f"write {plan.study.subject} in one way in every row",
                    )
        if nobody:
            raise RequestError(
                f"{source.name} has {count(nobody, 'row')} without {printable(plan.study.subject)}",
                where=f"parts.{name}",
                instead="fill the column, or take these rows out",
            )


def check_applied(plan: StudyPlan, release: StudyRelease) -> None:
    """Refuse a release that was made from other parts or other sources than the plan's."""
    if plan.parts.keys() != release.public["parts"].keys():
        raise RequestError(
            "the release has other parts than the plan",
            where=str(release.path),
            instead="fit and apply the plan, or undo the changes in it",
        )
    for name, part in plan.parts.items():
        if part.of is None:
            source = plan.open_part(name)
            rows = sum(len(batch) for batch in source.batches([plan.study.subject]))
            release.part(name).check_source(source, rows)


def read_people(plan: StudyPlan, name: str) -> set[str]:
    """Return the people of a part, as written in it."""
    whose = plan.open_part(name).read([plan.study.subject]).column(0).unique().drop_null()
    return {str(one) for one in whose.to_pylist()}


def check_overlap(plan: StudyPlan, name: str, everybody: Collection[str]) -> None:
    """Refuse a part that shares no person with the table."""
    if read_people(plan, name).isdisjoint(everybody):
        raise RequestError(
            "nobody in it has a row of the table",
            where=f"parts.{name}",
            instead=f"write {plan.study.subject} the same way as the table has it",
        )


def check_people(plan: StudyPlan, name: str, shown: PersonIntervals) -> None:
    """Refuse a part in which no person has a released row of the table."""
    if not any(map(shown.has, read_people(plan, name))):
        raise RequestError(
            "nobody in it has a released row of the table",
            where=f"parts.{name}",
            instead=f"write {plan.study.subject} the same way as the table has it",
        )


def check_met(plan: StudyPlan, name: str, counts: Mapping[str, Any]) -> None:
    """Refuse texts that are all rejected, since their subjects are written differently."""
    if counts["set_aside"] and not counts["released"]:
        raise RequestError(
            "no text is of a person with a released row",
            where=f"parts.{name}",
            instead=f"write {plan.study.subject} the same way as the table has it",
        )


def check_kept(name: str, source: Source, kept: Sequence[str], shown: PersonIntervals) -> None:
    """Refuse columns in the rows of texts that would reveal values hidden by the table's policy."""
    quasi = {column.column for column in shown.codebook.columns}
    days = day_columns(source, kept)
    for column in kept:
        what = "a date, which does not move" if column in days else None
        if column in quasi:
            what = "a quasi-identifier of the table, as it is"
        if what is not None:
            raise RequestError(
                f"column {column} would be released with the texts: {what}",
                where=f"parts.{name}",
                instead="drop it in the roles of the notes",
            )


def check_surrogates(plan: StudyPlan, name: str, kit: StoredKit, extract: Extract) -> None:
    """Refuse surrogate dates that would move by another offset than the columns."""
    labels = [x for x in kit.facts["labels"] if kind_of(x) == "date"]
    loose = [x for x in labels if x not in plan.mentions]
    if loose and not plan.date_rule(*extract).is_plain:
        raise RequestError(
            f"surrogates of {join_names(loose)} would move by another offset than the columns",
            where=f"parts.{name}",
            instead=f'write {loose[0]} = "shift" or "drop" in [mentions]',
        )


@contextmanager
def offer_plan_options(plan: StudyPlan, name: str) -> Iterator[None]:
    """Add the options of a plan to the error if the joined rows of a part single people out."""
    try:
        yield
    except JoinedRowsError as error:
        is_followed = name in {plan.table[0], *(text.of for text in plan.texts.values())}
        options = ["join = false in [study]" if is_followed else 'links = "none"']
        options += ["most_rows = 1"] if plan.export is None else []
        accept = 'apply = { accept_risk = "REASON" }, which the report repeats on its first line'
        raise InfeasibleError(
            error.what, where=f"parts.{name}", instead=f"choose one: {'; '.join(options)}; {accept}"
        ) from None


def check_alone(
    plan: StudyPlan, known: Sequence[GateFinding], remedies: Sequence[PlanRemedy]
) -> None:
    """Refuse a release if all facts single out more people than the plan allows.

    Raises
    ------
    InfeasibleError : the message lists the remedies, with the number of people whom each would
        help.
    """
    limit = plan.promise.alone
    counts = [(one.alone, one.people) for one in known_facts(known) if one.facts is None]
    rows = [one for one in known if one.name == ALONE and one.of.startswith(ONE_ROW)]
    counts = counts or [(one.value, one.n or 0) for one in rows]
    alone, people = max(counts, default=(0.0, 0))
    if limit is None or alone <= limit * people:
        return
    offers = "; ".join(one.says for one in remedies)
    raise InfeasibleError(
        f"all facts single out {alone:,.0f} of {people:,} people, and [promise] allows {limit:.3g}",
        where=str(plan.path),
        instead=offers or "no cap and no break of links of one part helps: drop a part",
    )


def check_promise(
    plan: StudyPlan, figures: Mapping[str, float], guessed: Sequence[str], stated: Sequence[str]
) -> None:
    """Refuse a joint risk above the plan's limit.

    Texts may reveal values that the fit assumed hidden, or other parts may show more than when they
    were fitted. `stated` lists the columns with values that the released texts state.
    """
    limit = plan.promise.ways.get(JOINT)
    if limit is None or not figures["subjects"]:
        return
    risk = figures["joint_at_recall" if guessed else "joint"] / figures["subjects"]
    if risk <= limit + ROUNDING:
        return
    if guessed:
        raise InfeasibleError(
            f"a classifier guesses {join_names(list(guessed))} from the texts above chance, and "
            f"then the joint risk is {risk:.6g}, above {limit:.6g}",
            instead=f'write SEX = {{ column = "{guessed[0]}", keep = true }} in [mentions]',
        )
    if said := [one for one in stated if one not in {x.column for x in plan.mentions.values()}]:
        raise InfeasibleError(
            f"the released texts state {join_names(said)}, and with it the joint risk is "
            f"{risk:.6g}, above {limit:.6g}",
            instead=f'write {said[0].upper()} = {{ column = "{said[0]}", values = true }} in '
            "[mentions]: texts then show the interval of the row",
        )
    raise InfeasibleError(
        f"the joint risk of the written release is {risk:.6g}, above {limit:.6g}: parts show more "
        "than when they were fitted",
        instead="fit again: voile study fit",
    )
