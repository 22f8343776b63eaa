"""The kit of a part of notes: opened, or made as the plan requires, again after changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.core.progress import ProgressHook, silent
from voile.core.warn import warn
from voile.data.files.atomic import write_text
from voile.data.files.outputs import KIT, WORK, OutputKind, json_at
from voile.data.places import PLACES, with_places
from voile.data.roles import Roles
from voile.documents.fitting.init import learn_kit, propose_identifiers
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.module import DOCUMENTS
from voile.documents.options import FitOptions
from voile.documents.own_options import InitOptions
from voile.face.keywords import VoileWarning
from voile.keys.seal import file_sha256
from voile.release.kit import StoredKit
from voile.release.options import fields_of, leaves, with_options
from voile.study.carriers.carrier import NOTE
from voile.study.plan.plan import StudyPlan

KIND = "documents"
MADE = "voile-made-kit"
_MEMORY = OutputKind(
    "a record of a kit", {"": lambda path: json_at(path).get("format") == MADE}, is_private=True
)


def open_kit(
    plan: StudyPlan,
    name: str,
    *,
    force: bool,
    progress: ProgressHook,
    work: UnmarkedWork | None = None,
) -> StoredKit:
    """Open the kit of a part of notes. Make it if its options or its sources changed.

    The study stores a hash of the inputs next to a kit that it made. A kit without such a hash is
    not the study's, and is replaced only with `force`. A work folder that people reviewed is never
    replaced.

    work : the identifiers that `propose_notes` proposed. None proposes them here.

    Raises
    ------
    RequestError : there is no kit, its options are wrong, or another file is in its place.

    """
    part, place = plan.texts[name], plan.notes_kit(name)
    if part.kit is not None:
        return StoredKit.load(place, KIND)
    memory, made_from = _memory_of(place), _hash_of(plan, name)
    if _is_made_from(place, made_from):
        return StoredKit.load(place, KIND)
    force = force or json_at(memory).get("format") == MADE
    (WORK if part.fit is None else KIT).check_free(place, force=force)
    _MEMORY.check_free(memory, force=force)
    progress(f"making the kit of {name}", 0)
    with _remember_making(memory, made_from):
        if part.fit is None:
            work, reports = work or propose_notes(plan, name), SilentReports(progress)
            learn_kit(work, _init_options(plan, name), reports, out=place, force=force)
        else:
            _fit(plan, name, place, force=force, progress=progress)
    return StoredKit.load(place, KIND)


def propose_notes(plan: StudyPlan, name: str) -> UnmarkedWork:
    """Propose identifiers in the notes that a kit is made from."""
    source, _ = source_of_kit(plan, name)
    return propose_identifiers(_init_options(plan, name), SilentReports(silent), source=source)


def is_kit_made(plan: StudyPlan, name: str) -> bool:
    """Return whether the study has made the kit of a part from the same notes and options."""
    return _is_made_from(plan.notes_kit(name), _hash_of(plan, name))


def _memory_of(kit: Path) -> Path:
    return kit.with_name(f"{kit.name}.json")


def _is_made_from(kit: Path, inputs: str) -> bool:
    remembered = json_at(_memory_of(kit))
    is_ours = remembered.get("format") == MADE and remembered.get("from") == inputs
    return is_ours and os.path.lexists(kit)


@contextmanager
def _remember_making(memory: Path, made_from: str) -> Iterator[None]:
    """Record that the study makes a kit, and the hash of its inputs at the end.

    A killed run leaves a record without a hash, so the next run makes the kit again. An error
    restores the earlier record.
    """
    before = memory.read_text() if memory.exists() else None
    _remember(memory, None)
    try:
        yield
    except Exception:
        if before is None:
            memory.unlink()
        else:
            write_text(memory, before, _MEMORY, force=True)
        raise
    _remember(memory, made_from)


def _remember(memory: Path, made_from: str | None) -> None:
    said = json.dumps({"format": MADE, "from": made_from}, indent=1)
    write_text(memory, said, _MEMORY, force=True)


def _init_options(plan: StudyPlan, name: str) -> InitOptions:
    _, given = source_of_kit(plan, name)
    return plan.options(InitOptions, name, "init", given)


def _fit(plan: StudyPlan, name: str, place: Path, *, force: bool, progress: ProgressHook) -> None:
    source, given = source_of_kit(plan, name)
    roles = given.pop("roles", None)
    read = None if roles is None else Roles.read(plan.place(Path(roles)))
    options = plan.options(FitOptions, name, "fit", given)
    opened = DOCUMENTS.open(source)
    read = read and read.completed(opened.columns, None)
    kit = DOCUMENTS.fit(opened, read, options, seed=plan.study.seed, progress=progress)
    with_options(kit, options).save(place, force=force)


def source_of_kit(plan: StudyPlan, name: str) -> tuple[str, dict[str, Any]]:
    """Return the notes that a kit is made from, and the options of the verb that makes it."""
    part = plan.texts[name]
    if part.fit is not None:
        given = dict(part.fit)
        return plan.source(str(given.pop("source"))), given
    given = dict(part.init or {})
    source = plan.parts[part.of].source if part.of is not None else part.source
    if "roles" not in given:
        column = part.text or (NOTE if plan.export is not None else None)
        own = {"subject": plan.study.subject} | ({} if column is None else {"text": column})
        given = own | given
    if "known" in given:
        given.setdefault("by", plan.study.subject)
    if plan.study.seed is not None:
        given.setdefault("seed", plan.study.seed)
    return plan.source(str(source)), given


def _hash_of(plan: StudyPlan, name: str) -> str:
    """Return a hash of the inputs of a kit: its options, and the bytes of every source in them."""
    source, given = source_of_kit(plan, name)
    verb = "init" if plan.texts[name].fit is None else "fit"
    sources = {
        "source": DOCUMENTS.open(source).fingerprint(),
        **dict(_hash_named(plan, verb, given)),
    }
    whole = {"verb": verb, "options": given, "seed": plan.study.seed, "sources": sources}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _hash_named(plan: StudyPlan, verb: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the hash of each file or table in the options."""
    fields = fields_of(InitOptions if verb == "init" else FitOptions)
    types = {name: leaves(field.annotation) for name, field in fields.items()} | {"roles": {Path}}
    for option in sorted(given.keys() & {name for name, own in types.items() if own & PLACES}):
        named: list[str] = []
        with_places(given[option], types[option], named.append)
        for at, place in enumerate(map(plan.source, named)):
            if Path(place).is_file():
                yield f"{option}.{at}", file_sha256(Path(place))
            elif option.startswith("known"):
                yield f"{option}.{at}", DOCUMENTS.open(place).fingerprint()


@dataclass(frozen=True)
class SilentReports:
    """A reporter that passes on progress, and turns important messages into warnings."""

    shown: ProgressHook

    def say(self, text: str) -> None: ...

    def insist(self, text: str) -> None:
        warn(text, VoileWarning)

    def progress(self) -> AbstractContextManager[ProgressHook]:
        return nullcontext(self.shown)
