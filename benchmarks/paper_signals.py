"""Aranki and Bajcsy 2015 at a small size: each theorem, and the experiment on made-up children."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from benchmarks.nhanes import three_svms
from benchmarks.paper_results import Result
from benchmarks.signals_data import entropy, generator
from numpy.typing import NDArray

from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.fitting.maps.registry import METHODS
from voile.signals.paper.affine import LearnedAffine

Floats = NDArray[np.float64]
Classes = NDArray[np.int64]
READINGS = {"tiny": 1_200, "small": 6_000}
CHILDREN = {"tiny": 2_000, "small": 3_355}
"""3,355 as in the paper."""
EVALUATIONS = {"tiny": 200, "small": 20_000}
FAMILIES = {
    "Theorem 2": "normal",
    "Theorem 3": "exponential",
    "Theorem 4": "gamma",
    "Theorem 5": "uniform",
}
UNDERWEIGHT = 1


def compute_results(number: str, size: str) -> Iterator[Result]:
    """Yield Theorems 1 to 5, then Tables 2 and 3."""
    warnings.simplefilter("ignore", SignalsWarning)
    for place, family in FAMILIES.items():
        yield from check_theorem(place, family, READINGS[size])
    yield from compare_maps(size)


def check_theorem(place: str, family: str, readings: int) -> Iterator[Result]:
    """Yield the bits about the class before and after a closed form."""
    X, c = draw_readings(family, readings)
    half = readings // 2
    fitted = PrivacyMap(method=family, random_state=0).fit(X[:half], c[:half])
    Z = fitted.encode(X[half:], c[half:])
    before = mutual_information(X[half:], c[half:], permutations=0).bits
    after = mutual_information(Z, c[half:], permutations=0).bits
    yield Result(
        place=f"{place}, Corollary 1",
        quantity=f"bits about the class in {family} messages (in readings)",
        paper="0",
        ours=f"{max(after, 0):.3f} ({before:.3f})",
    )
    wrong = int((fitted.decode(Z, c[half:]) != X[half:].reshape(Z.shape)).sum())
    yield Result(
        place="Section 3, decoding",
        quantity=f"{family} readings that the recipient decodes wrongly",
        paper="0",
        ours=str(wrong),
        exact=True,
    )


def draw_readings(family: str, readings: int) -> tuple[Floats, Classes]:
    """Draw readings of three classes, rounded to thousandths."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, 3, readings)
    scale, low = np.array([1.0, 2.0, 5.0])[c], np.array([3.0, -2.0, 7.0])[c]
    x = {
        "normal": rng.normal(low, scale),
        "exponential": rng.exponential(scale),
        "gamma": rng.gamma(2.5, scale),
        "uniform": rng.uniform(low, low + scale),
    }[family]
    least = 0.001 if family in ("exponential", "gamma") else -np.inf
    return np.maximum(np.round(x, 3), least), c


def compare_maps(size: str) -> Iterator[Result]:
    """Yield Tables 2 and 3: three SVMs on readings and on messages."""
    X, c = generator(CHILDREN[size], 0)
    known = np.arange(len(c)) < round(0.4 * len(c))
    maps = {
        "Table 2, no map": (None, ".8831", "47 of 61"),
        "Table 3, affine map by a genetic search": (
            LearnedAffine(optimiser="genetic", evaluations=EVALUATIONS[size]),
            ".6603",
            "48 of 61",
        ),
        "Table 3, transport (ours)": (METHODS["transport"], "", ""),
    }
    yield Result(
        place="Section 6.1",
        quantity="children, share of the most frequent class, H(C) in bits",
        paper="3,355, .6401",
        ours=f"{len(c):,}, {np.bincount(c).max() / len(c):.4f}, {entropy(c):.2f}",
    )
    for place, (method, accuracy, found) in maps.items():
        Z = X
        if method is not None:
            Z = PrivacyMap(method, random_state=0).fit(X[known], c[known]).encode(X, c)
        guess = three_svms(Z[known], c[known], Z[~known])
        own = c[~known] == UNDERWEIGHT
        bits = mutual_information(Z[~known], c[~known], permutations=0).bits
        for quantity, paper, ours in (
            ("accuracy of three SVMs", accuracy, f"{(guess == c[~known]).mean():.4f}"),
            (
                "underweight children recognised",
                found,
                f"{(guess[own] == UNDERWEIGHT).sum()} of {own.sum()}",
            ),
            ("bits about the class (Figures 2 and 3)", "", f"{max(bits, 0):.3f}"),
        ):
            yield Result(place=place, quantity=quantity, paper=paper, ours=ours)
