"""Decoding from Python: in memory as on disk, every reading again."""

from __future__ import annotations

from inspect import signature

import click
import pandas as pd
import pytest

import voile.signals as vs
from voile.cli.kind import kind_group
from voile.core.errors import RequestError
from voile.data import open_source
from voile.signals.module import SIGNALS

ROLES = {"who": "identifier", "dose": "reading", "sick": "private", "ward": "keep"}


def people() -> pd.DataFrame:
    import numpy as np

    rng = np.random.default_rng(3)
    n = 200
    sick = np.where(np.arange(n) % 2, "yes", "no")
    dose = np.round(rng.normal(np.where(sick == "yes", 8.0, 5.0), 1.0), 1)
    who = [f"p{i:03d}" for i in range(n)]
    return pd.DataFrame({"who": who, "dose": dose, "sick": sick, "ward": "north"})


@pytest.fixture(scope="module")
def sent():
    frame = people()
    roles = {"subject": "who", "columns": ROLES}
    kit = vs.fit(frame, roles, strength=1.0, base="normal", seed=1)
    policy = kit.choose(max_loss=1.0)
    return frame, kit, policy, kit.apply(policy, frame, no_pseudonyms=True, keep_order=True)


def test_a_release_in_memory_decodes(sent, tmp_path):
    frame, kit, policy, release = sent
    assert (release.frame["dose"] != frame["dose"]).any()
    decoded = vs.decode(kit, release, policy)
    assert isinstance(decoded.frame, pd.DataFrame)
    assert decoded.frame["dose"].tolist() == frame["dose"].tolist()
    assert (decoded.rows, decoded.set_aside) == (200, 0)


def test_a_saved_release_decodes_to_a_file_with_the_classes_given(sent, tmp_path):
    frame, kit, policy, release = sent
    saved = release.save(tmp_path / "r.parquet")
    classes = open_source(saved.folder / "classes.csv")
    decoded = vs.decode(kit, saved, policy, classes, tmp_path / "d.parquet")
    assert decoded.frame["dose"].tolist() == frame["dose"].tolist()
    assert (tmp_path / "d.parquet.manifest.json").exists()
    with pytest.raises(RequestError, match="a subject has no class"):
        vs.decode(kit, saved, policy, {"pseudonym": ["nobody"], "sick": ["yes"]})
    with pytest.raises(RequestError, match="is not a policy"):
        vs.decode(kit, saved, 3)


def test_a_release_on_disk_is_saved_already_and_formulas_are_escaped_in_csv_alone(sent, tmp_path):
    frame, kit, policy, release = sent
    with pytest.raises(
        RequestError, match=r"formulas escape applies only to \.csv and \.tsv files"
    ):
        kit.apply(policy, frame, no_pseudonyms=True, formulas="escape")
    saved = release.save(tmp_path / "r.csv", formulas="escape")
    assert saved.manifest["formulas"] == "escaped by an apostrophe"
    assert all(check.holds is not False for check in saved.verify())
    with pytest.raises(RequestError, match="the release is already a file"):
        saved.save(tmp_path / "again.csv")


@pytest.mark.parametrize("name", ["send", "receive", "enrol"])
def test_the_verbs_that_signals_alone_have_take_the_options_of_the_command(name):
    command = kind_group(SIGNALS).get_command(click.Context(click.Group()), name)
    there = {str(param.name) for param in command.get_params(click.Context(command))}
    call = getattr(vs, name)
    here = set(signature(call).parameters)
    assert here == there - {"table", "encoding", "_click_default_help"}
    assert all(f"{option} : " in call.__doc__ for option in here)
    with pytest.raises(RequestError, match="no such option: brokr"):
        call(
            *["x"]
            * sum(
                p.default is p.empty
                for p in signature(call).parameters.values()
                if p.kind is p.POSITIONAL_OR_KEYWORD
            ),
            brokr="mqtt://localhost",
        )
