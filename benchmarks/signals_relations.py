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
from tests.signals.related import MORE, related

from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.attack.attackers import learners
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency

FITTED, LEARNED = 0.5, 0.8  # shares of people: the map's, and those up to the attacker's
SEEDS = 2
FRESH = 131_700  # the first seed of the generator; no choice was made on these tables
NOISE = 0.5  # cells, added to the derived column of every other relation
UNRELATED_SEEDS = 5


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
    yield RelatedCase("adults: BMI, weight (no relation)", X[:, :2], c)
    rng = np.random.default_rng(0)
    c = (rng.random(2000) < 0.4).astype(int)
    high = np.round(rng.normal(124 + 18 * c, 12))
    low = np.round(rng.normal(77 + 7 * c, 8))
    yield RelatedCase("pulse pressure", np.stack([high, low, high - low], axis=1), c)
    weight = np.round(rng.normal(66 + 12 * c, 9), 1)
    heaped = np.where(rng.random(2000) < 0.4, np.round(weight), weight)
    yield RelatedCase("weight, 40% on whole kilograms", heaped[:, None], c)


def generated() -> Iterator[RelatedCase]:
    """Return a relation of each kind of a generator, a third of them with a known column."""
    for place, kind in enumerate(MORE):
        noise, known = NOISE * (place % 2), place % 3 == 2
        X, K, c = related(FRESH + place, 3000, known=known, noise=noise, kinds=MORE)
        with_known = ", part known" if known else ""
        with_noise = f", noise {noise:g} cells" if noise else ""
        yield RelatedCase(f"generated: {kind}{with_known}{with_noise}", X, c, K)


def unrelated() -> str:
    """Show what messages of readings without a relation reveal, by both maps in one run."""
    lines = [
        "| no relation | map | bits, neighbours | messages, balanced |",
        "| --- | --- | --- | --- |",
    ]
    for case in cases():
        if "no relation" not in case.name:
            continue
        for name, relations in (("plain", None), ("default", {})):
            found = [measure_messages(case, seed, relations) for seed in range(UNRELATED_SEEDS)]
            (bits, balanced), (b, r) = np.mean(found, axis=0), np.std(found, axis=0)
            lines.append(
                f"| {case.name} | {name} | {bits:.3f} (sd {b:.3f}) | {balanced:.3f} (sd {r:.3f}) |"
            )
    return "\n".join(lines)


def measure_messages(case: RelatedCase, seed: int, relations: object) -> tuple[float, float]:
    """Return bits and the best learner's balanced accuracy of people whom no map has seen."""
    order = np.random.default_rng(seed).permutation(len(case.X))
    fitted, rest = np.split(order, [len(order) // 2])
    map = PrivacyMap(random_state=seed, relations=relations).fit(case.X[fitted], case.c[fitted])
    Z, c, half = map.encode(case.X[rest], case.c[rest]), case.c[rest], len(rest) // 2
    found = learners(Z[:half], c[:half], Z[half:], c[half:], seed)
    bits = mutual_information(Z, c, permutations=0).bits
    return bits, max(one.balanced for one in found)


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


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    save(
        "signals_relations",
        "Balanced accuracy of an adversary who decodes each message under every class, and\n"
        "of the best of four learners on messages. The people are new to the map and to the\n"
        f"adversary. 95% intervals. Means of {SEEDS} seeds, or of one seed if a generator\n"
        "makes the relation. *Plain* lifts no relation.",
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
        f"{unrelated()}\n\n{UNRELATED_SEEDS} seeds, maps fitted to half of the people.\n\n"
        f"{yardstick()}",
    )


if __name__ == "__main__":
    main()
