"""What Python holds, as rows of features: frames and matrices of every make say the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets import Incidence, anonymity, hamdist
from voile.itemsets.rows.matrix_source import matrix_source
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions
from voile.release.choice import Choice

NAMES = ["tea", "milk", "rum", "ale"]
X = (np.random.default_rng(0).random((60, 4)) < 0.4).astype(np.int8)
Y = np.where(X[:, 1] > X[:, 2], "yes", "no")
COLUMNS = dict(zip(NAMES, X.T, strict=True))
FRAME = pd.DataFrame(COLUMNS)
MAKES = {
    "integers": FRAME,
    "truths": FRAME.astype(bool),
    "floats": FRAME.astype(float),
    "nullable truths": FRAME.astype("boolean"),
    "nullable integers": FRAME.astype("Int8"),
    "categories": FRAME.astype("category"),
    "text": FRAME.astype(str),
    "mixed": FRAME.assign(ale=FRAME["ale"].astype(bool)),
    "sparse columns": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=NAMES),
    "Polars": pl.DataFrame(COLUMNS),
    "Polars truths": pl.DataFrame(COLUMNS).cast(pl.Boolean),
    "Arrow": pa.table(COLUMNS),
    "a batch": pa.table(COLUMNS).to_batches()[0],
}


@pytest.mark.parametrize("make", MAKES)
def test_frames_are_read_by_the_names_of_their_columns(make):
    rows = Incidence.of(MAKES[make])
    assert list(rows.features) == NAMES
    assert rows.supports.tolist() == X.sum(axis=0).tolist()
    assert anonymity(MAKES[make], ["tea", "rum"]) == anonymity(X, [0, 2])


@pytest.mark.parametrize("make", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_matrices_of_every_make_are_read(make, kind):
    rows = Incidence.of(getattr(sparse, f"{make}_{kind}")(X), NAMES)
    assert rows.supports.tolist() == X.sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME.assign(race=["SECRET", "other"] * 30), "row 0, column race: 60 values are neither"),
        (FRAME.assign(race=pd.Categorical(["1", "2"] * 30)), "row 1, column race: 30 values"),
        (FRAME.assign(ale=[*[1] * 59, None]), "row 59, column ale: 1 value is neither 0 nor 1"),
        (FRAME.assign(day=pd.Timestamp("2020-01-01")), "column day: 60 values are neither"),
        (pl.DataFrame({"a": [0, 1, None]}), "row 2, column a: 1 value"),
        (pl.DataFrame({"a": [0, 1]}).lazy(), "collect it"),
        (pa.table({"a": [[1], [0]]}), "column a: 2 values are neither"),
        (pd.DataFrame(X, columns=["a", "b", "a", "c"]), "two columns have the same name"),
        (pd.DataFrame({"a": []}), "the matrix is empty: 0 rows, 1 features"),
    ],
)
def test_a_frame_of_other_things_is_refused_by_its_place(frame, said):
    with pytest.raises(RequestError, match=said) as refused:
        Incidence.of(frame)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_label_or_subject_is_refused_by_its_row(nothing):
    values = np.array(["a", "b", nothing, "a"], dtype=object)
    with pytest.raises(RequestError, match="row 2: 1 labels are missing"):
        hamdist(X[:4], values)
    with pytest.raises(RequestError, match="row 2: 1 subjects are missing"):
        Incidence.of(X[:4], subjects=values)
    series = pd.Series(["a", "b", None, "a"], dtype="string")
    with pytest.raises(RequestError, match="row 2: 1 labels are missing"):
        hamdist(X[:4], series)


def test_a_matrix_is_a_source_that_is_fitted_as_its_frame_is():
    whose = np.arange(60) // 2
    source = matrix_source(sparse.csr_array(X), NAMES, labels=Y, subjects=whose)
    roles = Roles.model_validate(
        {
            "columns": {"items": "items", "label": "label", "subject": "identifier"},
            "subject": "subject",
        }
    )
    asked = FitOptions(k=(3,))
    matrix = choose(fit(source, roles, asked, seed=1, progress=silent), Choice(max_risk=0.5))
    frame = FRAME.assign(label=Y, subject=whose)
    wide = {**dict.fromkeys(NAMES, "items"), "label": "label", "subject": "identifier"}
    roles = Roles.model_validate({"columns": wide, "subject": "subject"})
    other = choose(
        fit(open_source(frame), roles, asked, seed=1, progress=silent), Choice(max_risk=0.5)
    )
    chosen = {name.removeprefix("items=") for name in matrix.policy["features"]}
    assert chosen == set(other.policy["features"])
    assert matrix.figures["utility"] == pytest.approx(other.figures["utility"])
    assert matrix.figures["subjects"] == 30


def test_a_matrix_s_rows_without_ones_stay_rows():
    source = matrix_source(np.array([[0, 0], [1, 0]]))
    assert [b.to_pylist() for b in source.batches()] == [[{"items": []}, {"items": ["x0"]}]]


@pytest.mark.parametrize("given", [{"labels": ["a"]}, {"subjects": [1, 2, 3]}])
def test_a_matrix_with_another_number_of_labels_is_refused(given):
    with pytest.raises(RequestError, match="for 2 rows"):
        matrix_source(np.array([[0, 1], [1, 0]]), **given)


frames = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])


@frames
def test_categories_truths_and_numbers_of_a_frame_are_read_by_their_roles(make):
    columns = {
        "area": pd.Categorical(["n", "s", "n", "s"]) if make is pd.DataFrame else list("nsns"),
        "fever": [True, False, True, True],
        "age": [20, 30, 40, 50],
        "pay": [1.5, 2.5, 3.5, 4.5],
        "y": ["p", "q", None, "q"],
        "who": ["a", "a", "b", "c"],
    }
    roles = {
        "area": "items",
        "fever": "items",
        "age": {"role": "items", "cuts": [35]},
        "pay": {"role": "items", "quantiles": 2},
        "y": "label",
        "who": "identifier",
    }
    source = open_source(make(columns))
    reading = RowReader.all_of(Roles.model_validate({"columns": roles, "subject": "who"}))
    dropping = RowReader(reading.roles, reading.hold_out, "drop")
    refusing = RowReader(reading.roles, reading.hold_out, "refuse")
    with pytest.raises(RequestError, match="row 3, column y: 1 label is missing"):
        refusing.learn(source)
    rows = dropping.read_rows(source, dropping.learn(source)).incidence
    assert rows.n_rows == 3
    assert rows.n_subjects == 2
    supports = dict(zip(rows.features, rows.supports.tolist(), strict=True))
    assert supports == {
        "area=n": 1, "area=s": 2, "fever": 2, "age=below 35": 1, "age=35 and above": 1,
        "pay=below 2": 1, "pay=2 and above": 2,
    }  # fmt: skip
