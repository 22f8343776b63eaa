"""The joint attack: an adversary with a register links each person by all released parts at once.

The adversary has a register of named people with the table's quasi-identifiers, the release and its
manifest. Rows and texts of one pseudonym belong to one person. The adversary keeps the entries of
the register that agree with every row. An entry must also agree with the texts: an age in any form,
or the sex by a pronoun. A value outside every row's interval belongs to another person and is not
used. If there are several ages, each may be the person's. Success, for one person: one of the
people with a remaining entry, drawn at random, is the person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.data import Source, open_source
from voile.gate.finding import GateFinding, findings_to_data
from voile.gate.people import KNOWS_ALL, KNOWS_FEW
from voile.release.manifest import source_rows
from voile.study.adversary.date_attack import attack_dates
from voile.study.adversary.people import join_dates, read_dates
from voile.study.adversary.readings import read_clues
from voile.study.adversary.unjoined import RejoinedRows, rejoin
from voile.study.plan.plan import StudyPlan
from voile.study.readers.sexes import SEXES
from voile.study.study_release import StudyRelease
from voile.study.verbs.checks import check_applied
from voile.study.verbs.exported import read_exported
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.codebook import ReleaseCodebook

Mask = NDArray[np.bool_]
Said = tuple[str, tuple[str, ...]]
"""A column, and its cells that a text leaves possible."""


@dataclass(frozen=True)
class LinkedParts(BriefRepr):
    """The attack's success with each part alone, and with all parts: expected matches among people.

    people : number of people with released rows. alone : number of people for whom all parts
        together leave one entry, the right one.
    """

    people: int
    table: float
    texts: float
    joint: float
    alone: int


class _AgreeChances(NamedTuple):
    table: float
    texts: float
    joint: float


@dataclass(frozen=True)
class AttackedStudy(BriefRepr):
    """The results of attacks on all parts.

    known : attacks with a part's facts of a person. dates : attacks with true dates.
    linked : the attack with a register, if there is one. rejoined : attacks on parts without common
        pseudonyms.
    guesses : those of a classifier from the texts.
    informed : the results in `known` of adversaries who know some facts in addition to the table's
        columns. The gate counted `known` and `informed` in the written release.
    of_parts : the findings of attacks on each part by itself, or the reason for no attack.
    """

    known: tuple[GateFinding, ...]
    dates: tuple[GateFinding, ...]
    linked: LinkedParts | None
    rejoined: tuple[RejoinedRows, ...]
    guesses: tuple[Mapping[str, Any], ...] = ()
    informed: tuple[Mapping[str, Any], ...] = ()
    of_parts: Mapping[str, tuple[Evidence, ...] | str] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        return {
            "known": findings_to_data(self.known),
            "dates": findings_to_data(self.dates),
            "linked": self.linked and vars(self.linked),
            "rejoined": [vars(one) for one in self.rejoined],
            "guesses": [dict(one) for one in self.guesses],
            "informed": [dict(one) for one in self.informed],
            "parts": {
                name: found if isinstance(found, str) else [one.to_json() for one in found]
                for name, found in self.of_parts.items()
            },
        }


def attack(plan: StudyPlan, release: StudyRelease, register: Source | None) -> AttackedStudy:
    """Attack all parts of a release together.

    register : named people, with the column of subjects, which scores the attack.

    Raises
    ------
    RequestError : the release has no private folder, other parts than the plan, or other sources.
        With a register: its parts have no common pseudonym.
    """
    if release.private is None:
        raise RequestError(
            "the joint attack is scored with the private folder, which is not here",
            where=str(release.path),
            instead="attack where the study was applied",
        )
    check_applied(plan, release)
    subject = plan.study.subject
    dates = [read_dates(release.part(name), plan.open_part(name), subject) for name in plan.rows]
    if found := read_exported(plan, release.path, release.extract):
        dates.append(found.dates)
    rule = plan.date_rule(*release.extract)
    risk = attack_dates(join_dates(dates), rule, np.random.default_rng(plan.study.seed))
    known = tuple(x for x in release.findings if x.knows in (KNOWS_ALL.knows, KNOWS_FEW.knows))
    linked = None if register is None else link(plan, release, register)
    rejoined = _rejoin_parts(plan, release)
    guesses = tuple(release.public.get("guesses", ()))
    informed = tuple(release.private.get("informed", ()))
    return AttackedStudy(known, risk, linked, rejoined, guesses, informed)


def _rejoin_parts(plan: StudyPlan, release: StudyRelease) -> tuple[RejoinedRows, ...]:
    """Link the rows of the table to those of separate parts without pseudonyms."""
    table = plan.table[0]
    names = [x for x in plan.files if x != table and not plan.is_joined(x)]
    own = {name: (release.part(name), plan.open_part(name)) for name in (table, *names)}
    return rejoin(own.pop(table), own, plan.study.subject)


def link(plan: StudyPlan, release: StudyRelease, register: Source) -> LinkedParts:
    """Link the people of a release to a register, by its table, its texts, and all together.

    register : named people, with the column of subjects, which scores the attack.

    Raises
    ------
    RequestError : the parts of the release have no common pseudonym.
    """
    if not release.public["join"]:
        raise RequestError(
            "linking to a register needs a pseudonym in every part",
            where=str(release.path),
            instead="leave the register out",
        )
    tables = [x for x, part in plan.rows.items() if part.kind == "tables" and plan.is_joined(x)]
    of = {name: _StudyAdversary(release, name, register, plan.study.subject) for name in tables}
    rows = {name: one.people(plan.open_part(name)) for name, one in of.items()}
    adversary, people = of.pop(tables[0]), rows.pop(tables[0])
    texts = adversary.texts()

    def beside(one: str) -> Mask:
        own = [of[name].agreeing(rows[name][one][1]) for name in of if one in rows[name]]
        return np.asarray(np.logical_and.reduce([adversary.anybody, *own]))

    found = [adversary.link(*people[one], texts.get(one, ()), beside(one)) for one in people]
    return LinkedParts(
        people=len(found),
        table=sum(one.table for one in found),
        texts=sum(one.texts for one in found),
        joint=sum(one.joint for one in found),
        alone=sum(one.joint == 1.0 for one in found),
    )


class _StudyAdversary:
    def __init__(self, release: StudyRelease, table: str, register: Source, subject: str) -> None:
        self._release, self._table, self._subject = release, release.part(table), subject
        self._book: ReleaseCodebook = read_codebook(self._table.public["policy"])
        names = [column.column for column in self._book.columns]
        held = register.read([subject, *(n for n in names if n in register.columns)])
        entries = held.column(subject).to_numpy(zero_copy_only=False).astype(str)
        people, self._whose = np.unique(entries, return_inverse=True)
        self._number = {str(name): number for number, name in enumerate(people)}
        self._codes = self._book.register_codes(held)
        self._cells = {n: [str(x) for x in held.column(n).to_pylist()] for n in held.column_names}
        self._exact: dict[Said, Mask] = {}

    def people(self, truth: Source) -> dict[str, tuple[str, NDArray[np.int32]]]:
        """Return, by pseudonym, the true person and the intervals of its rows."""
        numbers = source_rows(self._table.folder)
        whose = truth.read([self._subject]).column(0).combine_chunks().take(numbers).to_pylist()
        rows = self._table.rows().read([self._subject, *self._book.released_columns])
        codes = self._book.released_codes(rows.select(self._book.released_columns))
        own: dict[str, tuple[str, list[Any]]] = {}
        for name, person, code in zip(
            rows.column(self._subject).to_pylist(), whose, codes, strict=True
        ):
            own.setdefault(name, (str(person), []))[1].append(code)
        return {name: (who, np.unique(rows, axis=0)) for name, (who, rows) in own.items()}

    def texts(self) -> Mapping[str, Sequence[Said]]:
        """Return, by pseudonym, the columns and cells that the person's texts state."""
        found: dict[str, Counter[Said]] = defaultdict(Counter)
        for part in self._release.public["parts"].values():
            texts = [c["column"] for c in part["columns"] if c["role"] == "text"]
            if not texts:
                continue
            rows = open_source(self._release.path / part["file"]).read([self._subject, *texts])
            for row in rows.to_pylist():
                said = {x for name in texts for x in self._says(row[name] or "")}
                found[row[self._subject]].update(said)
        return {name: tuple(said) for name, said in found.items()}

    def _says(self, text: str) -> Iterable[Said]:
        found = list(read_clues(text))
        for column in self._book.columns:
            cells = set(self._cells.get(column.column, ()))
            if column.column == "age":
                yield from ((column.column, one.cells) for one in found if one.what == "age")
            elif cells and {cell[:1].lower() for cell in cells} <= SEXES.keys():
                said = {cell for one in found if one.what == "sex" for cell in one.cells}
                yield from ((column.column, (c,)) for c in cells if c[:1].lower() in said)

    def link(
        self,
        person: str,
        rows: NDArray[np.int32],
        said: Sequence[Said],
        beside: Mask,
    ) -> _AgreeChances:
        """Return the probabilities of drawing one person from the remaining entries, by each way.

        beside : the entries that agree with the person's rows in other tables.
        """
        by_rows = self.agreeing(rows)
        use = [one for one in said if (by_rows & self._says_so(one)).any()]
        both = self._narrow_entries(by_rows & beside, use)
        by_text = self._narrow_entries(self.anybody, said)
        return _AgreeChances(*(self._chance(left, person) for left in (by_rows, by_text, both)))

    def _narrow_entries(self, left: Mask, said: Sequence[Said]) -> Mask:
        """Return the entries that agree with all statements of texts about each column.

        If there are none, as with ages from several years, return the entries that agree with any
        statement.
        """
        for column in dict.fromkeys(column for column, _ in said):
            own = [self._says_so(one) for one in said if one[0] == column]
            ways = (left & way.reduce(own) for way in (np.logical_and, np.logical_or))
            left = next((one for one in ways if one.any()), left)
        return left

    def _chance(self, left: Mask, person: str) -> float:
        """Return the probability that a person drawn from the remaining entries is the right one.

        Several entries of one person in the register count once.
        """
        number = self._number.get(person)
        entries = np.bincount(self._whose[left], minlength=len(self._number))
        is_left = number is not None and entries[number]
        return 1 / int(np.count_nonzero(entries)) if is_left else 0.0

    @cached_property
    def anybody(self) -> Mask:
        return np.ones(len(self._whose), np.bool_)

    def agreeing(self, rows: NDArray[np.int32]) -> Mask:
        """Return a mask of the entries that agree with every row."""
        return np.asarray(np.logical_and.reduce([self._agrees(row) for row in rows]))

    def _agrees(self, row: NDArray[np.int32]) -> Mask:
        return np.asarray(((self._codes == row) | (self._codes < 0)).all(axis=1))

    def _says_so(self, said: Said) -> Mask:
        """Return a mask of the entries with one of a column's cells."""
        if said not in self._exact:
            column, cells = said
            self._exact[said] = np.array([one in cells for one in self._cells[column]])
        return self._exact[said]
