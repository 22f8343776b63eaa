"""Write the parts of a study's release: the table, the other rows, the texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.progress import ProgressHook
from voile.data import Source, open_source
from voile.documents.module import DOCUMENTS
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.text.document import Document
from voile.modules import find_module
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.manifest import ROWS, source_rows
from voile.release.run import ReleaseRun
from voile.release.step import ApplyingStep
from voile.release.writing import Manifests, ReleaseParts
from voile.study.carriers.carrier import KNOWN
from voile.study.plan.entries import MentionEntry, TextPart
from voile.study.plan.part_roles import Extract
from voile.study.plan.plan import StudyPlan
from voile.study.readers import MentionReader, read_words, reader_of
from voile.study.study_release import PartRelease, StudyRelease
from voile.study.text.certify import WrittenTexts
from voile.study.text.exported_texts import ZIP
from voile.study.text.in_place import gather_texts, put_texts
from voile.study.text.lookups import (
    BORN,
    LOOKED_AT,
    PersonLookups,
    UnreleasedColumns,
    unreleased_of,
)
from voile.study.text.mentions import MentionRules, writer_of
from voile.study.text.names import MadeUpNames
from voile.study.text.planted import NOTES, PlantedMentions, plant
from voile.study.text.shown import PersonIntervals
from voile.study.verbs import checks
from voile.study.verbs.export import pack
from voile.study.verbs.naming import made_up_names, put_names
from voile.study.verbs.part_copy import take_texts
from voile.tables.recoding.boxes import read_codebook


@dataclass
class StudyWriting:
    """The paths of a release's parts, which are written one after the other, and their results."""

    plan: StudyPlan
    kits: Mapping[str, StoredKit]
    chosen: Mapping[str, Chosen]
    extract: Extract
    release: Path
    private: Path
    scratch: Path
    progress: ProgressHook
    parts: dict[str, Manifests] = field(default_factory=dict)
    planted: dict[str, list[PlantedMentions]] = field(default_factory=dict)
    """The recall of seeded mentions in each part of texts."""
    export: Manifests | None = None
    """The manifests' entries on the export's files, if there is one."""

    def write(self) -> None:
        """Write the table, the other rows, and the texts, which reveal no more than its rows."""
        checks.check_written_once(self.plan)
        table, _ = self.plan.table
        self.parts = {table: self._rows(table)}
        self.shown = self._read_shown()
        subjects = self.plan.open_part(table).read([self.plan.study.subject]).column(0)
        whose = subjects.take(self.numbers(table))
        self.parts[table][0]["columns"] += put_names(
            self.plan, self.names, self.place(table), whose
        )
        for name in (one for one in self.plan.rows if one != table):
            self.parts[name] = self._rows(name)
            checks.check_people(self.plan, name, self.shown)
        for name, text in self.plan.texts.items():
            self.parts[name] = self._text(name, text)
        if self.plan.export is not None:
            self.export = self._export()

    def reopen(self, release: StudyRelease) -> None:
        """Take the parts of an earlier release as if they had just been written."""
        public, hidden = release.public, release.private or {}
        self.parts = {
            x: (dict(own), dict(hidden["parts"][x])) for x, own in public["parts"].items()
        }
        self.planted = {
            x: [PlantedMentions(**one) for one in own] for x, own in public["planted"].items()
        }
        self.shown = self._read_shown()

    def write_again(self) -> None:
        """Gather the texts in rows of tables again, and write the export, after corrections."""
        for name, part in self.plan.texts.items():
            if part.of is not None:
                self.gather(name)
                take_texts(self.part(name), [str(part.text)], self._locate_released(name))
        if self.plan.export is not None:
            self.export = self._export()

    def _read_shown(self) -> PersonIntervals:
        """Read the released values of each person in the table."""
        table, _ = self.plan.table
        return PersonIntervals.of(
            open_source(self.place(table)),
            self.private / table,
            self.plan.open_part(table),
            subject=self.plan.study.subject,
            codebook=read_codebook(self.parts[table][0]["policy"]),
            secret=self.plan.secret,
        )

    def gather(self, name: str) -> Source:
        """Write the source of texts in rows of a table, in the order of the released rows."""
        part = self.plan.texts[name]
        scratch = self.scratch / name
        scratch.mkdir(mode=0o700)
        table, rows = (
            self.plan.open_part(str(part.of)),
            open_source(self.private / str(part.of) / ROWS),
        )
        return gather_texts(table, rows, (self.plan.study.subject, str(part.text)), scratch)

    def _locate_released(self, name: str) -> Path:
        """Return the path of a part's texts before they are put into rows of a table."""
        return self.scratch / name / "released.parquet"

    def _rows(self, name: str) -> Manifests:
        """Write a part of rows, with the study's pseudonyms or without any."""
        part, options = self.plan.rows[name], options_of_rows(self.plan, name)
        step = find_module(part.kind).prepare(
            self.kits[name], self.chosen[name], self.plan.open_part(name), options
        )
        with checks.offer_plan_options(self.plan, name):
            return self._run(name, step, options, self.place(name))

    def place(self, name: str) -> Path:
        """Return the path of a part's released rows."""
        return self.release / self.plan.file(name)

    def _text(self, name: str, part: TextPart) -> Manifests:
        """Write the texts of a part, by the rule for mentions."""
        if part.of is None:
            source, place = self.plan.open_part(name), self.place(name)
            given: dict[str, Any] = {"pseudonyms": self.plan.study.join}
        else:
            source, place = self.gather(name), self._locate_released(name)
            given = {"text": [part.text], "keep_order": True}
        options = self.text_options(name, given)
        step: Any = DOCUMENTS.prepare(self.kits[name], self.chosen[name], source, options)
        checks.check_kept(name, source, step.schema.names, self.shown)
        rules = self.rules(options)
        step = step.writing(self.writer(options), rules.finders, self._lookups(name, step))
        step = replace(step, refuse=rules.refuse)
        manifests = self._run(name, step, options, place)
        checks.check_met(self.plan, name, manifests[1]["counts"])
        changed = {label: x for label, x in self.readers.items() if not rules.mentions[label].keep}
        self.planted[name] = list(plant(step.worker, _some(source, step.texts[0]), changed))
        if part.of is not None:
            put_texts(self.place(name), place, self.private / name / ROWS, str(part.text))
            self.parts[part.of][0]["columns"].append(
                next(c for c in manifests[0]["columns"] if c["column"] == part.text)
            )
        return manifests

    def text_options(self, name: str, given: Mapping[str, Any] | None = None) -> Any:
        """Return the options for releasing a part of texts; `given` are set by its place."""
        part, own = self.plan.texts[name], dict(given or {})
        own |= {"subject": self.plan.study.subject, "key_file": self.plan.key_file, **part.apply}
        if self.plan.names is not None:
            own = {"replace": "surrogate", **own}
        if own.get("replace") == "surrogate":
            own["date_shift_days"] = self.plan.study.date_shift_days
            own.setdefault("language", "english")  # as for the names in the table's columns
            checks.check_surrogates(self.plan, name, self.kits[name], self.extract)
        return self.plan.options(DOCUMENTS.options.apply, name, "apply", _list_given(own))

    def writer(self, options: Any) -> Callable[[RemovalReplacer], RemovalReplacer]:
        """Return a function that extends a replacer to write mentions by the rules."""
        return writer_of(self.rules(options), self.names.words_of)

    def _lookups(self, name: str, step: Any) -> PersonLookups | None:
        """Return the finder of the unreleased values of each person in a part's texts, if any."""
        tables, subject = self.list_unreleased(name, step.schema.names), self.plan.study.subject
        first = next(step.source.batches([subject, *step.texts], batch_rows=LOOKED_AT), None)
        texts = [] if first is None else first.to_pylist()
        documents = [
            Document(row[column], subject=str(row[subject]))
            for row in texts
            for column in step.texts
            if row[column]
        ]
        return PersonLookups.of(tables, self.plan.mentions, documents)

    def list_unreleased(self, name: str, released: Sequence[str]) -> list[UnreleasedColumns]:
        """Return the unreleased columns of every part, and those next to the texts of a part.

        released : the columns that are released with these texts.
        """
        subject = self.plan.study.subject
        tables = [
            unreleased_of(one, self.plan.open_part(one), subject, _roles(self.parts[one][1]))
            for one in self.plan.rows
        ]
        if self.plan.texts[name].of is None:
            source = self.plan.open_part(name)
            kept = dict.fromkeys({*released} - {subject}, "keep")
            tables.append(unreleased_of(name, source, subject, kept))
        if known := self.plan.open_known():
            own = unreleased_of(KNOWN, known, subject, {})
            codes = {ZIP: "zip"} if ZIP in own.columns else {}
            tables.append(replace(own, columns={**own.columns, **codes}))
        return tables

    def _run(self, name: str, step: ApplyingStep[Any, Any], options: Any, place: Path) -> Manifests:
        """Write one part, and certify it."""
        (self.private / name).mkdir(mode=0o700)
        (self.scratch / f"{name}.run").mkdir()
        parts = ReleaseParts(place, place, self.private / name, self.scratch / f"{name}.run")
        run = ReleaseRun(step, options, self.progress)
        run.searches_values = False  # all parts are searched together
        return run.fill(parts, force=False)

    def _export(self) -> Manifests:
        """Write the export in its own form, and return its files' entries for the two manifests."""
        texts = [
            (open_source(self.place(n)), self.private / n, self.column(n)) for n in self.plan.texts
        ]
        notes = next(iter(texts), None)
        names = self.names.names
        return pack(
            self.plan,
            self.shown,
            notes,
            self.extract,
            lambda one: names.get(one, (None, None)),
            self.release,
            self.scratch,
        )

    def column(self, name: str) -> str:
        """Return the column of a part's texts."""
        columns = self.parts[name][0]["columns"]
        return str(next(c["column"] for c in columns if c["role"] == "text"))

    def numbers(self, name: str) -> pa.Array:
        return source_rows(self.private / name)

    def part(self, name: str) -> PartRelease:
        """Return a part that was written, for reading it again."""
        return PartRelease(self.place(name), *self.parts[name], beside=self.private / name)

    @cached_property
    def names(self) -> MadeUpNames:
        return made_up_names(self.plan)

    @cached_property
    def readers(self) -> Mapping[str, MentionReader]:
        """The readers of mentions that the release changes, by type.

        They are types with a column, and types that are always replaced by a placeholder.
        """
        found = {}
        for label, one in self.plan.mentions.items():
            if one.column is not None:
                entries = self.shown.codebook.column(one.column).entries
                values = [x for entry in entries for x in entry.values]
                found[label] = reader_of(label, values, self._words(one))
            elif not one.shift:
                found[label] = reader_of(label)
        return found

    def _words(self, mention: MentionEntry) -> dict[str, tuple[str, ...]] | None:
        """Return the words to search for a column, with the cells that each word means."""
        if mention.column is None or not mention.is_looked_for:
            return None
        found: dict[str, tuple[str, ...]] = {}
        if mention.values:
            cells = (
                self.plan.open_part(self.plan.table[0]).read([mention.column]).column(0).unique()
            )
            found |= {str(one): (str(one),) for one in cells.to_pylist() if one is not None}
        if mention.words:
            found |= read_words(Path(self.plan.source(str(mention.words))), mention.column)
        return found

    def rules(self, options: Any = None) -> MentionRules:
        return MentionRules(
            {BORN: MentionEntry(), **self.plan.mentions},
            self.readers,
            self.shown,
            self.plan.date_rule(*self.extract),
            getattr(options, "date_order", None),
            getattr(options, "language", "english"),
        )

    def read_written(self, name: str) -> WrittenTexts:
        """Return the written texts of a part, with the source of their people."""
        columns = [c["column"] for c in self.parts[name][0]["columns"] if c["role"] == "text"]
        if self.plan.texts[name].of is None:
            source, texts = self.plan.open_part(name), open_source(self.place(name))
        else:
            source = open_source(self.scratch / name / "texts.parquet")
            texts = open_source(self._locate_released(name))
        subject = self.plan.study.subject
        return WrittenTexts(texts, self.private / name, source, subject, columns)


def options_of_rows(plan: StudyPlan, name: str) -> Any:
    """Return the options for releasing a part of rows."""
    part = plan.rows[name]
    named = {"pseudonyms": True} if part.kind == "itemsets" else {"no_pseudonyms": False}
    unnamed = {one: not said for one, said in named.items()}
    given = {
        **part.apply,
        "key_file": plan.key_file,
        **(named if plan.is_joined(name) else unnamed),
    }
    return plan.options(find_module(part.kind).options.apply, name, "apply", _list_given(given))


def _roles(private: Mapping[str, Any]) -> dict[str, str]:
    """Return the role of each column of a written part."""
    return {column: one["role"] for column, one in private["roles"]["columns"].items()}


def _some(texts: Source, column: str) -> list[str]:
    """Return the first texts of a source."""
    first = next(texts.batches([column], batch_rows=NOTES), None)
    return [] if first is None else [x for x in first.column(0).to_pylist() if x][:NOTES]


def _list_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with a value, with absolute paths.

    A relative path would be resolved relative to the plan. Without a key file, the secret comes
    from the environment.
    """
    return {name: x if not isinstance(x, os.PathLike) else os.path.abspath(x)
            for name, x in options.items() if x is not None}  # fmt: skip
