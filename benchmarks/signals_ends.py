"""One reading at a time: in Python, and at the ends in C and JavaScript of an export."""

from __future__ import annotations

import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.signals_data import nhanes
from benchmarks.signals_known import children
from benchmarks.tables import save

from voile.signals import PrivacyMap, SequenceCodec, SequenceMap, SignalsWarning
from voile.signals.codec.codec import BATCH, Codec
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables
from voile.signals.maps.stored import mark_of

N, TIMES = 1_000_000, 7
FLAGS = ["-std=c99", "-ffp-contract=off", "-fno-math-errno"]
IN_C = r"""
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "voile.h"
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
typedef struct { double which, x[VOILE_COLUMNS + VOILE_KNOWN]; uint8_t draw[VOILE_DRAW]; } row;
#if VOILE_KNOWN == 0
static int fill(void *at, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(++*(unsigned *)at * 2654435761u >> 24);
    return 0;
}
static int keep(void *at, const voile_state *state) { return (void)at, (void)state, 0; }
#endif
int main(int n, char **names)
{
    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb"), *record = fopen(names[3], "rb");
    const size_t rows = (size_t)atol(names[4]);
    row *given = malloc(rows * sizeof *given);
    double *z = malloc(rows * VOILE_COLUMNS * sizeof *z), x[VOILE_COLUMNS], spent[3];
    if (n != 5 || fread(given, sizeof *given, rows, in) != rows)
        return 1;
    double began = now();
    for (size_t i = 0; i < rows; i++)
        if (voile_encode((int)given[i].which, given[i].x, given[i].x + VOILE_COLUMNS,
                         given[i].draw, z + i * VOILE_COLUMNS))
            return 2;
    spent[0] = now() - began;
    began = now();
    for (size_t i = 0; i < rows; i++) {
        const int code = voile_decode((int)given[i].which, z + i * VOILE_COLUMNS,
                                      given[i].x + VOILE_COLUMNS, x);
        if (code && code != VOILE_IMPLAUSIBLE)
            return 3;
    }
    spent[1] = now() - began;
#if VOILE_KNOWN == 0
    static voile_end end;
    static uint8_t own[VOILE_RECORD], post[VOILE_POST];
    unsigned seed = 1;
    size_t length;
    voile_ways ways = {fill, keep, &seed};
    if (fread(own, sizeof own, 1, record) != 1 || voile_open(&end, own, "voile", 0, &ways))
        return 4;
    began = now();
    for (size_t i = 0; i < rows / 10; i++) {
        end.state.length = 0;
        if (voile_send(&end, given[i].x, 0) || voile_post(&end, post, &length))
            return 5;
    }
    spent[2] = (now() - began) * 10;
#else
    (void)record;
    spent[2] = 0;
#endif
    fwrite(z, sizeof *z * VOILE_COLUMNS, rows, out);
    fclose(out);
    printf("%f %f %f\n", spent[0] / rows, spent[1] / rows, spent[2] / rows);
    return 0;
}
"""
IN_JAVASCRIPT = r"""
import { readFileSync, writeFileSync } from "node:fs";
import { decode, encode, DRAW } from "./voile_map.mjs";
import { tables } from "./voile_tables.mjs";
const [given, out, record, n] = process.argv.slice(2);
const all = readFileSync(given), rows = +n, d = DRAW / 8, q = tables.grids.length;
const first = 1 + d + q, size = first + d;
const bytes = new Uint8Array(all.buffer.slice(all.byteOffset, all.byteOffset + all.length));
const numbers = new Float64Array(bytes.buffer), z = new Float64Array(rows * d);
const now = () => process.cpuUsage().user + process.cpuUsage().system;
const row = (i) => numbers.subarray(i * size + 1, i * size + 1 + d);
const known = (i) => numbers.subarray(i * size + 1 + d, i * size + first);
const draw = (i) => bytes.subarray(8 * (i * size + first), 8 * (i + 1) * size);
let began = now();
for (let i = 0; i < rows; i++) z.set(encode(numbers[i * size], row(i), draw(i), known(i)), i * d);
const encoded = now() - began;
began = now();
for (let i = 0; i < rows; i++) {
  try {
    decode(numbers[i * size], z.subarray(i * d, (i + 1) * d), known(i));
  } catch (error) {
    if (error.code !== "implausible") throw error;
  }
}
const decoded = now() - began;
writeFileSync(out, new Uint8Array(z.buffer));
let sent = 0;
if (!q) {
  const { End } = await import("./voile_end.mjs");
  let seed = 1;
  const entropy = (k) => Uint8Array.from({ length: k }, () => (++seed * 40503) >>> 8);
  const own = new Uint8Array(readFileSync(record)), some = 100;
  const ends = Array.from({ length: some }, () => new End(own, { entropy, store: () => true }));
  const rounds = rows / some / 50;
  for (let round = 0; round < rounds; round++) {
    ends.forEach((end) => end.beginAgain());
    began = now();
    ends.forEach((end, i) => {
      end.send(row(i + round * some));
      end.post();
    });
    sent += (now() - began) / some / rounds;
  }
}
console.log(encoded / rows, decoded / rows, sent);
"""


