"""What is sent decodes to the last bit, and what cannot be sent is set aside."""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.clinic import (
    ROLES,
    applied,
    decoded,
    fitted,
    people,
    roles,
    rows_sent,
    strongest,
    table_of,
)

from voile.cli.run import run
from voile.core.errors import RequestError, TamperedError
from voile.release.choice import Choice, Chosen
from voile.release.manifest import StoredRelease
from voile.signals.verbs.choose import choose
from voile.signals.verbs.verify import verify


@pytest.fixture(scope="module")
def kit():
    return fitted()


MIXED = {
    "weight": {"role": "reading", "resolution": 0.1},
    "pulse": "reading",
    "sugar": "reading",
    "dose": "reading",
    "mood": {"role": "reading", "ordinal": ["low", "even", "high"]},
    "ward": {"role": "reading", "nominal": True},
}


@pytest.fixture(scope="module")
def mixed():
    """A table of every type of reading, one of each missing somewhere."""
    rng, n = np.random.default_rng(2), 240
    table = people()
    pulse = [None if i == 7 else int(x) for i, x in enumerate(table["pulse"].to_pylist())]
    sugar = np.round(rng.gamma(9, 0.7, n), 2).astype(np.float32)
    dose = [Decimal(int(x)) / 4 for x in rng.integers(4, 40, n)]
    mood = [("low", "even", "high")[i] for i in rng.integers(0, 3, n)]
    return people(
        pulse=pa.array(pulse, pa.int32()),
        sugar=pa.array(sugar),
        dose=pa.array(dose, pa.decimal128(6, 2)),
        mood=mood,
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("text", [False, True])
def test_every_reading_comes_back_to_the_last_bit(mixed, tmp_path, suffix, text):
    kit = fitted(mixed, roles(**MIXED))
    table = mixed
    if text:
        table = pa.table({name: mixed[name].cast(pa.string()) for name in mixed.column_names})
    release = applied(kit, tmp_path / f"sent.{suffix}", table, missing="pass")
    sent = table_of(release.path)
    back = decoded(kit, release, tmp_path / "back.parquet")
    rows = rows_sent(release)
    assert sorted(rows) == list(range(240))
    for name in MIXED:
        read = mixed[name].take(rows).to_pylist()
        expected = [None if row == 7 else value for row, value in zip(rows, read, strict=True)]
        found = back[name].cast(mixed[name].type) if text else back[name]
        assert found.to_pylist() == expected, name
        assert text or back[name].type == mixed[name].type
        assert sent[name][list(rows).index(7)].as_py() is None
    assert set(sent.column_names) == {"pseudonym", *MIXED}
    assert release.private["figures"]["decoded"] == 239


def test_what_cannot_be_sent_is_set_aside_by_row_and_reason(kit, tmp_path):
    weight = people()["weight"].to_pylist()
    weight[3], weight[5], weight[8], weight[11] = 70.123, float("nan"), float("inf"), None
    who = people()["id"].to_pylist()
    who[13] = " "
    ill = [None if i == 17 else x for i, x in enumerate(people()["ill"].to_pylist())]
    table = people(weight=pa.array(weight), id=who, ill=pa.array(ill))
    release = applied(kit, tmp_path / "sent.csv", table)
    aside = list(csv.reader((release.folder / "set-aside.csv").open()))[1:]
    missing = "a missing or infinite reading"
    assert sorted(aside) == sorted(
        [
            ["3", "weight", "no multiple of 0.1"],
            *([row, "weight", missing] for row in ("5", "8", "11")),
            ["13", "id", "no subject"],
            ["17", "ill", "no class"],
        ]
    )
    assert release.private["counts"]["set_aside"] == 6
    passed = applied(kit, tmp_path / "passed.csv", table, missing="pass")
    assert passed.private["counts"]["set_aside"] == 3
    assert passed.private["figures"]["blank"] == 3
    assert all(holds is not False for _, holds in verify(passed))


@pytest.mark.parametrize(("missing", "blank", "aside"), [("pass", 240, 0), ("set-aside", 0, 240)])
def test_where_every_reading_is_missing_no_message_is_sent(kit, tmp_path, missing, blank, aside):
    nothing = people(weight=pa.nulls(240, pa.float64()))
    release = applied(kit, tmp_path / "sent.csv", nothing, missing=missing)
    figures, counts = release.private["figures"], release.private["counts"]
    assert (figures["decoded"], figures["blank"], counts["set_aside"]) == (0, blank, aside)
    assert all(holds is not False for _, holds in verify(release))


def test_a_reading_that_float64_cannot_carry_is_set_aside_and_no_other(tmp_path):
    table = people()
    far = [1e16 if i in (4, 190) else x for i, x in enumerate(table["pulse"].to_pylist())]
    kit = fitted()
    release = applied(kit, tmp_path / "sent.csv", people(pulse=far))
    aside = list(csv.reader((release.folder / "set-aside.csv").open()))[1:]
    assert sorted(row for row, *_ in aside) == ["190", "4"]
    assert decoded(kit, release, tmp_path / "back.csv").num_rows == 238


def test_readings_beyond_the_fit_are_sent_and_flagged_and_set_aside_where_they_come(tmp_path):
    kit = fitted(method=["transport"], base=["barycentre"], strength=[0, 0.5, 1])
    wide = [400.0 if i == 9 else x for i, x in enumerate(people()["weight"].to_pylist())]
    release = applied(kit, tmp_path / "sent.csv", people(weight=wide))
    flagged = list(csv.reader((release.folder / "outside.csv").open()))[1:]
    assert ["10", "weight"] in flagged
    assert {row for row, _ in flagged} == {"10"}
    assert release.private["figures"]["outside"] == len(flagged)
    assert decoded(kit, release, tmp_path / "back.csv").num_rows == 239
    (line,) = (tmp_path / "back.csv.set-aside.jsonl").read_text().splitlines()
    assert json.loads(line)["row"] == list(rows_sent(release)).index(9)
    assert json.loads(line)["decoded"]["weight"] == 400.0


def test_pseudonyms_last_as_long_as_their_key(kit, tmp_path, monkeypatch):
    def names(release):
        return set(table_of(release.path)["pseudonym"].to_pylist())

    drawn = [names(applied(kit, tmp_path / f"{i}.csv")) for i in range(2)]
    assert not drawn[0] & drawn[1]
    monkeypatch.setenv("VOILE_SECRET", "a secret that is long enough for anybody")
    keyed = [applied(kit, tmp_path / f"k{i}.csv", no_pseudonyms=False) for i in range(2)]
    assert names(keyed[0]) == names(keyed[1])
    assert len(names(keyed[0])) == 240
    told = [one["what"] for one in keyed[0].public["columns"] if one["column"] == "pseudonym"]
    assert told == ["pseudonym, keyed by a secret"]
    alone = names(applied(kit, tmp_path / "alone.csv", no_pseudonyms=True))
    assert not alone & names(keyed[0])


def test_the_dither_is_drawn_anew_for_every_release(kit, tmp_path):
    """From the system's entropy: no seed gives it, so that no two releases share it."""
    sent = [applied(kit, tmp_path / f"{i}.parquet", keep_order=True) for i in range(2)]
    one, other = (np.array(table_of(release.path)["weight"].to_pylist()) for release in sent)
    assert (one != other).all()


def test_a_secret_gives_a_reading_the_same_bits_in_every_release(kit, tmp_path, monkeypatch):
    """Two messages of one reading would reveal its class; of two readings, a dither drawn alike."""
    monkeypatch.setenv("VOILE_SECRET", "a secret that is long enough for anybody")

    def sent(name, table=None, **options):
        path = tmp_path / f"{name}.parquet"
        given = [kit, path] if table is None else [kit, path, table]
        release = applied(*given, keep_order=True, no_pseudonyms=False, **options)
        return np.array(table_of(release.path)["weight"].to_pylist())

    one, again = sent("one"), sent("again")
    assert (one == again).all()
    moved = people()
    moved = moved.set_column(
        moved.schema.get_field_index("weight"), "weight",
        [[round(w + 0.1, 1) for w in moved["weight"].to_pylist()]],
    )  # fmt: skip
    for other in (sent("moved", moved), sent("places", places=9)):
        assert (np.abs(one - other) > 1e-9).mean() > 0.99
    monkeypatch.setenv("VOILE_SECRET", "another secret that is long enough")
    assert (sent("other") != one).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ill": ["maybe"] + ["yes", "no"] * 119 + ["no"]}, "row 1, column ill: the map has not"),
        ({"id": ["p1", "p1", *(f"q{i}" for i in range(238))]}, "row 2: the subject is of another"),
    ],
)
def test_a_strange_class_stops_everything(kit, tmp_path, change, message):
    with pytest.raises(RequestError, match=message):
        applied(kit, tmp_path / "sent.csv", people(**change))
    assert list(tmp_path.iterdir()) == []


