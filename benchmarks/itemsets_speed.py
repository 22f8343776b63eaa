"""How fast features are chosen and rows are measured, beside the paper's way and SciPy."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.itemsets_adult import adult
from benchmarks.itemsets_data import EMAIL, ENTITY, LARGE_ROWS, large, made
from benchmarks.itemsets_text import lingspam
from benchmarks.tables import save
from scipy import sparse

from voile.itemsets import ContainmentSelector, Incidence, Selection, anonymity, select
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.measures.utility import mutual_information
from voile.itemsets.selector import ItemsetsWarning
from voile.itemsets.verbs.compile import main as compile_kernels

KS = (5, 8, 11)
MINING = 90.0
PROOF = 60.0
Row = tuple[str, str, str, str, str]


def timed(call: Callable[[], Any], rounds: int = 1) -> tuple[float, Any]:
    """Return the fewest seconds of one processor in some rounds, and what came back."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        result = call()
        spent.append(time.process_time() - began)
    return min(spent), result


def paper_distcnt(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
    """Algorithm 3 as printed, its condition put right: every gain anew at every step.

    Unlike pairs are held as a matrix, and equal rows are compared once.
    """
    one, other = X[y == 1], X[y == 0]
    together = np.ones((len(one), len(other)), dtype=np.bool_)
    may = [int(x) for x in np.flatnonzero(X.sum(axis=0) >= k)]
    chosen: list[int] = []
    while may:
        gain = [pairs_told(together, one[:, x], other[:, x]) for x in may]
        x = may[int(np.argmax(gain))]
        if max(gain) == 0 or anonymity_by_pairs(X[:, [*chosen, x]]) < k:
            break
        chosen.append(x)
        may.remove(x)
        together &= one[:, x][:, None] == other[:, x][None]
    return sorted(chosen)


def pairs_told(together: np.ndarray, one: np.ndarray, other: np.ndarray) -> int:
    """Count the pairs not told apart so far that a feature tells apart."""
    has, lacks = together[one], together[~one]
    return int(np.count_nonzero(has[:, ~other]) + np.count_nonzero(lacks[:, other]))


def anonymity_by_pairs(X: np.ndarray) -> int:
    """Compare all pairs of distinct rows."""
    rows, counts = np.unique(X, axis=0, return_counts=True)
    return min(int(counts[(rows >= row).all(axis=1)].sum()) for row in rows)


def anonymity_by_product(X: sparse.csr_array) -> int:
    """Count with X X' the rows that have all that each row has."""
    shared = (X @ X.T).tocsr()
    of = np.repeat(np.arange(X.shape[0]), np.diff(shared.indptr))
    full = shared.data == np.diff(X.indptr)[of]
    return int(np.bincount(of[full], minlength=X.shape[0]).min())


def distcnt(name: str, X: sparse.csr_array, y: np.ndarray, least: int) -> Row:
    rows, dense = Incidence.of(X), X.toarray().astype(np.bool_)
    ours, chosen = timed(lambda: selected(rows, y, 5, "paper-distcnt"), 3)
    theirs, features = timed(lambda: paper_distcnt(dense, y, 5))
    same = "same features" if chosen.features.tolist() == features else "OTHER FEATURES"
    what = f"DistCnt greedy, {name}, k = 5"
    found = f"{theirs / ours:,.0f} times, {same}"
    return what, seconds(ours), f"the paper's way: {seconds(theirs)}", found, f"{least} times"


def containment(X: sparse.csr_array, what: str) -> Row:
    wide = X.astype(np.int32)
    ours, k = timed(lambda: anonymity(Incidence.of(X)), 5)
    theirs, same = timed(lambda: anonymity_by_product(wide), 3)
    found = f"{theirs / ours:,.0f} times, AC {k}" if k == same else "OTHER AC"
    return what, seconds(ours), f"X X' in SciPy: {seconds(theirs)}", found, "5 times"


def chosen_words() -> sparse.csr_array:
    X, y = lingspam()
    return X[:, selected(Incidence.of(X), y, 5, "best").features]


def best() -> Row:
    X, y = lingspam()
    ours, chosen = timed(lambda: selected(Incidence.of(X), y, 5, "best"), 3)
    rows = Incidence.of(X)
    full = "maximal" if is_maximal(rows, y, chosen) else "NOT MAXIMAL"
    theirs, mined = timed(lambda: selected(rows, y, 5, "maximal", limit=MINING))
    return (
        "best, Ling-Spam, k = 5",
        seconds(ours),
        f"Maximal, {mined.stopped} after {seconds(theirs)}: {mined.utility:.2f} bits",
        f"{full}, {len(chosen.features)} features, {chosen.utility:.2f} bits",
        "maximal, 2 s",
    )


def is_maximal(rows: Incidence, y: np.ndarray, chosen: Selection) -> bool:
    state = FeasibleSet(rows, chosen.constraint)
    state.extend(chosen.features)
    left = np.setdiff1d(np.flatnonzero(mutual_information(rows, y) > 0), chosen.features)
    return not any(state.admits(int(x)) for x in left)


def exact_adult(k: int) -> Row:
    frame, y = adult()
    rows = Incidence.of(frame.to_numpy())
    ours, proven = timed(lambda: selected(rows, y, k, "exact", utility="hamdist"), 3)
    _, mined = timed(lambda: selected(rows, y, k, "maximal", utility="hamdist"))
    rival = f"best of the largest frequent sets: {mined.utility:.3f}"
    what = f"exact, Adult, HamDist, k = {k}"
    return what, seconds(ours), rival, f"{standing(proven)} {proven.utility:.3f}", "proven, 1 s"


def exact_entity(k: int, utility: str) -> Row:
    X, y = made(ENTITY)
    rows = Incidence.of(X)
    ours, proven = timed(lambda: selected(rows, y, k, "exact", utility=utility, limit=PROOF))
    greedy, found = timed(lambda: selected(rows, y, k, "greedy", utility=utility))
    rival = f"greedy: {found.utility:.4f} in {seconds(greedy)}"
    what = f"exact, *entity*, {utility}, k = {k}"
    return what, seconds(ours), rival, f"{standing(proven)} {proven.utility:.4f}", "proven, 60 s"


def standing(found: Selection) -> str:
    proven = found.bound == found.utility
    return "proven," if proven else f"bound {found.bound:.3f},"


def fit_large(rows: int, reach: str) -> Row:
    """Fit in a process of its own, which reads the matrix and counts its memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        X, y = large(rows)
        sparse.save_npz(path, X, compressed=False)
        np.save(path.with_suffix(".npy"), y)
        size = X.nnz
        del X
        child = [sys.executable, "-m", "benchmarks.itemsets_speed", str(path)]
        said = json.loads(subprocess.run(child, check=True, capture_output=True).stdout)
    return (
        f"best, *large*, {rows:,} rows, {size / 1e6:.1f} M ones",
        seconds(said["seconds"]),
        "-",
        f"{said['features']:,} features, peak {said['peak']:.1f} GB with the rows read",
        reach,
    )


def fit_stored(path: Path) -> None:
    X, y = sparse.load_npz(path), np.load(path.with_suffix(".npy"))
    took, found = timed(lambda: ContainmentSelector(k=5, method="best", random_state=0).fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    features = len(found.selection_.features)
    print(json.dumps({"seconds": took, "peak": peak, "features": features}))


def selected(
    rows: Incidence,
    y: np.ndarray,
    k: int,
    method: str,
    utility: str = "mutual-information",
    limit: float | None = None,
) -> Selection:
    return select(
        rows,
        y,
        constraint=Constraint(k),
        method=method,
        utility=utility,
        seconds=limit,
        random_state=0,
    )


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def table() -> Iterator[Row]:
    email, classes = made(EMAIL)
    yield distcnt("*e-mail*, 1,099 x 24,604", email, classes, 50)
    people, incomes = adult()
    matrix = sparse.csr_array(people.to_numpy())
    yield distcnt("Adult, 32,561 x 19", matrix, incomes.astype(np.int64), 500)
    yield containment(lingspam()[0], "AC of Ling-Spam, 2,893 x 65,724")
    yield containment(chosen_words(), "AC of its words chosen for k = 5")
    yield best()
    yield from (exact_adult(k) for k in KS)
    for utility in ("hamdist", "mutual-information"):
        yield from (exact_entity(k, utility) for k in KS)
    yield fit_large(LARGE_ROWS, "10 s, 2 GB")
    yield fit_large(10 * LARGE_ROWS, "3 min, 12 GB")


def main() -> None:
    warnings.simplefilter("ignore", ItemsetsWarning)
    compile_kernels()
    if len(sys.argv) > 1:
        fit_stored(Path(sys.argv[1]))
        return
    save(
        "itemsets_speed",
        "Seconds of one processor, on a machine that others used; compiled code is loaded, not\n"
        "timed. Both sides of a ratio are of one run. *entity*, *e-mail* and *large* are drawn by\n"
        "benchmarks/itemsets_data.py, seed 0.",
        ("what", "ours", "beside it", "found", "to reach"),
        list(table()),
        NOTES,
    )


NOTES = """\
*The paper's way* of DistCnt computes every gain again at every step, over a matrix of the pairs of
different labels. It computes AC by comparing distinct rows. It uses NumPy throughout. X X' counts
the common items of every two rows. Ours includes reading the matrix, and ends at a row that no
other row contains. Maximal is this library's miner of the 20 largest maximal frequent itemsets,
with a limit of 90 s by the clock. A set is *maximal* if no word with information about the
class may join it. Peak: of a process that reads the stored matrix and fits."""


if __name__ == "__main__":
    main()
