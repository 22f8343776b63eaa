"""A reviewer and an approver have their own address, and nothing of the data holder's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workbench.served import Workbench, opened

from voile.workbench.page_people import APPROVER, RIGHTS

SCREEN = {
    "title": "Is it enough?",
    "lede": "For the institute.",
    "blocks": [
        {"block": "criteria"},
        {"block": "rows", "rows": [["Ann"]]},
        {"block": "form", "actions": [{"act": "decide.determine"}]},
        {"block": "form", "actions": [{"act": "decide.sign"}]},
    ],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "people.csv"
    place.write_text("\n".join(["age,city", *(f"{n % 50},c{n % 3}" for n in range(200))]))
    return place


def enter(page: Workbench, address: str) -> Workbench:
    other = Workbench(page.process, address)
    other.enter()
    return other


def test_each_person_has_an_address_and_only_their_own_buttons(table: Path) -> None:
    given = ("--person", "reviewer", "--person", "approver")
    with opened(table, *given) as holder:
        holder.enter()
        holder.act("data.inspect", path="../people.csv")
        for address, name in zip(holder.others, ("Reviewer", "Approver"), strict=True):
            other = enter(holder, address)
            assert other.get("/state")["person"] == name
            assert other.get("/history")["shell"] == "# Only the data holder sees the history."
            assert other.screen("data")["blocks"] == []
            for path in ("/undo", "/end"):
                assert other.post(path)[0] == 400
            status, said = other.post("/act", act="roles.save", form={"roles": {"city": "drop"}})
            assert (status, f"not the {name.lower()}" in said["error"]) == (400, True)
        status, text, _ = other.ask("GET", "/reading/screen")
        assert (status, "only public figures" in text) == (400, True)
        assert other.post("/stop")[0] == 400
        assert "voile inspect" in holder.get("/history")["shell"]


def test_an_approver_sees_the_criteria_and_signs() -> None:
    shown = RIGHTS[APPROVER].filter_screen("decide", SCREEN)
    assert shown["lede"] == "For the institute."
    assert [one["block"] for one in shown["blocks"]] == ["criteria", "form"]
    assert shown["blocks"][1]["actions"] == [{"act": "decide.sign"}]
    assert RIGHTS[APPROVER].filter_screen("release", SCREEN)["blocks"] == []
