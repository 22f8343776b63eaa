"""Reproducible streams repeat; protective randomness never does, and the two do not mix."""

from __future__ import annotations

import ast
import copy
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom, streams
from voile.keys.secret import Secret

SOURCE = Path(voile.__file__).parent
NAMES = st.lists(st.text(max_size=8), min_size=1, max_size=6, unique=True)


def raw(generator: np.random.Generator, n: int = 4) -> list[int]:
    return generator.bit_generator.random_raw(n).tolist()


@settings(max_examples=40)
@given(st.integers(0, 2**200), NAMES, st.randoms())
def test_a_stream_depends_on_seed_and_name_alone(seed, names, shuffler):
    together = dict(zip(names, map(raw, streams(seed, *names)), strict=True))
    shuffler.shuffle(names)
    alone = {name: raw(streams(seed, name)[0]) for name in names}
    assert alone == together
    assert len({tuple(bits) for bits in together.values()}) == len(names)


def test_streams_stay_what_they_were():
    assert raw(streams(2013, "search")[0], 2) == [4781720410214231469, 3094562731411419866]
    generator = np.random.Generator(np.random.PCG64(2013))
    assert raw(streams(generator, "search")[0], 1) == [3866807097239641717]


def test_streams_of_neighbouring_seeds_and_names_are_uncorrelated():
    drawn = np.array(
        [g.random(20_000) for seed in range(5) for g in streams(seed, "chain 0", "chain 1", "")]
    )
    correlation = np.corrcoef(drawn) - np.eye(len(drawn))
    assert np.abs(correlation).max() < 4.5 / np.sqrt(20_000)


def test_a_numpy_integer_is_the_same_seed():
    assert raw(streams(np.int32(7), "a")[0]) == raw(streams(7, "a")[0])


def test_a_generator_is_advanced_and_repeats_with_its_own_seed():
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    first, second = raw(streams(one, "a")[0]), raw(streams(one, "a")[0])
    assert first != second
    assert first == raw(streams(two, "a")[0])


def test_without_a_seed_nothing_repeats():
    assert raw(streams(None, "a")[0]) != raw(streams(None, "a")[0])


def test_no_names_give_no_streams():
    assert streams(0) == ()


@pytest.mark.parametrize("seed", [-1, 1.0, True, "7", np.random.RandomState(1), [1]])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(RequestError, match="use a whole number"):
        streams(seed, "a")


def test_equal_names_are_refused():
    with pytest.raises(RequestError, match="same name"):
        streams(1, "a", "b", "a")


def test_protective_takes_no_seed_and_heeds_none():
    with pytest.raises(TypeError):
        ProtectiveRandom(7)
    with pytest.raises(TypeError):
        ProtectiveRandom(np.random.default_rng(7))
    drawn = set()
    for _ in range(2):
        random.seed(7)
        np.random.seed(7)
        drawn |= {ProtectiveRandom().bytes(16), ProtectiveRandom().generator().bytes(16)}
    assert len(drawn) == 4


def test_protective_is_no_generator_and_a_generator_is_not_protective():
    assert not isinstance(ProtectiveRandom(), np.random.Generator)
    assert not isinstance(np.random.default_rng(), ProtectiveRandom)


@pytest.mark.parametrize(
    "make",
    [
        ProtectiveRandom,
        lambda: ProtectiveRandom.for_tests(1),
        lambda: ProtectiveRandom.from_secret(Secret(bytes(16)), purpose="noise"),
    ],
)
def test_each_call_draws_afresh_and_nothing_is_copied(make):
    protective = make()
    drawn = [protective.bytes(32) for _ in range(3)]
    drawn += [protective.generator().bytes(32) for _ in range(3)]
    assert len(set(drawn)) == 6
    assert len(protective.bytes(1000)) == 1000
    assert protective.bytes(0) == b""
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match="a source of protective randomness cannot be copied or stored"
        ):
            copied(protective)


def test_a_generator_is_seeded_with_more_than_numpys_usual_128_bits():
    sequence = ProtectiveRandom().generator().bit_generator.seed_seq
    assert len(sequence.pool) == 8
    assert sequence.entropy.bit_length() > 128


def test_keyed_draws_repeat_for_one_secret_and_purpose_alone():
    def drawn(key: bytes, purpose: str) -> bytes:
        protective = ProtectiveRandom.from_secret(Secret(key), purpose=purpose)
        return protective.bytes(8) + protective.generator().bytes(8)

    assert drawn(b"a" * 16, "noise of release 1") == drawn(b"a" * 16, "noise of release 1")
    others = [(b"a" * 16, "noise of release 2"), (b"b" * 16, "noise of release 1")]
    assert all(drawn(*other) != drawn(b"a" * 16, "noise of release 1") for other in others)


def test_keyed_draws_stay_what_they_were():
    """Whoever holds the secret draws the same again, years later."""
    protective = ProtectiveRandom.from_secret(Secret(bytes(32)), purpose="noise")
    assert protective.bytes(8).hex() == "70a5a3f2fd8ab578"
    assert raw(protective.generator(), 1) == [6999331269630452418]


def test_for_tests_repeats_by_seed():
    assert ProtectiveRandom.for_tests(1).bytes(8) == ProtectiveRandom.for_tests(1).bytes(8)
    assert ProtectiveRandom.for_tests(1).bytes(8) != ProtectiveRandom.for_tests(2).bytes(8)


def test_a_keyed_one_does_not_show_its_key():
    shown = repr(ProtectiveRandom.from_secret(Secret(b"do not show this"), purpose="noise"))
    assert shown == "Protective(keyed)"


def test_the_package_itself_never_makes_one_for_tests():
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    users = [
        path
        for path, text in texts.items()
        if "for_tests" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "for_tests"
    ]
    assert users == []


@pytest.mark.whole
def test_a_type_checker_refuses_a_generator_for_a_protective(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from voile.keys.random import ProtectiveRandom, streams\n"
        "def flip(noise: ProtectiveRandom) -> None: ...\n"
        "flip(ProtectiveRandom())\n"
        "flip(streams(1, 'noise')[0])\n"
        "flip(1)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    output = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=SOURCE.parents[1]
    ).stdout
    refused = [line for line in output.splitlines() if "error" in line and "program.py" in line]
    assert len(refused) == 2, output
    assert ':4: error: Argument 1 to "flip" has incompatible type "Generator"' in refused[0]
    assert ":5:" in refused[1]


def test_importing_is_light_and_the_standard_random_stays():
    check = (
        "import sys, voile.keys.random, voile.keys.pseudonyms, random;"
        "assert not {'numpy', 'pyarrow'} & set(sys.modules);"
        "assert hasattr(random, 'Random')"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
