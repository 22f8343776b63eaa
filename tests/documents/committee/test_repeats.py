"""Examples of `committee/repeats`."""

from __future__ import annotations

from voile.documents.committee.repeats import _names_in


def test_examples_of_names_in():
    assert (_names_in("Núñez"), _names_in("nunez"), _names_in("ruiz_Wu")) == (
        (("nunez",), ("nunez",)),
        ((), ()),
        (("Wu",), ("ruiz", "Wu")),
    )
