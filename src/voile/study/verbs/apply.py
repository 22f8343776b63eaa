"""The study's second verb: apply writes every part, or none, into one folder with one manifest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.progress import Progress
from voile.core.rounding import rounded
from voile.core.version import __version__, versions
from voile.data import Source, Staging, open_source
from voile.data.writing.writers import WRITERS
from voile.keys.seal import SEAL, Seal, file_sha256
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import PRIVATE_MANIFEST, ROW, ROWS, encode, private_path
from voile.release.run import Run
from voile.release.step import Applying
from voile.release.writing import Manifests, Parts
from voile.report.wording import listed
from voile.study.adversary.acquaintance import Reach, reaches
from voile.study.adversary.date_attack import DateRisk, attack_dates
from voile.study.adversary.people import dates_of, facts_of
from voile.study.plan.entries import TextPart
from voile.study.plan.part_roles import Extract
from voile.study.plan.plan import Plan
from voile.study.readers import Reader, read_words, reader_of
from voile.study.risk.guessing import Guess, gather, guess, sexes_in
from voile.study.risk.measure import measure
from voile.study.study_kit import chosen_in, extract_in, unpack
from voile.study.study_release import FORMAT, MANIFEST, STUDY, VERSION, PartRelease, StudyRelease
from voile.study.text.certify import Certificate, WrittenTexts, certify
from voile.study.text.in_place import gather_texts, put_texts
from voile.study.text.mentions import Rules, writer_of
from voile.study.text.names import MadeUpNames
from voile.study.text.shown import Shown
from voile.study.verbs.checks import (
    check_kept,
    check_met,
    check_people,
    check_promise,
    check_surrogates,
)
from voile.study.verbs.export import UNKNOWN, pack, sending
from voile.study.verbs.figures import known_risks, mean_risks
from voile.study.verbs.fit import miss_of
from voile.study.verbs.naming import made_up_names, put_names
from voile.study.verbs.people_counts import PeopleCounts, write_people
from voile.tables.recoding.boxes import read_codebook
from voile.wings import wing


def apply(plan: Plan, kit: Kit, *, force: bool, progress: Progress) -> StudyRelease:
    """Write the release of a study: all parts appear together, or none does.

    Memory follows the batch, but for the intervals that each person's rows show.

    Raises
    ------
    RequestError : a part cannot be opened, or nobody of a part has a released row.
    InfeasibleError : a part breaks its kit's constraints.
    """
    _ = plan.secret  # of which nothing is made before it is there
    kits = unpack(kit)
    chosen = chosen_in(kit, kits)
    out = plan.release
    with Staging(out, STUDY, force=force) as staging:
        shown = staging.folder(out)
        private = staging.folder(private_path(out), mode=0o700)
        room = _Room(
            plan, kits, chosen, extract_in(kit), shown, private, staging.scratch(), progress
        )
        room.write()
        public, hidden = room.manifests()
        if plan.export is not None:
            room.export(public, hidden)
        (shown / MANIFEST).write_bytes(encode(public))
        (private / PRIVATE_MANIFEST).write_bytes(encode(hidden))
        (private / SEAL).write_bytes(_seal(shown, private, plan).to_bytes())
        with sending(plan, shown, force=force) as publish:
            staging.commit(publish)
    return StudyRelease.open(out)


@dataclass
class _Room:
    """Where the parts of a release are written, one after the other."""

    plan: Plan
    kits: Mapping[str, Kit]
    chosen: Mapping[str, Chosen]
    extract: Extract
    release: Path
    private: Path
    scratch: Path
    progress: Progress
    parts: dict[str, Manifests] = field(default_factory=dict)

    def write(self) -> None:
        """Write the table, the other rows, and the texts, which say no more than its rows."""
        table, _ = self.plan.table
        self.parts = {table: self._rows(table)}
        source = self.plan.opened(table)
        self.shown = Shown.of(
            open_source(self.place(table)),
            open_source(self.private / table / ROWS),
            source,
            subject=self.plan.study.subject,
            codebook=read_codebook(self.parts[table][0]["policy"]),
            secret=self.plan.secret,
        )
        whose = source.read([self.plan.study.subject]).column(0).take(self._numbers(table))
        self.parts[table][0]["columns"] += put_names(
            self.plan, self.names, self.place(table), whose
        )
        for name in (one for one in self.plan.rows if one != table):
            self.parts[name] = self._rows(name)
            check_people(self.plan, name, self.shown)
        for name, text in self.plan.texts.items():
            self.parts[name] = self._text(name, text, source, self.parts[table])

    def _rows(self, name: str) -> Manifests:
        """Write a part of rows, its people under the study's pseudonyms or under none."""
        part = self.plan.rows[name]
        named = {"pseudonyms": True} if part.kind == "itemsets" else {"no_pseudonyms": False}
        unnamed = {one: not said for one, said in named.items()}
        given = {
            **part.apply,
            "key_file": self.plan.key_file,
            **(named if self.plan.study.join else unnamed),
        }
        options = self.plan.options(part.kind, "Apply", _given(given), f"parts.{name}.apply")
        step = wing(part.kind).prepare(
            self.kits[name], self.chosen[name], self.plan.opened(name), options
        )
        return self._run(name, step, options, self.place(name))

    def place(self, name: str) -> Path:
        """Return where the rows of a part are released; a text of a table is among its rows."""
        part = self.plan.parts[name]
        if isinstance(part, TextPart) and part.of is not None:
            return self.place(part.of)
        suffix = Path(str(part.source)).suffix.lower()
        default = suffix if suffix in WRITERS else ".parquet"
        return self.release / (part.out or f"{name}{default}")

    def _text(self, name: str, part: TextPart, table: Source, beside: Manifests) -> Manifests:
        """Write the texts of a part, by the rule for mentions."""
        if part.of is None:
            source, place = self.plan.opened(name), self.place(name)
            given: dict[str, Any] = {"pseudonyms": self.plan.study.join}
        else:
            (self.scratch / name).mkdir()
            whose = open_source(self.private / part.of / ROWS)
            source = gather_texts(table, whose, self._columns(part), self.scratch / name)
            place = self.scratch / name / "released.parquet"
            given = {"text": [part.text], "keep_order": True}
        given |= {"subject": self.plan.study.subject, "key_file": self.plan.key_file, **part.apply}
        if self.plan.names is not None:
            given = {"replace": "surrogate", **given}
        if given.get("replace") == "surrogate":
            given["date_shift_days"] = self.plan.study.date_shift_days
            check_surrogates(self.plan, name, self.kits[name], self.extract)
        options = self.plan.options("documents", "Apply", _given(given), f"parts.{name}.apply")
        step: Any = wing("documents").prepare(self.kits[name], self.chosen[name], source, options)
        check_kept(name, step.schema, self.shown)
        rules = self._rules(options)
        writer = writer_of(rules, self.names.words_of)
        step = replace(step.writing(writer, rules.finders), refuse=rules.refuse)
        manifests = self._run(name, step, options, place)
        check_met(self.plan, name, manifests[1]["counts"])
        if part.of is not None:
            put_texts(self.place(name), place, self.private / name / ROWS, str(part.text))
            beside[0]["columns"].append(
                next(c for c in manifests[0]["columns"] if c["column"] == part.text)
            )
        return manifests

    def _columns(self, part: TextPart) -> tuple[str, str]:
        return self.plan.study.subject, str(part.text)

    def _run(self, name: str, step: Applying[Any, Any], options: Any, place: Path) -> Manifests:
        """Write one part, and certify it."""
        (self.private / name).mkdir(mode=0o700)
        (self.scratch / f"{name}.run").mkdir()
        parts = Parts(place, place, self.private / name, self.scratch / f"{name}.run")
        return Run(step, options, self.progress).fill(parts, force=False)

    def manifests(self) -> Manifests:
        """Return the one manifest that goes with the release, and the one that stays."""
        counted = {name: self._certificate(name) for name in self.plan.texts}
        known, dates = self._known()
        figures = self._figures([one.by_person for one in counted.values()])
        both = {"format": FORMAT, "version": VERSION}
        of_parts: list[dict[str, Any]] = [{}, {}]
        for name, manifests in self.parts.items():
            place = self.place(name)
            own = {"file": place.name, "sha256": file_sha256(place)}
            for every, one in zip(of_parts, manifests, strict=True):
                every[name] = {**one, **own}
        public = {
            **both,
            "voile": __version__,
            "join": self.plan.study.join,
            "parts": of_parts[0],
            "mentions": {name: one.to_data() for name, one in counted.items()},
            "figures": {
                name: rounded(x, "up")
                for name, x in {**mean_risks(figures), **known_risks(known, dates)}.items()
            },
            "guesses": [one.to_data() for one in self.guesses],
            "assumptions": self._assumptions(),
        }
        hidden = {
            **both,
            "parts": of_parts[1],
            "figures": figures,
            "people": self._people(),
            "known": [vars(one) for one in known],
            "dates": None if dates is None else dates.to_data(),
            "extract": [day and day.isoformat() for day in self.extract],
            "made_with": versions(),
        }
        return public, hidden

    def export(self, public: dict[str, Any], hidden: dict[str, Any]) -> None:
        """Write the export in its own form, and name its files in the manifests."""
        texts = [
            (open_source(self.place(n)), open_source(self.private / n / ROWS), self._column(n))
            for n in self.plan.texts
        ]
        notes = next(iter(texts), None)
        names = self.names.names
        said, kept = pack(
            self.plan,
            self.shown,
            notes,
            self.extract,
            lambda one: names.get(one, (None, None)),
            self.release,
            self.scratch,
        )
        public["export"], hidden["export"] = said, kept
        public["assumptions"].append(UNKNOWN)

    def _column(self, name: str) -> str:
        """Return the column of a part's texts."""
        columns = self.parts[name][0]["columns"]
        return str(next(c["column"] for c in columns if c["role"] == "text"))

    def _figures(self, counted: Sequence[Mapping[str, Counter[str]]]) -> dict[str, float]:
        table, _ = self.plan.table
        texts = [self.chosen[name] for name in self.plan.texts]
        miss = max(map(miss_of, texts), default=0.0)
        source = self.plan.opened(table)
        kit, chosen, private = self.kits[table], self.chosen[table], self.private / table
        guessed = [one.column for one in self.guesses if one.is_above_chance]
        found = measure(kit, chosen, source, private, self._rules(), counted, miss, guessed)
        check_promise(self.plan, found, guessed)
        return found

    @cached_property
    def guesses(self) -> tuple[Guess, ...]:
        """What a classifier guesses of the people's sex, where no text is to keep it."""
        columns = sexes_in(self.plan.mentions, self.shown.codebook.quasi)
        if not columns or not self.plan.texts:
            return ()
        said = ((self.shown.name_of(who), text)
                for name in self.plan.texts
                for who, text in self._written(name).texts_of_people())  # fmt: skip
        texts = gather(said, self.shown.people)
        table, _ = self.plan.table
        rows = self.plan.opened(table).read([self.plan.study.subject, *columns])
        people = [self.shown.name_of(str(one)) for one in rows.column(0).to_pylist()]
        found = (
            guess(
                name, texts, dict(zip(people, map(str, rows.column(name).to_pylist()), strict=True))
            )
            for name in columns
        )
        return tuple(one for one in found if one is not None)

    def _known(self) -> tuple[list[Reach], DateRisk | None]:
        """Attack what was written by what parts show of a person, and by true dates."""
        subject = self.plan.study.subject
        facts = {n: facts_of(self._part(n), self.plan.opened(n), subject) for n in self.plan.rows}
        rule = self.plan.date_rule(*self.extract)
        rng = np.random.default_rng(self.plan.study.seed)
        return reaches(facts), attack_dates(dates_of(facts.values()), rule, rng)

    def _people(self) -> dict[str, dict[str, int]]:
        """Count the people of each part, and write what became of each one's rows."""
        counted = {}
        for name, part in self.plan.parts.items():
            subjects = self.plan.opened(name).read([self.plan.study.subject]).column(0)
            place = part.of if isinstance(part, TextPart) else None
            table = None if place is None else self._numbers(place)
            own = self.private / name
            counted[name] = PeopleCounts.of(self.plan.secret, subjects.combine_chunks(), own, table)
        write_people(counted, self.private)
        return {name: one.to_data() for name, one in counted.items()}

    def _numbers(self, name: str) -> pa.Array:
        return open_source(self.private / name / ROWS).read([ROW]).column(0).combine_chunks()

    def _part(self, name: str) -> PartRelease:
        """Return a part that was written, for who reads it again."""
        return PartRelease(self.place(name), *self.parts[name], beside=self.private / name)

    def _assumptions(self) -> list[str]:
        said = {one.column for one in self.plan.mentions.values()}
        said |= {one.column for one in self.guesses}
        policy = read_codebook(self.parts[self.plan.table[0]][0]["policy"])
        silent = [one.column for one in policy.columns if one.column not in said]
        unsaid = (
            [f"the texts say nothing of {listed(silent)}"] if silent and self.plan.texts else []
        )
        recall = "at recall: each mention is missed as often as the kit's test text says"
        return [*unsaid, recall, *(one.says for one in self.guesses)]

    @cached_property
    def names(self) -> MadeUpNames:
        return made_up_names(self.plan)

    @cached_property
    def readers(self) -> Mapping[str, Reader]:
        """What reads each type that is written by a column, or marked though no kit finds it."""
        found = {}
        for label, one in self.plan.mentions.items():
            if one.column is not None:
                entries = self.shown.codebook.column(one.column).entries
                values = [x for entry in entries for x in entry.values]
                words = one.words and self.plan.place(one.words)
                meanings = read_words(words, one.column) if words else None
                found[label] = reader_of(label, values, meanings)
            elif not one.shift:
                found[label] = reader_of(label)
        return found

    def _rules(self, options: Any = None) -> Rules:
        return Rules(
            self.plan.mentions,
            self.readers,
            self.shown,
            self.plan.date_rule(*self.extract),
            getattr(options, "date_order", None),
            getattr(options, "language", "english"),
        )

    def _certificate(self, name: str) -> Certificate:
        """Count, on the written bytes, the mentions that say more than their person's rows."""
        return certify(self._written(name), self._rules())

    def _written(self, name: str) -> WrittenTexts:
        """Return the texts of a part as they were written, beside the source of their people."""
        columns = [c["column"] for c in self.parts[name][0]["columns"] if c["role"] == "text"]
        if self.plan.texts[name].of is None:
            source, texts = self.plan.opened(name), open_source(self.place(name))
        else:
            source = open_source(self.scratch / name / "texts.parquet")
            texts = open_source(self.scratch / name / "released.parquet")
        subject = self.plan.study.subject
        return WrittenTexts(texts, self.private / name, source, subject, columns)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are given: without a file, the secret is the environment's."""
    return {name: x if not isinstance(x, os.PathLike) else os.fspath(x)
            for name, x in options.items() if x is not None}  # fmt: skip


def _seal(release: Path, private: Path, plan: Plan) -> Seal:
    """Seal every file of the release and of the private folder, under the study's secret."""
    files = {
        str(path.relative_to(folder.parent)): file_sha256(path)
        for folder in (release, private)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Seal(files).under(plan.secret)
