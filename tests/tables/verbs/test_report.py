"""What the report says of people, and what it withholds from the public."""

from __future__ import annotations

import pytest

from voile.core.rounding import for_audience, round_number
from voile.report.sections import Grid
from voile.tables.verbs.report import _axes, _describe_measures, _intervals, _kit_summary
from voile.tables.verbs.report_data import STATING
from voile.tables.verbs.report_figures import risks
from voile.tables.verbs.report_losses import analysts
from voile.tables.verbs.wording import three_sentences

DATA = {
    "subjects": 1000.0,
    "population": "counted by age",
    "assumptions": [],
    "before": {"k": 1.0, "k_map": 3.0, "share_under_11": 0.007, "mean_risk": 0.2},
    "strips": {
        "chosen": [{"column": "age", "intervals": [["0-9", 1.0]]}],
        "safe-harbor": [{"column": "age", "intervals": [["0-8", 0.9], ["9", 0.1]]}],
    },
}


def grid(audience):
    return next(b for b in risks(DATA, {}, audience).blocks if isinstance(b, Grid))


def test_the_public_sees_no_small_k_and_no_share_that_comes_to_a_few():
    shown = dict(grid("public").rows)
    assert shown["people in the smallest group of the release (k)"] == "fewer than 11"
    assert shown["people in groups of fewer than 11 in the population"] == "under 1.1%"
    assert "3" in dict(grid("internal").rows).values()


@pytest.mark.parametrize(
    ("found", "shown"), [(7.0, "5 to 10"), (3.0, "fewer than 11"), (12.0, "12")]
)
def test_a_small_class_that_keeps_the_promise_is_said_to(found, shown):
    figures = dict.fromkeys(("k", "k_all_rows"), found)
    public = risks(DATA, figures, "public", least=5)
    table = next(block for block in public.blocks if isinstance(block, Grid))
    rows = {title: cell for title, _, cell in table.rows}
    assert rows["people in the smallest group of the release (k)"] == shown
    assert rows["people in the smallest group, all rows of a person known"] == shown


@pytest.mark.parametrize("subjects", [3002.0, 87.0])
def test_how_many_people_were_dropped_follows_from_no_public_sentence(subjects):
    def said(suppressed):
        data = {
            "subjects": subjects,
            "population_known": True,
            "policies": 3,
            "matches": 50.0,
            "chosen": [0.1, 0.2, 5.0],
            "measures": MEASURES,
            "marks": {},
            "absent": {},
            "search": {"evaluations": 9, "method": "steepest", "stopped": "finished"},
        }
        public = for_audience(data, "public", STATING)
        counted = {"subjects": subjects - suppressed, "suppressed": suppressed}
        counted |= {"expected_matches": 5.0, "mean_risk": 0.01}
        figures = for_audience(counted, "public", STATING)
        (kit,) = _kit_summary(public, "public").blocks
        return [*three_sentences(public, figures, "at the knee", "public"), *kit.paragraphs]

    first, *_, kit = said(2)
    assert f"of the {round_number(subjects - 2):,.0f} people in the release" in first
    assert f"of the {'3,000' if subjects > 100 else 'up to 90'} people of the source" in kit


def test_other_policies_intervals_are_for_the_holder_but_what_is_public_of_them():
    def shown(audience, **more):
        (chart,) = _intervals(DATA | more, audience).blocks
        return [(name, [s.intervals for s in strips]) for name, strips in chart.policies]

    own, harbor = shown("internal")
    assert harbor == ("Safe Harbor", [(("0-8", 0.9), ("9", 0.1))])
    assert shown("public") == [own]
    public = {"safe-harbor": [{"column": "age", "intervals": [["under 9", 0.9]]}]}
    assert shown("public", public_strips=public) == [own, ("Safe Harbor", [(("under 9", 0.9),)])]


def test_rows_of_nothing_but_zeros_are_one_sentence():
    data = DATA | {"before": DATA["before"] | {"sample_uniques": 0.0, "population_uniques": 0.0}}
    table, said = risks(data, {}, "internal").blocks[:2]
    assert "people unique in the release" not in dict(table.rows)
    assert said.paragraphs[0] == (
        "Zero in the source: people unique in the release and people unique in the population."
    )


MEASURES = {
    "risk": {"name": "matches", "title": "Expected matches", "formula": "f"},
    "loss": {"name": "information", "title": "Information lost", "formula": "g"},
}


def told(name, loss, outcomes=(), **more):
    """Return the summary's sentences and the axes of a report of these measures."""
    data = {
        "measures": {
            "risk": {"name": name, "title": "Rare people", "formula": "f"},
            "loss": {"name": loss, "title": "Detail gone", "formula": "g"},
        },
        "outcomes": list(outcomes),
        "chosen": [0.1, 0.2, 5.0],
        "matches": 11.0,
        "subjects": 100.0,
        "population_known": True,
        "marks": {"safe-harbor": [0.3, 0.4, 7.0]},
        "beats": {"safe-harbor": {"count": 3, "chosen": True}},
        **more,
    }
    searched = [prose.paragraphs[0] for prose in _describe_measures(data)]
    figures = {"subjects": 50.0, "suppressed": 0.0, "expected_matches": 2.0, "mean_risk": 0.04}
    said = three_sentences(data, figures, "where the frontier bends most")
    return [*said, *_axes(data), *searched]


