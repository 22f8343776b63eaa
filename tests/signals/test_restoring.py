"""What a forged message decodes to is never stored as a reading that nobody can have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.errors import TamperedError
from voile.signals.readings.forms import Form, ReadingSettings

NUMBER, MOOD = ReadingSettings(), ReadingSettings(ordinal=["low", "high"])
FORGED = [
    (NUMBER, 1e300),
    (NUMBER, -1e17),
    (NUMBER, np.inf),
    (MOOD, -1.0),
    (MOOD, 2.0),
    (MOOD, 1e9),
]


@pytest.mark.parametrize(("settings", "value"), FORGED)
def test_a_value_that_no_reading_has_is_refused(settings, value):
    form, blank = Form("mood", settings), np.array([False, True])
    type_ = pa.string() if settings.ordinal else pa.float64()
    whole = form.restored(np.array([1.0, np.nan]), blank, type_)
    assert whole.to_pylist() == ["high" if settings.ordinal else 1.0, None]
    with pytest.raises(TamperedError, match="a message decodes to what no reading is"):
        form.restored(np.array([value, np.nan]), blank, type_)
