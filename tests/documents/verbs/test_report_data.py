"""Examples of `verbs/report_data`."""

from __future__ import annotations

from voile.documents.verbs.report_data import format_count


def test_examples_of_counted():
    assert (format_count(1, "pass", "passes"), format_count(1200, "word")) == (
        "1 pass",
        "1,200 words",
    )
