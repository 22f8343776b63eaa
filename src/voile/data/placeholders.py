"""The texts that people enter in a cell if the value is unknown."""

from __future__ import annotations

PLACEHOLDERS = frozenset(
    (
        *("", "-", "--", "?", ".", "na", "n/a", "n.a.", "#n/a", "nan", "null", "nil", "no data"),
        *("unknown", "missing", "not known", "k.a.", "k. a.", "keine angabe", "unbekannt", "fehlt"),
        *("n.b.", "s/d", "sin dato", "desconocido", "inconnu", "nc", "n.d.", "sconosciuto"),
        *("desconhecido", "onbekend"),
    )
)
"""Texts that represent a missing value, in lower case."""
