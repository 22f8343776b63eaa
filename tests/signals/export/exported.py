"""Exports for the tests: a kit's map as C and JavaScript, compiled, and run on readings."""

from __future__ import annotations

import functools
import subprocess
import warnings
from pathlib import Path

import numpy as np
from tests.signals.made_up import NAMES, Draws, readings

from voile.signals import SequenceMap, SignalsWarning
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables

HERE = Path(__file__).parent
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-ffp-contract=off"]
COLUMNS = ({"column": "long"}, {"column": "broad"})
BATCH = 1 << 13


@functools.cache
def codec():
    """Map readings of three classes, each reading sent by itself."""
    X, c = readings(600, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        return SequenceMap(random_state=1, memory=False).fit(X, c, np.arange(600)).codec_


def write(folder, codec, columns=COLUMNS, classes=NAMES):
    """Write an export, as the command does."""
    return write_tables(folder, FixedTables.of_sequence(codec), columns, classes)


def write_tables(folder, tables, columns=COLUMNS, classes=NAMES):
    folder.mkdir(exist_ok=True)
    for name, text in sources(tables, columns, classes).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def compiled(folder, *more, out="program"):
    """Compile an export and what uses it."""
    own = sorted(map(str, folder.glob("*.c")))
    program = folder / out
    command = ["gcc", *STRICT, f"-I{folder}", *more, *own, "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return program


def in_c(folder, given):
    program = compiled(folder, str(HERE / "driver.c"))
    return subprocess.run([program], input=given.tobytes(), stdout=-1, check=True).stdout


def in_javascript(folder, given):
    (folder / "given").write_bytes(given.tobytes())
    command = ["node", HERE / "driver.mjs", folder, folder / "given", folder / "out"]
    subprocess.run(command, check=True)
    return (folder / "out").read_bytes()


ENDS = {"C": in_c, "JavaScript": in_javascript}


def in_python(codec, which, X, draws, known=None):
    """Return messages of readings by the batch, each with its own draw."""
    Z = np.empty_like(X)
    for label in np.unique(which):
        own = np.flatnonzero(which == label)
        for rows in np.split(own, range(BATCH, len(own), BATCH)):
            drawn, beside = Draws(draws[rows].T), None if known is None else known[rows]
            Z[rows] = codec.encode(X[rows], codec.classes[label], known=beside, protective=drawn)
    return Z


def packed(which, X, draws, known=None):
    """Lay readings out as the drivers read them."""
    whole = draws.astype("<u8").view("<f8")
    beside = X[:, :0] if known is None else known
    return np.concatenate([which[:, None].astype("<f8"), X.astype("<f8"), beside, whole], axis=1)


def unpacked(data, d):
    """Return codes of encoding, messages, codes of decoding, and readings."""
    rows = np.frombuffer(data, dtype="<f8").reshape(-1, 2 + 2 * d)
    return rows[:, 0], rows[:, 1 : 1 + d], rows[:, 1 + d], rows[:, 2 + d :]
