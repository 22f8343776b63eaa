"""The page's view of a project: its files, and the results of verbs that only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from pathlib import Path
from threading import Lock
from typing import Any

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.files.outputs import KIT_INDEX, WORK_KIT
from voile.release.kit import StoredKit, hash_index
from voile.workbench.history import ProjectHistory
from voile.workbench.planned_commands import split_words
from voile.workbench.project_folder import CONTEXT, POLICY, ROLES, ProjectFolder
from voile.workbench.project_kinds import KINDS, ProjectKind
from voile.workbench.verb_jobs import run_verb

Form = Mapping[str, Any]
Block = dict[str, Any]


class FieldError(RequestError):
    """A field of a form has a wrong value. Correct the marked field."""

    def __init__(self, field: str, what: str, *, instead: str | None = None) -> None:
        super().__init__(what, instead=instead)
        self.field = field

    @property
    def problems(self) -> Mapping[str, str]:
        """The problem of each field."""
        return {self.field: str(self)}


class EmptyFieldsError(FieldError):
    """Required fields of a form are empty. Fill in the marked fields.

    empty : the name of each empty field in the form, with its description for users.
    """

    def __init__(self, empty: Mapping[str, str]) -> None:
        many = f"{len(empty)} fields are empty" if len(empty) > 1 else "a field is empty"
        super().__init__(next(iter(empty)), many, instead="fill in the marked fields")
        self._empty = empty

    @property
    def problems(self) -> Mapping[str, str]:
        """The problem of each field."""
        return {name: f"{what} is empty; fill it in" for name, what in self._empty.items()}


class VerbReader:
    """The results of verbs that only read, cached until the hash of an input changes."""

    def __init__(self, folder: ProjectFolder) -> None:
        self._folder = folder
        self._known: dict[tuple[str, ...], tuple[tuple[str, ...], Any]] = {}
        self._lock = Lock()
        self._kit: tuple[str, Any] = ("", None)
        self._shown: tuple[str, Mapping[str, Any]] = ("", {})

    def show_policy(self, name: str) -> Mapping[str, Any]:
        """Return the result of `voile tables show` for the policy file, from a kit in memory.

        A separate process would read the kit again after each edit.
        """
        from voile.face.verbs import own_of
        from voile.modules import MODULES

        policy = self._folder.find_hash(POLICY)
        with self._lock:
            kit, index = self._load_kit(name)
            if self._shown[0] != f"{index} {policy}":
                show = own_of(MODULES["tables"], "show")
                answer = show(kit, policy=self._folder.path / POLICY)
                self._shown = f"{index} {policy}", answer
            return self._shown[1]

    def edit_policy(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Return the result of `voile tables edit`, from a kit in memory."""
        from voile.face.verbs import own_of
        from voile.modules import MODULES

        (*_, name), options = split_words(words)
        options |= {one: self._folder.path / POLICY for one in ("out", "policy") if one in options}
        with self._lock:
            return own_of(MODULES["tables"], "edit")(self._load_kit(name)[0], **options)

    def _load_kit(self, name: str) -> tuple[StoredKit, str]:
        """Return the kit and the hash of its index."""
        index = self._folder.find_hash(f"{name}/{KIT_INDEX}")
        if self._kit[0] != index:
            self._kit = index, StoredKit.load(self._folder.path / name, "tables")
        return self._kit[1], index

    def read_verb(self, words: Sequence[str], inputs: Sequence[str]) -> Any:
        """Return the JSON result of a verb.

        inputs : the files that invalidate the cached result when they change.
        """
        hashes = tuple(map(self._folder.find_hash, inputs))
        with self._lock:
            known = self._known.get(tuple(words))
            if known is None or known[0] != hashes:
                known = hashes, self._run(words)
                self._known[tuple(words)] = known
        if isinstance(known[1], RequestError):
            raise known[1]
        return known[1]

    def _run(self, words: Sequence[str]) -> Any:
        """Return the JSON result of a verb, or its error as a value for the cache."""
        try:
            return run_verb(self._folder.path, words)
        except RequestError as error:
            return error


