"""Sensors with their own rates in one session: what thirty messages of some columns each reveal."""

from __future__ import annotations

from benchmarks.signals_courses import COLUMNS, FRESH, LENGTH, SIZES, row, times, told, tried
from benchmarks.tables import save

KIND = "own rates"


def main() -> None:
    runs = [tried(KIND, n) for n in SIZES]
    held = max(one.found.held or 0.0 for one in runs)
    save(
        "signals_rates",
        f"A loss of weight with a weekly cycle of the pulse, in sessions of {LENGTH}\n"
        "readings. Every other reading has the weight, and two of three have the pulse. AUC\n"
        f"of the better of boosting and a forest in 5 folds of {FRESH} subjects to whom the\n"
        "map was not fitted. Both see which columns each message has. 95% intervals. Chance\n"
        "is .50, and lower is better.",
        COLUMNS,
        [row(KIND, runs, times([KIND])[KIND])],
        f"The columns of messages alone reveal an AUC of {held:.2f}: both classes are\n"
        f"read alike. {told()}",
    )


if __name__ == "__main__":
    main()
