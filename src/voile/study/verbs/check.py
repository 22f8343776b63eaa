"""The checks of a plan that need only counts. `fit` and `study check` run them before training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import Source
from voile.data.roles import AS_IT_IS, Roles
from voile.documents.fitting.init import propose_identifiers
from voile.documents.module import DOCUMENTS
from voile.documents.options import InitOptions
from voile.modules import find_module
from voile.release.kit import StoredKit
from voile.study.plan.part_roles import Extract, extract_of, part_roles
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.checks import check_overlap, check_written_once, read_people
from voile.study.verbs.export import carrier_of
from voile.study.verbs.notes_kit import SilentReports, source_of_kit
from voile.tables.fitting.fit import open_space
from voile.tables.fitting.kept import open_kept_space
from voile.tables.people.population import PopulationGapError


@dataclass(frozen=True)
class FitInputs:
    """The inputs of fitting parts of rows: sources, roles and options by part, and the extract."""

    sources: Mapping[str, Source]
    roles: Mapping[str, Roles]
    options: Mapping[str, Any]
    extract: Extract


def check(plan: StudyPlan) -> FitInputs:
    """Run every check of `fit` that needs no training: people, roles, counts, texts.

    Cost: a few passes over each source. No policy is searched and no kit is made.

    Raises
    ------
    RequestError : a row has no subject, roles disagree, a column has a single value, or notes are
        empty.
    InfeasibleError : k is larger than the people allow.
    """
    _ = plan.secret  # `apply` needs it, so fail early without it
    check_written_once(plan)
    sources = {name: plan.open_part(name) for name in plan.rows}
    extract = extract_of(plan, sources)
    if plan.export is not None and plan.study.edge_dates == "drop":
        extract = carrier_of(plan).extract()
    roles = {name: part_roles(plan, name, one, extract) for name, one in sources.items()}
    _check_quasi(plan, roles)
    inputs = FitInputs(sources, roles, {name: fit_options(plan, name) for name in roles}, extract)
    for name in plan.rows:
        _check_rows(plan, name, inputs)
    everybody = read_people(plan, plan.table[0])
    for name in plan.files:
        check_overlap(plan, name, everybody)
    for name in plan.texts:
        _check_text(plan, name)
    return inputs


def holds_events(plan: StudyPlan, name: str, roles: Roles) -> bool:
    """Return whether a table other than the first has no quasi-identifier.

    The first table generalises its people.
    """
    is_table = plan.rows[name].kind == "tables" and name != plan.table[0]
    return is_table and not roles.of("quasi")


def fit_options(plan: StudyPlan, name: str) -> Any:
    """Return the options for fitting a part of rows."""
    part = plan.rows[name]
    promised = plan.promise.constraints if name == plan.table[0] else {}
    per_row = {"promise": "row"} if part.kind == "tables" else {}  # the study evaluates people
    model = find_module(part.kind).options.fit
    return plan.options(model, name, "fit", {**per_row, **part.fit, **promised})


def on_another_day(plan: StudyPlan, error: PopulationGapError) -> RequestError:
    """Return the error of a population, with the export's day of ages if there is an export."""
    if plan.export is None:
        return error
    last = carrier_of(plan).last_day()
    visit = f", and the last visit began on {last}" if last else ""
    return RequestError(
        f"{error.what}: ages are counted on as_of, {plan.export.as_of}{visit}",
        where=error.where,
        instead="set as_of to the day on which the population counts ages, or correct the "
        'population, or count them by the sample: population_gap = "sample"',
    )


def _check_rows(plan: StudyPlan, name: str, inputs: FitInputs) -> None:
    """Count a table as `fit` does, and refuse one without any allowed policy."""
    source, roles = inputs.sources[name], inputs.roles[name]
    if plan.rows[name].kind != "tables":
        return
    count_rows = open_kept_space if holds_events(plan, name, roles) else open_space
    try:
        count_rows(source, roles, inputs.options[name])
    except PopulationGapError as error:
        raise on_another_day(plan, error) from None


def _check_text(plan: StudyPlan, name: str) -> None:
    """Refuse notes from which no kit can be made."""
    part = plan.texts[name]
    if part.kit is not None:
        StoredKit.load(plan.notes_kit(name), "documents")
        return
    source, given = source_of_kit(plan, name)
    if part.fit is not None:
        DOCUMENTS.open(source)
        return
    options = plan.options(InitOptions, name, "init", given)
    propose_identifiers(options, SilentReports(silent), source=source)


def _check_quasi(plan: StudyPlan, roles: Mapping[str, Roles]) -> None:
    """Refuse a column that two tables would generalise, or that another part releases unchanged."""
    first: dict[str, str] = {}
    tables = {name: own for name, own in roles.items() if plan.rows[name].kind == "tables"}
    for name, own in tables.items():
        for column in own.of("quasi"):
            if column in first:
                raise RequestError(
                    f"{column} is a quasi-identifier of parts.{first[column]}, too",
                    where=f"parts.{name}",
                    instead="drop it in one of them: intervals of two policies together say more",
                )
            first[column] = name
    for name, own in roles.items():
        for column in own.of("known", *AS_IT_IS):
            is_sent = own.columns[column].role != "known" or own.columns[column].settings.get(
                "sent"
            )
            if is_sent and first.get(column, name) != name:
                raise RequestError(
                    f"{column} is a quasi-identifier of parts.{first[column]}, and released as it "
                    "is here",
                    where=f"parts.{name}",
                    instead="drop it: it says more than the intervals",
                )
