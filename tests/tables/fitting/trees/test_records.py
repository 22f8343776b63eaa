"""Trees of people's records: who has as many rows, and boxes narrowed in a person's other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from voile.tables.domains.domain import build_domain
from voile.tables.domains.parser import CellParser
from voile.tables.fitting.forests import ground_of
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.forest import growths
from voile.tables.fitting.trees.ground import TreeGrowth
from voile.tables.fitting.trees.growing import grow_trees
from voile.tables.fitting.trees.record_grounds import record_grounds
from voile.tables.people.counts import Constraints
from voile.tables.people.records import PersonRows
from voile.tables.trees.person_policy import PersonPolicy

GROWTH = TreeGrowth(4.0, 0.5, 0.5)


def rows_of(counts):
    """Return rows of people with so many rows each, of one column."""
    domain = build_domain("age", range(9), CellParser("integer"))
    who = [f"p{i}" for i, many in enumerate(counts) for _ in range(many)]
    age = np.random.default_rng(len(who)).integers(0, 9, len(who))
    table = pa.RecordBatch.from_pydict({"who": who, "age": age})
    return PersonRows.of([domain], "who", [(table, np.arange(len(who)))])


def naive_numbers(counts, k, allowed=None):
    """Move people down from the most rows, one number at a time."""
    held = {}
    for many in counts:
        fits = [one for one in (allowed or set(counts)) if one <= many]
        if fits:
            held[max(fits)] = held.get(max(fits), 0) + 1
    shared, waiting = [], 0
    for number in sorted(allowed or set(counts), reverse=True):
        waiting += held.get(number, 0)
        if waiting >= k:
            shared, waiting = [number, *shared], 0
    return tuple(shared)


@pytest.mark.parametrize("seed", range(30))
def test_shared_numbers_are_those_of_a_naive_count(seed):
    rng = np.random.default_rng(seed)
    counts = (1 + rng.geometric(0.4, 40)).tolist()
    k = int(rng.integers(1, 8))
    people = rows_of(counts)
    numbers = people.shared_numbers(k)
    assert numbers == naive_numbers(counts, k)
    allowed = sorted(set(rng.integers(1, 7, 3).tolist()))
    assert people.shared_numbers(k, allowed) == naive_numbers(counts, k, allowed)
    records = list(people.records(numbers))
    assert all(len(one.rows) >= k for one in records)
    taken = np.concatenate([one.rows.ravel() for one in records])
    assert len(np.unique(taken)) == len(taken)


def space_of(seed, k=4, people=120):
    """Return a space of two columns, the second of which a person keeps, and her rows."""
    rng = np.random.default_rng(seed)
    many = rng.integers(1, 4, people)
    born = np.repeat(rng.integers(0, 40, people), many)
    day = rng.integers(0, 30, len(born))
    who = np.repeat([f"p{i}" for i in range(people)], many)
    table = pa.table({"who": who, "day": day, "born": born})
    space = PolicySpace.of(
        table, quasi=["day", "born"], subject="who", constraints=Constraints(k=k), loss="weighted"
    )
    batch = table.combine_chunks().to_batches()[0]
    return space, PersonRows.of(space.domains, "who", [(batch, np.arange(len(batch)))])


@pytest.mark.parametrize("seed", range(6))
def test_boxes_part_people_and_each_policy_keeps_k(seed):
    space, people = space_of(seed)
    numbers = people.shared_numbers(4)
    grounds = record_grounds(people, numbers, ground_of(space))
    grown = grow_trees(grounds, GROWTH, loss_weight=0.5)
    for links in (0, len(grown.risk) // 2, len(grown.risk) - 1):
        policy = PersonPolicy(space.domains, numbers, grown.trees, 0, links)
        least = []
        for records, tree in zip(people.records(numbers), policy.pruned_trees, strict=True):
            assert tree.is_whole
            box = tree.place(records.codes)
            low, high = (ends[box] for ends in tree.bounds)
            assert ((low <= records.codes) & (records.codes <= high)).all()
            least.append(np.unique(box, return_counts=True)[1].min())
        assert min(least) == pytest.approx(grown.smallest[links])
        assert min(least) >= 4
        assert 1 / min(least) == pytest.approx(grown.largest[links])


def resolution(policy, people, numbers):
    """Return the entropy lost within groups of a box and a place, in plain NumPy."""
    lost = np.zeros(people.codes.shape[1])

    def nats(values):
        counts = np.unique(values, return_counts=True)[1]
        return len(values) * np.log(len(values)) - (counts * np.log(counts)).sum()

    for records, tree in zip(people.records(numbers), policy.pruned_trees, strict=True):
        box = tree.place(records.codes)
        places = records.codes.reshape(len(box), records.number, -1)
        for one in np.unique(box):
            for place in range(records.number):
                lost += [nats(column) for column in places[box == one, place].T]
    whole = np.array([nats(column) for column in people.codes.T])
    dropped = 1 - sum(records.rows.size for records in people.records(numbers)) / len(people.row)
    return (lost / whole).mean() + dropped


def test_resolution_is_that_of_rows_within_a_box_and_a_place():
    space, people = space_of(7)
    numbers = people.shared_numbers(4)
    grown = grow_trees(record_grounds(people, numbers, ground_of(space)), GROWTH, loss_weight=0.5)
    for links in (0, 5, len(grown.risk) - 1):
        policy = PersonPolicy(space.domains, numbers, grown.trees, 0, links)
        assert grown.resolution[links] == pytest.approx(resolution(policy, people, numbers))


def test_a_cut_of_what_a_person_keeps_narrows_all_her_rows():
    space, people = space_of(8)
    numbers = people.shared_numbers(4)
    grounds = record_grounds(people, numbers, ground_of(space))
    grown = grow_trees(grounds, growths(0.5)[0], loss_weight=0.5)
    tree = grown.trees[1]
    records = list(people.records(numbers))[1]
    boxes = np.unique(tree.place(records.codes))
    low, high = (ends[boxes] for ends in tree.bounds)
    born = high[:, 1::2] - low[:, 1::2]  # of both rows
    assert (born.max(axis=1) < len(space.domains[1]) - 1).all()
    plain = [replace(one, number=1) for one in grounds]  # as if rows were columns like others
    wide = grow_trees(plain, growths(0.5)[0], loss_weight=0.5)
    assert grown.ncp[0] < wide.ncp[0]
