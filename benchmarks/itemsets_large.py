"""The default on millions of rows: its time and memory beside joint, and AUC on people not seen."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.itemsets_data import LARGE_ROWS, large
from benchmarks.tables import save
from scipy import sparse

from voile.itemsets import Constraint, Incidence, select
from voile.itemsets.measures.classification import CrossValidation
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.verbs.compile import main as compile_kernels

K = 5
METHODS = ("joint", "portfolio")
UNSEEN = 100_000
SIZES = (LARGE_ROWS, 10 * LARGE_ROWS)
COLUMNS = ("rows", "method", "seconds", "peak", "features", "AUC, people not seen")


def stored(folder: Path, rows: int) -> None:
    """Draw rows to choose by, and some more people to try the choice on."""
    X, y = large(rows + UNSEEN)
    for name, part in {"seen": slice(rows), "unseen": slice(rows, None)}.items():
        sparse.save_npz(folder / f"{name}.npz", X[part], compressed=False)
        np.save(folder / f"{name}.npy", y[part])


def read(folder: Path, name: str) -> tuple[Incidence, RowLabels]:
    y = np.load(folder / f"{name}.npy")
    return Incidence.of(sparse.load_npz(folder / f"{name}.npz")), RowLabels.of(y, len(y))


def chosen(folder: Path, method: str) -> dict[str, Any]:
    """Choose features, in a process of its own, which counts its memory."""
    compile_kernels()
    began = time.process_time()
    rows, labels = read(folder, "seen")
    found = select(rows, labels, constraint=Constraint(K), method=method, random_state=0)
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    tried = {name: auc.value for name, auc in found.tried.items()}
    features = found.features.tolist()
    return {"seconds": took, "peak": peak, "features": features, "tried": tried}


def table(rows: int) -> Iterator[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        stored(folder, rows)
        unseen, labels = read(folder, "unseen")
        folds = CrossValidation.of(unseen, labels, np.random.default_rng(0), most=None)
        assert folds is not None
        for method in METHODS:
            child = [sys.executable, "-m", "benchmarks.itemsets_large", path, method]
            said = json.loads(subprocess.run(child, check=True, capture_output=True).stdout)
            auc = folds.auc([unseen.project(np.array(said["features"]))] * 5)
            tried = ", ".join(f"{name} {value:.4f}" for name, value in said["tried"].items())
            yield (
                f"{rows:,}",
                f"{method} ({tried})" if tried else method,
                f"{said['seconds']:.1f}",
                f"{said['peak']:.1f} GB",
                f"{len(said['features']):,}",
                f"{auc.value:.4f} ({auc.low:.4f} to {auc.high:.4f})",
            )
            print(method, said["seconds"], flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(chosen(Path(sys.argv[1]), sys.argv[2])))
        return
    save(
        "itemsets_large",
        f"*large* by 100,000 columns, k = {K}. Seconds of one processor, the matrix read among\n"
        f"them, on a machine that others used; peak memory of that process. AUC of a logistic\n"
        f"regression on {UNSEEN:,} further people, in 5 folds, with its 95% interval; chance .5.",
        COLUMNS,
        [row for rows in SIZES for row in table(rows)],
        NOTES,
    )


NOTES = """\
In brackets the AUC of each set that the default tried, on a sample of the rows and with every
label in sight. The sets are maximal: any further feature that reveals something of the label
would complete an itemset of fewer than five people. Of ten million rows seven features already
do that."""


if __name__ == "__main__":
    main()
