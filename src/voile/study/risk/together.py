"""Evaluate a study together with all releases in a ledger, as one entry for all parts.

The adversary joins every row of every release, and has every text. All split points of the first
table are joined. The mentions remaining in texts add up over releases, by the union bound. Messages
of signals count as decoded, with class and known columns, since two maps for one reading may reveal
these. If decoded messages then contain a column of the register, it counts as stated. Other tables
and items count only if each release showed the same facts of them. No figure bounds the risk
otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.brief import BriefRepr
from voile.data import Source
from voile.keys.pseudonyms import purpose_of
from voile.ledger.chain import LedgerLine
from voile.ledger.judgement import ReleaseJudgement
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.ledger.promise import SLACK, JointFigures
from voile.study.risk.joint import JointRisk, MatchRecords, TextLeaks
from voile.study.risk.measure import TextResidue
from voile.tables.joint.disclosed import SpaceNames
from voile.tables.joint.figures import JoinedReleases, ShownRelease
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.following import FollowedRows, ReleaseArchive, tokens_of_people
from voile.tables.verbs.judging import ReleaseCase, check_counted
from voile.tables.verbs.past import EarlierReleases

KIND, SIGNALS = "study", "signals"


@dataclass(frozen=True)
class OtherPart(BriefRepr):
    """The ledger entry's data on another part of rows, as keyed hashes only."""

    kind: str
    columns: tuple[str, ...]
    policy: str
    source: str

    @classmethod
    def of(
        cls, public: Mapping[str, Any], hidden: Mapping[str, Any], keys: LedgerKeys
    ) -> OtherPart:
        """Read the two manifests of a part."""
        names = [str(one["column"]) for one in public["columns"]]
        policy = json.dumps([public["columns"], public.get("policy")], sort_keys=True)
        columns = tuple(sorted(keys.hash("column", name) for name in names))
        source = keys.hash("source", str(hidden["source"]["sha256"]))
        return cls(str(public["kind"]), columns, keys.hash("policy", policy), source)

    def to_data(self) -> dict[str, Any]:
        return {**vars(self), "columns": list(self.columns)}


@dataclass(frozen=True, eq=False)
class StudyEntering(BriefRepr):
    """A release of a study that is to be entered in a ledger.

    source : the source of the first table. residue : the mentions remaining in texts and decoded
        messages.
    others : the two manifests of each other part of rows.
    subjects : a source of each part, with its people.
    days : the range in which dates move. archive : the place of earlier releases.
    """

    shows = ()

    content: TablesContent
    policy: AnyPolicy
    source: Source
    residue: TextResidue
    others: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    subjects: Sequence[Source]
    days: int
    archive: ReleaseArchive
    join: bool

    def judge(self, ledger: Ledger, keys: LedgerKeys) -> ReleaseJudgement:
        """Evaluate the release together with all earlier releases.

        The three figures are of the table and the texts together. `k` is that of the rows.
        """
        content = self.content
        check_counted(content, self.source)
        rows = FollowedRows.read_rows(content, self.source, keys).group_rows(content, self.policy)
        names = SpaceNames(content.space, keys.hash)
        tables = as_tables(ledger, names)
        space = keys.hash("pseudonyms", purpose_of(None)) if self.join else None
        table = ReleaseCase(content, self.policy, rows, self.archive, space).judge_release(
            tables, keys, {}
        )
        others = [OtherPart.of(*one, keys).to_data() for one in self.others]
        said = self._describe_texts(names, keys, space)
        judged = replace(table, disclosed={**said, "tables": [table.disclosed], "others": others})
        unbounded = replace(judged, alone=None, linked=None, high=None, low=ledger.low)
        if why := table.unbounded or self._explain_no_bound(ledger, keys, others):
            return replace(unbounded, unbounded=why)
        past = EarlierReleases.of(content, tables, keys, self.archive, rows)
        if past.followed and _linking(others):
            why = "no figure bounds parts other than the first table together with other rows of it"
            return replace(unbounded, unbounded=why)
        return self._bound_release(judged, past, ledger, names)

    def _describe_texts(
        self, names: SpaceNames, keys: LedgerKeys, space: str | None
    ) -> dict[str, Any]:
        worst = self.residue.worst
        return {
            "texts": {
                "columns": {names.column(name): x for name, x in worst.columns.items()},
                "name": worst.name,
            },
            "space": space,
            "dates": [keys.scope_of_dates(self.days)],
        }

    def _explain_no_bound(
        self, ledger: Ledger, keys: LedgerKeys, others: Sequence[Mapping[str, Any]]
    ) -> str:
        """Return the reason if no figure bounds the releases' joint risk, else an empty string."""
        shown = _linking(others)
        for line in ledger.released_lines:
            disclosed = line.content["disclosed"]
            if line.content["kind"] == KIND and _linking(disclosed["others"]) != shown:
                return (
                    f"line {line.number} shows other rows, columns or cuts of a part besides the "
                    "first table than this study. No figure bounds the risk of both together"
                )
        erased = np.array([int(x, 16) for x in sorted(ledger.erased_hashes)], np.uint64)
        subject = str(self.content.roles.subject)
        for one in self.subjects if len(erased) else ():
            if np.isin(_tokens(one, subject, keys), erased).any():
                return f"{one.name} has people who were erased: take them out of it"
        return ""

    def _bound_release(
        self, table: ReleaseJudgement, past: EarlierReleases, ledger: Ledger, names: SpaceNames
    ) -> ReleaseJudgement:
        assert table.alone is not None
        assert table.high is not None
        space, residue = self.content.space, self.residue
        whole = space.matches
        judged = JointRisk.of(space, self.policy)
        own = residue.figures(judged)["joint_at_recall"]
        before = leaks_of(ledger, names)
        if past.followed:
            high = table.high.matches + self._most(judged, before, past)
        else:
            shown = [*past.shown, ShownRelease.of(self.policy, past.rules)]
            high = joined_matches(self.content, shown, residue, before)
        alone = _with(table.alone, own, whole)
        joint = _with(table.high, max(high, own), whole)
        low = min(max(own, ledger.low), joint.matches)
        linked = None if table.linked is None else min(max(low, table.linked), joint.matches)
        return replace(table, alone=alone, high=joint, low=low, linked=linked)

    def _most(self, judged: JointRisk, before: TextLeaks, past: EarlierReleases) -> float:
        """Return the most that texts can add: each person mentioned in a text counts as matched.

        Exact mentions add nothing if the rows show the same.
        """
        residue = self.residue
        figures = residue.figures(judged)
        exact = float(figures["joint"] > figures["table"] + SLACK)
        now = np.minimum(1.0, sum(residue.missed.values(), residue.named + exact))
        people = self.content.space.counts.sample.sum() + sum(
            len(one.people.select_released()) for one in past.followed
        )
        then = min(1.0, sum(before.columns.values()) + before.name)
        return float(residue.records.weights @ now + then * people)


