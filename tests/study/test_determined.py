"""A determination of a study: the joint criteria first, each part's beside them; verified whole."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.determination.conftest import CONTEXT
from tests.study.made import roles_of, write_key

import voile.determination
from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError, TamperedError
from voile.core.evidence import Rate
from voile.determination import determine_study
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.release.criteria import worst_figure
from voile.study import Study
from voile.study.determined import CRITERIA, open_subject
from voile.study.study_release import StudyRelease
from voile.study.verbs.attack import LinkedParts
from voile.study.verbs.evidence import evidence_of


@pytest.fixture
def applied(folder) -> Study:
    create(folder / "county.ledger", LedgerPromise(expected_matches=9_999.0), folder / "study.key")
    study = Study.open(folder / "study.toml", ledger=folder / "county.ledger")
    study.apply()
    return study


def verdicts(one) -> dict[str, tuple[str, str]]:
    return {x.name: (x.verdict, x.figure.evidence if x.figure else "") for x in one.criteria}


def test_joint_figures_and_those_of_parts_are_judged_and_verified(applied, folder):
    out = folder / "determination"
    one = determine_study(applied, CONTEXT, out, pdf=False)
    found = verdicts(one)
    assert found["joint-risk"][1].startswith("ledger: ")
    assert found["singling-out"][1] == "manifest: all_parts_alone"  # the number of notes
    public = open_subject(folder / "study.release").public
    largest = next(x.figure for x in one.criteria if x.name == "re-identification")
    text = max(("named_in_text", "values_in_text"), key=public["figures"].get)
    assert found["text-left"][1] == f"manifest: {text}"
    own = public["parts"]["visits"]["figures"]["max_risk"]
    assert largest.most == max(own, public["figures"]["joint_at_recall_max_risk"])
    page = (out / "determination.html").read_text()
    assert page.index("Is it enough?") < page.index("What all parts disclose together")
    result = voile.determination.verify(
        out, key_file=folder / "study.key", ledger=folder / "county.ledger"
    )
    assert [check.says for check in result.checks if check.holds is False] == []
    assert result.says == "intact; not signed"


def test_the_commands_know_the_folder_of_a_study(applied, folder, capsys):
    place, key = str(folder / "study.release"), str(folder / "study.key")
    assert run(["verify", place, "--key-file", key]) == 0
    assert "visits: the bytes are those that the manifest names" in capsys.readouterr().out
    (folder / "context.toml").write_text(tomli_w.dumps(CONTEXT))
    asked = ["--context", str(folder / "context.toml"), "--no-pdf", "--json"]
    words = {
        "own": ["study", "determine", str(folder / "study.toml")],
        "any": ["determine", place, "--key-file", key],
    }
    said = []
    for name, start in words.items():
        assert run([*start, *asked, "--out", str(folder / name)]) == 0
        said.append(json.loads(capsys.readouterr().out)["criteria"])
    assert said[0] == said[1]


def test_the_plan_names_the_context(applied, folder, capsys):
    plan, out = folder / "study.toml", folder / "planned"
    asked = ["study", "determine", str(plan), "--no-pdf", "--out", str(out)]
    assert run(asked) == 2
    assert "a determination needs a context" in capsys.readouterr().err
    plan.write_text(plan.read_text() + '\n[determination]\ncontext = "aim.toml"\n')
    (folder / "aim.toml").write_text(tomli_w.dumps(CONTEXT))
    assert run(asked) == 0
    assert (out / "determination.json").is_file()
    Study.open(plan).apply(force=True)  # the kit is still of this plan


@pytest.mark.parametrize("name", ["manifest.json", "visits.parquet"])
def test_a_changed_byte_is_named(applied, folder, name):
    out = folder / "determination"
    determine_study(applied, CONTEXT, out, pdf=False)
    path = folder / "study.release" / name
    path.write_bytes(path.read_bytes().replace(b"visits", b"vizits") + b" ")
    result = voile.determination.verify(out, key_file=folder / "study.key")
    failed = [check.says for check in result.checks if check.holds is False]
    assert any(name in said or "visits" in said for said in failed)
    with pytest.raises((TamperedError, RequestError)):
        determine_study(applied, CONTEXT, folder / "other", pdf=False)
    assert not (folder / "other").exists()


def test_a_part_of_more_risk_than_all_together_is_the_one_that_is_judged():
    part = {"kind": "tables", "figures": {"max_risk": 0.9}}
    public = {"parts": {"visits": part}, "figures": {"joint_at_recall_max_risk": 0.5}}
    found = worst_figure("re-identification", CRITERIA, public, ())
    assert found.most == 0.9
    assert found.evidence == "manifest: max_risk, of part visits"


def test_a_release_from_before_is_refused(folder, applied):
    place = folder / "study.release" / "manifest.json"
    public = json.loads(place.read_bytes())
    place.write_text(json.dumps({n: x for n, x in public.items() if n != "sha256"}))
    with pytest.raises(RequestError, match="by an older voile"):
        open_subject(folder / "study.release")


def test_guesses_from_texts_answer_inference():
    guess = {"column": "sex", "accuracy": 0.71, "low": 0.61, "high": 0.81, "chance": 0.5}
    found = worst_figure("inference", CRITERIA, {"parts": {}, "guesses": [guess]}, ())
    assert (found.most, found.evidence) == (0.31, "manifest: guesses")
    none = {**guess, "accuracy": 0.4, "low": 0.3, "high": 0.45}
    found = worst_figure("inference", CRITERIA, {"parts": {}, "guesses": [none]}, ())
    assert found.most == 0.0


def test_known_facts_answer_singling_out_and_linkability():
    figures = {"all_parts_alone": 0.2, "all_facts_alone": 0.9, "two_facts_known_mean_risk": 0.4}
    public = {"parts": {}, "figures": figures}
    assert worst_figure("singling-out", CRITERIA, public, ()).most == 0.9
    found = worst_figure("linkability", CRITERIA, public, ())
    assert (found.most, found.evidence) == (0.4, "manifest: two_facts_known_mean_risk")


def test_the_joint_attack_counts_people_up_to_whole_ones():
    found = evidence_of(LinkedParts(people=40, table=2.0, texts=1.0, joint=3.2, alone=1))
    [one] = found.findings
    assert (one.rate, one.baseline) == (Rate(4, 40), Rate(2, 40))
    public = {"parts": {}, "figures": {"joint_at_recall_max_risk": 0.05}}
    figure = worst_figure("re-identification", CRITERIA, public, (found,))
    assert figure.evidence == "attack: joint linkage"
    assert figure.most >= 0.1


def test_attacks_on_the_study_and_on_its_parts_enter_the_criteria(applied, folder):
    """The joint attack, each part's own, and no changed byte of either."""
    release = applied.plan.release
    register = pq.read_table(folder / "visits.parquet").group_by(
        ["person_id", "age", "sex", "race", "zip"]
    ).aggregate([])  # fmt: skip
    found = applied.attack(register, parts=True)
    assert {*found.of_parts} == {"visits", "notes"}
    assert all(holds is not False for _, holds in applied.verify())
    evidence = open_subject(release).evidence(applied.plan.secret, None)
    assert [one.attack for one in evidence] == ["known facts", "joint linkage"]
    applied.attack()  # which keeps what the register linked
    again = open_subject(release).evidence(applied.plan.secret, None)
    assert [one.attack for one in again] == ["known facts", "joint linkage"]
    assert {one.attack for one in evidence.of_part["visits"]} >= {"linkage"}
    public = StudyRelease.open(release).public
    inference = worst_figure("inference", CRITERIA, public, evidence)
    assert inference.evidence.endswith(", of part visits")
    one = determine_study(applied, CONTEXT, folder / "determination", pdf=False)
    assert next(x.figure for x in one.criteria if x.name == "inference") == inference
    result = voile.determination.verify(
        folder / "determination", key_file=folder / "study.key", ledger=folder / "county.ledger"
    )
    assert [check.says for check in result.checks if check.holds is False] == []
    place = folder / "study.release.private" / "visits" / "evidence.json"
    place.write_bytes(place.read_bytes() + b" ")
    failed = [said for said, holds in applied.verify() if holds is False]
    assert failed == ["visits: its evidence is as attack sealed it"]
    with pytest.raises(TamperedError):
        determine_study(applied, CONTEXT, folder / "other", pdf=False)
    applied.apply(force=True)  # which takes old evidence away
    assert not place.exists()


