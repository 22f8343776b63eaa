"""Known columns from roles to the report: released, withheld, refused where they differ."""

from __future__ import annotations

import csv
import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from tests.signals.channel.ward import command
from tests.signals.children import children, kit_of, said
from tests.signals.clinic import applied, decoded, strongest, table_of

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.signals.model.content import SignalsContent
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.verbs.decode import decode
from voile.signals.verbs.report import sections
from voile.signals.verbs.verify import verify

BROKER = ("--broker", "mqtt://127.0.0.1:1")  # nobody listens there


@pytest.fixture(scope="module")
def kit():
    return kit_of()


@pytest.fixture
def release(kit, tmp_path):
    return applied(kit, tmp_path / "sent.csv", children())


def classes(release):
    with (release.folder / "classes.csv").open() as file:
        return list(csv.DictReader(file))


def again(kit, release, rows, out):
    """Decode with another table of classes; return what was set aside."""
    out.parent.mkdir(exist_ok=True)
    known = out.with_name("classes.csv")
    with known.open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    found = decode(
        kit, strongest(kit), release, open_source(known), out, force=False, progress=silent
    )
    return found, [json.loads(line) for line in found.aside.read_text().splitlines()]


def test_what_is_sent_travels_and_what_is_not_stays_with_the_recipient(kit, release, tmp_path):
    assert release.rows().columns.keys() == {"pseudonym", "sex", "weight", "mac"}
    assert classes(release)[0].keys() == {"pseudonym", "ill", "age", "key"}
    back = decoded(kit, release, tmp_path / "back.csv")
    assert back.column_names == ["pseudonym", "sex", "weight"]
    assert sorted(map(float, back["weight"].to_pylist())) == sorted(
        children()["weight"].to_pylist()
    )


@pytest.mark.parametrize("first", ["age", "sex"])
def test_a_kit_from_disk_takes_them_in_any_order_of_the_roles(first, tmp_path):
    """The map counts its columns, and a kit's roles come back in another order."""
    columns = dict(sorted(said().model_dump()["columns"].items(), key=lambda c: c[0] != first))
    kit_of(roles=Roles.model_validate({"subject": "id", "columns": columns})).save(tmp_path / "kit")
    kit = StoredKit.load(tmp_path / "kit")
    release = applied(kit, tmp_path / "sent.csv", children())
    rows = again(kit, release, classes(release), tmp_path / "o" / "back.csv")
    assert (rows[0].rows, rows[1]) == (400, [])
    age = {row["pseudonym"]: float(row["age"]) for row in classes(release)}
    sent = table_of(release.path).to_pylist()
    pairs = np.array([(age[row["pseudonym"]], float(row["weight"])) for row in sent])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.1


@pytest.mark.parametrize("change", ["birthday", "missing", "typo", "fraction"])
def test_another_age_at_the_other_end_is_refused_never_decoded(kit, release, tmp_path, change):
    rows = classes(release)
    age = int(rows[5]["age"])
    rows[5]["age"] = {
        "birthday": str(age + 1),
        "missing": "",
        "typo": str(age + 100),
        "fraction": f"{age}.5",
    }[change]
    found, aside = again(kit, release, rows, tmp_path / "other" / "back.csv")
    assert (found.rows, found.set_aside, found.other_known) == (399, 1, 1)
    assert aside[0]["sent"]["pseudonym"] == rows[5]["pseudonym"]
    assert aside[0]["known"] == ["age", "sex"]
    assert (
        rows[5]["pseudonym"]
        not in table_of(tmp_path / "other" / "back.csv")["pseudonym"].to_pylist()
    )


@pytest.mark.parametrize("column", ["sex", "weight", "mac"])
def test_a_forged_cell_is_refused(kit, release, tmp_path, column):
    from tests.signals.verbs.test_decode import forged

    value = {"sex": "x", "weight": 1.0, "mac": "0" * 32}[column]
    with release.path.open() as file:
        names, *rows = csv.reader(file)
    rows[0][names.index(column)] = str(value)
    with release.path.open("w") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])
    forged(StoredRelease.open(release.path), "pseudonym")  # the hash anew
    whole = again(
        kit, StoredRelease.open(release.path), classes(release), tmp_path / "o" / "back.csv"
    )
    assert whole[0].set_aside == 1


