"""What inspect proposes for Adult goes to a space of policies with a population of four columns."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import voile
from voile.tables.domains.settings import PATHS
from voile.tables.fitting.space import PolicySpace

pytestmark = pytest.mark.real


def test_the_proposal_for_adult_needs_no_edit(data_set):
    folder = data_set("tennessee")
    roles = voile.inspect(folder / "adult.parquet")
    assert not roles.of("undecided")
    quasi = roles.of("quasi")
    assert len(quasi) >= 10
    space = PolicySpace.of(
        folder / "adult.parquet",
        folder / "population.parquet",
        quasi,
        settings={name: roles.settings_of(name, PATHS) for name in quasi},
        sampled=True,
    )
    rows = pq.read_metadata(folder / "adult.parquet").num_rows
    assert space.counts.subjects == rows
    assert len(space.counts.codes) <= rows
    assert set(space.population.boxes.columns) == {"age", "sex", "race", "zip"}
    assert space.population.boxes.people.sum() > 6_000_000
    risk, loss = space.evaluate(space.top[None])
    assert (risk[0] < 0.001, loss[0]) == (True, 1.0)


def test_the_proposal_goes_through_fit_and_apply_with_no_edit(data_set, tmp_path):
    folder = data_set("tennessee")
    kit = voile.tables.fit(
        folder / "adult.parquet",
        roles=voile.inspect(folder / "adult.parquet"),
        population=folder / "population.parquet",
        sampled=True,
        k=5,
        family="tree",
        seed=1,
    )
    chosen = kit.choose(max_loss=0.5)
    release = kit.apply(chosen, folder / "adult.parquet", tmp_path / "release.parquet")
    assert release.private["figures"]["k"] >= 5
    release.report(internal=True).save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "independently of the other columns and of each other" in text
