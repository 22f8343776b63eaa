"""Choose the best policy that stays safe together with earlier releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.data import Source
from voile.ledger.judgement import after_a_change
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.ledger.promise import SLACK, JointFigures, LedgerPromise
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.tables.fitting.kernels.cells import why_too_wide
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.joint.figures import grouping_bytes, joint_figures
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.entering import space_of
from voile.tables.verbs.following import FollowedRows, ReleaseArchive
from voile.tables.verbs.judging import ReleaseCase, check_counted, differences, rows_differ
from voile.tables.verbs.past import EarlierReleases
from voile.tables.verbs.recount import count_anew, with_counts

ROOM = "allow a larger --joint-risk, or release an earlier policy again"
EVALUATIONS, BESIDE = 1_000_000, 400_000
"""Evaluations if earlier releases published split points, and if they published none.

The second number is spent in addition to evaluating the kit's policies.
"""


def choose_after(
    kit: StoredKit,
    after: Path,
    *,
    key_file: Path | None,
    joint_risk: float | None = None,
    releases: Sequence[Path] = (),
    source: Source | None = None,
    hold_back: bool = False,
    recipient: str | None = None,
    recount: bool = False,
    seed: int | None = 0,
) -> Chosen:
    """Search the policy with the least loss that meets a limit together with a ledger's releases.

    Published split points add nothing to the join of all releases, so every searched policy has
    them. If no record is suppressed and no tree is published, the policy's own risk is the joint
    risk. The search covers global policies and the trees of the kit. Cost: `EVALUATIONS` policies,
    and O(combinations) for each evaluated one.

    After releases of other rows, or an erasure, voile follows people as `apply` does. The figures
    are then those that `apply` will count. Only a few policies are evaluated, in the order of loss,
    up to the published one. The result meets the limit, and an evaluated policy before it exceeds
    the limit. Cost: O(rows log rows) for each.

    Parameters
    ----------
    joint_risk : the largest share of the source's expected matches that all releases together may
        have. A smaller limit in the ledger replaces it.
    releases : folders of the releases of other rows.
    source : the rows to be released.
    hold_back, recipient, recount : the options with which the policy will be applied.

    Raises
    ------
    InfeasibleError : no found policy meets the limit, or the earlier releases exceed it by
        themselves.
    RequestError : people must be followed, and the rows are missing.
    """
    if joint_risk is not None and not 0 <= joint_risk <= 1:
        raise RequestError("--joint-risk lies in [0, 1]")
    content = _read_content(kit, source, recount=recount)
    ledger = Ledger.read_file(after)
    keys = LedgerKeys.of(key_file, ledger.id)
    keys.check(ledger)
    rows = None
    if source is not None:
        if not recount:
            check_counted(content, source)
        rows = FollowedRows.read_rows(content, source, keys)
    space = space_of(content, recipient, keys)
    case = ReleaseCase(
        content,
        content.family.row_policy(0),
        rows,
        ReleaseArchive(releases),
        space,
        hold_back=hold_back,
    )
    pasts = case.pasts(ledger, keys, recipient)
    differ = space is not None and rows_differ(content) if rows is None else False
    follows = (
        hold_back or bool(ledger.erased_hashes) or any(past.followed for past in pasts) or differ
    )
    follows = follows or any(map(case.shows_whose_rows, pasts))
    if follows and rows is None:
        raise RequestError(
            "people who came, left, wait or were erased must be followed from release to release, "
            "and several different rows of a person identify the person",
            instead="give the rows to be released with --source",
        )
    limit = _limit(content.space, ledger.promise, joint_risk)
    for past in pasts:
        if not past.followed:
            _check_room(past, content.space, limit.at_least(past.floor))
    policies = candidates(content, pasts, limit, recount=recount, seed=seed)

    def judge(policy: AnyPolicy) -> JointFigures | None:
        return _figures_within(limit, case.under(policy), ledger, pasts)

    again = [one.policy for past in pasts for one in past.all_shown if not one.then]
    found = _first_that(policies, judge, again, jumps=follows)
    if found is None:
        said = _differences(case.under(again[-1]), ledger, pasts) if follows and again else ""
        raise InfeasibleError(
            f"no policy found keeps {limit} together with the earlier releases{said}",
            instead=after_a_change(waits=hold_back) if said else ROOM,
        )
    return _choose_policy(kit, content, *found, limit)


def _read_content(kit: StoredKit, source: Source | None, *, recount: bool) -> TablesContent:
    """Return the kit's content, recounted on the source if requested.

    Raises
    ------
    RequestError : the rows for a recount are missing, or there are too many global policies.
    """
    content = TablesContent.of(kit)
    if recount:
        if source is None:
            raise RequestError("--recount counts other rows", instead="give them with --source")
        content = with_counts(content, count_anew(content, source))
    if why := why_too_wide(content.space.counts):
        raise RequestError(f"policies for whole columns cannot be searched: {why}")
    return content


def _limit(space: CountedSpace, promise: LedgerPromise, joint_risk: float | None) -> LedgerPromise:
    """Return the promise with the smallest relative risk that the promise or the user allows.

    After releases of other rows, a risk can exceed the untouched source's risk, since the rows
    differ.
    """
    people = promise.expected_matches
    share = None if people is None else people / space.matches
    risks = [risk for risk in (joint_risk, promise.joint_risk, share) if risk is not None]
    least = min(risks, default=1.0)
    return promise if least > 1 or not risks else replace(promise, joint_risk=least)


def _check_room(past: EarlierReleases, space: CountedSpace, limit: LedgerPromise) -> None:
    """Raise `InfeasibleError` if the earlier releases exceed the limit by themselves."""
    out = joint_figures(space, past.all_shown)
    if broken := list(limit.broken_by(out)):
        raise InfeasibleError(
            f"the earlier releases exceed the limit by themselves: {' and '.join(broken)}",
            instead="release no more of this source, or allow a larger --joint-risk",
        )


def _search_policies(
    content: TablesContent, past: EarlierReleases, promise: LedgerPromise, seed: int | None
) -> Frontier:
    """Search the policies that have every published split point."""
    rules = content.space.constraints
    cuts = [one.policy.bits for one in past.all_shown if isinstance(one.policy, Policy)]
    out: NDArray[np.bool_] = np.logical_or.reduce(cuts) if cuts else content.space.top
    if rules.required is not None:
        out = out | rules.required
    if rules.forbidden is not None:
        out = out & ~rules.forbidden
    within = PolicySpace.of_counts(
        content.space, replace(rules, required=out, k=max(rules.k, past.floor, promise.k))
    )
    most = EVALUATIONS if cuts else BESIDE
    return search(within, method="best", evaluations=most, random_state=seed).frontier


def candidates(
    content: TablesContent,
    pasts: Sequence[EarlierReleases],
    limit: LedgerPromise,
    *,
    recount: bool,
    seed: int | None,
) -> list[AnyPolicy]:
    """Return policies in the order of their loss, without those that exceed the limit alone.

    If the kit is recounted, its own policies keep their order from the fit, and none is dropped.

    The list includes the kit's own policies if a tree is published, or if no policy is. A policy
    pruned further than a published tree adds nothing. The list also includes the published
    policies. If groups are suppressed, another policy would disclose more people by leaving them
    out.
    """
    space = PolicySpace.of_counts(content.space)
    found = [_search_policies(content, past, limit, seed) for past in pasts]
    bits = np.concatenate([one.policies for one in found])
    loss = np.concatenate([one.loss for one in found]).tolist()
    shown = [one.policy for past in pasts for one in past.all_shown]
    if again := [policy.bits for policy in shown if isinstance(policy, Policy)]:
        bits = np.concatenate([bits, np.array(again)])
        loss += space.evaluator.scores(np.array(again)).loss.tolist()
    matches = space.evaluator.figures(bits).expected_matches.tolist()
    policies: list[AnyPolicy] = [space.policy(one) for one in bits]
    if not all(map(_cuts_are_out, pasts)):
        policies += [content.family.row_policy(i) for i in range(len(content.frontier.loss))]
        own = content.figures.expected_matches
        loss += content.frontier.loss.tolist()
        matches += [0.0] * len(content.frontier.loss) if recount else own.tolist()
    most = (limit.joint_risk or 1.0) * space.matches + SLACK
    order = sorted(range(len(policies)), key=loss.__getitem__)
    return [policies[i] for i in order if matches[i] <= most]  # joint risk is never lower


def _figures_within(
    limit: LedgerPromise, case: ReleaseCase, ledger: Ledger, pasts: Sequence[EarlierReleases]
) -> JointFigures | None:
    """Return the worst figures for any colluding recipients, or None if they exceed the limit."""
    left_out = case.left_out(ledger, pasts)
    each = [case.joint(past, left_out)[0] for past in pasts]
    for past, figures in zip(pasts, each, strict=True):
        if any(limit.at_least(past.floor).broken_by(figures)):
            return None
    return max(each, key=lambda one: one.matches)


def _differences(case: ReleaseCase, ledger: Ledger, pasts: Sequence[EarlierReleases]) -> str:
    """Describe the people disclosed by the difference if a published policy is released again."""
    left_out = case.left_out(ledger, pasts)
    for past in pasts:
        timeline = case.joint(past, left_out)[1]
        if timeline is not None:
            few = differences(timeline, max(ledger.promise.k, past.floor))
            if few:
                return f"; under the published policy, {few[0]}"
    return ""


def _first_that(
    policies: Sequence[AnyPolicy],
    judge: Callable[[AnyPolicy], JointFigures | None],
    again: Sequence[AnyPolicy],
    *,
    jumps: bool,
) -> tuple[AnyPolicy, JointFigures] | None:
    """Return the first policy that meets the limit, with its figures, or None.

    With `jumps`, the search skips policies in growing steps and then bisects. The result meets the
    limit, and an evaluated policy before it does not.

    Parameters
    ----------
    again : the published policies. With `jumps`, the search ends at the first of them that meets
        the limit.
    """
    found = None
    if jumps:
        out = {grouping_bytes(policy) for policy in again}
        for place in [i for i, one in enumerate(policies) if grouping_bytes(one) in out]:
            if (figures := judge(policies[place])) is not None:
                found, policies = (policies[place], figures), policies[:place]
                break
    before, place, step = -1, 0, 1
    while place < len(policies):
        if (figures := judge(policies[place])) is not None:
            found = policies[place], figures
            break
        before, step = place, 2 * step if jumps else 1
        place = min(place + step, max(len(policies) - 1, place + 1))
    while place - before > 1:
        middle = (before + place) // 2
        if (figures := judge(policies[middle])) is None:
            before = middle
        else:
            place, found = middle, (policies[middle], figures)
    return found


def _cuts_are_out(past: EarlierReleases) -> bool:
    """Return whether all published policies are global, so that any tree of the kit adds much."""
    each = [isinstance(one.policy, Policy) for one in past.all_shown]
    return bool(each) and all(each)


def _choose_policy(
    kit: StoredKit,
    content: TablesContent,
    policy: AnyPolicy,
    joint: JointFigures,
    limit: LedgerPromise,
) -> Chosen:
    figures = content.figures_of_policy(policy)
    first = [content.measures["risk"].figure, "loss"]
    joined = {"joint_risk": joint.relative, "joint_matches": joint.matches}
    figures = {name: figures[name] for name in first} | joined | figures
    choice = Choice(joint_risk=limit.joint_risk or 1.0)
    number = content.family.number_of(policy)
    return Chosen(kit.kind, kit.id, number, choice, figures, policy.to_data())
