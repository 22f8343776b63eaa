import linecache
import warnings

import pandas as pd
import pytest

import voile.tables as vt
from voile.core.errors import as_keywords
from voile.core.warn import warn


def test_a_warning_names_the_line_that_called_voile():
    people = pd.DataFrame({"age": [30, 31, 40, 41] * 5, "dx": ["a", "b"] * 10})
    kit = vt.fit(people, {"age": "quasi", "dx": "sensitive"}, k=11, seed=1)
    with pytest.warns(UserWarning, match="age is one group") as caught:
        kit.choose(policy=0)
    assert linecache.getline(caught[0].filename, caught[0].lineno).strip().startswith("kit.choose(")


def test_a_warning_of_the_outermost_frame_is_given_all_the_same():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(
            compile("warn('said', UserWarning)", "voile", "exec"),
            {"__name__": "voile.x", "warn": warn},
        )
    assert [str(one.message) for one in caught] == ["said"]


def test_a_warning_names_options_as_whoever_called_knows_them():
    def said():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn("give --hold-out SHARE", UserWarning)
        return str(caught[0].message)

    with as_keywords():
        assert said() == "give hold_out SHARE"
    assert said() == "give --hold-out SHARE"
