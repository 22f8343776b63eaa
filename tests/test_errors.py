"""Errors say what, where and what instead, and carry the exit code of their kind."""

from __future__ import annotations

import pytest

from voile.errors import (
    InfeasibleError,
    RequestError,
    SourceError,
    TamperedError,
    VoileError,
    nearest,
)


def test_a_sentence_says_what_where_and_what_instead():
    error = RequestError("no such column", where="row 17, column zip", instead="name another")
    assert str(error) == "row 17, column zip: no such column; name another"
    assert (error.what, error.where) == ("no such column", "row 17, column zip")
    assert str(VoileError("it is full")) == "it is full"


@pytest.mark.parametrize("kind", [RequestError, SourceError, InfeasibleError])
def test_wrong_requests_exit_with_2(kind):
    assert kind("x").exit_code == 2
    assert isinstance(kind("x"), ValueError)


def test_anything_else_exits_with_1():
    assert VoileError("x").exit_code == TamperedError("x").exit_code == 1
    assert not isinstance(TamperedError("x"), RequestError)


def test_nearest_names_what_looks_alike_or_what_there_is():
    assert nearest("zip_cod", ["zip_code", "age"]) == "did you mean zip_code?"
    assert nearest("q", ["a"]) == "there is a"
    assert nearest("q", []) == "there are no columns"
    assert nearest("q", [f"c{i}" for i in range(20)]).endswith("c11, ...")
