"""Lines of a plan that every form has: what was asked for, what was found, a part of notes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voile.core.errors import RequestError, nearest
from voile.data import open_source
from voile.data.roles import Roles
from voile.documents.module import DOCUMENTS
from voile.documents.text.corpus import Corpus
from voile.documents.verbs.options import FitOptions
from voile.proposals.seen import printable
from voile.release.kit import Kit
from voile.study.plan.plan import EXPORT


@dataclass(frozen=True)
class Asked:
    """What was asked for; a plan names files by where they lie from it."""

    out: Path
    place: str
    population: str | None = None
    kit: str | None = None
    annotated: str | None = None
    known: Sequence[str] = ()
    known_people: Sequence[str] = ()

    def check(self) -> None:
        """Refuse two ways to come by the kit of notes."""
        searched = bool(self.known or self.known_people)
        if sum((self.kit is not None, self.annotated is not None, searched)) > 1:
            raise RequestError("--kit, --annotated and --known", instead="give one of them")

    def beside(self, place: str) -> str:
        """Write a place as a TOML string."""
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
class FoundParts:
    """What a place holds: lines of the plan, of the export and the parts; roles by part.

    codes : the column of ZIP codes, and how they are looked for in notes, as TOML.
    """

    subject: str
    why: str
    export: Sequence[str]
    parts: Sequence[str]
    roles: Mapping[str, str]
    columns: Sequence[str]
    has_notes: bool = True
    codes: tuple[str, str] | None = None


@dataclass(frozen=True)
class Known:
    """Tables of what is known of people, to be looked for in their notes; why, in a line each.

    own : tables with the column of subjects. everyone : of people whom any note may name. kinds :
    of columns, where another kind than they look like is right, such as none.
    """

    own: Sequence[str] = ()
    everyone: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    why: Sequence[str] = ()

    def with_asked(self, asked: Asked, subject: str) -> Known:
        """Add the tables that were asked for.

        Raises RequestError: one of `asked.known` does not say of whom its rows are.
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
        return Known(own, everyone, self.kinds, [*self.why, *why])

    def options(self, asked: Asked, subject: str) -> str:
        """Write the options of the kit that is made with these tables."""
        said = []
        if self.own:
            by = json.dumps(subject, ensure_ascii=False)
            said += [f"known = {_several(self.own, asked)}", f"by = {by}"]
        if self.everyone:
            said.append(f"known_people = {_several(self.everyone, asked)}")
        if self.kinds:
            kinds = [f"{column}={kind}" for column, kind in self.kinds.items()]
            said.append(f"known_kind = {json.dumps(kinds, ensure_ascii=False)}")
        return f"{{ {', '.join(said)} }}" if said else "{}"


def _several(places: Sequence[str], asked: Asked) -> str:
    said = [asked.beside(one) for one in places]
    return said[0] if len(said) == 1 else f"[{', '.join(said)}]"


def notes_part(
    name: str, where: Sequence[str], asked: Asked, subject: str, known: Known
) -> list[str]:
    """Write a part of notes, where they are, and how its kit is made."""
    return [
        f"[parts.{name}]",
        'kind = "documents"',
        *where,
        *_kit(asked, subject, known),
        "choose = { max_relative_risk = 0.02 }  # one missed name opens that person's whole row",
        "",
    ]


def _kit(asked: Asked, subject: str, known: Known) -> list[str]:
    if asked.kit:
        return [f"kit = {asked.beside(asked.kit)}"]
    if asked.annotated:
        given = f"source = {asked.beside(asked.annotated)}"
        if roles := roles_beside(asked.annotated):
            given += f", roles = {asked.beside(str(roles))}"
        return [f"fit = {{ {given} }}  # study fit makes the kit of these annotated notes"]
    wanted = known.with_asked(asked, subject)
    none = "# no table of names: only voile's own rules look for them; init --known FILE adds one"
    return [
        "# No kit was given: study fit makes one of these notes, and looks in them for:",
        *(wanted.why or [none]),
        f"init = {wanted.options(asked, subject)}",
    ]


def labels_of(asked: Asked) -> Sequence[str] | None:
    """Return the types of identifier that the kit knows; None where nobody marked any."""
    if asked.kit:
        return list(Kit.load(Path(asked.kit), "documents").facts["labels"])
    if asked.annotated:
        source, roles = DOCUMENTS.open(asked.annotated), roles_beside(asked.annotated)
        read = None if roles is None else Roles.read(roles)
        own = FitOptions.model_validate({}).roles_of(source, read)
        return Corpus.from_source(source, own).labels
    return None


def roles_beside(annotated: str) -> Path | None:
    beside = Path(annotated).with_suffix(".toml")
    return beside if beside.is_file() else None
