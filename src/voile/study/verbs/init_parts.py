"""Lines of a plan that are common to all forms: the request, the findings, a part of notes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from warnings import catch_warnings, simplefilter

from voile.core.errors import InfeasibleError, RequestError, nearest
from voile.core.progress import silent
from voile.core.wording import count
from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.documents.fitting.init import propose_identifiers
from voile.documents.module import DOCUMENTS
from voile.documents.options import FitOptions, InitOptions
from voile.documents.text.corpus import Corpus
from voile.proposals.seen import printable
from voile.release.kit import StoredKit
from voile.study.plan.plan import EXPORT
from voile.study.verbs.init_columns import count_people, find_age, find_sex
from voile.study.verbs.notes_kit import SilentReports

USUAL_K, LEAST_K, SUPPRESS = 5, 2, 0.05
CHOICE = "choose = { max_relative_risk = 0.02 }  # one missed name opens that person's whole row"


@dataclass(frozen=True)
class RequestedPlan:
    """The user's request. A plan contains paths relative to its own folder."""

    out: Path
    place: str
    population: str | None = None
    kit: str | None = None
    annotated: str | None = None
    known: Sequence[str] = ()
    known_people: Sequence[str] = ()
    subject: str | None = None

    def check(self) -> None:
        """Refuse more than one origin of the kit of notes."""
        searched = bool(self.known or self.known_people)
        if sum((self.kit is not None, self.annotated is not None, searched)) > 1:
            raise RequestError("--kit, --annotated and --known", instead="give one of them")

    def beside(self, place: str) -> str:
        """Return a place as a TOML string, relative to the plan's folder."""
        is_address = place.startswith((EXPORT, "service=")) or "://" in place
        path = place if is_address else os.path.relpath(place, self.out.parent)
        return json.dumps(path, ensure_ascii=False)

    @property
    def fit(self) -> str:
        if self.population is None:
            return "fit = {}  # no population: only the release's own people are counted"
        place = self.beside(self.population)
        return f"fit = {{ population = {place} }}  # how many people have each set of values"


@dataclass(frozen=True)
class ClassPromise:
    """The possible requirement of the first table: k people per class, and separate sexes.

    keeps_sex : whether the sexes can stay apart.
    sex, age : the quasi-identifier columns that notes may state in words.
    """

    k: int
    keeps_sex: bool
    sex: str | None = None
    age: str | None = None

    @classmethod
    def of(cls, source: Source, subject: str, quasi: Sequence[str]) -> ClassPromise:
        """Count the people, and set k to 5 or to their number.

        Raises
        ------
        InfeasibleError : there are fewer than two people.
        """
        people = int(count_people(source, subject)[None])
        if people < LEAST_K:
            raise InfeasibleError(
                f"there is {count(people, 'person')}, and a class has {LEAST_K} or more",
                where=source.name,
                instead="give a table of more people",
            )
        k = min(USUAL_K, people)
        sex, age = find_sex(source, quasi), find_age(source, quasi)
        few = 0.0
        if sex is not None:
            few = sum(n for n in count_people(source, subject, sex).values() if n < k)
        return cls(k, few <= SUPPRESS * people, sex, age)

    @property
    def why(self) -> str:
        few = "" if self.k == USUAL_K else f": there are {self.k}, so no larger k is possible"
        return f"no class of fewer people is released{few}"


@dataclass(frozen=True)
class FoundParts:
    """The contents of a place: lines of the plan, the export and the parts, and roles by part.

    codes : the column of ZIP codes, and the search for them in notes, as TOML.
    omitted : a comment for all content outside the study.
    is_joined : whether the parts share pseudonyms.
    """

    subject: str
    why: str
    export: Sequence[str]
    parts: Sequence[str]
    roles: Mapping[str, str]
    columns: Sequence[str]
    promised: ClassPromise
    has_notes: bool = True
    codes: tuple[str, str] | None = None
    omitted: Sequence[str] = ()
    is_joined: bool = True


@dataclass(frozen=True)
class PeopleTables:
    """Tables of data on people, to search their notes for, with one line of reasons for each.

    own : tables with the column of subjects. everyone : tables of people whom any note may name.
    kinds : by column, a kind that overrides the detected one, such as none.
    """

    own: Sequence[str] = ()
    everyone: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    why: Sequence[str] = ()

    def with_asked(self, asked: RequestedPlan, subject: str) -> PeopleTables:
        """Add the tables that the user requested.

        Raises
        ------
        RequestError : a table in `asked.known` has no column of subjects.
        """
        for place in asked.known:
            columns = open_source(place).columns
            if subject not in columns:
                raise RequestError(
                    f"there is no column {printable(subject)}, which says whose a row is",
                    where=place,
                    instead=nearest(subject, columns),
                )
        own, everyone = [*self.own, *asked.known], [*self.everyone, *asked.known_people]
        why = [f"# what {printable(place)} holds, which was asked for"
               for place in (*asked.known, *asked.known_people)]  # fmt: skip
        return PeopleTables(own, everyone, self.kinds, [*self.why, *why])

    def in_folder(self, folder: Path) -> PeopleTables:
        """Return the tables with the paths of an unpacked export."""
        own, everyone = (
            [_locate_unpacked(one, folder) for one in x] for x in (self.own, self.everyone)
        )
        return replace(self, own=own, everyone=everyone)

    def options(self, asked: RequestedPlan, subject: str, texts: Sequence[str]) -> str:
        """Return the options of the kit that is made with these tables, as TOML."""
        said = []
        if texts:
            said.append(
                f"text = {json.dumps(texts if len(texts) > 1 else texts[0], ensure_ascii=False)}"
            )
        if self.own:
            by = json.dumps(subject, ensure_ascii=False)
            said += [f"known = {_several(self.own, asked)}", f"by = {by}"]
        if self.everyone:
            said.append(f"known_people = {_several(self.everyone, asked)}")
        if self.kinds:
            kinds = [f"{column}={kind}" for column, kind in self.kinds.items()]
            said.append(f"known_kind = {json.dumps(kinds, ensure_ascii=False)}")
        return f"{{ {', '.join(said)} }}" if said else "{}"


