"""Examples of `theory/counts`."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.counts import Confusion


def test_examples_of_confusion():
    counts = Confusion(tp=1, fp=50, tn=850, fn=99)
    assert (counts.n, counts.alpha, counts.harmless) == (1000, Fraction(1, 10), 900)
