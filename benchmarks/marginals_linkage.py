"""What marginals add to a linkage: the matches of an adversary who weighs candidates by them."""

from __future__ import annotations

import numpy as np
from benchmarks.tables import save
from benchmarks.trees_adult import QUASI, K, adult, least_loss, shown
from numpy.typing import NDArray

from voile.report.suppression import FEW
from voile.tables.recoding.marginals import state_people
from voile.tables.recoding.runs import choose_cuts

SHARE, SEEDS, TIMES = 0.3, 3, (1, 2, 5)
NOTES = f"""The register is all of Adult, without errors. A tree releases {SHARE:.0%} of it,
k = {K}. People aged 40 and over are so many times likelier than others (mean of {SEEDS} samples).
Without marginals the adversary names, for each row, anybody of the register who fits its box. With
marginals she names one of the likeliest. The weight of a candidate is a product over all
columns: the people released over those registered in the run of the candidate's value. In both
cases she names at most one person of a box rightly, 1 in {K}. The risk that depends on k is
unchanged."""


def main() -> None:
    """Compare an adversary with marginals to one without, where inclusion is even and where not."""
    codes, sizes, _ = adult()
    rows = []
    for times in TIMES:
        found = [linked(codes, sizes, drawn(codes, times, seed)) for seed in range(SEEDS)]
        released, boxes, without, with_marginals = np.mean(found, axis=0)
        figures = (released, boxes, without, with_marginals)
        ratio = f"{with_marginals / without:.2f}"
        rows.append((str(times), *(f"{one:,.0f}" for one in figures), ratio))
    save(
        "marginals_linkage",
        "Adult, 13 quasi-identifiers: released people named rightly, expected.",
        ("times likelier", "released", "boxes", "without marginals", "with marginals", "ratio"),
        rows,
        NOTES,
    )


def drawn(codes: NDArray[np.int32], times: int, seed: int) -> NDArray[np.bool_]:
    """Draw who is released: people aged 40 and over so many times likelier."""
    older = codes[:, QUASI.index("age")] >= 40 - 17
    odds = np.where(older, float(times), 1.0)
    return np.random.default_rng(seed).random(len(codes)) < SHARE * odds / odds.mean()


def linked(
    codes: NDArray[np.int32], sizes: tuple[int, ...], released: NDArray[np.bool_]
) -> tuple[int, int, float, float]:
    """Return people and boxes, and the expected right names without marginals and with."""
    own = codes[released]
    tree = least_loss(own, sizes)
    boxes, place = shown(tree, own), tree.place(codes)
    n = np.bincount(place[released], minlength=len(tree))
    g = np.bincount(place, minlength=len(tree))
    ends, held = np.unique(np.hstack([boxes.low, boxes.high]), axis=0, return_counts=True)
    low, high = np.hsplit(ends.astype(np.int64), 2)
    weight = np.ones(len(codes))
    for j, size in enumerate(sizes):
        counts = np.bincount(own[:, j], minlength=size)
        cuts = choose_cuts(low[:, j], high[:, j], held, counts, FEW)
        run = np.searchsorted(cuts, np.arange(size), side="right") - 1
        public = [state_people(int(c)) for c in np.add.reduceat(counts, cuts[:-1])]
        registered = np.bincount(run[codes[:, j]], minlength=len(public))
        weight *= (np.array(public) / np.maximum(registered, 1))[run[codes[:, j]]]
    best = np.zeros(len(tree))
    np.maximum.at(best, place, weight)
    top = weight >= best[place] * (1 - 1e-9)
    tied = np.bincount(place[top], minlength=len(tree))
    right = np.bincount(place[top & released], minlength=len(tree))
    g, tied = np.maximum(g, 1), np.maximum(tied, 1)  # boxes that are cut hold no rows
    shows = n > 0
    without, with_marginals = (float(part[shows].sum()) for part in (n / g, right / tied))
    return int(n.sum()), int(shows.sum()), without, with_marginals


if __name__ == "__main__":
    main()
