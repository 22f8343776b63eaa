"""Limit the rows of each person by keyed codes, so that the order of a file has no influence."""

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
"""The maximum rows of a person, by type or table and by person. None keeps all rows."""


def code_rows(secret: Secret, rows: Iterable[Mapping[str, Any]]) -> NDArray[np.uint64]:
    """Return a keyed code of the content of each row. Equal rows have equal codes."""
    texts = (json.dumps(row, sort_keys=True, default=str).encode() for row in rows)
    return tokens_of(secret.derive("row order"), texts)


@dataclass
class RowLimits:
    """Limits on the rows of a person. Those with the smallest codes are kept.

    First call `consider` for each row, then `keeps`. Memory: the codes of the kept rows.
    """

    most: MostRows
    secret: Secret = field(repr=False)
    _least: dict[tuple[str, Any], list[int]] = field(
        default_factory=lambda: defaultdict(list), repr=False
    )
    _kept: Counter[tuple[str, Any]] = field(default_factory=Counter, repr=False)

    def consider(self, kind: str, person: Any, row: Mapping[str, Any]) -> None:
        """Count a row that may be kept."""
        most = self.most(kind, person)
        if most is not None:
            codes = self._least[kind, person]
            insort(codes, self._code(row))
            del codes[most:]

    def keeps(self, kind: str, person: Any, row: Mapping[str, Any]) -> bool:
        """Return whether a row is kept. The first of equal rows are kept."""
        most = self.most(kind, person)
        if most is None:
            return True
        codes, own = self._least[kind, person], (kind, person)
        stays = self._kept[own] < most and (len(codes) < most or self._code(row) <= codes[-1])
        self._kept[own] += stays
        return stays

    def _code(self, row: Mapping[str, Any]) -> int:
        return int(code_rows(self.secret, [row])[0])
