"""Kits are data: the same content has the same bytes, and what was changed is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError, TamperedError
from voile.data.files.outputs import KIT_INDEX
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit


def made(**changes):
    tables = {"frontier": pa.table({"risk": [0.5, 1.0], "zip": ["00501", None]})}
    kit = StoredKit("tables", "private", {"policies": 2, "name": "é"}, tables)
    return dataclasses.replace(kit, **changes)


@pytest.fixture
def saved(tmp_path):
    made().save(tmp_path / "kit")
    return tmp_path / "kit"


def edit(folder, **changes):
    index = json.loads((folder / KIT_INDEX).read_bytes())
    index.update(changes)
    (folder / KIT_INDEX).write_text(json.dumps(index))


def test_a_kit_comes_back_equal(saved):
    kit, back = made(), StoredKit.load(str(saved))
    assert (back.kind, back.visibility, back.facts) == (kit.kind, kit.visibility, kit.facts)
    assert back.tables["frontier"].equals(kit.tables["frontier"])
    assert back.id == kit.id


def test_the_same_content_has_the_same_bytes_and_other_content_another_id(saved, tmp_path):
    made().save(tmp_path / "again")
    for path in saved.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert made(facts={"policies": 3}).id != made().id
    assert made(tables={"frontier": pa.table({"risk": [0.5]})}).id != made().id


def test_a_kit_keeps_its_id():
    """Policies name their kit by it, also those that were chosen before."""
    assert StoredKit("tables", "shareable", {"policies": 1, "name": "é"}).id == "ed9ce35d0362e86a"


def test_the_id_is_that_of_the_written_bytes(saved):
    """Another Parquet writer's bytes for the same table must not orphan the policies chosen."""
    path = saved / "frontier.parquet"
    pq.write_table(made().tables["frontier"], path, compression="gzip", use_dictionary=False)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    edit(saved, tables={"frontier": {"file": path.name, "sha256": digest}})
    back = StoredKit.load(saved)
    assert back.id == hashlib.sha256((saved / KIT_INDEX).read_bytes()).hexdigest()[:16]
    assert back.tables["frontier"].equals(made().tables["frontier"])


def test_a_private_kit_is_open_to_its_owner_alone(saved, tmp_path):
    assert stat.S_IMODE(saved.stat().st_mode) == 0o700
    made(visibility="shareable").save(tmp_path / "shared")
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


def test_an_existing_kit_is_not_replaced_unasked(saved):
    with pytest.raises(RequestError, match="exists already"):
        made().save(saved)
    made(facts={"policies": 9}).save(saved, force=True)
    assert StoredKit.load(saved).facts == {"policies": 9}


def test_a_changed_file_is_refused(saved):
    path = saved / "frontier.parquet"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(TamperedError, match="does not match the kit's index"):
        StoredKit.load(saved)
    path.unlink()
    with pytest.raises(TamperedError, match="lacks a file"):
        StoredKit.load(saved)


def test_an_edited_index_gives_another_id(saved):
    edit(saved, facts={"policies": 2, "name": "other"})
    assert StoredKit.load(saved).id != made().id


def test_a_newer_kit_is_refused_whatever_it_holds(saved):
    (saved / KIT_INDEX).write_text(json.dumps({"format": "voile-kit", "version": 3}))
    with pytest.raises(RequestError, match="version 3 and this voile reads up to 2"):
        StoredKit.load(saved)


def test_a_kit_of_an_older_voile_is_to_be_fitted_again(saved):
    index = {"format": "voile-kit", "version": 1, "kind": "tables", "visibility": "private"}
    (saved / KIT_INDEX).write_text(json.dumps({**index, "facts": {"policies": 1}, "tables": {}}))
    with pytest.raises(RequestError, match="an older voile wrote this kit; fit again"):
        StoredKit.load(saved)


