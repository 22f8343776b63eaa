"""Convert the content of a tables kit between objects in memory and the kit's tables and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError, RequestError
from voile.core.frontier import Frontier
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.release.kit import StoredKit
from voile.tables.people.counts import CombinationCounts, PopulationCounts
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import KitPolicy, PolicyFamily
from voile.tables.policies.loss_bound import LossBound
from voile.tables.policies.policy import Policy
from voile.tables.policies.scores import PolicyScore, beating, score_policy
from voile.tables.scoring.group_measures import GroupMeasure
from voile.tables.scoring.losses import LOSSES, PolicyFigures
from voile.tables.scoring.named_measures import DEFAULTS, NAMES, Kind, LossWeights, measure_named
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.verbs.content_tables import (
    bound_facts,
    bound_table,
    box_facts,
    box_table,
    constraint_facts,
    count_table,
    domain_facts,
    domain_table,
    pack_bits,
    policy_column,
    read_bound,
    read_boxes,
    read_constraints,
    read_counts,
    read_domains,
    read_family,
    read_weights,
    tree_table,
    unpack_bits,
    value_table,
    with_columns,
)

KIND = "tables"
FIGURES = (
    *("loss", "distribution", "resolution", "max_risk", "expected_matches", "mean_risk"),
    *("suppressed", "ncp"),
)
"""The figures of a policy in the frontier's table. The screen shows the first ones."""


@dataclass(frozen=True)
class RequestedMeasure:
    """A measure used in the search: its name as an option, its title and its formula."""

    name: str
    title: str
    formula: str

    @classmethod
    def of(cls, name: str, measure: GroupMeasure) -> RequestedMeasure:
        return cls(name, measure.title, measure.formula)

    @property
    def figure(self) -> str:
        """Return the name of its score among a policy's figures, if it is a risk."""
        named = {"matches": "relative_risk", "estimated-matches": "estimated_relative_risk"}
        return named.get(self.name, "risk")

    def ours(self, kind: Kind) -> bool:
        """Return whether the measure can be computed again, since a kit contains no code."""
        return self.name in NAMES[kind]


@dataclass(frozen=True, eq=False)
class TablesPolicies(BriefRepr):
    """The parts of a kit for a choice: the frontier's table, and the policies by number."""

    family: PolicyFamily
    frontier: Frontier
    table: pa.Table
    risk: RequestedMeasure
    loss: RequestedMeasure
    mark_scores: Mapping[str, PolicyScore]
    absent: Mapping[str, str]

    @classmethod
    def of(cls, kit: StoredKit) -> TablesPolicies:
        """Read the policies of a kit.

        Raises
        ------
        DamagedError : a part of a tables kit is missing.
        """
        return kit.read_content(cls.read_kit)

    @classmethod
    def read_kit(cls, kit: StoredKit) -> TablesPolicies:
        """Read the policies while reading a whole kit."""
        figures = ["number", "risk", *FIGURES]
        table = kit.table("frontier", numbers=figures, text=["family", "beats"], raw=["policy"])
        domains = read_domains(kit.facts["domains"], kit.tables["domains"])
        numbers = tuple(map(int, kit.facts.get("numbers", ())))
        family = read_family(domains, table, kit.tables["trees"], numbers)
        frontier = Frontier.of(
            table.column("risk").to_numpy(), table.column("loss").to_numpy(), family.members
        )
        scores = {name: PolicyScore(**score) for name, score in kit.facts["mark_scores"].items()}
        risk, loss = (RequestedMeasure(**kit.facts["measures"][kind]) for kind in ("risk", "loss"))
        return cls(family, frontier, table, risk, loss, scores, kit.facts["absent"])

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        largest = self.table.column("max_risk").to_numpy()
        return {"relative_risk": self.frontier.risk, "max_risk": largest}

    def beating(self, name: str) -> NDArray[np.intp]:
        """Return the numbers of the policies that beat a reference policy."""
        return beating(self.frontier, self.mark_scores[name])

    def policy(self, number: int) -> KitPolicy:
        return self.family.policy(number)

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.table.slice(number, 1).to_pylist()[0]
        return {self.risk.figure: row["risk"], **{name: row[name] for name in FIGURES}}


