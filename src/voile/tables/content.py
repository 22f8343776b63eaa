"""What a tables kit holds, between memory and the kit's tables and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from voile.errors import TamperedError
from voile.frontier import Frontier
from voile.kit import Kit
from voile.roles import Roles
from voile.tables.counts import Constraints, Counts
from voile.tables.domain import Domain, Reading
from voile.tables.hold_out import HoldOut
from voile.tables.policy import Policy
from voile.tables.population import Population
from voile.tables.space import PolicySpace

KIND = "tables"


@dataclass(frozen=True, eq=False)
class Content:
    """A fitted family: the space, its frontier, and what applying and explaining them needs.

    Parameters
    ----------
    space : domains, counts, constraints. frontier : its policies, (m, n_bits) bool.
    roles : of the source's columns. hold_out : who was set aside.
    sensitive : the column that l-diversity counts, if any.
    marks : named policies beside the frontier, such as ``safe-harbor``.
    absent : named policies that are not on this lattice, and why.
    fraction : the share of the population that the source is of, where that is all that is known.
    found : how the search went: strategy, evaluations, stopped.
    """

    space: PolicySpace
    frontier: Frontier
    roles: Roles
    hold_out: HoldOut
    sensitive: str | None
    marks: Mapping[str, Policy]
    absent: Mapping[str, str]
    fraction: float | None
    found: Mapping[str, Any]

    @cached_property
    def mark_scores(self) -> dict[str, tuple[float, float]]:
        """Relative risk and loss of each mark, as if nothing were suppressed of it."""
        if not self.marks:
            return {}
        plain = PolicySpace.of(
            self.space.domains, self.space.counts, Constraints(), self.space.population
        )
        risk, loss = plain.evaluate(np.array([mark.bits for mark in self.marks.values()]))
        scores = zip(risk.tolist(), loss.tolist(), strict=True)
        return dict(zip(self.marks, scores, strict=True))

    def to_kit(self) -> Kit:
        """Return the kit; it is private, since it holds raw values and small counts."""
        space = self.space
        facts = {
            "policies": len(self.frontier),
            "roles": self.roles.model_dump(mode="json"),
            "domains": [_domain_facts(domain) for domain in space.domains],
            "constraints": _constraint_facts(space.constraints),
            "population": {
                "how": space.population.how,
                "assumptions": list(space.population.assumptions),
                "known": space.population.known,
            },
            "hold_out": {"share": self.hold_out.share, "key": self.hold_out.key.hex()},
            "sensitive": self.sensitive,
            "marks": {name: _packed(mark.bits).hex() for name, mark in self.marks.items()},
            "mark_notes": {name: list(mark.notes) for name, mark in self.marks.items()},
            "absent": dict(self.absent),
            "fraction": self.fraction,
            **self.found,
        }
        tables = {
            "frontier": self._frontier_table(),
            "domains": _domain_table(space.domains),
            "counts": _count_table(space),
            "sensitive": _sensitive_table(space.counts),
        }
        return Kit(KIND, "private", facts, tables)

    def _frontier_table(self) -> pa.Table:
        frontier, evaluator = self.frontier, self.space.evaluator
        scores = evaluator.scores(np.ascontiguousarray(frontier.policies))
        matches = frontier.risk * evaluator.matches
        released = evaluator.subjects * (1 - scores.suppressed)
        return pa.table(
            {
                "number": np.arange(len(frontier)),
                "risk": frontier.risk,
                "loss": frontier.loss,
                "mean_risk": np.divide(
                    matches, released, out=np.zeros_like(matches), where=released > 0
                ),
                "expected_matches": matches,
                "suppressed": scores.suppressed,
                "beats": self._beats(),
                "policy": pa.array([_packed(row) for row in frontier.policies], pa.binary()),
            }
        )

    def _beats(self) -> list[str]:
        """Name the marks that each policy of the frontier beats in both risk and loss."""
        beaten: list[list[str]] = [[] for _ in range(len(self.frontier))]
        for name, scores in self.mark_scores.items():
            for number in self.frontier.dominating(*scores):
                beaten[number].append(name)
        return [" ".join(names) for names in beaten]

    @classmethod
    def of(cls, kit: Kit) -> Content:
        """Read a kit back; `TamperedError` when it lacks what a kit of tables holds."""
        try:
            return cls._of(kit)
        except KeyError as error:
            raise TamperedError(f"the kit lacks {error.args[0]}") from None

    @classmethod
    def _of(cls, kit: Kit) -> Content:
        facts, tables = kit.facts, kit.tables
        domains = _domains(facts["domains"], tables["domains"])
        counts = _counts(domains, tables["counts"], tables["sensitive"])
        population = Population(
            counts.codes,
            counts.population,
            facts["population"]["how"],
            tuple(facts["population"]["assumptions"]),
            facts["population"]["known"],
        )
        n_bits = sum(len(domain) - 1 for domain in domains)
        space = PolicySpace.of(
            domains, counts, _constraints(facts["constraints"], n_bits), population
        )
        table = tables["frontier"]
        rows = [_unpacked(raw, n_bits) for raw in table.column("policy").to_pylist()]
        frontier = Frontier.of(
            table.column("risk").to_numpy(),
            table.column("loss").to_numpy(),
            np.array(rows, dtype=np.bool_).reshape(len(rows), n_bits),
        )
        roles = Roles.model_validate(facts["roles"])
        return cls(
            space,
            frontier,
            roles,
            HoldOut(
                facts["hold_out"]["share"], bytes.fromhex(facts["hold_out"]["key"]), roles.subject
            ),
            facts["sensitive"],
            {
                name: Policy(
                    domains,
                    _unpacked(bytes.fromhex(bits), n_bits),
                    tuple(facts["mark_notes"][name]),
                )
                for name, bits in facts["marks"].items()
            },
            facts["absent"],
            facts["fraction"],
            {name: facts[name] for name in ("strategy", "evaluations", "stopped")},
        )


def _packed(bits: np.ndarray[Any, Any]) -> bytes:
    return np.packbits(bits).tobytes()


def _unpacked(raw: bytes, n_bits: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.unpackbits(np.frombuffer(raw, np.uint8), count=n_bits).astype(np.bool_)


def _domain_facts(domain: Domain) -> dict[str, Any]:
    reading = domain.reading
    return {
        "column": domain.column,
        "kind": reading.kind,
        "by": reading.by,
        "form": reading.form,
        "levels": [_packed(np.array(level)).hex() for level in domain.levels],
    }


def _domain_table(domains: Sequence[Domain]) -> pa.Table:
    return pa.table(
        {
            "column": [d.column for d in domains for _ in d.values],
            "value": pa.array(
                [None if v is None else str(v) for d in domains for v in d.values], pa.string()
            ),
        }
    )


def _domains(facts: Sequence[Mapping[str, Any]], table: pa.Table) -> tuple[Domain, ...]:
    values: dict[str, list[str | None]] = {}
    for column, value in zip(*(table.column(i).to_pylist() for i in (0, 1)), strict=True):
        values.setdefault(column, []).append(value)
    domains = []
    for fact in facts:
        canonical = Reading(fact["kind"], fact["by"])
        read = tuple(canonical(value) for value in values[fact["column"]])
        levels = tuple(
            tuple(_unpacked(bytes.fromhex(level), len(read) - 1).tolist())
            for level in fact["levels"]
        )
        reading = Reading(fact["kind"], fact["by"], fact["form"])
        domains.append(Domain(fact["column"], read, reading, levels))
    return tuple(domains)


def _count_table(space: PolicySpace) -> pa.Table:
    counts = space.counts
    columns = {f"code_{i}": counts.codes[:, i] for i in range(len(counts.sizes))}
    return pa.table({**columns, "sample": counts.sample, "population": counts.population})


def _sensitive_table(counts: Counts) -> pa.Table:
    cell, value = np.nonzero(counts.sensitive)
    return pa.table(
        {
            "cell": cell,
            "value": value,
            "count": counts.sensitive[cell, value],
            "values": np.full(len(cell), counts.sensitive.shape[1]),
        }
    )


def _counts(domains: Sequence[Domain], table: pa.Table, sensitive: pa.Table) -> Counts:
    codes = np.column_stack(
        [table.column(f"code_{i}").to_numpy() for i in range(len(domains))]
    ).astype(np.int32)
    values = int(sensitive.column("values")[0].as_py()) if len(sensitive) else 0
    by_value = np.zeros((len(codes), values))
    place = (sensitive.column("cell").to_numpy(), sensitive.column("value").to_numpy())
    by_value[place] = sensitive.column("count").to_numpy()
    return Counts(
        tuple(len(domain) for domain in domains),
        codes,
        table.column("sample").to_numpy().copy(),
        table.column("population").to_numpy().copy(),
        by_value,
    )


def _constraint_facts(constraints: Constraints) -> dict[str, Any]:
    return {
        "k": constraints.k,
        "max_risk": constraints.max_risk,
        "l_diversity": constraints.l_diversity,
        "suppress": constraints.suppress,
        **{
            name: None if bits is None else _packed(bits).hex()
            for name, bits in (
                ("required", constraints.required),
                ("forbidden", constraints.forbidden),
            )
        },
    }


def _constraints(facts: Mapping[str, Any], n_bits: int) -> Constraints:
    bits = {
        name: None if facts[name] is None else _unpacked(bytes.fromhex(facts[name]), n_bits)
        for name in ("required", "forbidden")
    }
    return Constraints(
        facts["k"], facts["max_risk"], facts["l_diversity"], facts["suppress"], **bits
    )
