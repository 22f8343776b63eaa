"""Keep commands from importing pandas. They do not need it, and pyarrow would import it slowly."""

from __future__ import annotations

import sys

NEED_PANDAS = {"pyspark", "pyreadstat"}  # pyreadstat needs it before its version 1.3


class _NoPandas:
    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Refuse to import pandas, unless a library that needs it is loaded."""
        if name == "pandas" and NEED_PANDAS.isdisjoint(sys.modules):
            raise ModuleNotFoundError(
                "voile's commands run without pandas, and a package tried to import it", name=name
            )


def leave_pandas_out() -> None:
    """Prevent the import of pandas in this process."""
    sys.meta_path.insert(0, _NoPandas)


def let_pandas_in() -> None:
    """Allow the import of pandas again, because a user's own module may need it."""
    if _NoPandas in sys.meta_path:
        sys.meta_path.remove(_NoPandas)