@dataclass(frozen=True, eq=False)
class TablesContent(BriefRepr):
    """A fitted family: the space, its frontier, and the data needed to apply and explain policies.

    - `figures` are the figures of each policy, for any measures of the search.
    - `marks` are the reference policies, such as ``safe-harbor``, scored without suppression.
    - `absent` contains the reason for each policy that is not on this lattice.
    - `fraction` is the source's share of the population, if nothing more is known.
    - `found` describes the search.
    - `analysis` is the result of an analyst's own model under some policies, see
      `SourceAnalysis.to_data`.
    """

    space: CountedSpace
    family: PolicyFamily
    frontier: Frontier
    figures: PolicyFigures
    roles: Roles
    hold_out: HoldOut
    sensitive: tuple[str, ...]
    outcomes: tuple[str, ...]
    measures: Mapping[Kind, RequestedMeasure]
    marks: Mapping[str, Policy]
    mark_scores: Mapping[str, PolicyScore]
    absent: Mapping[str, str]
    fraction: float | None
    found: Mapping[str, Any]
    bound: LossBound | None = None
    analysis: Mapping[str, Any] | None = None
    _last_figures: dict[KitPolicy, dict[str, float]] = field(default_factory=dict, init=False)

    @property
    def global_frontier(self) -> tuple[Frontier, NDArray[np.intp]]:
        """Return the frontier of the bit-strings, and the number of each policy."""
        own = self.family.is_global
        bits = self.family.bits[self.family.members[own, 1]]
        risk, loss = self.frontier.risk[own], self.frontier.loss[own]
        return Frontier(risk, loss, bits), np.flatnonzero(own)

    @property
    def promise(self) -> str:
        """Return the unit of k: ``person`` (all rows of a person) or ``row`` (one row's label)."""
        return "person" if self.family.numbers else "row"

    def score(self, policy: KitPolicy) -> PolicyScore:
        if isinstance(policy, PersonPolicy):
            return self._look_up_score(policy)
        scored = score_policy(self.space, policy)
        own = [asked.name for kind, asked in self.measures.items() if not asked.ours(kind)]
        if own:
            number = self.family.number_of(policy)
            if number is None:
                raise RequestError(
                    f"an edited policy cannot be scored by {' and '.join(own)}: kits have no code",
                    instead="take a policy of the kit as it is",
                )
            point = self.frontier.point(number)
            return scored._replace(risk=point.risk, loss=point.loss)
        return scored

    def _look_up_score(self, policy: PersonPolicy) -> PolicyScore:
        """Return the score of a policy per person, which the fit computed from the records."""
        number = self.family.number_of(policy)
        if number is None:
            raise RequestError(
                "the policy is none of the kit's frontier, and the fit scored no other",
                instead="choose a policy of the kit",
            )
        point, own = self.frontier.point(number), self.figures
        at = {name: float(values[number]) for name, values in vars(own).items()}
        lost = (at[name] for name in LOSSES)
        return PolicyScore(point.risk, point.loss, at["suppressed"], at["expected_matches"], *lost)

    def figures_of_policy(self, policy: KitPolicy) -> dict[str, float]:
        """Return a policy's risk, loss and measures, counted on the rows of this content.

        The loss is that of the search. By default it is half the divergence loss and half the
        entropy loss, with a suppressed record as a full loss. `choose`, `apply` and a ledger take
        their figures of a policy from here. A policy of the frontier is already scored.
        """
        if policy not in self._last_figures:
            self._last_figures.clear()
            self._last_figures[policy] = self._measure_policy(policy)
        return dict(self._last_figures[policy])

    def _measure_policy(self, policy: KitPolicy) -> dict[str, float]:
        score = self.score(policy)
        figures = {self.measures["risk"].figure: score.risk, "loss": score.loss}
        figures |= {"suppressed": score.suppressed, **score.losses}
        if isinstance(policy, PersonPolicy):
            return figures
        return figures | self.space.disclosure(policy)

    def to_kit(self) -> StoredKit:
        """Return the kit. It is private, since it contains raw values and small counts."""
        space = self.space
        facts = {
            "policies": len(self.frontier),
            "numbers": list(self.family.numbers),
            "roles": self.roles.model_dump(mode="json"),
            "domains": [domain_facts(domain) for domain in space.domains],
            "constraints": constraint_facts(space.constraints),
            "population": {
                "how": space.population.how,
                "assumptions": list(space.population.assumptions),
                "known": space.population.known,
                "boxes": box_facts(space.population.boxes),
                "weighted": space.population.weighted,
            },
            "hold_out": self.hold_out.to_data(),
            "sensitive": [
                {"column": name, **column._asdict()}
                for name, column in zip(self.sensitive, space.counts.columns, strict=True)
            ],
            "outcomes": list(self.outcomes),
            "measures": {kind: asdict(asked) for kind, asked in self.measures.items()},
            "weights": asdict(space.weights),
            "marks": {name: pack_bits(mark.bits).hex() for name, mark in self.marks.items()},
            "mark_scores": {name: score._asdict() for name, score in self.mark_scores.items()},
            "mark_notes": {name: list(mark.notes) for name, mark in self.marks.items()},
            "absent": dict(self.absent),
            "fraction": self.fraction,
            "bound": None if self.bound is None else bound_facts(self.bound),
            "analysis": self.analysis,
            **self.found,
        }
        tables = {
            "frontier": self._frontier_table(),
            "domains": domain_table(space.domains),
            "trees": tree_table(self.family.trees),
            "counts": count_table(space),
            "sensitive": value_table(space.counts.sensitive),
            **{f"outcome_{i}": value_table(c) for i, c in enumerate(space.counts.outcomes)},
        }
        if space.population.boxes is not None:
            tables["boxes"] = box_table(space.population.boxes)
        if self.bound is not None:
            tables["bound"] = bound_table(self.bound)
        return StoredKit(KIND, "private", facts, tables)

    def _frontier_table(self) -> pa.Table:
        frontier, figures = self.frontier, self.figures
        matches = figures.expected_matches
        released = self.space.counts.subjects * (1 - figures.suppressed)
        return pa.table(
            {
                "number": np.arange(len(frontier)),
                "risk": frontier.risk,
                "loss": frontier.loss,
                **{name: getattr(figures, name) for name in LOSSES},
                "mean_risk": np.divide(
                    matches, released, out=np.zeros_like(matches), where=released > 0
                ),
                "max_risk": figures.largest,
                "expected_matches": matches,
                "suppressed": figures.suppressed,
                "beats": self._beats(),
                "family": self.family.names,
                "policy": policy_column(self.family),
            }
        )

    def beating(self, name: str) -> NDArray[np.intp]:
        """Return the numbers of the policies that beat a reference policy."""
        return beating(self.frontier, self.mark_scores[name])

    def _beats(self) -> list[str]:
        """Return the names of the reference policies that each policy of the frontier beats."""
        beaten: list[list[str]] = [[] for _ in range(len(self.frontier))]
        for name in self.mark_scores:
            for number in self.beating(name):
                beaten[number].append(name)
        return [" ".join(names) for names in beaten]

    @classmethod
    def of(cls, kit: StoredKit) -> TablesContent:
        """Read the content of a kit.

        Raises
        ------
        DamagedError : a part of a tables kit is missing.
        """
        return kit.read_content(cls._of)

    @classmethod
    def _of(cls, kit: StoredKit) -> TablesContent:
        facts, tables = kit.facts, dict(kit.tables)
        policies = TablesPolicies.read_kit(kit)
        domains, frontier = policies.family.domains, policies.frontier
        codes = [f"code_{i}" for i in range(len(domains))]
        tables["counts"] = kit.table("counts", numbers=[*codes, "sample", "population"])
        outcomes = [tables[f"outcome_{i}"] for i in range(len(facts["outcomes"]))]
        counts = read_counts(domains, tables["counts"], tables["sensitive"], outcomes)
        counts = with_columns(counts, facts["sensitive"])
        people = facts["population"]
        population = PopulationCounts(
            counts.codes,
            counts.population,
            people["how"],
            tuple(people["assumptions"]),
            people["known"],
            read_boxes(people["boxes"], tables["boxes"]) if people["boxes"] else None,
            people.get("weighted", False),
        )
        n_bits = sum(len(domain) - 1 for domain in domains)
        measures = {kind: RequestedMeasure(**facts["measures"][kind]) for kind in DEFAULTS}
        weights = read_weights(facts["weights"])
        constraints = read_constraints(facts["constraints"], n_bits)
        risk = measure_of("risk", measures, counts, weights)
        loss = measure_of("loss", measures, counts, weights)
        space = CountedSpace(
            domains, counts, constraints, population, risk=risk, loss=loss, weights=weights
        )
        roles = Roles.model_validate(facts["roles"])
        if {d.column for d in domains} != set(roles.of("quasi")):
            raise DamagedError("the kit's domains are not those of its roles")
        marks = {
            name: Policy(
                domains, unpack_bits(bytes.fromhex(bits), n_bits), tuple(facts["mark_notes"][name])
            )
            for name, bits in facts["marks"].items()
        }
        return cls(
            space,
            policies.family,
            frontier,
            PolicyFigures(
                *(
                    policies.table.column(name).to_numpy()
                    for name in ("expected_matches", "max_risk", "suppressed", *LOSSES)
                )
            ),
            roles,
            HoldOut.from_data(facts["hold_out"], roles.subject),
            tuple(one["column"] for one in facts["sensitive"]),
            tuple(facts["outcomes"]),
            measures,
            marks,
            policies.mark_scores,
            policies.absent,
            facts["fraction"],
            {name: facts[name] for name in ("method", "evaluations", "stopped")},
            read_bound(facts["bound"], tables["bound"], frontier) if facts["bound"] else None,
            facts.get("analysis"),
        )


def measure_of(
    kind: Kind,
    measures: Mapping[Kind, RequestedMeasure],
    counts: CombinationCounts,
    weights: LossWeights,
) -> GroupMeasure | None:
    """Return one of voile's own measures by its name, or None.

    No other name in a kit is ever looked up, since that could run code.
    """
    asked = measures[kind]
    return measure_named(kind, asked.name)(counts, weights) if asked.ours(kind) else None
