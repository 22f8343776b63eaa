"""`voile signals send` and `receive`, two processes and a real broker."""

from __future__ import annotations

import hashlib
import io
import json
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections import defaultdict

import pytest
from tests.signals.channel.ward import A_COMMAND, COLUMNS, command, table

from voile.cli.parameters import load_kit
from voile.cli.run import run
from voile.core.errors import VoileError
from voile.data import open_source
from voile.signals.channel import Enrolment
from voile.signals.channel.recipient import READINGS
from voile.signals.channel.store import FILE
from voile.signals.model.content import SignalsContent


@pytest.fixture
def clinic(ward, broker, tmp_path):
    """`voile signals receive` as a process of its own."""
    folder, _ = ward
    line = ["--broker", broker.url, "--topic", "ward", "--encrypt", "--json"]
    known = ["--classes", folder / "classes.csv", "--out", tmp_path / "clinic"]
    known += ["--key-file", folder / "key"]
    words = [sys.executable, A_COMMAND, folder / "kit", *known, *line]
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*map(str, words)], **told)
    yield process, line, tmp_path / "clinic" / READINGS
    process.kill()
    process.communicate()


def test_a_table_and_then_a_live_reading_come_to_the_clinic_once_each_and_in_order(
    ward, clinic, tmp_path, capsys, monkeypatch
):
    (folder, rows), (process, line, output) = ward, clinic

    def sent(source):
        own = ["--spool", tmp_path / "spool", "--enrolment", folder / "enrolment"]
        code = command("send", folder / "kit", source, *line, *own)
        result, said = capsys.readouterr()
        return code or 0, json.loads(result), said

    code, result, said = sent(folder / "days.csv")
    assert (code, result["spooled"], result["left_out"]) == (0, 0, 0), said
    code, result, said = sent(folder / "days.csv")
    assert (code, result["spooled"], result["left_out"]) == (0, 0, 0), said
    assert "is in the spool or sent already" in said
    new = [*rows[0][:2], "99", *rows[0][3:]]
    live = [dict(zip(COLUMNS, row, strict=True)) for row in (new, [*new[:4], 70.05, "low"])]
    lines = [*map(json.dumps, live), "nonsense", '{"id": "p1"}']
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    code, result, said = sent("-")
    assert (code, result["spooled"], result["left_out"]) == (1, 0, 3), said
    assert "line 2, column weight: a reading contradicts the resolution" in said
    assert "line 3: is not a row of readings" in said
    assert "line 4: lacks a class, a subject or a reading" in said
    process.send_signal(signal.SIGTERM)
    result, said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    assert json.loads(result)["received"] == len(rows) + 1
    come, own = defaultdict(list), defaultdict(list)
    for one in map(json.loads, output.read_text().splitlines()):
        come[one["subject"]].append(tuple(one[name] for name in COLUMNS[2:]))
    for who, _, day, *values in [*rows, new]:
        own[who].append((str(day), *values))
    assert come == own


def test_without_a_broker_readings_wait(ward, tmp_path, capsys):
    folder, rows = ward
    line = ["--broker", "mqtt://127.0.0.1:9", "--spool", tmp_path / "spool", "--wait", 1, "--json"]
    given = [folder / "kit", folder / "days.csv", "--enrolment", folder / "enrolment", *line]
    assert command("send", *given) == 1
    result, said = capsys.readouterr()
    assert json.loads(result)["spooled"] == len(rows)
    assert "the broker is away, it cannot be reached: trying again" in said
    assert f"{len(rows)} readings wait in" in said


