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
from benchmarks.tables import save

from voile.signals import PrivacyMap, SequenceCodec, SequenceMap, SignalsWarning
from voile.signals.codec.codec import BATCH, Codec
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables

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
typedef struct { double which, x[VOILE_COLUMNS]; uint8_t draw[VOILE_DRAW]; } row;
static int fill(void *at, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(++*(unsigned *)at * 2654435761u >> 24);
    return 0;
}
static int keep(void *at, const voile_state *state) { return (void)at, (void)state, 0; }
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
        if (voile_encode((int)given[i].which, given[i].x, given[i].draw, z + i * VOILE_COLUMNS))
            return 2;
    spent[0] = now() - began;
    began = now();
    for (size_t i = 0; i < rows; i++)
        if (voile_decode((int)given[i].which, z + i * VOILE_COLUMNS, x))
            return 3;
    spent[1] = now() - began;
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
    fwrite(z, sizeof *z * VOILE_COLUMNS, rows, out);
    fclose(out);
    printf("%f %f %f\n", spent[0] / rows, spent[1] / rows, spent[2] / rows);
    return 0;
}
"""
IN_JAVASCRIPT = r"""
import { readFileSync, writeFileSync } from "node:fs";
import { decode, encode, DRAW } from "./voile_map.mjs";
import { End } from "./voile_end.mjs";
const [given, out, record, n] = process.argv.slice(2);
const all = readFileSync(given), rows = +n, d = DRAW / 8, size = 1 + 2 * d;
const bytes = new Uint8Array(all.buffer.slice(all.byteOffset, all.byteOffset + all.length));
const numbers = new Float64Array(bytes.buffer), z = new Float64Array(rows * d);
const now = () => process.cpuUsage().user + process.cpuUsage().system;
const row = (i) => numbers.subarray(i * size + 1, i * size + 1 + d);
const draw = (i) => bytes.subarray(8 * (i * size + 1 + d), 8 * (i + 1) * size);
let began = now();
for (let i = 0; i < rows; i++) z.set(encode(numbers[i * size], row(i), draw(i)), i * d);
const encoded = now() - began;
began = now();
for (let i = 0; i < rows; i++) decode(numbers[i * size], z.subarray(i * d, (i + 1) * d));
const decoded = now() - began;
let seed = 1;
const entropy = (k) => Uint8Array.from({ length: k }, () => (++seed * 40503) >>> 8);
const own = new Uint8Array(readFileSync(record));
const some = rows / 50;
let stored = null;
new End(own, { entropy, store: (state) => ((stored = state), true) });
const fresh = () => new End(own, { entropy, store: () => true }, { stored });
const ends = Array.from({ length: some }, fresh);
began = now();
ends.forEach((end, i) => {
  end.send(row(i));
  end.post();
});
writeFileSync(out, new Uint8Array(z.buffer));
console.log(encoded / rows, decoded / rows, (now() - began) / some);
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


def in_python(codec: Codec, which: np.ndarray, X: np.ndarray, draws: np.ndarray) -> np.ndarray:
    Z = np.empty_like(X)
    for label in np.unique(which):
        own = np.flatnonzero(which == label)
        for rows in np.split(own, range(BATCH, len(own), BATCH)):
            one = Draws(draws[rows].T)
            Z[rows] = codec.encode(X[rows], codec.classes[label], protective=one)
    return Z


def given(codec: SequenceCodec, X: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """Draw readings that lie between those of NHANES, with their classes and draws."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(X), N)
    draws = rng.integers(0, 2**64, (N, X.shape[1]), dtype=np.uint64)
    which = np.searchsorted(codec.codec.classes, c[rows])
    return which, np.round(X[rows] + rng.normal(0, 0.5, (N, X.shape[1])), 1) + 0.0, draws


def exported(folder: Path, codec: SequenceCodec) -> None:
    columns = [{"column": name} for name in ("weight", "BMI")]
    classes = [str(one) for one in codec.codec.classes]
    for name, text in sources(FixedTables.of(codec), columns, classes).items():
        (folder / name).write_text(text)
    (folder / "record").write_bytes(record_of(codec))


def record_of(codec: SequenceCodec) -> bytes:
    from voile.keys.secret import Secret
    from voile.signals.channel.keys import DeviceKey, Enrolled
    from voile.signals.export.record import device_record

    key = DeviceKey.derive(Secret(b"of a benchmark, and of no clinic"), "A", 1)
    return device_record(Enrolled("A", "A", key), codec.mark, 1)


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


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    X, c = nhanes()
    codec = SequenceMap(memory=False, random_state=0).fit(X, c, np.arange(len(X))).codec_
    map = PrivacyMap(random_state=0, base="normal").fit(X, c)
    x, label, one = X[:1], c[:1], map.encode(X[:1], c[:1])
    sent = map.encode(X, c)
    both = best(lambda: map.encode(X, c), 3), best(lambda: map.decode(sent, c), 3)
    batch = [spent / len(X) for spent in both]
    alone = [best(lambda: map.encode(x, label)), best(lambda: map.decode(one, label))]
    with TemporaryDirectory() as name:
        folder = Path(name)
        exported(folder, codec)
        which, readings, draws = given(codec, X, c)
        packed = [which[:, None].astype("<f8"), readings, draws.view("<f8")]
        np.concatenate(packed, axis=1).tofile(folder / "given")
        Z = in_python(codec.codec, which, readings, draws)
        tables, code = sizes(folder)
        (folder / "main.c").write_text(IN_C)
        own = [path.name for path in folder.glob("*.c")]
        subprocess.run(["gcc", *FLAGS, "-O2", *own, "-o", "main"], cwd=folder, check=True)
        (folder / "main.mjs").write_text(IN_JAVASCRIPT)
        in_c, wrong_c = timed(["./main"], folder, Z)
        in_js, wrong_js = timed(["node", "main.mjs"], folder, Z)
        scripts = {path.stem: path.stat().st_size for path in folder.glob("voile_*.mjs")}
        spelt = scripts.pop("voile_tables")
        script = sum(scripts.values())
    save(
        "signals_ends",
        "Microseconds of processor time for a reading of two columns (weight and BMI of NHANES\n"
        "2011-12, four classes): the least of several runs, on a machine with other work. A\n"
        "message is encoded, written, and proved by its MAC; storing it is the device's.",
        ("end", "encode", "decode", "message", "other bits than Python's"),
        [
            ("Python, in a batch", *(f"{v:.2f}" for v in batch), "-", "-"),
            ("Python, one by one", *(f"{v:.1f}" for v in alone), "-", "-"),
            ("C, gcc -O2", *(f"{v:.2f}" for v in in_c), f"{wrong_c} of {N:,}"),
            ("JavaScript, node", *(f"{v:.2f}" for v in in_js), f"{wrong_js} of {N:,}"),
        ],
        f"In C the tables take {tables / 1024:.1f} KB and the code, compiled for size on x86-64,\n"
        f"{code / 1024:.1f} KB: {(tables + code) / 1024:.1f} KB in all. In JavaScript the\n"
        f"same numbers and {script / 1024:.1f} KB of source; the file that spells the numbers out\n"
        f"takes {spelt / 1024:.0f} KB.",
    )


if __name__ == "__main__":
    main()
