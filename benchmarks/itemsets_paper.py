"""Tables 4 to 6 of the paper as printed: AUC (selected features) for k = 5, 8 and 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KS = (5, 8, 11)
METHODS = (
    "Maximal, HamDist",
    "HamDist",
    "DistCnt",
    "CM greedy",
    "random flipping",
    "k-anonymity HamDist",
    "k-anonymity DistCnt",
)
PRINTED = {
    "Table 4": """
0.82 (61) | 0.81 (43) | 0.79 (32)
0.88 (27) | 0.88 (24) | 0.81 (16)
0.81 (11) | 0.81 (11) | 0.80 (10)
0.68 (2) | 0.68 (2) | 0.68 (2)
0.75±0.02 (11.99%) | 0.73±0.03 (14.03%) | 0.72±0.02 (16.49%)
0.55 (3) | 0.55 (2) | 0.55 (2)
0.79 (3) | 0.79 (3) | 0.77 (2)
0.87 (552)""",
    "Table 5": """
0.74 (8) | 0.74 (8) | 0.75 (7)
0.77 (9) | 0.77 (9) | 0.76 (8)
0.78 (10) | 0.78 (10) | 0.76 (8)
0.71 (5) | 0.71 (5) | 0.71 (5)
0.80±0.02 (0.60%) | 0.80±0.03 (1.00%) | 0.80±0.02 (1.44%)
0.72 (8) | 0.72 (8) | 0.72 (8)
0.73 (8) | 0.70 (6) | 0.70 (6)
0.82 (19)""",
    "Table 6": """
0.94 (121) | 0.92 (66) | 0.90 (58)
0.91 (11) | 0.91 (11) | 0.91 (11)
0.95 (11) | 0.93 (7) | 0.93 (7)
0.86 (3) | 0.86 (3) | 0.86 (3)
0.87±0.02 (1.30%) | 0.86±0.01 (1.73%) | 0.87±0.03 (2.03%)
0.84 (4) | 0.84 (4) | 0.84 (4)
0.81 (4) | 0.81 (4) | 0.81 (4)
0.95 (24604)""",
}


def print_beside(
    table: str, full: str, found: Mapping[str, Sequence[str]], ours: Sequence[str]
) -> str:
    """Return the paper's table, its rows and columns, with our figures next to the same k.

    full : our AUC of all features. found : each method's AUC (features) for each k.
    ours : the methods of `found` that the paper does not have, shown below its own.
    """
    *printed, whole = PRINTED[table].strip().splitlines()
    heads = (f"k = {k}, paper | k = {k}, ours" for k in KS)
    lines = [f"| {table} | {' | '.join(heads)} |", f"|{' --- |' * (1 + 2 * len(KS))}"]
    for name, cells in zip(METHODS, printed, strict=True):
        lines.append(_row(name, cells.split(" | "), found[name]))
    lines.append(_row("all features", [whole] * len(KS), [full] * len(KS)))
    lines += [_row(name, [""] * len(KS), found[name]) for name in ours]
    return "\n".join(lines)


def _row(name: str, paper: Sequence[str], ours: Sequence[str]) -> str:
    pairs = (f"{a} | {b}" for a, b in zip(paper, ours, strict=True))
    return f"| {name} | {' | '.join(pairs)} |"
