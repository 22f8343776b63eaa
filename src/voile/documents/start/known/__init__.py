"""Values of columns beside the notes: names, numbers, days, places, in all their forms."""

from voile.documents.start.known.columns import KINDS, columns_left_out
from voile.documents.start.known.known_values import KnownValues, KnownValuesWarning

__all__ = ["KINDS", "KnownValues", "KnownValuesWarning", "columns_left_out"]
