"""`--force` replaces what voile wrote, as that kind of output, and nothing that is only near it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from voile.core.errors import RequestError
from voile.data.files import outputs
from voile.data.files.atomic import write_bytes
from voile.data.files.outputs import MOST, OutputKind

Make = Callable[[Path], Any]


def text(content: str) -> Make:
    return lambda path: path.write_text(content)


def form(name: str, **more: object) -> Make:
    return text(json.dumps({"format": name, "version": 1, **more}))


def folder(**files: Make) -> Make:
    """Make a folder of these files; a name's last _ stands for its dot."""

    def make(path: Path) -> None:
        path.mkdir()
        for name, content in files.items():
            content(path / name.replace("_", "."))

    return make


def beside(main: Make, manifest: Make) -> Make:
    def make(path: Path) -> None:
        main(path)
        manifest(path.with_name(f"{path.name}.manifest.json"))

    return make


def set_aside(manifest: Make) -> Make:
    """Make the rows set aside beside readings, and these readings' manifest."""

    def make(path: Path) -> None:
        path.with_name(f"{path.name}.set-aside.jsonl").write_text("{}")
        manifest(path.with_name(f"{path.name}.manifest.json"))

    return make


def private(main: Make) -> Make:
    return lambda path: main(path.with_name(f"{path.name}.private"))


def big(content: str) -> Make:
    return text(content + " " * (MOST + 1 - len(content)))


def as_large_as_may_be(content: str) -> Make:
    return text(content + " " * (MOST - len(content)))


KIT = form("voile-kit", tables={"frontier": {}})
SEAL = form("voile-seal", files={"rows.parquet": "", "manifest.json": ""})
EVIDENCE, REPORT = form("voile-evidence"), text('<meta name="generator" content="voile 1">')
POLICY = 'kind = "tables"\nkit = "1"\n[choice]\n[figures]\n[policy]\n'
ROLES = '[columns]\nzip = "quasi"\nage = { role = "keep" }\n'
OURS: list[tuple[OutputKind, Make]] = [
    (outputs.KIT, folder(kit_json=KIT)),
    (outputs.KIT, folder(kit_json=KIT, frontier_parquet=text(""))),
    (outputs.POLICY, text(POLICY)),
    (outputs.POLICY, text("\ufeff" + POLICY)),
    (outputs.ROLES, text(ROLES)),
    (outputs.RELEASE, beside(text("x"), form("voile-release"))),
    (outputs.RELEASE, private(folder(seal_json=SEAL, rows_parquet=text("")))),
    (outputs.RELEASE, private(folder(seal_json=SEAL, evidence_json=EVIDENCE))),
    (outputs.RELEASE, private(folder(own_json=EVIDENCE, report_html=REPORT))),
    (outputs.RELEASE, private(folder())),
    (outputs.READINGS, beside(text("x"), form("voile-readings"))),
    (outputs.READINGS, set_aside(form("voile-readings"))),
    (outputs.EVIDENCE, EVIDENCE),
    (outputs.EVIDENCE, as_large_as_may_be(json.dumps({"format": "voile-evidence"}))),
    (outputs.SEALS, SEAL),
    (outputs.ENROLMENT, form("voile-enrolment")),
    (outputs.REPORT, REPORT),
    (outputs.DEMO, folder(demo_json=form("voile-demo"), anything=text("x"))),
]
FOREIGN: list[tuple[OutputKind, Make]] = [
    (outputs.KIT, folder()),
    (outputs.KIT, KIT),
    (outputs.KIT, folder(kit_json=form("voile-seal"))),
    (outputs.KIT, folder(kit_json=form("voile-kit", tables=7), frontier_parquet=text(""))),
    (outputs.KIT, folder(kit_json=KIT, other_parquet=text(""))),
    (outputs.KIT, folder(kit_json=KIT, frontier_parquet=folder())),
    (outputs.POLICY, text("")),
    (outputs.POLICY, text(POLICY.replace("[figures]\n", ""))),
    (outputs.POLICY, text(POLICY + "=")),
    (outputs.POLICY, lambda path: path.write_bytes(POLICY.encode() + b"#\xff")),
    (outputs.POLICY, big(POLICY)),
    (outputs.POLICY, folder()),
    (outputs.ROLES, text("columns = 7\n")),
    (outputs.ROLES, text(ROLES + "kin = 7\n")),
    (outputs.ROLES, text(ROLES + "kin = { part = 7 }\n")),
    (outputs.RELEASE, text("x")),
    (outputs.RELEASE, beside(text("x"), form("voile-readings"))),
    (outputs.RELEASE, beside(folder(), form("voile-release"))),
    (outputs.RELEASE, private(text("x"))),
    (outputs.RELEASE, private(folder(rows_parquet=text("")))),
    (outputs.RELEASE, private(folder(seal_json=SEAL, diary_txt=text("")))),
    (outputs.RELEASE, private(folder(seal_json=SEAL, rows_parquet=folder()))),
    (outputs.RELEASE, private(folder(seal_json=form("mine", files={"diary.txt": ""})))),
    (outputs.READINGS, text("x")),
    (outputs.READINGS, set_aside(form("voile-release"))),
    (outputs.EVIDENCE, form("voile-seal")),
    (outputs.EVIDENCE, text("[]")),
    (outputs.EVIDENCE, text('"format"')),
    (outputs.EVIDENCE, text("[" * 200_000)),
    (outputs.EVIDENCE, big(json.dumps({"format": "voile-evidence"}))),
    (outputs.EVIDENCE, folder()),
    (outputs.SEALS, form("voile-evidence")),
    (outputs.ENROLMENT, form("voile-seal")),
    (outputs.ENROLMENT, big(json.dumps({"format": "voile-enrolment"}))),
    (outputs.REPORT, text("<html>")),
    (outputs.REPORT, text(" " * 5000 + '<meta name="generator" content="voile 1">')),
    (outputs.REPORT, folder()),
    (outputs.DEMO, folder(demo_json=form("voile-kit"))),
    (outputs.DEMO, folder()),
]


