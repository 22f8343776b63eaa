"""One kit for the rows of every day: counted anew, they are judged as if it were fitted on them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.tables as vt
from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.modules import find_module
from voile.release.apply import write
from voile.release.spread.run import SpreadRun
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.recount import count_anew, pack_counts, unpack_counts, with_counts

ROLES = {
    "columns": {"who": "identifier", "age": "quasi", "sex": "quasi", "dx": "sensitive"},
    "subject": "who",
}


def people(rows: int, seed: int, first: int = 0, ages: tuple[int, int] = (2, 7)) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "who": [f"CANARY{first + i // 2}" for i in range(rows)],
            "age": rng.integers(*ages, rows) * 10,
            "sex": rng.choice(["F", "M"], rows),
            "dx": rng.choice(["a", "b", "c"], rows),
        }
    )


@pytest.fixture(scope="module", params=["global", "tree"])
def kit(request: Any) -> Any:
    how = {"k": 4, "seed": 1, "suppress": 0.5, "family": request.param, "l_diversity": 2}
    return vt.fit(people(400, 1), ROLES, **how)


def same_counts(one: Any, other: Any) -> None:
    assert one.sizes == other.sizes
    assert one.columns == other.columns
    for name in ("codes", "sample", "population", "sensitive"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_counts_are_those_of_a_fit_on_the_rows(kit: Any) -> None:
    rows = people(300, 2)
    fitted = vt.fit(rows, ROLES, k=4, family="global", method="exhaustive", l_diversity=2, seed=1)
    counts = count_anew(TablesContent.of(kit), open_source(rows))
    same_counts(counts, TablesContent.of(fitted).space.counts)
    same_counts(unpack_counts(pack_counts(counts)), counts)


def test_rows_outside_the_domains_do_not_count(kit: Any) -> None:
    rows = people(300, 2, ages=(2, 9))
    ages = rows["age"].to_numpy()
    inside = rows.filter(pa.array(ages < 70))
    assert 0 < len(inside) < len(rows)
    content = TablesContent.of(kit)
    same_counts(count_anew(content, open_source(rows)), count_anew(content, open_source(inside)))
    with pytest.raises(RequestError, match="no row has values in the kit's domains"):
        count_anew(content, open_source(rows.filter(pa.array(ages >= 70))))


def test_groups_are_suppressed_by_the_days_counts(kit: Any, tmp_path: Path) -> None:
    """Without it, groups that were large enough at the fit come out small, and are refused."""
    rows, policy = people(120, 3, ages=(2, 9)), kit.choose(policy=len(kit.frontier.to_arrow()) - 1)
    given = {"no_pseudonyms": True}
    if TablesContent.of(kit).family.is_global[-1]:  # a tree is pruned by the rows themselves
        with pytest.raises(InfeasibleError, match="fit on this source"):
            kit.apply(policy, people(60, 3), tmp_path / "out.parquet", **given)
    release = kit.apply(policy, rows, tmp_path / "out.parquet", recount=True, **given)
    read = open_source(release.path).read()
    assert release.private["counts"]["set_aside"] > 0
    numbers = open_source(release.folder / "rows.parquet").read()["row"].to_numpy()
    who = rows["who"].to_numpy(zero_copy_only=False)[numbers]
    cells = zip(*(read[name].to_pylist() for name in ("age", "sex")), strict=True)
    groups: dict[Any, set[str]] = {}
    for cell, name in zip(cells, who, strict=True):
        groups.setdefault(cell, set()).add(name)
    assert min(map(len, groups.values())) >= 4
    content = TablesContent.of(kit)
    counted = with_counts(content, count_anew(content, open_source(rows)))
    risk = counted.score(content.family.read_policy(policy.policy)).risk
    assert release.public["figures"]["relative_risk"] == pytest.approx(risk, rel=0.05)
    assert any("fitted on other rows" in one for one in release.public["assumptions"])
    release.report().save(tmp_path / "report.html")


def test_a_kit_that_cannot_be_counted_anew_says_why(tmp_path: Path) -> None:
    rows = people(400, 1)
    kit = vt.fit(rows, ROLES, k=4, fraction=0.1, family="global", seed=1)
    with pytest.raises(RequestError, match="were estimated from the rows"):
        kit.apply(kit.choose(policy=0), rows, recount=True, no_pseudonyms=True)


def test_days_enter_a_ledger_with_one_kit(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "ledger", LedgerPromise(expected_matches=1000, k=4), key)
    roles = {"columns": {"who": "identifier", "age": "quasi"}, "subject": "who"}

    def day(people: int) -> pa.Table:
        ages = [20 + i % 20 // 10 * 10 for i in range(people)]
        return pa.table({"who": [f"CANARY{i}" for i in range(people)], "age": ages})

    kit = vt.fit(day(20), roles, k=4, family="global", seed=1)
    policy = kit.choose(policy=len(kit.frontier.to_arrow()) - 1)
    given = {"ledger": tmp_path / "ledger", "key_file": key, "releases": tmp_path}
    kit.apply(policy, day(20), tmp_path / "0.parquet", **given)
    with pytest.raises(
        RequestError, match=r"are not those that the kit counts.*add recount to apply"
    ):
        kit.apply(policy, day(22), tmp_path / "1.parquet", **given)
    with pytest.raises(InfeasibleError, match="2 who came in groups under 4"):
        kit.apply(policy, day(22), tmp_path / "1.parquet", recount=True, **given)
    release = kit.apply(
        policy, day(22), tmp_path / "1.parquet", recount=True, hold_back=True, **given
    )
    assert release.private["counts"]["suppressed"] == 2
    release = kit.apply(policy, day(24), tmp_path / "2.parquet", recount=True, **given)
    assert release.private["counts"]["released"] == 24


def test_workers_count_by_what_the_driver_counted(kit: Any, tmp_path: Path) -> None:
    rows = people(90, 5, ages=(2, 9))
    pq.write_table(rows, tmp_path / "source.parquet", row_group_size=30)
    policy, tables = kit.choose(policy=len(kit.frontier.to_arrow()) - 1), find_module("tables")
    options = tables.options.apply(recount=True, no_pseudonyms=True)
    source = open_source(tmp_path / "source.parquet")
    here = kit.apply(policy, source, tmp_path / "here.parquet", recount=True, no_pseudonyms=True)

    def engine(work: Any, tasks: int) -> Sequence[str]:
        return [work(number) for number in range(tasks)]

    applying = tables.prepare(kit, policy, source, options)
    run = partial(SpreadRun, prepare=tables.prepare, engine=engine, size=1)
    out = tmp_path / "out"
    write(applying, out, options, force=False, progress=silent, run=run)
    read = [Counter(map(repr, open_source(x).read().to_pylist())) for x in (here.path, out)]
    assert read[0] == read[1]
    assert len(re.findall("part", " ".join(x.name for x in out.iterdir()))) > 1
