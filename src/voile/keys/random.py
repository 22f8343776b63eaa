"""Two kinds of randomness, as two types that cannot be mixed.

`streams` gives reproducible draws for splits, searches and made-up data. Whoever knows the seed can
repeat them. `ProtectiveRandom` gives draws that protect people: noise, flips, dither, keys, and the
order of rows. It uses the system's entropy or a secret key, and cannot be created from a seed.
"""

from __future__ import annotations

import builtins
import hashlib
import itertools
import operator
import secrets
from typing import TYPE_CHECKING, NoReturn, TypeAlias, final

from voile.core.errors import RequestError, name_kind

if TYPE_CHECKING:
    import numpy as np

    from voile.keys.secret import Secret

# The type is a string so that NumPy is not imported before a stream is drawn.
RandomState: TypeAlias = "int | np.random.Generator | None"


def streams(seed: RandomState, *names: str) -> tuple[np.random.Generator, ...]:
    """Derive one independent stream per name from a seed.

    A stream depends only on the seed and its own name. It does not depend on the other names, their
    order, or the number of workers.

    Parameters
    ----------
    seed : an integer >= 0, a NumPy Generator, or None. This call advances a Generator by 16 bytes.
        None uses a fresh seed from the system.
    names : distinct names for the purpose of each stream, e.g. ``"split"`` or ``"chain 17"``.

    Returns
    -------
    tuple of np.random.Generator : one PCG64 generator per name, in the order of the names. The raw
        bits are the same on every machine. NumPy versions may differ in how a distribution uses
        them.

    Raises
    ------
    RequestError : two names are equal, or the seed has another type.

    Examples
    --------
    >>> split, search = streams(7, "split", "search")
    >>> (again,) = streams(7, "search")
    >>> bool(search.integers(1000) == again.integers(1000))
    True
    """
    if len(set(names)) != len(names):
        raise RequestError("two streams have the same name", where="names")
    entropy = _entropy(seed)
    return tuple(_stream(entropy, name) for name in names)


def _entropy(seed: RandomState) -> int:
    import numpy as np

    if seed is None:
        return secrets.randbits(128)
    if isinstance(seed, np.random.Generator):
        return int.from_bytes(seed.bytes(16), "little")
    remedy = "use a whole number from 0 up, a NumPy Generator or None"
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise RequestError(f"{name_kind(seed)} is not a seed", instead=remedy)
    number = operator.index(seed)
    if number < 0:
        raise RequestError("the seed is negative", instead=remedy)
    return number


def _stream(entropy: int, name: str) -> np.random.Generator:
    """Return the stream of one name, with the name's hash instead of NumPy's spawn counter."""
    import numpy as np

    words = np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype="<u4")
    sequence = np.random.SeedSequence(entropy, spawn_key=tuple(words.tolist()))
    return np.random.Generator(np.random.PCG64(sequence))


@final
class ProtectiveRandom:
    """A source of the randomness that protects people: noise, flips, dither, keys, order of rows.

    ``ProtectiveRandom()`` uses the system's entropy, so nobody can repeat its draws. It takes no
    seed, and it is not a NumPy Generator. A function that needs protective randomness requires this
    type, and a type checker rejects the other kind.

    Guarantee: `bytes` is as strong as the system's source, or as SHAKE-256 under the key.
    `generator` is for bulk draws (permutations, integers). Each generator is seeded with 256 bits,
    but PCG64 itself is not cryptographic. Whoever sees a long run of one generator's raw output
    could predict the rest of that run, but not the output of other generators. Take keys from
    `bytes`.

    >>> rows = ProtectiveRandom().generator().permutation(5)
    >>> sorted(rows.tolist())
    [0, 1, 2, 3, 4]
    >>> len(ProtectiveRandom().bytes(32))
    32
    """

    __slots__ = ("_calls", "_key")

    def __init__(self) -> None:
        self._key: builtins.bytes | None = None
        self._calls = itertools.count()

    @classmethod
    def from_secret(cls, secret: Secret, *, purpose: str) -> ProtectiveRandom:
        """Return a source keyed by a secret, so that only the secret's holder can repeat the draws.

        Include the release in `purpose`. One secret with one purpose gives the same noise twice,
        and an adversary can cancel noise that is the same in two releases.
        """
        return cls._from_key(secret.derive("protective", purpose))

    @classmethod
    def for_tests(cls, seed: int) -> ProtectiveRandom:
        """Return a source with a seed, which protects nobody. Use it only in tests."""
        return cls._from_key(hashlib.sha256(b"for tests %d" % seed).digest())

    @classmethod
    def _from_key(cls, key: builtins.bytes) -> ProtectiveRandom:
        protective = cls()
        protective._key = key
        return protective

    def bytes(self, n: int) -> builtins.bytes:
        """Return `n` >= 0 fresh bytes; each call returns different bytes."""
        if self._key is None:
            return secrets.token_bytes(n)
        call = next(self._calls).to_bytes(8, "big")
        return hashlib.shake_256(self._key + call).digest(n)

    def generator(self) -> np.random.Generator:
        """Return a NumPy Generator freshly seeded with 256 bits; each call returns another."""
        import numpy as np

        # SeedSequence uses only 128 bits unless its pool is larger: 8 words of 32 bits.
        entropy = int.from_bytes(self.bytes(32), "little")
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, pool_size=8)))

    def __repr__(self) -> str:
        return f"Protective({'system' if self._key is None else 'keyed'})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of protective randomness cannot be copied or stored")
