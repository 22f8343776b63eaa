"""Choose one policy of the frontier: the second verb."""

from __future__ import annotations

from functools import partial

import numpy as np

from voile.core.errors import InfeasibleError, RequestError, nearest
from voile.core.warn import warn
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.report.wording import join_names
from voile.tables.people.counts import Constraints
from voile.tables.policies.scores import PolicyScore
from voile.tables.verbs.content import TablesPolicies
from voile.tables.verbs.content_tables import read_constraints


class OneGroupWarning(UserWarning):
    """A policy merges all values of a column. Choose a policy of less loss to keep some."""


def choose(kit: StoredKit, choice: Choice) -> Chosen:
    """Choose one policy of a kit's frontier, with its figures from the kit."""
    policies = TablesPolicies.of(kit)
    rules = read_constraints(kit.facts["constraints"], policies.family.bits.shape[1])
    chosen = Chosen.from_kit(kit, policies, choice, partial(_beating, policies, rules))
    policy = policies.family.read_policy(chosen.policy)
    single = [column for column, groups in policy.groups_per_column.items() if groups == 1]
    if single:
        are = "is one group" if len(single) == 1 else "are one group each"
        said = f"{join_names(single)} {are}: a release distinguishes none of the values"
        warn(said, OneGroupWarning)
    return chosen


def _beating(policies: TablesPolicies, rules: Constraints, name: str) -> int:
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
            f"no policy found has at most the risk of {name} ({score.risk:.4g}) and at most its "
            f"loss ({score.loss:.4g}){_held_to(rules, name)}",
            instead=_remedy(policies, score, rules),
        )
    return int(beating[policies.frontier.loss[beating].argmin()])


def _held_to(rules: Constraints, name: str) -> str:
    """Describe the limits that the kit's policies meet and the reference policy need not."""
    limits = [f"k = {rules.k:g}"] * (rules.k > 1)
    limits += [f"a largest risk of {rules.max_risk:g}"] * (rules.max_risk < 1)
    return f"; the kit's policies keep {' and '.join(limits)}, and {name} need not" * bool(limits)


def _remedy(policies: TablesPolicies, score: PolicyScore, rules: Constraints) -> str:
    """Describe the nearest policy, and the option of the fit that may give another one."""
    frontier = policies.frontier
    within = np.flatnonzero(frontier.risk <= score.risk)
    least = float(frontier.risk.min(initial=1.0))
    if not len(within):
        return f"choose with --max-relative-risk {least:.4g}, the least found, or search longer"
    nearest = f"choose with --policy {within[-1]} (loss {frontier.loss[within[-1]]:.4g})"
    if rules.k > 1:
        return f"{nearest}, or fit with a smaller --k"
    return (
        f"{nearest}, or {'fit with a larger --max-risk' if rules.max_risk < 1 else 'search longer'}"
    )
