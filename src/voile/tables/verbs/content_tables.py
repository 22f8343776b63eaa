"""Convert the parts of a tables kit between objects in memory and facts and Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError
from voile.core.frontier import Frontier
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.people.counted_boxes import CountedBoxes
from voile.tables.people.counts import CombinationCounts, Constraints, SensitiveColumn
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import GLOBAL, PolicyFamily
from voile.tables.policies.loss_bound import LossBound
from voile.tables.scoring.named_measures import LossWeights
from voile.tables.trees.tree import BoxTree


def pack_bits(bits: np.ndarray[Any, Any]) -> bytes:
    return np.packbits(bits).tobytes()


def unpack_bits(raw: bytes, n_bits: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.unpackbits(np.frombuffer(raw, np.uint8), count=n_bits).astype(np.bool_)


def policy_column(family: PolicyFamily) -> pa.Array:
    """Return each policy as bytes: its bits, or its tree and its number of pruned links."""
    rows = [
        pack_bits(family.bits[at]) if tree == GLOBAL else np.array([tree, at], "<i4").tobytes()
        for tree, at in family.members.tolist()
    ]
    return pa.array(rows, pa.binary())


def tree_table(trees: Sequence[BoxTree]) -> pa.Table:
    """Return the nodes of trees, one tree after another."""
    names = ("column", "cut", "part", "last")
    arrays = [
        np.concatenate([np.zeros(0, np.int32), *(getattr(tree, name) for tree in trees)])
        for name in names
    ]
    number = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
    return pa.table([number, *arrays], names=["tree", *names])


def read_family(
    domains: Sequence[ValueDomain], frontier: pa.Table, boxes: pa.Table, numbers: tuple[int, ...]
) -> PolicyFamily:
    """Read the policies of a kit.

    Raises
    ------
    DamagedError : a policy has a tree or links that the kit lacks.
    """
    n_bits = sum(len(domain) - 1 for domain in domains)
    bits: list[NDArray[np.bool_]] = []
    members: list[tuple[int, ...]] = []
    cells = (frontier.column(name).to_pylist() for name in ("family", "policy"))
    for family, raw in zip(*cells, strict=True):
        if family in ("tree", "person"):
            members.append(tuple(np.frombuffer(raw, "<i4", count=2).tolist()))
        else:
            members.append((GLOBAL, len(bits)))
            bits.append(unpack_bits(raw, n_bits))
    trees = read_trees(domains, boxes, numbers or (1,))
    each = max(len(numbers), 1)
    for tree, links in members:
        own = trees[tree * each : (tree + 1) * each] if tree != GLOBAL else ()
        if tree != GLOBAL and (len(own) < each or not 0 <= links <= max(one.links for one in own)):
            raise DamagedError("the kit has a policy of a tree that it lacks")
    return PolicyFamily(
        tuple(domains),
        np.array(bits, dtype=np.bool_).reshape(len(bits), n_bits),
        trees,
        np.array(members, dtype=np.int32).reshape(len(members), 2),
        numbers,
    )


def read_trees(
    domains: Sequence[ValueDomain], boxes: pa.Table, numbers: tuple[int, ...]
) -> tuple[BoxTree, ...]:
    """Read trees. `numbers` are the numbers of rows of the records, in turn.

    Raises
    ------
    DamagedError : the nodes of a tree are inconsistent.
    """
    number = boxes.column("tree").to_numpy()
    arrays = [
        boxes.column(name).to_numpy().astype(np.int32) for name in ("column", "cut", "part", "last")
    ]
    sizes = tuple(len(domain) for domain in domains)
    free = tuple(domain.free for domain in domains)
    trees = []
    for tree in range(int(number.max(initial=-1)) + 1):
        own = number == tree
        column, cut, part, last = (array[own] for array in arrays)
        rows = numbers[tree % len(numbers)]
        trees.append(BoxTree(sizes * rows, column, cut, part, last, free * rows))
        if not trees[-1].is_whole:
            raise DamagedError("the kit has a tree whose boxes do not fit together")
    return tuple(trees)


def domain_facts(domain: ValueDomain) -> dict[str, Any]:
    levels = [pack_bits(np.array(level)).hex() for level in domain.levels]
    own = {"column": domain.column, "free": domain.free, "levels": levels}
    return {**domain.parser.to_data(), **own}


def domain_table(domains: Sequence[ValueDomain]) -> pa.Table:
    """Return the values of every domain, in order, and whether each is public."""
    return pa.table(
        {
            "column": [d.column for d in domains for _ in d.values],
            "value": pa.array(
                [None if v is None else str(v) for d in domains for v in d.values], pa.string()
            ),
            "declared": np.concatenate([np.zeros(0, np.bool_), *(d.is_declared for d in domains)]),
        }
    )


def read_domains(facts: Sequence[Mapping[str, Any]], table: pa.Table) -> tuple[ValueDomain, ...]:
    values: dict[str, list[str | None]] = {}
    declared: dict[str, list[bool]] = {}
    for row in table.to_pylist():
        values.setdefault(row["column"], []).append(row["value"])
        declared.setdefault(row["column"], []).append(row["declared"])
    domains = []
    for fact in facts:
        column, parser = fact["column"], CellParser.from_data(fact)
        read = tuple(map(parser.restore, values[column]))
        packed = [unpack_bits(bytes.fromhex(level), len(read) - 1) for level in fact["levels"]]
        levels = tuple(tuple(level.tolist()) for level in packed)
        public, free = tuple(declared[column]), bool(fact.get("free"))
        domains.append(ValueDomain(column, read, parser, levels, public, free))
    return tuple(domains)


def count_table(space: CountedSpace) -> pa.Table:
    counts = space.counts
    columns = {f"code_{i}": counts.codes[:, i] for i in range(len(counts.sizes))}
    return pa.table({**columns, "sample": counts.sample, "population": counts.population})


def value_table(counted: NDArray[np.float64]) -> pa.Table:
    """Return counts by combination and value of one column, without zeros."""
    cell, value = np.nonzero(counted)
    columns = {"cell": cell, "value": value, "count": counted[cell, value]}
    return pa.table({**columns, "values": np.full(len(cell), counted.shape[1])})


def read_values(table: pa.Table, cells: int) -> NDArray[np.float64]:
    values = int(table.column("values")[0].as_py()) if len(table) else 0
    if values > len(table):  # each value is counted at least once
        raise DamagedError("the kit counts fewer values than it states")
    counted = np.zeros((cells, values))
    place = (table.column("cell").to_numpy(), table.column("value").to_numpy())
    counted[place] = table.column("count").to_numpy()
    return counted


def read_counts(
    domains: Sequence[ValueDomain],
    table: pa.Table,
    sensitive: pa.Table,
    outcomes: Sequence[pa.Table],
) -> CombinationCounts:
    sizes = tuple(len(domain) for domain in domains)
    codes = np.empty((len(table), len(domains)), np.int32)
    for i in range(len(domains)):
        codes[:, i] = table.column(f"code_{i}").to_numpy()
    if (codes < 0).any() or (codes >= np.array(sizes)).any():
        raise DamagedError("the kit counts values that its domains have not")
    return CombinationCounts(
        sizes,
        codes,
        table.column("sample").to_numpy().copy(),
        table.column("population").to_numpy().copy(),
        read_values(sensitive, len(codes)),
        tuple(read_values(outcome, len(codes)) for outcome in outcomes),
    )


def with_columns(
    counts: CombinationCounts, facts: Sequence[Mapping[str, Any]]
) -> CombinationCounts:
    """Return the counts with the number of values of each sensitive column."""
    columns = tuple(SensitiveColumn(one["values"], one["ordered"]) for one in facts)
    if sum(column.values for column in columns) != counts.sensitive.shape[1]:
        raise DamagedError("the kit counts other sensitive values than it states")
    return replace(counts, columns=columns)


def box_facts(boxes: CountedBoxes | None) -> dict[str, Any] | None:
    """Return the columns by which tables count people, if they are only some quasi-identifiers."""
    return None if boxes is None else {"columns": list(boxes.columns), "sampled": boxes.sampled}


def box_table(boxes: CountedBoxes) -> pa.Table:
    """Return the people counted by these columns."""
    codes = {f"code_{i}": boxes.codes[:, i] for i in range(len(boxes.columns))}
    return pa.table({**codes, "people": boxes.people})


def read_boxes(facts: Mapping[str, Any], table: pa.Table) -> CountedBoxes:
    """Read the people that `box_table` wrote."""
    columns = [table.column(f"code_{i}").to_numpy() for i in range(len(facts["columns"]))]
    codes = np.column_stack(columns).astype(np.int32)
    people = table.column("people").to_numpy().copy()
    return CountedBoxes(tuple(facts["columns"]), codes, people, facts["sampled"])


def bound_facts(bound: LossBound) -> dict[str, Any]:
    return {"combos": len(bound.floors), "least_risk": bound.least_risk, "stopped": bound.stopped}


def bound_table(bound: LossBound) -> pa.Table:
    floors = {f"floor_{i}": floor for i, floor in enumerate(bound.floors)}
    return pa.table({**bound.frame(), **floors})


def read_bound(facts: Mapping[str, Any], table: pa.Table, frontier: Frontier) -> LossBound:
    """Read a proof and its frontier."""
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    floors = np.array([columns.pop(f"floor_{i}") for i in range(facts["combos"])])
    return LossBound(
        **columns,
        floors=floors,
        least_risk=facts["least_risk"],
        frontier=frontier,
        stopped=facts["stopped"],
    )


def read_weights(facts: Mapping[str, Any]) -> LossWeights:
    """Read the weights of the loss's parts and of the columns."""
    importance = facts["importance"]
    return LossWeights(facts["loss_weight"], None if importance is None else tuple(importance))


def constraint_facts(constraints: Constraints) -> dict[str, Any]:
    values = {one.name: getattr(constraints, one.name) for one in fields(Constraints)}
    return {
        name: pack_bits(value).hex() if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


def read_constraints(facts: Mapping[str, Any], n_bits: int) -> Constraints:
    values = {one.name: facts[one.name] for one in fields(Constraints)}
    for name in ("required", "forbidden"):
        if values[name] is not None:
            values[name] = unpack_bits(bytes.fromhex(values[name]), n_bits)
    return Constraints(**values)
