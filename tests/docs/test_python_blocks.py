"""What README and the guides show in Python runs as printed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pandas
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import voile.tables as vt
from voile.demo.__main__ import main as make_data
from voile.demo.county import make_county

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


PAGES = {"README.md": None, "docs/choose-items.md": "baskets", "docs/send-readings.md": "readings"}


def run(page: str, names: dict[str, Any]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize(
    "page", ["README.md", *(pytest.param(page, marks=pytest.mark.slow) for page in list(PAGES)[1:])]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_page_runs_as_printed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    if data := PAGES[page]:
        make_data([data])
    run(page, names)
    if page == "README.md":
        ages = names["release"].frame.age.astype(str).str.findall(r"\d+")
        years = ages.map(lambda ends: int(ends[-1]) - int(ends[0]) + 1).median()
        assert years == 6, "README states the median age interval in words"
        assert "interval spans six years" in (ROOT / page).read_text()
    if page != "docs/send-readings.md":
        assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_page_on_analyses_runs_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    county = make_county(people=20_000)
    patients = county.patients.to_pandas().rename(columns={"diagnosis": "dx"})
    roles = {"age": "quasi", "sex": "quasi", "zip": "quasi", "dx": "sensitive"}
    kit = vt.fit(patients, roles, population=county.population, k=5, seed=1, others="drop")
    released = kit.apply(kit.choose(least_loss=True), patients, "release.csv")
    shutil.rmtree(released.folder)
    names: dict[str, Any] = {}
    run("docs/analyse-a-release.md", names)
    true = patients.age.between(30, 39).sum()
    assert names["in_their_thirties"] == pytest.approx(true, rel=0.1)
    assert names["by_sex"].to_numpy().sum() == pytest.approx(len(patients))
    assert set(names["odds_ratios"]) == {"ten years", "men"}
    assert pandas.read_csv("ages.csv").weight.sum() == pytest.approx(len(patients))


def notebooks() -> list[str]:
    return sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


@pytest.mark.slow
def test_the_notebooks_run() -> None:
    """One process runs all, and each begins without the names of the one before."""
    book = new_notebook()
    for name in notebooks():
        cells = nbformat.read(EXAMPLES / name, as_version=4).cells
        book.cells += [new_code_cell("%reset -f"), *cells]
    NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()


@pytest.mark.parametrize("name", notebooks())
def test_a_notebook_reads_well_without_being_run(name: str) -> None:
    book = nbformat.read(EXAMPLES / name, as_version=4)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert len(notebooks()) == 4
    assert sum(bool(cell.outputs) for cell in cells) > len(cells) / 2
    for cell in cells:
        assert not [one for one in cell.outputs if one.output_type == "error"]
        for one in cell.outputs:
            said = json.dumps(one)
            assert not re.search(r"/(home|root|tmp|work|Users)/", said), cell.source
