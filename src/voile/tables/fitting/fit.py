"""Fit a table: the first verb, which finds the frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.memory import require_memory
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.data import Source
from voile.data.hold_out import HoldOut, TrainingSource
from voile.data.roles import AS_IT_IS, Roles
from voile.keys.random import streams
from voile.release.kit import StoredKit
from voile.report.wording import join_names
from voile.tables.domains.settings import PATHS, KeptSettings, QuasiSettings
from voile.tables.fitting.analyses import analyse_fit, read_model
from voile.tables.fitting.bounds.bound import LossBound, bound, refuse_unbounded
from voile.tables.fitting.forests import grow, join_frontiers
from voile.tables.fitting.global_search import check_method, is_searched, marks_of, search_globally
from voile.tables.fitting.person_promise import ABSENT, grow_records, promises_per_person
from voile.tables.fitting.reach import refuse_kept_cuts, refuse_unreachable
from voile.tables.fitting.search import SearchResult
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.forest import PolicyForest
from voile.tables.people.counts import Constraints
from voile.tables.policies.scores import score_marks
from voile.tables.scoring.group_measures import refuse_estimated
from voile.tables.scoring.named_measures import LossWeights
from voile.tables.verbs.content import RequestedMeasure, TablesContent
from voile.tables.verbs.options import FitOptions

TREES = "trees"
CELL_BYTES = 200
"""Bytes of memory for each distinct combination and column in a search.