def test_a_device_starts_without_libraries_that_it_does_not_use(ward, tmp_path):
    folder, _ = ward
    unused = ("duckdb", "scipy", "sklearn", "jinja2", "rich", "pandas")
    code = (
        "import sys; from voile.cli import main\n"
        f"try: main()\nfinally: print(*(name for name in {unused} if name in sys.modules))"
    )
    line = ["--broker", "mqtt://127.0.0.1:9", "--spool", tmp_path / "spool", "--wait", 0]
    own = [folder / "kit", folder / "days.csv", "--enrolment", folder / "enrolment", *line]
    words = [sys.executable, "-c", code, "signals", "send", *own]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert "readings wait in" in done.stderr
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(("own", "called"), [("day", "session"), ("weight", "number")])
def test_a_column_that_would_be_lost_in_the_clinics_file_is_refused(ward, tmp_path, own, called):
    folder, _ = ward
    for name in ("days.csv", "roles.toml"):
        (tmp_path / name).write_text((folder / name).read_text().replace(own, called))
    kit = ["--roles", tmp_path / "roles.toml", "--out", tmp_path / "kit", "--quiet", "--seed", "1"]
    quick = ["--strength", "1", "--base", "normal", "--time", called if own == "day" else "day"]
    assert run(["signals", "fit", *map(str, [tmp_path / "days.csv", *kit, *quick])]) == 0
    known = ["--classes", folder / "classes.csv", "--key-file", folder / "key"]
    with pytest.raises(VoileError, match=f"a column is called {called}, but the clinic's"):
        command("enrol", tmp_path / "kit", *known, "--out", tmp_path / "enrolment")


