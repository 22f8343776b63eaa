"""What is shown, and where."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from voile.cli import screen as shown
from voile.cli.screen import CommandScreen, show_table


def test_json_alone_is_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    screen = CommandScreen(json=True)
    screen.say("hello")
    screen.result({"risk": float("nan"), "ward": "Süd", "rows": [1, (float("inf"),)]})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"risk": None, "ward": "Süd", "rows": [1, [None]]}
    assert (out.count("\n"), err) == (1, "hello\n")


def test_quiet_silences_messages_but_not_what_must_be_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = CommandScreen(quiet=True)
    screen.say("hello")
    screen.result({"a": 1})
    with screen.progress() as progress:
        progress("reading", 1, 2)
    screen.insist("rows were set aside")
    assert capsys.readouterr() == ("", "rows were set aside\n")


def test_progress_is_a_line_every_few_seconds_where_no_terminal_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with CommandScreen().progress() as progress:
        for row in range(1000):
            progress("reading", row, 1000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(shown, "LINE_EVERY", 0.0)
    with CommandScreen().progress() as progress:
        progress("reading", 250, 1000)
        progress("counting", 12345)
    assert capsys.readouterr().err == "reading: 25%\ncounting: 12,345\n"


def test_progress_is_lines_of_json_for_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOILE_PROGRESS", "json")
    with CommandScreen(quiet=True).progress() as progress:
        for row in range(1000):
            progress("reading", row, 1000)
        progress("counting", 12345)
    first, *_, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert first == {
        "progress": {"task": "reading", "done": 0, "total": 1000, "seconds_left": None}
    }
    assert last["progress"] == {
        "task": "counting",
        "done": 12345,
        "total": None,
        "seconds_left": None,
    }


def test_the_time_left_follows_from_the_share_done_since_the_step_began(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(shown.time, "monotonic", lambda: now)
    with CommandScreen().progress() as progress:
        progress("reading", 100, 1000)  # another run did a tenth
        now = 6.0
        progress("reading", 400, 1000)
        now = 18.0
        progress("reading", 1000, 1000)
    assert capsys.readouterr().err == "reading: 40%, 12 s left\nreading: 100%\n"


def test_the_time_left_is_not_estimated_from_the_first_few_of_many_parts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes start before the first part, and are not started again."""
    now = 0.0
    monkeypatch.setattr(shown.time, "monotonic", lambda: now)
    with CommandScreen().progress() as progress:
        progress("training", 0, 100)
        now = 60.0
        progress("training", 2, 100)
        now = 70.0
        progress("training", 5, 100)
    assert capsys.readouterr().err == "training: 2%\ntraining: 5%, 22 min left\n"


def test_the_time_left_of_a_vast_task_is_estimated_from_many_small_parts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(shown.time, "monotonic", lambda: now)
    monkeypatch.setattr(shown, "PARTS", 3)
    with CommandScreen().progress() as progress:
        progress("searching", 0, 10**6)
        for now in (6.0, 12.0, 18.0):
            progress("searching", now, 10**6)
    ends = [line.rpartition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert ends == ["0%", "0%", "0%, 12 days left"]


def test_a_bar_is_that_of_the_step_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Terminal()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setenv("TERM", "xterm")
    with CommandScreen().progress() as progress:
        progress("reading", 0)
        progress("counting", 5, 10)
        assert [task.description for task in progress._bars.tasks] == ["counting"]  # type: ignore[attr-defined]


def test_a_table_is_tab_separated_with_readable_figures_where_no_terminal_is() -> None:
    file = io.StringIO()
    show_table(("number", "mean_risk"), [(1000, 0.1 + 0.2), (1, None), (2, 12345.6)], file)
    assert file.getvalue() == "number\tmean_risk\n1000\t0.3\n1\t\n2\t12350\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_is_aligned_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    file = Terminal()
    show_table(("number", "mean_risk", "name"), [(10, 0.123456, "[a]"), (2, 1.0, "b")], file)
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert [line.split() for line in lines if "0.1235" in line] == [["10", "0.1235", "[a]"]]
    assert "mean risk" in file.getvalue()
    assert "\x1b" not in file.getvalue()


def test_a_table_never_cuts_a_figure_and_breaks_one_column_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    file = Terminal()
    row = ("items", "right person, 10 most identifying items of all", "1.1% (0.6 to 2.0)", "x" * 18)
    show_table(("attack", "what", "found_as_left", "control"), [row], file, wraps="what")
    plain = re.sub("\x1b.*?m", "", file.getvalue())  # bold
    lines = [line.rstrip() for line in plain.splitlines()]
    assert max(map(len, lines)) <= 60
    assert any("right person, 10 most" in line and row[2] in line for line in lines)
    assert not any("…" in line or "xxx" in line for line in lines)
    assert capsys.readouterr().err == "3 of 4 columns; a wider terminal or --json shows more\n"


def test_a_bar_is_drawn_on_a_terminal_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = Terminal()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setenv("TERM", "xterm")
    with CommandScreen().progress() as progress:
        progress("reading", 1, 2)
        progress("reading", 2, 2)
    drawn = file.getvalue()
    assert "reading" in drawn
    assert "\x1b[2K" in drawn  # the line is erased