@pytest.mark.parametrize("column", ["age", "key"])
def test_a_recipient_without_a_column_is_refused(kit, release, tmp_path, column):
    rows = [{k: v for k, v in row.items() if k != column} for row in classes(release)]
    with pytest.raises(RequestError, match=f"there is no column {column}, without which nothing"):
        again(kit, release, rows, tmp_path / "o" / "back.csv")


def test_a_missing_value_is_a_level_that_comes_back(tmp_path):
    age = [None if i % 7 == 0 else int(a) for i, a in enumerate(children()["age"].to_pylist())]
    table = children(age=pa.array(age, pa.int64()))
    kit = kit_of(table)
    release = applied(kit, tmp_path / "sent.csv", table)
    back = decoded(kit, release, tmp_path / "back.csv")
    assert sorted(map(float, back["weight"].to_pylist())) == sorted(table["weight"].to_pylist())
    before = kit.facts["before"]
    assert before["known"] == ["age", "sex"]
    assert abs(before["missing_bits"]) < 0.05


def test_what_missing_values_reveal_is_measured():
    table = children()
    rng = np.random.default_rng(0)
    ill = np.array(table["ill"].to_pylist()) == "yes"
    gone = rng.random(400) < np.where(ill, 0.7, 0.2)
    age = [None if g else a for g, a in zip(gone, table["age"].to_pylist(), strict=True)]
    kit = kit_of(children(age=pa.array(age, pa.int64())))
    before = kit.facts["before"]
    assert before["missing_bits"] > 0.1
    assert "and which of them are missing 0." in str(sections(kit, (), audience="internal")[0])
    assert before["known_bits"] > 0.05


def test_where_nothing_is_missing_nothing_is_said_of_it(kit):
    """An estimate would be noise about 0, and a page would give it as a figure."""
    assert (kit.facts["before"]["missing_bits"], kit.facts["before"]["missing_high"]) == (0, 0)
    (summary,) = (one for one in sections(kit, (), audience="internal") if one.first)
    assert "Without any message these columns reveal" in str(summary)
    assert "missing" not in str(summary)


def test_a_base_follows_known_columns_only_where_all_travel():
    clear = kit_of(roles=said(age={"role": "known", "sent": True}), base=["barycentre"])
    for kit, follows in ((kit_of(base=["barycentre"]), 0), (clear, 1)):
        arrays = kit.tables["maps"].to_pylist()
        (row,) = (one for one in arrays if one["array"] == "fitted.side.in_clear")
        assert np.frombuffer(row["numbers"], "<i8").tolist() == [follows]


