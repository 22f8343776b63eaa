"""The ends in C and in JavaScript behind one face, and where they store and draw."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint8, c_void_p

from tests.signals.export.exported import HERE, compiled

WORDS = {
    3: "off",
    4: "far",
    6: "entropy",
    7: "store",
    8: "record",
    9: "state",
    10: "waiting",
    12: "long",
    13: "not ours",
    14: "step",
    15: "refused",
}
ENTROPY = CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8), c_size_t)
STORE = CFUNCTYPE(c_int, c_void_p, c_void_p)


class EndError(Exception):
    """An end refused, for this reason."""


class Ways(Structure):
    _fields_ = (("entropy", ENTROPY), ("store", STORE), ("context", c_void_p))


class InC:
    """The end in C, as a library."""

    def __init__(self, folder):
        own = "-shared", "-fPIC", str(HERE / "shim.c")
        self._lib = ctypes.CDLL(str(compiled(folder, *own, out="end.so")))
        for name in ("shim_end", "shim_state", "shim_post"):
            getattr(self._lib, name).restype = c_size_t
        self._lib.shim_topic.restype = c_char_p
        self._ends, self.stored = {}, None
        self._keep = ENTROPY(self._draw), STORE(self._store)
        self.set()

    def set(self, *, entropy="sound", store="sound"):
        self._entropy, self._how = entropy, store

    def _draw(self, _, out, n):
        if self._entropy == "none":
            return 1
        drawn = os.urandom(n) if self._entropy == "sound" else bytes([int(self._entropy)]) * n
        ctypes.memmove(out, drawn, n)
        return 0

    def _store(self, _, state):
        if self._how != "sound":
            return 1
        self.stored = ctypes.string_at(state, self._lib.shim_state())
        return 0

    def open(self, name, record, state=None):
        entropy, store = self._keep
        ways = Ways(
            ENTROPY() if self._entropy == "absent" else entropy,
            STORE() if self._how == "absent" else store,
        )
        self._ends[name] = ctypes.create_string_buffer(self._lib.shim_end())
        given = self._ends[name], record, b"voile", state, ctypes.byref(ways)
        self._done(self._lib.voile_open(*given))

    def send(self, name, x, beside=None):
        readings = (ctypes.c_double * len(x))(*x)
        with_it = None if beside is None else json.dumps(beside, separators=(",", ":")).encode()
        self._done(self._lib.voile_send(self._ends[name], readings, with_it))

    def post(self, name):
        out, n = ctypes.create_string_buffer(self._lib.shim_post()), c_size_t()
        code = self._lib.voile_post(self._ends[name], out, ctypes.byref(n))
        return None if code == 11 else out.raw[: n.value]

    def hear(self, name, reply):
        code = self._lib.voile_hear(self._ends[name], reply, c_size_t(len(reply)))
        if WORDS.get(code) != "not ours":
            self._done(code)

    def again(self, name):
        self._done(self._lib.voile_begin_again(self._ends[name]))

    def topics(self, name):
        return [self._lib.shim_topic(self._ends[name], heard).decode() for heard in (0, 1)]

    def sha256(self, data):
        out = ctypes.create_string_buffer(32)
        self._lib.voile_sha256(data, c_size_t(len(data)), out)
        return out.raw

    def hmac(self, key, data):
        out = ctypes.create_string_buffer(32)
        self._lib.voile_hmac(key, c_size_t(len(key)), data, c_size_t(len(data)), out)
        return out.raw

    def renumber(self, number):
        state = ctypes.create_string_buffer(self.stored, len(self.stored))
        self._lib.shim_renumber(state, ctypes.c_uint64(number))
        self.stored = state.raw

    def close(self):
        pass

    def _done(self, code):
        if code:
            raise EndError(WORDS[code])


class InJavaScript:
    """The end in JavaScript, in a process of Node."""

    def __init__(self, folder):
        command = ["node", HERE / "end.mjs", folder]
        self._node = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
        self.stored = None
        self.set()

    def _ask(self, verb, **given):
        self._node.stdin.write(json.dumps({"verb": verb, **given}) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        self.stored = answer["stored"]
        if "wrong" in answer:
            raise EndError(answer["wrong"])
        return answer["result"]

    def set(self, *, entropy="sound", store="sound"):
        self._ask("set", entropy=entropy, store=store)

    def open(self, name, record, state=None):
        self._ask("open", name=name, record=record.hex(), state=state)

    def send(self, name, x, beside=None):
        more = {} if beside is None else {"beside": beside}
        self._ask("send", name=name, x=list(x), **more)

    def post(self, name):
        post = self._ask("post", name=name)
        return post and bytes.fromhex(post)

    def hear(self, name, reply):
        self._ask("hear", name=name, reply=reply.hex())

    def again(self, name):
        self._ask("again", name=name)

    def topics(self, name):
        return self._ask("topics", name=name)

    def sha256(self, data):
        return bytes.fromhex(self._ask("sha256", data=data.hex()))

    def hmac(self, key, data):
        return bytes.fromhex(self._ask("hmac", key=key.hex(), data=data.hex()))

    def renumber(self, number):
        self.stored["number"] = number

    def close(self):
        self._node.stdin.close()
        self._node.wait(timeout=10)
        self._node.stdout.close()


ALL = {"C": InC, "JavaScript": InJavaScript}
