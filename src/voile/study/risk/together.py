"""A study judged together with all that a ledger names: one line for all of its parts.

The adversary joins every row of every release, and has every text. Of the first table all cuts are
joined; what texts still say adds up over releases, by the union bound. Messages of readings are
taken as decoded, with class and known columns, which two maps for one reading may reveal: what they
then say of a column of the register counts as said. Other tables and items count as far as each
release showed the same of them. What is not of that form is bounded by no figure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.brief import Brief
from voile.data import Source
from voile.keys.pseudonyms import purpose_of
from voile.ledger.chain import Line
from voile.ledger.judgement import Judgement
from voile.ledger.ledger import Keys, Ledger
from voile.ledger.promise import SLACK, Figures
from voile.study.risk.joint import JointRisk, Leaks, Records
from voile.study.risk.measure import Residue
from voile.tables.joint.disclosed import Names
from voile.tables.joint.figures import Joined, Shown
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import Content
from voile.tables.verbs.following import Archive, FollowedRows, tokens_of_people
from voile.tables.verbs.judging import Case, check_counted
from voile.tables.verbs.past import Past

KIND, SIGNALS = "study", "signals"


@dataclass(frozen=True)
class Other(Brief):
    """What the ledger's line holds of another part of rows: keyed hashes alone."""

    kind: str
    columns: tuple[str, ...]
    policy: str
    source: str

    @classmethod
    def of(cls, public: Mapping[str, Any], hidden: Mapping[str, Any], keys: Keys) -> Other:
        """Read the two manifests of a part."""
        names = [str(one["column"]) for one in public["columns"]]
        policy = json.dumps([public["columns"], public.get("policy")], sort_keys=True)
        columns = tuple(sorted(keys.hash("column", name) for name in names))
        source = keys.hash("source", str(hidden["source"]["sha256"]))
        return cls(str(public["kind"]), columns, keys.hash("policy", policy), source)

    def to_data(self) -> dict[str, Any]:
        return {**vars(self), "columns": list(self.columns)}


@dataclass(frozen=True, eq=False)
class Together(Brief):
    """A release of a study on its way into a ledger.

    source : of the first table. residue : what its texts still say, and messages once decoded.
    others : the two manifests of each other part of rows. subjects : a source of each part, with
    its people. days : the scope in which dates move. archive : where earlier releases lie.
    """

    shows = ()

    content: Content
    policy: AnyPolicy
    source: Source
    residue: Residue
    others: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    subjects: Sequence[Source]
    days: int
    archive: Archive
    join: bool

    def judge(self, ledger: Ledger, keys: Keys) -> Judgement:
        """Judge the release with all that is out.

        The three figures are of the table and the texts together. `k` is that of the rows.
        """
        content = self.content
        check_counted(content, self.source)
        rows = FollowedRows.read(content, self.source, keys).grouped(content, self.policy)
        names = Names(content.space, keys.hash)
        tables = as_tables(ledger, names)
        space = keys.hash("pseudonyms", purpose_of(None)) if self.join else None
        table = Case(content, self.policy, rows, self.archive, space).judged(tables, keys, {})
        others = [Other.of(*one, keys).to_data() for one in self.others]
        said = self._said(names, keys, space)
        judged = replace(table, disclosed={**said, "tables": [table.disclosed], "others": others})
        unbounded = replace(judged, alone=None, linked=None, high=None, low=ledger.low)
        if why := table.unbounded or self._unbounded(ledger, keys, others):
            return replace(unbounded, unbounded=why)
        past = Past.of(content, tables, keys, self.archive, rows)
        if past.followed and _linking(others):
            why = "no figure bounds what parts beside the first table come to with other rows of it"
            return replace(unbounded, unbounded=why)
        return self._bounded(judged, past, ledger, names)

    def _said(self, names: Names, keys: Keys, space: str | None) -> dict[str, Any]:
        worst = self.residue.worst
        return {
            "texts": {
                "columns": {names.column(name): x for name, x in worst.columns.items()},
                "name": worst.name,
            },
            "space": space,
            "dates": [keys.scope_of_dates(self.days)],
        }

    def _unbounded(self, ledger: Ledger, keys: Keys, others: Sequence[Mapping[str, Any]]) -> str:
        """Say why no figure bounds what the releases come to, where none does."""
        shown = _linking(others)
        for line in ledger.released:
            disclosed = line.content["disclosed"]
            if line.content["kind"] == KIND and _linking(disclosed["others"]) != shown:
                return (
                    f"line {line.number} shows other rows, columns or cuts of a part beside the "
                    "first table than this study, and no figure bounds what both come to"
                )
        erased = np.array([int(x, 16) for x in sorted(ledger.erased)], np.uint64)
        subject = str(self.content.roles.subject)
        for one in self.subjects if len(erased) else ():
            if np.isin(_tokens(one, subject, keys), erased).any():
                return f"{one.name} has people who were erased: take them out of it"
        return ""

    def _bounded(self, table: Judgement, past: Past, ledger: Ledger, names: Names) -> Judgement:
        assert table.alone is not None
        assert table.high is not None
        space, residue = self.content.space, self.residue
        whole = space.evaluator.matches
        judged = JointRisk.of(space, self.policy)
        own = residue.figures(judged)["joint_at_recall"]
        before = leaks_of(ledger, names)
        if past.followed:
            high = table.high.matches + self._most(judged, before, past)
        else:
            shown = [*past.shown, Shown.of(self.policy, past.rules)]
            high = joined_matches(self.content, shown, residue, before)
        alone = _with(table.alone, own, whole)
        joint = _with(table.high, max(high, own), whole)
        low = min(max(own, ledger.low), joint.matches)
        linked = None if table.linked is None else min(max(low, table.linked), joint.matches)
        return replace(table, alone=alone, high=joint, low=low, linked=linked)

    def _most(self, judged: JointRisk, before: Leaks, past: Past) -> float:
        """Return the most that texts can add: everybody of whom one says anything is matched.

        What they say exactly adds nothing where the rows show it.
        """
        residue = self.residue
        figures = residue.figures(judged)
        exact = float(figures["joint"] > figures["table"] + SLACK)
        now = np.minimum(1.0, sum(residue.missed.values(), residue.named + exact))
        people = self.content.space.counts.sample.sum() + sum(
            len(one.people.released()) for one in past.followed
        )
        then = min(1.0, sum(before.columns.values()) + before.name)
        return float(residue.records.weights @ now + then * people)