def test_a_withheld_column_that_changes_within_a_subject_stops_apply(kit, tmp_path):
    table = children(400)
    both = pa.concat_tables([table, table.slice(0, 1).set_column(1, "age", pa.array([18]))])
    with pytest.raises(RequestError, match="say sent = true of it in the roles"):
        applied(kit, tmp_path / "sent.csv", both)


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ({"role": "known"}, "a cell holds no number"),
        ({"role": "known", "ordinal": ["f", "m"]}, "its settings are sent, resolution, nominal"),
        (
            {"role": "known", "nominal": True, "resolution": 1},
            "is either nominal or of a resolution",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(setting, what):
    with pytest.raises(RequestError) as error:
        kit_of(roles=said(sex=setting))
    assert what in str(error.value)


def test_sessions_are_fitted_with_known_columns_and_their_audit_has_them():
    whose = np.repeat(np.arange(160), 4)
    table = children(160).take(whose).append_column("day", pa.array(np.tile(np.arange(4), 160)))
    weight = np.array(table["weight"]) + np.random.default_rng(1).normal(0, 0.5, len(whose))
    table = table.set_column(3, "weight", pa.array(np.round(weight, 1)))
    columns = {**said().model_dump()["columns"], "day": "drop"}
    kit = kit_of(table, Roles.model_validate({"subject": "id", "columns": columns}), time="day")
    content = SignalsContent.of(kit)
    assert len(SequenceCodec.from_arrays(content.sequence).codec.side) == 2
    (found,) = content.sessions.overheard
    assert (found.messages, found.subjects) == (4, 80)
    assert found.most == pytest.approx(found.alone + 0.3 * (1 - found.alone))


@pytest.fixture
def clinic(kit, tmp_path):
    """The kit, its policy, a table of subjects and a secret, as files."""
    kit.save(tmp_path / "kit")
    strongest(kit).save(tmp_path / "policy.toml")
    (tmp_path / "key").write_bytes(b"k" * 40)
    (tmp_path / "key").chmod(0o600)
    table = children().select(["id", "age", "sex", "ill"]).slice(0, 20)
    write_csv(table, tmp_path / "classes.csv")
    return tmp_path


@pytest.mark.parametrize("wrong", ["id,ill\np1,no\n", "id,ill,age,sex\np1,no,old,f\n"])
def test_a_table_of_subjects_without_their_known_columns_is_refused(clinic, wrong):
    (clinic / "classes.csv").write_text(wrong)
    given = ["--classes", clinic / "classes.csv", "--key-file", clinic / "key", *BROKER]
    with pytest.raises(RequestError, match=r"no column age|column contains text"):
        command("receive", clinic / "kit", *given, "--out", clinic / "out")
    assert not (clinic / "out").exists()


def test_a_table_that_gives_a_subject_two_ages_is_refused(clinic):
    (clinic / "classes.csv").write_text("id,ill,age,sex\np1,no,7,f\np1,no,8,f\n")
    given = ["--classes", clinic / "classes.csv", "--key-file", clinic / "key", *BROKER]
    with pytest.raises(RequestError, match="row 2: a subject has two values of a known column"):
        command("receive", clinic / "kit", *given, "--out", clinic / "out")


@pytest.mark.parametrize("alone", [False, True])
def test_a_file_of_fhir_is_decoded_with_the_same_known_columns_and_key_alone(clinic, alone):
    rows = children().slice(0, 20).to_pylist()
    lines = [
        {
            "resourceType": "Observation",
            "code": {"coding": [{"system": "http://loinc.org", "code": "29463-7"}]},
            "subject": {"reference": row["id"]},
            "effectiveDateTime": "2024-03-01",
            "valueQuantity": {"value": row["weight"], "unit": "kg"},
        }
        for row in rows
    ]
    source, sent, back = (clinic / name for name in ("given.ndjson", "sent", "back"))
    source.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    (clinic / "fields.toml").write_text('[weight]\ncode = "29463-7"\nunit = "kg"\n')
    policy = ["--policy", clinic / "policy.toml"] if alone else []
    known, key = ["--classes", clinic / "classes.csv", *policy], ["--key-file", clinic / "key"]
    encode = ["encode-fhir", clinic / "kit", source, "--fields", clinic / "fields.toml", *known]
    with pytest.raises(RequestError, match="need the secret at both ends"):
        command(*encode, "--out", sent)
    command(*encode, *key, "--out", sent)
    decode = ["decode-fhir", clinic / "kit", sent, "--out", back]
    command(*decode, *known, *key)
    assert back.read_bytes() == source.read_bytes() != sent.read_bytes()
    (clinic / "other").write_bytes(b"o" * 40)
    (clinic / "other").chmod(0o600)
    with pytest.raises(RequestError, match="other known columns"):
        command(*decode, *known, "--key-file", clinic / "other", "--force")
    older = (clinic / "classes.csv").read_text().splitlines()
    cells = older[1].split(",")
    older[1] = ",".join([cells[0], str(int(cells[1]) + 1), *cells[2:]])
    (clinic / "classes.csv").write_text("\n".join(older))
    with pytest.raises(RequestError, match="other known columns"):
        command(*decode, *known, *key, "--force")


@pytest.mark.parametrize(
    ("column", "write"),
    [("sex", {"f": "female", "m": "male"}.get), ("age", lambda years: 12 * years)],
)
def test_values_that_are_written_otherwise_than_for_the_fit_are_warned_of(
    kit, tmp_path, column, write
):
    """They decode, and are encoded as rare ones: the map hides little of the class then."""
    table = children()
    cells = pa.array([write(one) for one in table[column].to_pylist()])
    other = table.set_column(table.column_names.index(column), column, cells)
    with pytest.warns(
        SignalsWarning, match=f"column {column}: [0-9]+ of 400 messages are of values"
    ):
        applied(kit, tmp_path / "sent.csv", other)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        applied(kit, tmp_path / "same.csv", table)


def test_verify_accepts_it(release):
    assert all(check.holds is not False for check in verify(release))