70 to 180 bytes were measured.
"""


class PopulationWarning(UserWarning):
    """The population lacks some quasi-identifiers. Read how groups are then counted."""


def fit(
    source: Source, roles: Roles, options: FitOptions, *, seed: int | None, progress: ProgressHook
) -> StoredKit:
    """Find the policies of a table on the risk-loss frontier.

    The source is read once for each GROUP BY. The private kit contains only the distinct
    combinations.
    """
    drawn = streams(seed, "hold-out", "search", "analysis")
    hold_out = HoldOut(options.hold_out, drawn[0].bytes(32), roles.subject)
    progress("counting the rows", 0)
    fitted = TrainingSource(source, hold_out) if options.hold_out else source
    space = open_space(fitted, roles, options)
    _require_memory(space)
    sensitive = _sensitive(roles) if space.constraints.diverse else ()
    per_person = promises_per_person(fitted, roles, options)
    marks, absent = ({}, dict(ABSENT)) if per_person else marks_of(space, options)
    if options.lower_bound_seconds is not None:
        refuse_unbounded(space.evaluator)
    found = proved = None
    forest: PolicyForest | None
    if per_person:
        forest, numbers, matches = grow_records(fitted, roles, space, sensitive, progress)
        frontier, family, figures = join_frontiers(
            space, None, forest, numbers=numbers, matches=matches
        )
    else:
        forest = _forest(space, options, absent, progress)
        if is_searched(space, options, absent):
            found = search_globally(space, options, marks, drawn[1], progress)
            proved = _prove(space, found, options, progress)
        frontier, family, figures = join_frontiers(space, _best(found, proved), forest)
    analysis = analyse_fit(
        fitted, roles, options, space, (frontier, family), marks, drawn[2], progress
    )
    content = TablesContent(
        space,
        family,
        frontier,
        figures,
        roles,
        hold_out,
        sensitive,
        options.outcomes,
        {
            "risk": RequestedMeasure.of(options.risk, space.risk),
            "loss": RequestedMeasure.of(options.loss, space.loss),
        },
        marks,
        score_marks(space, marks),
        absent,
        options.fraction,
        _how(found, proved, forest),
        proved,
        None if analysis is None else analysis.to_data(),
    )
    return content.to_kit()


def open_space(source: Source, roles: Roles, options: FitOptions) -> PolicySpace:
    """Check the options and the roles, count the source, and reject impossible constraints.

    Raises
    ------
    RequestError : a column has no role, a quasi-identifier has one value, or a needed option is
        missing.
    InfeasibleError : even the most general policy breaks the constraints.
    """
    roles.check(source.columns, "quasi", "weight")
    check_kept(roles)
    _check_outcomes(roles, options)
    check_method(options)
    _check_loss(options)
    constraints = constraints_of(options)
    read_model(options, roles)
    sensitive = _sensitive(roles) if constraints.diverse else ()
    space = _space(source, roles, options, constraints, sensitive)
    _warn_of_uncovered(space)
    if options.family != "tree":
        refuse_estimated(space.risk)
    refuse_unreachable(space.counts, constraints, sensitive)
    if options.family != "tree":
        refuse_kept_cuts(space)
    return space


def _require_memory(space: PolicySpace) -> None:
    """Raise an error if a search would need more memory than there is."""
    combinations, columns = space.counts.codes.shape
    require_memory(
        combinations * columns * CELL_BYTES,
        for_what=f"the search of {combinations:,} distinct combinations of {columns} columns",
        instead="put numbers into bins in the roles file (bins = 20), or drop a column",
    )


def _warn_of_uncovered(space: PolicySpace) -> None:
    """Warn about a population that counts people by only some of the quasi-identifiers."""
    if space.population is None or (boxes := space.population.boxes) is None:
        return
    some, every = len(boxes.columns), len(space.quasi)
    warn(
        f"the population covers {some} of {every} quasi-identifiers: {join_names(boxes.columns)}; "
        f"risk counts people with equal values of {'this one' if some == 1 else f'these {some}'} "
        "only in the population, and of all of them only in the source",
        PopulationWarning,
    )


def _forest(
    space: PolicySpace, options: FitOptions, absent: dict[str, str], progress: ProgressHook
) -> PolicyForest | None:
    """Grow trees if requested. In a fit of both families, record why trees cannot grow."""
    if options.family == "global":
        return None
    try:
        return grow(space, progress)
    except RequestError as error:
        if options.family == "tree":
            raise
        absent[TREES] = str(error)
        return None


def check_kept(roles: Roles) -> None:
    """Raise an error if a column released unchanged has settings of another role.

    The message lists all such columns.
    """
    quasi = QuasiSettings.model_fields.keys() - KeptSettings.model_fields.keys()
    kept = {name: roles.columns[name].settings for name in roles.of(*AS_IT_IS)}
    left = [
        f"{name} ({', '.join(others)})"
        for name, settings in kept.items()
        if (others := [setting for setting in settings if setting in quasi])
    ]
    if left:
        raise RequestError(
            f"these columns are released as they are, and have settings of the role quasi: "
            f"{', '.join(left)}",
            where="roles",
            instead='take the settings out, as in age = "keep"',
        )
    for name, settings in kept.items():
        KeptSettings.check_settings(name, settings)


def _how(
    found: SearchResult | None, proved: LossBound | None, forest: PolicyForest | None
) -> dict[str, Any]:
    """Describe the fit: its methods, the number of scored policies, and how it ended."""
    methods = ["trees"] * (forest is not None)
    evaluations = 0 if forest is None else forest.evaluations
    stopped = "finished" if forest is None else forest.stopped
    if found is not None:
        methods.append(found.method)
        evaluations += found.evaluations
        stopped = found.stopped if proved is None else _describe_end(found, proved)
    return {"method": " and ".join(methods), "evaluations": evaluations, "stopped": stopped}


def _prove(
    space: PolicySpace, found: SearchResult, options: FitOptions, progress: ProgressHook
) -> LossBound | None:
    """Compute bounds on all policies, if requested and if the search was not interrupted."""
    if options.lower_bound_seconds is None or found.stopped == "interrupted":
        return None
    return bound(
        space,
        found.frontier,
        seconds=options.lower_bound_seconds,
        progress=lambda at: progress(
            "computing a lower bound", at.seconds, options.lower_bound_seconds
        ),
    )


def _best(found: SearchResult | None, proved: LossBound | None) -> Frontier | None:
    """Return the frontier of global policies. A proof may have improved it."""
    if proved is not None:
        return proved.frontier
    return None if found is None else found.frontier


def _describe_end(found: SearchResult, proved: LossBound) -> str:
    """Describe how the fit ended. Ctrl-C during the proof counts as an interruption."""
    return "interrupted" if proved.stopped == "interrupted" else found.stopped


def _space(
    source: Source,
    roles: Roles,
    options: FitOptions,
    constraints: Constraints,
    sensitive: Sequence[str],
) -> PolicySpace:
    return PolicySpace.of(
        source,
        list(options.population) or None,
        roles.of("quasi"),
        subject=roles.subject,
        people=options.people,
        sensitive=sensitive,
        fraction=options.fraction,
        weight=_weight(roles),
        settings={name: roles.settings_of(name, PATHS) for name in roles.of("quasi")},
        constraints=constraints,
        population_gap=options.population_gap,
        sampled=options.sampled,
        risk=options.risk,
        loss=options.loss,
        loss_weight=options.loss_weight,
        outcomes=options.outcomes,
    )


def _weight(roles: Roles) -> str | None:
    """Return the column of sampling weights, or None."""
    columns = roles.of("weight")
    if len(columns) > 1:
        raise RequestError(
            f"columns {join_names(columns)} have the role weight",
            where="roles",
            instead="give it to one, and drop the others",
        )
    return columns[0] if columns else None


def _check_outcomes(roles: Roles, options: FitOptions) -> None:
    """Raise an error if an outcome is not released unchanged, so that its information is lost."""
    for name in options.outcomes:
        role = roles.columns[name].role if name in roles.columns else None
        if role not in (*AS_IT_IS, None):
            raise RequestError(
                f"outcome {name} has the role {role}",
                where="roles",
                instead=f"an outcome is a column of role {', '.join(AS_IT_IS[:-1])} or "
                f"{AS_IT_IS[-1]}",
            )
        if options.outcomes.count(name) > 1:
            raise RequestError(f"outcome {name} is named twice")


def _check_loss(options: FitOptions) -> None:
    """Raise an error if a loss weight is given that the requested loss does not use."""
    if options.loss != "weighted" and options.loss_weight != LossWeights.loss_weight:
        raise RequestError(
            f"a weight of distribution is given, and the loss is {options.loss}",
            instead="leave --loss or --loss-weight out",
        )


def constraints_of(options: FitOptions) -> Constraints:
    return Constraints(
        options.k,
        options.max_risk,
        options.l_diversity,
        options.suppress,
        entropy_l=options.entropy_l,
        t_closeness=options.t_closeness,
        empty_boxes=options.empty_boxes,
    )


def _sensitive(roles: Roles) -> tuple[str, ...]:
    """Return the columns to which l-diversity and t-closeness apply, each separately."""
    columns = tuple(roles.of("sensitive"))
    if not columns:
        raise RequestError(
            "l-diversity and t-closeness need a sensitive column and there is none",
            where="roles",
            instead="give a column the role sensitive",
        )
    return columns
