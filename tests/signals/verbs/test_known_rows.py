"""Rows of a table go from `send`'s reader to the clinic's file with their known columns."""

from __future__ import annotations

import pyarrow as pa
from tests.signals.channel.ends import SECRET
from tests.signals.verbs.test_known_columns import children, kit_of

from voile.data import open_source
from voile.signals.channel import Enrolment, Recipient, Sender
from voile.signals.channel.recipient import ClinicSubject
from voile.signals.model.content import SignalsContent
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.verbs.send import _SendRows
from voile.signals.verbs.subjects import subjects_in


def test_rows_are_sent_with_their_known_columns_missing_ones_too(tmp_path):
    content, table = SignalsContent.of(kit_of()), children().slice(0, 12)
    ages = [None, *table["age"].to_pylist()[1:]]
    table = table.set_column(1, "age", pa.array(ages, pa.int64()))
    source, codec = open_source(table), SequenceCodec.from_arrays(content.sequence)
    enrolment = Enrolment.of(SECRET, codec.mark, dict.fromkeys(table["id"].to_pylist(), 1))
    known = subjects_in(source, content.reader, content.classes, sides=True)
    subjects = {
        name: ClinicSubject(known[who].label, who, known=known[who].known)
        for who, name in enrolment.pseudonyms.items()
    }
    limits = [form.decoded_limits for form in content.reader.forms]
    device = Sender(tmp_path / "spool", codec, enrolment)
    clinic = Recipient(tmp_path / "clinic", codec, subjects, limits, SECRET)
    with device, clinic:
        device.take(_SendRows(content, enrolment.pseudonyms).of(source))
        device.turn(clinic.turn(device.turn()))
        assert (clinic.received + clinic.set_aside, device.has_waiting(), clinic.refused) == (
            12,
            False,
            {},
        )
