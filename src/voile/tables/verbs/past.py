"""Read the content of a ledger's releases, in the terms of a kit of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.errors import InfeasibleError
from voile.ledger.chain import LedgerLine
from voile.ledger.judgement import other_kind
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.tables.joint.difference import OutRelease
from voile.tables.joint.disclosed import SpaceNames, rules_of
from voile.tables.joint.figures import JoinedReleases, ShownRelease
from voile.tables.joint.people import ReleasedPeople
from voile.tables.people.counts import Constraints
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import KIND, TablesContent
from voile.tables.verbs.following import EarlierRelease, FollowedRows, ReleaseArchive

NO_MARGINALS = (
    "no figure bounds what counts of people by runs of values come to with other releases"
)


class EarlierReleases:
    """The content of a ledger's releases, in the terms of a kit.

    Attributes
    ----------
    shown, said : for releases of the same rows: their groupings, and the contents of their ledger
        entries.
    followed, followed_shown : for releases of other rows, with people to follow: their people, and
        their groupings.
    knows_others : whether voile can read all that these releases reveal about people outside the
        data. If not, none of those people is a candidate.
    """

    def __init__(
        self,
        content: TablesContent,
        names: SpaceNames,
        lines: Sequence[LedgerLine],
        earlier: Mapping[int, EarlierRelease] | None = None,
    ) -> None:
        earlier = earlier or {}
        self._content, self.names = content, names
        self.rules = Constraints(**rules_of(content.space.constraints))
        asked = [line.content["disclosed"]["rules"]["k"] for line in lines]
        self.floor = min([self.rules.k, *asked])
        same = [line for line in lines if line.number not in earlier]
        read = [names.read_disclosed(line.content["disclosed"], content.sensitive) for line in same]
        self.shown = [shown for shown, _ in read]
        self.said = [line.content["disclosed"] for line in same]
        unread = [line.number for line, (_, known) in zip(same, read, strict=True) if not known]
        self.missing = tuple(
            f"line {number} has other values or another order of a column, so all of that column "
            "is taken to be out"
            for number in unread
        )
        others = [line.content["disclosed"] for line in lines if line.number in earlier]
        self.followed = [
            OutRelease(one.people, said["space"])
            for one, said in zip(earlier.values(), others, strict=True)
        ]
        own = {names.column(d.column) for d in content.space.domains}
        self.knows_others = all(own.issuperset(one.domains) for one in earlier.values())
        self.followed_shown = [
            names.read_at_another_time(said, one.domains)
            for one, said in zip(earlier.values(), others, strict=True)
        ]

    @classmethod
    def of(
        cls,
        content: TablesContent,
        ledger: Ledger,
        keys: LedgerKeys,
        archive: ReleaseArchive,
        rows: FollowedRows | None,
    ) -> EarlierReleases:
        """Read the earlier releases.

        `rows` are the rows of the source, or None if a policy is planned and people are not
        followed yet.

        Raises
        ------
        InfeasibleError : no figure bounds the risk of one of them together with this one.
        """
        names = SpaceNames(content.space, keys.hash)
        counted = names.counts_hash
        values = None
        if rows is not None and content.roles.subject is not None:
            values = values_of(rows, keys), names.kept_columns(content.roles)
        earlier: dict[int, EarlierRelease] = {}
        for line in ledger.released_lines:
            if why := other_kind(line, KIND):
                raise InfeasibleError(why)
            if line.content["disclosed"].get("marginals"):
                raise InfeasibleError(
                    f"line {line.number} counted people by runs, and {NO_MARGINALS}"
                )
            if not _is_of_same(line.content["disclosed"], counted, values):
                earlier[line.number] = _follow(line, content, rows, archive.find(line, keys))
        return cls(content, names, ledger.released_lines, earlier)

    @cached_property
    def joined_releases(self) -> JoinedReleases:
        """Return the join of all earlier releases, with releases of other rows included.

        Releases of other rows are treated as releases of these rows.
        """
        return JoinedReleases(self._content.space, self.all_shown)

    @property
    def all_shown(self) -> list[ShownRelease]:
        """Return all releases' groupings, with those of other rows treated as of these rows."""
        return [*self.shown, *self.followed_shown]

    @property
    def domains(self) -> dict[str, list[str]]:
        """Return the keyed hashes of the values of each domain, in order."""
        names = self.names
        return {names.column(d.column): names.values(d) for d in self._content.space.domains}

    def describe_disclosed(self, policy: AnyPolicy) -> dict[str, Any]:
        """Return the ledger entry's content for a policy's release."""
        names = self.names
        return {
            "counted": names.counts_hash,
            "rules": rules_of(self.rules),
            "sensitive": sorted(map(names.column, self._content.sensitive)),
            "kept": names.kept_columns(self._content.roles),
            **names.grouping(policy),
        }


def _is_of_same(
    said: Mapping[str, Any], counted: str, values: tuple[str, list[str]] | None
) -> bool:
    """Return whether a ledger entry is of the same rows, by counts and by values that both keep."""
    if said["counted"] != counted:
        return False
    known = values is not None and "values" in said and said["kept"] == values[1]
    return not known or (values is not None and said["values"] == values[0])


def _follow(
    line: LedgerLine, content: TablesContent, rows: FollowedRows | None, found: EarlierRelease
) -> EarlierRelease:
    """Return an earlier release of other rows, after checking its people against the source.

    Raises
    ------
    InfeasibleError : people cannot be followed, or nobody in the release is in the source.
    """
    if content.roles.subject is None:
        raise InfeasibleError(
            f"line {line.number} is a release of other rows, or of other quasi-identifiers, than "
            "this kit's, and people are followed by a column of subjects alone"
        )
    if rows is not None and not rows.named.all():
        raise InfeasibleError(
            f"line {line.number} is a release of other rows, and {int((~rows.named).sum()):,} of "
            "these have no subject, so people cannot be followed"
        )
    if rows is not None and not np.isin(found.people.who, rows.who).any():
        raise InfeasibleError(
            f"nobody in the release of line {line.number} is in this source: the ledger is of "
            "another source"
        )
    return found


def values_of(rows: FollowedRows, keys: LedgerKeys) -> str:
    """Return a keyed hash of each person's kept values."""
    people = rows.people(are_joined=False)
    return keys.hash("values", ReleasedPeople(people.who, people.who, people.kept).digest())
