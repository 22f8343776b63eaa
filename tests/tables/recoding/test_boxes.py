"""What a release shows of a tree: its boxes, disjoint, each with the rows that are in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import TamperedError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.fitting.trees.ground import TreeGround, TreeGrowth
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.people.counts import CombinationCounts, Constraints, distinct_rows
from voile.tables.policies.family import finest_cuts
from voile.tables.recoding.boxes import BoxCodebook, read_codebook
from voile.tables.recoding.generalise import generalise
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.published_boxes import PublishedBoxes
from voile.tables.trees.climbing import climb
from voile.tables.trees.policy import TreePolicy

DOMAINS = (
    ValueDomain("age", tuple(range(30, 48)), CellParser("integer")),
    ValueDomain("dose", (1, 4, 5, 20, 33, 70, None), CellParser("integer")),
    ValueDomain("zip", ("37010", "37011", "37020", "38001", "38110"), CellParser("text")),
    ValueDomain("job", ("clerk", "nurse", "judge", "miner"), CellParser("text")),
    ValueDomain(
        "born", ("1990-01-05", "1990-03-01", "1991-07-07", "2001-02-03"), CellParser("date")
    ),
)


def people(seed, rows=60):
    """Make rows of positions, far from even."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(len(d), rows, p=rng.dirichlet(np.ones(len(d)))) for d in DOMAINS]
    return np.column_stack(columns).astype(np.int32)


def policy_of(codes, k=3, links=0):
    sizes = tuple(len(d) for d in DOMAINS)
    own, n = distinct_rows(codes, np.ones(len(codes)), sizes)
    counts = CombinationCounts(sizes, own, n, n.copy(), np.zeros((len(n), 0)))
    nullable = tuple(d.nullable for d in DOMAINS)
    ground = TreeGround(counts, Constraints(k=k), nullable=nullable)
    grown = grow_tree(ground, TreeGrowth(0.0, 0.5, 0.5), loss_weight=0.5)
    return TreePolicy(DOMAINS, grown.tree, 0, min(links, len(grown.risk) - 1))


def publish(policy, codes, k=3, *, bounds=False):
    tree, leaf = policy.pruned_tree, policy.pruned_tree.place(codes)
    n = np.bincount(leaf, minlength=len(tree))
    stands = climb(tree, n > 0, lambda leaves: n[leaves].sum() >= k)
    seen = [np.isin(np.arange(len(d)), own) for d, own in zip(DOMAINS, codes.T, strict=True)]
    used = np.where(n > 0, stands, -1)[tree.leaves]
    return PublishedBoxes.of(policy, seen, used, bounds=bounds)


def raw(codes):
    return pa.table(
        {
            d.column: pa.array(
                [None if d.values[i] is None else str(d.values[i]) for i in own], pa.string()
            )
            for d, own in zip(DOMAINS, codes.T, strict=True)
        }
    )


def written(published, codes):
    numbers = published.policy.numbers_of(codes)
    columns = {}
    for coded, own in zip(published.codebook.columns, numbers.T, strict=True):
        arrays = published.write_cells(coded.column, own)
        columns |= dict(zip(coded.released, arrays, strict=True))
    return pa.table(columns)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30), st.booleans())
def test_rows_that_fit_a_released_label_number_k_on_people_that_the_kit_never_met(seed, links, new):
    codes = people(seed)
    policy = policy_of(codes, links=links)
    released = people(seed + 1) if new else codes
    published = publish(policy, released)
    book = read_codebook(published.codebook.to_data())
    assert isinstance(book, BoxCodebook)
    assert book.are_disjoint
    shown = book.released_codes(written(published, released))
    assert (shown == book.recode(raw(released))).all()
    assert (shown == published.codes_of(released)).all()
    assert (shown == book.codes_of(DOMAINS, released)).all()
    _, sizes = np.unique(shown, axis=0, return_counts=True)
    assert sizes.min() >= 3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_bounds_say_the_same_as_labels(seed):
    codes = people(seed)
    codes[:, 1] %= len(DOMAINS[1]) - 1  # a missing value has no bounds
    policy = policy_of(codes)
    labels, bounds = publish(policy, codes), publish(policy, codes, bounds=True)
    by_bounds = bounds.codebook.released_codes(written(bounds, codes))
    by_label = labels.codebook.released_codes(written(labels, codes))
    assert (by_bounds == by_label).all()