def _locate_unpacked(place: str, folder: Path) -> str:
    if not place.startswith(EXPORT):
        return place
    return str(folder / f"{place.removeprefix(EXPORT)}.parquet")


def _several(places: Sequence[str], asked: RequestedPlan) -> str:
    said = [asked.beside(one) for one in places]
    return said[0] if len(said) == 1 else f"[{', '.join(said)}]"


@dataclass(frozen=True)
class NotesPart:
    """Notes of a study: their place as lines of the plan, and their text columns."""

    source: str
    where: str
    texts: Sequence[str]
    is_column: bool = False
    """Whether the table or the export sets their column."""
    known: PeopleTables = field(default_factory=lambda: PeopleTables())
    """The tables with the values that the notes are searched for."""
    of: str | None = None
    """The part of rows that contains their column. None for a file or an export's notes."""

    def in_folder(self, folder: Path) -> NotesPart:
        """Return the notes with the path of an unpacked export."""
        return replace(self, source=_locate_unpacked(self.source, folder))

    def lines(self, name: str, asked: RequestedPlan, subject: str) -> list[str]:
        """Return the lines of the part, including those for making its kit."""
        return [
            f"[parts.{name}]",
            'kind = "documents"',
            self.where,
            *self._kit(asked, subject),
            "",
        ]

    def check_tables(self, asked: RequestedPlan, subject: str, known: PeopleTables) -> NotesPart:
        """Return the part with the tables that its notes are searched for.

        If no value of these tables is in the notes, only voile's own rules search them.

        Raises
        ------
        RequestError : no identifier is detected in the notes.
        """
        if asked.kit or asked.annotated:
            return self
        try:
            self._propose(known, subject)
        except RequestError:
            if asked.known or asked.known_people or not (known.own or known.everyone):
                raise
            self._propose(PeopleTables(), subject)
            return replace(self, known=PeopleTables(why=["# no known column is met in them"]))
        return replace(self, known=known)

    def _propose(self, wanted: PeopleTables, subject: str) -> None:
        given = {
            "subject": subject,
            "text": tuple(self.texts),
            "known": tuple(wanted.own),
            "known_people": tuple(wanted.everyone),
            "known_kind": tuple(f"{column}={kind}" for column, kind in wanted.kinds.items()),
            "by": subject if wanted.own else None,
        }
        options = InitOptions.model_validate({n: x for n, x in given.items() if x})
        with catch_warnings():
            simplefilter("ignore")
            propose_identifiers(options, SilentReports(silent), source=self.source)

    def _kit(self, asked: RequestedPlan, subject: str) -> list[str]:
        if asked.kit:
            return [f"kit = {asked.beside(asked.kit)}", CHOICE]
        if asked.annotated:
            given = f"source = {asked.beside(asked.annotated)}"
            if roles := roles_beside(asked.annotated):
                given += f", roles = {asked.beside(str(roles))}"
            made = "# study fit makes the kit of these annotated notes"
            return [f"fit = {{ {given} }}  {made}", CHOICE]
        wanted = self.known
        none = "# no table of names, only voile's own rules; init --known FILE adds a table"
        return [
            "# No kit was given: study fit makes one of these notes, and looks in them for:",
            *(wanted.why or [none]),
            f"init = {wanted.options(asked, subject, () if self.is_column else self.texts)}",
        ]


def labels_of(asked: RequestedPlan) -> Sequence[str] | None:
    """Return the kit's types of identifier, or None if nobody annotated any."""
    if asked.kit:
        return list(StoredKit.load(Path(asked.kit), "documents").facts["labels"])
    if asked.annotated:
        source, roles = DOCUMENTS.open(asked.annotated), roles_beside(asked.annotated)
        read = None if roles is None else Roles.read(roles)
        own = FitOptions.model_validate({}).roles_of(source, read)
        return Corpus.from_source(source, own).labels
    return None


def roles_beside(annotated: str) -> Path | None:
    beside = Path(annotated).with_suffix(".toml")
    return beside if beside.is_file() else None
