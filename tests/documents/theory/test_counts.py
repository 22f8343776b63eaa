"""Examples of `theory/counts`."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.counts import TokenConfusion


def test_examples_of_confusion():
    counts = TokenConfusion(tp=1, fp=50, tn=850, fn=99)
    assert (counts.n, counts.alpha, counts.harmless) == (1000, Fraction(1, 10), 900)
