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
        f"A loss of weight beside a weekly cycle of the pulse, in sessions of {LENGTH} readings:\n"
        "the weight in every other one, the pulse in two of three. AUC of the better of boosting\n"
        f"and a forest in 5 folds of {FRESH} subjects whom the map was not fitted to, given which\n"
        "columns each message holds. 95% intervals; .50 is chance, lower is better.",
        COLUMNS,
        [row(KIND, runs, times([KIND])[KIND])],
        f"Which columns messages hold reveals an AUC of {held:.2f} by itself: both classes are\n"
        f"read alike. {told()}",
    )


if __name__ == "__main__":
    main()
