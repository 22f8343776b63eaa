"""Examples of `verbs/report_data`."""

from __future__ import annotations

from voile.documents.verbs.report_data import counted


def test_examples_of_counted():
    assert (counted(1, "pass", "passes"), counted(1200, "word")) == ("1 pass", "1,200 words")
