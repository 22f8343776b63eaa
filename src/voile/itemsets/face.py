"""The public `fit` and `assess`, with the options of `voile itemsets fit` and `assess`."""

from __future__ import annotations

from voile.face.assessment import assess_of
from voile.face.verbs import fit_of
from voile.itemsets.module import ITEMSETS

fit = fit_of(ITEMSETS)
assess = assess_of(ITEMSETS, ITEMSETS.assessing)
