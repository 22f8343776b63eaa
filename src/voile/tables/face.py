"""Define the functions that users call, with the same options as `voile tables`."""

from __future__ import annotations

from voile.face.assessment import assess_of
from voile.face.verbs import fit_of, own_of
from voile.tables.module import TABLES

fit = fit_of(TABLES)
assess = assess_of(TABLES, TABLES.assessing)
show = own_of(TABLES, "show")
edit = own_of(TABLES, "edit")