def test_a_second_message_of_a_subject_is_warned_of(kit, tmp_path, recwarn):
    warnings.simplefilter("always")  # also what was said before
    table = people(id=[f"p{i % 3}" if i < 6 else f"q{i}" for i in range(240)])
    applied(kit, tmp_path / "sent.csv", table)
    (warned,) = recwarn
    assert str(warned.message).startswith("3 messages are not their subject's first")
    missing = [None if i < 3 else x for i, x in enumerate(people()["weight"].to_pylist())]
    applied(kit, tmp_path / "one.csv", table.set_column(1, "weight", pa.array(missing)))
    applied(kit, tmp_path / "open.csv", table, choose(kit, Choice(max_relative_risk=1.0)))
    said = ["not their subject's first" in str(one.message) for one in recwarn]
    assert said == [True, False, False]  # one message each; nothing hidden, chosen and applied


def test_decimal_places_are_kept_and_checked(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv", places=4)
    sent = table_of(release.path)["weight"].to_pylist()
    assert max(len(cell.partition(".")[2]) for cell in sent) <= 4
    assert all(holds is not False for _, holds in verify(release))
    back = decoded(kit, release, tmp_path / "back.parquet")
    assert back["weight"].to_pylist() == people()["weight"].take(rows_sent(release)).to_pylist()
    with pytest.raises(RequestError, match=r"--places: .*not carried exactly"):
        applied(
            kit, tmp_path / "rough.csv", places=0, chosen=choose(kit, Choice(max_relative_risk=0.5))
        )
    fine = release.path.read_text().replace(sent[0], repr(float(sent[0]) + 1e-6), 1)
    release.path.write_text(fine)
    assert not all(holds is not False for _, holds in verify(release))


def test_an_edited_policy_is_applied_without_the_kits_figures(kit, tmp_path):
    chosen = strongest(kit)
    edited = replace(chosen, policy={**chosen.policy, "strength": 0.35, "base": "uniform"})
    release = applied(kit, tmp_path / "sent.csv", chosen=edited)
    assert release.private["chosen"]["number"] is None
    assert release.public["figures"] == {}
    back = decoded(kit, release, tmp_path / "back.parquet", chosen=edited)
    expected = people()["weight"].take(rows_sent(release)).to_pylist()
    assert back["weight"].to_pylist() == expected
    for wrong in ({"strength": 2}, {"base": "sphere"}, {"method": "gamma"}, {"strength": "much"}):
        strange = replace(chosen, policy={**chosen.policy, **wrong})
        with pytest.raises(RequestError):
            applied(kit, tmp_path / "no.csv", chosen=strange)


def test_another_map_decodes_nothing(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv")
    weaker = choose(kit, Choice(max_relative_risk=1.0))
    with pytest.raises(RequestError, match="another map"):
        decoded(kit, release, tmp_path / "back.csv", chosen=weaker)
    other = fitted(people(seed=6))
    with pytest.raises(RequestError, match="another map"):
        decoded(other, release, tmp_path / "back.csv")
    assert not (tmp_path / "back.csv").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "a subject has no class"),
        (lambda lines: [*lines[:-1], lines[-1].split(",")[0] + ",maybe"], "not seen a class"),
        (lambda lines: [*lines, *(lines[1][:16] + c for c in (",yes", ",no"))], "of two classes"),
        (lambda lines: [lines[0].replace("ill", "sick"), *lines[1:]], "no column ill"),
    ],
)  # fmt: skip
def test_wrong_classes_decode_nothing(kit, tmp_path, change, message):
    release = applied(kit, tmp_path / "sent.csv")
    lines = (release.folder / "classes.csv").read_text().splitlines()
    (tmp_path / "classes.csv").write_text("\n".join(change(lines)) + "\n")
    with pytest.raises(RequestError, match=message):
        decoded(kit, release, tmp_path / "back.csv", classes=tmp_path / "classes.csv")
    assert not (tmp_path / "back.csv").exists()


