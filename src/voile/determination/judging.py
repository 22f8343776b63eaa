"""Derive verdicts from figures and thresholds alone, so that anybody can derive them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from voile.core.evidence import FORBID, Evidence
from voile.data.roles import AS_IT_IS
from voile.determination.context import Context, FigureThreshold
from voile.release.criteria import NAMES, CriterionMeasure, CriterionMeasurement, Name, worst_figure

Verdict = Literal["meets", "meets with conditions", "does not meet"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""The verdicts, from the best to the worst."""
APPLIES: Mapping[Name, tuple[tuple[str, ...], str]] = {
    "text-left": (("text",), "no column of text is released"),
    "kept-columns": (AS_IT_IS, "no column is released as it is"),
}
"""The column roles that a criterion needs, and the sentence for a release without them."""
NO_LEDGER = "no ledger was given: other releases of these people were not judged with this one"
LEDGER_IS_PRIVATE = (
    "the release is in a ledger, whose joint figure was not stated: voile determine --ledger does"
)
FROM_LEDGER, FROM_ATTACK = "ledger: ", "attack: "
"""The first words of evidence that is not in a manifest."""
AT_MOST = "at most the threshold"
NOT_MEASURED = "nothing was measured: no figure of the manifest and no attack answers this"


@dataclass(frozen=True, kw_only=True)
class JudgedCriterion:
    """The verdict on one criterion, with its figure and its threshold.

    Parameters
    ----------
    figure : the measurement. If it is None, `reason` contains the cause.
    limit, origin : the threshold of the figure, and its source. None means that there is no
        threshold.
    condition : the condition of the verdict, if it has one.
    """

    __pydantic_config__ = FORBID

    name: Name
    verdict: Verdict
    reason: str
    figure: CriterionMeasurement | None = None
    limit: float | None = None
    origin: str = ""
    condition: str = ""


def judge(
    context: Context,
    measures: Sequence[CriterionMeasure],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
) -> tuple[JudgedCriterion, ...]:
    """Evaluate a release by each criterion.

    An estimate is compared by the upper limit of its interval. A criterion without a measurement is
    not met, unless the context contains a reason to accept it.
    """
    return tuple(_judge_criterion(name, context, measures, public, evidence) for name in NAMES)


def worst(criteria: Sequence[JudgedCriterion]) -> Verdict:
    """Return the verdict on the release: the worst verdict of its criteria."""
    return max((one.verdict for one in criteria), key=VERDICTS.index)


def _judge_criterion(
    name: Name,
    context: Context,
    measures: Sequence[CriterionMeasure],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
) -> JudgedCriterion:
    threshold = context.thresholds.get(name)
    figure = _worst_figure(name, threshold, measures, public, evidence)
    assumptions = _assumptions(name, threshold, public)
    return weigh(name, figure, threshold, _why_nothing(name, public), assumptions)


def _assumptions(
    name: Name, threshold: FigureThreshold | None, public: Mapping[str, Any]
) -> Sequence[str]:
    """Return the assumptions about the population behind a figure; figures of groups have none."""
    is_of_groups = threshold is not None and threshold.judged_by == "group"
    if name != "re-identification" or is_of_groups:
        return ()
    assumptions: Sequence[str] = public.get("assumptions", ())
    return assumptions


def _worst_figure(
    name: Name,
    threshold: FigureThreshold | None,
    measures: Sequence[CriterionMeasure],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
) -> CriterionMeasurement | None:
    bounds = threshold.judged_by if threshold else "largest"
    return worst_figure(name, measures, public, evidence, bounds)


def _why_nothing(name: Name, public: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether there is no data to evaluate, and the sentence for the missing figure."""
    if name in APPLIES:
        roles, says = APPLIES[name]
        if not any(column["role"] in roles for column in public["columns"]):
            return True, says
    if name == "joint-risk":
        return False, LEDGER_IS_PRIVATE if "ledger" in public else NO_LEDGER
    return False, NOT_MEASURED


def weigh(
    name: Name,
    figure: CriterionMeasurement | None,
    threshold: FigureThreshold | None,
    nothing: tuple[bool, str],
    assumptions: Sequence[str] = (),
) -> JudgedCriterion:
    """Compare one figure with its threshold.

    Parameters
    ----------
    nothing : whether there is nothing to evaluate, and the reason for the missing figure.
    assumptions : the assumptions about the figure's population. If there are any, the criterion is
        met only on the condition that they are true.
    """
    limit = threshold.limit if threshold else None
    origin = threshold.origin if threshold else ""
    accepted = (threshold.accept if threshold else "") or ""

    def verdict(given: Verdict, reason: str, condition: str = "") -> JudgedCriterion:
        return JudgedCriterion(
            name=name,
            verdict=given,
            reason=reason,
            figure=figure,
            limit=limit,
            origin=origin,
            condition=condition,
        )

    if figure is None and nothing[0]:
        return verdict("meets", nothing[1])
    if figure is not None and limit is not None and figure.most <= limit:
        reason = AT_MOST
        if threshold and threshold.why:
            reason = f"the mean is at most the threshold; why the mean: {threshold.why}"
        condition = "; ".join(assumptions)
        return verdict("meets with conditions" if condition else "meets", reason, condition)
    reason = _why_not(figure, limit, nothing[1])
    is_over = name == "re-identification" and figure is not None and limit is not None
    if accepted and not is_over:
        return verdict("meets with conditions", reason, accepted)
    return verdict("does not meet", reason)


def _why_not(figure: CriterionMeasurement | None, limit: float | None, nothing: str) -> str:
    if figure is None:
        return nothing
    if limit is None:
        return "measured, and the context has no threshold for it"
    return "over the threshold"


def is_judged_so(
    criterion: JudgedCriterion,
    context: Context,
    measures: Sequence[CriterionMeasure],
    public: Mapping[str, Any],
) -> bool:
    """Return whether a verdict follows from its figure, the context and the public manifest.

    A figure of an attack, or of a ledger in the manifest, is taken as given. It must not be better
    than the manifest's own figure.
    """
    name, figure = criterion.name, criterion.figure
    threshold = context.thresholds.get(name)
    certified = _worst_figure(name, threshold, measures, public, ())
    stands = figure is not None and (
        figure.evidence.startswith(FROM_ATTACK) or _is_from_ledger(name, figure, public)
    )
    if stands and certified is not None and figure is not None:
        stands = figure.most >= certified.most
    assumptions = _assumptions(name, threshold, public)
    again = weigh(name, figure, threshold, _why_nothing(name, public), assumptions)
    return criterion == again and (stands or figure == certified)


def _is_from_ledger(name: Name, figure: CriterionMeasurement, public: Mapping[str, Any]) -> bool:
    is_its_own = name == "joint-risk" and "ledger" in public
    return is_its_own and figure.evidence.startswith(FROM_LEDGER)


def conditions(criteria: Sequence[JudgedCriterion]) -> Iterator[str]:
    """Yield the conditions of the criteria's verdicts."""
    yield from dict.fromkeys(one.condition for one in criteria if one.condition)
