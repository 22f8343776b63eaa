"""The sum by which a release is held to its readings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.signals.clinic import applied, fitted, people, strongest, table_of

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.signals.model.codec.side import read_levels
from voile.signals.model.content import SignalsContent
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.forms import ReadingColumn, ReadingSettings
from voile.signals.verbs import apply as applying
from voile.signals.verbs.certify import (
    SignalsCertificate,
    _mix_bits,
    certify,
    fingerprint,
    messages,
)

NOWHERE = read_levels(None, (), 50)  # no side columns


@given(st.lists(st.floats(0, 100), min_size=4, max_size=12), st.data())
def test_a_fingerprint_knows_every_reading_and_its_row(values, data):
    table = np.array(values[: len(values) // 2 * 2]).reshape(-1, 2)
    numbers = np.arange(len(table))
    mark = fingerprint(numbers, table)
    order = np.array(data.draw(st.permutations(range(len(table)))))
    assert fingerprint(numbers[order], table[order]) == mark
    moved = table.copy()
    at = data.draw(st.integers(0, table.size - 1))
    moved.ravel()[at] = np.nextafter(moved.ravel()[at], np.inf)
    assert fingerprint(numbers, moved) != mark
    if (table[order] != table).any():
        assert fingerprint(numbers, table[order]) != mark


def test_bits_are_scattered_as_published():
    """The first numbers of SplitMix64 from 0 and from 1234567 (Vigna's splitmix64.c)."""
    found = _mix_bits(np.array([0, 1234567], np.uint64)).tolist()
    assert found == [0xE220A8397B1DCDAF, 6457827717110365317]


def test_a_certificate_is_the_same_however_rows_come_in_batches():
    table = np.random.default_rng(1).normal(size=(40, 2))
    sent = np.array([row for row in range(50) if row % 5])  # some are set aside
    which = sent % 2
    whole, parts, joined = SignalsCertificate(), SignalsCertificate(), SignalsCertificate()
    whole.add(np.arange(50), sent, which, table, NOWHERE.take(sent))
    for first in range(0, 50, 5):
        own, alone = sent // 5 == first // 5, SignalsCertificate()
        for one in (parts, alone):
            at = NOWHERE.take(sent[own])
            one.add(np.arange(first, first + 5), sent[own], which[own], table[own], at)
        joined.join(alone)
    for one in (whole, parts, joined):
        assert (one.sum, one.rows) == (fingerprint(sent, table), 40)
        assert np.concatenate(one.classes)[sent].tolist() == which.tolist()


def test_minus_zero_is_zero():
    zeros = np.zeros((1, 1))
    assert fingerprint(np.array([7]), -zeros) == fingerprint(np.array([7]), zeros)


def test_a_release_is_decoded_batch_by_batch_each_row_by_its_own_class(tmp_path):
    kit, source = fitted(), people()
    content, chosen = SignalsContent.of(kit), strongest(kit)
    codec = content.map(SignalsPolicy.from_data(chosen.policy, content.maps)).codec_
    release = applied(kit, tmp_path / "sent.parquet", chosen=chosen)
    readings = np.column_stack([source[name] for name in content.reader.columns])
    expected, all_rows = SignalsCertificate(), np.arange(240)
    which = np.searchsorted(codec.classes, source["ill"])
    expected.add(all_rows, all_rows, which, readings, codec.levels(None, 240))
    sent, rows = (
        open_source(pa.concat_tables(table.slice(at, 70) for at in range(0, 240, 70)))
        for table in (table_of(release.path), table_of(release.folder / "rows.parquet"))
    )
    certify(sent, rows, content.reader, codec, expected)
    expected.rows -= 1
    with pytest.raises(AssertionError, match="do not decode"):
        certify(sent, rows, content.reader, codec, expected)


def test_a_row_holds_a_whole_message_or_none():
    numbers, text = (
        ReadingColumn("a", ReadingSettings()),
        ReadingColumn("b", ReadingSettings(nominal=True)),
    )
    batch = pa.record_batch({"a": [1.5, None, 2.0], "b": ["u", None, None]})
    values, blank = messages(batch.slice(0, 2), [numbers, text])
    assert (values[0].tolist(), blank.tolist()) == ([1.5, "u"], [False, True])
    assert messages(batch, [numbers])[1].tolist() == [False, True, False]
    for torn in (batch, pa.record_batch({"a": ["1.5", "heavy"], "b": ["u", "v"]})):
        with pytest.raises(TamperedError, match="a cell of the release is not a message"):
            messages(torn, [numbers, text])


def moved(Z, labels):
    """One message decodes to another reading."""
    Z[7, 0] += 1
    return Z


def swapped(Z, labels):
    """Two people of one class have each other's messages."""
    a, b = np.flatnonzero(labels == labels[0])[:2]
    Z[[a, b]] = Z[[b, a]]
    return Z


def as_if_of_another_class(Z, labels):
    """One message is of the other class's map."""
    Z[3] = Z[np.flatnonzero(labels != labels[3])[0]]
    return Z


@pytest.mark.parametrize("spoil", [moved, swapped, as_if_of_another_class])
def test_what_would_decode_to_other_readings_is_not_published(tmp_path, monkeypatch, spoil):
    carried = applying.encode_carriable

    def spoilt(codec, table, labels, at, protective):
        Z, far = carried(codec, table, labels, at, protective)
        return spoil(Z.copy(), labels), far

    kit = fitted()
    with monkeypatch.context() as patch:
        patch.setattr(applying, "encode_carriable", spoilt)
        with pytest.raises(AssertionError, match="do not decode to the original readings"):
            applied(kit, tmp_path / "sent.csv")
    assert list(tmp_path.iterdir()) == []
    applied(kit, tmp_path / "sent.csv")
