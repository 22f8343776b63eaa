"""What a kit learns, estimates and says of itself; what cannot be fitted."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.signals.clinic import (
    applied,
    decoded,
    fitted,
    people,
    roles,
    rows_sent,
    table_of,
)

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.signals import Session
from voile.signals.fitting.fit import fit
from voile.signals.fitting.maps.registry import METHODS
from voile.signals.fitting.maps.trials import MethodTrials, points, trials
from voile.signals.information.mutual import contributions
from voile.signals.model.codec.place import CLASSES, ReadingPlace
from voile.signals.model.content import SignalsContent
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.sources import SourceReadings, without_copies
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.options import FitOptions
from voile.signals.verbs.choose import choose


@pytest.fixture(scope="module")
def kit():
    return fitted()


PLACES = CLASSES, ReadingPlace(1, 0)
CONSTANT = np.where(np.arange(240) % 3 == 0, 60.0, np.arange(240))
BAD = {
    "a class of 10": ({"ill": ["yes"] * 10 + ["no"] * 230}, {}, "column ill: .*fewer than 20"),
    "one class": ({"ill": ["yes"] * 240}, {}, "all readings are of one class"),
    "a value per row": ({"ill": [f"c{i}" for i in range(240)]}, {}, "class of its own"),
    "a subject of two classes": ({"id": ["p0"] * 2 + [f"p{i}" for i in range(238)]}, {}, "two cl"),
    "a constant": ({"pulse": CONSTANT}, {}, "column pulse: .*all the same"),
    "text among numbers": ({"pulse": ["high"] + ["70"] * 239}, {}, "row 1, column pulse: a cell"),
    "decimal commas": ({"pulse": ["70", "70,5"] * 120}, {}, "row 2, .*decimals with a point"),
    "a finer reading": ({"weight": np.arange(240) / 7}, {}, "column weight, row 2: .* contradict"),
    "too fine a resolution": ({}, {"weight": {"role": "reading", "resolution": 0.01}}, "declare 0"),
    "no resolution": ({"pulse": np.random.default_rng(1).random(240)}, {}, "no resolution"),
    "two kinds": ({}, {"weight": {"role": "reading", "resolution": 1, "nominal": True}}, "either"),
    "a setting": ({}, {"weight": {"role": "reading", "unit": "kg"}}, "column weight: unit"),
    "no reading": ({}, {"weight": "drop", "pulse": "drop"}, "no column has the role reading"),
    "no class": ({}, {"ill": "drop"}, "no columns have the role private"),
    "a quasi-identifier": ({}, {"ward": "quasi"}, "column ward has the role quasi"),
    "a sampling weight": ({}, {"when": "weight"}, "column when has the role weight"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_fitted_is_refused_in_one_sentence(case, tmp_path, capsys):
    columns, said, message = BAD[case]
    with pytest.raises(RequestError, match=message) as refused:
        fitted(people(**columns), roles(**said))
    assert "\n" not in str(refused.value)


def test_a_class_for_every_row_is_none_also_where_subjects_have_several_rows():
    table = people()
    table = pa.concat_tables([table, table])
    labels = [f"c{i}" for i in range(480)]
    with pytest.raises(RequestError, match=r"column ill: .*class of its own"):
        fitted(table.set_column(5, "ill", pa.array(labels)))


def test_an_error_of_a_reading_names_its_row_in_the_source():
    weight = people()["weight"].to_pylist()
    weight[123] = 70.1234
    with pytest.raises(RequestError, match=r"column weight, row 124: 1 readings "):
        fitted(people(weight=weight))


def test_a_policy_that_hides_nothing_is_warned_of_when_chosen_and_when_applied(kit, tmp_path):
    strengths = SignalsContent.of(kit).figures["strength"].to_pylist()
    with pytest.warns(SignalsWarning, match="strength 0 and hides nothing"):
        chosen = choose(kit, Choice(policy=strengths.index(0.0)))
    with pytest.warns(SignalsWarning, match="strength 0 and hides nothing"):
        applied(kit, tmp_path / "plain.csv", chosen=chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SignalsWarning)
        choose(kit, Choice(policy=strengths.index(max(strengths))))


def test_only_a_place_is_said_by_the_source_s_names_and_no_text_that_reads_like_one(kit):
    reading, rows = (
        SignalsContent.of(kit).reader,
        SourceReadings(*[np.arange(3)[::-1]] * 6, left_out=0, known=np.empty((3, 0), dtype=object)),
    )
    error = RequestError("no resolution 'in row 1'", where="column 0")
    assert reading.name_place(error, rows) is error
    named = [reading.name_place(RequestError("bad", where=one), rows) for one in PLACES]
    assert list(map(str, named)) == ["column ill: bad", "column pulse, row 3: bad"]


def test_who_is_held_out_changes_nothing_of_what_is_learnt():
    table = people(n=400)
    kit = fitted(table, hold_out=0.3)
    batch = table.combine_chunks().to_batches()[0]
    held = SignalsContent.of(kit).reader.hold_out.find_held(batch, 0)
    assert 80 < held.sum() < 160
    weight, ill = table["weight"].to_numpy(), np.array(table["ill"].to_pylist())
    other = {"weight": np.where(held, 500.0, weight), "ill": np.where(held, "other", ill)}
    assert fitted(people(n=400, **other), hold_out=0.3).id == kit.id


MERGED = {"ill": {"role": "private", "merge": {"other": ["rare", "odd"]}}}


def test_classes_too_small_to_hide_are_merged(tmp_path):
    few = ["rare"] * 12 + ["odd"] * 12
    table = people(ill=[*few, *people()["ill"].to_pylist()[24:]])
    with pytest.raises(RequestError, match="fewer than 20"):
        fitted(table)
    kit = fitted(table, roles(**MERGED))
    assert SignalsContent.of(kit).classes == ["no", "other", "yes"]
    release = applied(kit, tmp_path / "sent.parquet", table)
    known = table_of(release.folder / "classes.csv")
    assert set(known["ill"].to_pylist()) == {"no", "other", "yes"}
    expected = table["weight"].take(rows_sent(release)).to_pylist()
    assert decoded(kit, release, tmp_path / "back.parquet")["weight"].to_pylist() == expected
    told = [{"other": "rare"}.get(one, one) for one in known["ill"].to_pylist()]
    named = known.set_column(1, "ill", pa.array(told))  # a recipient's own names do as well
    again = decoded(kit, release, tmp_path / "again.parquet", classes=named)
    assert again["weight"].to_pylist() == expected


@pytest.mark.parametrize(
    "merge", [["rare"], {"a": "rare"}, {"a": ["rare"], "b": ["rare"]}, {"a": [1]}]
)
def test_classes_are_merged_once_or_not_at_all(merge):
    with pytest.raises(RequestError, match=r"column ill: the settings of the classes are not"):
        fitted(people(), roles(ill={"role": "private", "merge": merge}))
    with pytest.raises(RequestError, match=r"column ill: the settings of the classes are not"):
        fitted(people(), roles(ill={"role": "private", "weight": 3}))


@pytest.mark.whole
def test_beliefs_change_what_there_is_to_tell(tmp_path):
    table = people()
    ill = np.array(table["ill"].to_pylist()) == "yes"
    lines = [f"p{i},{0.1 + 0.8 * (not one)},{0.1 + 0.8 * one}" for i, one in enumerate(ill)]
    (tmp_path / "sure.csv").write_text("\n".join(["id,no,yes", *lines]))
    lines = [f"p{i},{2 / 3},{1 / 3}" for i in range(240)]
    (tmp_path / "shares.csv").write_text("\n".join(["id,no,yes", *lines]))
    plain, shares, sure = (
        fitted(table, beliefs=None if name is None else str(tmp_path / name)).facts["before"]
        for name in (None, "shares.csv", "sure.csv")
    )
    assert shares["entropy"] == pytest.approx(plain["entropy"])
    assert shares["bits"] == pytest.approx(plain["bits"], abs=0.05)
    assert sure["entropy"] == pytest.approx(0.469, abs=1e-3)  # h(.1)
    assert sure["bits"] < 0.55 * plain["bits"]


def test_shapes_that_differ_are_refused(tmp_path):
    rng, ill = np.random.default_rng(3), np.arange(240) % 3 == 0
    weight = np.round(rng.gamma(np.where(ill, 40, 2), 1, 240) + 0.1, 1)
    with pytest.raises(RequestError, match=r"column weight: .*shapes"):
        fitted(people(weight=weight), method=["gamma"])


def test_readings_that_tell_nothing_are_refused():
    rng = np.random.default_rng(4)
    table = people(
        weight=np.round(rng.normal(70, 9, 240), 1), pulse=np.rint(rng.normal(70, 9, 240))
    )
    shuffled = table.set_column(5, "ill", pa.array(rng.permutation(table["ill"].to_pylist())))
    with pytest.raises(
        InfeasibleError, match=r"reveal nothing of the class .* does not prove"
    ) as said:
        fitted(shuffled)
    assert "as they are" not in str(said.value)


def of_time(trend=0.0, swing=1.0, seed=8, n=160, length=12):
    """People of whom the ill gain or lose weight, or swing, in time alone, shuffled as rows."""
    rng = np.random.default_rng(seed)
    whose, t = np.repeat(np.arange(n), length), np.tile(np.arange(length), n)
    ill = whose % 2 == 0
    level = 75 + 9 * rng.normal(size=n)[whose]
    weight = level + np.where(ill, trend * (t - (length - 1) / 2), 0)
    weight += np.where(ill, swing, 1.0) * rng.normal(size=n * length)
    order = rng.permutation(n * length)
    return pa.table(
        {
            "id": [f"p{i}" for i in whose[order]],
            "weight": np.round(weight[order], 1),
            "pulse": np.rint(rng.normal(70, 7, n * length)),
            "ward": ["north"] * (n * length),
            "when": t[order],
            "ill": np.where(ill, "yes", "no")[order],
        }
    )


@pytest.mark.whole
@pytest.mark.parametrize("how", [{"trend": 1.0}, {"swing": 3.0}])
def test_readings_whose_course_alone_tells_the_class_are_fitted_for_sessions(how):
    """One reading of each tells nothing; the trend, or the swing, tells the class entirely."""
    options = FitOptions.model_validate({"method": ["normal"], "strength": [1], "time": "when"})
    with pytest.warns(
        SignalsWarning, match=r"The course of a subject's readings reveals (0\.[4-9]|1).*sessions"
    ):
        kit = fit(open_source(of_time(**how)), roles(), options, seed=1, progress=silent)
    content = SignalsContent.of(kit)
    assert content.sessions.overheard
    assert all(0 <= row["risk"] <= 1 for row in kit.tables["frontier"].to_pylist())


def test_without_time_such_readings_are_refused():
    with pytest.raises(InfeasibleError, match="give --time COLUMN to fit sessions") as said:
        fitted(of_time(swing=3.0))
    assert "as they are" not in str(said.value)


def test_readings_whose_course_tells_nothing_either_are_not_said_to_be_safe():
    with pytest.raises(InfeasibleError, match="which does not prove") as said:
        fitted(of_time(), time="when")
    assert "as they are" not in str(said.value)


def test_the_frontier_is_what_its_formulas_say(kit):
    content = SignalsContent.of(kit)
    rows = {(r["base"], r["strength"]): r for r in kit.tables["frontier"].to_pylist()}
    plain, full = rows["barycentre", 0.0], rows["barycentre", 1.0]
    assert (plain["risk"], plain["loss"], plain["distortion"]) == (1.0, 0.0, 0.0)
    assert plain["bits"] == kit.facts["before"]["bits"]
    assert full["risk"] == max(full["bits"] / plain["bits"], 0)
    assert full["bits"] < 0.3 * plain["bits"]
    table = people()
    X = np.stack([table["weight"].to_numpy(), table["pulse"].to_numpy()], axis=1)
    c = np.array(table["ill"].to_pylist())
    worst = 0.0
    for base in ("barycentre", "normal", "uniform"):
        codec = content.map(SignalsPolicy("normal", base, 1.0)).codec_
        apart = np.sqrt((((codec.encode(X, c) - X) / X.std(axis=0)) ** 2).mean())
        worst = max(worst, apart)
        if base == "barycentre":  # that of maps fitted to others differs a little
            assert full["distortion"] == pytest.approx(apart, rel=0.1)
    assert full["loss"] == pytest.approx(full["distortion"] / worst, rel=0.1)


def test_the_base_tells_nothing_more():
    """Section 6.2: one injective map after all classes' leaves what is told as it is."""
    table = people(n=1200)
    X = np.stack([table["weight"].to_numpy(), table["pulse"].to_numpy()], axis=1)
    c = (np.array(table["ill"].to_pylist()) == "yes").astype(np.intp)
    columns = SignalsContent.of(fitted()).maps["normal"].columns
    whose, u = np.arange(1200), np.random.default_rng(0).uniform(-0.5, 0.5, X.shape)
    made = MethodTrials(tuple(trials(METHODS["normal"], X, c, whose, whose, columns, u=u, seed=1)))
    told = made.leakage(0.5)
    for base in ("uniform", "barycentre"):
        clouds = zip(made.encode_messages(base, 0.5), made.folds, strict=True)
        parts = [contributions(points(Z, one.map.spans), one.c) for Z, one in clouds]
        assert np.concatenate(parts).mean() == pytest.approx(told.bits, abs=0.05)