class Draws:
    """Draws given beforehand, where the system's entropy would be: for comparing bits alone."""

    def __init__(self, whole: np.ndarray) -> None:
        self._data = np.ascontiguousarray(whole, dtype="<u8").tobytes()

    def bytes(self, n: int) -> bytes:
        given, self._data = self._data[:n], self._data[n:]
        return given


def best(work: Callable[[], object], times: int = 300) -> float:
    """Return microseconds of one call: the least mean of several runs."""
    spent = []
    for _ in range(TIMES):
        began = time.process_time()
        for _ in range(times):
            work()
        spent.append((time.process_time() - began) / times * 1e6)
    return min(spent)


def in_python(
    codec: Codec, which: np.ndarray, X: np.ndarray, draws: np.ndarray, known: np.ndarray | None
) -> np.ndarray:
    Z = np.empty_like(X)
    for label in np.unique(which):
        own = np.flatnonzero(which == label)
        for rows in np.split(own, range(BATCH, len(own), BATCH)):
            one, beside = Draws(draws[rows].T), None if known is None else known[rows]
            label_of = codec.classes[label]
            Z[rows] = codec.encode(X[rows], label_of, known=beside, protective=one)
    return Z


def given(codec: Codec, X: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """Draw readings that lie between those of NHANES: whose, their classes, and draws."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(X), N)
    draws = rng.integers(0, 2**64, (N, X.shape[1]), dtype=np.uint64)
    which = np.searchsorted(codec.classes, c[rows])
    return rows, which, np.round(X[rows] + rng.normal(0, 0.5, (N, X.shape[1])), 1) + 0.0, draws


def write_export(folder: Path, tables: FixedTables, classes: np.ndarray) -> None:
    columns = [{"column": name} for name in ("weight", "BMI")]
    for name, text in sources(tables, columns, [str(one) for one in classes]).items():
        (folder / name).write_text(text)


def record_of(codec: SequenceCodec) -> bytes:
    from voile.keys.secret import Secret
    from voile.signals.channel.keys import DeviceKey, Enrolled
    from voile.signals.export.record import device_record

    key = DeviceKey.derive(Secret(b"of a benchmark, and of no clinic"), "A", 1)
    return device_record(Enrolled("A", "A", key), codec, 1)


def sizes(folder: Path) -> tuple[int, int]:
    """Return bytes of tables, and of code compiled for size, as `size` counts them."""
    for path in folder.glob("voile_*.c"):
        subprocess.run(["gcc", *FLAGS, "-Os", "-c", path.name], cwd=folder, check=True)
    said = subprocess.run(
        ["size", *sorted(path.name for path in folder.glob("voile_*.o"))],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    total = {line.split()[-1]: int(line.split()[3]) for line in said.splitlines()[1:]}
    tables = total.pop("voile_tables.o")
    return tables, sum(total.values())


def timed(command: list[str], folder: Path, Z: np.ndarray) -> tuple[list[float], int]:
    """Return microseconds to encode, decode and make a message, and rows with other bits."""
    runs = []
    for _ in range(3):
        words = [*command, "given", "out", "record", str(N)]
        done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
        runs.append([float(one) for one in done.stdout.split()])
    made = np.fromfile(folder / "out", dtype="<u8").reshape(Z.shape)
    wrong = (made != Z.view("<u8")).any(axis=1)
    return np.min(runs, axis=0).tolist(), int(wrong.sum())


def ends(
    tables: FixedTables,
    codec: Codec,
    record: bytes,
    X: np.ndarray,
    c: np.ndarray,
    known: np.ndarray | None = None,
) -> tuple[list[tuple[str, ...]], str]:
    """Return what both ends took, and how large they are."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_export(folder, tables, codec.classes)
        (folder / "record").write_bytes(record)
        rows, which, readings, draws = given(codec, X, c)
        beside = None if known is None else known[rows]
        numbers = np.empty((N, 0)) if beside is None else beside.astype(np.float64) - [0, 1]
        packed = [which[:, None].astype("<f8"), readings, numbers, draws.view("<f8")]
        np.concatenate(packed, axis=1).tofile(folder / "given")
        Z = in_python(codec, which, readings, draws, beside)
        size, code = sizes(folder)
        (folder / "main.c").write_text(IN_C)
        own = [path.name for path in folder.glob("*.c")]
        subprocess.run(["gcc", *FLAGS, "-O2", *own, "-o", "main"], cwd=folder, check=True)
        (folder / "main.mjs").write_text(IN_JAVASCRIPT)
        scripts = {path.stem: path.stat().st_size for path in folder.glob("voile_*.mjs")}
        spelt = scripts.pop("voile_tables")
        found = []
        for what, command in (("C, gcc -O2", "./main"), ("JavaScript, node", "node main.mjs")):
            (*spent, sent), wrong = timed(command.split(), folder, Z)
            shown = (*(f"{v:.2f}" for v in spent), f"{sent:.2f}" if sent else "-")
            found.append((what, *shown, f"{wrong} of {N:,}"))
    return found, (
        f"{size / 1024:.1f} KB of tables and {code / 1024:.1f} KB of code for x86-64,\n"
        f"compiled for size; in JavaScript {sum(scripts.values()) / 1024:.1f} KB of source, and\n"
        f"{spelt / 1024:.0f} KB that spell the numbers out"
    )


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    X, c = nhanes()
    sequence = SequenceMap(memory=False, random_state=0).fit(X, c, np.arange(len(X))).codec_
    map = PrivacyMap(random_state=0, base="normal").fit(X, c)
    x, label, one = X[:1], c[:1], map.encode(X[:1], c[:1])
    sent = map.encode(X, c)
    both = best(lambda: map.encode(X, c), 3), best(lambda: map.decode(sent, c), 3)
    batch = [spent / len(X) for spent in both]
    alone = [best(lambda: map.encode(x, label)), best(lambda: map.decode(one, label))]
    tables, record = FixedTables.of_sequence(sequence), record_of(sequence)
    rows, size = ends(tables, sequence.codec, record, X, c)
    X, c, K = children()
    given_map = PrivacyMap(random_state=0, base="normal", side_resolution=[None, "nominal"])
    K = np.stack([K[:, 0].astype(object), K[:, 1].astype(int).astype(str).astype(object)], axis=1)
    codec = given_map.fit(X, c, known=K).codec_
    tables = FixedTables.of(codec, mark_of(codec))
    with_known, size_with_known = ends(tables, codec, b"", X, c, K)
    save(
        "signals_ends",
        "Microseconds of processor time for a reading of two columns (weight and BMI of NHANES\n"
        "2011-12, four classes): the least of several runs, on a machine with other work. A\n"
        "message is encoded, written, and proved by its MAC; storing it is the device's.",
        ("end", "encode", "decode", "message", "other bits than Python's"),
        [
            ("Python, in a batch", *(f"{v:.2f}" for v in batch), "-", "-"),
            ("Python, one by one", *(f"{v:.1f}" for v in alone), "-", "-"),
            *rows,
            *((f"{end}, age and sex known", *rest) for end, *rest in with_known),
        ],
        f"An export takes {size}.\nWith age and sex known it takes {size_with_known}.",
    )


if __name__ == "__main__":
    main()
