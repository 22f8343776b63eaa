"""A study of more than a table and notes: each part under one pseudonym, judged with the others."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import SECRET

from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError, TamperedError
from voile.keys.pseudonyms import date_shift, pseudonym
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.release.manifest import source_rows
from voile.signals.channel import Enrolment
from voile.study import Study
from voile.study.adversary.messages import decoded_columns, open_readings
from voile.study.risk.joint import JointRisk, MatchRecords, TextLeaks
from voile.study.risk.measure import TextResidue
from voile.study.risk.together import StudyEntering
from voile.study.study_kit import load, unpack
from voile.study.study_release import StudyRelease
from voile.tables.verbs.content import TablesContent


def test_every_row_of_every_part_has_the_pseudonym_of_its_person(whole):
    release = StudyRelease.open(whole.plan.release)
    assert {*release.public["parts"]} == {"visits", "wards", "drugs", "pulses", "notes"}
    for name, part in release.public["parts"].items():
        table = pq.read_table(release.path / part["file"])
        numbers = pq.read_table(release.folder / name / "rows.parquet")["row"]
        source = pq.read_table(whole.plan.source(whole.plan.parts[name].source))
        people = source["person_id"].take(numbers).to_pylist()
        column = "pseudonym" if part["kind"] == "signals" else "person_id"
        assert table[column].to_pylist() == [pseudonym(SECRET, one) for one in people]
        if "visit_date" in table.column_names:
            true = source["visit_date"].take(numbers).to_pylist()
            moved = [
                (new - old).days
                for new, old in zip(table["visit_date"].to_pylist(), true, strict=True)
            ]
            assert moved == [date_shift(SECRET, one, days=30) for one in people]
    assert all(holds is not False for _, holds in whole.verify())


def test_an_acquaintance_who_knows_more_parts_reaches_more(whole):
    release = StudyRelease.open(whole.plan.release)
    reached = {one.of: one for one in release.findings if one.name == "expected_matches"}
    parts = [reached[name].value for name in ("visits", "wards", "drugs")]
    people = reached["all parts"].n
    assert max(parts) <= reached["all parts"].value <= people
    wards = release.part("wards").rows().read(["person_id"]).column(0).to_pylist()
    numbers = {*Counter(wards).values()}  # beside one ward for all, it shows how many rows
    assert reached["wards"].value == pytest.approx(len(numbers))
    risk = release.public["figures"]["all_parts_known_mean_risk"]
    assert risk >= reached["all parts"].value / people


def test_an_informed_adversary_reaches_more_with_more_facts_of_more_parts(whole):
    release = StudyRelease.open(whole.plan.release)
    found = {(one["part"], one["facts"]): one for one in release.private["informed"]}
    parts = {part for part, _ in found}
    assert parts == {"visits", "notes", "wards", "drugs", "pulses", "days", "all parts"}
    for part in parts:
        most = [found[part, n]["matches"] for n in (1, 2, 3, None)]
        assert most == sorted(most)
        assert found["all parts", 0]["matches"] <= most[0]
        assert most[-1] <= found["all parts", None]["matches"]
    figures = release.public["figures"]
    people = found["all parts", 2]["people"]
    assert figures["two_facts_known_mean_risk"] >= found["all parts", 2]["matches"] / people
    assert whole.attack().informed == tuple(release.private["informed"])


def test_fit_knows_the_joint_risk_that_the_release_has(whole):
    """Other tables and items count for a policy before anything is written."""
    release, kit = StudyRelease.open(whole.plan.release), load(whole.plan)
    picked = next(
        row
        for row in kit.tables["frontier"].to_pylist()
        if row["number"] == kit.facts["chosen"]["visits"]
    )
    for name in ("table", "joint"):
        assert picked[name] == pytest.approx(release.private["figures"][name]), name
    assert picked["joint"] > picked["table"]


@pytest.mark.slow
def test_a_joint_risk_is_promised_of_several_tables(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    plan = folder / "study.toml"
    plan.write_text(plan.read_text().replace("max_relative_risk = 0.2", "joint_risk = 0.9"))
    study = Study.open(plan)
    study.fit(force=True)
    figures = study.apply(force=True).private["figures"]
    assert 0 < figures["joint"] <= 0.9 * figures["subjects"]
    plan.write_text(plan.read_text().replace("joint_risk = 0.9", "joint_risk = 0.0001"))
    with pytest.raises(InfeasibleError, match="no policy has a joint risk"):
        Study.open(plan).fit(force=True)


def test_the_readings_behind_messages_are_facts(whole):
    """The adversary who has the kit knows of each person as many as the person has."""
    release = StudyRelease.open(whole.plan.release)
    source, part = whole.plan.open_part("pulses"), release.part("pulses")
    found = open_readings(part, source, lambda one: one)
    numbers = source_rows(part.folder)
    true = source.read(["person_id", "pulse"]).take(numbers).to_pylist()
    shown = found.rows.read(["person", "readings"]).to_pylist()
    assert [(x["person"], x["readings"]) for x in shown] == [
        (x["person_id"], [f"pulse={x['pulse']}"]) for x in true
    ]
    figures = {(x["part"], x["facts"]): x["alone"] for x in release.private["informed"]}
    assert figures["pulses", 1] > 0


def test_parts_without_pseudonyms_are_joined_by_dates_that_move_together(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    plan = folder / "study.toml"
    plan.write_text(plan.read_text().replace("seed = 1", "seed = 1\njoin = false", 1))
    study = Study.open(plan)
    study.fit(force=True)
    study.apply(force=True)
    found = {one.part: one for one in study.attack().rejoined}
    assert found["notes"].by == found["wards"].by == ("dates",)
    assert found["notes"].matches > 0.5 * found["notes"].rows
    assert found["drugs"].by == ()
    assert found["drugs"].matches == 0


REMARKS = """\

