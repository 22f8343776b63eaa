"""The parts that an expert signs: identifiers, tests, sensitivity, reviews, signers on the page."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.tables import roles
from tests.determination.conftest import DAY, NOON

from voile.cli.run import run
from voile.core.errors import RequestError, TamperedError
from voile.determination import determine, sign, verify, write_signed_page, write_template
from voile.determination.context import Context
from voile.determination.holder_statements import SensitivityScore
from voile.determination.inventory import NO_REASON, list_treatments
from voile.determination.ssh import load_key, public_key
from voile.determination.subject import OfRelease
from voile.face.release import Release
from voile.keys.seal import file_sha256
from voile.release.evidence import AttackResults

Make = Callable[..., dict[str, Any]]
CONDITIONS = "approve with conditions"
FULL: dict[str, Any] = {
    "sensitivity": {
        "controls": "low",
        "motives": "high",
        "invasion": "high",
        "why": "The register is for sale",
    },
    "reasons": {"age": "Planning needs ages", "zip": "Clinics are planned by area"},
    "intruder_test": {
        "intruders": ["Two students"],
        "sources": ["The county's register"],
        "started": date(2030, 4, 1),
        "hours": 40.0,
        "claims": 12,
        "confirmed": 3,
        "checked_by": "The trusted unit",
    },
    "dpia": {"reference": "DPIA-14", "dated": date(2030, 3, 1), "place": "https://x.org/dpia"},
    "review": [{"due": date(2030, 11, 1), "what": "New registers", "owner": "The officer"}],
    "expert": {"name": "Ada", "credentials": "Biostatistician", "attestation": "I attest it"},
}


@pytest.fixture
def folder(release: Release, context: Make, tmp_path: Path) -> Path:
    determine(release, context(**FULL), tmp_path / "d", pdf=False, on=DAY)
    return tmp_path / "d"


def contents(folder: Path) -> dict[str, str]:
    return {str(x): file_sha256(x) for x in sorted(folder.rglob("*")) if x.is_file()}


def test_the_page_has_every_statement_of_the_holder(folder: Path) -> None:
    page = (folder / "determination.html").read_text()
    said = ("Ages", "Planning needs ages", "Two students", "3 (25%; 95% interval", "40 hours",
            "6 of 6", "groups of 20", "DPIA-14", "https://x.org/dpia", "2030-11-01", "The officer",
            "Ada", "Biostatistician", "I attest it", "Automated, by voile", "singling out",
            "The intruder test confirmed 3 of 12 claims.")  # fmt: skip
    assert [one for one in said[1:] if one not in page] == []
    above = "limit of 100% is above 5.0%, which the sensitivity score of 6 of 6 points suggests"
    assert above in page
    assert verify(folder, now=NOON).says == "intact; not signed"


def test_parts_that_are_not_stated_are_named(
    release: Release, context: Make, tmp_path: Path
) -> None:
    determine(release, context(), tmp_path / "d", pdf=False, on=DAY)
    page = (tmp_path / "d" / "determination.html").read_text()
    for section in ("sensitivity", "reviews", "expert", "intruders"):
        part = page[page.index(f'<section id="{section}"') :]
        assert "Not stated by the data holder." in part[: part.index("</section>")]


def test_every_source_column_has_a_treatment_and_a_reason(release: Release) -> None:
    found = {one.column: one for one in list_treatments(OfRelease(release).parts(), {"age": "Why"})}
    assert set(found) == set(roles().columns)
    assert found["age"].reason == "Why"
    assert {one.reason for name, one in found.items() if name != "age"} == {NO_REASON}
    assert found["name"].treatment == "dropped"
    assert found["name"].kind == "direct"
    rows = release.rows().read()
    for name in ("age", "sex", "zip"):
        is_whole = len(rows.column(name).unique()) == 1
        assert found[name].treatment == (
            "suppressed: every value in one group" if is_whole else "generalised to intervals"
        )
    assert found["ward"].treatment == "released as in the source"


def test_a_reason_for_no_column_is_refused(release: Release, context: Make, tmp_path: Path) -> None:
    given = context(reasons={"height": "Tall people are rare"})
    with pytest.raises(RequestError, match=r"reasons.height: is no column"):
        determine(release, given, tmp_path / "d", pdf=False, on=DAY)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("reason", ["x", " ", "ok ok ok ok", "n/a", "not needed"])
def test_a_waiver_needs_a_reason_of_substance(context: Make, reason: str) -> None:
    with pytest.raises(RequestError, match=r"linkability.accept: is no reason: write a sentence"):
        Context.read_context(context({"linkability": {"accept": reason}}), today=DAY)


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("review", [{"due": DAY, "what": "a"}], "review.0.owner"),
        ("intruder_test", {**FULL["intruder_test"], "confirmed": 13}, "confirms more claims"),
        ("intruder_test", {**FULL["intruder_test"], "hours": 0.0}, "hours"),
        ("sensitivity", {**FULL["sensitivity"], "motives": "none"}, "motives"),
        ("dpia", {**FULL["dpia"], "sha256": "abc"}, "sha256"),
        ("expert", {"name": "Ada"}, "attestation"),
    ],
)
def test_a_mistake_in_a_statement_is_refused(
    context: Make, part: str, change: Any, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        Context.read_context(context(**{**FULL, part: change}), today=DAY)


def test_a_finished_task_may_stay_in_the_context_of_a_renewal(context: Make) -> None:
    task = {"due": DAY - timedelta(days=30), "what": "New registers", "owner": "The officer"}
    read = Context.read_context(context(**{**FULL, "review": [task]}), today=DAY)
    assert [one.due for one in read.review] == [task["due"]]


def test_a_dpia_at_hand_is_held_to_its_hash(context: Make, tmp_path: Path) -> None:
    import tomli_w

    (tmp_path / "dpia.pdf").write_bytes(b"1")
    for sha256, is_refused in ((file_sha256(tmp_path / "dpia.pdf"), False), ("0" * 64, True)):
        dpia = {**FULL["dpia"], "place": "dpia.pdf", "sha256": sha256}
        (tmp_path / "c.toml").write_text(tomli_w.dumps(context(dpia=dpia)))
        if is_refused:
            with pytest.raises(RequestError, match=r"dpia.sha256: differs from the file's"):
                Context.read_context(tmp_path / "c.toml", today=DAY)
        else:
            Context.read_context(tmp_path / "c.toml", today=DAY)


@pytest.mark.parametrize(
    ("controls", "motives", "invasion", "size"),
    [
        ("high", "low", "low", 3),
        ("medium", "low", "medium", 5),
        ("low", "medium", "high", 11),
        ("low", "high", "high", 20),
    ],
)
def test_the_threshold_follows_from_the_score(
    controls: Any, motives: Any, invasion: Any, size: int
) -> None:
    one = SensitivityScore(controls=controls, motives=motives, invasion=invasion, why=".")
    assert one.cell_size == size
    assert one.threshold == pytest.approx(1 / size, abs=0.005)


def test_a_signer_is_checked_before_anything_is_written(folder: Path, keys: Path) -> None:
    before = contents(folder)
    given = {"signers": keys / "allowed", "now": NOON}
    for signer, key in (("a@x.org", "outsider"), ("a@x.org", "b"), ("c@x.org", "a")):
        with pytest.raises(RequestError, match=rf"does not list {signer} with the key SHA256:"):
            sign(folder, CONDITIONS, signer=signer, key=keys / key, **given)
    with pytest.raises(RequestError, match=r"does not list c@x.org at this time"):
        sign(folder, CONDITIONS, signer="c@x.org", **given)
    assert contents(folder) == before
    assert not (folder / "statements").exists()
    assert sign(folder, CONDITIONS, signer="a@x.org", key=keys / "a", **given).exists()


def test_the_page_of_a_signed_folder_shows_each_signer(
    folder: Path, keys: Path, tmp_path: Path
) -> None:
    for hours, name in enumerate("ab"):
        now = NOON + timedelta(hours=hours)
        sign(folder, CONDITIONS, signer=f"{name}@x.org", key=keys / name, now=now)
    only_a = tmp_path / "only-a"
    only_a.write_text(f"a@x.org {(keys / 'a.pub').read_text()}")
    before = contents(folder)
    verified = verify(folder, signers=only_a, now=NOON + timedelta(days=2))
    write_signed_page(folder, verified, tmp_path / "signed.html")
    page = (tmp_path / "signed.html").read_text()
    decision = page[page.index('<section id="decision"') :]
    for name, allowed in (("a", "(allowed for"), ("b", "(NOT allowed for")):
        fingerprint = public_key(load_key(keys / name)).fingerprint
        own = decision[decision.index(f"{name}@x.org") :]
        assert own.index(fingerprint) < own.index(allowed) < own.index(CONDITIONS)
    assert page[: page.index("decision")] in (folder / "determination.html").read_text()
    assert contents(folder) == before
    with pytest.raises(RequestError, match=r"write FILE.html or FILE.pdf"):
        write_signed_page(folder, verified, tmp_path / "signed.docx")
    (folder / "determination.html").write_text("forged")
    with pytest.raises(TamperedError):
        write_signed_page(folder, verified, tmp_path / "again.html")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_the_pdf_of_a_signed_folder_shows_each_signer(
    folder: Path, keys: Path, tmp_path: Path
) -> None:
    from pypdf import PdfReader

    sign(folder, CONDITIONS, signer="a@x.org", key=keys / "a", now=NOON)
    verified = verify(folder, signers=keys / "allowed", now=NOON + timedelta(days=2))
    write_signed_page(folder, verified, tmp_path / "signed.pdf")
    text = "".join(page.extract_text() for page in PdfReader(tmp_path / "signed.pdf").pages)
    assert "a@x.org" in text
    assert public_key(load_key(keys / "a")).fingerprint in text
    assert CONDITIONS in text


def test_a_template_runs_as_written_and_nobody_approves_it(
    case: Any, keys: Path, tmp_path: Path
) -> None:
    release = case.apply(tmp_path / "release.csv", kit=case.fit(case.table, how="held out"))
    text = write_template(OfRelease(release), today=DAY)
    assert tomllib.loads(text)["reasons"].keys() >= {"name", "ward"}
    (tmp_path / "context.toml").write_text(text)
    found = AttackResults(release, case.attack(release))
    out = tmp_path / "d"
    determine(release, tmp_path / "context.toml", out, evidence=found, pdf=False, on=DAY)
    page = (out / "determination.html").read_text()
    assert "Still to be written in the context: recipient" in page
    with pytest.raises(RequestError, match=r"texts still to be written|does not meet"):
        sign(out, CONDITIONS, signer="a@x.org", key=keys / "a", now=NOON)


def test_a_context_with_open_texts_is_not_approved(
    release: Release, context: Make, keys: Path, tmp_path: Path
) -> None:
    given = context(purpose="TO DO: what for")
    determine(release, given, tmp_path / "d", pdf=False, on=DAY)
    with pytest.raises(RequestError, match="a context with texts still to be written"):
        sign(tmp_path / "d", CONDITIONS, signer="a@x.org", key=keys / "a", now=NOON)


def test_the_commands_write_a_template_and_a_signed_page(
    release: Release, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context, out = str(tmp_path / "context.toml"), str(tmp_path / "d")
    asked = ["determine", str(release.path), "--no-pdf"]
    assert run(asked) == 2
    assert "--template FILE writes a context" in capsys.readouterr().err
    assert run([*asked, "--template", context, "--out", out]) == 2
    assert "leave out --context and --out" in capsys.readouterr().err
    assert run([*asked, "--template", context]) == 0
    assert run([*asked, "--template", context, "--force"]) == 2  # people write in it
    assert run([*asked, "--context", context, "--out", out]) == 0
    assert "TO DO" in (tmp_path / "d" / "determination.html").read_text()
    signed = ["sign", out, "--decision", "refuse", "--as", "a@x.org", "--key", str(keys / "a")]
    capsys.readouterr()
    assert run([*signed, "--signers", str(keys / "a.pub")]) == 2  # no file of allowed signers
    assert not (tmp_path / "d" / "statements").exists()
    assert run([*signed, "--signers", str(keys / "allowed")]) == 0
    page = str(tmp_path / "signed.html")
    assert run(["verify", out, "--signers", str(keys / "allowed"), "--out", page]) == 1  # refused
    assert "allowed for this signer" in Path(page).read_text()
    assert run(["verify", str(release.path), "--out", page, "--force"]) == 2
