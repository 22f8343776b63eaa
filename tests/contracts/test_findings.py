"""Test that every figure that a person reads is a named finding, or a prediction of the fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from tests.contracts.findings import check_findings, check_measured

from voile.cli.results import write_figures
from voile.gate.source_risks import OF_SOURCE, find_source_figures
from voile.release.inventory import Fate
from voile.release.manifest import INVENTORY, PREDICTED, StoredRelease
from voile.release.verify import as_published
from voile.report import render
from voile.report.sections import Figure, Figures, FrontierChart, Grid, Prose, Section
from voile.tables.scoring.disclosure import OF_SENSITIVE
from voile.tables.verbs.report_data import STATING
from voile.tables.verbs.report_figures import TITLES

PREDICTION = re.compile("[Pp]redicted by the fit|the fit predicted")
LISTED = "each public figure is a finding, or listed as a prediction of the fit"
OF_FIT = {
    "documents": {"Identifiers left", "Harmless tokens removed"},
    "itemsets": {"Utility lost"},
    "signals": {"Relative leakage", "Distortion"},
}
"""Key figures of a report that only the fit knows, where no attack measured them."""


@pytest.fixture(scope="module")
def release(case: Any, tmp_path_factory: pytest.TempPathFactory) -> StoredRelease:
    return case.apply(tmp_path_factory.mktemp("found") / "release.csv")


def test_each_private_figure_is_the_value_of_one_finding(release: StoredRelease) -> None:
    assert check_findings(release.private or {})


def test_each_public_figure_is_a_finding_or_predicted_by_the_fit(
    case: Any, release: StoredRelease
) -> None:
    private = release.private or {}
    findings, chosen = private["figures"], private["chosen"]["figures"]
    assert release.public["figures"].keys() <= {*findings, *chosen}
    predicted = release.public["figures"].keys() - findings.keys()
    assert predicted == {*release.public[PREDICTED]}
    if case.kind == "tables":
        assert predicted == {"loss"}
    assert all(check.holds for check in as_published(release))
    false = {**release.public["figures"], "unheard_of": 0.5}
    forged = StoredRelease(release.path, {**release.public, "figures": false}, private)
    assert not all(check.holds for check in as_published(forged))
    if predicted:  # a figure of the fit that is passed off as a finding
        forged = StoredRelease(release.path, {**release.public, PREDICTED: []}, private)
        assert [check.says for check in as_published(forged) if not check.holds] == [LISTED]


def test_apply_marks_the_predictions_of_the_fit(release: StoredRelease) -> None:
    figures, predicted = release.public["figures"], release.public[PREDICTED]
    text = write_figures(release.kind, figures, predicted=predicted)
    shown = [*figures][: text.count(", ") + 1]
    assert text.count("predicted by the fit") == len({*predicted} & {*shown})
    assert release._repr_html_().count("predicted by the fit") == len(predicted)


def test_verify_names_only_findings_and_predictions(case: Any, release: StoredRelease) -> None:
    private = release.private or {}
    known = {*private["figures"], *private["chosen"]["figures"]}
    said = [check.says for check in case.module.verify(release)]
    counted = {text.removesuffix(" is as certified") for text in said if "as certified" in text}
    rest = [text.split(": ")[0] for text in said if ": not " in text]
    listed = {name for text in rest for name in re.split(r", | and ", text)}
    assert counted
    assert counted <= private["figures"].keys()
    assert listed <= known
    assert counted | listed == private["figures"].keys() | release.public["figures"].keys()
    of_fit = [text.split(": ")[0] for text in said if text.endswith("predicted by the fit")]
    named = {name for text in of_fit for name in re.split(r", | and ", text)}
    assert named == {*release.public[PREDICTED]}


def test_a_determination_measures_by_findings_and_attacks(
    case: Any, release: StoredRelease
) -> None:
    figures, public = (release.private or {})["figures"], release.public
    for evidence in ((), case.attack(release)):
        check_measured(case.module.criteria, public, evidence, figures, kind=case.kind)
    if case.kind == "itemsets":
        assert figures["anonymity"] >= public["figures"]["k"]


def report_of(case: Any, release: StoredRelease, audience: Any) -> tuple[Section, ...]:
    return case.module.report(release, (), audience=audience)


def blocks_of(sections: tuple[Section, ...], kind: type[Any]) -> Iterator[Any]:
    return (block for one in sections for block in one.blocks if isinstance(block, kind))


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_a_report_calls_predictions_so(case: Any, release: StoredRelease, audience: Any) -> None:
    shown: list[Figure] = [
        figure
        for block in blocks_of(report_of(case, release, audience), Figures)
        for figure in block.figures
    ]
    loss = release.public.get("measures", {}).get("loss", {}).get("title")
    own = [one for one in shown if one.label in OF_FIT.get(case.kind, {loss})]
    assert own
    if case.kind == "tables" and audience == "internal":  # others read the fit's figure
        assert all("measured on the written release" in one.meaning for one in own), own
    else:
        assert all(PREDICTION.search(one.meaning) for one in own), own


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_sentences_call_a_public_loss_a_prediction(
    case: Any, release: StoredRelease, audience: Any
) -> None:
    if case.kind != "tables":
        pytest.skip("only a table's report states its loss in a sentence")
    said = [
        text
        for block in blocks_of(report_of(case, release, audience), Prose)
        for text in block.paragraphs
        if text.startswith("Information loss: ")
    ]
    assert said
    assert all(("predicted by the fit" in text) == (audience == "public") for text in said)


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_risk_table_shows_findings(case: Any, release: StoredRelease, audience: Any) -> None:
    """Each cell of the release is the finding of its row, as it is written for its audience."""
    if case.kind != "tables":
        pytest.skip("only tables have a table of risks")
    figures = (release.private or {})["figures"]
    sections = report_of(case, release, audience)
    [grid] = [one for one in blocks_of(sections, Grid) if one.columns[0] == "measure"]
    names = {
        title: name for name, title in TITLES.items() if name in figures or name in OF_SENSITIVE
    }
    page = render("report", sections, audience=audience, facts={})
    own = find_source_figures(figures)
    for title, before, cell in grid.rows:
        column, _, measure = title.rpartition(": ") if title not in names else ("", "", title)
        name = f"{names[measure]}({column})" if column else names[title]
        assert is_written(figures[name], cell, audience), (name, figures[name], cell)
        assert cell in page.replace("&lt;", "<")
        assert (before == "–") == (name not in own), name
        if before != "–":
            told = STATING(own[name], OF_SOURCE + name) if audience == "public" else own[name]
            assert is_written(told, before, audience), (name, told, before)
    assert "predicted" not in grid.caption


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_detail_for_analysts_is_found(case: Any, release: StoredRelease, audience: Any) -> None:
    """Each cell is a finding of its column, and so is the error of queries."""
    if case.kind != "tables":
        pytest.skip("only tables keep detail of columns")
    figures = (release.private or {})["figures"]
    section = next(one for one in report_of(case, release, audience) if one.key == "analysts")
    [grid], [prose] = blocks_of((section,), Grid), blocks_of((section,), Prose)
    assert [row[0] for row in grid.rows] == ["age", "sex", "zip"]
    for row in grid.rows:
        cells = dict(zip(("labels", "entropy_kept", "rare_values_merged"), row[1:], strict=True))
        for name, cell in cells.items():
            value = figures[f"{name}({row[0]})"]
            assert is_written(value, cell, audience), (name, value, cell)
    assert "fit" not in grid.caption
    errors = [one for one in prose.paragraphs if "COUNT queries" in one]
    assert len(errors) == 1
    assert "fit" not in errors[0]
    shown = re.findall(r"([\d.]+%)\.$", errors[0])[0]
    error = figures["query_error"]  # one digit for the public: a second reveals a record
    told = float(f"{error:.1g}") if audience == "public" else error
    assert is_written(told, shown, audience), (error, shown)


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_a_frontier_is_called_the_score_of_the_fit(
    case: Any, release: StoredRelease, audience: Any
) -> None:
    charts = [*blocks_of(report_of(case, release, audience), FrontierChart)]
    assert charts
    assert all("as scored by the fit" in one.caption for one in charts)


def test_a_source_without_findings_is_called_a_prediction(
    case: Any, release: StoredRelease
) -> None:
    """Of a release of an older version, or of a table that generalises nothing."""
    if case.kind != "tables":
        pytest.skip("only tables have a table of risks")
    private = release.private or {}
    left = {name: x for name, x in private["figures"].items() if not name.startswith(OF_SOURCE)}
    older = StoredRelease(release.path, release.public, {**private, "figures": left})
    grids = [*blocks_of(report_of(case, older, "internal"), Grid)]
    [grid] = [one for one in grids if one.columns[0] == "measure"]
    assert grid.caption.startswith("The source, predicted by the fit")


def is_written(value: float, cell: str, audience: str) -> bool:
    """Say whether a cell is a figure: a share, a count in full, in two digits, or a range."""
    written = cell.split(" (")[0].removeprefix("about ").replace(",", "")
    if written.startswith(("fewer than", "under")):
        return value < float(written.split()[-1].rstrip("%"))
    if " to " in written:
        low, high = map(float, written.split(" to "))
        return low <= value <= high
    share = written.endswith("%")
    number = float(written.rstrip("%")) / (100 if share else 1)
    exact = not share and audience == "internal"
    return abs(number - value) <= max(0.5 if exact else 0.0, 0.06 * abs(value))


def test_each_source_column_has_one_fate(case: Any, release: StoredRelease) -> None:
    fates = (release.private or {})[INVENTORY]
    assert fates.keys() == set(case.table.column_names)
    assert set(fates.values()) <= set(get_args(Fate))
    assert fates["ward"] == "released"
    assert fates["name"] == "dropped"
    released = {one.get("from", one["column"]) for one in release.public["columns"]}
    assert {name for name, fate in fates.items() if fate == "released"} <= released
