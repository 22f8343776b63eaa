"""Notes of a ward, and what the commands are told of them.

The people and a harmless word of the notes are canaries: nothing but the release and what never
leaves may hold them.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.cli.run import run

FIRST = ["Zyxandra", "Qwertin", "Plumbert", "Vexilla", "Jorvik", "Brumelda", "Ogdenia", "Kazimort"]

LAST = ["Frobisher", "Quuxley", "Wobbington", "Snarkov", "Glimfeather", "Tumblewick", "Yarrowby"]

HARMLESS = "florbnix"
"""A word that no other text holds."""

NEWS = ["slept well", "had a fever", f"takes {HARMLESS} at noon", "walked to the window"]

WORD = re.compile("|".join([*FIRST, *LAST, HARMLESS]), re.IGNORECASE)

QUICK = ["--learners", "svm", "--cross-fit", 4, "--least-left", 50, "--jobs", 1, "--seed", 1]


def annotated(parts: list[tuple[str, str | None]]) -> tuple[str, list[dict[str, Any]]]:
    """Join words, and say where those with a label stand."""
    text, spans = "", []
    for words, label in parts:
        if label is not None:
            end = len(text) + len(words)
            spans.append({"start": len(text), "end": end, "label": label})
        text += words
    return text, spans


def note(rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Write one note, with Windows line ends."""
    name = rng.choice(FIRST)
    return annotated(
        [
            ("Patient: ", None),
            (f"{name} {rng.choice(LAST)}", "NAME"),
            (f"\r\nThe patient {rng.choice(NEWS)} and was seen by Dr. ", None),
            (rng.choice(LAST), "NAME"),
            (" on ", None),
            (f"{rng.randint(1, 28)}/{rng.randint(1, 12)}/2019", "DATE"),
            (".\r\n", None),
            (name, "NAME"),
            (" will come again.\r\n", None),
        ]
    )


def put_brat(folder: Path, name: str, text: str, spans: list[dict[str, Any]]) -> None:
    """Write a pair of files."""
    (folder / f"{name}.txt").write_bytes(text.encode())
    lines = [
        f"T{n}\t{s['label']} {s['start']} {s['end']}\t{text[s['start'] : s['end']]}\r\n"
        for n, s in enumerate(spans, 1)
    ]
    (folder / f"{name}.ann").write_bytes("".join(lines).encode())


def put_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@dataclass(frozen=True)
class Notes:
    """Annotated notes on disk, their roles and a kit."""

    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / "the notes"

    @property
    def roles(self) -> Path:
        return self.folder / "roles.toml"

    @property
    def kit(self) -> Path:
        return self.folder / "a kit"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.toml"

    def fit(self, out: Path, source: object = None) -> list[object]:
        costs = ["--miss-cost", 5, "--miss-cost", 20]
        words = ["documents", "fit", source or self.source, "--roles", self.roles, "--out", out]
        return [*words, *QUICK, *costs]

    def apply(self, out: Path, source: object = None) -> list[object]:
        words = ["documents", "apply", self.kit, source or self.source]
        return [*words, "--policy", self.policy, "--out", out]


def ran_well(*words: object) -> None:
    assert run([str(word) for word in words]) == 0


def refused(voile: Any, *words: object) -> str:
    """Run a command that is to say one sentence and leave nothing; return the sentence."""
    ran = voile(*words)
    assert ran.code == 2
    assert ran.out == ""
    said = [line for line in ran.err.splitlines() if line.startswith("voile: ")]
    assert len(said) == 1, ran.err
    assert not WORD.search(ran.err)
    return str(said[0])


def roles_of(voile: Any, source: object, out: Path) -> Path:
    assert voile("inspect", source, "--kind", "documents", "--out", out, "--quiet").code == 0
    return out


def texts_of(notes: Notes) -> list[str]:
    """Return the notes' texts by their files' names."""
    return [path.read_bytes().decode() for path in sorted(notes.source.glob("*.txt"))]


def released(path: Path) -> list[str]:
    """Return the texts of a release in JSON lines."""
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


def attack_on(notes: Notes, release: Path, truth: object = None) -> list[object]:
    words = ["documents", "attack", release, "--original", truth or notes.source, "--seed", 1]
    return [*words, "--learners", "svm", "--jobs", 1, "--inspections", 10]
