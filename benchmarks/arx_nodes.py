"""ARX on the user's mind: every node of its hierarchies for Adult, scored by our evaluator.

ARX searches the product of the levels of hand-made hierarchies. Each node is one of our
policies, so both are scored by the same risk and loss, without a population (g is the group in
the release), and we count the nodes that some policy of our frontier beats in both.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
from benchmarks.data import folder
from benchmarks.tables import save

from voile.core.frontier import Frontier
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace

QUASI = (
    *("sex", "age", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
)


def main() -> None:
    arx = folder("arx-adult")
    space = PolicySpace.of(
        str(arx / "adult.csv.gz"),
        quasi=QUASI,
        settings={c: {"hierarchy": str(arx / f"adult_hierarchy_{c}.csv")} for c in QUASI},
    )
    nodes = np.array(
        [np.concatenate(node) for node in itertools.product(*(d.levels for d in space.domains))]
    )
    began = time.perf_counter()
    risk, loss = space.evaluate(nodes)
    node_seconds = time.perf_counter() - began
    theirs = Frontier.of(risk, loss, nodes)
    search(space, method="steepest")  # compile first
    began = time.perf_counter()
    found = search(space, method="steepest")
    seconds = time.perf_counter() - began
    ours = found.frontier
    beaten = np.array([len(ours.dominating(r, x)) > 0 for r, x in zip(risk, loss, strict=True)])
    best = np.array(
        [len(ours.dominating(r, x)) > 0 for r, x in zip(theirs.risk, theirs.loss, strict=True)]
    )
    save(
        "arx_nodes",
        f"Adult with ARX's hierarchies, 8 quasi-identifiers, {space.n_bits} bits, "
        f"{len(space.counts.codes):,} distinct combinations, no population.",
        ("", "ARX's nodes", "voile steepest"),
        [
            ("policies scored", f"{len(nodes):,}", f"{found.evaluations:,}"),
            ("seconds", f"{node_seconds:.1f}", f"{seconds:.1f}"),
            ("policies on the frontier", f"{len(theirs):,}", f"{len(ours):,}"),
            ("area under the frontier", f"{theirs.area():.4f}", f"{ours.area():.4f}"),
            ("nodes that ours beats in both", f"{beaten.sum():,} of {len(nodes):,}", ""),
            (
                "nodes on their own frontier that ours beats",
                f"{best.sum():,} of {len(theirs):,}",
                "",
            ),
        ],
    )


if __name__ == "__main__":
    main()
