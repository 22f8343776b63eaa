"""The plan of a study: `study.toml`, read as a whole, with all mistakes reported at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes
from voile.core.removed_names import refuse_removed
from voile.data import Source, open_source
from voile.data.files.own_files import read_toml
from voile.data.places import PLACES, with_places
from voile.data.spark.session import SCHEME
from voile.data.writing.writers import WRITERS
from voile.documents.text.source import split_format
from voile.keys.date_rule import WEEK, DateRule
from voile.keys.secret import Secret
from voile.modules import find_module
from voile.release.archive import LEDGER_FOLDER
from voile.release.choice import Choice
from voile.release.options import M, check_options, fields_of, leaves
from voile.study.adversary.acquaintance import DAYS
from voile.study.carriers.carrier import KNOWN
from voile.study.plan import entries

DECIDED = "the study decides it for all parts: take it out"
OF_STUDY = frozenset(
    ("key_file", "keep_order", "no_pseudonyms", "pseudonyms", "subject", "files", "file_names")
) | {"engine", "spark_conf", "ledger", "override", "releases", "hold_back", "recipient"}
OF_IN_PLACE = frozenset(("formulas", "roles", "text"))
"""Options that no part may have, and options that parts with texts in place may not have."""
PLACED = ("key_file", "kit", "release", "ledger", "releases")
"""Paths in the study table that do not change its release."""


NOT_FITTED: Any = {"determination": True, "promise": {"values_in_text", "alone"}}
"""Entries of the plan that do not change a kit."""
NO_REMEDY: tuple[tuple[str, Any], ...] = (
    ("most_rows", None),
    ("most_rows", {}),
    ("row_bins", None),
    ("stays", "keep"),
    ("links", "study"),
)
"""Options of a part or an export with their values that have no effect."""
EXPORT = "export:"
"""The prefix of a part's source that is a table of the export: `export:people`."""
TAKEN = frozenset((DAYS, LEDGER_FOLDER, EXPORT.rstrip(":")))
"""Names that the study itself uses in addition to its parts: people's days, a folder."""


