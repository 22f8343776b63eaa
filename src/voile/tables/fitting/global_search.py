"""Search global policies: the search method, the start, and the reference policies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.release.kit import StoredKit
from voile.tables.domains.zip_areas import is_zip
from voile.tables.fitting.forests import announce_compiling
from voile.tables.fitting.kernels.cells import why_too_wide
from voile.tables.fitting.paper.bisect import BisectSearch
from voile.tables.fitting.paper.chains import RandomChain
from voile.tables.fitting.paper.sublattice import SublatticeSearch
from voile.tables.fitting.search import FewFoundWarning, Method, SearchResult, search
from voile.tables.fitting.searches.result import SearchCheckpoint
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.policy import Policy
from voile.tables.policies.safe_harbor import is_age, safe_harbor
from voile.tables.verbs.content import KIND, RequestedMeasure, TablesContent
from voile.tables.verbs.options import FitOptions

SAFE_HARBOR = "safe-harbor"
GLOBAL = "global policies"
FEW_FOUND = (
    "the steepest chain finds few policies with constraints and without suppression "
    "(Adult, 8 columns, k = 5: .90 lost at least, .42 by quick); take --method quick"
)
CHAINED = ("random-chain", "sublattice", "bisect")


def check_method(options: FitOptions) -> None:
    if options.chain_order != "bits" and options.method not in CHAINED:
        raise RequestError(
            f"an order of chains is given, and the method is {_name_search(options)}",
            instead=f"take --method {', '.join(CHAINED)}, or leave it out",
        )
    if options.family == "tree" and (options.evaluations or options.seconds):
        raise RequestError(
            "evaluations and seconds limit the search of global policies, and only trees are "
            "requested",
            instead="omit these limits, or take --family both or global",
        )
    if options.lower_bound_seconds is not None and options.family != "global":
        raise RequestError(
            "a lower bound is proved for global policies alone", instead="take --family global"
        )
    if options.empty_boxes and options.family == "global":
        raise RequestError(
            "boxes without a record are those of trees, and the policies asked for are global",
            instead="take --family both or tree, or leave --empty-boxes out",
        )
    if options.bisect_risk is not None and options.method != "bisect":
        raise RequestError(
            f"a risk to bisect for is given, and the method is {_name_search(options)}",
            instead="take --method bisect, or leave it out",
        )


def marks_of(space: PolicySpace, options: FitOptions) -> tuple[dict[str, Policy], dict[str, str]]:
    """Return Safe Harbor if it applies to some column, or else the reason why it is absent."""
    if space.estimates:
        return {}, {SAFE_HARBOR: "matches are estimated for trees alone, and this is none"}
    if why := why_too_wide(space.counts):
        return {}, {SAFE_HARBOR: why}
    asked = options.zip_column is not None or options.age_column is not None
    if not asked and not any(is_zip(d) or is_age(d) for d in space.domains):
        return {}, {SAFE_HARBOR: "no column of ZIP codes or ages was found"}
    try:
        found = safe_harbor(
            space,
            zip_column=options.zip_column,
            age_column=options.age_column,
            vintage=options.vintage,
            on=options.on,
        )
    except RequestError as error:
        if asked:
            raise
        return {}, {SAFE_HARBOR: str(error)}
    return {SAFE_HARBOR: found}, {}


def is_searched(space: PolicySpace, options: FitOptions, absent: dict[str, str]) -> bool:
    """Return whether to search global policies. If there are too many, record the reason."""
    why = None if options.family == "global" else why_too_wide(space.counts)
    if options.family == "both" and why:
        absent[GLOBAL] = why
    return options.family != "tree" and not why


def search_globally(
    space: PolicySpace,
    options: FitOptions,
    marks: Mapping[str, Policy],
    rng: np.random.Generator,
    progress: ProgressHook,
) -> SearchResult:
    """Search the global policies."""
    if space.evaluator.is_compiled:
        from voile.tables.fitting.kernels.walk import descend  # imports numba

        announce_compiling(progress, descend, "searching policies")
    strict = space.evaluator.rules.active and not options.suppress
    if _name_search(options) == "steepest" and strict and options.family == "global":
        warn(FEW_FOUND, FewFoundWarning)
    return search(
        space,
        method=_method(space, options, marks),
        evaluations=options.evaluations,
        seconds=options.seconds,
        random_state=rng,
        start=_start(space, options),
        progress=lambda at: progress("searching policies", *_done(at, options)),
    )


def _method(space: PolicySpace, options: FitOptions, marks: Mapping[str, Policy]) -> str | Method:
    """Return the requested search. `bisect` needs a risk, which is Safe Harbor's by default."""
    order = options.chain_order
    match _name_search(options):
        case "bisect":
            return BisectSearch(_bisect_risk(space, options, marks), order=order)
        case "random-chain" if order != "bits":
            return RandomChain(order=order)
        case "sublattice" if order != "bits":
            return SublatticeSearch(order=order)
        case name:
            return name


def _name_search(options: FitOptions) -> str:
    """Return the name of the search: ``best`` with a given limit, or else ``quick``, by default."""
    limited = options.evaluations is not None or options.seconds is not None
    return options.method or ("best" if limited else "quick")


def _bisect_risk(space: PolicySpace, options: FitOptions, marks: Mapping[str, Policy]) -> float:
    if options.bisect_risk is not None:
        return options.bisect_risk
    if SAFE_HARBOR not in marks:
        raise RequestError(
            "bisect looks for policies of Safe Harbor's risk, which is not on this lattice",
            instead="give the risk with --bisect-risk",
        )
    return float(space.evaluate(marks[SAFE_HARBOR].bits[None])[0][0])


def _start(space: PolicySpace, options: FitOptions) -> Frontier | None:
    """Return the policies of a kit with the same columns and values."""
    if options.start_from is None:
        return None
    earlier = TablesContent.of(StoredKit.load(options.start_from, KIND))
    if [(d.column, d.values) for d in earlier.space.domains] != [
        (d.column, d.values) for d in space.domains
    ]:
        raise RequestError(
            "its columns or values are not this source's, so its policies mean nothing here",
            where=str(options.start_from),
            instead="fit without it",
        )
    loss = RequestedMeasure.of(options.loss, space.loss)
    theirs = earlier.measures["loss"]
    if (theirs.name, theirs.formula) != (loss.name, loss.formula) or (
        earlier.space.weights != space.weights
    ):
        raise RequestError(
            f"its loss is {theirs.formula}, and this fit's {loss.formula}: "
            "policies of one loss are not compared with those of another",
            where=str(options.start_from),
            instead="fit with its loss, weights and importance of columns, or without it",
        )
    return earlier.global_frontier[0]


def _done(at: SearchCheckpoint, options: FitOptions) -> tuple[float, float | None]:
    """Return the used part of the limit that ends the search first, and that limit."""
    spent = [(at.evaluations, options.evaluations), (at.seconds, options.seconds)]
    limited = [(done, limit) for done, limit in spent if limit is not None]
    return max(limited, key=lambda one: one[0] / one[1], default=(at.evaluations, None))
