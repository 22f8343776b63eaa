"""What the tests of exports share: lines of resources, and how days move."""

from __future__ import annotations

import json
from datetime import timedelta

from tests.study.made import SECRET

from voile.keys.pseudonyms import date_shift


def resources(folder, kind=None):
    for path in sorted(folder.glob("*.ndjson")):
        if kind in (None, path.stem):
            yield from map(json.loads, path.read_text().splitlines())


def shift(person, day):
    return day + timedelta(days=date_shift(SECRET, person, days=30))