def _linking(others: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the parts by which people are linked: all but readings, which count as decoded."""
    return [one for one in others if one["kind"] != SIGNALS]


def joined_matches(
    content: Content, shown: Sequence[Shown], residue: Residue, before: Leaks
) -> float:
    """Return the expected matches where every row of several releases is joined, with all texts."""
    space = content.space
    group, visible = Joined(space, shown).groups
    judged = JointRisk(space, group, visible)
    own = residue.records
    columns = {name: np.minimum(1.0, x + before.columns.get(name, 0.0))
               for name, x in residue.said.items()}  # fmt: skip
    columns |= {n: np.array(x) for n, x in before.columns.items() if n not in columns}
    now = judged.matches(columns, np.minimum(1.0, residue.named + before.name), own)
    here = np.bincount(own.at, own.weights, len(group))
    rest = np.maximum(space.counts.sample * visible - here, 0.0)
    if own.beside is not None:  # of people who are in an earlier release alone it is not known
        return now + float(rest.sum())
    everybody = Records(np.arange(len(group)), rest)
    return now + judged.matches(before.columns, before.name, everybody)


def as_tables(ledger: Ledger, names: Names) -> Ledger:
    """Return a ledger in whose lines a study is its table of these quasi-identifiers.

    A study without such a table stays what it is: a release of another kind.
    """
    columns = {names.column(one.column) for one in names.space.domains}
    lines = tuple(_as_table(line, columns) for line in ledger.chain.lines)
    return replace(ledger, chain=replace(ledger.chain, lines=lines))


def _as_table(line: Line, columns: set[str]) -> Line:
    if line.content.get("kind") != KIND:
        return line
    tables = line.content["disclosed"]["tables"]
    own = next((one for one in tables if {*one["domains"]} == columns), None)
    if own is None:
        return line
    return replace(line, content={**line.content, "kind": "tables", "disclosed": own})


def leaks_of(ledger: Ledger, names: Names) -> Leaks:
    """Add up what the texts of the releases that are out say, by the union bound."""
    columns, name = dict.fromkeys((d.column for d in names.space.domains), 0.0), 0.0
    for line in ledger.released:
        if line.content["kind"] == KIND:
            said = line.content["disclosed"]["texts"]
            name = min(1.0, name + said["name"])
            for one in columns:
                chance = said["columns"].get(names.column(one), 0.0)
                columns[one] = min(1.0, columns[one] + chance)
    return Leaks({one: x for one, x in columns.items() if x}, name)


def _with(found: Figures, matches: float, whole: float) -> Figures:
    return Figures(matches, matches / whole if whole else 0.0, found.k)


def _tokens(source: Source, subject: str, keys: Keys) -> Any:
    return tokens_of_people(keys, source.read([subject]).column(0).combine_chunks().unique())
