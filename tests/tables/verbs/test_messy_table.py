"""A stranger's table of 25 messy columns goes through every verb, with at most three edits."""

from __future__ import annotations

from pathlib import Path

import pytest

import voile
from voile.data import open_source

ROOT = Path(__file__).parents[3]


@pytest.fixture
def messy(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import messy_table

    return messy_table


def test_a_messy_table_goes_through_with_three_edits_at_most(messy, tmp_path):
    flow = messy.run(tmp_path, 300, method="steepest")
    assert len(flow.proposed) == 25
    assert len(flow.edits) <= 3
    assert flow.released > 150
    assert (tmp_path / "report.html").is_file()


def test_every_column_is_read_as_what_it_is(messy, tmp_path):
    source = messy.write_people(tmp_path / "people.csv", 300)
    roles = voile.inspect(source)
    by_form = {name: column.settings.get("form") for name, column in roles.columns.items()}
    assert {name: form for name, form in by_form.items() if form} == {
        "Geburtsdatum": "%d.%m.%Y",
        "Aufnahmedatum": "%m/%d/%Y",
        "Entlassungsdatum": "%d %b %Y",
        "Letzter Kontakt": "%d-%m-%y",
        "Aufnahmezeit": "%H:%M Uhr",
        "Alter": "1234 J.",
        "Gewicht": "1234,5 kg",
        "Größe": "1234,5 m",
    }
    table = open_source(source).read()
    for name in ("Raucher", "Kinder", "Gewicht", "Aufnahmezeit"):
        said = set(table[name].to_pylist()) & set(messy.MISSING)
        assert set(roles.columns[name].settings["missing"]) == said
    assert set(roles.of("identifier")) == {"Patientennummer", "Name", "E-Mail", "Telefon"}
    assert roles.of("sensitive") == ["Diagnose"]