class StudyPlan(entries.PlanEntry):
    """A study: parts about the same people, the texts' mentions, and the requirements."""

    study: entries.StudyTable
    promise: entries.PromiseEntry
    parts: dict[str, entries.Part] = Field(min_length=1)
    mentions: dict[str, entries.MentionEntry] = Field(default_factory=dict)
    names: entries.NamesTable | None = None
    export: entries.ExportTable | None = None
    determination: entries.DeterminationTable | None = None
    _path: Path = PrivateAttr(default=Path("study.toml"))
    _unpacked: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        wrong = [said for said in self._misfits() if said]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    def _misfits(self) -> list[str]:
        tables = [name for name, part in self.parts.items() if part.kind == "tables"]
        said = (
            [] if tables else ["a study has a part of kind tables, whose policy all parts follow"]
        )
        if tables and self.parts[tables[0]].choose:
            said.append(f"parts.{tables[0]}.choose: the promise says how its policy is picked")
        for name, part in self.texts.items():
            if part.of is not None and part.of not in tables:
                said.append(f"parts.{name}.of: there is no table {part.of}")
        for name, own in self.parts.items():
            said += [f"parts.{name}: {one}" for one in _check_name(name)]
            said += [f"parts.{name}.apply.{one}: {DECIDED}" for one in self._list_decided(name)]
            days = own.apply.get("date_shift_days", self.study.date_shift_days)
            if days != self.study.date_shift_days:
                said.append(
                    f"parts.{name}.apply.date_shift_days: a study has one offset for each person, "
                    f"of up to {self.study.date_shift_days} days: take it out"
                )
        if self.study.dates == "weeks" and self.study.date_shift_days < WEEK:
            said.append("study.date_shift_days: whole weeks take 7 days or more")
        if self.names and not self.study.join:
            said.append(
                "names: a made-up name joins the parts, and study.join says no: take it out"
            )
        if self.mentions and not self.texts:
            said.append("mentions: there is no part of kind documents")
        said += [*self._misfits_of_files(), *self._misfits_of_remedies()]
        return [*said, *self._misfits_of_export()]

    def _misfits_of_remedies(self) -> Iterator[str]:
        """Yield the mistakes in the options that lower the risk of known facts."""
        first = next((name for name, x in self.parts.items() if x.kind == "tables"), None)
        held = {text.of for text in self.texts.values()}
        for name, part in self.rows.items():
            if part.links == "none" and (name == first or name in held):
                yield f"parts.{name}.links: other parts follow its rows: take it out"
            if part.links == "none" and part.kind == entries.SIGNALS:
                yield f"parts.{name}.links: readings have a name for their person: take it out"
            if self.export is not None and (part.most_rows or part.row_bins):
                yield f"parts.{name}: its people have one row: write most_rows in [export]"
            if name == first and part.row_bins is not None and 1 not in part.row_bins:
                yield f"parts.{name}.row_bins: nobody may be without a row of it: add 1"

    def _misfits_of_files(self) -> Iterator[str]:
        """Yield the mistakes in the names of the parts' released files."""
        files = {name: self.file(name) for name, part in self.parts.items() if part.of is None}
        times = Counter(files.values())
        for name, file in files.items():
            if Path(file).name != file:
                yield f"parts.{name}.out: name a file of the release, without a folder"
            if times[file] > 1:
                yield f"parts.{name}: another part is released as {file}, too: give it another out"
        for name, part in self.parts.items():
            if part.of is not None and part.out is not None:
                yield f"parts.{name}.out: it is released in the rows of {part.of}: take it out"

    def _misfits_of_export(self) -> list[str]:
        own = {name: str(x.source) for name, x in self.parts.items()
               if str(x.source).startswith(EXPORT)}  # fmt: skip
        if self.export is None:
            return [f"parts.{name}.source: there is no [export]" for name in own]
        tables = [name for name, part in self.parts.items() if isinstance(part, entries.RowsPart)]
        said = [f"parts.{name}.source: with [export] it is export:people"
                for name in tables if own.get(name) != f"{EXPORT}people"]  # fmt: skip
        said += [f"parts.{name}.source: with [export] it is export:notes"
                 for name in self.texts if own.get(name) != f"{EXPORT}notes"]  # fmt: skip
        if self.export.form == "omop" and self.names and self.names.source is None:
            said.append("names.source: OMOP has no names: name a table that has them")
        if not self.study.join:
            said.append("study.join: an export always joins the rows of a person: take it out")
        if self.study.subject != "person_id":
            said.append('study.subject: for an export, write "person_id"')
        return said

    def _list_decided(self, name: str) -> list[str]:
        """Return the given options of a part's release that only the study may set."""
        part, among = self.parts[name], OF_STUDY
        if part.of is not None or any(one.of == name for one in self.texts.values()):
            among = among | OF_IN_PLACE
        return sorted(among & part.apply.keys())

    @classmethod
    def read_file(cls, path: Path) -> StudyPlan:
        """Read a plan. Relative paths are relative to the plan's folder.

        Raises
        ------
        RequestError : the file does not exist or is not a plan. Every mistake is reported with its
            place.
        """
        try:
            data = read_toml(path)
        except (FileNotFoundError, NotADirectoryError):
            raise RequestError(
                "no such plan", where=str(path), instead="name the study's TOML file"
            ) from None
        try:
            plan = cls.model_validate(data)
        except ValidationError as error:
            raise RequestError(mistakes(error), where=str(path)) from None
        plan._path = path
        return plan

    @property
    def table(self) -> tuple[str, entries.RowsPart]:
        """The first table and its name. The mentions follow its policy."""
        return next((name, x) for name, x in self.rows.items() if x.kind == "tables")

    @property
    def rows(self) -> dict[str, entries.RowsPart]:
        return {
            name: part for name, part in self.parts.items() if isinstance(part, entries.RowsPart)
        }

    @property
    def linked_rows(self) -> list[str]:
        """The other parts of rows with intervals and items that link people: all except signals."""
        table, _ = self.table
        return [
            name
            for name, x in self.rows.items()
            if name != table and x.kind != entries.SIGNALS and self.is_joined(name)
        ]

    def is_joined(self, name: str) -> bool:
        """Return whether a part has the pseudonyms that join the rows of a person."""
        own = self.rows.get(str(self.parts[name].of or name))
        return self.study.join and (own is None or own.links != "none")

    @property
    def texts(self) -> dict[str, entries.TextPart]:
        return {
            name: part for name, part in self.parts.items() if isinstance(part, entries.TextPart)
        }

    @property
    def secret(self) -> Secret:
        secret = Secret.find(self.key_file)
        if secret is None:
            raise RequestError(
                "a study needs a secret for its pseudonyms and dates",
                where=str(self._path),
                instead="name its file with key_file, or set VOILE_SECRET",
            )
        return secret

    @property
    def path(self) -> Path:
        """The file that the plan was read from."""
        return self._path

    @property
    def key_file(self) -> Path | None:
        return None if self.study.key_file is None else self.place(self.study.key_file)

    @property
    def kit(self) -> Path:
        return self._beside(self.study.kit, ".kit")

    def notes_kit(self, name: str) -> Path:
        """Return the path of a kit of notes, given in the plan or made by the study."""
        given = self.texts[name].kit
        return self.kit.with_suffix(f".{name}.kit") if given is None else self.place(given)

    @property
    def release(self) -> Path:
        return self._beside(self.study.release, ".release")

    @property
    def ledger(self) -> Path | None:
        return None if self.study.ledger is None else self.place(self.study.ledger)

    @property
    def context(self) -> Path | None:
        """The context file of a determination, if the plan sets it."""
        named = self.determination
        return None if named is None else self.place(named.context)

    @property
    def releases(self) -> list[Path]:
        """The folders that may contain earlier releases."""
        return [self.release.parent, *map(self.place, self.study.releases)]

    def under(self, ledger: Path | None) -> StudyPlan:
        """Return the plan with another ledger, if one is given, relative to the current folder."""
        if ledger is None:
            return self
        study = self.study.model_copy(update={"ledger": ledger.absolute()})
        return self.model_copy(update={"study": study})

    def _beside(self, given: Path | None, suffix: str) -> Path:
        return self._path.with_suffix(suffix) if given is None else self.place(given)

    def place(self, given: Path) -> Path:
        return self._path.parent / given

    def file(self, name: str) -> str:
        """Return the file of the release that contains a part. A text of a table is in its rows."""
        part = self.parts[name]
        if part.of is not None:
            return self.file(part.of)
        suffix = Path(str(part.source)).suffix.lower()
        return part.out or f"{name}{suffix if suffix in WRITERS else '.parquet'}"

    def source(self, given: str) -> str:
        """Return a source in a form to open: an address unchanged, or a path next to the plan."""
        if given.startswith(EXPORT) and self._unpacked is not None:
            return str(self._unpacked / f"{given.removeprefix(EXPORT)}.parquet")
        if "://" in given or given.startswith(("service=", SCHEME)):
            return given
        path, form = split_format(given)
        beside = str(self._path.parent / path)
        return beside if form is None else f"{form}:{beside}"

    def date_rule(self, first: date | None = None, last: date | None = None) -> DateRule:
        """Return the rule by which dates move, with the first and last day of all parts."""
        own = self.study
        ends = (first, last) if own.edge_dates == "drop" else (None, None)
        return DateRule(own.date_shift_days, own.dates == "weeks", own.dates == "months", *ends)

    @property
    def files(self) -> list[str]:
        """The parts with their own files: all except texts in rows of a table."""
        return [name for name, part in self.parts.items() if part.of is None]

    def open_part(self, name: str) -> Source:
        """Open the source of a part."""
        part = self.parts[name]
        if part.of is not None:
            return self.open_part(part.of)
        capped = None if self._unpacked is None else self._unpacked / f"{name}.capped.parquet"
        return self.whole(name) if capped is None or not capped.exists() else open_source(capped)

    def whole(self, name: str) -> Source:
        """Open all rows of a part with its own file, including rows that `most_rows` leaves out."""
        part = self.parts[name]
        place = self.source(str(part.source))
        return open_source(place) if part.kind == "tables" else find_module(part.kind).open(place)

    def open_known(self) -> Source | None:
        """Open an export's data on its people: names, addresses, numbers. None without export."""
        place = None if self._unpacked is None else self._unpacked / f"{KNOWN}.parquet"
        return open_source(place) if place is not None and place.exists() else None

    def options(self, model: type[M], name: str, verb: str, given: Mapping[str, Any]) -> M:
        """Return a part's options of a verb, with file paths resolved relative to the plan."""
        placed = dict(given)
        for option, field in fields_of(model).items():
            if option in given and (types := leaves(field.annotation)) & PLACES:
                placed[option] = with_places(given[option], types, self.source)
        try:
            refuse_removed(self.parts[name].kind, verb, given)
            return check_options(model, placed)
        except RequestError as error:
            raise RequestError(
                error.what, where=f"{self._path}: parts.{name}.{verb}", instead=error.instead
            ) from None

    def choice(self) -> Choice | None:
        """Return the choice of a table's policy, or None if the joint risk decides."""
        return None if entries.JOINT in self.promise.ways else Choice(**self.promise.ways)

    def to_data(self) -> dict[str, Any]:
        """Return the entries that affect the release. A kit recognises its plan by them."""
        data = self.model_dump(mode="json", exclude=NOT_FITTED)
        data["parts"] = {name: {n: x for n, x in part.items() if n != "attack"
                                and (n, x) not in NO_REMEDY}
                         for name, part in data["parts"].items()}  # fmt: skip
        if data.get("export"):  # a plan without these options keeps its earlier form
            data["export"] = {n: x for n, x in data["export"].items() if (n, x) not in NO_REMEDY}
        return {**data, "study": {n: x for n, x in data["study"].items() if n not in PLACED}}


def _check_name(name: str) -> list[str]:
    plain = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    if not plain:
        return ["name it in letters, digits, - and _"]
    return ["the study has something of its own by that name: choose another"] * (name in TAKEN)
