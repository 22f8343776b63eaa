"""A kit comes back as it was, holds no word of one person alone, and is refused when it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.documents.flow import PEOPLE, applied, fitted, kit_of, people, table

from voile.core.errors import DamagedError, RequestError, TamperedError, VoileError
from voile.documents.model.classifiers.arrays import SCHEMA
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import NOVELTY, DocumentsPolicy
from voile.documents.verbs.choose import choose
from voile.release.choice import Choice
from voile.release.kit import StoredKit

TEXTS = ["Patient Ana Vega came on foot .", "We saw Zoe Quill again , who was 34 ."]


def arrays(kit):
    return {row["name"]: row for row in kit.tables["arrays"].to_pylist()}


def with_arrays(kit, rows):
    """Return the kit with other rows in its table of arrays."""
    return replace(kit, tables={**kit.tables, "arrays": pa.Table.from_pylist(list(rows), SCHEMA)})


def with_facts(kit, **facts):
    return replace(kit, facts={**kit.facts, **facts})


@pytest.mark.whole
@pytest.mark.parametrize("learners", [["svm"], ["adaboost"], ["crf"], ["ensemble"]])
def test_what_is_read_back_removes_the_same(learners, tmp_path):
    kit = kit_of() if learners == ["svm"] else fitted(people(), learners=learners, miss_cost=[20])
    kit.save(tmp_path / "kit")
    content, again = DocumentsContent.of(kit), DocumentsContent.of(StoredKit.load(tmp_path / "kit"))
    assert list(again.committees) == list(content.committees)
    for cost, committee in content.committees.items():
        one, other = (c.remover()(TEXTS) for c in (committee, again.committees[cost]))
        np.testing.assert_array_equal(one.type, other.type)
        np.testing.assert_array_equal(one.member, other.member)
    assert content.to_kit().id == kit.id
    assert again.to_kit().facts == kit.facts


def test_a_policy_is_the_committee_of_its_cost_up_to_its_passes():
    content = DocumentsContent.of(kit_of())
    policies = [content.policy(number) for number in range(len(content.frontier))]
    assert len(policies) == 4
    for number, policy in enumerate(policies):
        committee = content.committee(policy)
        assert len(committee.members) == policy.passes
        assert set(committee.costs.tolist()) == {policy.miss_cost}
        figures = content.figures_of(number)
        assert (figures["risk"], figures["loss"]) == (
            content.frontier.risk[number],
            content.frontier.loss[number],
        )
        assert "number" not in figures


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            DocumentsPolicy(3.0, 1),
            "no committee was trained for a miss_cost of 3; use one of 2, 20",
        ),
        (DocumentsPolicy(float("nan"), 1), "no committee was trained"),
        (DocumentsPolicy(2.0, 9), "the committee has no 9 passes; use 0 to"),
        (DocumentsPolicy(2.0, -1), "the committee has no -1 passes"),
    ],
)
def test_a_policy_that_there_is_not_is_refused(policy, said):
    with pytest.raises(RequestError, match=said):
        DocumentsContent.of(kit_of()).committee(policy)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"miss_cost": 2},
        {"passes": 1},
        {"miss_cost": "x", "passes": 1},
        {"miss_cost": None, "passes": 1},
        {"miss_cost": 2, "passes": 1.0},
        {"miss_cost": 2, "passes": True},
        {"miss_cost": 2, "passes": "1"},
    ],
)
def test_a_policy_file_that_is_none_is_refused(data):
    with pytest.raises(RequestError):
        DocumentsPolicy.from_data(data)
    assert DocumentsPolicy.from_data(DocumentsPolicy(2.0, 1).to_data()) == DocumentsPolicy(2.0, 1)


def test_costs_that_print_alike_keep_their_calibrations():
    content = DocumentsContent.of(kit_of())
    _, high = content.committees.values()
    low = replace(high, members=high.members[1:])
    far = replace(content, committees={1_000_001.0: low, 1_000_002.0: high})
    again = DocumentsContent.of(far.to_kit())
    for one, other in zip((low, high), again.committees.values(), strict=True):
        for a, b in zip(one.members, other.members, strict=True):
            np.testing.assert_array_equal(a.calibration.knots, b.calibration.knots)
            np.testing.assert_array_equal(a.calibration.chances, b.calibration.chances)


def test_what_committees_share_is_stored_and_read_once():
    kit = kit_of()
    first = [one["members"][0]["classifier"] for one in kit.facts["committees"]]
    assert first == ["classifier 0"] * 2
    low, high = DocumentsContent.of(kit).committees.values()
    assert low.members[0].classifier is high.members[0].classifier


def test_it_says_that_it_holds_words_and_none_is_of_one_person_alone(tmp_path):
    notes = [f"Patient {{Canary{chr(65 + n)}q Ruiz|NAME}} came on foot ." for n in range(20)]
    notes += [f"We saw {{{name}|NAME}} , who was well ." for name in PEOPLE]
    kit = fitted(table(notes, [f"Only zebra{n}word ." for n in range(len(notes))]))
    assert kit.visibility == "private"
    assert kit.facts["holds_words"] is True
    named = kit.tables["attributes"].column("attribute").to_pylist()
    assert "word=Patient" in named or any("patient" in one.lower() for one in named)
    assert not [one for one in named if "canary" in one.lower() and len(one) > len("lower=canary")]
    assert not [one for one in named if "zebra0word" in one.lower()]


def broken(row):
    """Yield a row in every way that is not its classifier's."""
    data, shape = row["data"], row["shape"]
    size = len(data) // max(int(np.prod(shape)), 1)
    yield "gone", None
    yield "renamed", {**row, "name": row["name"] + "x"}
    yield "another kind", {**row, "dtype": "<U1", "data": bytes(4 * int(np.prod(shape)))}
    yield "another dimension", {**row, "shape": [*shape, 1]}
    yield "longer", {**row, "shape": [3 + len(data)], "dtype": "|i1", "data": data + bytes(3)}
    if shape and row["dtype"][1] == "f":
        number = np.frombuffer(data, row["dtype"]).copy()
        number[:1] = np.nan
        yield "no number", {**row, "data": number.tobytes()}
    if shape and shape[0] > 1:
        part = data[: len(data) // shape[0] * (shape[0] - 1)]
        yield "shorter", {**row, "shape": [shape[0] - 1, *shape[1:]], "data": part}
    if not shape:
        huge = np.array(2**31 - 1, row["dtype"]) if size == 8 else np.array(2**30, row["dtype"])
        yield "huge", {**row, "data": huge.tobytes()}


@pytest.mark.whole
def test_an_array_that_does_not_fit_is_refused(tmp_path):
    """Whatever is wrong with any array, nothing is released, and nothing else is raised."""
    kit = kit_of()
    held, tried = arrays(kit), set()
    for name, row in held.items():
        for what, other in broken(row):
            rows = [one if key != name else other for key, one in held.items()]
            bad = with_arrays(kit, filter(None, rows))
            if what == "shorter" and name.endswith(("seen", "/history")):
                continue  # it knows fewer texts again, or is another classifier that works
            chosen = replace(choose(kit, Choice(policy=0)), kit=bad.id)
            try:
                applied(people(), tmp_path / "r.csv", kit=bad, chosen=chosen)
            except TamperedError:
                tried.add(what)
            else:
                raise AssertionError(f"{name}, {what}: was applied")
            assert list(tmp_path.iterdir()) == []
    assert tried >= {"gone", "renamed", "huge", "no number", "shorter", "longer"}


@pytest.mark.parametrize("more", [-1, 1, 2**20])
def test_a_classifier_of_other_features_is_not_read(more):
    kit = kit_of()
    held = arrays(kit)
    row = held["classifier 0/size"]
    size = np.frombuffer(row["data"], row["dtype"]) + more
    other = {**held, "classifier 0/size": {**row, "data": size.astype(row["dtype"]).tobytes()}}
    with pytest.raises(TamperedError, match=r"of other features|do not fit"):
        DocumentsContent.of(with_arrays(kit, other.values()))


@pytest.mark.parametrize(
    "change", [{"labels": ["NAME", "AGE"]}, {"labels": []}, {"costs": [2.0, 2.0]}, {"costs": []}]
)
def test_classifiers_of_other_types_set_no_document_aside(change, tmp_path):
    kit = kit_of()
    committees = [{**one, **change} for one in kit.facts["committees"]]
    bad = with_facts(kit, **({"committees": committees} if "costs" in change else change))
    chosen = replace(choose(kit, Choice(policy=0)), kit=bad.id)
    with pytest.raises(TamperedError, match="do not fit"):
        applied(people(), tmp_path / "r.csv", kit=bad, chosen=chosen)


@pytest.mark.parametrize("name", ["columns", "seen"])
def test_numbers_out_of_order_are_refused(name):
    kit = kit_of()
    held = arrays(kit)
    turned = np.frombuffer(held[name]["data"], np.int64)[::-1].tobytes()
    rows = [{**row, "data": turned} if key == name else row for key, row in held.items()]
    with pytest.raises(TamperedError):
        DocumentsContent.of(with_arrays(kit, rows))


@pytest.mark.parametrize(
    "change",
    [
        {"committees": [{"miss_cost": 2.0, "costs": [1.0]}]},
        {"committees": 3},
        {"committees": [None]},
        {"roles": {"columns": {"note": "painting"}}},
        {"roles": None},
        {"hold_out": {"share": 0, "key": "no hex"}},
        {"hold_out": {}},
        {"lists": 7},
        {"lists": {"given": 7}},
        {"tags": 7},
        {"labels": None},
    ],
)
def test_facts_that_do_not_fit_are_refused(change):
    with pytest.raises(TamperedError):
        DocumentsContent.of(with_facts(kit_of(), **change))


def test_facts_that_are_absent_are_refused():
    kit = kit_of()
    for name in kit.facts.keys() - {"policies", "holds_words", NOVELTY}:
        facts = {key: one for key, one in kit.facts.items() if key != name}
        with pytest.raises(TamperedError, match=f"the kit lacks {name}"):
            DocumentsContent.of(replace(kit, facts=facts))
    for name in kit.tables:
        tables = {key: one for key, one in kit.tables.items() if key != name}
        with pytest.raises(TamperedError, match=f"the kit lacks {name}"):
            DocumentsContent.of(replace(kit, tables=tables))


@pytest.mark.parametrize("change", [{"kind": "pickle"}, {"decision": "never"}, {"learner": None}])
def test_a_member_of_no_known_kind_is_refused(change):
    kit = kit_of()
    one, *more = json.loads(json.dumps(kit.facts["committees"]))
    one["members"][0] |= change
    bad = with_facts(kit, committees=[one, *more])
    if change == {"learner": None}:
        assert DocumentsContent.of(bad).committees[2.0].members[0].learner is None
        return
    with pytest.raises(TamperedError):
        DocumentsContent.of(bad)


def test_a_frontier_with_beaten_policies_is_refused():
    kit = kit_of()
    rows = kit.tables["frontier"].to_pylist()
    rows[1] |= {"risk": 1.0, "loss": 1.0}
    bad = replace(kit, tables={**kit.tables, "frontier": pa.Table.from_pylist(rows)})
    with pytest.raises(TamperedError):
        DocumentsContent.of(bad)


LOADS = """
import sys
from pathlib import Path
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.documents.options import ApplyOptions
from voile.documents.module import DOCUMENTS
from voile.documents.verbs.choose import choose
from voile.data import open_source
from voile.core.progress import silent
kit = StoredKit.load(Path(sys.argv[1]))
chosen = choose(kit, Choice(policy=0))
DOCUMENTS.apply(kit, chosen, open_source(sys.argv[2]), Path(sys.argv[3]), ApplyOptions(),
                force=False, progress=silent)
heavy = {"sklearn", "pycrfsuite", "spacy", "torch", "transformers", "pickle5", "dill"}
print(sorted(heavy & sys.modules.keys()))
"""


@pytest.mark.whole
def test_a_kit_is_applied_by_a_new_process_that_loads_no_learning_library(tmp_path):
    kit_of().save(tmp_path / "kit")
    source = tmp_path / "notes.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in people(each=1).to_pylist()))
    words = [tmp_path / "kit", source, tmp_path / "r.jsonl"]
    ran = subprocess.run(
        [sys.executable, "-c", LOADS, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr
    assert not issubclass(TamperedError, RequestError)
    assert issubclass(TamperedError, VoileError)


def test_an_attribute_that_is_null_is_refused():
    kit = kit_of()
    names = kit.tables["attributes"].column("attribute").to_pylist()
    cut = pa.table({"attribute": pa.array([None, *names[1:]], pa.string())})
    with pytest.raises(
        DamagedError, match="column attribute of the kit's table attributes has the wrong type"
    ):
        DocumentsContent.of(replace(kit, tables={**kit.tables, "attributes": cut}))


@pytest.mark.parametrize("named", [5, 0, "", "english", None, ["english"], "english 0000"])
def test_a_kit_of_other_clusters_of_words_is_refused(named):
    with pytest.raises(RequestError, match="another version of the clusters of words"):
        DocumentsContent.of(with_facts(kit_of(), clusters=named))