def test_a_release_whose_messages_were_touched_does_not_verify(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv")
    assert all(holds is not False for _, holds in verify(release))
    lines = release.path.read_text().splitlines()
    cells = lines[1].split(",")
    for changed in ("70.12345678901234567", "heavy"):
        touched = ",".join([cells[0], changed, *cells[2:]])
        release.path.write_text("\n".join([lines[0], touched, *lines[2:]]) + "\n")
        assert not all(holds is not False for _, holds in verify(release))


def test_a_message_that_was_touched_is_not_decoded(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv")
    lines = release.path.read_text().splitlines()
    name, weight, *rest = lines[1].split(",")
    lines[1] = ",".join([name, repr(float(weight) + 2**-10), *rest])
    release.path.write_text("\n".join(lines) + "\n")
    with pytest.raises(TamperedError, match="manifest"):
        decoded(kit, release, tmp_path / "back.csv")
    assert not (tmp_path / "back.csv").exists()


def test_the_command_line_sends_and_decodes(tmp_path, capsys):
    def voile(*words):
        capsys.readouterr()
        code = run([str(word) for word in (*words, "--quiet")])
        return code, capsys.readouterr()

    source, kit, policy = tmp_path / "people.csv", tmp_path / "kit", tmp_path / "policy.toml"
    lines = [",".join(map(str, row.values())) for row in people().to_pylist()]
    source.write_text("\n".join([",".join(people().column_names), *lines]) + "\n")
    entries = [f'{name} = "{role}"' for name, role in ROLES["columns"].items() if name != "weight"]
    entries += ['weight = {role = "reading", resolution = 0.1}']
    (tmp_path / "roles.toml").write_text('subject = "id"\n[columns]\n' + "\n".join(entries))
    fits = ["--roles", tmp_path / "roles.toml", "--method", "normal", "--seed", 1, "--out", kit]
    assert voile("signals", "fit", source, *fits)[0] == 0
    code, said = voile("signals", "frontier", kit, "--json")
    assert json.loads(said.out)["policies"][0]["risk"] < 0.2
    assert voile("signals", "choose", kit, "--max-loss", 1, "--out", policy)[0] == 0
    sent, back = tmp_path / "sent.csv", tmp_path / "back.csv"
    apply = ["signals", "apply", kit, source, "--policy", policy, "--no-pseudonyms"]
    assert voile(*apply, "--out", sent)[0] == 0
    classes = tmp_path / "sent.csv.private" / "classes.csv"
    how = ["--policy", policy, "--classes", classes]
    code, said = voile("signals", "decode", kit, sent, *how, "--out", back, "--json")
    assert (code, json.loads(said.out)["rows"]) == (0, 240)
    expected = people().take(rows_sent(StoredRelease.open(sent)))
    assert [float(x) for x in table_of(back)["weight"].to_pylist()] == expected[
        "weight"
    ].to_pylist()
    code, said = voile("signals", "decode", kit, sent, *how, "--out", back)
    assert code == 2
    assert said.err.count("\n") == 1
    assert "--force" in said.err
    assert voile("signals", "decode", kit, tmp_path / "none.csv", *how, "--out", back)[0] == 2
    assert Chosen.read(policy).policy["base"] == "barycentre"
    assert voile("verify", sent)[0] == 0
    assert voile("report", kit, "--out", tmp_path / "kit.html")[0] == 0
