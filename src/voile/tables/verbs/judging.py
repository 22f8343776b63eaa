"""Evaluate a release of a table together with all releases in a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError, RequestError, VoileError
from voile.data import Source
from voile.data.hold_out import TrainingSource
from voile.data.roles import Role, Roles
from voile.ledger.judgement import WAITS, ReleaseJudgement
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.ledger.promise import JointFigures
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.settings import KeptSettings
from voile.tables.joint.difference import OutRelease, ReleaseTimeline
from voile.tables.joint.disclosed import SpaceNames
from voile.tables.joint.figures import JoinedReleases, ShownRelease, joint_figures
from voile.tables.joint.linking import count_linked_matches
from voile.tables.joint.people import ABSENT, ReleasedPeople, Tokens, mix
from voile.tables.people.combinations import count_sample, encode
from voile.tables.policies.family import AnyPolicy, refuse_person_policy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.following import (
    ERASED,
    ROW,
    WAITING,
    WHY,
    FollowedRows,
    Mask,
    ReleaseArchive,
    digest_of,
    to_beside,
)
from voile.tables.verbs.past import NO_MARGINALS, EarlierReleases, values_of

SHIFTED: tuple[Role, ...] = ("sensitive", "label", "keep")
"""The roles of columns with dates that may be shifted."""
BY_PERSON = (
    "pseudonyms, or the order of rows, show which rows are one person's, and so each person is "
    "known by all of them"
)
LINKED = 10
"""The largest number of earlier releases, the newest first, that are compared for linking."""


def judge(
    kit: StoredKit,
    chosen: Chosen,
    ledger: Ledger,
    keys: LedgerKeys,
    *,
    source: Source | None = None,
    releases: Sequence[Path] = (),
) -> ReleaseJudgement:
    """Evaluate the risk that a policy of a kit would add to the releases in a ledger.

    Without a source, the rows are those on which the kit was fitted, and people are not followed.
    """
    chosen.check(kit)
    content = TablesContent.of(kit)
    policy = refuse_person_policy(content.family.read_policy(chosen.policy))
    rows = None
    if source is not None:
        check_counted(content, source)
        rows = FollowedRows.read_rows(content, source, keys).group_rows(content, policy)
    case = ReleaseCase(content, policy, rows, ReleaseArchive(releases))
    return case.judge_release(ledger, keys, case.left_out(ledger, ()))


@dataclass(frozen=True, eq=False)
class ReleaseCase(BriefRepr):
    """A release to evaluate, and the data about earlier releases.

    Attributes
    ----------
    rows : the rows of the source, or None if only a kit is evaluated.
    archive : the folders of earlier releases.
    space : the space of the release's pseudonyms, or None without pseudonyms.
    ordered : whether the release keeps the source's order.
    hold_back : whether new people wait until a group has k of them.
    marginals : whether the release counts people by runs of values.
    """

    shows = ()

    content: TablesContent
    policy: AnyPolicy
    rows: FollowedRows | None
    archive: ReleaseArchive
    space: str | None = None
    ordered: bool = False
    hold_back: bool = False
    marginals: bool = False

    def under(self, policy: AnyPolicy) -> ReleaseCase:
        """Return the same case with another policy."""
        rows = None if self.rows is None else self.rows.group_rows(self.content, policy)
        return replace(self, policy=policy, rows=rows)

    def pasts(
        self, ledger: Ledger, keys: LedgerKeys, recipient: str | None
    ) -> list[EarlierReleases]:
        """Read the earlier releases, once for each group of colluding recipients of this one.

        Raises
        ------
        InfeasibleError : the content of an earlier release is unknown.
        """
        each = ledger.audience.coalitions(ledger.audience.name_of(recipient))
        views = [ledger.before(own) for own in each]
        return [
            EarlierReleases.of(self.content, one, keys, self.archive, self.rows) for one in views
        ]

    def left_out(self, ledger: Ledger, pasts: Sequence[EarlierReleases]) -> Mapping[str, Mask]:
        """Return masks of the kept-back rows, by reason: erased people, and new people who wait.

        `pasts` are the earlier releases of each group of colluding recipients. They only determine
        who waits.

        Raises
        ------
        RequestError : somebody must be erased and the source has no column of subjects.
        """
        found: dict[str, Mask] = {}
        if self.rows is None:
            return found
        if ledger.erased_hashes:
            self.check_followed("people were erased")
            erased = np.array([int(x, 16) for x in sorted(ledger.erased_hashes)], np.uint64)
            found[ERASED] = np.isin(self.rows.who, erased)
        if self.hold_back:
            self.check_followed("--hold-back follows people")
            found[WAITS] = self._waiting(ledger.promise.k, pasts, found)
        return found

    def _waiting(
        self, k: int, pasts: Sequence[EarlierReleases], left_out: Mapping[str, Mask]
    ) -> Mask:
        """Return who waits, repeated until no group of colluding recipients adds anybody."""
        assert self.rows is not None
        waits = np.zeros(len(self.rows.who), np.bool_)
        while True:
            case = replace(self, rows=self._rows_without({**left_out, WAITS: waits}))
            more = waits.copy()
            for past in pasts:
                timeline = case.timeline(past)
                few = timeline.waiting(max(k, past.floor))
                more |= self.rows.of_people(timeline.new.people, few)
            if len(pasts) == 1 or (more == waits).all():
                return more
            waits = more

    def _rows_without(self, left_out: Mapping[str, Mask]) -> FollowedRows:
        assert self.rows is not None
        masks = list(left_out.values())
        return self.rows.without(np.logical_or.reduce(masks)) if masks else self.rows

    def check_followed(self, what: str) -> None:
        """Raise an error if people must be followed and no column identifies them."""
        if self.content.roles.subject is None:
            raise RequestError(
                f"{what}, and no column names the subject of a row",
                instead="name it in the roles file",
            )

    def judge_release(
        self, ledger: Ledger, keys: LedgerKeys, left_out: Mapping[str, Mask]
    ) -> ReleaseJudgement:
        """Evaluate the release with all earlier ones. Some of its rows may be kept back."""
        partly = any(mask.any() for mask in left_out.values())
        common: dict[str, Any] = {}
        try:
            past = EarlierReleases.of(self.content, ledger, keys, self.archive, self.rows)
        except InfeasibleError as error:
            past = EarlierReleases(self.content, SpaceNames(self.content.space, keys.hash), ())
            common["unbounded"] = error.what
        if self.marginals:
            common["unbounded"] = f"{NO_MARGINALS}: leave --marginals out"
        case = self if self.rows is None else replace(self, rows=self._rows_without(left_out))
        disclosed, beside = case.write_line(past, keys, partly=partly)
        if partly:
            beside[WAITING] = _kept_back(self.rows, left_out)
        common["kept_back"] = {why: int(mask.sum()) for why, mask in left_out.items()}
        common |= {"disclosed": disclosed, "others": len(ledger.released_lines), "beside": beside}
        if "unbounded" in common:
            return ReleaseJudgement(**common)
        return self._bound_release(past, ledger, left_out, **common)

    def _bound_release(
        self, past: EarlierReleases, ledger: Ledger, left_out: Mapping[str, Mask], **common: Any
    ) -> ReleaseJudgement:
        own = ShownRelease.of(self.policy, past.rules)
        alone = joint_figures(self.content.space, [own])
        by_person = self.shows_whose_rows(past)
        if by_person or any(mask.any() for mask in left_out.values()):
            alone, _ = self.joint(EarlierReleases(self.content, past.names, ()), left_out)
        high, timeline = self.joint(past, left_out)
        k = max(ledger.promise.k, past.floor)
        low = min(max(alone.matches, ledger.low), high.matches)  # a ledger's figures are rounded up
        return ReleaseJudgement(
            alone=alone,
            low=low,
            linked=self._measure_linking(past, own, low, high.matches),
            high=high,
            floor=past.floor,
            difference=() if timeline is None else differences(timeline, k),
            missing=(*past.missing, *([BY_PERSON] if by_person else [])),
            policy=self.content.figures_of_policy(self.policy),
            **common,
        )

    def joint(
        self, past: EarlierReleases, left_out: Mapping[str, Mask]
    ) -> tuple[JointFigures, ReleaseTimeline | None]:
        """Return the figures of this and all earlier releases, and follow people if rows differ.

        `left_out` are the rows that are kept back.
        """
        partly = any(mask.any() for mask in left_out.values())
        follows = partly or bool(past.followed)
        if follows or self.shows_whose_rows(past):
            case = replace(self, rows=self._rows_without(left_out))
            timeline = case.timeline(past)
            figures = timeline.figures(self.content.space.matches)
            return figures, timeline if follows else None
        return past.joined_releases.with_one(
            ShownRelease.of(self.policy, past.rules)
        ).figures(), None

    def shows_whose_rows(self, past: EarlierReleases) -> bool:
        """Return whether a release shows which rows belong to a person with several rows.

        Pseudonyms show it. The source's order may show it too, if a person's rows are neighbours.
        An adversary who knows several rows of a person then knows how many are in each group.
        """
        if self.rows is None or not self.rows.has_several:
            return False
        earlier = any(said.get("space") or said.get("ordered") for said in past.said)
        return self.space is not None or self.ordered or earlier

    def timeline(self, past: EarlierReleases) -> ReleaseTimeline:
        """Follow people through the earlier releases to this one."""
        assert self.rows is not None
        rows = self.rows
        whole = past.joined_releases.with_one(ShownRelease.of(self.policy, past.rules))
        tokens, are_joined = self._shown_by(past.shown), self.shows_whose_rows(past)
        same = ReleasedPeople.of_rows(rows.who, tokens, {}, are_joined=are_joined).shown
        others = rows.per_person(whole.outside * past.knows_others)
        return ReleaseTimeline(
            past.followed, OutRelease(self._people(past), self.space), same, others
        )

    def _shown_by(self, releases: Sequence[ShownRelease]) -> Tokens:
        """Return a joint token of the groups of each row in several releases."""
        assert self.rows is not None
        label, visible = JoinedReleases(self.content.space, releases).groups
        tokens = np.where(visible, mix(label.astype(np.uint64)), ABSENT)
        return np.asarray(tokens[self.rows.combination])

    def _people(self, past: EarlierReleases) -> ReleasedPeople:
        """Return the people in the release, with tokens that link each row to other releases.

        If a person's rows differ, the groups of each row, release by release, reveal more than the
        groups of all rows. For people with different rows, releases of other rows count as releases
        of these rows. Kept columns may link their rows one by one.
        """
        assert self.rows is not None
        rows, are_joined = self.rows, self.shows_whose_rows(past)
        people = rows.people(are_joined=are_joined)
        if not (rows.differ and past.all_shown):
            return people
        each = self._linked_rows(past.shown, are_joined=are_joined)
        if past.followed:
            every = self._linked_rows(past.all_shown, are_joined=are_joined)
            each = np.where(rows.several(), every, each)
        shown = np.where(people.shown == ABSENT, ABSENT, mix(people.shown + each))
        return replace(people, shown=shown)

    def _linked_rows(self, releases: Sequence[ShownRelease], *, are_joined: bool) -> Tokens:
        """Return a token of each person's rows, each by its group in every release.

        This release is included.
        """
        assert self.rows is not None
        before, shown = self._shown_by(releases), self.rows.shown
        nowhere = (before == ABSENT) & (shown == ABSENT)
        linked = np.where(nowhere, ABSENT, mix(mix(before) + shown))
        return ReleasedPeople.of_rows(self.rows.who, linked, {}, are_joined=are_joined).shown

    def _measure_linking(
        self, past: EarlierReleases, own: ShownRelease, low: float, high: float
    ) -> float | None:
        """Measure linking with the newest releases of the same rows, by columns in both."""
        if self.rows is None or not past.shown:
            return None
        _, one = np.unique(self.rows.who, return_index=True)
        space, combination = self.content.space, self.rows.combination[one]
        found = [low]
        for shown, said in list(zip(past.shown, past.said, strict=True))[-LINKED:]:
            if self.joins_row_by_row(said):
                found.append(joint_figures(space, [shown, own]).matches)
                continue
            shared = [x[one].view(np.int64) for n, x in self.rows.kept.items() if n in said["kept"]]
            found.append(count_linked_matches(space, combination, shown, own, shared))
        return min(max(found), high)

    def joins_row_by_row(self, said: Mapping[str, Any]) -> bool:
        """Return whether a pseudonym or the order joins rows of an earlier release to these."""
        named = self.space is not None and said.get("space") == self.space
        return named or (self.ordered and bool(said.get("ordered")))

    def write_line(
        self, past: EarlierReleases, keys: LedgerKeys, *, partly: bool
    ) -> tuple[dict[str, Any], dict[str, pa.RecordBatch]]:
        """Return the release's content for its ledger entry, and its private tables."""
        roles = self.content.roles
        disclosed = past.describe_disclosed(self.policy)
        disclosed |= {"marginals": True} if self.marginals else {}
        disclosed |= {"space": self.space, "ordered": self.ordered, "dates": _scopes(roles, keys)}
        if self.rows is None or roles.subject is None:
            return disclosed, {}
        people = self._people(past).select_released()
        domains = past.domains
        digest = digest_of(people, domains, keys)
        disclosed["values"] = values_of(self.rows, keys)
        if self.rows.named.all():
            disclosed["people"] = digest  # otherwise nobody can be followed from it
        if partly:
            disclosed["counted"] = keys.hash("counted in part", digest)
        return disclosed, to_beside(people, domains)


