"""What an end posts, byte for byte, worked out anew with hashlib; and the standards' vectors."""

from __future__ import annotations

import hashlib
import hmac
import json
from decimal import Decimal

import numpy as np
import pytest
from tests.signals.channel.ends import SECRET
from tests.signals.export.an_end import ALL, InC
from tests.signals.export.exported import codec, in_python, write

from voile.signals.channel.keys import DeviceKey, Enrolled
from voile.signals.export.record import device_record

SESSION = b"\7" * 16
SHA256 = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
}
HMAC = (  # RFC 4231, 4.2 to 4.5
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
)


@pytest.fixture(scope="module", params=ALL)
def end(request, tmp_path_factory):
    one = ALL[request.param](write(tmp_path_factory.mktemp("kit"), codec()))
    yield one
    one.close()


def test_it_hashes_the_standards_vectors(end):
    for data, digest in SHA256.items():
        assert end.sha256(data).hex() == digest
    for key, data, mac in HMAC:
        assert end.hmac(key, data).hex() == mac


def post_of(key, place, number, x, check, beside):
    """Work out a message of the session that is named by sevens, and the digest with it."""
    mark, which = bytes.fromhex(codec().mark), codec().which("middle")
    own = hmac.digest(bytes.fromhex(key.hex()), b"voile dither", "sha256")
    of = mark + which.to_bytes(2, "big") + number.to_bytes(8, "big") + b"\0" + x.tobytes()
    draws = np.frombuffer(hmac.digest(own, of, "sha256")[:16], dtype="<u8")
    z = in_python(codec().codec, np.array([which]), x[None], draws[None])[0]
    values = ",".join(format(Decimal(v), "f") for v in z.tolist())
    letter = (
        f'{{"ahead":1,"after":{number},"check":"{check}","values":[{values}],"beside":{beside}}}'
    )
    header = b"\2\0\0\1" + mark + SESSION + (number + 1).to_bytes(8, "big")
    data = header + letter.encode()
    return key.mac(place, data) + data, hashlib.sha256(check.encode() + z.tobytes()).hexdigest()[
        :16
    ]


@pytest.mark.parametrize("long", [1, 9, 10, 15, 16, 17, 31, 64])
def test_its_posts_are_those_worked_out_whatever_blocks_its_topic_fills(end, long):
    name, rows = "P" * long, [(4.2, 1.3), (7.7, 2.0), (4.2, 1.3)]
    key = DeviceKey.derive(SECRET, name, 1)
    own = device_record(Enrolled(name, name, key), codec(), codec().which("middle"))
    end.set(entropy="7")
    end.open("one", own)
    check = hashlib.sha256(f"{codec().mark} {SESSION.hex()}".encode()).hexdigest()[:16]
    for number, row in enumerate(rows):
        beside = {} if number == 0 else {"note": "Zoë ✓ \U0001f600" * number, "n": number}
        end.send("one", row, beside or None)
        text = json.dumps(beside, ensure_ascii=isinstance(end, InC), separators=(",", ":"))
        place, x = f"voile/{name}/readings".encode(), np.array(row, dtype="<f8")
        post, check = post_of(key, place, number, x, check, text)
        assert end.post("one") == post
        end.open("one", own, end.stored)
        assert end.post("one") == post
        said = f'{{"check":"{check}","again":false,"refused":""}}'.ljust(96).encode()
        place = f"voile/{name}/receipts".encode()
        end.hear("one", key.mac(place, post[32:68] + said) + post[32:68] + said)
        assert end.post("one") is None
