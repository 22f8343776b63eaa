"""The whole loop on 200,000 tokens: time and memory, the default and the paper's four learners."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

from benchmarks.documents_speed import names_of
from benchmarks.tables import save

from voile.documents import Corpus, GreedySanitizer
from voile.documents.words.tokens import tokenise

TOKENS = 200_000
WAYS = {
    "the default": ("consensus",),
    "crf, svm, adaboost, ensemble": ("crf", "svm", "adaboost", "ensemble"),
}


def some() -> Corpus:
    """Return notes of 200,000 tokens together, or a little less."""
    notes = names_of("train", 500)
    held, kept = 0, 0
    for note in notes:
        held += len(tokenise([note.text]))
        if held > TOKENS:
            break
        kept += 1
    return notes.subset(range(kept))


def one(name: str) -> None:
    """Run one way in this process, and say seconds, gigabytes and passes."""
    notes = some()
    began = time.perf_counter()
    fitted = GreedySanitizer(WAYS[name], random_state=1, n_jobs=2).fit(notes)
    seconds = time.perf_counter() - began
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 2**20
    print(seconds, peak, len(fitted.passes_), len(notes))


def main() -> None:
    """Run each way in a process of its own."""
    if len(sys.argv) > 1:
        one(sys.argv[1])
        return
    rows = []
    for name in WAYS:
        command = [sys.executable, "-m", "benchmarks.documents_loop", name]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        seconds, peak, passes = float(told[0]), float(told[1]), told[2]
        rows.append((name, f"{seconds / 60:.1f}", f"{peak:.1f}", passes))
    save(
        "documents_loop",
        f"GreedySanitizer on {told[3]} Spanish notes (MEDDOCAN, names, {TOKENS:,} tokens),\n"
        "with five folds and two processes. A missed name costs 10 tokens.",
        ("learners", "minutes", "GiB, main process and its largest child", "passes"),
        rows,
    )


if __name__ == "__main__":
    main()