def _scopes(roles: Roles, keys: LedgerKeys) -> list[str]:
    """Return the scopes in which dates shift. Without a subject no dates shift."""
    kept = [(name, roles.columns[name].settings) for name in roles.of(*SHIFTED)]
    rules = [KeptSettings.check_settings(name, settings).date_rule for name, settings in kept]
    return sorted({keys.scope_of_dates(rule.days) for rule in rules if rule is not None})


def _kept_back(rows: FollowedRows | None, left_out: Mapping[str, Mask]) -> pa.RecordBatch:
    assert rows is not None
    number = [rows.number[mask] for mask in left_out.values()]
    why = [pa.repeat(reason, int(mask.sum())) for reason, mask in left_out.items()]
    columns = {ROW: pa.array(np.concatenate(number)), WHY: pa.concat_arrays(why)}
    return pa.RecordBatch.from_pydict(columns)


def differences(timeline: ReleaseTimeline, k: int) -> tuple[str, ...]:
    """Describe the people whom the difference from earlier releases reveals in groups under k."""
    few = [f"{n:,} {who}" for who, n in timeline.small(k).items() if n]
    return (f"the difference shows {', '.join(few)} in groups under {k}",) if few else ()


def rows_differ(content: TablesContent) -> bool:
    """Return whether somebody's rows have several combinations, which are counted by shares."""
    sample = content.space.counts.sample
    return content.roles.subject is not None and bool(
        (np.abs(sample - np.rint(sample)) > 1e-9).any()
    )