def test_what_is_no_kit_is_refused(saved, tmp_path):
    for absent in (tmp_path / "none", saved / KIT_INDEX):
        with pytest.raises(RequestError, match="no kit here; fit writes one"):
            StoredKit.load(absent)
        with pytest.raises(RequestError, match="no kit here; voile tables fit writes one"):
            StoredKit.load(absent, "tables")
    with pytest.raises(RequestError, match="this is a kit of tables; use voile tables"):
        StoredKit.load(saved, "signals")
    for text in ("[]", '{"format": "other"}'):
        (saved / KIT_INDEX).write_text(text)
        with pytest.raises(RequestError, match="this is not a kit"):
            StoredKit.load(saved)
    for text in ("{", '{"format": "voile-kit"}', '{"format": "voile-kit", "version": 2}'):
        (saved / KIT_INDEX).write_text(text)
        with pytest.raises(TamperedError):
            StoredKit.load(saved)


def test_a_strangers_kit_runs_no_code(saved):
    """A table's file may hold a pickle under the right hash: it is never unpickled."""

    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was run",))

    raw = pickle.dumps(Trap())
    (saved / "frontier.parquet").write_bytes(raw)
    entry = {"file": "frontier.parquet", "sha256": hashlib.sha256(raw).hexdigest()}
    edit(saved, tables={"frontier": entry})
    with pytest.raises(TamperedError, match="the parquet file is damaged or truncated"):
        StoredKit.load(saved)


def test_loading_never_calls_pickle(saved, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("pickle was used")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    assert StoredKit.load(saved).tables["frontier"].num_rows == 2


def test_an_index_cannot_lead_out_of_its_folder(saved, tmp_path):
    (tmp_path / "outside.parquet").write_bytes((saved / "frontier.parquet").read_bytes())
    index = json.loads((saved / KIT_INDEX).read_bytes())
    entry = {**index["tables"]["frontier"], "file": "../outside.parquet"}
    edit(saved, tables={"frontier": entry})
    with pytest.raises(TamperedError, match="lacks a file"):
        StoredKit.load(saved)


CELLS = pa.table(
    {
        "whole": [1, 2],
        "share": [0.5, 1.0],
        "text": ["a", "b"],
        "raw": [b"a", b"b"],
        "null": pa.array([1, None]),
        "no text": pa.array(["a", None]),
        "infinite": [1.0, float("inf")],
        "nan": [1.0, float("nan")],
    }
)


def test_a_table_has_the_kinds_of_columns_that_its_wing_reads():
    kit = made(tables={"cells": CELLS})
    assert kit.table("cells") is CELLS
    assert kit.table("cells", numbers=["whole", "share"], text=["text"], raw=["raw"]) is CELLS


@pytest.mark.parametrize(
    "wanted",
    [
        *({"numbers": [name]} for name in ("text", "raw", "null", "infinite", "nan")),
        *({"text": [name]} for name in ("whole", "raw", "no text")),
        *({"raw": [name]} for name in ("text", "share")),
        {"numbers": ["whole", "text"]},
    ],
)
def test_a_table_with_another_kind_of_column_is_refused(wanted):
    with pytest.raises(TamperedError, match="of the kit's table cells"):
        made(tables={"cells": CELLS}).table("cells", **wanted)


def test_a_kit_is_not_pickled():
    with pytest.raises(TypeError, match="a kit contains keys and cannot be pickled"):
        pickle.dumps(made())


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"max_risk": 0.1, "knee": True},
        {"max_risk": 0.1, "policy": 3},
        {"max_risk": 0.1, "max_relative_risk": 0.1},
    ],
)
def test_a_choice_is_exactly_one(asked):
    with pytest.raises(RequestError, match="exactly one"):
        Choice(**asked)


@pytest.mark.parametrize(
    "asked", [{"max_risk": 1.1}, {"max_loss": -0.1}, {"max_risk": float("nan")}]
)
def test_a_share_lies_in_0_1(asked):
    with pytest.raises(RequestError, match=r"lies in \[0, 1\]"):
        Choice(**asked)


def test_a_choice_says_itself():
    said = [
        Choice(max_risk=0.1),
        Choice(max_relative_risk=0.1),
        Choice(beats="safe-harbor"),
        Choice(policy=0),
        Choice(knee=True),
    ]
    assert [str(choice) for choice in said] == [
        "max risk 0.1",
        "max relative risk 0.1",
        "beats safe-harbor",
        "policy 0",
        "at the knee",
    ]


