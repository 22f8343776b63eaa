"""Scale: the memory of `apply` on long JSON lines; killed and run again, the same bytes.

    python -m benchmarks.documents_scale              100 MB
    python -m benchmarks.documents_scale --full       10 GB, more than an hour

The notes are MEDDOCAN's again and again, what is annotated written anew each time, so that new
words never end. They are kept in the temporary folder for the next run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import string
import subprocess
import sysconfig
import tempfile
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from benchmarks.data import folder
from benchmarks.documents_speed import names_of
from benchmarks.tables import save

from voile.documents import Corpus, Document

MEGABYTES, FULL = 100, 10_000
KILLED_SHARE = 0.1
"""Of the notes, those that a killed run and two whole ones are compared on."""
LEARNT = 100
VOILE = [str(Path(sysconfig.get_path("scripts")) / "voile")]
LETTERS = {"lower": string.ascii_lowercase, "upper": string.ascii_uppercase, "digit": string.digits}


def notes(megabytes: int) -> Path:
    """Give a file of so many megabytes of notes, made once: the same bytes for any machine."""
    path = Path(tempfile.gettempdir()) / f"voile-notes-{megabytes}.jsonl"
    if path.exists():
        return path
    rng, size, part = random.Random(7), 0, path.with_suffix(".part")
    given = [*Corpus.read(folder("meddocan") / "train.jsonl.gz")]
    given += Corpus.read(folder("meddocan") / "dev.jsonl.gz")
    with part.open("wb") as file:
        for number, note in enumerate(cycle(given)):
            row = {"id": f"{number:08d}", "text": anew(note, rng)}
            size += file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if size >= megabytes * 1e6:
                break
    part.rename(path)
    return path


def anew(note: Document, rng: random.Random) -> str:
    """Write what is annotated anew: other letters and digits in the same form."""

    def like(sign: str) -> str:
        kinds = {"lower": sign.islower(), "upper": sign.isupper(), "digit": sign.isdigit()}
        return next((rng.choice(LETTERS[kind]) for kind, it_is in kinds.items() if it_is), sign)

    parts, done = [], 0
    for span in sorted(note.spans, key=lambda one: one.start):
        if span.start >= done:
            parts += [note.text[done : span.start], *map(like, note.text[span.start : span.end])]
            done = span.end
    return "".join([*parts, note.text[done:]])


def policy(place: Path) -> list[str]:
    """Learn a committee from a few notes, and return the words that apply it."""
    source, roles, kit, chosen = (
        place / name for name in ("notes.jsonl", "roles.toml", "kit", "policy.toml")
    )
    with source.open("w", encoding="utf-8") as file:
        for note in names_of("train", LEARNT):
            spans = [{"start": s.start, "end": s.end, "label": s.label} for s in note.spans]
            row = {"id": note.id, "text": note.text, "spans": spans}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    fit = ["documents", "fit", source, "--roles", roles, "--out", kit, "--miss-cost", "10"]
    voile("inspect", source, "--out", roles)
    voile(*fit, "--seed", "1", "--jobs", "2")
    voile("documents", "choose", kit, "--policy", "0", "--out", chosen)
    return ["documents", "apply", str(kit), "--policy", str(chosen), "--jobs", "2"]


def voile(*words: object) -> None:
    """Run a command to its end."""
    subprocess.run([*VOILE, *map(str, words), "--quiet"], check=True)


def run(
    words: list[str], source: Path, out: Path, *more: str, killed_after: float | None = None
) -> tuple[float, float]:
    """Apply, and return its seconds and the peak memory of all its processes, in bytes.

    `killed_after` : seconds after which all its processes are killed at once.
    """
    command = [*VOILE, *words, str(source), "--out", str(out), "--force", "--quiet", *more]
    began, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            time.sleep(0.5)
            family = descendants(process.pid)
            peak = max(peak, sum(map(memory, family)))
            if killed_after is not None and time.perf_counter() - began > killed_after:
                for number in family:
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
    if process.returncode != (0 if killed_after is None else -signal.SIGKILL):
        raise RuntimeError(f"apply ended with {process.returncode}")
    return time.perf_counter() - began, peak


def descendants(number: int) -> list[int]:
    """Return a process and all that it started."""
    try:
        told = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [number, *(one for child in map(int, told) for one in descendants(child))]


def memory(number: int) -> float:
    """Return a process's share of memory, in bytes: what several hold is shared among them."""
    try:
        told = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((1024.0 * int(x.split()[1]) for x in told.splitlines() if x.startswith("Pss:")), 0)


def digest(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="10 GB")
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    asked = parser.parse_args()
    megabytes = FULL if asked.full else asked.megabytes
    rows = []

    def tell(what: str, source: Path, seconds: float, peak: float) -> None:
        size = source.stat().st_size / 1e6
        speed = size / seconds
        row = (what, f"{size:,.0f}", f"{seconds:,.0f}", f"{speed:.1f}", f"{peak / 1e9:.2f}")
        rows.append(row)
        print(*row, flush=True)

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        words, whole = policy(place), notes(megabytes)
        tell("in an order drawn anew", whole, *run(words, whole, place / "release.jsonl"))
        (place / "release.jsonl").unlink()
        part = notes(max(1, round(megabytes * KILLED_SHARE)))
        kept, again = place / "kept.jsonl", place / "again.jsonl"
        seconds, peak = run(words, part, kept, "--keep-order")
        tell("in the source's order", part, seconds, peak)
        run(words, part, again, "--keep-order", killed_after=seconds / 2)
        if again.exists():
            raise RuntimeError("a killed run left a release")
        tell("killed at half, run again", part, *run(words, part, again, "--keep-order"))
        same = digest(kept) == digest(again)
    save(
        "documents_scale" if megabytes > MEGABYTES else "documents_scale_small",
        "`voile documents apply` with two processes on JSON lines. Spanish notes (MEDDOCAN)\n"
        "are repeated, each time with new random identifiers. The default learner, marks,\n"
        "patterns and further mentions of names.",
        ("what", "MB", "seconds", "MB a second", "peak GB, all processes"),
        rows,
        f"Killed with SIGKILL, all processes at once; it left no release, and the second run's "
        f"bytes are {'those' if same else 'NOT those'} of the run that was not killed. Memory is "
        "the processes' proportional share, looked at twice a second.",
    )


if __name__ == "__main__":
    main()