def _first_outside(domain: ValueDomain, source: Source) -> str:
    """Return the first row with a value that is not in a domain, as text."""
    first = 1
    for batch in source.batches([domain.column]):
        outside = np.flatnonzero(domain.codes(batch.column(0)) < 0)
        if len(outside):
            return f"row {first + int(outside[0]):,}, column {domain.column}"
        first += len(batch)
    return f"column {domain.column}"


def check_counted(content: TablesContent, source: Source) -> None:
    """Raise an error if the people of a source are not those that the kit counts."""
    space = content.space
    where = source.name
    if content.hold_out.share:
        source = TrainingSource(source, content.hold_out)
    try:
        counted = count_sample(source, space.quasi, content.roles.subject)
        codes, sample = encode(space.domains, counted)
    except VoileError:
        same = False
    else:
        held = space.counts.sample > 0
        unknown = [d for d, own in zip(space.domains, codes.T, strict=True) if own.min() < 0]
        where = f"{where}, {_first_outside(unknown[0], source)}" if unknown else where
        same = np.array_equal(codes, space.counts.codes[held])
        same = same and np.allclose(sample, space.counts.sample[held])
    if not same:
        raise RequestError(
            "the people of this source are not those that the kit counts, so a ledger cannot "
            "judge it",
            where=where,
            instead="fit on this source, or add --recount to apply",
        )