def test_a_shareable_kit_holds_nobodys_value():
    weight = people()["weight"].to_pylist()
    weight[0] = 345.6
    for method, seen in (
        ("normal", "shareable"),
        ("transport", "shareable"),
        ("uniform", "private"),
    ):
        kit = fitted(people(weight=weight), method=[method])
        assert kit.visibility == seen
        arrays = SignalsContent.of(kit).maps[method].to_arrays()
        numbers = np.concatenate([a.ravel() for a in arrays.values() if a.dtype.kind == "f"])
        close = np.abs(numbers - 345.6) < 1e-6
        assert not close.any() or seen == "private"
        assert kit.facts["holds"][0].startswith(method)
        assert kit.facts["holds"][-1] == "differential privacy: none"
    assert fitted(hold_out=0.2).visibility == "private"
    nominal = fitted(said=roles(ward={"role": "reading", "nominal": True}))
    assert nominal.visibility == "private"


def test_a_kit_read_back_sends_and_decodes_the_same(tmp_path):
    kit = fitted(method=["transport", "normal"], base=["uniform"])
    kit.save(tmp_path / "kit")
    read = SignalsContent.of(StoredKit.load(tmp_path / "kit"))
    X = np.array([[70.1, 66.0], [55.5, 91.0]])
    for number in range(kit.facts["policies"]):
        Z = SignalsContent.of(kit).codec(number).encode(X, ["yes", "no"])
        assert (read.codec(number).decode(Z, ["yes", "no"]) == X).all()