[parts.remarks]
kind = "documents"
of = "wards"
text = "remark"
kit = "notes.kit"
choose = { max_relative_risk = 0.05 }

[mentions]
"""


def test_a_text_column_returns_in_its_own_rows_of_any_table(whole, tmp_path):
    """Also where the first table has a column of the same name."""
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards, visits = (pq.read_table(folder / f"{name}.parquet") for name in ("wards", "visits"))
    words = {"0": "cough", "1": "fever"}
    signs = pa.array([" and ".join(words[x] for x in f"{n:08b}") for n in range(len(wards))])
    assert "remark" in visits.column_names
    pq.write_table(wards.append_column("remark", signs), folder / "wards.parquet")
    (folder / "wards.toml").write_text((folder / "wards.toml").read_text() + 'remark = "text"\n')
    plan = folder / "study.toml"
    plan.write_text(plan.read_text().replace("\n[mentions]\n", REMARKS))
    study = Study.open(plan)
    study.fit(force=True)
    release = study.apply(force=True)
    numbers = pq.read_table(release.folder / "wards" / "rows.parquet")["row"]
    released = pq.read_table(release.path / "wards.parquet")["remark"]
    true = signs.take(numbers.combine_chunks()).to_pylist()
    pairs = [*zip(released.to_pylist(), true, strict=True)]
    assert sum(new == old for new, old in pairs) > 0.9 * len(pairs)
    assert all(check.holds is not False for check in study.verify())


def test_people_of_a_part_must_be_those_of_the_table(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards = pq.read_table(folder / "wards.parquet")
    other = pa.array([f"other-{one}" for one in wards["person_id"].to_pylist()])
    pq.write_table(wards.set_column(0, "person_id", other), folder / "wards.parquet")
    with pytest.raises(RequestError, match=r"parts\.wards: nobody in it has a released row"):
        Study.open(folder / "study.toml").apply(force=True)


def test_two_tables_never_generalise_one_column(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards = folder / "wards.toml"
    wards.write_text(wards.read_text().replace('ward = "quasi"', 'ward = "drop"\nage = "quasi"'))
    table = pq.read_table(folder / "wards.parquet")
    age = pq.read_table(folder / "visits.parquet")["age"]
    pq.write_table(table.append_column("age", age), folder / "wards.parquet")
    with pytest.raises(RequestError, match=r"age is a quasi-identifier of parts\.visits, too"):
        Study.open(folder / "study.toml").fit(force=True)


def test_no_other_part_releases_a_quasi_identifier_as_it_is(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards = folder / "wards.toml"
    wards.write_text(wards.read_text() + 'age = "keep"\n')
    table = pq.read_table(folder / "wards.parquet")
    age = pq.read_table(folder / "visits.parquet")["age"]
    pq.write_table(table.append_column("age", age), folder / "wards.parquet")
    with pytest.raises(RequestError, match=r"age is a quasi-identifier of parts\.visits, and"):
        Study.open(folder / "study.toml").fit(force=True)


def test_readings_beside_a_ledger_count_as_decoded(whole, tmp_path):
    """They are bounded, and other tables and items as far as they show the same again."""
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    create(folder / "one.ledger", LedgerPromise(expected_matches=10_000.0), folder / "study.key")
    study = Study.open(folder / "study.toml", ledger=folder / "one.ledger")
    first, again = study.apply(force=True), study.apply(force=True)
    for one in (first, again):
        figures, judged = one.private["figures"], one.private["ledger"]
        assert figures["joint_at_recall"] <= judged["high"]["matches"] <= figures["subjects"] + 1e-9


def test_what_decoded_messages_say_of_a_quasi_identifier_counts_as_said(whole):
    kits = unpack(load(whole.plan))
    assert decoded_columns(kits["pulses"]) == ("pulse", "smokes")
    space = TablesContent.of(kits["visits"]).space
    at = np.arange(len(space.counts.codes))
    residue = TextResidue(
        MatchRecords(at, space.counts.sample.astype(float)), (), {}, np.zeros(len(at))
    )
    judged = JointRisk.of(space, space.policy(space.top))
    plain, said = (x.figures(judged)["joint"] for x in (residue, residue.saying(["age"])))
    assert plain < said <= residue.records.weights.sum()
    assert residue.saying(["age"]).saying(["age"]).worst.columns == {"age": 1.0}
    people, past = residue.records.weights.sum(), SimpleNamespace(followed=[])
    none = StudyEntering(*[None] * 3, residue, *[None] * 5)
    for one, most in ((residue, 0.0), (residue.saying(["age"]), people)):
        of = replace(none, content=SimpleNamespace(space=space), residue=one)
        assert of._most(judged, TextLeaks({}), past) == pytest.approx(most)


def test_sessions_of_a_part_have_the_pseudonyms_of_its_release(whole, tmp_path, capsys):
    kit, keys = str(tmp_path / "pulses.kit"), tmp_path / "device.json"
    plan = str(whole.plan.release.parent / "study.toml")
    assert run(["study", "kit", plan, "pulses", "--out", kit]) == 0
    classes = tmp_path / "classes.parquet"
    rows = pq.read_table(whole.plan.source("pulses.parquet"), columns=["person_id", "smokes"])
    pq.write_table(rows.group_by(["person_id", "smokes"]).aggregate([]), classes)
    asked = ["--classes", str(classes), "--key-file", str(whole.plan.key_file)]
    assert run(["signals", "enrol", kit, *asked, "--out", str(keys)]) == 0
    capsys.readouterr()
    release = StudyRelease.open(whole.plan.release).part("pulses")
    enrolled = Enrolment.read_file(keys).pseudonyms
    assert {*enrolled.values()} == {*pq.read_table(release.path)["pseudonym"].to_pylist()}
    with pytest.raises(RequestError, match="there is no part pulse"):
        whole.part_kit("pulse")


def test_the_report_leads_with_the_joint_figures_and_has_each_part(whole, tmp_path):
    for internal in (False, True):
        page = whole.report(tmp_path / f"{internal}.html", internal=internal).read_text()
        places = [page.index(f'id="{key}-title"') for key in ("joint", "part-visits-summary")]
        assert places == sorted(places)
        assert all(f"part-{name}-summary" in page for name in whole.plan.parts)
        assert "Known facts" in page
        assert (
            ("everything that the release shows of the person" in page)
            == ("Which sentence reveals what" in page)
            == internal
        )
    assert "She" in page or "He" in page  # a sentence that says the sex, for the holder alone


def test_a_changed_release_is_not_reported(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    (folder / "study.release" / "drugs.parquet").write_bytes(b"PAR1")
    with pytest.raises(TamperedError):
        Study.open(folder / "study.toml").report(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
