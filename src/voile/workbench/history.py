"""The history of a project: a shell script and a Python script that repeat it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from voile.core.errors import RequestError
from voile.workbench.planned_commands import FileWrite, Move, VerbCall
from voile.workbench.project_folder import SMALL_FILES, replace_file
from voile.workbench.verb_jobs import is_running

SHELL, PYTHON = "history.sh", "history.py"
UNDO, PENDING = ".undo", ".pending.json"
SHELL_HEAD = """#!/bin/sh
# Makes this project again: sh history.sh in an empty folder, with private/key copied there.
set -eu
"""
PYTHON_HEAD = '''"""Make this project again in an empty folder, with private/key copied there."""

from pathlib import Path

import voile
import voile.determination
import voile.documents
import voile.itemsets
import voile.signals
import voile.tables
from voile.data.roles_file import correct_roles_file
from voile.documents.own_options import ReadingOptions, ReviewOptions
from voile.face.verbs import WarningReporter
from voile.study import Study
from voile.study.verbs.init import init as init_study


def write(name, text):
    Path(name).write_text(text.rstrip() + "\\n", "utf-8")

'''
ENTRY = re.compile(r"^# (\d+) ([a-z]+)$", re.MULTILINE)


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of the history: its number and its step."""

    number: int
    step: str


class ProjectHistory:
    """The two scripts of a project, and copies of the small files before each entry."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()  # a verb may end while its process is recorded

    @property
    def shell(self) -> str:
        """The shell script."""
        return self._read_file(SHELL) or SHELL_HEAD

    @property
    def python(self) -> str:
        """The Python script."""
        return self._read_file(PYTHON) or PYTHON_HEAD

    @property
    def entries(self) -> list[HistoryEntry]:
        """The entries of the shell script, in order."""
        return [HistoryEntry(int(one[1]), one[2]) for one in ENTRY.finditer(self.shell)]

    def begin(self, step: str, move: Move) -> None:
        """Copy the small files and record the move, before it is made."""
        place = self._snapshot(self._next)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700, parents=True)
        for name in SMALL_FILES:
            if (self._folder / name).is_file():
                shutil.copy2(self._folder / name, place / name)
        noted: dict[str, object] = {"step": step, "shell": move.shell, "python": move.python}
        if isinstance(move, VerbCall):
            noted |= {"writes": move.writes, "before": _stamp(self._folder / move.writes)}
        replace_file(self._folder / PENDING, json.dumps(noted))

    def commit(self) -> None:
        """Append the begun move to both scripts."""
        with self._lock:
            self._append()
            self._forget()

    def abandon(self) -> None:
        """Discard the recorded move."""
        with self._lock:
            self._forget()

    def _append(self) -> None:
        noted = json.loads((self._folder / PENDING).read_text("utf-8"))
        head = f"\n# {self._next} {noted['step']}\n"
        if head not in self.python:  # a full disk may have stopped an earlier attempt here
            python = f"{self.python.rstrip()}\n{head}{noted['python']}\n"
            replace_file(self._folder / PYTHON, python)
        replace_file(self._folder / SHELL, f"{self.shell.rstrip()}\n{head}{noted['shell']}\n")

    def _forget(self) -> None:
        (self._folder / PENDING).unlink(missing_ok=True)

    def note_process(self, pid: int) -> None:
        """Record the process of the running verb."""
        with self._lock:
            noted = json.loads(self._read_file(PENDING) or "null")
            if noted:  # otherwise the verb has already ended
                replace_file(self._folder / PENDING, json.dumps({**noted, "pid": pid}))

    def recover(self) -> tuple[str, str, int] | None:
        """Finish a move that a killed server began: append it if its output appeared.

        Returns
        -------
        tuple or None : the step, the command and the process of a verb that still runs, if there is
            one.
        """
        try:
            noted = json.loads(self._read_file(PENDING) or "null")
        except json.JSONDecodeError:
            noted = None
        writes = noted.get("writes") if isinstance(noted, dict) else None
        if writes and is_running(noted.get("pid")):
            return noted["step"], noted["shell"], noted["pid"]
        if writes and _stamp(self._folder / writes) != noted["before"]:
            self.commit()
        self.abandon()
        return None

    @property
    def undo_refusal(self) -> str:
        """The reason why the last entry cannot be undone. Empty if it can."""
        if not self.entries:
            return "Nothing to undo."
        if not self._snapshot(self.entries[-1].number).is_dir():
            return "The last entry is older than this copy of the project."
        if not self._is_small():
            return "Undo keeps kits, releases and signatures. Choose again instead."
        return ""

    def undo(self) -> str:
        """Undo the last entry, restore the small files, and return the entry's step.

        Raises
        ------
        RequestError : the last entry wrote more than a small file.
        """
        if why := self.undo_refusal:
            raise RequestError(why.rstrip("."))
        last = self.entries[-1]
        place = self._snapshot(last.number)
        for name in SMALL_FILES:
            if (place / name).is_file():
                replace_file(self._folder / name, (place / name).read_text("utf-8"))
            else:
                (self._folder / name).unlink(missing_ok=True)
        mark = f"\n# {last.number} {last.step}\n"
        for name, text in ((PYTHON, self.python), (SHELL, self.shell)):
            replace_file(self._folder / name, text[: text.rindex(mark)])
        shutil.rmtree(place, ignore_errors=True)
        return last.step

    def _is_small(self) -> bool:
        """Return whether the last entry wrote one of the small files."""
        text = self.shell[[*ENTRY.finditer(self.shell)][-1].end() :]
        ways = ("cat >", "--out", "voile roles")
        return any(f"{way} {name}" in text for name in SMALL_FILES for way in ways)

    @property
    def _next(self) -> int:
        return self.entries[-1].number + 1 if self.entries else 1

    def _snapshot(self, number: int) -> Path:
        return self._folder / UNDO / str(number)

    def _read_file(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("utf-8")
        except FileNotFoundError:
            return ""


def _stamp(place: Path) -> Sequence[int]:
    """Return the modification times and the inode of an output, which change with each write."""
    try:
        seen = place.stat()
    except OSError:
        return []
    inside = [one.stat().st_mtime_ns for one in place.iterdir()] if place.is_dir() else []
    return [seen.st_ino, seen.st_mtime_ns, *sorted(inside)]


def write_now(folder: Path, history: ProjectHistory, step: str, move: FileWrite) -> None:
    """Write a small file, and append it to the history."""
    text = f"{move.text.rstrip()}\n"
    place = folder / move.name
    if place.is_file() and place.read_text("utf-8") == text:
        return
    history.begin(step, move)
    replace_file(place, text)
    history.commit()