@pytest.mark.whole
def test_sequences_are_learnt_where_a_column_orders_them():
    n, length = 120, 6
    rng = np.random.default_rng(8)
    ill = np.repeat(np.arange(n) % 2 == 0, length)
    level = np.repeat(rng.normal(np.where(np.arange(n) % 2 == 0, 60, 80), 6), length)
    table = pa.table(
        {
            "id": np.repeat(np.arange(n), length),
            "weight": np.round(level + rng.normal(0, 1, n * length), 1),
            "pulse": np.rint(rng.normal(np.where(ill, 90, 70), 7)),
            "ward": ["north"] * (n * length),
            "when": np.tile(np.arange(length), n),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    assert SignalsContent.of(fitted(table)).sequence is None
    once = table.filter(pa.array(np.arange(n * length) % length == 0))
    assert SignalsContent.of(fitted(once)).sessions.forgets
    mixed_up = table.take(pa.array(rng.permutation(n * length)))
    kit = fitted(mixed_up, time="when")
    assert kit.id == fitted(table, time="when").id
    codec = SequenceCodec.from_arrays(SignalsContent.of(kit).sequence)
    sender, receiver = (Session(codec, "yes", "p0") for _ in range(2))
    sender.send([61.5, 88.0])
    (message,) = sender.pending()
    assert receiver.receive(message).values == (61.5, 88.0)
    with pytest.raises(RequestError, match="no column then"):
        fitted(table, time="then")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_copies_count_in_their_proportions(drawn):
    """Shares of each subject's readings stay as they are, in as few rows as can be."""
    order = sorted(drawn)
    whose = np.unique([s for s, *_ in order], return_inverse=True)[1]
    table = np.array([x for _, *x in order], dtype=np.float64).reshape(len(order), 2)
    zeros = np.zeros(len(order), dtype=np.intp)
    rows = SourceReadings(
        table,
        zeros.astype(str),
        whose,
        zeros,
        np.arange(len(order)),
        whose.astype(str),
        0,
        np.empty((len(order), 0), dtype=object),
    )
    found = without_copies(rows)

    def shares(rows):
        counted = {}
        for s, x in zip(rows.whose.tolist(), map(tuple, rows.table.tolist()), strict=True):
            counted.setdefault(s, {}).setdefault(x, 0)
            counted[s][x] += 1
        return counted

    before, after = shares(rows), shares(found)
    for s, counts in before.items():
        total, left = sum(counts.values()), sum(after[s].values())
        assert {x: Fraction(k, total) for x, k in counts.items()} == {
            x: Fraction(k, left) for x, k in after[s].items()
        }
        assert np.gcd.reduce(list(after[s].values())) == 1
    twice = rows.take(np.sort(np.tile(np.arange(len(order)), 2)))
    assert shares(without_copies(twice)) == after


def test_an_interrupted_fit_keeps_the_methods_that_it_learnt():
    def interrupting(task, done, total=None):
        if task == "measuring each strength of the uniform map":
            raise KeyboardInterrupt

    source, options = open_source(people()), FitOptions(method=("normal", "uniform"))
    kit = fit(source, roles(), options, seed=1, progress=interrupting)
    assert kit.facts["stopped"] == "interrupted"
    assert list(SignalsContent.of(kit).maps) == ["normal"]
    alone = FitOptions(method=("uniform",))
    with pytest.raises(KeyboardInterrupt):
        fit(source, roles(), alone, seed=1, progress=interrupting)
