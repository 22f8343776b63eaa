"""What apply does with each row of readings, in whatever batch, and what it writes of them."""

from __future__ import annotations

import csv

import pyarrow as pa
import pytest
from tests.signals.clinic import applied, decoded, fitted, people, roles, rows_sent, table_of

from voile.core.errors import RequestError


@pytest.fixture(scope="module")
def kit():
    return fitted()


def lines_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def in_batches(table, rows=50):
    """Return the same rows, which are read so many at a time."""
    return pa.concat_tables(table.slice(at, rows) for at in range(0, len(table), rows))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (people().drop_columns("pulse"), "there is no column pulse"),
        (people(more=[1] * 240), "column more has no role.*private, known, label"),
    ],
)
def test_other_columns_than_fitted_are_refused(kit, tmp_path, table, said):
    with pytest.raises(RequestError, match=said):
        applied(kit, tmp_path / "sent.csv", table)
    assert list(tmp_path.iterdir()) == []


def test_those_held_out_are_neither_sent_nor_noted(tmp_path):
    kit = fitted(hold_out=0.3)
    release = applied(kit, tmp_path / "sent.csv")
    held = set(table_of(release.folder / "control.parquet")["row"].to_pylist())
    assert 0 < len(held) < 240
    assert held.isdisjoint(rows_sent(release).tolist())
    assert len(lines_of(release.folder / "classes.csv")) == 240 - len(held)
    strange = people(weight=[70.123] * 240, pulse=[float("nan")] * 240)
    counts = applied(kit, tmp_path / "none.csv", strange).private["counts"]
    assert (counts["held_out"], counts["set_aside"]) == (len(held), 240 - len(held))
    assert counts["set_aside_by"] == [
        {"column": "weight", "reason": "no multiple of 0.1", "rows": 240 - len(held)}
    ]


def test_rows_keep_their_numbers_from_batch_to_batch(kit, tmp_path):
    weight = people()["weight"].to_pylist()
    weight[150], weight[151] = 400.0, 70.123
    table = in_batches(people(weight=pa.array(weight)))
    release = applied(kit, tmp_path / "sent.csv", table)
    assert lines_of(release.folder / "outside.csv") == [["151", "weight"]]
    assert lines_of(release.folder / "set-aside.csv") == [["151", "weight", "no multiple of 0.1"]]
    assert release.private["outside"] == {"weight": 1}
    back = decoded(kit, release, tmp_path / "back.parquet")
    sent = [row for row in rows_sent(release).tolist() if row != 150]  # decode sets it aside
    assert back["weight"].to_pylist() == [weight[row] for row in sent]


def test_a_subject_of_two_classes_is_found_in_another_batch(kit, tmp_path):
    names = people()["id"].to_pylist()
    names[151] = names[0]
    with pytest.raises(
        RequestError, match="row 152: the subject is of another class than in row 1"
    ):
        applied(kit, tmp_path / "sent.csv", in_batches(people(id=names)))
    assert list(tmp_path.iterdir()) == []


def test_a_class_that_the_map_has_not_seen_is_named_by_its_row(kit, tmp_path):
    ill = people()["ill"].to_pylist()
    ill[57] = "maybe"
    with pytest.raises(RequestError, match=r"row 58, column ill: the map has not seen a class"):
        applied(kit, tmp_path / "sent.csv", in_batches(people(ill=ill)))


@pytest.mark.parametrize("nominal", [False, True])
def test_a_reading_off_by_a_bit_is_the_multiple_that_it_stands_for(tmp_path, nominal):
    """Off by a millionth of the resolution it is none, as 70.123 is."""
    said = roles(ward={"role": "reading", "nominal": True}) if nominal else None
    kit, weight = fitted(None, said), people()["weight"].to_pylist()
    weight[4:7] = 701 * 0.1, 70.1 + 5e-8, 70.1 + 2e-7
    assert weight[4] != 70.1
    release = applied(kit, tmp_path / "sent.csv", people(weight=pa.array(weight)), keep_order=True)
    assert lines_of(release.folder / "set-aside.csv") == [["6", "weight", "no multiple of 0.1"]]
    back = decoded(kit, release, tmp_path / "back.parquet")["weight"].to_pylist()
    assert back[4:6] == [70.1, 70.1]


def test_text_among_numbers_is_set_aside(kit, tmp_path):
    weight = [str(x) for x in people()["weight"].to_pylist()]
    weight[4] = "heavy"
    release = applied(kit, tmp_path / "sent.csv", people(weight=weight))
    assert lines_of(release.folder / "set-aside.csv") == [["4", "weight", "no number"]]


def test_a_name_that_the_map_has_not_seen_is_set_aside(tmp_path):
    kit = fitted(None, roles(ward={"role": "reading", "nominal": True}))
    ward = people()["ward"].to_pylist()
    ward[4], ward[5] = "west", None
    release = applied(kit, tmp_path / "sent.csv", people(ward=ward), missing="pass")
    reason = "a value that the map has not seen"
    assert lines_of(release.folder / "set-aside.csv") == [["4", "ward", reason]]
    assert release.private["figures"]["blank"] == 1
    sent = {one["column"]: one.get("sent") for one in release.public["columns"]}
    assert sent == {"pseudonym": None, "weight": "number", "pulse": "number", "ward": "text"}


def test_what_each_column_is_stands_in_the_public_manifest(kit, tmp_path):
    public = applied(kit, tmp_path / "sent.csv").public
    message = {"what": "messages, decoded by class", "type": "double", "sent": "number"}
    assert public["columns"] == [
        {
            "column": "pseudonym",
            "role": "identifier",
            "what": "pseudonym, of this release alone",
        },
        {"column": "weight", "role": "reading", **message},
        {"column": "pulse", "role": "reading", **message},
        {"column": "ward", "role": "keep", "what": "as in the source"},
    ]
    assert "distortion" not in public["figures"]
    assert {"risk", "loss"} <= public["figures"].keys()


def test_a_column_is_not_called_as_the_pseudonym_is(tmp_path):
    table = people().rename_columns(["id", "weight", "pulse", "pseudonym", "when", "ill"])
    kit = fitted(table, roles(ward=None, pseudonym="keep"))
    with pytest.raises(RequestError, match="two columns of the release would be called pseudonym"):
        applied(kit, tmp_path / "sent.csv", table)


@pytest.mark.parametrize("role", ["keep", "drop", "identifier"])
def test_the_subject_leaves_as_a_pseudonym_alone_whatever_its_role(tmp_path, role):
    release = applied(fitted(None, roles(id=role)), tmp_path / "sent.csv")
    assert table_of(release.path).column_names == ["pseudonym", "weight", "pulse", "ward"]