DIALYSIS = """\
[study]
subject = "person_id"
key_file = "study.key"

[promise]
least_loss = true
k = 5

[parts.people]
kind = "tables"
source = "people.csv"
roles = "people.toml"

[parts.dialysis]
kind = "tables"
source = "dialysis.csv"
roles = "dialysis.toml"
choose = { policy = 0 }
"""


@pytest.fixture
def dialysis(tmp_path) -> Study:
    """Apply a study of 60 people in groups of 30, of whom 40 have a number of rows of their own."""
    write_key(tmp_path)
    people = [f"Q{n:02}" for n in range(60)]
    table = pa.table({"person_id": people, "sex": ["F", "M"] * 30})
    pa.csv.write_csv(table, tmp_path / "people.csv")
    many = [n + 2 if n < 40 else 1 for n in range(60)]
    rows = [one for one, n in zip(people, many, strict=True) for _ in range(n)]
    units = [("day", "night")[n % 2] for n in range(len(rows))]  # released as one group
    visits = pa.table({"person_id": rows, "unit": units})
    pa.csv.write_csv(visits, tmp_path / "dialysis.csv")
    for name, column in {"people": "sex", "dialysis": "unit"}.items():
        (tmp_path / f"{name}.toml").write_text(roles_of({column: "quasi"}))
    (tmp_path / "study.toml").write_text(DIALYSIS)
    study = Study.open(tmp_path / "study.toml")
    study.fit()
    study.apply()
    return study


