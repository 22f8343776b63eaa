"""Errors say what, where and what instead, and carry the exit code of their kind."""

from __future__ import annotations

import pytest

from voile.core.errors import (
    DamagedError,
    InfeasibleError,
    RequestError,
    SourceError,
    TamperedError,
    VoileError,
    as_keywords,
    nearest,
    printable,
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


def test_a_damaged_file_is_a_wrong_request_and_no_release_to_trust():
    assert DamagedError("x").exit_code == 2
    assert isinstance(DamagedError("x"), TamperedError)


def test_what_a_file_is_called_is_shown_and_not_obeyed():
    odd = "a\x1b[2Jb\n"
    error = RequestError(odd, where=odd, instead=odd)
    assert (error.what, error.where, error.instead) == ("a\ufffd[2Jb\ufffd",) * 3
    assert str(error).isprintable()


def test_no_sentence_is_longer_than_2000_characters_of_somebody_s_text():
    assert printable("x" * 2000) == "x" * 2000
    assert printable("x" * 2001) == "x" * 2000 + "..."


def test_nearest_suggests_three_names_and_lists_twelve():
    assert nearest("zip_0", [f"zip_{i}" for i in range(1, 9)]).count("zip_") == 3
    names = [f"c{i}" for i in range(13)]
    assert nearest("q", names[:12]) == f"there is {', '.join(names[:12])}"
    assert nearest("q", names) == f"there is {', '.join(names[:12])}, ..."


def test_nearest_names_what_looks_alike_or_what_there_is():
    assert nearest("zip_cod", ["zip_code", "age"]) == "did you mean zip_code?"
    assert nearest("K", ["keep", "k"]) == "did you mean k?"
    assert nearest("q", ["a"]) == "there is a"
    assert nearest("q", []) == "there are no columns"
    assert nearest("q", [f"c{i}" for i in range(20)]).endswith("c11, ...")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "NO SUCH OPTION"),
        ({"where": "risk"}, "RISK: NO SUCH OPTION"),
        ({"instead": "use loss"}, "NO SUCH OPTION; USE LOSS"),
        ({"where": "risk", "instead": "use loss"}, "RISK: NO SUCH OPTION; USE LOSS"),
    ],
)
def test_an_error_is_said_in_other_words_in_all_its_parts(more, said):
    error = RequestError("no such option", **more)
    error.reword(str.upper)
    assert str(error) == said
    assert [error.where, error.instead] == [
        more[name].upper() if name in more else None for name in ("where", "instead")
    ]


def test_python_reads_of_keywords_where_a_command_has_options():
    with pytest.raises(RequestError) as refused, as_keywords():
        raise RequestError(
            "--hold-out is 1", where="a--b", instead="give --max-relative-risk, or -- nothing"
        )
    assert str(refused.value) == "a--b: hold_out is 1; give max_relative_risk, or -- nothing"
