"""A fit with an analysis: the kit holds it, the report shows it, the public sees no coefficient."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.compute as pc
import pytest
from tests.tables.analysis.patients import table

import voile.tables as vt
from voile.core.errors import RequestError
from voile.tables.verbs.content import TablesContent

ROLES = {
    "subject": "pid",
    "columns": {
        "pid": "identifier", "age": "quasi", "sex": "quasi", "dose": "keep", "sick": "sensitive",
    },
}  # fmt: skip
MODEL = {"outcome": "sick", "predictors": ["age", "sex", "dose"], "family": "logistic"}
MODEL |= {"positive": "yes"}


def fitted(analysis, **options):
    how = {"k": 5, "suppress": 0.05, "method": "steepest", "seed": 1, **options}
    return vt.fit(table(), roles=ROLES, analysis=analysis, **how)


@pytest.fixture(scope="module")
def kit():
    return fitted(MODEL)


def test_policies_of_less_loss_keep_more(kit, tmp_path):
    kit.save(tmp_path / "a.kit")
    import voile

    analysis = TablesContent.of(voile.open_kit(tmp_path / "a.kit")).analysis
    assert analysis == json.loads(json.dumps(TablesContent.of(kit).analysis))
    kept = [one["mean_overlap"] for _, one in analysis["policies"]]
    assert kept[-1] > kept[0]
    assert kept[-1] > 0.8
    assert (
        analysis["source"]["score"]
        >= max(one["release"]["score"] for _, one in analysis["policies"]) - 0.02
    )


def test_the_report_shows_it_and_the_public_no_coefficient(kit, tmp_path):
    release = kit.apply(kit.choose(knee=True), table(), no_pseudonyms=True)
    analysis = TablesContent.of(kit).analysis
    digits = {f"{value:.3g}" for value in analysis["source"]["value"]}
    for subject in (kit, release):
        public = str(subject.report().html)
        assert "AUC" in public
        assert not [one for one in digits if one in public]
    internal = str(release.report(internal=True).html)
    assert all(one in internal for one in digits)


def test_a_function_of_ones_own_sees_intervals_as_their_means():
    seen = []

    def older(rows):
        seen.append(rows.schema.names)
        return {"mean age": pc.mean(rows["age"]).as_py(), "dose": pc.mean(rows["dose"]).as_py()}

    analysis = TablesContent.of(fitted(older)).analysis
    assert seen[0] == ["age", "sex", "dose", "sick"]
    assert list(analysis["source"]["terms"]) == ["mean age", "dose"]
    assert np.isclose(analysis["source"]["value"][0], pc.mean(table()["age"]).as_py())
    assert analysis["policies"][-1][1]["overlap"][1] > 0.9


@pytest.mark.parametrize(
    ("analysis", "said"),
    [
        (MODEL | {"outcome": "age", "predictors": ["sex"]}, "the outcome age is generalised"),
        (MODEL | {"predictors": ["pid"]}, "column pid is not released"),
        (MODEL | {"positive": "maybe"}, "every row's outcome is positive, or none is"),
        ({"outcome": "sick"}, "predictors: is absent"),
        (3, "the argument is not a plan"),
    ],
)
def test_what_cannot_be_analysed_is_refused_before_the_search(analysis, said):
    with pytest.raises(RequestError, match=said):
        fitted(analysis)