def test_joined_rows_below_k_are_refused_with_options_of_the_plan(dialysis, tmp_path):
    plan, part = tmp_path / "study.toml", f"{DIALYSIS}fit = {{ k = 5 }}\n"
    plan.write_text(part)
    with pytest.raises(InfeasibleError, match=r"^parts\.dialysis: 40 people have") as error:
        Study.open(plan).fit(force=True)
    options = str(error.value).partition("choose one: ")[2].split("; ")
    assert len(options) == 3
    for option in options:
        chosen = option.replace("REASON", "the recipient links visits").partition(", which")[0]
        plan.write_text(f"{part}{chosen}\n")
        study = Study.open(plan)
        study.fit(force=True)
        assert study.apply(force=True).counts["dialysis"]["released"]
    study.report(tmp_path / "report.html")
    said = "Accepted risk of part dialysis: the recipient links visits"
    assert said in (tmp_path / "report.html").read_text()


def test_a_limit_on_each_person_counts_linked_rows(dialysis):
    """The mean link by quasi-identifiers is rare; 40 people are alone by their rows."""
    public = StudyRelease.open(dialysis.plan.release).public
    found = {
        bounds: worst_figure("re-identification", CRITERIA, public, (), bounds).most
        for bounds in ("largest", "group", "mean")
    }
    assert found["largest"] == found["group"] == 1.0
    assert found["mean"] < 1.0


def test_a_promise_of_facts_is_refused_with_remedies_that_keep_it(dialysis, tmp_path):
    """Each remedy that the refusal names helps as many people as it says."""
    plan = tmp_path / "study.toml"
    promised = DIALYSIS.replace("k = 5", "k = 5\nalone = 0")
    plan.write_text(promised)
    with pytest.raises(InfeasibleError, match="all facts single out 40 of 60") as error:
        Study.open(plan).apply(force=True)
    said = str(error.value)
    assert 'links = "none" in [parts.dialysis] helps 40 of the 40 people' in said
    assert "most_rows = 1 in [parts.dialysis] helps 40 of the 40 people" in said
    rows = pa.csv.read_csv(tmp_path / "dialysis.csv").num_rows
    for option in ("most_rows = 1", 'links = "none"'):
        plan.write_text(f"{promised}{option}\n")
        study = Study.open(plan)
        study.fit(force=True)
        release = study.apply(force=True)
        assert release.public["figures"]["all_facts_alone"] == 0
        assert all(one.holds is not False for one in study.verify())
        written = pa.csv.read_csv(release.path / "dialysis.csv")
        if option == "most_rows = 1":
            assert written.num_rows == 60
            left_out = {"rows": rows, "left_out": rows - 60, "people": 40}
            assert release.private["left_out"] == {"dialysis": left_out}
            assert any("of dialysis not all rows" in x for x in release.public["assumptions"])
        else:
            assert (written.num_rows, "person_id" in written.column_names) == (rows, False)
            [row] = study.attack().rejoined
            assert row.part == "dialysis"
        page = study.report(tmp_path / f"{option[:4]}.html", force=True)
        assert page.exists()
    assert not list(tmp_path.glob(".study.kit.export"))


def test_the_report_shows_remedies_with_their_loss(dialysis, tmp_path):
    page = dialysis.report(tmp_path / "report.html").read_text()
    assert "Remedies" in page
    assert "most_rows = 1" in page
    assert "its rows are no longer joined to people" in page


@pytest.mark.parametrize("is_attacked", [False, True])
def test_numbers_of_rows_single_out(dialysis, tmp_path, is_attacked):
    """Of 60 people 40 are alone by the number of rows: measured by apply, and by an attack."""
    figures = StudyRelease.open(dialysis.plan.release).public["figures"]
    assert figures["all_facts_alone"] == figures["all_parts_alone"] == 0.67  # 40 of 60, up
    assert figures["all_facts_known_mean_risk"] == 0.7  # 40 alone, and 2 groups of 10
    assert figures["all_parts_group_risk"] == 1.0
    if is_attacked:
        reached = {
            one.of: one.value for one in dialysis.attack().known if one.name == "people_alone"
        }
        assert reached["all parts"] == reached["the number of rows in each part"] == 40
    limit = {"at_most": 0.05, "source": "The privacy officer"}
    given = {**CONTEXT, "thresholds": {**CONTEXT["thresholds"], "singling-out": limit}}
    one = determine_study(dialysis, given, tmp_path / "d", pdf=False)
    found = verdicts(one)["singling-out"]
    by = "attack: known facts" if is_attacked else "manifest: all_parts_alone"
    assert found == ("does not meet", by)
    page = (tmp_path / "d" / "determination.html").read_text()
    standards = page[page.index('<section id="standards"') :]
    assert "smallest group by all parts and numbers of rows: fewer than 11" in standards
