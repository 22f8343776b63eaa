"""One sentence for everything that is wrong, in the shell and on the page, and no data is lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workbench.served import Workbench, opened

REQUIRED = {
    *("recipient", "purpose", "legal_basis", "prepared_by"),
    *("stronger", "contract", "access", "audit"),
}
OPTIONAL = {
    *("population", "register_file", "person", "joint"),
    *(f"{one}.accept" for one in ("singling-out", "linkability", "inference", "kept-columns")),
}
"""The empty fields of Adversary: those that a person has to fill in, and the others."""
ROWS = "\n".join(["age,city", *(f"{n % 50},c{n % 3}" for n in range(200))])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "people.csv"
    place.write_text(ROWS)
    return place


def refuse(*given: str | Path, cwd: Path | None = None) -> str:
    """Run a `voile open` that cannot work, and return its one sentence."""
    command = [sys.executable, "-m", "voile", "open", *map(str, given), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def entered(page: Workbench) -> Workbench:
    page.enter()
    return page


def test_a_folder_that_is_not_a_project(tmp_path: Path) -> None:
    assert "this folder is not a project" in refuse(tmp_path)
    assert "this folder is not a project" in refuse(cwd=tmp_path)
    assert "no such file or folder" in refuse(tmp_path / "none.csv")
    (tmp_path / "project.toml").write_text('name = "another program\'s"')
    assert "this is not a project" in refuse(tmp_path)


def test_a_project_of_a_newer_version(tmp_path: Path) -> None:
    (tmp_path / "project.toml").write_text('format = "voile-project"\nversion = 9\nnew = 1\n')
    assert "a newer voile made this project (version 9); update voile" in refuse(tmp_path)


def test_a_project_with_a_mistake(tmp_path: Path) -> None:
    text = 'format = "voile-project"\nversion = 1\nname = "x"\n[fit]\nk = 0\n'
    (tmp_path / "project.toml").write_text(text)
    with opened(tmp_path) as page:
        status, said, _ = entered(page).ask("GET", "/state")
        assert status == 400
        assert "fit.k" in json.loads(said)["error"]
        (tmp_path / "project.toml").write_text(text.replace("k = 0", "k = 5"))
        assert page.get("/state")["name"] == "x"
    (tmp_path / "project.toml").write_text("format = ")
    assert "this is not TOML" in refuse(tmp_path)


def test_who_prepared_a_release_cannot_approve_it_on_the_page(project: Path) -> None:
    with opened(project) as page:
        form = {"decision": "approve", "as": "Engineer@County.org", "key": "../officer"}
        status, said = entered(page).post("/act", act="decide.sign", form=form)
        assert (status, said["field"]) == (400, "as")
        assert "prepared the release and cannot approve it" in said["error"]


def test_a_port_in_use_and_a_project_in_use(table: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"the port {port} is taken" in refuse(table, "--port", str(port))
    with opened(table):
        assert "another voile serves this project" in refuse(table)


def test_no_browser(table: Path) -> None:
    command = [sys.executable, "-m", "voile", "open", str(table)]
    env = {name: x for name, x in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env |= {"BROWSER": "false", "PATH": "/nowhere"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stderr.close()
    assert "http://127.0.0.1:" in lines[0]
    assert "no browser opened; open the address above yourself" in lines[2]
    assert not (table.with_name("people-project") / ".open.html").exists()


def test_a_file_that_changes_while_the_page_is_open(table: Path) -> None:
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        before = page.get("/state")
        assert before["steps"][0]["state"] == "done"
        table.write_text(f"{ROWS}\n7,c9\n")
        after = page.get("/state")
        assert after["version"] != before["version"]
        assert after["steps"][0]["state"] == "stale"
        assert "people.csv changed" in after["steps"][0]["why"]
        page.act("data.accept")
        assert page.get("/state")["steps"][0]["state"] == "done"
        table.unlink()
        assert "people.csv is gone" in page.get("/state")["steps"][0]["why"]
        assert page.block("data", "note")["text"].endswith("Put it back, or enter another path.")


def test_a_command_in_a_shell_moves_the_page_and_damage_is_one_sentence(table: Path) -> None:
    project = table.with_name("people-project")
    with opened(table) as page:
        entered(page)
        before = page.get("/state")
        command = [sys.executable, "-m", "voile", "inspect", "../people.csv", "--out", "roles.toml"]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        after = page.get("/state")
        assert [one["state"] for one in before["steps"][:2]] == ["open", "blocked"]
        assert after["version"] != before["version"]
        assert after["steps"][1]["state"] == "open"
        whole = (project / "roles.toml").read_text()
        (project / "roles.toml").write_text("[columns\n")
        status, text, _ = page.ask("GET", "/state")
        assert status == 400
        assert "roles.toml: this is not TOML" in json.loads(text)["error"]
        (project / "roles.toml").write_text("[columns]\nage = 3\n")
        status, text, _ = page.ask("GET", "/state")
        assert status == 400
        assert "a file of the project is damaged" in json.loads(text)["error"]
        (project / "roles.toml").write_text(whole)
        assert page.get("/state")["version"] == after["version"]


def test_a_verb_that_fails_leaves_the_history_as_it_was(table: Path) -> None:
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        history = page.get("/history")
        table.write_text("")
        status, _ = page.post("/act", act="data.inspect", form={"path": "../people.csv"})
        assert status == 204
        job = page.wait()["job"]
        assert job["state"] == "failed"
        assert job["error"]["what"]
        verbs = [x for x in page.get("/history")["shell"].splitlines() if x.startswith("voile")]
        assert verbs == [x for x in history["shell"].splitlines() if x.startswith("voile")]


def test_all_empty_fields_are_named_at_once(table: Path) -> None:
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        form = page.form("adversary")
        empty = {name for name, text in form.items() if text == ""} - OPTIONAL
        assert empty == REQUIRED
        status, said = page.post("/act", act="adversary.save", form=form)
        assert (status, said["problems"].keys()) == (400, REQUIRED)
        assert said["problems"]["recipient"] == '"Recipient" is empty; fill it in'
        assert "8 fields are empty" in said["error"]
        page.act("adversary.save", **form | dict.fromkeys(REQUIRED, "as agreed"))
        assert page.get("/state")["steps"][2]["state"] == "done"


def test_a_population_without_a_column_is_named_at_its_field(table: Path) -> None:
    counts = table.with_name("population.csv")
    counts.write_text("\n".join(["age,people", *(f"{n},9" for n in range(50))]))
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        page.act("roles.save", roles={"age": "quasi", "city": "quasi"})
        filled = dict.fromkeys(REQUIRED, "as agreed") | {"population": "../population.csv"}
        page.act("adversary.save", **page.form("adversary") | filled)
        groups = page.block("adversary", "form")["groups"]
        field = next(x for x in groups[0]["fields"] if x["name"] == "population")
        assert field["warn"].startswith("This table has no city.")
        assert "--population" not in attack_words(page)
        counts.write_text(counts.read_text().replace("age,people", "age,people,city"))
        assert "--population ../population.csv" in attack_words(page)


def attack_words(page: Workbench) -> str:
    return str(page.post("/plan", act="attack.run", form={})[1]["shell"])


def test_undo_restores_the_small_files(table: Path) -> None:
    project = table.with_name("people-project")
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        roles = (project / "roles.toml").read_text()
        page.act("roles.save", roles={"city": "drop"})
        assert (project / "roles.toml").read_text() != roles
        assert page.post("/undo") == (200, {"step": "roles"})
        assert (project / "roles.toml").read_text() == roles
        assert 'city = "drop"' not in page.get("/history")["shell"]
        page.post("/undo")
        page.post("/undo")
        assert not (project / "roles.toml").exists()
        status, said = page.post("/undo")
        assert (status, said["error"]) == (400, "Nothing to undo")


def test_a_disk_that_fills(table: Path) -> None:
    """A limit on the size of files stands for the full disk: writing fails in the same way."""
    project = table.with_name("people-project")
    with opened(table) as page:
        entered(page).act("data.inspect", path="../people.csv")
        roles, history = (project / "roles.toml").read_text(), page.get("/history")
        _, most = resource.prlimit(page.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(page.process.pid, resource.RLIMIT_FSIZE, (16, most))
        status, said = page.post("/act", act="roles.save", form={"roles": {"city": "drop"}})
        assert status == 400
        assert "cannot be written" in said["error"]
        assert "make room on the disk" in said["error"]
        resource.prlimit(page.process.pid, resource.RLIMIT_FSIZE, (most, most))
        assert (project / "roles.toml").read_text() == roles
        assert page.get("/history") == history
        page.act("roles.save", roles={"city": "drop"})


def test_a_killed_server_loses_nothing(table: Path) -> None:
    project = table.with_name("people-project")
    with opened(table) as page:
        entered(page)
        page.post("/act", act="data.inspect", form={"path": "../people.csv"})
        job = page.get("/state")["job"]
        page.process.kill()
        page.process.wait()
    assert job["state"] in ("running", "done")
    with opened(table) as page:
        entered(page)
        page.wait()
        assert "voile inspect ../people.csv --out roles.toml" in page.get("/history")["shell"]
        assert not (project / ".pending.json").exists()
