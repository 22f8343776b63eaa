"""A study in a ledger: one line for all parts, judged with what is out; kills between."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.study.made import roles_of

from voile.core.errors import InfeasibleError, RequestError, TamperedError
from voile.data import Staging
from voile.ledger.ledger import Ledger, OpenLedger, create, open_ledger
from voile.ledger.promise import LedgerPromise
from voile.release.ledger_checks import close_intents, ledger_checks
from voile.study import Study

MORE = """
[parts.more]
kind = "tables"
source = "more.parquet"
roles = "more.toml"
fit = { method = "steepest", family = "global" }
choose = { policy = 0 }

[mentions]
"""
LOOSE = LedgerPromise(expected_matches=10_000.0)


@pytest.fixture
def ledger(folder) -> Path:
    create(folder / "county.ledger", LOOSE, folder / "study.key")
    return folder / "county.ledger"


def opened(folder) -> Study:
    return Study.open(folder / "study.toml", ledger=folder / "county.ledger")


def test_a_study_is_one_line_which_holds_no_value(folder, ledger):
    release = opened(folder).apply()
    read = Ledger.read_file(ledger)
    assert [line.content["act"] for line in read.chain.lines] == ["promise", "intent", "done"]
    line = read.chain.lines[1].content
    assert line["kind"] == "study"
    assert line["alone"] == line["joint"]
    matches = release.private["figures"]["joint_at_recall"]
    assert release.private["ledger"]["alone"]["matches"] == pytest.approx(matches)
    assert release.private["ledger"]["high"]["matches"] == pytest.approx(matches)
    said = ledger.read_text()
    visits = pq.read_table(folder / "visits.parquet")
    for name in ("person_id", "family_name", "zip", "race", "diagnosis"):
        assert not any(f'"{x}"' in said for x in map(str, visits[name].unique().to_pylist()))
    assert [x.says for x in ledger_checks(read, None, [folder]) if x.holds is False] == []
    assert all(one.holds is not False for one in opened(folder).verify())


def test_the_same_policy_again_adds_what_texts_say_alone(folder, ledger):
    first, again = opened(folder).apply(), opened(folder).apply(force=True)
    one, other = (x.private["ledger"] for x in (first, again))
    assert one["high"]["matches"] < other["high"]["matches"]
    assert other["high"]["matches"] < again.private["figures"]["subjects"]
    assert other["low"]["matches"] <= other["linked"]["matches"] <= other["high"]["matches"]


def test_a_release_is_refused_on_the_high_figure_which_shows_all_three(folder, ledger):
    opened(folder).apply()
    low = Ledger.read_file(ledger).low
    ledger.unlink()
    create(ledger, LedgerPromise(expected_matches=low * 1.02), folder / "study.key")
    opened(folder).apply(force=True)
    before = (folder / "study.release" / "manifest.json").read_bytes()
    with pytest.raises(InfeasibleError, match="with the 1 release that is out") as caught:
        opened(folder).apply(force=True)
    for said in ("from the best single release", "by linking rows", "if every row is linked"):
        assert said in str(caught.value)
    assert (folder / "study.release" / "manifest.json").read_bytes() == before
    assert len(Ledger.read_file(ledger).released_lines) == 1
    released = opened(folder).apply(force=True, override="agreed with the board")
    assert released.private["ledger"]["override"] == "agreed with the board"


@pytest.mark.parametrize("published", [False, True])
def test_a_run_killed_beside_its_publication_counts_until_it_is_closed(
    folder, ledger, monkeypatch, published
):
    def killed(*_, **__):
        raise KeyboardInterrupt

    if published:
        monkeypatch.setattr("voile.release.entering.LedgerEntry.finish", killed)
    else:
        monkeypatch.setattr(Staging, "commit", killed)
    with pytest.raises(KeyboardInterrupt):
        opened(folder).apply()
    monkeypatch.undo()
    assert [line.number for line in Ledger.read_file(ledger).open] == [1]
    assert (folder / "study.release").exists() is published
    with open_ledger(ledger, folder / "study.key") as held:
        assert close_intents(held, [folder]) == [(1, "done" if published else "void")]


def test_a_ledger_that_cannot_be_written_releases_nothing(folder, ledger, monkeypatch):
    def full(*_, **__):
        raise OSError("full")

    monkeypatch.setattr(OpenLedger, "append", full)
    with pytest.raises(OSError, match="full"):
        opened(folder).apply()
    assert not (folder / "study.release").exists()


def test_next_month_is_judged_with_who_was_in_the_last(folder, ledger):
    opened(folder).apply()
    for suffix in ("", ".private"):
        (folder / f"study.release{suffix}").rename(folder / f"march.release{suffix}")
    visits = pq.read_table(folder / "visits.parquet")
    pq.write_table(visits.slice(0, len(visits) - 5), folder / "visits.parquet")
    study = opened(folder)
    study.fit(force=True)
    found = study.apply().private["ledger"]
    assert found["high"]["matches"] > found["alone"]["matches"]
    (folder / "march.release").rename(folder / "gone")
    with pytest.raises(InfeasibleError, match="line 1 is a release of other rows, and it lies"):
        study.apply(force=True)


def test_a_cut_or_forged_ledger_releases_nothing(folder, ledger):
    opened(folder).apply()
    manifest = folder / "study.release" / "manifest.json"
    before, whole = manifest.read_bytes(), ledger.read_text()
    lines = whole.splitlines(keepends=True)
    assert len(lines) > 2
    spoilt = {
        "cut": lines[:-1],
        "torn": [whole[:-20]],
        "forged": [whole.replace("0.", "1.", 1)],
        "swapped": [lines[0], lines[2], lines[1], *lines[3:]],
        "empty": [],
    }
    for name, text in spoilt.items():
        ledger.write_text("".join(text))
        with pytest.raises((TamperedError, RequestError), match="ledger"):
            opened(folder).apply(force=True)
        assert manifest.read_bytes() == before, name


def test_a_part_that_comes_later_is_refused_by_the_line_that_did_not_have_it(folder, ledger):
    opened(folder).apply()
    wards = pq.read_table(folder / "visits.parquet").select(["person_id", "diagnosis"])
    pq.write_table(wards, folder / "more.parquet")
    (folder / "more.toml").write_text(roles_of({"diagnosis": "quasi"}))
    plan = folder / "study.toml"
    accepted = plan.read_text().replace("[promise]\n", "[promise]\nvalues_in_text = 1\n")
    plan.write_text(accepted.replace("\n[mentions]\n", MORE))  # notes have the diagnoses
    roles = folder / "visits.toml"
    roles.write_text(re.sub(r"(?m)^diagnosis = .*$", 'diagnosis = "drop"', roles.read_text()))
    study = opened(folder)
    study.fit(force=True)
    with pytest.raises(InfeasibleError, match="line 1 shows other rows, columns or cuts of a part"):
        study.apply(force=True)
    assert len(Ledger.read_file(ledger).released_lines) == 1


def test_an_override_is_of_a_ledger(folder):
    with pytest.raises(RequestError, match="applies only with a ledger"):
        Study.open(folder / "study.toml").apply(override="agreed with the board")


def test_joint_risk_picks_a_policy_that_is_safe_given_what_is_out(folder, ledger):
    first = opened(folder).apply()
    mean = first.public["figures"]["joint_at_recall_mean_risk"]
    text = (folder / "study.toml").read_text()
    asked = min(1.0, 2.5 * mean)
    (folder / "study.toml").write_text(
        text.replace("max_relative_risk = 0.2", f"joint_risk = {asked}")
    )
    study = opened(folder)
    study.fit(force=True)
    found = study.apply(force=True)
    together = found.private["ledger"]["high"]["matches"]
    assert together <= asked * found.private["figures"]["subjects"] * 1.2  # several mentions
    (folder / "study.toml").write_text(
        text.replace("max_relative_risk = 0.2", "joint_risk = 0.0001")
    )
    with pytest.raises(InfeasibleError, match="together with the earlier releases"):
        opened(folder).fit(force=True)
