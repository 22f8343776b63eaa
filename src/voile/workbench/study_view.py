"""The page's view of a study: its plan, its parts, and one release of all parts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from voile.core.errors import RequestError
from voile.workbench.project_folder import STUDY
from voile.workbench.project_view import ProjectView

WAYS = (
    "beats", "joint_risk", "max_risk", "max_relative_risk", "max_loss", "least_loss", "knee",
    "policy",
)  # fmt: skip
"""The ways to pick the policy. The promise of a plan contains one of these keys."""


class StudyView(ProjectView):
    """A consistent view of the project of a study."""

    @property
    def source_hash(self) -> str:
        """The folder's present hash, or an empty text if the folder is absent."""
        place = self.folder.path / self.source
        return self.folder.find_hash(self.source) if self.source and place.is_dir() else ""

    @cached_property
    def plan(self) -> Mapping[str, Any]:
        """The plan, empty if there is no plan."""
        return self.folder.read_toml(STUDY) or {}

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]]:
        """The parts of the plan."""
        found: Mapping[str, Mapping[str, Any]] = self.plan.get("parts", {})
        return found

    def read_roles(self, part: str) -> dict[str, str]:
        """Return the role of each column of a part."""
        roles = self.parts[part].get("roles")
        columns = (self.folder.read_toml(str(roles)) or {}).get("columns", {}) if roles else {}
        return {name: one if isinstance(one, str) else one["role"] for name, one in columns.items()}

    @cached_property
    def roles(self) -> dict[str, str]:
        """The role of each column of each part."""
        return {
            f"{part}.{name}": role
            for part in self.parts
            for name, role in self.read_roles(part).items()
        }

    @cached_property
    def kit(self) -> str:
        """The name of the kit's folder."""
        return "study.kit"

    @cached_property
    def policies(self) -> Mapping[str, Any]:
        """The result of `voile study frontier`, without policies if another plan made the kit."""
        words = ["study", "frontier", STUDY]
        try:
            answer: Mapping[str, Any] = self.reader.read_verb(words, [self.kit_index, STUDY])
        except RequestError:
            return {"policies": []}
        return answer

    @cached_property
    def policy(self) -> Mapping[str, Any] | None:
        """The policy that the plan's promise picked, or None if there is no kit."""
        if self.kit_facts is None:
            return None
        number = self.kit_facts["chosen"][self.table]
        found = (one for one in self.policies["policies"] if one["number"] == number)
        return {"number": number, "figures": dict(next(found, {}))}

    @property
    def notes(self) -> list[str]:
        """The names of the parts with notes."""
        return [name for name, one in self.parts.items() if one["kind"] == "documents"]

    @property
    def table(self) -> str:
        """The name of the part with the policies: the first table of the plan."""
        return next(name for name, one in self.parts.items() if one["kind"] == "tables")

    @cached_property
    def public(self) -> Mapping[str, Any]:
        """The public manifest of the release, empty if there is no release."""
        return self.folder.read_json(f"{self.release}/manifest.json") or {}

    @cached_property
    def manifest(self) -> Mapping[str, Any] | None:
        """The private manifest of the release, with the release's hash."""
        private = self.folder.read_json(f"{self.release}.private/manifest.json")
        if not private or not self.public:
            return None
        counts = [one["counts"] for one in private["parts"].values()]
        names = ("read", "released", "suppressed", "held_out", "set_aside")
        every = {name: sum(one[name] for one in counts) for name in names}
        return {**private, "sha256": self.public["sha256"], "counts": every}

    @cached_property
    def evidence(self) -> Mapping[str, Any] | None:
        """The evidence about all parts together, and about each part alone."""
        place = f"{self.release}.private"
        found = self.folder.read_json(f"{place}/evidence.json")
        if found is None:
            return None
        every = [*found["evidence"]]
        for part in self.parts:
            own = self.folder.read_json(f"{place}/{part}/evidence.json") or {"evidence": []}
            every += [{**one, "of": one["of"] or part} for one in own["evidence"]]
        return {**found, "evidence": every}

    @property
    def kit_problem(self) -> str:
        """The reason why the kit does not match the present files. Empty if it does."""
        if self.kit_facts is None:
            return ""
        fitted = self.kit_facts["parts"]
        named = {part for part, one in self.parts.items() if "roles" in one}
        # a part made from another part's texts has no roles of its own
        for part in fitted.keys() & named:
            columns = fitted[part]["facts"].get("roles", {}).get("columns", {})
            if {name: one["role"] for name, one in columns.items()} != self.read_roles(part):
                return f"The roles of {part} changed after the fit."
        if not self.policies["policies"]:
            return "The plan changed after the fit."
        return f"{self.source_name} changed." if self.has_changed_source else ""

    @property
    def policy_problem(self) -> str:
        """An empty text, because the plan's promise always picks a policy of its own kit."""
        return ""

    @property
    def release_problem(self) -> str:
        """The reason why the release does not come from the present kit. Empty if it does."""
        if self.manifest is None or self.policy is None:
            return ""
        made = self.manifest["parts"][self.table]["chosen"]["number"]
        return "" if made == self.policy["number"] else "The policy changed after the release."

    @property
    def evidence_problem(self) -> str:
        """The reason why the evidence is not about this release. Empty if it is."""
        if self.evidence is None or self.manifest is None:
            return ""
        now = self.folder.find_hash(f"{self.release}/manifest.json")
        return "" if self.evidence["release"] == now else "The attacks were on another release."
