"""`voile signals export` and `enrol --small`: from a table to a reading in the clinic's file."""

from __future__ import annotations

import json
import shutil
import stat

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.channel.ward import command, table
from tests.signals.clinic import fitted, roles
from tests.signals.days import days
from tests.signals.export.an_end import ALL
from tests.signals.made_up import readings

from voile.core.errors import VoileError
from voile.data import open_source
from voile.keys.pseudonyms import pseudonym
from voile.keys.secret import Secret
from voile.release.kit import Kit
from voile.signals.channel import Recipient
from voile.signals.channel.posts import Post
from voile.signals.channel.recipient import READINGS, Subject
from voile.signals.verbs.content import KIND, Content
from voile.signals.verbs.subjects import subjects_in

ROLES = """subject = "id"
[columns]
id = {role = "identifier"}
state = {role = "private"}
"long \\"x\\" */" = {role = "reading"}
broad = {role = "reading"}
"""
KEY = b"k" * 40
COLUMNS = ("id", "state", 'long "x" */', "broad")


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """A kit fitted to one reading of each subject, by the command."""
    folder = tmp_path_factory.mktemp("ward")
    X, c = readings(600, 1)
    rows = [(f"p{i}", label, *x) for i, (x, label) in enumerate(zip(X.tolist(), c, strict=True))]
    table(folder / "once.csv", COLUMNS, rows)
    table(folder / "classes.csv", COLUMNS[:2], [row[:2] for row in rows])
    (folder / "roles.toml").write_text(ROLES)
    (folder / "key").write_bytes(KEY)
    (folder / "key").chmod(0o600)
    given = ["--roles", folder / "roles.toml", "--out", folder / "kit", "--quiet"]
    assert not command("fit", folder / "once.csv", *given)
    return folder, rows


@pytest.mark.parametrize("language", ALL)
def test_a_reading_goes_from_an_exported_end_to_the_clinics_file(ward, language, tmp_path, capsys):
    folder, rows = ward
    assert not command("export", folder / "kit", "--out", tmp_path / "device", "--json")
    out, said = capsys.readouterr()
    assert json.loads(out)["bytes"] < 64 << 10
    assert "a subject's second begins to reveal its class" in said
    known = ["--classes", folder / "classes.csv", "--key-file", folder / "key"]
    record = tmp_path / "p7.record"
    command("enrol", folder / "kit", *known, "--small", "--subject", "p7", "--out", record)
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    end = ALL[language](tmp_path / "device")
    end.open("p7", record.read_bytes())
    end.send("p7", rows[7][2:])
    with recipient_of(folder, tmp_path) as at:
        (reply,) = at.turn([Post(end.topics("p7")[0].split("/")[1], end.post("p7"))])
        end.hear("p7", reply.payload)
        assert end.post("p7") is None
    end.close()
    (line,) = (tmp_path / "clinic" / READINGS).read_text().splitlines()
    assert [json.loads(line)[name] for name in ("subject", *COLUMNS[2:])] == ["p7", *rows[7][2:]]


def recipient_of(folder, tmp_path):
    """The clinic's end, with the parts that `voile signals receive` gives it."""
    content, secret = Content.of(Kit.load(folder / "kit", KIND)), Secret.from_file(folder / "key")
    known = subjects_in(open_source(folder / "classes.csv"), content.reader, content.classes)
    subjects = {pseudonym(secret, who): Subject(one.label, who) for who, one in known.items()}
    limits = [form.decoded for form in content.reader.forms]
    return Recipient(tmp_path / "clinic", content.sequence, subjects, limits, secret)


def test_an_export_is_replaced_only_by_force_and_nothing_of_others_is(ward, tmp_path):
    folder, _ = ward
    out = tmp_path / "device"
    command("export", folder / "kit", "--out", out, "--quiet")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(VoileError, match="is there already; replace it with --force"):
        command("export", folder / "kit", "--out", out)
    command("export", folder / "kit", "--out", out, "--force", "--quiet")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (out / "main.c").write_text("int main(void) { return 0; }")
    with pytest.raises(VoileError, match="is not an export that voile wrote"):
        command("export", folder / "kit", "--out", out, "--force")


@pytest.mark.parametrize("spoil", ["cut", "changed", "gone"])
def test_a_kit_that_was_cut_or_changed_is_refused(ward, spoil, tmp_path):
    kit = tmp_path / "kit"
    shutil.copytree(ward[0] / "kit", kit)
    maps = kit / "maps.parquet"
    data = maps.read_bytes()
    if spoil == "gone":
        maps.unlink()
    else:
        half = len(data) // 2
        changed = data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :]
        maps.write_bytes(data[:half] if spoil == "cut" else changed)
    with pytest.raises(VoileError, match=r"is not what the kit's index says|maps\.parquet"):
        command("export", kit, "--out", tmp_path / "device")
    assert not (tmp_path / "device").exists()


def test_a_small_device_is_of_one_subject(ward, tmp_path):
    folder, _ = ward
    known = ["--classes", folder / "classes.csv", "--key-file", folder / "key", "--small"]
    for more in ([], ["--subject", "p1", "--subject", "p2"]):
        with pytest.raises(VoileError, match="a small device is of one subject"):
            command("enrol", folder / "kit", *known, *more, "--out", tmp_path / "record")
    assert not (tmp_path / "record").exists()
    given = [*known, "--subject", "p1", "--out", tmp_path / "record"]
    command("enrol", folder / "kit", *given, "--quiet")
    command("enrol", folder / "kit", *given, "--quiet", "--force")
    sizes = {(tmp_path / "record").stat().st_size}
    for who in ("p2", "p3", "p100"):
        command("enrol", folder / "kit", *known, "--subject", who, "--out", tmp_path / who)
        sizes.add((tmp_path / who).stat().st_size)
    assert sizes == {149}


def test_kits_whose_readings_stand_on_each_other_are_refused(tmp_path):
    X, c, whose = days(120, 6, 3)
    frame = pa.table({"id": whose, "state": c, "when": np.tile(np.arange(6), 120), "long": X[:, 1]})
    said = roles(weight=None, pulse=None, ward=None, ill=None, state="private", long="reading")
    kits = [fitted(frame, said, time="when"), fitted(frame, said)]
    for kit, match in zip(kits, ("square root", "sends each reading by itself"), strict=True):
        kit.save(tmp_path / match)
        with pytest.raises(VoileError, match=match):
            command("export", tmp_path / match, "--out", tmp_path / "device")
    assert not (tmp_path / "device").exists()