@pytest.mark.parametrize(("output", "make"), OURS)
def test_what_voile_wrote_is_replaced_when_that_is_asked_for(
    tmp_path: Path, output: OutputKind, make: Make
) -> None:
    out = tmp_path / "out"
    output.check_free(out, force=False)
    make(out)
    output.check_free(out, force=True)
    with pytest.raises(RequestError, match="the output exists already; replace it with --force"):
        output.check_free(out, force=False)


@pytest.mark.parametrize(("output", "make"), FOREIGN)
@pytest.mark.parametrize("force", [True, False])
def test_what_voile_did_not_write_stays(
    tmp_path: Path, output: OutputKind, make: Make, force: bool
) -> None:
    out = tmp_path / "out"
    make(out)
    with pytest.raises(
        RequestError, match=f"is not {output.name} that voile wrote|which voile did not write"
    ):
        output.check_free(out, force=force)


@pytest.mark.parametrize(("output", "make"), OURS)
def test_a_link_stays_even_to_what_voile_wrote(
    tmp_path: Path, output: OutputKind, make: Make
) -> None:
    (tmp_path / "elsewhere").mkdir()
    make(tmp_path / "elsewhere" / "out")
    for path in (tmp_path / "elsewhere").iterdir():
        (tmp_path / path.name).symlink_to(path)
    with pytest.raises(
        RequestError, match=f"is not {output.name} that voile wrote|which voile did not write"
    ):
        output.check_free(tmp_path / "out", force=True)


def test_a_link_that_leads_nowhere_stays(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "none")
    with pytest.raises(RequestError, match="is not a kit that voile wrote"):
        outputs.KIT.check_free(tmp_path / "out", force=True)


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("output", [outputs.LEDGER, outputs.STATEMENT])
def test_a_ledger_and_a_statement_replace_nothing(
    tmp_path: Path, output: OutputKind, force: bool
) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(
        RequestError, match=f"the file exists, and {output.name} never replaces a file"
    ):
        output.check_free(tmp_path / "out", force=force)


def test_what_may_not_be_looked_at_stays(tmp_path: Path) -> None:
    def locked(path: Path) -> bool:
        raise PermissionError(path)

    (tmp_path / "out").touch()
    with pytest.raises(RequestError, match="is not a thing that voile wrote"):
        OutputKind("a thing", {"": locked}).check_free(tmp_path / "out", force=True)


@pytest.mark.skipif(os.name != "posix", reason="the system has no such permissions")
def test_what_tells_of_people_or_opens_readings_is_for_its_owner_alone(tmp_path: Path) -> None:
    private = [outputs.POLICY, outputs.READINGS, outputs.EVIDENCE, outputs.SEALS, outputs.ENROLMENT]
    public = [
        outputs.ROLES,
        outputs.RELEASE,
        outputs.REPORT,
        OutputKind("a page", {"": Path.is_file}),
    ]
    before = os.umask(0o022)
    try:
        for n, output in enumerate((*private, *public)):
            write_bytes(tmp_path / f"{n}", b"x", output)
            mode = stat.S_IMODE((tmp_path / f"{n}").stat().st_mode)
            assert mode == (0o600 if output in private else 0o644), output.name
    finally:
        os.umask(before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have a name")
@pytest.mark.parametrize("output", [outputs.POLICY, outputs.EVIDENCE, outputs.REPORT])
def test_a_pipe_is_not_read(tmp_path: Path, output: OutputKind) -> None:
    os.mkfifo(tmp_path / "out")
    with pytest.raises(RequestError, match="the file exists, and is not"):
        output.check_free(tmp_path / "out", force=True)


def test_what_a_kit_links_to_is_none_of_it(tmp_path: Path) -> None:
    folder(kit_json=KIT)(tmp_path / "out")
    (tmp_path / "table").touch()
    (tmp_path / "out" / "frontier.parquet").symlink_to(tmp_path / "table")
    with pytest.raises(RequestError, match="which voile did not write"):
        outputs.KIT.check_free(tmp_path / "out", force=True)


def test_a_manifest_of_no_more_is_known_again(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(outputs.manifest_of("voile-readings"))
    assert outputs.json_at(tmp_path / "out") == {"format": "voile-readings", "version": 1}
    assert outputs.json_at(tmp_path / "none") == {}
