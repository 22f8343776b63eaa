"""A session for one served project: its view, its actions, its jobs and its history."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from threading import Lock, Thread
from typing import Any

from voile.core.errors import RequestError, VoileError
from voile.workbench.history import ProjectHistory, write_now
from voile.workbench.page_people import RIGHTS, check_act, check_holder, may_read
from voile.workbench.planned_commands import FileWrite, Move, VerbCall
from voile.workbench.project_folder import ProjectFolder, explain_damage, explain_failure
from voile.workbench.project_view import Form, ProjectView, VerbReader
from voile.workbench.reading_relay import ReadingRelay
from voile.workbench.step_screens import ACTS, SCREENS, find_states
from voile.workbench.step_screens.frontier import describe_edit
from voile.workbench.study_view import StudyView
from voile.workbench.verb_jobs import AdoptedProcess, VerbJob, VerbJobs

HIDDEN = "# Only the data holder sees the history."


class ProjectSession:
    """The session that answers the page about one project.

    Parameters
    ----------
    folder : the project.
    shown : the place of the project, as displayed on the page.
    """

    def __init__(self, folder: ProjectFolder, shown: str) -> None:
        self._folder, self._shown = folder, shown
        self._history = ProjectHistory(folder.path)
        self._reader = VerbReader(folder)
        self._jobs = VerbJobs(folder.path, self._finish)
        self._relay = ReadingRelay()
        self._lock = Lock()
        if running := self._history.recover():
            self._jobs.adopt(*running)
        Thread(target=self._read_ahead, daemon=True).start()

    @property
    def view(self) -> ProjectView:
        """A new view of the project's files."""
        given = (self._folder, self._history, self._reader)
        view = ProjectView(*given)
        return StudyView(*given) if view.kind.is_study else view

    def describe_state(self, person: str) -> dict[str, Any]:
        """Return the frame of the page: the steps, the job and the history."""
        view, last = self.view, self._jobs.last
        with explain_damage(self._folder.path):
            states = [asdict(one) for one in find_states(view)]
        return {
            "name": view.project.name,
            "place": self._shown,
            "person": person,
            "version": self._folder.fingerprint(),
            "steps": states,
            "job": None if last is None else last.describe(),
            "undo": self._history.undo_refusal,
            "entries": len(self._history.entries),
        }

    def describe_history(self, person: str) -> dict[str, str]:
        """Return both scripts to the data holder, and a refusal to others."""
        if person in RIGHTS:
            return {"shell": HIDDEN, "python": HIDDEN}
        return {"shell": self._history.shell, "python": self._history.python}

    def describe_screen(self, person: str, name: str) -> dict[str, Any]:
        """Return the screen of a step, with only the contents that a person may see."""
        if name not in SCREENS:
            raise RequestError("there is no such step")
        with explain_damage(self._folder.path):
            screen = SCREENS[name](self.view)
        return RIGHTS[person].filter_screen(name, screen) if person in RIGHTS else screen

    def plan(self, person: str, act: str, form: Form) -> dict[str, str]:
        """Return the commands of a button, or the problem of its form."""
        try:
            check_act(person, act)
            moves = self._plan(act, form)
        except RequestError as error:
            return {"problem": str(error)}
        shown = [one for one in moves if isinstance(one, VerbCall)] or moves
        return {
            "shell": "\n".join(one.shell for one in shown),
            "python": "\n".join(one.python for one in shown),
        }

    def perform(self, person: str, act: str, form: Form) -> dict[str, Any] | None:
        """Write the files of a button, and start its verb.

        Returns
        -------
        dict or None : None if a verb started, otherwise the facts that the page displays at once.

        Raises
        ------
        RequestError : a field is wrong, another verb runs, or the person may not press the button.
        """
        check_act(person, act)
        with self._lock:
            self._jobs.check_idle()
            moves = self._plan(act, form)
            step = act.partition(".")[0]
            try:
                return self._make(step, moves)
            except OSError as error:
                raise explain_failure(error, self._folder.path) from None

    def _make(self, step: str, moves: Sequence[Move]) -> dict[str, Any] | None:
        self._folder.make_key()
        done: dict[str, Any] | None = {}
        for move in moves:
            if isinstance(move, FileWrite):
                write_now(self._folder.path, self._history, step, move)
            elif move.is_edit:
                done = {"edited": self._edit(step, move)}
            else:
                self._history.begin(step, move)
                job = self._jobs.start(step, move.words)
                self._history.note_process(job.process.pid)
                done = None
        return done

    def _edit(self, step: str, move: VerbCall) -> dict[str, Any]:
        """Edit the policy in this process, because a child process would read the kit again."""
        self._history.begin(step, move)
        try:
            edited = self._reader.edit_policy(move.words)
        except BaseException:
            self._history.abandon()
            raise
        self._history.commit()
        return describe_edit(self.view, edited["figures"])

    def relay_reading(self, person: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Relay a reader's request to the running verb, and return its status and its JSON."""
        if not may_read(person):
            raise RequestError("an approver sees only public figures")
        return self._relay.ask(self._jobs.last, path, body)

    def stop(self, person: str) -> None:
        """Interrupt the running verb."""
        if not may_read(person):
            check_holder(person)
        self._jobs.stop()

    def undo(self, person: str) -> str:
        """Undo the last entry of the history, and return its step."""
        check_holder(person)
        with self._lock:
            self._jobs.check_idle()
            return self._history.undo()

    def _plan(self, act: str, form: Form) -> Sequence[Move]:
        if act not in ACTS:
            raise RequestError("there is no such button")
        return ACTS[act](self.view, form)

    def _read_ahead(self) -> None:
        """Read the frontier before anyone requests it."""
        with suppress(VoileError, OSError):
            view = self.view
            if view.kit_facts is not None:
                _ = view.policies, view.kind.has_groups and view.shown_policy

    def _finish(self, job: VerbJob) -> None:
        """Append a finished verb to the history."""
        if isinstance(job.process, AdoptedProcess):
            self._history.recover()
        elif job.state == "done":
            self._history.commit()
        else:
            self._history.abandon()
