"""A model's file: read, and refused with every mistake at once and no word of the data."""

from __future__ import annotations

import pytest

from voile.core.errors import RequestError
from voile.tables.analysis.model import LinearModel


def test_a_file_names_outcome_predictors_and_family(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('outcome = "dx"\npredictors = ["age"]\nfamily = "logistic"\npositive = "flu"\n')
    assert LinearModel.read_model(path).predictors == ("age",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('outcome = "dx"\npredictors = []', "predictors: must have 1 or more entries"),
        ('outcome = "dx"\npredictors = ["dx"]', "dx is named twice"),
        ('outcome = "dx"\npredictors = ["age"]\nfamily = "logistic"', "names its positive value"),
        ('outcome = "dx"\npredictors = ["age"]\nlink = "log"', "link: is not known here"),
        ("outcome = ", "is not TOML"),
    ],
)
def test_mistakes_are_said_with_their_place(tmp_path, text, said):
    path = tmp_path / "model.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=said):
        LinearModel.read_model(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RequestError, match=r"none\.toml: the model cannot be read"):
        LinearModel.read_model(tmp_path / "none.toml")


def test_columns_that_are_not_released_are_refused():
    model = LinearModel(outcome="dx", predictors=("age",))
    model.check(["age", "dx"], ["dx"])
    with pytest.raises(RequestError, match="column age is not released"):
        model.check(["dx"], ["dx"])
    with pytest.raises(RequestError, match="outcome dx is generalised"):
        model.check(["age", "dx"], [])
