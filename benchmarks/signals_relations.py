"""What decoding under every class reveals, of readings with relations: lifted, and as before."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from benchmarks.data import folder
from benchmarks.tables import save, yardstick
from tests.signals.related import KINDS, related

from voile.signals import PrivacyMap, SignalsWarning
from voile.signals.attack.attackers import learners
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency

FITTED, LEARNED = 0.5, 0.8  # shares of people: the map's, and those up to the attacker's
SEEDS = 2
RELATIONS = 12
MILLION = 1_000_000


@dataclass(frozen=True, eq=False)
class RelatedCase:
    name: str
    X: np.ndarray
    c: np.ndarray
    known: np.ndarray | None = None


def cases() -> Iterator[RelatedCase]:
    table = pd.read_csv(folder("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz")
    sizes = ["BMXBMI", "BMXWT", "BMXHT"]
    children = table.dropna(subset=["BMDBMIC", *sizes])
    X, c = children[sizes].to_numpy(), children["BMDBMIC"].to_numpy().astype(int) - 1
    yield RelatedCase("children: BMI, weight, height", X, c)
    yield RelatedCase("children: BMI, weight; height known", X[:, :2], c, X[:, 2:])
    yield RelatedCase("children: BMI, weight (no relation)", X[:, :2], c)
    permuted = np.random.default_rng(0).permutation(c)
    yield RelatedCase("children: BMI, weight, height, classes permuted", X, permuted)
    adults = table[table["RIDAGEYR"] >= 20].dropna(subset=sizes)[:3000]
    X, c = adults[sizes].to_numpy(), adults["RIAGENDR"].to_numpy().astype(int) - 1
    yield RelatedCase("adults: BMI, weight, height; class: sex", X, c)
    rng = np.random.default_rng(0)
    c = (rng.random(2000) < 0.4).astype(int)
    high = np.round(rng.normal(124 + 18 * c, 12))
    low = np.round(rng.normal(77 + 7 * c, 8))
    yield RelatedCase("pulse pressure", np.stack([high, low, high - low], axis=1), c)
    weight = np.round(rng.normal(66 + 12 * c, 9), 1)
    heaped = np.where(rng.random(2000) < 0.4, np.round(weight), weight)
    yield RelatedCase("weight, 40% on whole kilograms", heaped[:, None], c)


def generated() -> Iterator[RelatedCase]:
    """Return twelve relations of a generator, a third of them with a known column."""
    for seed in range(RELATIONS):
        X, known, c = related(seed, 3000, known=seed % 3 == 2)
        with_known = ", part known" if known is not None else ""
        yield RelatedCase(f"generated: {KINDS[seed % len(KINDS)]}{with_known}", X, c, known)


def tried(case: RelatedCase, seed: int, relations: object) -> tuple[float, ...]:
    """Return balanced accuracies of consistency and of messages, and seconds of fit and attack."""
    order = np.random.default_rng(seed).permutation(len(case.X))
    fitted, rest = np.split(order, [int(FITTED * len(order))])

    def known(rows: np.ndarray) -> np.ndarray | None:
        return None if case.known is None else case.known[rows]

    began = time.process_time()
    map = PrivacyMap(random_state=seed, relations=relations)
    map.fit(case.X[fitted], case.c[fitted], known=known(fitted))
    between = time.process_time()
    Z = map.encode(case.X[rest], case.c[rest], known=known(rest))
    assert (map.decode(Z, case.c[rest], known=known(rest)) == case.X[rest]).all()
    beside = np.zeros((len(rest), 0)) if case.known is None else case.known[rest].astype(float)
    heard = DecodedMessages.of(map.codec_, Z, map.codec_.levels(known(rest), len(rest)), beside)
    c, half = case.c[rest], int((LEARNED - FITTED) / (1 - FITTED) * len(rest))
    people = np.arange(len(rest))
    (found,) = infer_by_consistency(heard, c, people[:half], [people[half:]], seed)
    ended = time.process_time()
    both = np.concatenate([Z, beside], axis=1)
    others = learners(both[:half], c[:half], both[half:], c[half:], seed)
    messages = max(one.balanced for one in others)
    figures = found.balanced, found.low, found.high, found.permuted, messages
    return *figures, between - began, ended - between


def rows() -> Iterator[tuple[str, ...]]:
    measured = [(case, SEEDS) for case in cases()] + [(case, 1) for case in generated()]
    for case, seeds in measured:
        shown = []
        for relations in (None, {}):
            figures = [tried(case, seed, relations) for seed in range(seeds)]
            balanced, low, high, permuted, messages, *_ = np.mean(figures, axis=0)
            shown += [f"{balanced:.2f} ({low:.2f}-{high:.2f})", f"{messages:.2f}"]
        seconds = np.mean([one[-2:] for one in figures], axis=0)
        chance = f"{1 / len(np.unique(case.c)):.2f}, permuted to {permuted:.2f}"
        yield (case.name, chance, *shown, *(f"{one:.1f}" for one in seconds))


def exact() -> str:
    """Count wrong readings of a million, with a relation and a known column."""
    X, known, c = related(5, 4000, known=True)
    map = PrivacyMap(random_state=0).fit(X, c, known=known)
    again = np.random.default_rng(0).integers(0, len(X), MILLION // 2)
    X, known, c = X[again], known[again], c[again]
    Z = map.encode(X, c, known=known)
    wrong = int((map.decode(Z, c, known=known) != X).sum())
    return f"{2 * len(X):,} readings with a relation and a known column: {wrong} decoded wrong."


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    save(
        "signals_relations",
        "Balanced accuracy of an adversary who decodes each message under every class, and of the\n"
        "best of four learners on messages, on people whom neither the map nor the adversary\n"
        f"learned from. 95% intervals; means of {SEEDS} seeds, of one where a generator makes the\n"
        "relation. 'plain' lifts no relation.",
        (
            "readings",
            "chance",
            "plain, consistency",
            "messages",
            "lifted, consistency",
            "messages",
            "fit, CPU s",
            "audit, CPU s",
        ),
        list(rows()),
        f"{exact()} {yardstick()}",
    )


if __name__ == "__main__":
    main()
