"""The two scripts of a project: what they contain after each click, undo, kill and full disk."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from voile.core.errors import RequestError
from voile.workbench.history import PENDING, PYTHON, SHELL, ProjectHistory, write_now
from voile.workbench.planned_commands import FileWrite, VerbCall, write_python

CHOOSE = VerbCall(("tables", "choose", "a.kit", "--knee", "--out", "policy.toml"), "policy.toml")
FIT = VerbCall(("tables", "fit", "a.csv", "--roles", "roles.toml", "--out", "a.kit"), "a.kit")


@pytest.fixture
def history(tmp_path: Path) -> ProjectHistory:
    return ProjectHistory(tmp_path)


@pytest.mark.parametrize(
    "text", ["a = 1\n", "END_OF_FILE\nEND_OF_FILE_\n$(touch x) `touch x` \\ '\"\n", "é\u202e\n\n\n"]
)
def test_a_written_file_comes_back_from_both_scripts(
    tmp_path: Path, history: ProjectHistory, text: str
) -> None:
    write_now(tmp_path, history, "roles", FileWrite("roles.toml", text))
    written = (tmp_path / "roles.toml").read_bytes()
    again = tmp_path / "again"
    again.mkdir()
    subprocess.run(["sh", str(tmp_path / SHELL)], cwd=again, check=True)
    assert [one.name for one in again.iterdir()] == ["roles.toml"]
    assert (again / "roles.toml").read_bytes() == written
    call = ast.parse((tmp_path / PYTHON).read_text()).body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    given = [ast.literal_eval(one) for one in call.value.args]
    assert f"{given[1].rstrip()}\n".encode() == written


def test_the_same_file_again_is_no_entry(tmp_path: Path, history: ProjectHistory) -> None:
    for _ in range(2):
        write_now(tmp_path, history, "roles", FileWrite("roles.toml", "a = 1"))
    assert [(one.number, one.step) for one in history.entries] == [(1, "roles")]


def test_undo_takes_back_files_and_choices_and_no_kit(
    tmp_path: Path, history: ProjectHistory
) -> None:
    write_now(tmp_path, history, "roles", FileWrite("roles.toml", "a = 1"))
    history.begin("frontier", CHOOSE)
    (tmp_path / "policy.toml").write_text("kit = 1\n")
    history.commit()
    assert history.undo() == "frontier"
    assert not (tmp_path / "policy.toml").exists()
    write_now(tmp_path, history, "roles", FileWrite("roles.toml", "a = 2"))
    history.undo()
    assert (tmp_path / "roles.toml").read_text() == "a = 1\n"
    history.begin("adversary", FIT)
    history.commit()
    with pytest.raises(RequestError, match="Undo keeps kits"):
        history.undo()
    assert FIT.shell in history.shell


def test_a_killed_server_appends_what_appeared_and_forgets_the_rest(
    tmp_path: Path, history: ProjectHistory
) -> None:
    history.begin("frontier", CHOOSE)
    assert ProjectHistory(tmp_path).recover() is None
    assert history.entries == []
    history.begin("frontier", CHOOSE)
    (tmp_path / "policy.toml").write_text("kit = 1\n")
    ProjectHistory(tmp_path).recover()
    assert CHOOSE.shell in history.shell
    assert CHOOSE.python in history.python
    assert not (tmp_path / PENDING).exists()


@pytest.mark.parametrize(("name", "is_ours"), [("voile", True), ("other", False)])
def test_a_verb_that_still_runs_is_returned(
    tmp_path: Path, history: ProjectHistory, name: str, is_ours: bool
) -> None:
    history.begin("frontier", CHOOSE)
    process = subprocess.Popen(["sh", "-c", "sleep 60; :", name])
    try:
        history.note_process(process.pid)
        found = ProjectHistory(tmp_path).recover()
        assert found == (("frontier", CHOOSE.shell, process.pid) if is_ours else None)
    finally:
        process.kill()
        process.wait()


def test_a_full_disk_between_the_scripts_adds_no_entry_twice(
    tmp_path: Path, history: ProjectHistory
) -> None:
    history.begin("frontier", CHOOSE)
    (tmp_path / "policy.toml").write_text("kit = 1\n")
    (tmp_path / f".{SHELL}.part").mkdir()  # in the way of the second script
    with pytest.raises(RequestError, match="cannot be written"):
        history.commit()
    (tmp_path / f".{SHELL}.part").rmdir()
    ProjectHistory(tmp_path).recover()
    assert history.python.count(CHOOSE.python) == history.shell.count(CHOOSE.shell) == 1


@pytest.mark.parametrize(
    ("command", "python"),
    [
        (
            "inspect 'my table.csv' --kind itemsets --out roles.toml --force",
            "voile.inspect('my table.csv', kind='itemsets').save('roles.toml', force=True)",
        ),
        (
            "tables fit a.csv --roles r.toml --k 5 --population p.csv --seed 1 --out a.kit",
            "voile.tables.fit('a.csv', roles='r.toml', k=5, population=['p.csv'], seed=1)"
            ".save('a.kit', force=True)",
        ),
        (
            "signals apply a.kit a.csv --policy p.toml --no-pseudonyms --out r.csv",
            "voile.open_kit('a.kit').apply('p.toml', 'a.csv', 'r.csv', force=True, "
            "no_pseudonyms=True)",
        ),
        (
            "roles roles.toml --set 'a b=drop' --set --x=keep",
            "correct_roles_file(Path('roles.toml'), ['a b=drop', '--x=keep'])",
        ),
        (
            "tables edit a.kit --policy p.toml --merge --x=1 --split a=2 --out p.toml --force",
            "voile.tables.edit('a.kit', 'p.toml', policy='p.toml', merge=['--x=1'], "
            "split=['a=2'], force=True)",
        ),
        (
            "documents init n.csv --roles r.toml --known a.csv --known b.csv --by id --out n.kit",
            "voile.documents.init('n.csv', 'n.kit', roles='r.toml', known=['a.csv', 'b.csv'], "
            "by='id', force=True)",
        ),
        (
            "documents accept n.kit r.csv n.csv --at-most 2 --per 1000 --no-browser",
            "voile.documents.accept('n.kit', 'r.csv', 'n.csv', at_most=2, per=1000, browser=False)",
        ),
        (
            "study init ../in --population p.csv --out study.toml --force",
            "init_study('../in', Path('study.toml'), population='p.csv', force=True)",
        ),
        ("study check study.toml", "Study.open('study.toml').check()"),
        ("study fit study.toml --force", "Study.open('study.toml').fit(force=True)"),
        (
            "study review study.toml --part note --no-browser",
            "Study.open('study.toml').review(ReviewOptions(browser=False), WarningReporter(), "
            "part='note')",
        ),
        (
            "study accept study.toml --part note --at-most 2 --per 1000 --no-browser",
            "Study.open('study.toml').accept(ReadingOptions(at_most=2, per=1000, browser=False), "
            "WarningReporter(), part='note')",
        ),
        ("study apply study.toml", "Study.open('study.toml').apply(force=True)"),
        (
            "study attack study.toml --parts --register r.csv",
            "Study.open('study.toml').attack('r.csv', parts=True)",
        ),
        (
            "study determine study.toml --context c.toml --no-pdf --out d",
            "voile.determination.determine_study(Study.open('study.toml'), 'c.toml', 'd', "
            "pdf=False, force=True)",
        ),
        (
            "sign d --decision approve --as a@b.org --key k --condition 'x y' --condition z",
            "voile.determination.sign('d', 'approve', signer='a@b.org', key='k', "
            "conditions=['x y', 'z'])",
        ),
    ],
)
def test_commands_in_python(command: str, python: str) -> None:
    words = shlex.split(command)
    assert write_python(words) == python
    compile(python, "history.py", "exec")


def test_files_are_the_owners_alone(tmp_path: Path, history: ProjectHistory) -> None:
    write_now(tmp_path, history, "roles", FileWrite("roles.toml", "a = 1"))
    assert (os.stat(tmp_path / ".undo/1").st_mode & 0o777) == 0o700
