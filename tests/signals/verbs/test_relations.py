"""Relations in roles files and kits: declared, refused, and stated with their figure."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.clinic import applied, decoded, fitted

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.release.kit import StoredKit
from voile.signals import SignalsWarning
from voile.signals.fitting.fit import fit
from voile.signals.model.content import SignalsContent
from voile.signals.model.readings.sources import SignalReader
from voile.signals.module import SIGNALS
from voile.signals.options import AttackOptions, FitOptions
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


def broken():
    """Return people for whom a sum holds in 70%: no relation is lifted, and it shows the class."""
    table = people(1200)
    rng = np.random.default_rng(2)
    total = table["weight"] + table["height"]
    others = rng.permutation(total)
    return {**table, "bmi": np.round(np.where(rng.random(1200) < 0.3, others, total), 1)}


def fit_broken(said, **options):
    chosen = FitOptions.model_validate({"method": ["transport"], "strength": [1], **options})
    return fit(open_source(pa.table(broken())), said, chosen, seed=1, progress=silent)


@pytest.fixture(scope="module")
def withheld():
    """Return the kit without the reading that shows the class, and the warning."""
    with pytest.warns(SignalsWarning, match="withheld") as caught:
        kit = fit_broken(roles(bmi="reading"))
    return kit, [str(one.message) for one in caught]


def test_fit_withholds_the_reading_that_shows_the_class(withheld, tmp_path):
    kit, notes = withheld
    content = SignalsContent.of(kit)
    ((name, figure),) = content.withheld.items()
    assert notes == [
        f"withheld {name}: with it an adversary infers the class with balanced accuracy "
        f"{figure['balanced']:.2f} (0.50 by chance); --send {name} sends it"
    ]
    assert figure["low"] > max(figure["messages"], figure["permuted"])
    left = content.found["consistency"]["transport"]
    assert left["low"] <= max(left["messages"], left["permuted"])
    assert name not in content.reader.columns
    table = broken()
    release = applied(kit, tmp_path / "sent.parquet", pa.table(table))
    assert name not in release.rows().columns
    assert release.public["withheld"] == [name]
    again = decoded(kit, release, tmp_path / "again.parquet")
    for column in content.reader.columns:
        assert sorted(again[column].to_pylist()) == sorted(table[column].tolist())


def test_kit_report_and_attack_list_the_withheld_reading(withheld, tmp_path):
    kit, _ = withheld
    (name,) = SignalsContent.of(kit).withheld
    assert any(one.startswith(f"withheld {name}: ") for one in SignalsContent.of(kit).holds())
    release = applied(kit, tmp_path / "sent.parquet", pa.table(broken()))
    for subject, audience in ((kit, "internal"), (kit, "public"), (release, "internal")):
        summary, *_ = sections(subject, (), audience=audience)
        assert f"The fit withheld {name}: with it an adversary" in str(summary)
    found = SIGNALS.attack(
        release,
        open_source(pa.table(broken())),
        AttackOptions(permutations=0),
        seed=0,
        progress=silent,
    )
    assert any(f"Withheld: {name}." in str(note) for note in found[0].notes)


def test_a_reading_that_must_be_sent_is_not_withheld(withheld):
    (name,) = SignalsContent.of(withheld[0]).withheld
    with pytest.warns(SignalsWarning, match="withheld"):
        other = SignalsContent.of(fit_broken(roles(bmi="reading"), send=[name]))
    assert name in other.reader.columns
    assert other.withheld
    every = ["height", "weight", "bmi"]
    with pytest.warns(SignalsWarning, match=r"decodes under every class .* accuracy 0\.\d\d"):
        content = SignalsContent.of(fit_broken(roles(bmi="reading"), send=every))
    assert not content.withheld
    with pytest.raises(RequestError, match=r"weigth is no column of readings; did you mean weight"):
        fit_broken(roles(bmi="reading"), send=["weigth"])


def test_fit_refuses_where_the_last_reading_shows_the_class():
    said = roles(bmi="reading", weight="drop", height="known")
    table = broken()
    ill = np.array(table["ill"]) == "yes"
    rng = np.random.default_rng(4)
    near = np.where(rng.random(1200) < 0.3, rng.permutation(table["height"]), table["height"])
    table["bmi"] = np.round(near + np.where(ill, 4, -4) + rng.normal(0, 0.1, 1200), 1)
    options = FitOptions.model_validate({"method": ["transport"], "strength": [1]})
    with pytest.raises(
        InfeasibleError, match=r"no reading can be sent: with bmi .* 0\.\d\d \(0.50"
    ):
        fit(open_source(pa.table(table)), said, options, seed=1, progress=silent)


def test_a_withheld_column_leaves_the_relations_of_others():
    columns = {"total": {"role": "reading", "relation": "weight + height", "resolution": 1.0}}
    said = Roles.model_validate({"subject": "id", "columns": {**COLUMNS, **columns}})
    reader = SignalReader(said, tuple(said.of("reading")), HoldOut(0.0, b"", "id"))
    left = reader.withhold("height")
    assert left.columns == ("weight", "bmi", "total")
    assert not left.relations
    assert left.roles.of("drop") == ["height"]
    assert reader.withhold("bmi").relations == {2: "x1 + x0"}


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