def test_nothing_of_values_that_no_released_row_has_is_shown():
    codes = people(4)
    policy = policy_of(codes)
    released = codes[(codes[:, 2] != 1) & (codes[:, 3] != 2)]
    text = str(publish(policy, released).codebook.to_data())
    assert "37011" not in text
    assert "judge" not in text


def test_a_register_that_lacks_a_column_knows_what_all_boxes_that_fit_share():
    codes = people(4)
    published = publish(policy_of(codes), codes)
    book = published.codebook
    whole = book.register_codes(raw(codes[:, :]))
    part = book.register_codes(raw(codes).drop(["age"]))
    known = part >= 0
    missing = codes[:, 1] == len(DOMAINS[1]) - 1  # which a register takes for not known
    assert (part[known] == whole[known])[~np.repeat(missing, known.sum(1))].all()
    assert known.any()
    assert not known.all()


def test_a_stranger_to_all_released_boxes_agrees_with_none():
    codes = people(4)
    book = publish(policy_of(codes), codes).codebook
    table = raw(codes[:1]).set_column(3, "job", pa.array(["king"]))
    assert book.recode(table).tolist() == [[len(c.entries) for c in book.columns]]


def test_labels_that_are_no_box_together_are_refused():
    codes = people(4)
    published = publish(policy_of(codes), codes)
    book = published.codebook
    every = product(*(range(len(column.entries)) for column in book.columns))
    stray = next(box for box in every if box not in book.boxes)
    row = {
        column.column: [column.entries[i].label]
        for column, i in zip(book.columns, stray, strict=True)
    }
    with pytest.raises(TamperedError, match="boxes"):
        book.released_codes(pa.table(row))


def test_boxes_that_share_a_combination_are_found():
    codes = people(4)
    book = publish(policy_of(codes), codes).codebook
    age = book.columns[0]
    wide = type(age.entries[0])("any", None, None)

    columns = (replace(age, entries=(*age.entries, wide)), *book.columns[1:])
    boxes = (*book.boxes, (len(age.entries), *book.boxes[0][1:]))
    assert book.are_disjoint
    assert not replace(book, columns=columns, boxes=boxes).are_disjoint


def test_a_frame_is_generalised_by_a_tree_as_by_bits():
    codes = people(4)
    policy = policy_of(codes)
    made = generalise(policy, raw(codes), keep_order=True)
    expected = written(publish(policy, codes, k=1), codes)
    assert made.to_pydict() == {name: expected[name].to_pylist() for name in made.column_names}


BEYOND = {"age": ("-7", "300"), "dose": ("-1", "9999"), "born": ("1901-01-01", "2030-01-01")}


@pytest.mark.parametrize("family", ["tree", "global"])
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 30))
def test_the_outermost_intervals_of_a_scale_cover_all_that_lies_beyond(family, seed, links):
    """An interval of one value is that value; any other with an end of the rows is open there."""
    codes = people(seed)
    policy = policy_of(codes, links=links)
    if family == "tree":
        book = publish(policy, codes).codebook
    else:
        seen = [np.isin(np.arange(len(d)), own) for d, own in zip(DOMAINS, codes.T, strict=True)]
        book = PublishedPolicy.of(finest_cuts(policy), seen).codebook
    for domain, own in zip(DOMAINS, codes.T, strict=True):
        if domain.column not in BEYOND:
            continue
        shown = [i for i in np.unique(own) if domain.values[i] is not None]
        ends = [str(domain.values[i]) for i in (shown[0], shown[-1])]
        column = book.column(domain.column)
        held, _ = column.membership(
            pa.array([*ends, *BEYOND[domain.column]]), blank_is_unknown=True
        )
        for entry, (low, high, below, above) in zip(column.entries, held, strict=True):
            one = entry.first is not None and entry.first == entry.last
            assert one or (not low or below)
            assert one or (not high or above)