texts = st.text(st.characters(codec="utf-8"))
choices = st.one_of(
    st.builds(lambda share: Choice(max_risk=share), st.floats(0, 1)),
    st.builds(lambda share: Choice(max_loss=share), st.floats(0, 1)),
    st.builds(lambda name: Choice(beats=name), texts),
    st.builds(lambda number: Choice(policy=number), st.integers(0, 10**6)),
    st.just(Choice(knee=True)),
)
FILE = 'kind = "tables"\nkit = ""\n'


@given(
    choice=choices,
    edited=st.booleans(),
    number=st.none() | st.integers(0, 10**6),
    figures=st.dictionaries(texts, st.floats(allow_nan=False)),
    policy=st.dictionaries(texts, st.lists(st.lists(texts, min_size=2, max_size=2))),
)
def test_a_chosen_policy_comes_back_equal_from_its_file(
    tmp_path_factory, choice, edited, number, figures, policy
):
    chosen = Chosen("tables", "0123456789abcdef", number, choice, figures, policy, edited)
    path = tmp_path_factory.mktemp("chosen") / "policy.toml"
    path.write_bytes(chosen.to_toml().encode())
    assert Chosen.read(path) == chosen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind =", "not valid TOML"),
        ("", "kind, kit, choice, figures and policy: is absent"),
        (f"{FILE}choice = {{knee = true}}\nfigures = 1\npolicy = {{}}\n", "figures: is not"),
        (f"{FILE}choice = {{knee = true}}\nfigures = {{}}\npolicy = 7\n", "policy: is not"),
        (f"{FILE}choice = 3\nfigures = {{}}\npolicy = {{}}\n", "choice: "),
        (f"{FILE}choice = {{max_rsk = 0.1}}\nfigures = {{}}\npolicy = {{}}\n", "choice.max_rsk: "),
        (f'{FILE}choice = {{policy = "3"}}\nfigures = {{}}\npolicy = {{}}\n', "choice.policy: "),
        (f'{FILE}number = "3"\nchoice = {{}}\nfigures = {{}}\npolicy = {{}}\n', "number: "),
        (f"{FILE}more = 3\nchoice = {{}}\nfigures = {{}}\npolicy = {{}}\n", "more: "),
        (f"{FILE}choice = {{max_loss = 3}}\nfigures = {{}}\npolicy = {{}}\n", "choice: .*lies in"),
    ],
)
def test_what_is_no_policy_file_is_refused(tmp_path, text, said):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=said):
        Chosen.read(path)
    for absent in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(RequestError):
            Chosen.read(absent)


def test_the_first_policy_is_chosen_by_its_number_and_was_not_edited(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(f"{FILE}number = 0\nchoice = {{policy = 0}}\nfigures = {{}}\npolicy = {{}}\n")
    chosen = Chosen.read(path)
    assert (chosen.number, chosen.choice, chosen.edited) == (0, Choice(policy=0), False)


def test_a_kit_that_lacks_what_its_wing_wrote_is_refused():
    from voile.core.errors import TamperedError
    from voile.tables.verbs.content import TablesContent

    with pytest.raises(TamperedError, match="the kit lacks"):
        TablesContent.of(StoredKit("tables", "private", {"policies": 0}))


def test_a_policy_is_for_one_kind_and_one_kit():
    """The kind is told where both differ: a policy of tables is none of signals, whatever kit."""
    kit = made()
    chosen = Chosen("tables", kit.id, 0, Choice(knee=True), {}, {})
    chosen.check(kit)
    with pytest.raises(RequestError, match="the policy is for signals, and this kit is for tables"):
        dataclasses.replace(chosen, kind="signals").check(kit)
    with pytest.raises(RequestError, match="the policy comes from kit 0000000000000000"):
        dataclasses.replace(chosen, kit="0" * 16).check(kit)


def test_what_is_saved_over_is_refused_in_the_words_of_python(saved):
    with pytest.raises(RequestError, match=r"the output exists already; replace it with force$"):
        StoredKit.load(saved).save(saved)
