"""The sentence on a column of readings that `fit` withholds."""

from __future__ import annotations

from collections.abc import Mapping


def describe_withheld(column: str, found: Mapping[str, float]) -> str:
    """Return that a column is withheld, and how well an adversary infers the class with it."""
    return (
        f"withheld {column}: with it an adversary infers the class with balanced accuracy "
        f"{found['balanced']:.2f} ({found['chance']:.2f} by chance)"
    )
