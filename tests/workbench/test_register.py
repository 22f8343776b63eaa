"""The intruders' log, the tasks, the register and the erasure letter, typed into the page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.workbench.served import Workbench, opened
from tests.workbench.window import PATIENCE, Window

from voile.determination.context import Context

pytestmark = [pytest.mark.browser]
TODAY = datetime.now(UTC).date()
SOON, LATER = TODAY + timedelta(days=20), TODAY + timedelta(days=200)
LOG = {
    "intruders": "Ada, a student\nBen, a journalist",
    "sources": "the obituaries of the county",
    "started": str(TODAY),
    "hours": "12.5",
    "claims": "3",
    "confirmed": "1",
    "checked_by": "officer@county.org",
}
DONE = TODAY - timedelta(days=9)
TASKS = f"{DONE}; Eve; count\n{SOON}; Cy; read the log of queries\n{LATER}; Dee; test again"


@pytest.fixture
def unsigned(project: Path) -> Path:
    shutil.rmtree(project / "determination")
    return project


def write(one: Window, field: str, text: str) -> None:
    one.page.locator(f"#field-{field}").fill(text)


def test_the_log_and_the_tasks_reach_the_determination_and_the_register(
    unsigned: Path, window: Callable[..., Window]
) -> None:
    with opened(unsigned) as served:
        one = window()
        one.open(served.address)
        one.go(6, "Attack")
        for name, text in LOG.items():
            write(one, name, text)
        one.run("attack.log")
        one.go(7, "Decide")
        write(one, "tasks", TASKS)
        one.run("decide.tasks")
        one.run("decide.determine")
        one.go(8, "Again")
        register, due = one.page.locator("#main table").all()
        expect(register.locator("tbody th")).to_have_text(unsigned.name, timeout=PATIENCE)
        assert "The county's institute of public health" in register.inner_text()
        assert due.locator("tbody tr").all_inner_texts() == [
            f"{DONE}\tEve\tcount\t{unsigned.name}",
            f"{SOON}\tCy\tread the log of queries\t{unsigned.name}",
        ]
        write(one, "people", "2")
        one.run("again.letter")
        for width in (1280, 768, 390):
            one.page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                one.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                assert Axe().run(one.page).response["violations"] == [], (width, scheme)
            assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert one.messages == []
    context = Context.read_context(unsigned / "context.toml", today=TODAY)
    assert context.intruder_test is not None
    assert (context.intruder_test.rate.successes, context.intruder_test.rate.trials) == (1, 3)
    assert [x.owner for x in context.review] == ["Eve", "Cy", "Dee"]
    assert "12.5" in (unsigned / "determination/determination.html").read_text()
    facts = json.loads((unsigned / "determination/determination.json").read_text())
    letter = (unsigned / "erasure-letter.txt").read_text()
    assert facts["sha256"] in letter
    assert "2 people ask" in letter


def test_the_history_writes_the_same_log_tasks_and_letter(project: Path) -> None:
    first = (project / "history.sh").read_text().count("\n# ")
    shutil.rmtree(project / "determination/statements")
    with opened(project) as page:
        page.enter()
        page.act("attack.log", **LOG)
        page.act("decide.tasks", tasks=TASKS)
        page.act("again.letter", people="1")
        scripts = page.get("/history")
    again = project.with_name("again")
    for runner, script in ((["sh", "-c"], "shell"), ([sys.executable, "-c"], "python")):
        again.mkdir()
        head, *entries = scripts[script].split("\n# ")
        start = head if script == "python" else ""
        moves = "".join(one.partition("\n")[2] + "\n" for one in entries[-3:])
        subprocess.run([*runner, start + moves], cwd=again, check=True)
        for name in ("context.toml", "erasure-letter.txt"):
            assert (again / name).read_bytes() == (project / name).read_bytes(), name
        shutil.rmtree(again)
    assert scripts["shell"].count("\n# ") == first + 3


@pytest.mark.parametrize(
    ("act", "form", "field"),
    [
        ("attack.log", LOG | {"confirmed": "4"}, "confirmed"),
        ("attack.log", LOG | {"intruders": ""}, "intruders"),
        ("attack.log", LOG | {"started": "soon"}, "started"),
        ("decide.tasks", {"tasks": f"{SOON}; Cy"}, "tasks"),
        ("decide.tasks", {"tasks": "soon; Cy; read"}, "tasks"),
        ("decide.tasks", {"tasks": "\n".join([f"{SOON}; Cy; read"] * 51)}, "tasks"),
        ("again.letter", {"people": "0"}, "people"),
    ],
)
def test_a_wrong_line_is_named(
    served: Workbench, act: str, form: dict[str, str], field: str
) -> None:
    status, said = served.post("/act", act=act, form=form)
    assert (status, said["field"]) == (400, field)


def test_a_signed_determination_keeps_its_log(served: Workbench) -> None:
    status, said = served.post("/act", act="attack.log", form=LOG)
    assert (status, said["error"]) == (400, "A signed determination stays as it is")


def test_the_register_lists_the_other_projects_of_the_folder(project: Path) -> None:
    other = project.with_name("other-project")
    shutil.copytree(project, other)
    facts = json.loads((other / "determination/determination.json").read_text())
    facts["context"]["expires"] = str(TODAY - timedelta(days=1))
    (other / "determination/determination.json").write_text(json.dumps(facts))
    with opened(project) as page:
        page.enter()
        rows = page.block("again", "table")["rows"]
    assert [one[0] for one in rows] == [project.name, "other-project"]
    assert [one[-1].endswith("; expired") for one in rows] == [False, True]
