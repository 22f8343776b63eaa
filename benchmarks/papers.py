"""Reproduce a paper's results at a small size: `python -m benchmarks.papers 001`.

The data is drawn here or shipped with scikit-learn; nothing is written. `make paper-001` runs it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module

from benchmarks.paper_results import Result, print_results

PAPERS = {
    "000": "paper_documents",
    "001": "paper_tables",
    "002": "paper_itemsets",
    "003": "paper_documents",
    "004": "paper_signals",
}
SIZES = ("tiny", "small")


def reproduce(number: str, size: str) -> list[Result]:
    """Compute the results of one paper; `tiny` takes seconds, `small` minutes."""
    compute: Callable[[str, str], Iterable[Result]]
    compute = import_module(f"benchmarks.{PAPERS[number]}").compute_results
    return list(compute(number, size))


def run(arguments: list[str] | None = None) -> None:
    """Print the paper's figures next to ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", choices=sorted(PAPERS))
    parser.add_argument("--size", choices=SIZES, default="small")
    options = parser.parse_args(arguments)
    print_results(reproduce(options.paper, options.size))


if __name__ == "__main__":
    run()
