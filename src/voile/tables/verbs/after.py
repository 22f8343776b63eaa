"""Choose the best policy that is safe given what is out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.ledger.ledger import Keys, Ledger
from voile.ledger.promise import SLACK, Figures, Promise
from voile.release.choice import Choice, Chosen
from voile.release.kit import Kit
from voile.tables.joint.figures import Joined, Shown, joint_figures
from voile.tables.kernels.cells import why_too_wide
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.policies.space import PolicySpace
from voile.tables.verbs.content import Content
from voile.tables.verbs.following import Archive
from voile.tables.verbs.past import Past
from voile.tables.verbs.search import search

EVALUATIONS = 400_000


def choose_after(
    kit: Kit,
    after: Path,
    *,
    key_file: Path | None,
    joint_risk: float | None = None,
    releases: Sequence[Path] = (),
    seed: int | None = 0,
) -> Chosen:
    """Search the policy of least loss that keeps a limit together with all that a ledger names.

    Cuts that are out already add nothing to what all releases join to, so every policy searched has
    them: where nothing is suppressed and no tree is out, its own risk is the joint one. Searched
    are policies that hold for a whole column; of trees, the kit's own are looked at. Cost:
    `EVALUATIONS` policies, and O(combinations) for each that is judged.

    Releases of other rows, found in the folders `releases`, count as if they were of these: what
    their difference shows of people is judged when the policy is applied.

    joint_risk : the most of the source's expected matches that all releases may leave together, as
        a share; what the ledger promises where that is less.

    Raises
    ------
    InfeasibleError : no policy found keeps the limit, or what is out exceeds it already.
    """
    if joint_risk is not None and not 0 <= joint_risk <= 1:
        raise RequestError("--joint-risk lies in [0, 1]")
    content = Content.of(kit)
    if why := why_too_wide(content.space.counts):
        raise RequestError(f"policies for whole columns cannot be searched: {why}")
    ledger = Ledger.read(after)
    keys = Keys.of(key_file, ledger.id)
    keys.check(ledger)
    past = Past.of(content, ledger, keys, Archive(releases), None)
    promise = ledger.promise.at_least(past.floor)
    limit = _limit(content.space, promise, joint_risk)
    _check_room(past, content.space, limit)
    policy, figures = _first_within(content, past, promise, limit, seed)
    return _chosen(kit, content, policy, figures, limit)


def _limit(space: PolicySpace, promise: Promise, joint_risk: float | None) -> Promise:
    """Return the promise with the relative risk that it and the user allow."""
    risks = [1.0 if joint_risk is None else joint_risk]
    risks += [] if promise.joint_risk is None else [promise.joint_risk]
    if promise.expected_matches is not None:
        risks.append(promise.expected_matches / space.evaluator.matches)
    return replace(promise, joint_risk=min(risks))


def _check_room(past: Past, space: PolicySpace, limit: Promise) -> None:
    """Refuse where the releases that are out exceed the limit by themselves."""
    out = joint_figures(space, past.all_shown)
    if broken := list(limit.broken_by(out)):
        raise InfeasibleError(
            f"what is out exceeds the limit by itself: {' and '.join(broken)}",
            instead="release no more of this source, or allow a larger --joint-risk",
        )


def _searched(content: Content, past: Past, promise: Promise, seed: int | None) -> Frontier:
    """Search the policies that have every cut which is out."""
    rules = content.space.constraints
    cuts = [one.policy.bits for one in past.all_shown if isinstance(one.policy, Policy)]
    out: NDArray[np.bool_] = np.logical_or.reduce(cuts) if cuts else content.space.top
    if rules.required is not None:
        out = out | rules.required
    if rules.forbidden is not None:
        out = out & ~rules.forbidden
    space = content.space
    within = PolicySpace(
        space.domains,
        space.counts,
        replace(rules, required=out, k=max(rules.k, promise.k)),
        space.population,
        risk=space.risk,
        loss=space.loss,
        weights=space.weights,
    )
    return search(within, method="best", evaluations=EVALUATIONS, random_state=seed).frontier


def candidates(
    content: Content, past: Past, promise: Promise, seed: int | None
) -> list[tuple[float, float, AnyPolicy]]:
    """Search policies that may keep a promise together with what is out, by rising loss.

    Returns the loss of each, and the expected matches of its own release: together never less.

    Where nothing is out, or a tree, the kit's own policies are looked at as well: one pruned
    further than a tree that is out adds nothing. So are those that are out: where groups are
    suppressed, another policy shows other people by leaving them out.
    """
    space, found = content.space, _searched(content, past, promise, seed)
    policies: list[tuple[float, AnyPolicy]] = [
        (x, space.policy(p)) for x, p in zip(found.loss, found.policies, strict=True)
    ]
    matches = space.evaluator.figures(found.policies).expected_matches.tolist()
    again = [one.policy for one in past.all_shown if isinstance(one.policy, Policy)]
    if again:
        bits = np.array([policy.bits for policy in again])
        policies += zip(space.evaluator.scores(bits).loss, again, strict=True)
        matches += space.evaluator.figures(bits).expected_matches.tolist()
    if not _cuts_are_out(past):
        policies += [(x, content.family.policy(i)) for i, x in enumerate(content.frontier.loss)]
        matches += content.figures.expected_matches.tolist()
    every = [(loss, own, one) for (loss, one), own in zip(policies, matches, strict=True)]
    return sorted(every, key=lambda one: one[0])


def _first_within(
    content: Content, past: Past, promise: Promise, limit: Promise, seed: int | None
) -> tuple[AnyPolicy, Figures]:
    """Return the policy of least loss that keeps the limit, judged exactly."""
    space = content.space
    most = (limit.joint_risk or 1.0) * space.evaluator.matches + SLACK
    out = Joined(space, past.all_shown)
    for _, matches, policy in candidates(content, past, promise, seed):
        if matches > most:
            continue
        figures = out.with_one(Shown.of(policy, past.rules)).figures()
        if not list(limit.broken_by(figures)):
            return policy, figures
    raise InfeasibleError(
        f"no policy found keeps {limit} together with what is out",
        instead="allow a larger --joint-risk, or release a policy that is out again",
    )


def _cuts_are_out(past: Past) -> bool:
    """Say whether global policies are out, and no tree: then no tree of the kit can add little."""
    each = [isinstance(one.policy, Policy) for one in past.all_shown]
    return bool(each) and all(each)


def _chosen(
    kit: Kit, content: Content, policy: AnyPolicy, joint: Figures, limit: Promise
) -> Chosen:
    score = content.score(policy)
    figures = {content.measures["risk"].figure: score.risk, "loss": score.loss}
    figures |= {"joint_risk": joint.relative, "joint_matches": joint.matches}
    figures |= {"suppressed": score.suppressed, **score.losses, **content.space.disclosure(policy)}
    choice = Choice(joint_risk=limit.joint_risk)
    number = content.family.number_of(policy)
    return Chosen(kit.kind, kit.id, number, choice, figures, policy.to_data())
