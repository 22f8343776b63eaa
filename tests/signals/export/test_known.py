"""Maps given side columns, in C and JavaScript: the bits that they have in Python."""

from __future__ import annotations

import functools
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.signals.channel.ends import COLUMNS, SECRET, reply_of
from tests.signals.export.an_end import ALL, EndError
from tests.signals.export.exported import ENDS, in_python, packed, unpacked, write, write_tables
from tests.signals.maps.test_conditional_map import growing
from tests.signals.sequences.test_known_sessions import codec as of_visits

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, SignalsWarning
from voile.signals.channel import Recipient
from voile.signals.channel.keys import DeviceKey, Enrolled
from voile.signals.channel.posts import Post
from voile.signals.channel.recipient import READINGS, Subject
from voile.signals.codec.codec import Codec
from voile.signals.codec.conditional import Conditional
from voile.signals.codec.side import NumberGrid
from voile.signals.codec.steps import Affine, Bend
from voile.signals.export.record import device_record
from voile.signals.export.tables import FixedTables
from voile.signals.maps.stored import mark_of

EACH = pytest.mark.parametrize("end", ENDS)
NAMES = np.array(["f", "m"])


@functools.cache
def codec():
    """A map of which one class alone has a frame of its own in the side columns."""
    X, c, known = growing(3000, 1)
    known[::50, 0] = None
    mine = c == "high"
    X[mine, 0] = np.round(X[mine, 0] + 0.3 * (np.array(known[mine, 0], dtype=float) - 10), 1)
    X = np.where(np.isnan(X), 40.0, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        return PrivacyMap(base="normal", random_state=1).fit(X, c, known=known).codec_


def given(n, seed):
    """Readings, known columns as Python has them and as an end has them, classes, draws."""
    rng = np.random.default_rng(seed)
    X, c, known = growing(n, seed)
    known[:, 0] = rng.integers(-3, 30, n)
    known[rng.random(n) < 0.05, 0] = None
    known[:, 1] = rng.choice(["f", "m", "x", None], n)
    level = {"f": 0, "m": 1, "x": 2, None: np.nan}
    beside = np.stack([known[:, 0].astype(float), [level[one] for one in known[:, 1]]], axis=1)
    draws = rng.integers(0, 2**64, (n, 2), dtype=np.uint64)
    return np.searchsorted(codec().classes, c), X, draws, known, beside


def tables():
    return FixedTables.of(codec(), mark_of(codec()))


def test_the_classes_of_this_map_differ_in_how_many_frames_they_have():
    frames = [sum(isinstance(one, Conditional) for one in steps) for steps in codec().steps]
    assert len(set(frames)) == 2
    assert len({len(plan) for plan in tables().plans}) == 1


@EACH
@pytest.mark.parametrize("n", [20_000, pytest.param(1_000_000, marks=pytest.mark.whole)])
def test_every_reading_has_the_bits_that_it_has_in_python(end, n, tmp_path):
    which, X, draws, known, beside = given(n, n)
    folder = write_tables(tmp_path / "kit", tables())
    sent, Z, read, back = unpacked(ENDS[end](folder, packed(which, X, draws, beside)), 2)
    twin = in_python(codec(), which, X, draws, known)
    assert not sent.any()
    assert Z.tobytes() == twin.tobytes()
    beyond = codec().outside(X, codec().classes[which], farthest=8.0, known=known).any(axis=1)
    assert ((read == 5) == beyond).all()
    assert beyond.mean() < 0.05
    assert back[~beyond].tobytes() == X[~beyond].tobytes()


@EACH
def test_a_known_column_that_is_off_its_lattice_is_refused_and_another_decodes_to_another(
    end, tmp_path
):
    folder = write_tables(tmp_path / "kit", tables())
    which, X, draws, _, beside = given(400, 5)
    for wrong in (0.5, np.inf, 1e300):
        off = beside.copy()
        off[:, 0] = wrong
        sent, Z, *_ = unpacked(ENDS[end](folder, packed(which, X, draws, off)), 2)
        assert (sent == 17).all()
        assert not Z.any()
    older = beside.copy()
    older[:, 0] += 6
    one, other = (
        unpacked(ENDS[end](folder, packed(which, X, draws, k)), 2)[1] for k in (beside, older)
    )
    inside = (beside[:, 0] > 2) & (beside[:, 0] < 12)
    assert (one[inside] != other[inside]).all()


@pytest.fixture(scope="module", params=ALL)
def made(request, tmp_path_factory):
    one = ALL[request.param](write(tmp_path_factory.mktemp("kit"), of_visits(memory=False)))
    yield one
    one.close()


def record(known, label="yes"):
    of, key = of_visits(memory=False), DeviceKey.derive(SECRET, "A", 1)
    return device_record(Enrolled("A", "A", key), of, of.which(label), known)


def clinic(folder, known):
    subjects = {"A": Subject("yes", "Anna", known=known)}
    return Recipient(folder, of_visits(memory=False), subjects, COLUMNS, SECRET)


@pytest.mark.parametrize("known", [(7.0, "f"), (None, "m"), (9.0, "of another sex"), (8.0, None)])
def test_an_end_sends_with_the_known_columns_of_its_record_and_no_other_are_taken(
    made, known, tmp_path
):
    rows = [(110.5, 28.1), (111.0, 27.9)]
    made.open("one", record(known))
    with clinic(tmp_path / "wrong", (known[0], "another")) as at:
        made.send("one", rows[0])
        (reply,) = at.turn([Post("A", made.post("one"))])
        assert reply_of(reply).refused == "known"
        with pytest.raises(EndError, match="refused"):
            made.hear("one", reply.payload)
    with clinic(tmp_path / "clinic", known) as at:
        for again in (False, True):
            if again:
                made.send("one", rows[1])
            (reply,) = at.turn([Post("A", made.post("one"))])
            made.hear("one", reply.payload)
    lines = map(json.loads, (tmp_path / "clinic" / READINGS).read_text().splitlines())
    assert [(one["height"], one["weight"]) for one in lines] == rows


def test_a_state_begun_with_other_known_columns_is_refused_and_dither_is_not_the_same(made):
    made.open("one", record((7.0, "f")))
    made.send("one", (110.5, 28.1))
    state = made.stored
    made.open("same", record((7.0, "f")), state)
    with pytest.raises(EndError, match="state"):
        made.open("older", record((8.0, "f")), state)
    with pytest.raises(EndError, match="record"):
        made.open("forged", record((7.0, "f"))[:-40] + bytes(40))


def test_records_of_all_are_of_one_length_and_tables_small():
    sizes = {len(record(known)) for known in ((7.0, "f"), (None, None))}
    assert sizes == {149 + 16 + 32}
    assert tables().size < 64 << 10


@pytest.mark.parametrize(("part", "value"), [("tables", 1 << 36), ("tables", -(1 << 36))])
def test_a_forged_frame_beyond_what_doubles_hold_is_refused(part, value):
    steps = [list(one) for one in codec().steps]
    place = next(i for i, one in enumerate(steps[0]) if isinstance(one, Conditional))
    forged = np.full_like(steps[0][place].tables, value)
    steps[0][place] = replace(steps[0][place], **{part: forged})
    bad = replace(codec(), steps=tuple(map(tuple, steps)))
    with pytest.raises(RequestError, match="out of range"):
        FixedTables.of(bad, mark_of(bad))


def test_a_nominal_column_is_refused():
    nominal = PrivacyMap(random_state=0).fit(
        np.array([[["a", "b"][i % 3 == 0], 1.0 + i % 7] for i in range(400)], dtype=object),
        np.arange(400) % 2,
    )
    with pytest.raises(RequestError, match="nominal"):
        FixedTables.of(Codec.from_arrays(nominal.codec_.to_arrays()), "0" * 16)


@pytest.mark.parametrize(
    "forge",
    [
        lambda one: Affine(np.eye(1), np.zeros(1)) if isinstance(one, Affine) else one,
        lambda one: Bend(one.x[:1], one.y[:1]) if isinstance(one, Bend) else one,
        lambda one: (
            replace(one, levels=np.ones_like(one.levels), tables=one.tables[:, : len(one.terms)])
            if isinstance(one, Conditional)
            else one
        ),
        lambda one: (
            replace(one, terms=one.terms - [[2, 0]]) if isinstance(one, Conditional) else one
        ),
        lambda one: replace(one, widths=one.widths * 0) if isinstance(one, Conditional) else one,
    ],
    ids=["affine", "bend", "levels", "terms", "widths"],
)
def test_a_forged_map_of_other_columns_is_refused_since_an_end_would_read_beyond_it(forge):
    steps = tuple(tuple(map(forge, each)) for each in codec().steps)
    bad = replace(codec(), steps=steps)
    with pytest.raises(RequestError, match="other columns"):
        FixedTables.of(bad, "0" * 16)


@pytest.mark.parametrize("part", ["width", "nodes"])
def test_a_forged_grid_of_nothing_is_refused(part):
    side = tuple(
        replace(one, **{part: 0}) if isinstance(one, NumberGrid) else one for one in codec().side
    )
    bad = replace(codec(), side=side)
    with pytest.raises(RequestError):
        FixedTables.of(bad, "0" * 16)
