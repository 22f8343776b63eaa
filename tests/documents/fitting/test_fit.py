"""One fit gives committees for several costs, the same whatever the order and the processes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.documents.flow import (
    COLUMNS,
    GIVEN,
    NAMELESS,
    ROLES,
    fitted,
    kit_of,
    marked_up,
    people,
    table,
)

from voile.core.errors import InfeasibleError, RequestError
from voile.data import open_source
from voile.data.roles import Roles
from voile.documents.fitting import fit as fitting
from voile.documents.fitting.fit import CostlyWarning
from voile.documents.fitting.loop.corpus import read_learning_corpus
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.model.content import DocumentsContent
from voile.documents.text.reader import DocumentReader
from voile.documents.verbs.choose import choose
from voile.release.choice import Choice


def rows_of(kit, name="frontier"):
    return kit.tables[name].to_pylist()


@pytest.mark.whole
def test_the_order_of_rows_copies_and_processes_change_nothing():
    rows = people()
    drawn = rows.take(np.random.default_rng(1).permutation(len(rows)))
    for given in (drawn, pa.concat_tables([rows, drawn])):
        assert fitted(given).id == kit_of().id
    assert fitted(rows, jobs=2).id == kit_of().id
    assert fitted(rows, seed=2).id != kit_of().id


def test_progress_does_not_run_backwards():
    shares = []

    def heard(task, done, total=None):
        if "training" in task:
            shares.append(done / total)

    fitted(people(), miss_cost=[1, 2, 5], progress=heard)
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert len(set(shares)) > 6
    assert 0.8 < shares[-1] < 1


@pytest.mark.parametrize(("passes", "parts"), [(1, 1), (2, 4)])
def test_the_first_pass_which_all_costs_share_counts_once(passes, parts):
    shares = {}

    def heard(task, done, total=None):
        if "training" in task:
            shares[task] = done / total

    fitted(people(), miss_cost=[1, 2, 5], max_passes=passes, progress=heard)
    assert next(iter(shares.values())) == 1 / parts
    assert shares["training classifiers in pass 1, miss cost 5 (3 of 3)"] >= 1 - 1 / parts


def test_a_seedless_fit_is_a_fit(tmp_path):
    assert fitted(people(), seed=None).facts["policies"] > 1
    with pytest.raises(RequestError, match="a fit resumes only with its seed"):
        fitted(people(), seed=None, resume=str(tmp_path))


def test_a_fit_goes_on_where_it_stopped(tmp_path):
    fitted(people(), resume=str(tmp_path))
    assert list(tmp_path.iterdir())
    assert fitted(people(), resume=str(tmp_path)).id == kit_of().id


def test_no_policy_beats_another_and_nothing_removed_is_one():
    rows = rows_of(kit_of())
    assert [row["number"] for row in rows] == list(range(len(rows)))
    for one in rows:
        for other in rows:
            if one is not other:
                assert one["risk"] < other["risk"] or one["loss"] < other["loss"]
    assert (rows[-1]["risk"], rows[-1]["loss"], rows[-1]["passes"]) == (1.0, 0.0, 0)


def test_the_corpus_is_told_in_numbers():
    kit = kit_of()
    corpus = read_learning_corpus(DocumentReader.all_of(ROLES), open_source(people()))
    training = TrainingText.of(corpus)
    facts = kit.facts
    assert facts["documents"] == len(corpus)
    assert facts["subjects"] == 36
    assert facts["tokens"] == len(training.tokens)
    assert facts["identifiers"] == sum(
        len(d.text[s.start : s.end].split()) for d in corpus for s in d.spans
    )
    assert (facts["labels"], facts["types"]) == (["NAME"], [facts["identifiers"]])
    assert facts["stopped"] == "finished"
    assert len(DocumentsContent.of(kit).seen) == len(corpus)


def test_a_cost_at_which_nothing_pays_leaves_one_policy():
    kit = fitted(people(), miss_cost=[1e-6])
    (row,) = rows_of(kit)
    assert (row["risk"], row["loss"], row["passes"], row["false_words"]) == (1.0, 0.0, 0, [])
    assert choose(kit, Choice(max_loss=0.0)).policy == {"miss_cost": 1e-6, "passes": 0}
    with pytest.raises(InfeasibleError):
        choose(kit, Choice(max_relative_risk=0.5))


def test_costs_that_are_given_twice_count_once():
    costs = [
        one["miss_cost"] for one in fitted(people(), miss_cost=[20, 2, 20]).facts["committees"]
    ]
    assert costs == [2.0, 20.0]


def ages(n=72):
    """Notes with a name and an age each."""
    notes = [
        f"Patient {{Ana|NAME}} , {{{20 + i % 60}|AGE}} , in room {i % 60 + 20} ." for i in range(n)
    ]
    return table(notes)


def test_a_weight_multiplies_the_cost_of_its_type():
    kit = fitted(ages(), miss_cost=[4], weight=["AGE=0.5"])
    assert kit.facts["labels"] == ["AGE", "NAME"]
    assert [one["costs"] for one in kit.facts["committees"]] == [[2.0, 4.0]]
    (row, *_) = rows_of(kit)
    assert row["costs"] == [2.0, 4.0]


@pytest.mark.parametrize("weight", ["NAME", "=2", "NAME=", "NAME=two", "2"])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(RequestError, match="a weight is not TYPE=NUMBER"):
        fitted(people(), weight=[weight])


@pytest.mark.parametrize("weight", ["NAMES=2", "NAME=0", "NAME=-1", "NAME=nan", "NAME=inf"])
def test_a_weight_of_no_type_or_worth_is_refused(weight):
    with pytest.raises(RequestError):
        fitted(people(), weight=[weight])


def test_words_that_tell_of_an_identifier_become_types_that_weigh_less():
    notes = [
        f"{{{GIVEN[n % 12]}|NAME}} rode the tandem ." if n % 2 else "Nobody rode the bus ."
        for n in range(72)
    ]
    rows = table(notes, [f"Seen in week {n} ." for n in range(72)])
    kit = fitted(rows, miss_cost=[5], context=True)
    labels = kit.facts["labels"]
    told = dict(zip(labels, kit.facts["committees"][0]["costs"], strict=True))
    assert labels == ["CONTEXT_NAME", "NAME"]
    assert told == {"NAME": 5.0, "CONTEXT_NAME": 5.0 * fitting.CONTEXT_WEIGHT}
    heavy = fitted(rows, miss_cost=[5], context=True, weight=["CONTEXT_NAME=3"])
    assert heavy.facts["committees"][0]["costs"] == [15.0, 5.0]


def test_ctrl_c_leaves_the_committees_until_then(monkeypatch):
    real = fitting.sanitize_greedily

    def interrupted(fits, costs, **given):
        if costs[0] > 2:
            raise KeyboardInterrupt
        return real(fits, costs, **given)

    monkeypatch.setattr(fitting, "sanitize_greedily", interrupted)
    kit = fitted(people())
    assert [one["miss_cost"] for one in kit.facts["committees"]] == [2.0]
    with pytest.raises(KeyboardInterrupt):
        fitted(people(), miss_cost=[20])


def test_a_cost_that_leaves_too_little_ends_with_those_below():
    kit = fitted(people(), miss_cost=[2])
    tokens = kit.facts["tokens"]
    left = round(tokens * min(kit.tables["frontier"].column("published_tokens").to_pylist()))
    with pytest.raises(InfeasibleError, match="too few to estimate"):
        fitted(people(), miss_cost=[1e6], least_left=left)
    with pytest.warns(CostlyWarning, match=r"worth 1e\+06 or more: only"):
        both = fitted(people(), miss_cost=[2, 1e6], least_left=left)
    assert [one["miss_cost"] for one in both.facts["committees"]] == [2.0]


def test_those_held_out_are_not_learnt_from():
    kit = fitted(people(), hold_out=0.3)
    content = DocumentsContent.of(kit)
    read = read_learning_corpus(content.reading, open_source(people()))
    assert kit.facts["documents"] == len(read) < kit_of().facts["documents"]
    assert 36 * 0.4 < kit.facts["subjects"] < 36


def test_parts_of_speech_are_learnt_from_where_they_are_given():
    rows = people()
    texts = rows["note"].to_pylist()
    words = [text.split(" ") for text in texts]
    pos = []
    for line in words:
        starts = np.cumsum([0, *(len(word) + 1 for word in line[:-1])]).tolist()
        tags = ["PROPN" if word.istitle() else "X" for word in line]
        ends = [start + len(word) for start, word in zip(starts, line, strict=True)]
        pos.append(
            [{"start": a, "end": b, "tag": t} for a, b, t in zip(starts, ends, tags, strict=True)]
        )
    columns = {**COLUMNS, "note": {"role": "text", "spans": "spans", "pos": "pos"}, "pos": "drop"}
    columns = {name: columns[name] for name in ("person", "note", "spans", "pos")}
    roles = Roles.model_validate({"subject": "person", "columns": columns})
    tagged = rows.select(["person", "note", "spans"]).append_column("pos", pa.array(pos))
    assert set(fitted(tagged, roles).facts["tags"]) == {"PROPN", "X"}


def test_rows_of_nobody_are_people_of_their_own():
    rows = people()
    kit = fitted(rows, NAMELESS)
    assert kit.facts["subjects"] == len({(r["note"], r["letter"]) for r in rows.to_pylist()})


def test_what_was_chosen_is_told():
    kit = kit_of()
    chosen = choose(kit, Choice(max_relative_risk=0.3))
    row = rows_of(kit)[chosen.number]
    assert row["risk"] == max(r["risk"] for r in rows_of(kit) if r["risk"] <= 0.3)
    assert chosen.policy == {"miss_cost": row["miss_cost"], "passes": row["passes"]}
    assert chosen.figures["left"] == row["left"]
    assert chosen.kit == kit.id
    assert marked_up("{Ana|NAME}")[0] == "Ana"
