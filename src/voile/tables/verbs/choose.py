"""The wing's second verb: choose picks one policy of the frontier."""

from __future__ import annotations

from functools import partial

from voile.core.errors import InfeasibleError, RequestError, nearest
from voile.core.warn import warn
from voile.release.choice import Choice, Chosen
from voile.release.kit import Kit
from voile.report.wording import listed
from voile.tables.verbs.content import Policies
from voile.tables.verbs.scores import COMPARED, Score


class OneGroupWarning(UserWarning):
    """A policy that merges all values of a column."""


def choose(kit: Kit, choice: Choice) -> Chosen:
    """Pick one policy of a kit's frontier, with the figures that its table holds."""
    policies = Policies.of(kit)
    chosen = Chosen.from_kit(kit, policies, choice, partial(_beating, policies))
    policy = policies.family.read(chosen.policy)
    single = [column for column, groups in policy.groups_per_column.items() if groups == 1]
    if single:
        are = "is one group" if len(single) == 1 else "are one group each"
        said = f"{listed(single)} {are}: a release distinguishes none of the values"
        warn(said, OneGroupWarning)
    return chosen


def _beating(policies: Policies, name: str) -> int:
    if name in policies.absent:
        raise RequestError(f"{name} is not among these policies: {policies.absent[name]}")
    if name not in policies.mark_scores:
        close = nearest(name, policies.mark_scores)
        raise RequestError(f"no policy is called {name}", instead=close)
    score, beating = policies.mark_scores[name], policies.beating(name)
    if not len(beating) and score.loses_nothing:
        raise InfeasibleError(
            f"no policy can beat {name}, which loses nothing of these columns",
            instead="choose by a limit, such as --max-relative-risk 0.05",
        )
    if not len(beating):
        raise InfeasibleError(
            f"no policy found has no more risk than {name} ({score.risk:.4g}) and no more of "
            f"distribution ({score.distribution:.4g}) and of resolution ({score.resolution:.4g}) "
            "lost",
            instead=_remedy(policies, score),
        )
    return int(beating[policies.frontier.loss[beating].argmin()])


def _remedy(policies: Policies, score: Score) -> str:
    """Say which limit to choose by, and what fit may find more."""
    within = policies.frontier.risk <= score.risk
    if not within.any():
        least = policies.frontier.risk.min(initial=1.0)
        return f"search longer, or choose with --max-relative-risk {least:.4g}, the least found"
    least = {name: policies.table.column(name).to_numpy()[within].min() for name in COMPARED}
    over = [name for name in COMPARED if least[name] > getattr(score, name)]
    more = "search longer"
    if len(over) == 1:  # of no more risk, every policy loses too much of one kind
        more = f"fit with a {'higher' if over == ['distribution'] else 'lower'} --loss-weight"
    return f"choose with --max-relative-risk {score.risk:.4g}, or {more}"
