"""All files that the tests damage and read again, by name."""

from __future__ import annotations

from tests.hostile.children import Target
from tests.hostile.own_files import OWN
from tests.hostile.sources import SOURCES

TARGETS: dict[str, Target] = {**SOURCES, **OWN}
