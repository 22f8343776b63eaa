"""Relations in roles files and kits: declared, refused, and stated with their figure."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.clinic import applied, decoded, fitted

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.kit import StoredKit
from voile.signals import SignalsWarning
from voile.signals.fitting.fit import fit
from voile.signals.model.content import SignalsContent
from voile.signals.options import FitOptions
from voile.signals.verbs.report import sections

COLUMNS = {
    "id": "identifier",
    "height": "reading",
    "weight": {"role": "reading", "resolution": 0.1},
    "bmi": {"role": "reading", "relation": "weight / (height / 100) ** 2"},
    "ill": "private",
}


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 2
    height = np.round(rng.normal(170, 9, n))
    weight = np.round(rng.normal(66 + 12 * ill, 9, n), 1)
    return {
        "id": [f"p{i}" for i in range(n)],
        "height": height,
        "weight": weight,
        "bmi": np.round(1e4 * weight / height**2, 1),
        "ill": np.where(ill, "yes", "no"),
    }


def roles(**changed):
    columns = {k: v for k, v in {**COLUMNS, **changed}.items() if v}
    return Roles.model_validate({"subject": "id", "columns": columns})


def kit_of(table, said=None, **options):
    return fitted(pa.table(table), said or roles(), method=["transport"], strength=[1], **options)


@pytest.mark.parametrize("relation", ["weight / (height / 100) ** 2", None])
def test_a_kit_holds_the_relation_states_its_figure_and_decodes_exactly(relation, tmp_path):
    table = people()
    bmi = {"role": "reading", **({"relation": relation} if relation else {})}
    kit = kit_of(table, roles(bmi=bmi))
    kit.save(tmp_path / "kit")
    content = SignalsContent.of(StoredKit.load(tmp_path / "kit", "signals"))
    ((column, formula),) = content.relations().items()
    assert column == "bmi"
    assert {"weight", "height"} <= set(formula.replace("(", " ").split())
    figure = content.found["consistency"]["transport"]
    assert figure["low"] <= figure["balanced"] <= figure["high"]
    assert figure["low"] < figure["permuted"] + 0.05
    release = applied(kit, tmp_path / "sent.parquet", pa.table(table))
    again = decoded(kit, release, tmp_path / "again.parquet")
    for name in ("height", "weight", "bmi"):
        assert sorted(again[name].to_pylist()) == sorted(table[name].tolist())


def test_fit_warns_where_consistency_reveals_more_than_messages():
    """The distances from the sum have a law of each class, so that no table is common."""
    table = people(1200)
    ill = np.array(table["ill"]) == "yes"
    noise = np.random.default_rng(2).normal(np.where(ill, 2, -2), 1)
    table["bmi"] = np.round(table["weight"] + table["height"] + noise / 10, 1)
    source = open_source(pa.table(table))
    options = FitOptions.model_validate({"method": ["transport"], "strength": [1]})
    with pytest.warns(SignalsWarning, match=r"decodes under every class .* at least 0\.\d\d"):
        fit(source, roles(bmi="reading"), options, seed=1, progress=silent)


@pytest.mark.parametrize(
    ("changed", "table", "message"),
    [
        ({}, {"bmi": np.arange(300) % 50}, r"rows break the declared relation.*bmi|bmi.*break"),
        ({"height": "keep"}, {}, r"roles, column bmi: .*contains height.*lacks it"),
        (
            {"weight": {"role": "reading", "relation": "bmi * (height / 100) ** 2"}},
            {},
            "form a cycle",
        ),
        (
            {"bmi": {"role": "reading", "relation": "weight +"}},
            {},
            "roles, column bmi: .*no relation",
        ),
        ({"bmi": {"role": "reading", "relation": "22"}}, {}, "column bmi: .*contains no column"),
        ({"bmi": {"role": "reading", "relation": "weight", "nominal": True}}, {}, "is no number"),
        (
            {"bmi": {**COLUMNS["bmi"], "resolution": 0.0001}},
            {"bmi": None},
            r"column bmi.*finer than the relation's parts allow",
        ),
    ],
)
def test_a_relation_that_cannot_be_lifted_is_refused_in_a_sentence(changed, table, message):
    made = people()
    for name, values in table.items():
        exact = 1e4 * made["weight"] / made["height"] ** 2
        fine = np.random.default_rng(0).uniform(-0.05, 0.05, 300)
        made[name] = np.round(exact + fine, 4) if values is None else values.astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RequestError, match=message) as refused:
            kit_of(made, roles(**changed))
    assert "\n" not in str(refused.value)


def test_few_people_get_the_maps_own_leak_with_its_interval():
    options = FitOptions.model_validate({"method": ["normal"], "strength": [1]})
    with pytest.warns(
        SignalsWarning, match=r"a class has 60 people.*bits \(95% interval 0\.\d+ to"
    ):
        fit(open_source(pa.table(people(120))), roles(bmi="drop"), options, seed=1, progress=silent)


def test_the_report_of_a_kit_begins_with_the_figure_of_consistency():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kit = kit_of(people(400))
    summary, *_ = sections(kit, (), audience="public")
    (figure,) = summary.blocks[0].figures
    assert figure.label == "Class inferred by consistency"
    assert figure.value.startswith("at least")
    assert "by the transport map at strength 1" in figure.meaning
