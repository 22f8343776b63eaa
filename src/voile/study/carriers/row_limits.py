"""Fewer rows of each person, chosen by keyed codes: the order of a file has no influence."""

from __future__ import annotations

import json
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.keys.macs import tokens_of
from voile.keys.secret import Secret

MostRows = Callable[[str, Any], int | None]
"""The rows of a person that stay, by type or table and by person; None where all do."""


def code_rows(secret: Secret, rows: Iterable[Mapping[str, Any]]) -> NDArray[np.uint64]:
    """Return a keyed code of the content of each row: equal rows have equal codes."""
    texts = (json.dumps(row, sort_keys=True, default=str).encode() for row in rows)
    return tokens_of(secret.derive("row order"), texts)


@dataclass
class RowLimits:
    """Chooses the rows of a person with the least codes, up to the most rows.

    First `consider` each row, then ask for each whether it stays. Memory: the codes that stay.
    """

    most: MostRows
    secret: Secret = field(repr=False)
    _least: dict[tuple[str, Any], list[int]] = field(
        default_factory=lambda: defaultdict(list), repr=False
    )
    _kept: Counter[tuple[str, Any]] = field(default_factory=Counter, repr=False)

    def consider(self, kind: str, person: Any, row: Mapping[str, Any]) -> None:
        """Take a row that may stay into account."""
        most = self.most(kind, person)
        if most is not None:
            codes = self._least[kind, person]
            insort(codes, self._code(row))
            del codes[most:]

    def keeps(self, kind: str, person: Any, row: Mapping[str, Any]) -> bool:
        """Return whether a row stays. Of equal rows the first ones do."""
        most = self.most(kind, person)
        if most is None:
            return True
        codes, own = self._least[kind, person], (kind, person)
        stays = self._kept[own] < most and (len(codes) < most or self._code(row) <= codes[-1])
        self._kept[own] += stays
        return stays

    def _code(self, row: Mapping[str, Any]) -> int:
        return int(code_rows(self.secret, [row])[0])
