"""One reading at a time: in Python, and at the ends in C and JavaScript of an export."""

from __future__ import annotations

import re
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.signals_data import nhanes
from benchmarks.signals_known import children
from benchmarks.tables import save, yardstick

from voile.signals import PrivacyMap, SequenceCodec, SequenceMap, SignalsWarning
from voile.signals.codec.codec import BATCH, Codec
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables

N, TIMES = 1_000_000, 7
COMMENT = re.compile(r"^ *(//|/?\*).*\n", re.MULTILINE)
FLAGS = ["-std=c99", "-ffp-contract=off", "-fno-math-errno"]
IN_C = r"""
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "voile_end.c" /* whole, for its parts */
#define SOME 1000
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
typedef struct { double which, x[VOILE_COLUMNS + VOILE_KNOWN]; uint8_t draw[VOILE_DRAW]; } row;
static int fill(void *at, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(++*(unsigned *)at * 2654435761u >> 24);
    return 0;
}
static int hold(void *at, const voile_state *state) { return (void)at, (void)state, 0; }
static int order(const void *a, const void *b)
{
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}
#define TIMED(part, work) \
    began = now(); \
    for (size_t i = at; i < at + SOME; i++) { work } \
    spent[part][at / SOME] = (now() - began) / SOME;
int main(int n, char **names)
{
    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb"), *record = fopen(names[3], "rb");
    const size_t rows = (size_t)atol(names[4]), rounds = rows / SOME;
    row *given = malloc(rows * sizeof *given);
    double *z = malloc(rows * VOILE_COLUMNS * sizeof *z), x[VOILE_COLUMNS], *spent[5], began;
    static voile_end end;
    static uint8_t own[VOILE_RECORD], post[VOILE_POST], drawn[VOILE_DRAW];
    unsigned seed = 1;
    size_t length, bytes = 0;
    voile_ways ways = {fill, hold, &seed};
    for (int part = 0; part < 5; part++)
        spent[part] = malloc(rounds * sizeof **spent);
    if (n != 5 || fread(given, sizeof *given, rows, in) != rows)
        return 1;
    if (fread(own, sizeof own, 1, record) != 1 || voile_open(&end, own, "voile", 0, &ways))
        return 2;
    for (size_t at = 0; at < rows; at += SOME) {
        TIMED(0, if (voile_encode((int)given[i].which, given[i].x, given[i].x + VOILE_COLUMNS,
                                  given[i].draw, z + i * VOILE_COLUMNS)) return 3;)
        TIMED(1, const int code = voile_decode((int)given[i].which, z + i * VOILE_COLUMNS,
                                               given[i].x + VOILE_COLUMNS, x);
                 if (code && code != VOILE_IMPLAUSIBLE) return 4;)
        TIMED(2, dither_of(&end, given[i].x, drawn);)
        TIMED(4, end.state.length = 0;
                 if (voile_send(&end, given[i].x, 0) || voile_post(&end, post, &length)) return 5;
                 bytes += length;)
        TIMED(3, voile_post(&end, post, &length);)
    }
    fwrite(z, sizeof *z * VOILE_COLUMNS, rows, out);
    fclose(out);
    for (int part = 0; part < 5; part++) {
        qsort(spent[part], rounds, sizeof **spent, order);
        printf("%f ", spent[part][rounds / 2]);
    }
    printf("%f\n", (double)bytes / (double)rows);
    return 0;
}
"""
IN_JAVASCRIPT = r"""
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { decode, encode, DRAW } from "./voile_map.mjs";
import { Mac, Room } from "./voile_hash.mjs";
import { End, POST } from "./voile_end.mjs";
import { tables } from "./voile_tables.mjs";
const [given, out, record, n] = process.argv.slice(2);
const SOME = 25, all = readFileSync(given), rows = +n, d = DRAW / 8, q = tables.grids.length;
const first = 1 + d + q, size = first + d;
const bytes = new Uint8Array(all.buffer.slice(all.byteOffset, all.byteOffset + all.length));
const numbers = new Float64Array(bytes.buffer), z = new Float64Array(rows * d);
const keyed = (key, ...parts) => {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};
const own = new Uint8Array(readFileSync(record)), key = keyed(own.subarray(85, 117), "voile mac");
const entropy = (k) => crypto.getRandomValues(new Uint8Array(k));
const ends = Array.from({ length: SOME }, () => {
  const one = { state: null, post: null, room: new Uint8Array(POST) };
  one.end = new End(own, { entropy, store: (state) => ((one.state = state), true) });
  return one;
});
const place = Buffer.from(ends[0].end.hears), framed = Buffer.from([0, 0, 0, place.length]);
function acknowledge(one) {
  const said = `{"check":"${one.state.next}","again":false,"refused":""}`.padEnd(96);
  const rest = Buffer.concat([one.post.subarray(32, 68), Buffer.from(said)]);
  one.end.hear(new Uint8Array(Buffer.concat([keyed(key, framed, place, rest), rest])));
  if (one.end.post()) throw new Error("a message is not acknowledged");
}
const spent = [[], [], [], [], []], dither = Mac.under(new Uint8Array(32).fill(1));
const moving = 19 + (q ? 32 : 0) + DRAW, drawn = Room.of(new Uint8Array(moving));
const now = () => process.cpuUsage().user + process.cpuUsage().system;
function timed(part, work) {
  const began = now();
  for (let i = 0; i < SOME; i++) work(i);
  spent[part].push((now() - began) / SOME);
}
let posted = 0;
for (let at = 0; at < rows; at += SOME) {
  const some = Array.from({ length: SOME }, (_, i) => {
    const from = (at + i) * size, x = numbers.subarray(from + 1, from + 1 + d);
    const draw = bytes.subarray(8 * (from + first), 8 * (from + size));
    return { which: numbers[from], x, known: numbers.subarray(from + 1 + d, from + first), draw };
  });
  const sent = Array(SOME);
  timed(0, (i) => (sent[i] = encode(some[i].which, some[i].x, some[i].draw, some[i].known)));
  timed(1, (i) => {
    try {
      decode(some[i].which, sent[i], some[i].known);
    } catch (error) {
      if (error.code !== "implausible") throw error;
    }
  });
  sent.forEach((values, i) => z.set(values, (at + i) * d));
  if (at >= rows / 10) continue;
  timed(2, () => dither.of(drawn, moving));
  timed(4, (i) => {
    ends[i].end.send(some[i].x);
    ends[i].post = ends[i].end.post(ends[i].room);
  });
  timed(3, (i) => ends[i].end.post(ends[i].room));
  for (const one of ends) posted += one.post.length / (rows / 10);
  ends.forEach(acknowledge);
}
writeFileSync(out, new Uint8Array(z.buffer));
const middle = (figures) => figures.sort((a, b) => a - b)[figures.length >> 1];
console.log(...spent.map(middle), posted);
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


def record_of(codec: SequenceCodec, known: tuple[float | str, ...] = ()) -> bytes:
    from voile.keys.pseudonyms import pseudonym
    from voile.keys.secret import Secret
    from voile.signals.channel.keys import DeviceKey, Enrolled
    from voile.signals.export.record import device_record

    secret = Secret(b"of a benchmark, and of no clinic")
    name = pseudonym(secret, "A")
    return device_record(Enrolled("A", name, DeviceKey.derive(secret, name, 1)), codec, 1, known)


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
    """Return microseconds by part and the bytes of a post, and how many rows have other bits."""
    words = [*command, "given", "out", "record", str(N)]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    made = np.fromfile(folder / "out", dtype="<u8").reshape(Z.shape)
    wrong = (made != Z.view("<u8")).any(axis=1)
    return [float(one) for one in done.stdout.split()], int(wrong.sum())


def blocks(post: float, known: int, columns: int, place: int) -> tuple[int, int, int]:
    """Return the fewest blocks of SHA-256 for dither, for the digest, and for the MAC.

    The pads of both keys are hashed before, and so are the blocks that all messages begin with.
    """

    def of(size: float) -> int:
        return int((size + 9 + 63) // 64)

    dither = of(19 + 32 * bool(known) + 8 * columns) + 1
    shared = (4 + place + 36 - 7) // 64
    mac = of(4 + place + post - 32) - shared + 1
    return dither * -(-columns // 4), of(16 + 8 * columns), mac


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
        own = ["main.c", "voile_map.c", "voile_hash.c", "voile_tables.c"]
        subprocess.run(["gcc", *FLAGS, "-O2", *own, "-o", "main"], cwd=folder, check=True)
        (folder / "main.mjs").write_text(IN_JAVASCRIPT)
        texts = {path.stem: path.read_text() for path in folder.glob("voile_*.mjs")}
        scripts = {name: len(COMMENT.sub("", text)) for name, text in texts.items()}
        spelt = scripts.pop("voile_tables")
        found = []
        both = {"C, gcc -O2": ["./main"], "JavaScript, node": ["node", "main.mjs"]}
        turns = [[timed(command, folder, Z) for command in both.values()] for _ in range(TIMES)]
        for what, runs in zip(both, zip(*turns, strict=True), strict=True):
            *spent, post = np.min([figures for figures, _ in runs], axis=0).tolist()
            wrong = max(other for _, other in runs)
            place = len("voile//readings") + record[20]
            least = blocks(post, numbers.shape[1], X.shape[1], place)
            hashed = f"{sum(least)} = {' + '.join(map(str, least))}"
            found.append((what, *(f"{v:.2f}" for v in spent), hashed, f"{wrong} of {N:,}"))
    return found, (
        f"{size / 1024:.1f} KB of tables and {code / 1024:.1f} KB of code for x86-64,\n"
        f"compiled for size; in JavaScript {sum(scripts.values()) / 1024:.1f} KB of code without\n"
        f"comments, and {spelt / 1024:.0f} KB that spell the numbers out"
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
    K = np.stack([K[:, 0].astype(object), K[:, 1].astype(int).astype(str).astype(object)], axis=1)
    of_known = SequenceMap(memory=False, random_state=0, side_resolution=[None, "nominal"])
    sequence = of_known.fit(X, c, np.arange(len(X)), known=K).codec_
    tables, record = FixedTables.of_sequence(sequence), record_of(sequence, tuple(K[0]))
    with_known, size_with_known = ends(tables, sequence.codec, record, X, c, K)
    save(
        "signals_ends",
        "Microseconds of processor time for a reading of two columns (weight and BMI of NHANES\n"
        f"2011-12, four classes): the least of {TIMES} runs' medians, in turns. `map` is encoding\n"
        "alone, `dither` the HMAC that it is drawn by, `post` the MAC of a message and the\n"
        "copy into room that is given, `message` all from the reading to the post, at an end\n"
        "in use (in JavaScript at 25 of them). Entropy and storing are the device's. `blocks`\n"
        "are the fewest of SHA-256 that a message takes: for its dither, for the session's\n"
        "digest, and for its MAC. In C the seal of the stored state takes two more.",
        ("end", "map", "decode", "dither", "post", "message", "blocks", "other bits than Python's"),
        [
            ("Python, in a batch", *(f"{v:.2f}" for v in batch), *"-----"),
            ("Python, one by one", *(f"{v:.1f}" for v in alone), *"-----"),
            *rows,
            *((f"{end}, age and sex known", *rest) for end, *rest in with_known),
        ],
        f"An export takes {size}.\nWith age and sex known it takes {size_with_known}.\n"
        + yardstick(),
    )


if __name__ == "__main__":
    main()
