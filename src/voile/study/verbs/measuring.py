"""Measure the joint disclosure of the written parts, and write a study's manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.rounding import round_number
from voile.core.version import __version__, versions
from voile.data import Source
from voile.documents.reviewing.local_page import types_on_page
from voile.documents.verbs.report_data import ACCEPTANCE
from voile.gate.finding import GateFinding, figures_of, findings_to_data
from voile.gate.people import ReleasedPart, count_by_rows, count_people
from voile.keys.seal import file_sha256
from voile.release.found_values import VALUES, detail_values
from voile.release.manifest import FINDINGS
from voile.release.writing import Manifests
from voile.report.wording import join_names
from voile.study.adversary import people
from voile.study.adversary.acquaintance import GROUP, ONE_ROW, known_facts, reaches
from voile.study.adversary.date_attack import attack_dates
from voile.study.carriers.row_limits import code_rows
from voile.study.plan.entries import SIGNALS
from voile.study.plan.plan import StudyPlan
from voile.study.risk.guessing import ColumnGuess, gather, guess, sexes_in
from voile.study.risk.joint import JointRisk
from voile.study.risk.measure import PartResidue, TextResidue
from voile.study.risk.remedies import find_remedies
from voile.study.risk.stating import StatedCategory, category_columns, measure_stated, true_values
from voile.study.study_release import EXPORT, FORMAT, UNACCEPTED, UTILITY, VERSION, PartRelease
from voile.study.text.certify import MentionCertificate, certify
from voile.study.text.values import check_values, find_promised, public_value, search_release
from voile.study.verbs.capping import count_left_out, find_limits
from voile.study.verbs.checks import check_alone, check_promise
from voile.study.verbs.export import UNKNOWN, options_of_export
from voile.study.verbs.exported import read_exported
from voile.study.verbs.figures import (
    joint_counts,
    joint_risks,
    known_risks,
    public_facts,
    public_remedy,
    share_with_values,
    text_counts,
)
from voile.study.verbs.fit import is_unchecked, miss_of
from voile.study.verbs.people_counts import PeopleCounts, write_people
from voile.study.verbs.utility import compare_counts, counts_to_data
from voile.study.verbs.writing import StudyWriting
from voile.tables.policies.family import AnyPolicy, refuse_person_policy
from voile.tables.recoding.boxes import read_codebook
from voile.tables.verbs.content import TablesContent

_HEAD = {"format": FORMAT, "version": VERSION}


@dataclass
class StudyMeasuring:
    """The written parts of a study, measured on the written bytes."""

    writing: StudyWriting

    @property
    def plan(self) -> StudyPlan:
        return self.writing.plan

    def manifests(self) -> Manifests:
        """Return the public manifest, which is part of the release, and the private one."""
        counted = {name: self._certificate(name) for name in self.plan.texts}
        known = self._count_known()
        facts = list(known_facts(known))
        check_alone(self.plan, known, self.remedies)
        self.residue = self._residue(counted)
        figures = self.residue.figures(JointRisk.of(self.content.space, self.policy))
        stated = [one.column for one in self.stated_categories if one.people]
        check_promise(self.plan, figures, self.guessed_columns, stated)
        written = self.writing.part, self.writing.scratch
        export = self.writing.release / EXPORT
        own, elsewhere = search_release(self.plan, *written, export=export)
        promised = find_promised(self.plan, own, *written, export=export)
        check_values(self.plan, promised)
        risks = (
            *joint_risks(figures),
            *known_risks(known),
            share_with_values(own),
        )
        findings = (
            *joint_counts(figures),
            *risks,
            *known,
            *text_counts(self.guesses, counted),
            own,
            elsewhere,
        )
        parts, hidden_parts = self._parts()
        public = {
            **self._said_of(parts),
            "mentions": {name: one.to_data() for name, one in counted.items()},
            "figures": {name: round_number(x, "up") for name, x in figures_of(risks).items()},
            "informed": [public_facts(one) for one in facts],
            "remedies": [public_remedy(one) for one in self.remedies],
            "values": [public_value(one) for one in (own, elsewhere)],
        }
        hidden = {
            **_HEAD,
            "parts": hidden_parts,
            "figures": figures_of(findings),
            FINDINGS: findings_to_data(findings),
            "people": self._people(),
            "informed": [one.to_data() for one in facts],
            "remedies": [one.to_data() for one in self.remedies],
            "left_out": self._left_out,
            VALUES: [detail_values(one) for one in (own, elsewhere)],
            "extract": [day and day.isoformat() for day in self.writing.extract],
            UTILITY: counts_to_data(compare_counts(self.writing)),
            "made_with": versions(),
        }
        if self.writing.export is not None:
            public[EXPORT], hidden[EXPORT] = self.writing.export
        return public, hidden

    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return each part's entries in the two manifests, with its file and the file's hash."""
        public: dict[str, Any] = {}
        hidden: dict[str, Any] = {}
        for name, both in self.writing.parts.items():
            place = self.writing.place(name)
            own = {"file": place.name, "sha256": file_sha256(place)}
            public[name], hidden[name] = ({**one, **own} for one in both)
        return public, hidden

    def _said_of(self, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the public manifest's description of the release, without its figures."""
        planted = self.writing.planted
        return {
            **_HEAD,
            "kind": "study",
            "sha256": _sha256_of(parts),
            "voile": __version__,
            "join": self.plan.study.join,
            "parts": parts,
            "columns": [
                {**one, "column": f"{name}.{one['column']}"}
                for name, part in parts.items()
                for one in part["columns"]
            ],
            "planted": {name: [one.to_data() for one in found] for name, found in planted.items()},
            "guesses": [one.to_data() for one in self.guesses],
            "stated": [one.to_data() for one in self.stated_categories],
            UNACCEPTED: self._unaccepted_parts,
            "assumptions": self._assumptions(),
        }

    def _residue(self, counted: Mapping[str, MentionCertificate]) -> TextResidue:
        """Return possible mentions in the written texts, and each person's facts in other rows."""
        table, _ = self.plan.table
        return TextResidue.of(
            self.content,
            self.plan.open_part(table),
            self.writing.private / table,
            self.writing.rules(),
            [self._left_in(name, one) for name, one in counted.items()],
            guessed=self.guessed_columns,
            beside=self._beside(),
            stated=self.stated_categories,
        )

    def _left_in(self, name: str, counted: MentionCertificate) -> PartResidue:
        """Return the possible mentions in a part's texts, as measured by its kit or its readers."""
        kit, proof = self.writing.kits[name], self._proofs.get(name)
        return PartResidue(
            counted.by_person,
            miss_of(kit, self.writing.chosen[name]),
            None if proof is None else float(proof["share_of_subjects_at_most"]),
            frozenset(types_on_page(kit.facts["labels"])),
        )

    @property
    def _proofs(self) -> dict[str, Mapping[str, Any]]:
        """The limits that readers proved for each accepted part of texts."""
        public = {name: self.writing.parts[name][0] for name in self.plan.texts}
        return {name: own[ACCEPTANCE] for name, own in public.items() if ACCEPTANCE in own}

    @cached_property
    def content(self) -> TablesContent:
        """The content of the table's kit. All parts follow its policy."""
        return TablesContent.of(self.writing.kits[self.plan.table[0]])

    @cached_property
    def policy(self) -> AnyPolicy:
        chosen = self.writing.chosen[self.plan.table[0]]
        return refuse_person_policy(self.content.family.read_policy(chosen.policy))

    def _beside(self) -> Mapping[str, int] | None:
        """Number the facts of each person in other tables and items, or return None without."""
        subject, others = self.plan.study.subject, self.plan.linked_rows
        facts = (people.number_facts(*self._part(one), subject) for one in others)
        return people.number_people(facts) if others else None

    @property
    def guessed_columns(self) -> list[str]:
        return [one.column for one in self.guesses if one.is_above_chance]

    @cached_property
    def guesses(self) -> tuple[ColumnGuess, ...]:
        """A classifier's guesses of the sex of people, if their rows do not show it."""
        columns = sexes_in(self.plan.mentions, self.writing.shown.codebook.quasi)
        if not columns or not self.plan.texts:
            return ()
        said = ((self.writing.shown.name_of(who), text)
                for name in self.plan.texts
                for who, text in self.writing.read_written(name).texts_of_people())  # fmt: skip
        texts = gather(said, self.writing.shown.people)
        found = (guess(name, texts, self._list_hidden(name)) for name in columns)
        return tuple(one for one in found if one is not None)

    @cached_property
    def stated_categories(self) -> tuple[StatedCategory, ...]:
        """The people with released texts that state a category of the table, by pseudonym."""
        if not self.plan.texts:
            return ()
        source, name_of = self.plan.open_part(self.plan.table[0]), self.writing.shown.name_of
        quasi = [one for one in self.writing.shown.codebook.quasi if one in source.columns]
        readers = category_columns(source, quasi)
        truth = true_values(source, self.plan.study.subject, [*readers])
        named = {column: {name_of(who): x for who, x in own.items()}
                 for column, own in truth.items()}  # fmt: skip
        said = ((name_of(who), text)
                for name in self.plan.texts
                for who, text in self.writing.read_written(name).texts_of_people())  # fmt: skip
        return measure_stated(said, readers, named)

    def _list_hidden(self, column: str) -> dict[str, str]:
        """Return the true value of each person for whom no row shows it, by pseudonym."""
        table, shown = self.plan.table[0], self.writing.shown
        rows = self.plan.open_part(table).read([self.plan.study.subject, column])
        return {
            shown.name_of(str(who)): str(cell)
            for who, cell in zip(*(x.to_pylist() for x in rows.columns), strict=True)
            if None not in (who, cell) and not shown.shows_within(str(who), column, [str(cell)])
        }

    def _count_known(self) -> tuple[GateFinding, ...]:
        """Attack the written release with facts in parts, with true dates and with few facts."""
        writing, plan = self.writing, self.plan
        found = read_exported(plan, writing.release, writing.extract)
        own_dates = (
            people.read_dates(*self._part(x), plan.study.subject)
            for x in plan.rows
            if x not in self._unlinked_parts
        )
        parts = {x: self._open_part(x) for x in plan.files if x not in self._unlinked_parts}
        if found is not None:
            parts |= {kind if kind not in parts else f"{EXPORT} {kind}": own
                      for kind, own in found.events.items()}  # fmt: skip
        exported_dates = [] if found is None else [found.dates]
        joined = people.join_dates(chain(own_dates, exported_dates))
        rule, rng = plan.date_rule(*writing.extract), np.random.default_rng(plan.study.seed)
        by_dates = attack_dates(joined, rule, rng)
        group = people.open_group(
            *self._part(plan.table[0]),
            plan.study.subject,
            self._stated_columns,
            is_joined=plan.study.join,
        )
        self.remedies = find_remedies(
            parts,
            [x for x in plan.linked_rows if x in parts],
            group,
            codes=self._code_rows,
            export=None if plan.export is None else options_of_export(plan.export),
            are_months=rule.months,
        )
        own = {f"{ONE_ROW} {name}": self._open_part(name) for name in self._unlinked_parts}
        own |= {} if plan.study.join else {GROUP: group}
        apart = [
            one
            for of, part in own.items()
            for one in count_by_rows(part, of=of, are_months=rule.months)
        ]
        if not plan.study.join:  # only messages of signals have a name for their person
            alone = (count_people({x: part}, of=x) for x, part in parts.items())
            return (*chain(*alone), *apart, *by_dates)
        days = people.open_days(joined, self._name_person) if joined else None
        known = reaches(parts, are_months=rule.months, group=group, days=days)
        return (*known, *apart, *by_dates)

    def _code_rows(self, name: str) -> pa.Array:
        """Return the keyed code of each released row of a part, for limiting the rows."""
        rows = (row for batch in self.plan.open_part(name).batches() for row in batch.to_pylist())
        return pa.array(code_rows(self.plan.secret, rows)).take(self.writing.numbers(name))

    @property
    def _unlinked_parts(self) -> list[str]:
        """The parts with rows that cannot be joined, since they have no pseudonym."""
        plan = self.plan
        return [x for x in plan.files if not plan.is_joined(x) and plan.parts[x].kind != SIGNALS]

    def _name_person(self, person: str) -> str:
        """Return a person's name in the written parts: its pseudonym, if parts are joined."""
        return self.writing.shown.name_of(person) if self.plan.study.join else person

    def _open_part(self, name: str) -> ReleasedPart:
        if self.plan.parts[name].kind == SIGNALS:
            from voile.study.adversary.messages import open_readings

            return open_readings(*self._part(name), self._name_person)
        subject, is_joined = self.plan.study.subject, self.plan.is_joined(name)
        return people.open_part(*self._part(name), subject, is_joined=is_joined)

    def _part(self, name: str) -> tuple[PartRelease, Source]:
        return self.writing.part(name), self.plan.open_part(name)

    @property
    def _stated_columns(self) -> list[str]:
        """The columns with exact values in texts."""
        kept = (one.column for one in self.plan.mentions.values() if one.keep)
        return [*dict.fromkeys((*filter(None, kept), *self.guessed_columns))]

    def _people(self) -> dict[str, dict[str, int]]:
        """Count the people of each part, and write the outcome of each one's rows."""
        return write_people(self._count_parts(), self.writing.private)

    def _count_parts(self) -> Iterator[tuple[str, PeopleCounts]]:
        for name, part in self.plan.parts.items():
            subjects = self.plan.open_part(name).read([self.plan.study.subject]).column(0)
            table = None if part.of is None else self.writing.numbers(part.of)
            private, whose = self.writing.private / name, subjects.combine_chunks()
            yield name, PeopleCounts.of(self.plan.secret, whose, private, table)

    def _assumptions(self) -> list[str]:
        said = {one.column for one in self.plan.mentions.values()}
        said |= {one.column for one in self.guesses} | {
            one.column for one in self.stated_categories
        }
        policy = read_codebook(self.writing.parts[self.plan.table[0]][0]["policy"])
        silent = [one.column for one in policy.columns if one.column not in said]
        unsaid = (
            [f"no text says {join_names(silent)}, which was not measured"]
            if silent and self.plan.texts
            else []
        )
        export = [] if self.plan.export is None else [UNKNOWN]
        found = [*(one.says for one in self.stated_categories), *(one.says for one in self.guesses)]
        capped = [
            f"of {name} not all rows of each person are released: "
            f"{round_number(one['left_out'] / (one['rows'] or 1), 'up'):.0%} of its rows are "
            "left out"
            for name, one in self._left_out.items()
        ]
        return [*unsaid, *found, *self._assume_recall(), *export, *capped]

    def _assume_recall(self) -> Iterator[str]:
        """Yield the assumptions of the figures at recall about the texts of each part."""
        proofs = self._proofs
        if self._unaccepted_parts:
            yield (
                f"nobody has checked how much the kit of {join_names(self._unaccepted_parts)} "
                "misses: the figures are for all names hidden and for no name hidden"
            )
        for name, one in proofs.items():
            yield (
                f"at most {one['share_of_subjects_at_most']:.1%} of the people of {name} have an "
                f"identifier left, with {one['confidence']:.0%} confidence, each as likely as "
                "another" + f", {one['condition']}" * bool(one["condition"])
            )
        if len(proofs) + len(self._unaccepted_parts) < max(1, len(self.plan.texts)):
            yield "at recall: each mention is missed as often as the kit's test text says"

    @cached_property
    def _left_out(self) -> dict[str, dict[str, int]]:
        """The rows that the plan's options leave out, for each part with such options."""
        limits = find_limits(self.plan)
        return {name: count_left_out(self.plan, name, one) for name, one in limits.items()}

    @property
    def _unaccepted_parts(self) -> list[str]:
        """The parts of texts with a kit trained on proposals, and without acceptance."""
        kits, proofs = self.writing.kits, self._proofs
        return [x for x in self.plan.texts if is_unchecked(kits[x]) and x not in proofs]

    def _certificate(self, name: str) -> MentionCertificate:
        """Check, on the written bytes, that no mention reveals more than its person's rows."""
        return certify(self.writing.read_written(name), self.writing.rules())


def _sha256_of(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a hash of the names and the hashes of the parts' files."""
    lines = (f"{name}\0{parts[name]['sha256']}\n" for name in sorted(parts))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