def test_what_was_searched_for_is_what_is_told():
    assert told("matches", "information") == [
        "An adversary who links every record to the population is expected to re-identify "
        "about 2 of the 50 people in the release (4.0%). Without protection: about 11 of the 100 "
        "people in the fitted source.",
        "Divergence loss: 20% (0% = original, 100% = no information), as predicted by the fit.",
        "Safe Harbor on the fitted source: about 7 people expected to be re-identified, divergence "
        "loss 40%. This policy beats it in both, and so do 2 other policies found.",
        "relative risk",
        "detail gone",
    ]
    assert told("my:rare", "mutual-information", ["pay", "job"])[1:] == [
        "Loss of information about pay and job: 20% (0% = original, 100% = no information), as "
        "predicted by the fit. Remaining rare people: 10% of the source's.",
        "Safe Harbor on the fitted source: 30% of the source's rare people (about 7 people "
        "expected to be re-identified), loss of information about pay and job 40%. This policy "
        "beats it in both, and so do 2 other policies found.",
        "rare people",
        "detail gone",
        "Risk in this chart: rare people (f). Loss: detail gone (g). Outcomes: pay and job.",
    ]
    assert told("matches", "my:gone")[1] == (
        "Detail gone: 20% (0% = original, 100% = no information), as predicted by the fit."
    )


def test_a_named_policy_that_loses_nothing_is_said_to_be_beyond_beating():
    marks = {"marks": {"safe-harbor": [1.0, 3e-16, 40.0]}}
    said = told(
        "matches", "information", beats={"safe-harbor": {"count": 0, "chosen": False}}, **marks
    )
    assert said[2] == (
        "Safe Harbor on the fitted source: about 40 people expected to be re-identified, "
        "divergence loss 0%. No policy can lose less, so none beats it in both."
    )


def test_columns_of_one_group_are_named_in_one_clause():
    groups = [{"column": name, "groups": 1} for name in ("age", "sex", "zip")]
    said = told("matches", "information", lost={"columns": groups})
    assert said[1] == (
        "Divergence loss: 20% (0% = original, 100% = no information), as predicted by the fit. "
        "Columns age, sex and zip are one group each."
    )


LOST = {
    "distribution": 0.2,
    "resolution": 0.05,
    "ncp": 0.1,
    "query_error": 0.04,
    "columns": [
        {"column": "age", "groups": 7, "entropy": 0.61, "rare_lost": 0.1},
        {"column": "sex", "groups": 1, "entropy": 0.0, "rare_lost": 0.002},
    ],
}


def test_what_is_left_of_each_column_is_told_and_one_group_is_warned_of():
    many = {**LOST, "columns": [{**LOST["columns"][0], "groups": 255}]}
    public = for_audience(DATA | {"lost": many}, "public", STATING)
    assert analysts(public, "public").blocks[1].rows[0][1] == "255"  # as the codebook has it
    section = analysts(DATA | {"lost": LOST}, "public")
    prose, table = section.blocks
    assert "distribution 20%, resolution 5.0%, width of the groups (NCP) 10%" in prose.paragraphs[0]
    assert "is about 4.0%" in prose.paragraphs[1]
    assert prose.paragraphs[2].startswith("Column sex has a single interval")
    assert table.rows == (("age", "7", "61%", "10%"), ("sex", "1", "0%", "under 1.1%"))
    labels = analysts(DATA | {"lost": {**LOST, "hidden_by_labels": 0.654}}, "public").blocks[0]
    assert "By each column's labels alone, 65% of the columns' entropy" in labels.paragraphs[1]
    internal = analysts(DATA | {"lost": LOST}, "internal").blocks[1]
    assert internal.rows[1][-1] == "0.2%"
    weighted = {"name": "weighted", "title": "Lost", "formula": "0.5 x this + 0.5 x that"}
    measures = {**MEASURES, "loss": weighted}
    said = three_sentences(
        DATA
        | {"lost": LOST, "measures": measures, "chosen": [0.1, 0.125, 5.0], "marks": {}}
        | {"matches": 11.0, "population_known": True},
        {"subjects": 50.0, "suppressed": 0.0, "expected_matches": 2.0, "mean_risk": 0.04},
        "at the knee",
    )
    assert said[1] == (
        "Information loss: 12% (0% = original, 100% = no information), as predicted by the fit. "
        "Column sex is one group."
    )


def test_no_screen_calls_the_paper_s_loss_what_is_kept():
    assert not any("keeps" in said for said in told("matches", "information"))
