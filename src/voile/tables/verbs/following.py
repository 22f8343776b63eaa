"""Follow people from release to release: their labels, and the people who must wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError, TamperedError
from voile.data import Source, open_source
from voile.data.roles import AS_IT_IS
from voile.keys.pseudonyms import canonical_of
from voile.ledger.chain import LedgerLine
from voile.ledger.ledger import LedgerKeys
from voile.release.archive import private_folders
from voile.release.manifest import PEOPLE
from voile.tables.joint.people import ABSENT, DOMAINS, ReleasedPeople, Tokens, mix
from voile.tables.people.counts import row_keys
from voile.tables.policies.family import AnyPolicy
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.content import TablesContent

WAITING, ROW, WHY = "waiting.parquet", "row", "reason"
"""The file of the rows that a ledger keeps back, in the private folder: numbers and reasons."""
ERASED = "are erased"
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FollowedRows(BriefRepr):
    """The rows of a source that a policy can release, read once.

    Attributes
    ----------
    number : the row's number in the source.
    who : a keyed token of the person.
    combination : the number of the row's combination in the space.
    named : whether the row has a subject. A row without one is a separate person, whom nobody can
        follow.
    kept : by the keyed hash of each kept column, a token of the value.
    shown : a token of the group in which the row would be released, or `ABSENT` if it is
        suppressed.
    differ : whether somebody's rows have several combinations.
    """

    shows = ()

    number: NDArray[np.int64]
    who: Tokens
    combination: NDArray[np.int64]
    named: Mask
    kept: Mapping[str, Tokens]
    shown: Tokens
    differ: bool

    @classmethod
    def read_rows(cls, content: TablesContent, source: Source, keys: LedgerKeys) -> FollowedRows:
        """Read every row that is not held out and has all values in their domains.

        Without a column of subjects, each row is a separate person and cannot be followed. No
        policy shows the rows yet, see `group_rows`.
        """
        subject, roles = content.roles.subject, content.roles
        kept = [n for n in roles.of("quasi", *AS_IT_IS) if n not in (*content.space.quasi, subject)]
        wanted = [*dict.fromkeys([*content.space.quasi, *kept, *filter(None, [subject])])]
        parts: list[tuple[NDArray[np.generic], ...]] = []
        combine, first, domains = _CombinationIndex(content), 0, content.space.domains
        for batch in source.batches(wanted):
            number = np.arange(first, first + len(batch))
            codes = np.column_stack([d.codes(batch.column(d.column)) for d in domains])
            fits = ~content.hold_out.find_held(batch, first) & (codes >= 0).all(axis=1)
            who, named = mix(number.astype(np.uint64)), np.zeros(len(batch), np.bool_)
            if subject is not None:
                named = _has_name(batch.column(subject))
                who = np.where(named, tokens_of_people(keys, batch.column(subject)), who)
            values = (_values(keys, name, batch.column(name)) for name in kept)
            columns = (number, who, combine(codes), named, *values)
            parts.append(tuple(one[fits] for one in columns))
            first += len(batch)
        joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
        hashes = [keys.hash("column", name) for name in kept]
        number_, who_, combination, named_, *tokens_ = joined
        nothing, kept_ = np.full(len(number_), ABSENT), dict(zip(hashes, tokens_, strict=True))
        pairs = np.unique(np.column_stack([who_, combination.astype(np.uint64)]), axis=0)
        differ = len(pairs) > len(np.unique(who_))
        return cls(number_, who_, combination, named_.astype(np.bool_), kept_, nothing, differ)

    def group_rows(self, content: TablesContent, policy: AnyPolicy) -> FollowedRows:
        """Return the rows as a policy shows them.

        Cost: O(combinations).
        """
        keys = policy.keys_of(policy.numbers_of(content.space.counts.codes))
        tokens = mix(np.unique(keys, return_inverse=True)[1].astype(np.uint64))
        if (released := released_groups(content, policy)) is not None:
            tokens = np.where(np.isin(keys, policy.keys_of(released)), tokens, ABSENT)
        return replace(self, shown=tokens[self.combination])

    @property
    def has_several(self) -> bool:
        """Return whether somebody has several rows."""
        return len(np.unique(self.who)) < len(self.who)

    def people(self, *, are_joined: bool) -> ReleasedPeople:
        return ReleasedPeople.of_rows(self.who, self.shown, self.kept, are_joined=are_joined)

    def without(self, left_out: Mask) -> FollowedRows:
        """Return the rows, with some of them no longer shown."""
        return replace(self, shown=np.where(left_out, ABSENT, self.shown))

    def of_people(self, people: ReleasedPeople, chosen: Mask) -> Mask:
        """Return a mask of the rows of the chosen people."""
        return people.look_up(chosen, self.who)

    def several(self) -> Mask:
        """Return whether each person's rows differ, in the order of `people`."""
        pairs = np.unique(np.column_stack([self.who, self.combination.astype(np.uint64)]), axis=0)
        return np.asarray(np.unique(pairs[:, 0], return_counts=True)[1] > 1)

    def per_person(self, of_combination: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least value over the combinations of each person's rows."""
        order = np.argsort(self.who, kind="stable")
        _, first = np.unique(self.who[order], return_index=True)
        each: NDArray[np.float64] = of_combination[self.combination][order]
        return np.minimum.reduceat(each, first) if len(first) else each


class _CombinationIndex:
    """An index of a space's combinations that finds the number of each row's combination."""

    def __init__(self, content: TablesContent) -> None:
        counts = content.space.counts
        self._sizes = counts.sizes
        self._keys = row_keys(counts.codes, counts.sizes)

    def __call__(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        keys = row_keys(np.maximum(codes, 0), self._sizes)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(place, dtype=np.int64)


def released_groups(content: TablesContent, policy: AnyPolicy) -> Any:
    """Return the groups that are not suppressed, or None if no group can be suppressed.

    A tree never suppresses a group.
    """
    rules = content.space.constraints
    bound = rules.k > 1 or rules.max_risk < 1 or rules.diverse
    if isinstance(policy, TreePolicy) or not bound:
        return None
    groups, _, kept = content.space.groups(policy)
    return groups[kept]


def _has_name(subjects: pa.Array) -> Mask:
    texts = pc.utf8_trim_whitespace(subjects.cast(pa.string()).fill_null(""))
    return np.asarray(pc.not_equal(texts, ""), dtype=np.bool_)


def tokens_of_people(keys: LedgerKeys, subjects: pa.Array) -> Tokens:
    """Return a keyed token of each subject. Rows without a subject share one token."""
    texts = subjects.cast(pa.string()).fill_null("").dictionary_encode()
    tokens = keys.tokens("subject", canonical_of(texts.dictionary))
    return np.asarray(tokens[texts.indices.to_numpy()])


def _values(keys: LedgerKeys, column: str, values: pa.Array) -> Tokens:
    try:
        texts = values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        texts = pa.array([None if x is None else repr(x) for x in values.to_pylist()], pa.string())
    coded = texts.dictionary_encode(null_encoding="encode")
    named = [b"" if x is None else b"=" + x.encode() for x in coded.dictionary.to_pylist()]
    return np.asarray(keys.tokens(f"kept {column}", named)[coded.indices.to_numpy()])


@dataclass(frozen=True, eq=False)
class EarlierRelease(BriefRepr):
    """An earlier release's people, and the order of its domains' values, by keyed hash."""

    shows = ()

    people: ReleasedPeople
    domains: Mapping[str, list[str]]


@dataclass(frozen=True)
class ReleaseArchive(BriefRepr):
    """A reader that finds earlier releases and their private folders in some folders."""

    shows = ()

    folders: Sequence[Path]

    @cached_property
    def _places(self) -> dict[str, Path]:
        return private_folders(self.folders)

    def find(self, line: LedgerLine, keys: LedgerKeys) -> EarlierRelease:
        """Read the people of a ledger entry's release.

        Raises
        ------
        InfeasibleError : the release is not in the folders, or its people are not recorded.
        TamperedError : its private folder does not match the ledger.
        """
        digest = line.content["disclosed"].get("people")
        if digest is None:
            raise InfeasibleError(
                f"line {line.number} is a release of other rows without a subject for each row: "
                "people cannot be followed, and no figure bounds the joint risk"
            )
        private = self._places.get(line.content["manifest"])
        if private is None or not (private / PEOPLE).exists():
            raise InfeasibleError(
                f"line {line.number} is a release of other rows, and it lies with its private "
                "folder in none of the folders given by --releases"
            )
        people = ReleasedPeople.from_table(_table(private / PEOPLE))
        rows = _table(private / DOMAINS)
        domains: dict[str, list[str]] = {}
        for column, value in zip(*(rows.column(i).to_pylist() for i in (0, 1)), strict=True):
            domains.setdefault(column, []).append(value)
        if digest_of(people, domains, keys) != digest:
            raise TamperedError(
                f"is not the private folder of line {line.number}",
                where=str(private),
                instead="take it from a backup",
            )
        return EarlierRelease(people, domains)


def _table(path: Path) -> pa.Table:
    source = open_source(path)
    return pa.Table.from_batches(source.batches(), source.schema())


def digest_of(people: ReleasedPeople, domains: Mapping[str, list[str]], keys: LedgerKeys) -> str:
    return keys.hash("people", people.digest(), repr(sorted(domains.items())))


def to_beside(
    people: ReleasedPeople, domains: Mapping[str, list[str]]
) -> dict[str, pa.RecordBatch]:
    """Return the files of the private folder with which later releases are evaluated."""
    each = [(column, value) for column, values in domains.items() for value in values]
    named, values = ([one[i] for one in each] for i in (0, 1))
    order = {"column": pa.array(named, pa.string()), "value": pa.array(values, pa.string())}
    return {PEOPLE: people.to_rows(), DOMAINS: pa.RecordBatch.from_pydict(order)}