def test_no_line_of_standard_input_ends_the_listening(ward, tmp_path, capsys, monkeypatch):
    folder, rows = ward
    row = dict(zip(COLUMNS, rows[0], strict=True))
    whole = [{**row, "weight": value} for value in (1 << 70, 10**400, [1], {"a": 1}, "\ud800")]
    whole += [{**row, name: value} for name in ("id", "state") for value in ([], {"a": [1]})]
    whole += [{**row, "id": "stranger"}]
    lines = [b"\xff\xfe", b"[]", b"[" * 100_000, b"", *(json.dumps(one).encode() for one in whole)]
    stdin = io.TextIOWrapper(io.BytesIO(b"\n".join(lines)), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    line = [
        "--broker",
        "mqtt://127.0.0.1:9",
        "--spool",
        tmp_path / "spool",
        "--wait",
        120,
        "--json",
    ]
    started = time.monotonic()
    assert command("send", folder / "kit", "-", "--enrolment", folder / "enrolment", *line) == 1
    result, said = capsys.readouterr()
    told = json.loads(result)
    assert (told["left_out"], told["spooled"]) == (len(lines), 0), said
    assert "\nline 2: is not a row of readings; left out\n" in said
    assert f"\nline {len(lines)}: a subject is not enrolled; enrol it" in said
    assert time.monotonic() - started < 60, "it waits for an end of standard input that came"


def test_a_device_is_given_its_own_keys_and_never_the_secret(ward, tmp_path, monkeypatch, capsys):
    folder, _ = ward
    known = [folder / "kit", "--classes", folder / "classes.csv", "--out", tmp_path / "device.key"]
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    with pytest.raises(VoileError, match="environment variable VOILE_SECRET"):
        command("enrol", *known)
    monkeypatch.setenv("VOILE_SECRET", (folder / "key").read_text())
    with pytest.raises(VoileError, match="a subject is not in"):
        command("enrol", *known, "--subject", "p1", "--subject", "nobody")
    assert not (tmp_path / "device.key").exists()
    assert not command("enrol", *known, "--subject", "p1", "--json")
    assert json.loads(capsys.readouterr().out)["subjects"] == 1
    mode = (tmp_path / "device.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert "k" * 8 not in (tmp_path / "device.key").read_text()
    whole, one = (Enrolment.read_file(path).keys for path in (folder / "enrolment", known[-1]))
    assert one.keys() < whole.keys()
    monkeypatch.delenv("VOILE_SECRET")
    line = ["--broker", "mqtt://127.0.0.1:9", "--spool", tmp_path / "spool", "--wait", 0]
    own = ["--enrolment", tmp_path / "device.key"]
    with pytest.raises(VoileError, match=r"days\.csv, row [\d,]+: a subject is not enrolled"):
        command("send", folder / "kit", folder / "days.csv", *line, *own)
    with pytest.raises(VoileError, match="the output exists already; replace it with --force"):
        command("enrol", *known)
    monkeypatch.setenv("VOILE_SECRET", (folder / "key").read_text())
    assert not command("enrol", *known, "--subject", "p2", "--force")
    for theirs in ("classes.csv", "roles.toml"):
        before = (folder / theirs).read_bytes()
        with pytest.raises(
            VoileError, match=r"the command reads|is not an enrolment that voile wrote"
        ):
            command("enrol", *known[:-1], folder / theirs, "--force")
        assert (folder / theirs).read_bytes() == before


def test_the_generation_of_a_key_is_a_column_of_the_classes(ward, tmp_path):
    folder, _ = ward
    known = tmp_path / "known.csv"
    given = [folder / "kit", "--classes", known, "--key-file", folder / "key"]
    given += ["--generation", "key", "--force", "--out", tmp_path / "device.key"]
    known.write_text("id,state,key\np1,calm,2\np2,calm,65535\n")
    assert not command("enrol", *given)
    keys = Enrolment.read_file(tmp_path / "device.key").keys.values()
    assert [key.generation for key in keys] == [2, 65535]
    for wrong in ("0", "65536", "-1", "1.5", "", "x", "9" * 5000):
        known.write_text(f"id,state,key\np1,calm,2\np2,calm,{wrong}\n")
        with pytest.raises(VoileError, match=r"known\.csv, row 2: the generation of a key is no"):
            command("enrol", *given)
    known.write_text("id,state,key\np1,calm,2\np1,calm,3\n")
    with pytest.raises(VoileError, match=r"known\.csv, row 2: a subject has two keys"):
        command("enrol", *given)


def test_rows_that_cannot_be_read_are_named_and_a_wrong_one_stops_the_table(ward, tmp_path, capsys):
    """Rows are counted as the source has them, whatever the order of time."""
    folder, rows = ward
    line = ["--broker", "mqtt://127.0.0.1:9", "--wait", 0, "--enrolment", folder / "enrolment"]

    def sent(name, changes):
        wrong = [list(row) for row in rows[::-1]]
        for (at, column), cell in changes.items():
            wrong[at - 1][COLUMNS.index(column)] = cell
        table(tmp_path / f"{name}.csv", COLUMNS, wrong)
        given = [folder / "kit", tmp_path / f"{name}.csv", *line, "--spool", tmp_path / name]
        code = command("send", *given)
        return code, capsys.readouterr().err

    code, said = sent("nan", {(9, "weight"): "nan", (3, "mood"): "MUCH", (5, "id"): ""})
    assert code == 1
    assert "3 rows left out: no class, subject or sound reading, row 3, 5, 9" in said
    assert "MUCH" not in said
    with pytest.raises(VoileError, match=r"off\.csv, row 7, column weight: a reading contradicts"):
        sent("off", {(7, "weight"): 70.123})
    with pytest.raises(VoileError, match=r"new\.csv, row 8, its class: the map has not seen"):
        sent("new", {(8, "state"): "STRANGE"})


def spooled(folder):
    """What goes beside each reading, in the order in which they are to be sent."""
    with sqlite3.connect(folder / FILE) as database:
        rows = database.execute("SELECT beside FROM spool ORDER BY id").fetchall()
    database.close()
    return [json.loads(text)["day"] for (text,) in rows]


@pytest.mark.parametrize(
    "times",
    [
        [str(day) for day in range(20)],
        [f"{day}e0" for day in range(-5, 15)],
        [f"2024-03-{day:02}T{23 - day:02}:00{zone}" for day in (1, 2) for zone in ("Z", "-05:00")],
        ["2024-02-29", "2024-02-29T00:00:01", "2024-02-29 10:00:00.5", "2024-03-01"],
    ],
)
def test_rows_are_sent_in_the_order_of_time_by_which_fit_learnt(ward, dated, tmp_path, times):
    folder, rows = ward
    mixed = sorted(times, key=lambda time: hashlib.sha256(time.encode()).digest())
    table(tmp_path / "mixed.csv", COLUMNS, [(*rows[0][:2], time, *rows[0][3:]) for time in mixed])
    line = ["--broker", "mqtt://127.0.0.1:9", "--wait", 0, "--enrolment", folder / "enrolment"]
    kit, other = (folder / "kit", dated) if times[0][4:5] != "-" else (dated, folder / "kit")
    given = [tmp_path / "mixed.csv", *line, "--spool"]
    with pytest.raises(VoileError, match=r"column day: times are .*, but the map was fitted to"):
        command("send", other, *given, tmp_path / "other")
    assert command("send", kit, *given, tmp_path / "spool") == 1
    assert spooled(tmp_path / "spool") == times
    known = SignalsContent.of(load_kit(kit, "signals")).reader
    read = known.read_rows(open_source(tmp_path / "mixed.csv"), strict=False)
    assert [mixed[row] for row in read.number] == times


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["1", "2", "Tuesday"], "row 3, column day: the order of time is unknown"),
        (["1/2/2024", "2/1/2024"], "row 1, column day: the order of time is unknown"),
        (["1", "2024-03-01"], "row 2, column day: the order of time is unknown"),
        (
            ["2024-03-01T08:00Z", "2024-03-01T08:00"],
            "row 2, column day: the order of time is unknown: values are not all numbers, "
            "nor all ISO dates, all with a zone or all without",
        ),
        (["1", ""], "row 2, column day: a row has no time"),
    ],
)
def test_readings_whose_order_cannot_be_told_are_neither_sent_nor_learnt(
    ward, tmp_path, capsys, times, message
):
    folder, rows = ward
    table(tmp_path / "mixed.csv", COLUMNS, [(*rows[0][:2], time, *rows[0][3:]) for time in times])
    line = ["--broker", "mqtt://127.0.0.1:9", "--wait", 0, "--enrolment", folder / "enrolment"]
    given = [folder / "kit", tmp_path / "mixed.csv", *line, "--spool", tmp_path / "spool"]
    with pytest.raises(VoileError, match=message):
        command("send", *given)
    assert spooled(tmp_path / "spool") == []
    fit = ["--roles", folder / "roles.toml", "--out", tmp_path / "kit", "--time", "day"]
    capsys.readouterr()
    assert run(["signals", "fit", str(tmp_path / "mixed.csv"), *map(str, fit)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--broker", "mqtt://a:b@c"], "user or password is not part of an address"),
        (["--broker", "mqtt://c", "--tls-ca", "ca.pem"], "certificates are used with TLS alone"),
        (["--broker", "mqtt://c", "--topic", "a/+"], "a topic holds"),
        (["--broker", "mqtt://c", "--classes", "{folder}/roles.toml"], "toml"),
    ],
)
def test_a_wrong_request_to_receive_is_one_sentence(ward, tmp_path, words, message):
    folder, _ = ward
    out = tmp_path / "clinic"
    known = [] if "--classes" in words else ["--classes", str(folder / "classes.csv")]
    given = [word.format(folder=folder) for word in words]
    given += ["--key-file", str(folder / "key")]
    with pytest.raises(VoileError, match=message):
        command("receive", folder / "kit", "--out", out, *known, *given)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("p2,STRANGE", "row 2: the map has not seen a class"),
        ("p1,wild", "row 2: a subject is of two classes"),
        (",calm", "row 2: a row has no subject or no class"),
    ],
)
def test_a_wrong_row_of_the_classes_is_named(ward, tmp_path, row, message):
    folder, _ = ward
    known = tmp_path / "known.csv"
    known.write_text(f"id,state\np1,calm\n{row}\n")
    given = ["--classes", known, "--out", tmp_path / "clinic", "--broker", "mqtt://127.0.0.1:9"]
    given += ["--key-file", folder / "key"]
    with pytest.raises(VoileError, match=f"known.csv, {message}"):
        command("receive", folder / "kit", *given)


def test_what_is_forged_at_the_broker_is_counted_said_and_not_answered(clinic, broker):
    """Retained, so that it comes at each start; the first such message used to end the clinic."""
    import paho.mqtt.client as mqtt

    process, _, output = clinic
    heard = []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.on_message = lambda _, __, message: heard.append(message)
    client.connect("127.0.0.1", broker.port)
    client.subscribe("ward/+/receipts", qos=1)
    client.loop_start()
    message = {"session": "s", "number": 1, "after": 0, "check": "c", "values": [10**400]}
    envelope = {"format": 1, "map": "x", "ahead": 1, "message": message, "beside": {}}
    client.publish("ward/NOBODY/readings", json.dumps(envelope), qos=1, retain=True)
    while "messages without a valid MAC are ignored: 1 or more" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    result, said = process.communicate(timeout=30)
    client.loop_stop()
    assert process.returncode == 1
    assert "1 message without a valid MAC ignored" in said
    counts = json.loads(result)
    assert [counts[name] for name in ("received", "refused", "unauthenticated", "set_aside")] == [
        0,
        0,
        1,
        0,
    ]
    assert (output.read_text(), heard) == ("", [])
