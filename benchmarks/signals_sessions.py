"""Many messages of one child: what they tell with and without sessions, on a bad line, in time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from benchmarks.signals_data import sequences
from benchmarks.tables import save, yardstick

from voile.signals import PrivacyMap, SequenceMap, Session, SignalsWarning
from voile.signals.attack.breaks import invariants, repeats, send_readings

CHILDREN, LENGTH = 2_000, 30
KNOWN = 1_500, 10  # children that maps are fitted to, and readings of each
LOSS = 0.1


def rows() -> Iterator[tuple[str, ...]]:
    for tall in (False, True):
        fit = sequences(*KNOWN, 2, tall=tall)
        X, c, _ = sequences(CHILDREN, LENGTH, 1, tall=tall)
        days, own = X.reshape(CHILDREN, LENGTH, 2), c[::LENGTH] - 1
        single = PrivacyMap(random_state=0).fit(*fit)
        alone = single.encode(X, c).reshape(days.shape)
        session = SequenceMap((0,) if tall else (), random_state=0).fit(*fit)
        together = send_readings(session.codec_, days, own)[1]
        columns = "height once, weight" if tall else "weight, BMI"
        for length in (2, 5, 10, 15, 30):
            (without, majority), (rate, _) = (
                repeats(Z[:, :length], own, 0) for Z in (alone, together)
            )
            yield columns, str(length), *map(shown, (majority, without, rate))
        if tall:
            found = invariants(single.codec_, alone[:, :15], own, (0,))
            name = "height under every map, classes equally often"
            yield name, "15", shown(found.baseline), shown(found.rate), "sent once"


def shown(rate) -> str:
    low, high = rate.interval()
    return f"{rate.value:.3f} ({low:.3f}-{high:.3f})"


def bad_line() -> tuple[int, int]:
    """Send readings over a line that loses, doubles and reorders; count the wrong ones."""
    rng = np.random.default_rng(0)
    codec = SequenceMap((0,), random_state=0).fit(*sequences(*KNOWN, 2, tall=True)).codec_
    X, c, _ = sequences(CHILDREN, LENGTH, 3, tall=True)
    came = wrong = 0
    for one in range(CHILDREN):
        readings = [tuple(x) for x in X[one * LENGTH : (one + 1) * LENGTH].tolist()]
        device, clinic = (Session(codec, c[one * LENGTH], str(one), ahead=4) for _ in range(2))
        for reading in readings:
            device.send(reading)
        line: list = []
        while device.pending():
            line += [m for m in device.pending() for _ in range(2) if rng.random() > LOSS]
            rng.shuffle(line)
            while len(line) > 3:
                got = clinic.receive(line.pop())
                came += got is not None
                wrong += got is not None and got.values != readings[got.number - 1]
            if rng.random() > LOSS:
                device.acknowledge(clinic.receipt())
    return came, wrong


def speed() -> np.ndarray:
    """Return microseconds a reading of two columns at either end: median and mean of all."""
    codec = SequenceMap(random_state=0).fit(*sequences(*KNOWN, 2)).codec_
    X, c, _ = sequences(100, LENGTH, 3)
    spent = []
    for one in range(100):
        device, clinic = (Session(codec, c[one * LENGTH], str(one)) for _ in range(2))
        for reading in X[one * LENGTH : (one + 1) * LENGTH].tolist():
            began = time.process_time()
            device.send(reading)
            (message,) = device.pending()
            between = time.process_time()
            clinic.receive(message)
            receipt = clinic.receipt()
            ended = time.process_time()
            device.acknowledge(receipt)
            spent.append((between - began + time.process_time() - ended, ended - between))
    each = np.array(spent) * 1e6
    return np.stack([np.median(each, axis=0), each.mean(axis=0)])


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    (device, clinic), (slow_device, slow_clinic) = speed()
    came, wrong = bad_line()
    save(
        "signals_sessions",
        "The share of made-up children whose class is named correctly from T of their\n"
        f"messages. The attacker knows half of the {CHILDREN:,} children with their classes.\n"
        "She takes the better of a forest and boosting over level, swing and succession.\n"
        "95% intervals.",
        ("columns", "T", "majority", "each by itself", "in a session"),
        list(rows()),
        f"{CHILDREN:,} sessions of {LENGTH} readings, four under way at once, {LOSS:.0%} of\n"
        f"messages and receipts lost, all sent double and reordered: {came:,} came,\n"
        f"{wrong} wrong.\n\n"
        f"A reading of two columns takes the device {device:.0f} microseconds of processor\n"
        f"time, its receipt included, and the clinic {clinic:.0f}: medians of 3,000; means\n"
        f"{slow_device:.0f} and {slow_clinic:.0f}. {yardstick()}",
    )


if __name__ == "__main__":
    main()
