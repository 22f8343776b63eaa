"""Readings with a relation, made by a generator: sums, products, powers, changes of unit."""

from __future__ import annotations

import numpy as np

KINDS = ("sum", "difference", "mean", "product", "ratio", "square", "unit", "root")
MORE = (*KINDS, "percent", "surface", "logarithm", "cube")


def related(seed, n=1500, *, known=False, noise=0.0, kinds=KINDS):
    """Return readings whose last column follows from the others, side columns or None, classes.

    The class shifts both parts. With `known` the second part is a side column. `noise` is added to
    the derived column before it is rounded, in its cells.
    """
    rng = np.random.default_rng(seed)
    kind = kinds[seed % len(kinds)]
    c = rng.integers(0, 2, n)
    a = rng.normal(60 + 9 * c, 8).clip(20)
    b = rng.normal(150 - 5 * c + 0.3 * (a - 60), 7).clip(80)
    places = int(rng.integers(0, 2))
    a, b = np.round(a, places), np.round(b, 0)
    made = {
        "sum": a + b,
        "difference": b - a,
        "mean": (2 * a + b) / 3,
        "product": a * b / 100,
        "ratio": 100 * a / b,
        "square": 1e4 * a / b**2,
        "unit": 1.8 * a + 32,
        "root": np.sqrt(a * b) / 2,
        "percent": 100 * (b - a) / b,
        "surface": 0.7184 * a**0.425 * b**0.725,
        "logarithm": 100 * np.log(a),
        "cube": a**3 / 1000,
    }[kind]
    digits = 1 if kind in ("ratio", "square", "mean", "unit", "surface") else 0
    derived = np.round(made + noise * 10.0**-digits * rng.normal(size=n), digits)
    if known:
        return np.stack([a, derived], axis=1), b[:, None], c
    return np.stack([a, b, derived], axis=1), None, c
