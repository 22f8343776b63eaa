"""From a source with roles to readings, their classes and whose they are."""

from voile.signals.readings.forms import Form, ReadingSettings
from voile.signals.readings.merging import PrivateSettings
from voile.signals.readings.sources import Reading, Rows, Seen

__all__ = [
    "Form",
    "PrivateSettings",
    "Reading",
    "ReadingSettings",
    "Rows",
    "Seen",
]
