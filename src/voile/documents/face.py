"""The Python functions for users; their options are those of the command-line verbs."""

from __future__ import annotations

from voile.documents.module import DOCUMENTS
from voile.face.assessment import assess_of
from voile.face.verbs import fit_of, own_of

fit = fit_of(DOCUMENTS)
assess = assess_of(DOCUMENTS, DOCUMENTS.assessing)
accept = own_of(DOCUMENTS, "accept")
forecast = own_of(DOCUMENTS, "forecast")
init = own_of(DOCUMENTS, "init")
review = own_of(DOCUMENTS, "review")
