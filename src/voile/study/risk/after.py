"""Find the policy of least loss for a safe study, given the earlier releases in a ledger.

No population provides counts for the facts in other tables and items. The people who agree with a
person are therefore counted among the released ones, as in the measurement of the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError, RequestError
from voile.data import Source
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.ledger.promise import SLACK, JointFigures
from voile.study.risk.joint import Ints, JointRisk, Mask, MatchRecords, TextLeaks, places_in
from voile.study.risk.together import as_tables, leaks_of
from voile.tables.fitting.after import candidates
from voile.tables.fitting.kernels.cells import why_too_wide
from voile.tables.joint.disclosed import SpaceNames
from voile.tables.joint.figures import JoinedReleases, ShownRelease
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.following import ReleaseArchive
from voile.tables.verbs.past import EarlierReleases


@dataclass(frozen=True, eq=False)
class RowsBeside(BriefRepr):
    """The rows that a policy may release.

    at : (rows,) the combination of each row. whose : (rows,) the number of its person.
    beside : (rows,) a number for the person's facts in other parts.
    """

    shows = ()

    at: Ints
    whose: Ints
    beside: Ints

    @classmethod
    def read_rows(
        cls, content: TablesContent, source: Source, beside: Mapping[str, int]
    ) -> RowsBeside:
        """Read every row that is not held out and has values in their domains.

        `beside` is, for each person, a number for the facts in other parts.
        """
        space, subject = content.space, str(content.roles.subject)
        codes, people, first = [], list[str](), 0
        for batch in source.batches([*dict.fromkeys([*space.quasi, subject])]):
            own = np.column_stack([d.codes(batch.column(d.column)) for d in space.domains])
            fits = ~content.hold_out.find_held(batch, first) & (own >= 0).all(axis=1)
            names = batch.column(subject).to_pylist()
            people += [str(names[n]) for n in np.flatnonzero(fits)]
            codes.append(own[fits])
            first += len(batch)
        whose = np.unique(np.array(people), return_inverse=True)[1].reshape(-1)
        shown = np.array([beside[one] for one in people], np.intp)
        return cls(places_in(space, np.concatenate(codes)), whose, shown)

    def records(self, released: Mask) -> MatchRecords:
        """Return the records of released combinations, weighted so that each person counts once."""
        own = released[self.at]
        whose = self.whose[own]
        weights = 1 / np.bincount(whose)[whose]
        return MatchRecords(self.at[own], weights, self.beside[own])


def find_after(
    content: TablesContent,
    leaks: TextLeaks,
    limit: float,
    ledger: Ledger,
    keys: LedgerKeys,
    archive: ReleaseArchive,
    *,
    rows: RowsBeside | None = None,
    seed: int | None,
) -> AnyPolicy:
    """Search the policy of least loss that keeps a mean joint risk together with earlier releases.

    Every row of every release counts as joined, with every text: see `together`. Releases of other
    rows count as if they contained these rows. A text counts as one mention per person and type.
    The release itself is evaluated when it is written.

    leaks : mentions remaining in the texts of this study, at the recall of the notes' kits.
    limit : the mean risk of a person in any of the releases, in [0, 1].
    rows : rows with the facts in other parts of rows, if there are any.

    Raises
    ------
    InfeasibleError : no policy keeps the limit and the ledger's risk budget.
    """
    space = content.space
    if why := why_too_wide(space.counts):
        raise RequestError(f"policies for whole columns cannot be searched: {why}")
    names = SpaceNames(space, keys.hash)
    past = EarlierReleases.of(content, as_tables(ledger, names), keys, archive, None)
    promise, before = ledger.promise.at_least(past.floor), leaks_of(ledger, names)
    columns = {name: min(1.0, leaks.columns.get(name, 0.0) + before.columns.get(name, 0.0))
               for name in {**leaks.columns, **before.columns}}  # fmt: skip
    both = TextLeaks(columns, min(1.0, leaks.name + before.name))
    out, most = JoinedReleases(space, past.all_shown), limit * float(space.counts.sample.sum())
    share = min(1.0, most / space.matches)  # the joint risk is never below that of the table alone
    alone = replace(promise, joint_risk=min(share, promise.joint_risk or 1.0))
    for policy in candidates(content, [past], alone, recount=False, seed=seed):
        joined = out.with_one(ShownRelease.of(policy, past.rules))
        of_rows = joined.figures()
        if of_rows.matches > most + SLACK:
            continue
        group, visible = joined.groups
        judged = JointRisk(space, group, visible)
        records = judged.records if rows is None else rows.records(visible)
        found, people = judged.expect_matches(both, records), records.weights
        figures = JointFigures(found, found / space.matches, of_rows.k)
        if found <= limit * float(people.sum()) + SLACK and not [*promise.broken_by(figures)]:
            return policy
    raise InfeasibleError(
        f"no policy found keeps a joint risk of {limit:.6g} and the ledger's promise together with "
        "the earlier releases",
        instead="raise joint_risk, or release no more of this source",
    )
