"""TLS, logins and addresses: who may connect, and what is said of who may not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.signals.channel.clinic import Clinic, link
from tests.signals.channel.ends import (
    ONE,
    sender,
)

from voile.core.errors import RequestError
from voile.signals.channel import Broker, Login, forward


def certificate(folder, name, *, by=None):
    """Make a key and a certificate, self-signed or signed by another."""
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    alike = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    issuer = ["-CA", folder / f"{by}.pem", "-CAkey", folder / f"{by}.key"] if by else []
    end = ["-addext", "basicConstraints=critical,CA:FALSE"] if by else []
    words = ["openssl", "req", "-x509", *curve, "-days", "2", *alike, *end, *issuer]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    key.chmod(0o644)


@pytest.fixture
def tls(tmp_path, make_broker):
    """A broker that shows a certificate and wants one."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    folder = tmp_path / "tls"
    folder.mkdir()
    certificate(folder, "ca")
    for name in ("server", "device"):
        certificate(folder, name, by="ca")
    files = f"cafile {folder}/ca.pem\ncertfile {folder}/server.pem\nkeyfile {folder}/server.key\n"
    broker = make_broker(f"{files}require_certificate true\nallow_anonymous true\n")
    broker.start()
    return broker.url.replace("mqtt:", "mqtts:"), folder


def test_tls_is_passed_through(tmp_path, tls):
    url, folder = tls
    cert, key = folder / "device.pem", folder / "device.key"
    where = Broker.parse(url, ca=folder / "ca.pem", cert=cert, key=key)
    with sender(tmp_path) as device, Clinic(tmp_path, where) as clinic:
        device.take([ONE])
        with link(device, where) as line:
            forward(device, line, wait=20)
        assert not device.has_waiting()
        distrust = pytest.raises(
            RequestError, match="refuses the connection: its certificate is not"
        )
        with distrust, link(device, Broker.parse(url)) as line:
            forward(device, line, live=True, wait=20)
    assert clinic.received == 1


def test_files_for_tls_that_cannot_be_used_are_refused(tmp_path):
    (tmp_path / "empty.pem").write_text("")
    for ca, why in (("absent.pem", "No such file"), ("empty.pem", "no certificate")):
        with pytest.raises(RequestError, match=why):
            Broker.parse("mqtts://a", ca=tmp_path / ca).context()


def test_who_has_no_login_is_told_and_who_has_one_is_let_in(tmp_path, make_broker):
    passwords = tmp_path / "passwords"
    program = shutil.which("mosquitto_passwd")
    words = [program, "-c", "-b", passwords, "ward", "sesame"]
    subprocess.run(words, check=True, capture_output=True)
    passwords.chmod(0o600)
    broker = make_broker(f"allow_anonymous false\npassword_file {passwords}\n")
    broker.start()
    where = Broker.parse(broker.url)
    with sender(tmp_path) as device, Clinic(tmp_path, where, Login("ward", "sesame")) as clinic:
        device.take([ONE])
        for login in (None, Login("ward", "open")):
            refusal = pytest.raises(RequestError, match="refuses the connection: not authorized")
            with refusal, link(device, where, login) as line:
                forward(device, line, wait=20)
        assert device.counts()["spooled"] == 1
        with link(device, where, Login("ward", "sesame")) as line:
            forward(device, line, wait=20)
    assert clinic.received == 1


def test_a_login_comes_from_the_environment_or_a_file_of_its_owners(tmp_path, monkeypatch):
    monkeypatch.delenv("VOILE_MQTT_USER", raising=False)
    assert Login.from_environment() is None
    monkeypatch.setenv("VOILE_MQTT_USER", "ward")
    monkeypatch.setenv("VOILE_MQTT_PASSWORD", "sesame")
    path = tmp_path / "login"
    path.write_text("ward\nsesame\n")
    path.chmod(0o600)
    assert Login.from_environment() == Login.from_file(path) == Login("ward", "sesame")
    assert "sesame" not in repr(Login.from_file(path))
    path.chmod(0o640)
    with pytest.raises(RequestError, match="other users may read"):
        Login.from_file(path)
    path.chmod(0o600)
    path.write_text("ward")
    with pytest.raises(RequestError, match="not a line of user"):
        Login.from_file(path)
    with pytest.raises(RequestError, match="cannot be read"):
        Login.from_file(tmp_path / "absent")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("broker.example", "not an address of a broker"),
        ("http://broker.example", "not an address of a broker"),
        ("mqtt://", "not an address of a broker"),
        ("mqtt://a:port", "not an address of a broker"),
        ("mqtt://a/b", "not an address of a broker"),
        ("mqtt://user:word@a", "not part of an address; use VOILE_MQTT_USER"),
    ],
)
def test_a_wrong_address_is_refused_and_not_repeated(url, message):
    with pytest.raises(RequestError, match=message) as caught:
        Broker.parse(url)
    assert "word" not in str(caught.value).replace("PASSWORD", "").replace("password", "")


def test_an_address_has_a_port_of_its_own_and_tls_files_need_tls(tmp_path):
    assert Broker.parse("mqtt://a") == Broker("a", 1883)
    assert Broker.parse("mqtts://[::1]:99/") == Broker("::1", 99, tls=True)
    with pytest.raises(RequestError, match="with TLS alone"):
        Broker.parse("mqtt://a", ca=Path("ca.pem"))
    with pytest.raises(RequestError, match="or is empty"):
        sender(tmp_path, topic="a/#")
