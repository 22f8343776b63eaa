"""scikit-learn clones what is configured like an estimator, fitted or not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from voile.core.errors import RequestError
from voile.documents import BudgetedAttacker
from voile.itemsets import RandomFlipping
from voile.signals import PrivacyMap

MADE = {
    "PrivacyMap": lambda: PrivacyMap(method="normal", strength=0.5, random_state=3),
    "BudgetedAttacker": lambda: BudgetedAttacker(("svm",), order="paper", random_state=3),
    "RandomFlipping": lambda: RandomFlipping(k=3),
}


@pytest.mark.parametrize("name", MADE)
def test_a_clone_has_the_parameters_and_nothing_learnt(name):
    made = MADE[name]()
    copy = clone(made)
    assert type(copy) is type(made)
    assert copy is not made
    assert copy.get_params() == made.get_params() == vars(copy)
    with pytest.raises(RequestError, match="the estimator has no parameter randm_state"):
        made.set_params(randm_state=1)


def test_a_fitted_map_clones_unfitted_and_takes_a_grid():
    rng = np.random.default_rng(0)
    c = rng.choice(["ill", "well"], 400)
    X = np.round(rng.normal(np.where(c == "ill", 50, 80), 9), 1)
    map = PrivacyMap(method="normal", base="barycentre").fit(X, c)
    assert not hasattr(clone(map), "codec_")
    for params in ParameterGrid({"strength": [0.5, 1.0]}):
        sent = clone(map).set_params(**params).fit(X, c)
        assert (sent.decode(sent.encode(X, c), c) == X).all()
