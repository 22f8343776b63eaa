"""What README and the guides show in Python runs as printed, on frames of the names they use."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pandas
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import voile.tables as vt
from voile.cli.run import run as voile
from voile.demo.county import make_county

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def made_up() -> ModuleType:
    """Return the notebooks' own data."""
    spec = spec_from_file_location("made_up", EXAMPLES / "made_up.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_people(_: Path) -> dict[str, Any]:
    county = make_county(people=10_000)
    patients = county.patients.to_pandas().rename(columns={"diagnosis": "dx"})
    return {"people": patients[["age", "zip", "dx"]], "census": county.population}


def of_notes(folder: Path) -> dict[str, Any]:
    frames = {"notes": made_up().notes(70, seed=1), "checked": made_up().notes(40, seed=2)}
    for name, frame in frames.items():
        (folder / name).mkdir()
        for number, (text, spans) in enumerate(zip(frame.note, frame.spans, strict=True)):
            marks = "".join(
                f"T{x}\t{s['label']} {s['start']} {s['end']}\t{text[s['start'] : s['end']]}\n"
                for x, s in enumerate(json.loads(spans), 1)
            )
            (folder / name / f"{number}.txt").write_text(text)
            (folder / name / f"{number}.ann").write_text(marks)
    return frames


def of_readings(_: Path) -> dict[str, Any]:
    frame = made_up().readings()
    return {
        "readings": frame,
        "X": frame[["weight", "pulse"]].to_numpy(),
        "c": frame.condition.to_numpy(),
        "K": np.random.default_rng(0).choice(["f", "m"], len(frame)),
    }


PAGES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "README.md": lambda _: {},
    "docs/release-a-table.md": of_people,
    "docs/choose-items.md": lambda _: {},
    "docs/send-readings.md": of_readings,
}


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
    names = PAGES[page](tmp_path)
    run(page, names)
    if page == "README.md":
        ages = names["release"].frame.age.astype(str).str.findall(r"\d+")
        years = ages.map(lambda ends: int(ends[-1]) - int(ends[0]) + 1).median()
        assert years == 6, "README states the median age interval in words"
        assert "interval spans six years" in (ROOT / page).read_text()
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_commands_on_items_run_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/choose-items.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], {})
    for command in re.findall(r"^    voile (.*)$", page, re.MULTILINE):
        assert voile(command.split()) == 0, (command, capsys.readouterr().err)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_page_on_text_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_SECRET", "a secret of the tests alone, 64 characters or so long")
    run("docs/sanitise-text.md", of_notes(tmp_path))
    assert (tmp_path / "release.jsonl.private" / "evidence.json").exists()


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
