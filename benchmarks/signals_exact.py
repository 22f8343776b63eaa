"""Count wrong readings of a million: with relations, known columns, and sessions over time."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import warnings

import numpy as np
from benchmarks.tables import save
from joblib import Parallel, delayed
from tests.signals.related import related

from voile.signals import PrivacyMap, SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.model.sequences.state import KnownColumns

MILLION = 1_000_000
PEOPLE, LEARNED = 160, 12  # of the sessions, and readings of each that the map is fitted to
COLUMNS = 3


def count_single() -> tuple[int, int]:
    """Return the readings sent one by one, and how many came back wrong."""
    X, known, c = related(5, 4000, known=True)
    map = PrivacyMap(random_state=0).fit(X, c, known=known)
    again = np.random.default_rng(0).integers(0, len(X), MILLION // X.shape[1])
    X, known, c = X[again], known[again], c[again]
    Z = map.encode(X, c, known=known)
    return X.size, int((map.decode(Z, c, known=known) != X).sum())


def walk(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return readings (people, length, 3) of weight, index and pulse, times, heights, classes.

    The index follows from the weight and the known height, with another factor in each class.
    """
    rng = np.random.default_rng(1)
    c = np.arange(PEOPLE) % 2
    height = np.round(rng.normal(168, 9, PEOPLE))
    level, swing = rng.normal(70 + 6 * c, 8)[:, None], np.zeros((PEOPLE, length))
    for t in range(1, length):
        swing[:, t] = 0.8 * swing[:, t - 1] + rng.normal(0, 0.6, PEOPLE)
    weight = np.round((level + swing).clip(35), 1)
    index = np.round(1e4 * weight / height[:, None] ** 2 * (1 + 0.05 * c[:, None]), 1)
    pulse = np.round(rng.normal(68 + 4 * c[:, None], 6, (PEOPLE, length)))
    times = np.cumsum(rng.integers(1, 4, (PEOPLE, length)), axis=1)
    return np.stack([weight, index, pulse], axis=2), times, height, c


def send_session(
    codec: SequenceCodec, X: np.ndarray, times: np.ndarray, height: float, label: int
) -> tuple[int, int]:
    """Send one person's readings from a client to a server, and count the wrong ones."""
    known = KnownColumns.of(codec, (height,), b"key")
    client, server = (Session(codec, label, "s", known=known) for _ in range(2))
    wrong = 0
    for x, time in zip(X.tolist(), times.tolist(), strict=True):
        client.send(x, time)
        (message,) = client.pending()
        received = server.receive(message)
        wrong += sum(a != b for a, b in zip(received.values, x, strict=True))
        client.acknowledge(server.receipt())
    return X.size, wrong


def count_sessions() -> tuple[int, int, int]:
    """Return the readings sent in sessions, how many came back wrong, and the lifted relations."""
    length = -(-MILLION // (PEOPLE * COLUMNS))
    X, times, height, c = walk(length)
    whose = np.repeat(np.arange(PEOPLE), LEARNED)
    first = X[:, :LEARNED].reshape(-1, COLUMNS), c[whose], whose, times[:, :LEARNED].ravel()
    map = SequenceMap(random_state=0, period=0).fit(*first, known=height[whose][:, None])
    tried = Parallel(2)(
        delayed(send_session)(map.codec_, X[i], times[i], height[i], int(c[i]))
        for i in range(PEOPLE)
    )
    sent, wrong = np.sum(tried, axis=0)
    return int(sent), int(wrong), map.codec_.derived_count


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    single, lost = count_single()
    sent, wrong, derived = count_sessions()
    assert derived == 1
    save(
        "signals_exact",
        "Readings that came back changed, to the last bit. Both have a known column and a lifted\n"
        "relation that contains it. Sessions also depend on time, and the relation has another\n"
        "factor in each class.",
        ("sent", "readings", "decoded wrong"),
        [
            ("one by one", f"{single:,}", f"{lost}"),
            (f"in sessions of {PEOPLE} people, at uneven times", f"{sent:,}", f"{wrong}"),
        ],
    )


if __name__ == "__main__":
    main()
