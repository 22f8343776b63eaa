"""The report says what was proved, and "no bound" only of what was not."""

from __future__ import annotations

from voile.report.sections import Grid, Prose
from voile.tables.verbs.report_figures import optimality_gap, risks


def proof(gaps, **columns):
    """Return what a story holds of a proof for as many weights; None: it was stopped before."""
    missing = [gap is None for gap in gaps]
    return {
        "weight": [0.1 * 2**i for i in range(len(gaps))],
        "bound": [None if none else 0.25 for none in missing],
        "best": [0.5] * len(gaps),
        "gap": gaps,
        "seconds": [None if none else 1.5 for none in missing],
        "area": 0.031,
        "hull": 0.035,
        "staircase": 0.042,
    } | columns


def told(bound, **more):
    section = optimality_gap({"search": {"bound": bound}, **more})
    (prose,) = (block for block in section.blocks if isinstance(block, Prose))
    return " ".join(prose.paragraphs), [b for b in section.blocks if isinstance(b, Grid)]


def test_nothing_asked_for_or_nothing_proved_is_no_bound():
    for bound, why in ((None, "not computed"), (proof([None, None]), "was stopped before")):
        said, grids = told(bound)
        assert said.startswith("Optimality gap: not computed")
        assert why in said
        assert not grids


def test_what_is_proved_of_some_weights_is_said_and_the_others_are_named():
    said, (grid,) = told(proof([0.02, None, 0.03]))
    assert "by more than 3.0% over the best value found" in said
    assert "For 1 more weights the gap was not computed" in said
    assert "at least 0.03100" in said  # an area is proved by some weights as well
    assert grid.rows[1][1:] == ("not proved", "0.50000", "", "")
    assert grid.rows[0][1:] == ("0.25000", "0.50000", "2.0%", "1.5")


def test_of_many_weights_the_rows_are_a_few_and_the_gap_is_that_of_all():
    gaps = [0.01] * 100
    gaps[1] = 0.2
    said, (grid,) = told(proof(gaps))
    assert "by more than 20%" in said
    assert "no bound" not in said
    assert 12 < len(grid.rows) <= 24
    assert grid.caption.endswith("for some of 100 weights")


def test_the_chosen_policy_stands_beside_what_is_proved_of_its_risk():
    said, _ = told(proof([0.0]), chosen=[0.1, 0.4, 12.0], least_loss=0.3)
    assert "The chosen policy loses 40%. No policy of its risk or less loses less than 30%." in said


def test_an_attack_alone_has_no_such_part():
    assert optimality_gap({}) is None


def test_columns_are_listed_by_their_contribution_to_the_risk():
    figures = {
        "prosecutor_mean": 0.2,
        "prosecutor_mean_without(sex)": 0.15,
        "prosecutor_mean_without(zip)": 0.05,
        "subjects": 40.0,
        "share_under_11": 0.5,
        "expected_matches": 8.0,
    }
    data = {"before": figures, "subjects": 40, "population": "the data", "assumptions": ()}
    section = risks(data, figures, "public")
    (grid,) = (b for b in section.blocks if isinstance(b, Grid) and "Contribution" in b.caption)
    assert [row[0] for row in grid.rows] == ["zip", "sex"]
    assert [row[2] for row in grid.rows] == ["75%", "25%"]