def _linking(others: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the parts that link people: all except signals, which count as decoded."""
    return [one for one in others if one["kind"] != SIGNALS]


def joined_matches(
    content: TablesContent, shown: Sequence[ShownRelease], residue: TextResidue, before: TextLeaks
) -> float:
    """Return the expected matches if the rows of several releases are joined, with all texts."""
    space = content.space
    group, visible = JoinedReleases(space, shown).groups
    judged = JointRisk(space, group, visible)
    own = residue.records
    columns = {name: np.minimum(1.0, x + before.columns.get(name, 0.0))
               for name, x in residue.statement_chances.items()}  # fmt: skip
    columns |= {n: np.array(x) for n, x in before.columns.items() if n not in columns}
    now = judged.matches(columns, np.minimum(1.0, residue.named + before.name), own)
    here = np.bincount(own.at, own.weights, len(group))
    rest = np.maximum(space.counts.sample * visible - here, 0.0)
    if own.beside is not None:  # the facts of people in earlier releases only are unknown
        return now + float(rest.sum())
    everybody = MatchRecords(np.arange(len(group)), rest)
    return now + judged.matches(before.columns, before.name, everybody)


def as_tables(ledger: Ledger, names: SpaceNames) -> Ledger:
    """Return a ledger in which each study's entry is that of its table of these quasi-identifiers.

    A study without such a table is unchanged, as a release of another kind.
    """
    columns = {names.column(one.column) for one in names.space.domains}
    lines = tuple(_as_table(line, columns) for line in ledger.chain.lines)
    return replace(ledger, chain=replace(ledger.chain, lines=lines))


def _as_table(line: LedgerLine, columns: set[str]) -> LedgerLine:
    if line.content.get("kind") != KIND:
        return line
    tables = line.content["disclosed"]["tables"]
    own = next((one for one in tables if {*one["domains"]} == columns), None)
    if own is None:
        return line
    return replace(line, content={**line.content, "kind": "tables", "disclosed": own})


def leaks_of(ledger: Ledger, names: SpaceNames) -> TextLeaks:
    """Add up the mentions remaining in the texts of earlier releases, by the union bound."""
    columns, name = dict.fromkeys((d.column for d in names.space.domains), 0.0), 0.0
    for line in ledger.released_lines:
        if line.content["kind"] == KIND:
            said = line.content["disclosed"]["texts"]
            name = min(1.0, name + said["name"])
            for one in columns:
                chance = said["columns"].get(names.column(one), 0.0)
                columns[one] = min(1.0, columns[one] + chance)
    return TextLeaks({one: x for one, x in columns.items() if x}, name)


def _with(found: JointFigures, matches: float, whole: float) -> JointFigures:
    return JointFigures(matches, matches / whole if whole else 0.0, found.k)


def _tokens(source: Source, subject: str, keys: LedgerKeys) -> Any:
    return tokens_of_people(keys, source.read([subject]).column(0).combine_chunks().unique())