@dataclass(frozen=True)
class ProjectView:
    """A consistent view of a project, with each file read at most once."""

    folder: ProjectFolder
    history: ProjectHistory
    reader: VerbReader

    @cached_property
    def project(self) -> Any:
        """The content of `project.toml`."""
        return self.folder.read_project()

    @property
    def kind(self) -> ProjectKind:
        """The page's texts and options for this kind of data."""
        return KINDS[self.project.kind]

    @property
    def kind_words(self) -> tuple[str, ...]:
        """The words that `inspect` needs for this kind."""
        kind = self.project.kind
        return () if kind == "tables" else ("--kind", kind)

    @property
    def release(self) -> str:
        """The name of the released file."""
        return self.kind.release

    @property
    def source(self) -> str:
        """The path of the table, relative to the project's folder."""
        return str(self.project.source.path)

    @property
    def source_name(self) -> str:
        """The name of the table's file."""
        return Path(self.source).name

    @cached_property
    def source_hash(self) -> str:
        """The table's present hash, or an empty text if the table is absent."""
        place = self.folder.path / self.source
        return self.folder.find_hash(self.source) if self.source and place.is_file() else ""

    @property
    def has_changed_source(self) -> bool:
        """Whether the table has changed since the project read it."""
        return self.project.source.sha256 not in ("", self.source_hash)

    @cached_property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        columns = (self.folder.read_toml(ROLES) or {}).get("columns", {})
        return {name: one if isinstance(one, str) else one["role"] for name, one in columns.items()}

    @cached_property
    def lacking(self) -> list[str]:
        """The columns that others may know and that are missing in the population table."""
        place = self.folder.path / self.project.fit.population
        if not (self.kind.has_groups and place.is_file()):
            return []
        has = open_source(place).columns
        return [name for name, role in self.roles.items() if role == "quasi" and name not in has]

    @cached_property
    def kit(self) -> str:
        """The name of the kit's folder."""
        return self.folder.kit

    @cached_property
    def kit_facts(self) -> Mapping[str, Any] | None:
        """The facts of the kit, or None if there is no kit."""
        index = self.folder.read_json(self.kit_index)
        return index["facts"] if index else None

    @property
    def kit_index(self) -> str:
        """The path of the kit's index. For notes, the kit may be inside a work folder."""
        folder = f"{self.kit}/{WORK_KIT}" if self.is_work else self.kit
        return f"{folder}/{KIT_INDEX}"

    @property
    def is_work(self) -> bool:
        """Whether the kit is a work folder with proposals for review."""
        return (self.folder.path / self.kit / WORK_KIT / KIT_INDEX).is_file()

    @cached_property
    def policies(self) -> Mapping[str, Any]:
        """The result of `voile tables frontier`, or of the same verb for another kind."""
        words = [self.project.kind, "frontier", self.kit]
        answer: Mapping[str, Any] = self.reader.read_verb(words, [self.kit_index])
        return answer

    @cached_property
    def policy(self) -> Mapping[str, Any] | None:
        """The content of the policy file."""
        return self.folder.read_toml(POLICY)

    @cached_property
    def shown_policy(self) -> Mapping[str, Any] | None:
        """The result of `voile tables show`, or None if no policy of this kit is chosen."""
        if self.policy is None or self.policy_problem or self.kit_facts is None:
            return None
        return self.reader.show_policy(self.kit)

    @cached_property
    def context(self) -> Mapping[str, Any] | None:
        """The content of the context file."""
        return self.folder.read_toml(CONTEXT)

    @cached_property
    def manifest(self) -> Mapping[str, Any] | None:
        """The private manifest of the release."""
        return self.folder.read_json(f"{self.release}.private/manifest.json")

    @cached_property
    def public(self) -> Mapping[str, Any]:
        """The public manifest of the release, empty if there is no release."""
        return self.folder.read_json(f"{self.release}.manifest.json") or {}

    @cached_property
    def evidence(self) -> Mapping[str, Any] | None:
        """The content of the evidence file."""
        return self.folder.read_json(f"{self.release}.private/evidence.json")

    @cached_property
    def determination(self) -> Mapping[str, Any] | None:
        """The facts of the determination."""
        return self.folder.read_json("determination/determination.json")

    @property
    def kit_problem(self) -> str:
        """The reason why the kit does not match the present files. Empty if it does."""
        facts = self.kit_facts
        if facts is None:
            return ""
        fitted = {name: one["role"] for name, one in facts["roles"]["columns"].items()}
        if fitted != self.roles:
            return "The roles changed after the fit."
        limits, options = self.project.fit, facts.get("options", {})
        names = ("k", "max_risk", "suppress", "hold_out") if self.kind.has_groups else ("hold_out",)
        for name in names:
            if name in options and options[name] != getattr(limits, name):
                return f"The limit {name.replace('_', ' ')} changed after the fit."
        return f"{self.source_name} changed." if self.has_changed_source else ""

    @property
    def policy_problem(self) -> str:
        """The reason why the policy does not belong to this kit. Empty if it does."""
        if self.policy is None or self.kit_facts is None:
            return ""
        index = (self.folder.path / self.kit_index).read_bytes()
        is_same = self.policy.get("kit") == hash_index(index)
        return "" if is_same else "The policy comes from another kit."

    @property
    def release_problem(self) -> str:
        """The reason why the release does not match the present policy and table.

        Empty if it does.
        """
        made = self.manifest
        if made is None:
            return ""
        if made["sha256"] != self.folder.find_hash(self.release):
            return f"{self.release} changed after it was made."
        if self.policy is not None:
            chosen = (self.policy.get("kit"), self.policy.get("number"))
            is_same = (made["kit"], made["chosen"]["number"]) == chosen
            # edited policies have no number, so compare their figures
            if is_same and chosen[1] is None:
                is_same = _have_same_figures(self.policy["figures"], made["chosen"]["figures"])
            if not is_same:
                return "The policy changed after the release was made."
        if made["source"].get("sha256") not in (None, self.source_hash):
            return f"{self.source_name} changed after the release was made."
        return ""

    @property
    def evidence_problem(self) -> str:
        """The reason why the evidence is not about this release. Empty if it is."""
        if self.evidence is None or self.manifest is None:
            return ""
        is_same = self.evidence["release"] == self.manifest["sha256"]
        return "" if is_same else "The attacks were on another release."

    @property
    def determination_problem(self) -> str:
        """The reason why the determination does not match release and context. Empty if it does."""
        if self.determination is None or self.manifest is None:
            return ""
        if self.determination["sha256"] != self.manifest["sha256"]:
            return "The determination is about another release."
        has_changed = not _agrees(self.context or {}, self.determination["context"])
        return "The context changed after the determination." if has_changed else ""

    @property
    def statements(self) -> list[Mapping[str, Any]]:
        """The statements on the determination, in order."""
        folder = self.folder.path / "determination" / "statements"
        names = sorted(one.name for one in folder.glob("*.json")) if folder.is_dir() else []
        found = (self.folder.read_json(f"determination/statements/{name}") for name in names)
        return [one for one in found if one is not None]


@dataclass(frozen=True)
class StepState:
    """The state of one step in the list of steps.

    state : done, stale, open or blocked.
    why : the reason, if the step is stale or blocked.
    """

    name: str
    title: str
    state: str
    note: str = ""
    why: str = ""


def _have_same_figures(written: Mapping[str, float], made: Mapping[str, float]) -> bool:
    """Return whether a release has the rounded figures of a policy file."""
    return all(isclose(made[name], value, rel_tol=1e-6) for name, value in written.items())


def _agrees(written: Any, judged: Any) -> bool:
    """Return whether a context file still has the values that a determination copied from it."""
    if isinstance(written, Mapping):
        return isinstance(judged, Mapping) and all(
            _agrees(value, judged.get(name)) for name, value in written.items()
        )
    if isinstance(written, list):
        return (
            isinstance(judged, list)
            and len(written) == len(judged)
            and all(map(_agrees, written, judged))
        )
    if isinstance(written, int | float) and isinstance(judged, int | float):
        return float(written) == float(judged)
    return str(written) == str(judged)
